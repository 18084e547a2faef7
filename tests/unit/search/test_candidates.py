"""Candidates: a formula for each kind on one scale, exact windows, and a message only once."""

import random

import numpy as np
import pytest
from small_space import ask, batch, document, message, refs, space_of

from mcp_memory.domain.query import Window
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import INDEXES, Candidate, newest_candidates
from mcp_memory.services.recall.loop import judge_coverage
from mcp_memory.view.view import View


def test_a_tie_at_the_limit_is_decided_by_id_too() -> None:
    turns = [message(f"{number:02}", "Ann", "the same words", session=f"{number:02}") for number in range(30)]
    random.Random(4).shuffle(turns)
    space = space_of(*turns)
    assert refs(space, ask(space, "same words", limit=3)) == ["00", "01", "02"]


def test_messages_do_not_push_down_a_fitting_document_nor_documents_a_message() -> None:
    talk = [message(str(n), "Ann", f"We talked about day {n} at length.", session=str(n)) for n in range(50)]
    space = space_of(
        *talk, document("d", "Heat pumps", "A heat pump moves heat."), message("m", "Ann", "My cat is ill.")
    )
    about_pumps, about_cats = (np.full(52, 0.1, np.float32) for _ in range(2))
    about_pumps[50], about_cats[51] = 0.7, 0.7
    assert refs(space, ask(space, "What does a heat pump do?", about_pumps))[0] == "d"
    assert refs(space, ask(space, "How is Ann's cat?", about_cats))[0] == "m"


def test_an_old_revision_is_never_returned() -> None:
    old, new = document("d", "Plan", "We meet in the library."), document("d", "Plan", "We meet at noon.", revision=1)
    space = space_of(old, message("m", "Ann", "Which library?"), new)
    assert 0 not in {candidate.row for candidate in ask(space, "Where do we meet, in the library?")}
    assert 0 not in {candidate.row for candidate in newest_candidates(space, Window(), 9)}


def random_turns(rng: random.Random, count: int) -> list[Turn]:
    vocabulary = [f"word{n}" for n in range(40)]
    revisions: dict[str, int] = {}
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
def test_a_space_built_in_several_steps_finds_the_same_as_one_built_at_once(seed: int) -> None:
    rng = random.Random(seed)
    turns = random_turns(rng, 60)
    at_once, view = space_of(*turns, width=25), View(INDEXES)
    tx = done = 0
    while done < len(turns):
        tx, taken = tx + 1, rng.randint(1, 9)
        view.add(batch(turns[done : done + taken], 25), tx)
        done += taken
        ask(view.space("x"), "word1 word2")  # no cache of a search may outlive the next rows
    cosines = np.random.default_rng(seed).random(len(at_once.segments), np.float32)
    for question in ("What did Ann say of word3 and word7?", "word1 word2 word39", "Word3"):
        assert ask(view.space("x"), question, cosines) == ask(at_once, question, cosines)


@pytest.mark.parametrize("question", ["", "?", "Who was it?", "Ann", "🎉"])
def test_a_query_without_content_words_is_never_covered_as_a_whole(question: str) -> None:
    space = space_of(message("1", "Ann", "Hello."))
    found = Candidate(0, 1.0, ("meaning",), {"meaning": 0.5})
    assert not judge_coverage(space, understand(question, space.speakers), [found]).whole
