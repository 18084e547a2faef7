"""Candidates: a formula for each kind on one scale, exact windows, and a message only once."""

import random

import numpy as np
import pytest
from small_space import ask, batch, document, message, refs, space_of

from mcp_memory.domain.query import Window
from mcp_memory.domain.turns import Turn
from mcp_memory.search.candidates import INDEXES, newest_candidates
from mcp_memory.switches import Switches
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

MANY_TONGUES = {
    "de": ("Meine Großmutter hat gestern Pflaumenkuchen gebacken.", "Wer hat Pflaumenkuchen gebacken?"),
    "zh": ("我昨天在公园里丢了钱包。", "钱包在哪里丢的?"),
    "ar": ("اشتريت سيارة جديدة من السوق.", "من اشترى سيارة؟"),
    "en": ("We painted the fence green.", "Which colour is the fence?"),
}


@pytest.mark.parametrize("tongue", MANY_TONGUES)
def test_a_turn_is_found_by_its_own_words_in_any_language(tongue: str) -> None:
    space = space_of(*(message(ref, "Ann", said, session=ref) for ref, (said, _) in MANY_TONGUES.items()))
    ranked = ask(space, MANY_TONGUES[tongue][1])
    assert refs(space, ranked)[0] == tongue
    assert ranked[0].via[0] == "words"


def test_a_tie_at_the_limit_is_decided_by_id_too() -> None:
    turns = [message(f"{number:02}", "Ann", "the same words", session=f"{number:02}") for number in range(30)]
    random.Random(4).shuffle(turns)
    space = space_of(*turns)
    assert refs(space, ask(space, "same words", limit=3)) == ["00", "01", "02"]


def test_messages_by_the_speaker_whom_the_query_names_come_first() -> None:
    space = space_of(message("b", "Bob", "I adopted a cat."), message("a", "Ann", "I adopted a cat.", session="other"))
    assert refs(space, ask(space, "What did Ann adopt?")) == ["a", "b"]
    assert refs(space, ask(space, "What did Bob adopt?")) == ["b", "a"]
    assert "speaker" in ask(space, "What did Bob adopt?")[0].via


def test_i_means_the_user_where_speakers_are_roles() -> None:
    said = "The name of the boat is Nutshell."
    space = space_of(message("a", None, said, role="assistant"), message("u", None, said, session="o", role="user"))
    assert refs(space, ask(space, "What is my boat called?"))[0] == "u"
    assert refs(space, ask(space, "What did you call the boat?"))[0] == "a"


def test_the_words_of_the_message_before_help_to_find_an_answer() -> None:
    space = space_of(
        message("1", "Ann", "Where does your sister live?"),
        message("2", "Bob", "In Lyon."),
        message("3", "Bob", "Nothing to see here.", session="other"),
    )
    assert refs(space, ask(space, "sister")) == ["1", "2"]


def test_a_document_whose_title_is_in_the_query_comes_first() -> None:
    text = "It opened in 1901 and closed in 1950."
    titled = space_of(document("a", "Blue Mill (theatre)", text), document("b", "Red Mill", text))
    assert refs(titled, ask(titled, "When did the Red Mill close?"))[0] == "b"
    assert "head" in ask(titled, "When did the Blue Mill close?")[0].via
    untitled = space_of(document("a", None, f"The Blue Mill was a theatre. {text}"), document("b", None, text))
    assert "head" in ask(untitled, "When did the Blue Mill close?")[0].via


def test_messages_do_not_push_down_a_fitting_document_nor_documents_a_message() -> None:
    talk = [message(str(n), "Ann", f"We talked about day {n} at length.", session=str(n)) for n in range(50)]
    space = space_of(
        *talk, document("d", "Heat pumps", "A heat pump moves heat."), message("m", "Ann", "My cat is ill.")
    )
    about_pumps, about_cats = (np.full(52, 0.1, np.float32) for _ in range(2))
    about_pumps[50], about_cats[51] = 0.7, 0.7
    assert refs(space, ask(space, "What does a heat pump do?", about_pumps))[0] == "d"
    assert refs(space, ask(space, "How is Ann's cat?", about_cats))[0] == "m"


def test_since_is_inclusive_and_until_is_not() -> None:
    space = space_of(*(message(str(at), "Ann", "tea again", at, session=str(at)) for at in (1, 2, 3, 4)))
    assert set(refs(space, ask(space, "tea", window=Window(2, 4)))) == {"2", "3"}
    assert ask(space, "tea", window=Window(5, 9)) == []


def test_an_old_revision_is_never_returned() -> None:
    old, new = document("d", "Plan", "We meet in the library."), document("d", "Plan", "We meet at noon.", revision=1)
    space = space_of(old, message("m", "Ann", "Which library?"), new)
    assert 0 not in {candidate.row for candidate in ask(space, "Where do we meet, in the library?")}
    assert 0 not in {candidate.row for candidate in newest_candidates(space, Window(), 9)}


def test_nothing_is_found_where_no_channel_finds_anything() -> None:
    space = space_of(message("m", "Ann", "We painted the fence."))
    assert ask(space, "zebra") == []
    assert ask(space, "") == []
    assert ask(Space("x", INDEXES), "anything") == []


@pytest.mark.parametrize("channel", ["meaning", "words"])
def test_a_channel_that_is_switched_off_gives_nothing(channel: str) -> None:
    space = space_of(message("m", "Ann", "We painted the fence."), document("d", "Fence", "A fence stands."))
    cosines = np.full(2, 0.5, np.float32)
    on = ask(space, "Did Ann paint the fence?", cosines)
    off = ask(space, "Did Ann paint the fence?", cosines, switches=Switches(**{channel: False}))
    assert any(channel in candidate.via for candidate in on)
    assert not any(channel in candidate.scores for candidate in off)


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
