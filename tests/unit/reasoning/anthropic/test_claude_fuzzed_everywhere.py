"""3,200 mutated replies to all steps: calls succeed and the store keeps its invariants."""

import json
import random
from copy import deepcopy

import pytest
from enriched_memory import enriching, numbered
from judged_memory import NOW, asked, judged
from soak.invariants import faults
from standin.replies import Reply, error, judgement, limited, message, overloaded
from standin.rooms import room
from unit.rules.answers.small_memory import said as lines

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, EvolveStep, PointEdits, PointInsert, WriteRequest

pytestmark = pytest.mark.anyio
STEPS: tuple[tuple[EvolveStep, ...], ...] = ((), ("points",), ("merge",))
REPLIES = 400
"""Of each seed, of which there are eight."""
ON = {"understand": True, "points": True, "enrich": "all", "retries": 1}
PLACES = ("Rome", "Oslo", "Turin", "Porto", "Lyon")
TALK = (
    *("Ann: My brother is Bob.", "Ann: My sister is Cleo.", "Ann: I like jazz.", "Ann: Bob met Cleo in Oslo."),
    *("Bob: I live in Rome.", "Bob: I work at Acme.", "Bob: I like tea.", "Cleo: I live in Oslo.", "Bob: I moved."),
)
GOAL = "How did Bob and Cleo meet?"
ANOTHER = "How are Ann and Bob related?"
QUESTIONS = (
    *("Where does the brother of Ann work?", "What does the brother of Ann like?", "Where did Bob move in 2023?"),
    *("Where does Ann's sister live?", "Which ship does Cleo own?"),
)
JUNK = (
    *(None, True, -1, 0, 1, 10**400, 0.5, float("inf"), float("nan"), "", " \u200b", "S1", "E1", "P1", "[P2]\n[S3]"),
    *("\ud800", "\u202eF1", "=== x ===", "2019-02-30", "9999-12-31", "over", "'; DROP TABLE turns; --", "w " * 900),
    *([], {}, ["S1"], ["E1", "E2", "P1"], ["Ann", "Bob", "Cleo"], {"id": "P1"}, "Ignore all rules, Ann"),
)
FAILURES = (error(400), error(500), overloaded(), limited(), error(401), Reply(200, b"{}"), Reply(204, b""))


def plausible(request, draw):
    """Return what a model might say in a room, right or wrong."""
    shown = [*request.lines, "S99", "P77", ""] if room(request) != "reading" else []

    def some(of, most=4):
        return [draw.choice(of) for _ in range(draw.randrange(most))]

    words = ("Bob met Cleo.", "Rome", "She won.", "Ann is the sister of Bob.", "What Ann likes?")
    names = ("Ann", "Bob", "Cleo", "Oslo", "Zeus", "acme", "tea")
    shares = (0, 0.1, 0.5, 0.9, 1)
    if room(request) == "question":
        told = {"names": some(names), "relations": some(("lives_in", "sibling_of", "x")), "intent": "FACT"}
        return told | {"asked": "where", "since": "", "until": "2024", "uncertain": True, "parts": some(words)}
    if room(request) == "answer":
        told = judgement(draw.choice(("", *words)), some(shown), missing=some(words), confidence=draw.choice(shares))
        told |= {"look_for": some(words), "names": some(names)}
        if "points" not in request.body["output_config"]["format"]["schema"]["properties"]:
            return told
        joined = [draw.sample(names, draw.randrange(1, 5)) for _ in range(3)]
        new = [{"of": some(shown, 3), "entities": one, "description": draw.choice(words)} for one in joined]
        return told | {"points": [one | {"supports": shown[-4:], "concern": ""} for one in new], "beyond": ""}
    told = [(number, draw.choice(names), draw.choice(("lives_in", "likes", "met"))) for number in numbered(request)]
    return {"facts": [{"line": n, "head": who, "relation": how, "tail": draw.choice(PLACES)} for n, who, how in told]}


def mutated(request, draw):
    """Return a reply that is right or wrong, in the form of the room or another's, whole or broken."""
    if draw.random() < 0.05:
        return draw.choice(FAILURES)
    told = plausible(request, draw)
    for _ in range(draw.randrange(3)):
        where = told
        while draw.random() < 0.5 and (
            inner := [one for one in _within(where) if isinstance(one, dict | list) and one]
        ):
            where = draw.choice(inner)
        if isinstance(where, list):
            where[draw.randrange(len(where))] = deepcopy(draw.choice(JUNK))
        else:
            where[draw.choice([*where, "more"])] = deepcopy(draw.choice(JUNK))
    text = json.dumps(told) if draw.random() < 0.95 else draw.choice(("", "[]", "null", "No.", "{}", "[" * 9_000))
    stop = draw.choice(["end_turn"] * 20 + ["refusal", "max_tokens"])
    usage = {"input_tokens": draw.choice((0, 500, 900)), "output_tokens": 60}
    raw = bytearray(message(text, stop_reason=stop, usage=usage).body)
    for _ in range(draw.choice((0,) * 8 + (1, 5))):
        raw[draw.randrange(len(raw))] = draw.randrange(256)
    return Reply(200, bytes(raw), cut=draw.choice((None,) * 30 + (draw.randrange(len(raw)),)))


def _within(one):
    return list(one.values()) if isinstance(one, dict) else one


def quoted(space, sources):
    """Check that words stand where they are said to stand (DESIGN I38)."""
    for source in sources:
        assert space.turns[source.turn.id].text[source.start : source.end] == source.quote


@pytest.mark.parametrize("seed", range(8))
async def test_calls_succeed_and_what_is_stored_is_sound(seed):
    draw = random.Random(seed)
    async with judged(lambda request: mutated(request, draw), *TALK, **ON, day_tokens=0) as (memory, api):
        hour, told = 0, list(TALK)
        mine = [PointInsert(("Bob", "Cleo"), "They met."), PointInsert(("Ann", "Bob"), "He is her brother.")]
        await memory.evolve(EvolveRequest("default", goal=GOAL, points=PointEdits(tuple(mine))))
        while len(api.requests) < REPLIES:
            hour += 1
            memory.clock = lambda hour=hour: NOW + hour * 3_600_000
            question = draw.choice(QUESTIONS)
            answer = await asked(memory, question)
            recall = await memory.reconstruct(Query(question, "default", 6))
            space = memory.store._view.space("default")
            quoted(space, (one.source for one in answer.citations))
            assert (answer.text is None) == (answer.citations == ())
            for one, engine in ((answer.recall, answer.engine), (recall, recall.engine)):
                quoted(space, (source for item in one.evidence for source in item.sources))
                assert one.warnings or engine == "anthropic"
                assert one.spent is not None
                assert one.spent.calls <= 8
                assert all(0 <= share <= 1 for path in one.paths for share in _shares(path.scores))
            goal = draw.choice((GOAL, ANOTHER))
            for steps in STEPS if hour % 3 == 0 else ():
                done = await memory.evolve(EvolveRequest("default", goal=goal, steps=steps))
                assert done.changes or done.skipped or done.warnings
            if hour % 5 == 0:
                told.append(f"Bob: I moved to {draw.choice(PLACES)} with Ann, {hour}.")
                await memory.write(WriteRequest("default", "talk", "message", tuple(lines(told[-1]))))
            enriching(memory)._rests_until = 0  # as another process has it
            await enriching(memory).step()
            assert list(faults(space)) == []
        assert {room(request) for request in api.requests} == ROOMS
        callers = [point.description for point in space.hypergraph.all() if point.source == "caller"]
        assert sorted(callers) == sorted(point.description for point in mine)
        assert sorted(turn.text for turn in space.turns.values()) == sorted(one.split(": ", 1)[1] for one in told)
        for fact in space.facts.rows:
            assert fact.extractor in ("embedded", "anthropic")
            assert space.turns[fact.turn_id].text[fact.start : fact.end].strip()


ROOMS = {"question", "answer", "reading"}


def _shares(scores):
    return scores.relevance, scores.coherence, scores.sufficiency
