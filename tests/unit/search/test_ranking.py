"""Candidates: a formula for each kind on one scale, parts of a query, boosts, and a message only once."""

import random
from dataclasses import replace

import numpy as np
import pytest
from small_space import ask, candidate_set, document, message, reading, refs, space_of

from mcp_memory.domain.query import Query, Window
from mcp_memory.language.questions import understand
from mcp_memory.search.ranking import INDEXES, Candidate, newest_candidates, rank_candidates, similar_turn_scores
from mcp_memory.services.recall.loop import judge_coverage
from mcp_memory.view.space import View


def test_a_tie_at_the_limit_is_decided_by_id_too():
    turns = [message(f"{number:02}", "Ann", "the same words", session=f"{number:02}") for number in range(30)]
    random.Random(4).shuffle(turns)
    space = space_of(*turns)
    assert refs(space, ask(space, "same words", limit=3)) == ["00", "01", "02"]


def test_messages_do_not_push_down_a_fitting_document_nor_documents_a_message():
    talk = [message(str(n), "Ann", f"We talked about day {n} at length.", session=str(n)) for n in range(50)]
    space = space_of(
        *talk, document("d", "Heat pumps", "A heat pump moves heat."), message("m", "Ann", "My cat is ill.")
    )
    about_pumps, about_cats = (np.full(52, 0.1, np.float32) for _ in range(2))
    about_pumps[50], about_cats[51] = 0.7, 0.7
    assert refs(space, ask(space, "What does a heat pump do?", about_pumps))[0] == "d"
    assert refs(space, ask(space, "How is Ann's cat?", about_cats))[0] == "m"


def test_an_old_revision_is_never_returned():
    old, new = document("d", "Plan", "We meet in the library."), document("d", "Plan", "We meet at noon.", revision=1)
    space = space_of(old, message("m", "Ann", "Which library?"), new)
    assert 0 not in {candidate.row for candidate in ask(space, "Where do we meet, in the library?")}
    assert 0 not in {candidate.row for candidate in newest_candidates(space, Window(), 9)}


def random_turns(rng, count):
    vocabulary = [f"word{n}" for n in range(40)]
    revisions = {}
    turns = []
    for number in range(count):
        text = " ".join(rng.choices(vocabulary, k=rng.randint(1, 12))) + rng.choice([".", "?"])
        if rng.random() < 0.3:
            ref = f"d{rng.randrange(8)}"
            revisions[ref] = revisions.get(ref, -1) + 1
            turns.append(document(ref, rng.choice([None, "Word3"]), text, number, revisions[ref]))
        else:
            turns.append(message(f"m{number}", rng.choice(["Ann", "Bob"]), text, number, rng.choice("st")))
    return turns


@pytest.mark.parametrize("seed", range(20))
def test_a_space_built_in_several_steps_finds_the_same_as_one_built_at_once(seed):
    rng = random.Random(seed)
    turns = random_turns(rng, 60)
    at_once, view = space_of(*turns, width=25), View(INDEXES)
    tx = done = 0
    while done < len(turns):
        tx, taken = tx + 1, rng.randint(1, 9)
        view.add(reading(*turns[done : done + taken], width=25), tx)
        done += taken
        ask(view.space("x"), "word1 word2")  # no cache of a search may outlive the next rows
    cosines = np.random.default_rng(seed).random(len(at_once.segments), np.float32)
    for question in ("What did Ann say of word3 and word7?", "word1 word2 word39", "Word3"):
        assert ask(view.space("x"), question, cosines) == ask(at_once, question, cosines)


@pytest.mark.parametrize("question", ["", "?", "Who was it?", "Ann", "🎉"])
def test_a_query_without_content_words_is_never_covered_as_a_whole(question):
    space = space_of(message("1", "Ann", "Hello."))
    found = Candidate(0, 1.0, ("meaning",), {"meaning": 0.5})
    assert not judge_coverage(space, understand(question, space.speakers), [found]).whole


TALK = space_of(
    message("sea", "Ann", "The sea was warm.", session="1"),
    message("baker", "Bob", "My sister is a baker in town.", session="2"),
    message("rain", "Ann", "It rained on the sea all day.", session="3"),
    message("tea", "Bob", "I like green tea.", session="4"),
)
PAPERS = space_of(
    document("mill", None, "The mill by the sea was built in 1901."),
    document("baker", None, "The baker of the town has a sister."),
)


def ranked(space, text, *parts):
    query, *others = (
        replace(understand(one, space.speakers), vector=np.zeros(2, np.float32)) for one in (text, *parts)
    )
    return ask(space, replace(query, parts=tuple(others)))


def order(space, *parts):
    return refs(space, ranked(space, "How was the sea?", *parts))


@pytest.mark.parametrize("space", [TALK, PAPERS])
def test_what_only_a_part_finds_ranks_behind_what_the_query_finds(space):
    first = order(space)[0]
    assert "baker" not in order(space)
    assert "baker" in order(space, "the baker's sister")
    assert order(space, "the baker's sister")[0] == first
    found = ranked(space, "sea", "the baker's sister")
    baker = next(one for one in found if space.segment_turn[one.row].ref == "baker")
    assert baker.via == ("parts",)


def talk(count):
    return space_of(*(message(f"{number}", "Ann", f"line {number}", session=f"{number}") for number in range(count)))


def gain(*given):
    return {"step": np.array(given, np.float32)}


def rows(space, candidates):
    return [candidate.row for candidate in rank_candidates(space, candidates)]


def test_the_best_keep_their_places_and_boosted_candidates_follow_in_their_order():
    space, first = talk(5), candidate_set(1.0, 0.8, 0.6, 0.4, 0.2)
    found = first.boost(space, gain(0, 0, 0, 0.9, 2.0), keep=2)
    assert rows(space, found) == [0, 1, 4, 3, 2]
    assert rows(space, first.boost(space, gain(0, 0, 0, 0.9, 2.0), keep=0)) == [4, 3, 0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_scores_descend_from_1_and_the_first_keep_their_places_under_any_boost(seed):
    rng = np.random.default_rng(seed)
    space, total = talk(12), np.sort(rng.random(12).astype(np.float32))[::-1]
    ranked = rank_candidates(space, candidate_set(*total).boost(space, gain(*(3 * rng.random(12))), keep=5))
    scores = [candidate.score for candidate in ranked]
    assert [candidate.row for candidate in ranked[:5]] == [0, 1, 2, 3, 4]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)


def test_messages_similar_to_the_best_gain_and_none_gain_without_vectors():
    vectors = {"One.": (1.0, 0.0), "Two.": (0.0, 1.0), "Three.": (1.0, 0.0)}
    turns = [message(f"{n}", "Ann", text, session=f"{n}") for n, text in enumerate(vectors)]
    view = View(INDEXES)
    view.add(replace(reading(*turns, vectors=vectors), segment_vectors=np.array([*vectors.values()], np.float32)), 1)
    space = view.space("x")
    found = candidate_set(1.0, 0.9, 0.8)
    one, all_ = (
        Query(text, vector=np.array((0.0, 1.0), np.float32)) for text in ("Which one?", "Which ones are there?")
    )
    gained = similar_turn_scores(space, found, one)["alike"]
    assert gained[2] > gained[1] == 0.0
    assert similar_turn_scores(space, found, all_)["alike"].tolist() == pytest.approx([gained[0], 0.15, gained[2]])
    space.segment_vectors = space.sentence_vectors = None
    assert similar_turn_scores(space, found, one) == {}
