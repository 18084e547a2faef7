"""The steps that a recall suggests, the ids that a step lacks, and the steps of evolve over a whole space."""

import pytest
from fakes import Disk
from learning_memory import held, memory, recalled, told

from mcp_memory.domain.requests import EvolveRequest, ExploreRequest, NewFact
from mcp_memory.errors import InvalidInput
from mcp_memory.language.tokens import rouge_l, words
from mcp_memory.server.tools.arguments import read_arguments
from mcp_memory.server.tools.explore import ExploreInput, explore_request
from mcp_memory.settings import LimitSettings

TALK = ("Bob: My godfather is Emil.", "Emil: The hives behind my house were full of honey.", "Cleo: It rained.")
ASKED = "Which animals does the godfather of Bob breed?"
FACTS = (
    NewFact("Bob", "godfather", "Emil"),
    NewFact("Emil", "lives_in", "Rome"),
    NewFact("Emil", "lives_in", "Oslo"),
    NewFact("Bob", "likes", "tea"),
)


def steps(recall):
    return [(one.operator, dict(one.args)) for one in recall.next]


async def test_without_facts_steps_start_from_the_evidence_and_from_what_is_missing():
    recall = await recalled(await told(memory(), *TALK), ASKED, max_turns=1)
    ids = tuple(item.id for item in recall.evidence)
    following = dict(steps(recall))
    assert following["event_keywords"] == {"ids": ids[:3], "query": ASKED}
    assert following["reflect"] == {"query": f"{ASKED}; missing: animals, breed", "ids": ids[:3]}


async def test_the_first_step_follows_facts_to_where_more_is_known_and_no_step_is_repeated():
    recall = await recalled(await told(memory(), *TALK, facts=FACTS), ASKED, max_turns=1)
    following = steps(recall)
    assert following[0] == ("expand_facts", {"entity": "Emil", "query": ASKED})
    assert following[1][0] == "event_keywords"
    assert ("expand_facts", {"entity": "tea", "query": ASKED}) not in following  # nothing else is known of it
    assert len({str(one) for one in following}) == len(following)


async def test_a_recall_that_finds_nothing_suggests_nothing():
    assert steps(await recalled(memory(), ASKED)) == []


@pytest.mark.parametrize("space", ["default", "work"])
async def test_each_suggested_step_can_be_taken_as_given_in_its_space(space):
    one = await told(memory(), *TALK, facts=FACTS, space=space)
    ways, seen = list((await recalled(one, ASKED, space=space)).next), set()
    assert ways
    while ways and len(seen) < 40:
        step = ways.pop(0)
        if str(step) in seen:
            continue
        seen.add(str(step))
        args = {"space": "default", "operator": step.operator} | step.args
        assert args["space"] == space
        given = read_arguments(ExploreInput, args | {"ids": list(args.get("ids", ()))}, LimitSettings())
        reply = await one.explore(explore_request(given))
        assert reply.items or reply.next
        assert reply.next
        ways += reply.next


@pytest.mark.parametrize(
    ("operator", "words"), [("local_points", "begin with h_"), ("event_context", "numbers of records")]
)
async def test_a_step_without_ids_says_how_to_get_them(operator, words):
    one = await told(memory())
    with pytest.raises(InvalidInput, match=words):
        await one.explore(ExploreRequest("default", operator))


PATELS = (
    NewFact("Anna Patel", "visited", "Oslo"),
    NewFact("Anna Maria Patel", "works_at", "Acme"),
    NewFact("Anna Patel", "lives_in", "Lima"),
)


async def stepped(one, *steps, **asked):
    return await one.evolve(EvolveRequest("default", steps=steps, **asked))


def counts(one):
    space = held(one)
    return [len(space.turns), len(space.sentences), len(space.facts.rows)]


async def test_names_of_one_entity_are_united_without_a_new_fact():
    one = await told(memory(), facts=PATELS)
    before = counts(one)
    done = await stepped(one, "entities")
    (change,) = done.changes
    assert (change.step, change.kind, change.id) == ("entities", "entity", "Anna Maria Patel")
    assert change.before == "Anna Maria Patel (in 1 kind of fact) and Anna Patel (in 2) were two"
    assert change.after == "Anna Patel means Anna Maria Patel"
    assert done.engine == "embedded"
    facts = held(one).facts
    assert {fact.tail for fact in facts.from_(facts.key("Anna Maria Patel"))} == {"Oslo", "Acme", "Lima"}
    assert counts(one) == before


async def test_the_pool_asks_what_segments_answer_and_no_two_questions_are_similar():
    one = await told(memory(read=True), "Ann: I live in Oslo.", "Ann: I work at Acme.", "Bob: I live in Oslo.")
    done = await stepped(one, "questions")
    (change,) = done.changes
    pool = held(one).questions
    assert (change.step, change.kind, change.before) == ("questions", "question", "0 questions")
    assert change.after.startswith(f"{len(pool)} questions, {len(pool)} of them new, to 3 segments")
    assert "Where does Ann live?" in [asked.text for asked in pool.rows]
    assert len(pool.vectors) == len(pool)
    for a in pool.rows:
        for b in pool.rows:
            if a is not b and a.segment_id == b.segment_id and a.entities & b.entities:
                assert rouge_l(words(a.text), words(b.text)) < 0.6


async def test_pooling_again_adds_only_what_is_new():
    disk = Disk()
    one = await told(memory(disk, read=True), "Ann: I live in Oslo.")
    await stepped(one, "questions")
    before, commits = list(held(one).questions.rows), disk.commits
    again = await stepped(memory(disk, read=True), "questions")
    assert (again.changes, [left.step for left in again.skipped]) == ((), ["questions"])
    assert disk.commits == commits
    await told(one, "Bob: I live in Rome.")
    await stepped(one, "questions")
    assert held(one).questions.rows[: len(before)] == before
    assert len(held(one).questions) > len(before)


async def test_steps_with_nothing_to_do_report_why_and_change_nothing():
    one = memory()
    done = await stepped(one, "entities", "questions", "feedback", "confidence", "cardinality", "points", "merge")
    assert done.changes == ()
    assert {left.step for left in done.skipped} == {
        "entities",
        "questions",
        "feedback",
        "confidence",
        "cardinality",
        "points",
        "merge",
    }
    assert one.store.disk.commits == 0
