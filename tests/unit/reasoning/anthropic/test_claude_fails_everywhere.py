"""Every bad reply to any step leaves the embedded engine's result for that step, and a warning with the reason."""

import pytest
from enriched_memory import enriched, enriching, facts, jobs_of
from judged_memory import asked, judged
from soak.invariants import faults
from standin.replies import said
from standin.rooms import each, meant, room
from test_claude_fails import BAD
from unit.services.learning_memory import memory as plain_memory
from unit.services.learning_memory import told

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest

pytestmark = pytest.mark.anyio
ON = {"understand": True, "points": True, "retries": 1, "input_tokens": 100_000, "calls": 100}
TALK = (
    *("Ann: My brother is Bob.", "Ann: My sister is Cleo.", "Ann: I like jazz.", "Ann: Bob met Cleo in Oslo."),
    *("Bob: I live in Rome.", "Bob: I work at Acme.", "Bob: I like tea.", "Cleo: I live in Oslo."),
)
QUESTION = "Where does the brother of Ann work?"
GOAL = "How did Bob and Cleo meet?"
STEPS = {"question": "say what the question means", "answer": "judge this"}
SOME = {case: BAD[case] for case in ("prose", "an overload", "a broken connection")}


def good(asked):
    """Reply well in every room: the question means what it says, nothing is known for sure."""
    others = {
        "question": meant(parts=["Who is the brother of Ann?"]),
        "answer": said(missing=("all of it",)),
        "reading": facts(),
    }
    return others[room(asked)]


def bad_in(name, reply):
    """Return a script that replies badly in one room."""
    return each(**(dict.fromkeys((*STEPS, "reading"), good) | {name: [reply]}))


def seen(recall):
    return [item.id for item in recall.evidence], recall.paths, recall.sufficient, recall.sufficiency


async def test_a_question_that_is_not_interpreted_is_searched_as_it_is():
    wanted = Query(QUESTION, "default", 12)
    async with judged(good, *TALK, **ON | {"understand": False}) as (memory, _):
        text, own = (await asked(memory, QUESTION, learn=False)).text, await memory.reconstruct(wanted)
    async with judged(good, *TALK, **ON) as (memory, api):
        space = memory.store._view.space("default")
        for case, (reply, _, reason) in SOME.items():
            api.script = bad_in("question", reply)
            answer, recall = await asked(memory, QUESTION), await memory.reconstruct(wanted)
            warning = f"Claude did not {STEPS['question']}, the embedded engine did: {reason.format(url=api.url)}."
            assert answer.recall.warnings == recall.warnings == (warning,), case
            assert (answer.text, answer.engine, recall.engine) == (text, "anthropic", "anthropic"), case
            assert seen(recall) == seen(own), case
        assert list(faults(space)) == []


async def test_a_goal_falls_back_to_the_embedded_engine():
    alone = await told(plain_memory(read=True), *TALK)
    expected = [one.after for one in (await alone.evolve(EvolveRequest("default", goal=GOAL))).changes]
    on = ON | {"understand": False}
    for case, (reply, _, reason) in SOME.items():
        async with judged(bad_in("answer", reply), *TALK, **on) as (memory, api):
            done = await memory.evolve(EvolveRequest("default", goal=GOAL))
            assert done.warnings == (
                f"Claude did not judge this, the embedded engine did: {reason.format(url=api.url)}.",
            ), case
            assert (done.engine, [one.after for one in done.changes]) == ("embedded", expected), case
            assert list(faults(memory.store._view.space("default"))) == []


async def test_a_bad_reading_leaves_the_facts_of_the_rules():
    for case, (reply, *_) in SOME.items():
        async with enriched(bad_in("reading", reply), *TALK) as (memory, _):
            before = [fact.id for fact in memory.store._view.space("default").facts.rows]
            await enriching(memory).step()
            space = memory.store._view.space("default")
            assert [fact.id for fact in space.facts.rows] == before, case
            assert {job.state for job in await jobs_of(memory)} <= {"waiting"}, case
            assert (await asked(memory, QUESTION)).recall.warnings == (), case
            assert list(faults(space)) == []
