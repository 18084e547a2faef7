"""Several spaces are recalled from at once: merged by comparable scores, each with its own statistics and ranking."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning_memory import memory

from mcp_memory.domain.evidence import Evidence
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewItem, WriteRequest
from mcp_memory.errors import InvalidInput
from mcp_memory.services.recall.across import falling, merge

DAY = 86_400_000


def evidence(name):
    return Evidence(name, "sentence", name, 1.0, (), ())


@given(st.lists(st.floats(0, 2, width=32), max_size=12))
def test_the_falling_sequence_never_rises_keeps_the_sum_and_is_the_nearest(scores):
    found = falling(np.array(scores, dtype=np.float32))
    assert len(found) == len(scores)
    assert all(one >= other - 1e-6 for one, other in pairwise(found))
    assert np.isclose(found.sum(), np.sum(scores), atol=1e-3)
    for shift in (np.sort(np.array(scores, dtype=np.float32))[::-1], np.full(len(scores), np.mean(scores or [0]))):
        assert ((found - scores) ** 2).sum() <= ((shift - scores) ** 2).sum() + 1e-3


def test_items_keep_their_rank_within_a_space_and_go_by_score_between_spaces():
    one, other = [evidence(name) for name in "abc"], [evidence(name) for name in "xy"]
    merged = merge([one, other], [falling(np.array([0.2, 0.8, 0.1])), falling(np.array([0.9, 0.3]))])
    assert [item.id for item in merged] == ["x", "a", "b", "y", "c"]
    assert merged[0].score == 1.0
    assert merged[1].score == pytest.approx(0.5 / 0.9)
    assert merge([[], []], [np.array([]), np.array([])]) == []


async def filled():
    one = memory()
    for space, texts in {
        "work": ("The pump in hall two leaks.", "The valve was painted green.", "Lunch is at noon."),
        "home": ("The boat is called Curlew.", "The fern wants water.", "The kitchen tap leaks a little."),
        "secret": ("The pump code is 4711.",),
    }.items():
        items = tuple(
            NewItem(text, ref=f"m{place}", speaker="Ines", said_at=place * DAY) for place, text in enumerate(texts)
        )
        await one.write(WriteRequest(space, "notes", "message", items))
    return one


async def test_the_best_or_newest_of_each_space_is_found_and_no_other_space_is_looked_into():
    one = await filled()
    found = await one.reconstruct_across(Query("Which pump leaks in hall two?"), ("home", "work"))
    assert found.evidence[0].text == "The pump in hall two leaks."
    assert {item.space for item in found.evidence} == {"work", "home"}
    found = await one.reconstruct_across(Query("What is the boat called?"), ("work", "home"))
    assert (found.evidence[0].text, found.evidence[0].space) == ("The boat is called Curlew.", "home")
    assert "4711" not in " ".join(item.text for item in found.evidence)
    newest = (await one.reconstruct_across(Query(""), ("work", "home"))).evidence
    times = [item.sources[0].turn.said_at for item in newest]
    assert (times, len(times)) == (sorted(times, reverse=True), 6)


async def test_the_ranking_within_a_space_is_that_of_its_own_recall():
    one = await filled()
    query = Query("What leaks?", limit=3)
    merged = await one.reconstruct_across(Query("What leaks?", limit=12), ("work", "home"))
    for space in ("work", "home"):
        alone = await one.reconstruct(Query(query.text, space, limit=12))
        assert [item.id for item in merged.evidence if item.space == space] == [item.id for item in alone.evidence]
    short = await one.reconstruct_across(query, ("work", "home"))
    assert len(short.evidence) == 3


async def test_feedback_goes_to_the_space_that_it_names_by_the_numbers_of_the_merged_reply():
    one = await filled()
    found = await one.reconstruct_across(Query("Which pump leaks in hall two?"), ("home", "work"))
    work = next(number for number, item in enumerate(found.evidence, 1) if item.space == "work")
    home = next(number for number, item in enumerate(found.evidence, 1) if item.space == "home")
    right = EvolveRequest("work", found.episode, Feedback(supports=(str(work),)))
    changes = (await one.evolve(right)).changes
    assert [change.text for change in changes] == [found.evidence[work - 1].text]
    wrong = EvolveRequest("work", found.episode, Feedback(supports=(str(home),)))
    with pytest.raises(InvalidInput, match=rf"no record {home} in space 'work'"):
        await one.evolve(wrong)
    with pytest.raises(InvalidInput, match="not known in space 'secret'"):
        await one.evolve(EvolveRequest("secret", found.episode, Feedback(supports=("1",))))
