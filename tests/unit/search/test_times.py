"""The channel time: passages of the right time first, and no effect without a date."""

from dataclasses import replace

import numpy as np
import pytest
from small_space import ask, document, message, reading, refs, space_of

from mcp_memory.domain.query import Window
from mcp_memory.language.iso import midnight
from mcp_memory.search.channels import ChannelInput
from mcp_memory.search.ranking import INDEXES
from mcp_memory.search.times import FAR, YEAR, TimeIndex, with_event_times
from mcp_memory.view.evidence import sentence_evidence
from mcp_memory.view.space import Space, View


def paper(ref, title, text):
    """Return a document of which nobody knows when it was written."""
    return replace(document(ref, title, text), said_at=None)


MILL = [
    paper("a", "Blue Mill: History", "The mill was built by Black."),
    paper("b", "Blue Mill: History", "In 1951 the mill was sold to Grey."),
    paper("c", "Blue Mill: History", "In 1962 the mill was sold to White."),
    paper("d", "Blue Mill: History", "In 1975 the mill was sold to Brown."),
]


def at(year, month=1, day=1):
    return midnight(year, month, day)


def test_time_orders_candidates_of_a_kind_and_keeps_the_best_score_of_that_kind(monkeypatch):
    space = space_of(
        *MILL, *(message(str(n), "Ann", "The mill, in May.", at(2023, n), session=str(n)) for n in range(1, 9))
    )
    cosines = np.linspace(0.5, 0.6, len(space.segments), dtype=np.float32)
    asked = "What did Ann say about the Blue Mill in May 2023?"
    with_time = ask(space, asked, cosines)
    talk = [candidate.row for candidate in with_time if space.talk[candidate.row]]
    assert space.segment_turn[talk[0]].ref == "5"
    monkeypatch.setattr(ChannelInput, "time", None)
    without = ask(space, asked, cosines)
    for kind in (space.talk, ~space.talk):
        ranked = ([one.scores.values() for one in found if kind[one.row]] for found in (with_time, without))
        best, plain = (max(map(sum, scores)) for scores in ranked)
        assert best == pytest.approx(plain, rel=1e-5)


@pytest.mark.parametrize(("text", "told"), [("The test is on 20 December.", True), ("The test is on the 20th.", False)])
def test_evidence_has_the_time_that_it_surely_tells_of(text, told):
    space = space_of(message("a", "Ann", text, at(2026, 11, 25)))
    item = sentence_evidence(space, space.sentences[0], 1.0, ("meaning",))
    december = Window(at(2026, 12), at(2027))
    (found,) = with_event_times([item], december)
    assert (found.told_then, found.valid_from) == (told, at(2026, 12, 20) if told else None)


def test_of_what_is_to_come_only_what_is_stated_of_it_counts():
    space = space_of(
        message("old", "Ann", "The concert is on 20 December.", at(2026, 9, 1), session="1"),
        message("new", "Ann", "The concert last week was loud.", at(2026, 11, 20), session="2"),
    )
    for asked in ("Which concert is coming up?", "Is there a concert in December?"):
        assert refs(space, ask(space, asked, now=at(2026, 11, 24))) == ["old", "new"]
    assert refs(space, ask(space, "Which concert was there in November?", now=at(2026, 11, 24))) == ["new", "old"]


def test_of_the_present_what_was_said_last_counts_most():
    rents = [message(str(n), "Ann", f"The rent is 90{n} crowns.", at(2026, n), session=str(n)) for n in range(1, 9)]
    space = space_of(*rents)
    for asked in ("How much is the rent now?", "How much is the rent next week?"):  # of that nobody told anything
        assert refs(space, ask(space, asked, now=at(2026, 9)))[:3] == ["8", "7", "6"]


def histories(seed):
    rng = np.random.default_rng(seed)
    dated = ["In {} it was sold.", "Since {} it has been shut.", "Until {} it was open."]
    said = [*dated, "It stands in the valley.", "{}"]
    return [
        paper(str(n), f"Mill {rng.integers(3)}", " ".join(str(rng.choice(said)).format(y) for y in years))
        for n, years in enumerate(rng.integers(1900, 2000, size=(12, 3)))
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_date_is_valid_until_the_next_later_one_further_down(seed):
    space = space_of(*histories(seed))
    index = space.index(TimeIndex)
    spans, valid_until = index.documents.values, index.valid_until.values
    titles = [space.segment_turn[row].title for row in spans["segment"]]
    since, worth = spans["since"], spans["worth"]
    stated = [place for place in range(len(spans)) if since[place] > -FAR and worth[place] == 1]
    for place in stated:
        later = [
            since[other]
            for other in stated
            if other > place and titles[other] == titles[place] and since[other] > since[place]
        ]
        assert valid_until[place] == (later[0] if later else -FAR)


@pytest.mark.parametrize("seed", range(10))
def test_texts_that_arrive_in_several_steps_are_indexed_as_if_they_came_at_once(seed):
    turns = histories(seed)
    whole, pieces = space_of(*turns), View(INDEXES)
    for tx, turn in enumerate(turns, 1):
        pieces.add(reading(turn), tx)
        pieces.extend_indexes()
    question = "Who sold Mill 1 in 1950?"
    assert ask(whole, question) == ask(pieces.space("x"), question)


def test_extreme_times_and_empty_spaces_raise_nothing():
    far = replace(document("z", "Blue Mill", "Nothing."), said_at=2**70)
    space = space_of(far, document("e", "", ""), message("m", None, "", -(2**70)), *MILL)
    assert refs(space, ask(space, "Who owned the Blue Mill in 1955?"))[0] == "b"
    assert ask(Space("empty", INDEXES), "Who owned it in 1955?", now=2**62) == []
    assert at(2023) / YEAR == pytest.approx(53, abs=0.01)
