"""Which wishes stand, which apply to a query, and where their messages are placed among the candidates."""

from dataclasses import replace

import numpy as np
import pytest
from small_space import document, message, read, refs

from mcp_memory.language.questions import understand
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.evidence import KEPT, PLACED, place_wishes
from mcp_memory.search.wishes import fitting_wishes, standing_wishes
from mcp_memory.view.space import Space

NEAR, FAR = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


def wishing(*lines: str) -> Space:
    turns = [message(f"{number:02}", "user", line, at=number, session=str(number)) for number, line in enumerate(lines)]
    return read(*turns, document("d", "Hikes", "Always take a map."))


def texts(space: Space) -> list[str]:
    return [wish.text for wish in standing_wishes(space)]


@pytest.mark.parametrize(
    ("earlier", "later", "left"),
    [
        ("Always suggest boat trips.", "Never suggest boat trips.", ["Never suggest boat trips."]),
        ("Keep your answers short.", "Please keep your answers short.", ["Please keep your answers short."]),
        ("Stop using emojis.", "You can use emojis again.", []),
        ("Never use emojis.", "Emojis are fine by me from now on.", []),
        ("Never recommend seafood.", "You can recommend seafood again.", []),
        ("Always remind me to stretch.", "You don't need to remind me to stretch any more.", []),
        ("Answer in Finnish.", "From now on answer in Danish.", ["From now on answer in Danish."]),
        ("Call me Ferrun.", "Call me Fern.", ["Call me Fern."]),
        ("And call me Owen.", "You can call me Ows from now on.", ["You can call me Ows from now on."]),
        ("Keep your answers short.", "Longer answers are fine now.", []),
        ("Always answer in French.", "English is fine from now on.", []),
        ("Keep your answers short.", "I prefer detailed answers.", ["I prefer detailed answers."]),
    ],
)
def test_the_later_of_two_wishes_about_the_same_stands(earlier: str, later: str, left: list[str]) -> None:
    assert texts(wishing(earlier, later)) == left


@pytest.mark.parametrize(
    ("before", "wishes"),
    [
        ("Which ferries go to Turku?", []),
        ("Please translate what my boss wrote to me:", []),
        ("Can you check this prompt for mistakes?", []),
    ],
)
def test_what_follows_a_request_is_no_wish(before: str, wishes: list[str]) -> None:
    said = ["Always answer in Finnish."]
    turns = [message(f"{at:02}", "user", line, at=at, session="s") for at, line in enumerate([before, *said])]
    assert texts(read(*turns)) == wishes


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Keep your answers short, no bullet points.", "Use bullet points only for shopping lists."),
        ("Always answer in Finnish.", "Never use emojis."),
        ("Never suggest seafood.", "Never suggest pork."),
        ("Never use emojis or jargon.", "You can use emojis again."),
        ("Keep my emails short.", "Keep your summaries long."),
        ("Don't call me Mags.", "Call me Peggy."),
    ],
)
def test_wishes_that_are_not_surely_about_the_same_stand_both(earlier: str, later: str) -> None:
    assert texts(wishing(earlier, later)) == [earlier, later]


@pytest.mark.parametrize(
    "later", ["The weather is fine now.", "Mum says emojis are fine now.", "Emojis are fine here."]
)
def test_what_permits_nothing_of_an_assistant_ends_no_wish(later: str) -> None:
    assert texts(wishing("Never use emojis.", later)) == ["Never use emojis."]


def test_a_wish_far_behind_the_nearest_does_not_apply_nor_a_faint_one_to_what_was_said() -> None:
    wine, seats = standing_wishes(
        wishing("When I ask about wine, mention the price.", "When I ask about seats, offer the aisle.")
    )
    faint, vector = np.array([0.3, 0.954], np.float32), np.array(NEAR)
    asked = replace(understand("Which wine?", ()), vector=vector)
    assert fitting_wishes([wine, seats], [faint, faint], asked) == [wine, seats]
    assert fitting_wishes([wine, seats], [NEAR, faint], asked) == [wine]
    back = replace(understand("Which wine did I buy?", ()), vector=vector)
    assert fitting_wishes([wine, seats], [faint, faint], back) == []


def placed(space: Space, question: str, limit: int = 20) -> list[str]:
    rows = [row for row in range(len(space.segments)) if space.segment_turn[row].ref.startswith("1")]
    found = [Candidate(row, 1 - place / 10, ("words",), {}) for place, row in enumerate(rows)]
    query = replace(understand(question, space.speakers), limit=limit)
    return refs(space, place_wishes(space, found, standing_wishes(space), query))


def test_messages_of_wishes_stand_behind_the_best_records() -> None:
    lines = [
        "When I ask about seats, offer the aisle.",
        *["What now?"] * 9,
        *[f"Seat {number} is taken." for number in range(10, 18)],
    ]
    space = wishing(*lines)
    shown = placed(space, "Which seat should I take?")
    assert shown[KEPT] == "00"
    assert shown[:KEPT] == ["10", "11", "12", "13", "14"]
    assert len(placed(space, "Which seat should I take?", limit=7)) == 7
    assert "00" not in placed(space, "Which seat did I take?")  # what was asks for no wish
    assert len([ref for ref in shown if ref == "00"]) == 1 <= PLACED
