"""Boosts: what operators and similar turns add comes behind the turns that keep their places."""

from dataclasses import replace

import numpy as np
import pytest
from small_space import message, reading, space_of

from mcp_memory.search.candidates import INDEXES, CandidateSet, rank_candidates, similar_turn_scores
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

ASKED, LIKE_TWO = "Which one?", np.array((0.0, 1.0), np.float32)


def candidate_set(space: Space, *scores: float) -> CandidateSet:
    total = np.array(scores, np.float32)
    return CandidateSet(rows=np.arange(len(scores)), scores={"words": total}, total=total)


def talk(count: int) -> Space:
    return space_of(*(message(f"{number}", "Ann", f"line {number}", session=f"{number}") for number in range(count)))


def gain(*given: float) -> dict[str, np.ndarray]:
    return {"step": np.array(given, np.float32)}


def rows(space: Space, candidates: CandidateSet) -> list[int]:
    return [candidate.row for candidate in rank_candidates(space, candidates)]


def test_the_best_keep_their_places_and_boosted_candidates_follow_in_their_order() -> None:
    space, first = talk(5), candidate_set(talk(5), 1.0, 0.8, 0.6, 0.4, 0.2)
    found = first.boost(space, gain(0, 0, 0, 0.9, 2.0), keep=2)
    assert rows(space, found) == [0, 1, 4, 3, 2]
    assert rows(space, first.boost(space, gain(0, 0, 0, 0.9, 2.0), keep=0)) == [4, 3, 0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_scores_descend_from_1_and_the_first_keep_their_places_under_any_boost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    space, total = talk(12), np.sort(rng.random(12).astype(np.float32))[::-1]
    ranked = rank_candidates(space, candidate_set(space, *total).boost(space, gain(*(3 * rng.random(12))), keep=5))
    scores = [candidate.score for candidate in ranked]
    assert [candidate.row for candidate in ranked[:5]] == [0, 1, 2, 3, 4]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)


def test_messages_similar_to_the_best_gain_and_none_gain_without_vectors() -> None:
    vectors = {"One.": (1.0, 0.0), "Two.": (0.0, 1.0), "Three.": (1.0, 0.0)}
    turns = [message(f"{n}", "Ann", text, session=f"{n}") for n, text in enumerate(vectors)]
    view = View(INDEXES)
    view.add(replace(reading(*turns, vectors=vectors), segment_vectors=np.array([*vectors.values()], np.float32)), 1)
    space = view.space("x")
    gained = similar_turn_scores(space, candidate_set(space, 1.0, 0.9, 0.8), ASKED, LIKE_TWO)
    assert gained is not None
    assert gained[2] > gained[1] == 0.0
    several = similar_turn_scores(space, candidate_set(space, 1.0, 0.9, 0.8), "Which ones are there?", LIKE_TWO)
    assert several is not None
    assert several.tolist() == pytest.approx([gained[0], 0.15, gained[2]])
    space.segment_vectors = space.sentence_vectors = None
    assert similar_turn_scores(space, candidate_set(space, 1.0, 0.9, 0.8), ASKED, LIKE_TWO) is None
