"""Claude scores paths through facts: what that changes, what it cannot change, when it is asked, what it costs."""

import json
import random

import anyio
import pytest
from judged_memory import asked, judged
from standin.replies import error, message, overloaded, said
from standin.rooms import each, meant, room
from unit.rules.answers.small_memory import said as lines

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import WriteRequest
from mcp_memory.navigation.paths import serialise
from mcp_memory.reasoning.anthropic.client import ANSWER_TOKENS

pytestmark = pytest.mark.anyio
FAMILY = (
    *("Ann: My brother is Bob.", "Ann: My sister is Cleo.", "Ann: I like jazz."),
    *("Bob: I live in Rome.", "Bob: I work at Acme.", "Bob: I like tea.", "Cleo: I live in Oslo."),
)
QUESTION = "Where does the brother of Ann work?"
ABSTAINING = [said(missing=("all",))]


def scoring(best, way="Bob", worth=0.5):
    """Return a script that likes one thing best, and what leads to it somewhat."""

    def reply(request):
        scored = {
            number: 0.9 if best in line else worth if way in line else 0.1 for number, line in request.lines.items()
        }
        return message(json.dumps({"scores": [{"id": n, "qr": s, "lc": 0.9, "sa": s} for n, s in scored.items()]}))

    return reply


def raw(*scores, **more):
    return message(json.dumps({"scores": list(scores)} | more))


def one(name="P1", qr=0.5, lc=0.5, sa=0.5, **more):
    return {"id": name, "qr": qr, "lc": lc, "sa": sa} | more


async def recalled(memory, query=QUESTION, limit=6):
    return await memory.reconstruct(Query(query, "default", limit))


async def by_the_formulas(*talk, query=QUESTION):
    async with judged(ABSTAINING, *(talk or FAMILY)) as (memory, _):
        return await recalled(memory, query)


def rooms(api):
    return [room(request) for request in api.requests]


def rank(quote, recall):
    return [source.quote for item in recall.evidence for source in item.sources].index(quote)


async def test_a_judge_that_prefers_another_path_changes_the_evidence():
    own = await by_the_formulas()
    async with judged(each(navigation=scoring("tea"), answer=ABSTAINING), *FAMILY, paths=True) as (memory, api):
        recall = await recalled(memory)
        assert rooms(api) == ["navigation", "answer"]
        assert (own.paths[0].end, recall.paths[0].end) == ("acme", "tea")
        assert rank("I like tea.", recall) < rank("I like tea.", own)
        assert recall.warnings == ()
        assert recall.spent is not None
        assert (recall.spent.calls, recall.spent.input_tokens) == (2, api.tokens)


async def test_scores_by_claude_replace_those_of_the_formulas_where_it_gives_them():
    own = {serialise(path): path.scores for path in (await by_the_formulas()).paths}

    def only_acme(request):
        (number,) = [number for number, line in request.lines.items() if line.endswith("-> Acme")]
        return raw(one(f"[{number.lower()}]", 0.7, 0.6, 0.8), one("P99", 1, 1, 1), one(number, 0, 0, 0))

    async with judged(each(navigation=only_acme, answer=ABSTAINING), *FAMILY, paths=True) as (memory, _):
        scores_before = {path.end: (serialise(path), path.scores) for path in (await recalled(memory)).paths}
    words, scores = scores_before.pop("acme")
    assert (scores.relevance, scores.coherence, scores.sufficiency) == (0.7, 0.6, 0.8)
    assert own.keys() == {words, *(text for text, _ in scores_before.values())}
    assert all(own[text] == kept for text, kept in scores_before.values())


async def test_an_answer_with_every_step_of_claude_takes_three_calls():
    def answering(request):
        return said("Acme", tuple(number for number, line in request.lines.items() if "Acme" in line))

    script = each(question=[meant()], navigation=scoring("Acme"), answer=answering)
    async with judged(script, *FAMILY, understand=True, paths=True) as (memory, api):
        answer = await asked(memory, QUESTION)
        assert (answer.text, answer.engine, answer.recall.warnings) == ("Acme", "anthropic", ())
        assert rooms(api) == ["question", "navigation", "answer"]
        assert api.tokens <= 3_800


BAD = {
    "prose": message("The path over Bob."),
    "nothing": raw(),
    "unknown numbers": raw(one("P0"), one("P99"), one("")),
    "a score of 7": raw(one(sa=7)),
    "a score below zero": raw(one(qr=-0.1)),
    "no number": message('{"scores": [{"id": "P1", "qr": NaN, "lc": 0.5, "sa": 0.5}]}'),
    "without end": message('{"scores": [{"id": "P1", "qr": Infinity, "lc": 0.5, "sa": 0.5}]}'),
    "words for a score": raw(one(lc="high")),
    "a score that is missing": raw({"id": "P1", "qr": 0.5, "lc": 0.5}),
    "a field of its own": raw(one(path="DROP TABLE facts")),
    "more scores than paths": raw(*(one(f"P{number}") for number in range(1, 400))),
    "another form": said("Acme", ("S1",)),
    "JSON that is cut off": message('{"scores": [{"id": "P1"', stop_reason="max_tokens"),
    "a refusal": message("No.", stop_reason="refusal"),
    "an overload": overloaded(),
    "a request that is refused": error(400, "invalid_request_error"),
}


@pytest.mark.parametrize("case", BAD)
async def test_a_bad_reply_leaves_the_formulas_with_one_warning(case):
    own = await by_the_formulas()
    script = each(navigation=[BAD[case]], answer=ABSTAINING)
    async with judged(script, *FAMILY, paths=True, retries=1) as (memory, api):
        recall = await recalled(memory)
        (warning,) = recall.warnings
        assert warning.startswith("Claude did not score the paths through the facts, the embedded engine did: ")
        assert (recall.paths, recall.evidence, recall.engine) == (own.paths, own.evidence, "anthropic")
        assert rooms(api)[-1] == "answer"
        assert rooms(api).count("navigation") <= 2


async def test_the_view_is_not_locked_during_the_request_and_new_rows_are_found():
    script = each(navigation=scoring("tea", worth=0.2), answer=ABSTAINING)
    async with judged(script, *FAMILY, paths=True) as (memory, api):
        api.gate = anyio.Event()
        found = []

        async def recall():
            found.append(await recalled(memory))

        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(recall)
                await api.arrived.wait()
                await memory.write(WriteRequest("default", "more", "message", tuple(lines("Bob: I like soup."))))
                assert found == []
                api.gate.set()
        ends = [path.end for path in found[0].paths]
        assert ends[0] == "tea"
        assert "soup" in ends
        assert rooms(api) == ["navigation", "answer"]  # the step was judged; what is new in it has the formulas' scores


async def test_scoring_paths_leaves_the_answer_its_budget():
    script = each(navigation=[message("no")], answer=[said("Acme", ("S1",))])
    async with judged(script, *FAMILY, paths=True, input_tokens=ANSWER_TOKENS + 1_000) as (memory, api):
        answer = await asked(memory, QUESTION)
        assert rooms(api) == ["navigation", "answer"]  # a second try would leave less than the answer's part
        assert "kept for the judgement" in answer.recall.warnings[0]
        assert (answer.text, answer.engine) == ("Acme", "anthropic")


@pytest.mark.parametrize("seed", range(6))
async def test_every_path_follows_the_facts_whatever_the_reply(seed):  # DESIGN I40
    draw = random.Random(seed)
    shares = (0, 1, 0.5, -1, 2, None, "1", True, 1e-300, 10**400)

    def anything(request):
        names = [*request.lines, "P77", "", "p1", "[P2]"]
        scored = [
            one(*(draw.choice(names), *(draw.choice(shares[: draw.choice((3, 10))]) for _ in range(3))))
            for _ in range(draw.randrange(9))
        ]
        return raw(*scored, **draw.choice(({}, {}, {"more": 1})))

    def steps(recall):
        return {step.version.id for path in recall.paths for step in path.steps}

    async with judged(each(navigation=anything, answer=ABSTAINING), *FAMILY, paths=True, retries=0) as (memory, api):
        facts = memory.store._view.space("default").facts
        known, rows = {version.id for version in facts.all()}, list(facts.rows)
        for _ in range(40):
            recall = await recalled(memory)
            assert steps(recall) <= known
            assert all(0 <= share <= 1 for path in recall.paths for share in _shares(path.scores))
            assert len(recall.warnings) <= 1
        assert facts.rows == rows
        assert rooms(api).count("navigation") == 40


def _shares(scores):
    return scores.relevance, scores.coherence, scores.sufficiency
