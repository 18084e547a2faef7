"""Feedback can name evidence that a caller found by its own steps; it decides where recall doubts itself."""

import json

import pytest
from fakes import Disk
from learning_memory import held, judged, memory, recalled, told

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.errors import InvalidInput
from mcp_memory.server.resources import catalogue

WALKS = tuple(f"Cleo: On day {day} I walked to the lake with a friend." for day in range(9))
HIVES = "The hives behind my house were full of honey."
KEEPS = "Which animals does the godfather of Bob breed in the shed beside the orchard?"
OTHERS = (KEEPS.replace("Bob", "Ann"), KEEPS.replace("?", " in 2021?"))
SHOWN = 3


async def garden(disk=None):
    return await told(memory(disk), "Bob: My godfather is Emil.", *WALKS, f"Emil: {HIVES}")


async def found(one, space="default", entity="Emil"):
    step = await one.explore(ExploreRequest(space, "tag_events", entity=entity))
    return next(item.id for item in step.items if item.text == HIVES)


async def asked(one, query=KEEPS, **more):
    return await recalled(one, query, limit=SHOWN, **more)


def best(recall):
    return recall.evidence[0].text


@pytest.mark.parametrize("query", OTHERS)
async def test_feedback_on_a_query_with_another_name_or_time_decides_nothing(query):
    one = await garden()
    for _ in range(4):
        await judged(one, (await asked(one)).episode, supports=(await found(one),))
    recall = await asked(one, query)
    assert not recall.sufficient


async def test_confirmed_evidence_comes_first_but_does_not_suffice_if_some_of_it_does_not_fit():
    one = await garden()
    first, emil = await asked(one), (await asked(one)).evidence[0]
    await judged(one, first.episode, supports=(await found(one), emil.id))
    assert (await asked(one)).sufficient
    alone = await recalled(one, KEEPS, limit=1)
    assert (len(alone.evidence), alone.sufficient) == (1, None)


@pytest.mark.parametrize("limit", [1, SHOWN])
async def test_an_answer_is_made_from_confirmed_evidence_and_not_from_what_it_displaced(limit):
    one = await garden()
    await judged(one, (await asked(one)).episode, supports=(await found(one),))
    answer = await one.answer(Query(KEEPS, "default", limit))
    assert (best(answer.recall), len(answer.recall.evidence)) == (HIVES, limit)


async def test_evidence_of_another_space_or_of_no_step_is_refused_and_changes_nothing():
    one = await garden()
    await told(one, "Bob: My godfather is Emil.", f"Emil: {HIVES}", space="other")
    hives = await found(one, "other")
    for name in (hives, "s_nope"):
        with pytest.raises(InvalidInput, match=r"^feedback\.supports\[0\]: .* no step found it lately\. Give ids"):
            await judged(one, (await asked(one)).episode, supports=(name,))
    assert not len(held(one).beliefs)


async def test_explored_evidence_is_in_the_trace_of_the_episode_in_every_process():
    disk = Disk()
    one = await garden(disk)
    first, hives = await asked(one), await found(one)
    await judged(one, first.episode, supports=("1", hives))
    other = memory(disk)
    told_of = json.loads(
        await catalogue.read_content(other, *catalogue.match(f"memory://default/episodes/{first.episode}"))
    )
    assert [item["id"] for item in told_of["explored"]] == [hives]
    assert hives not in [item["id"] for item in told_of["evidence"]]
    with pytest.raises(InvalidInput, match=f"has no record {SHOWN + 1}"):  # it is none of the reply's
        await judged(other, first.episode, supports=(str(SHOWN + 1),))
