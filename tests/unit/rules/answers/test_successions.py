"""What held at a time, from documents that tell one after another what changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_memory import ask, said

pytestmark = pytest.mark.anyio

SEATS = "The Holm Society was founded in Lowick in 1926 . It moved its seat to Basel in 1959 and to Turku in 1973 ."
SINGER = "In 2000 , Marsh signed with the label Ostby Records . In 2004 she joined Fell Music . She left it in 2006 ."
KEEPER = "In 1993 Marsh signed for Lowick Town . He was the coach of Ostby Rovers from 2004 to 2009 ."
POSTS = (
    "She became a warden in 1882 , a lecturer in 1884 and a professor in 1886 . Her brothers became pilots in 1887 ."
)
HULL = "The Oriole was renamed Greta Holm in 1990 . In 1994 , Lind Shipping acquired it ."
BISHOP = "On 27 May 2019 Ada Marsh was appointed as party chair . In 2020 Carl Lind was appointed as art director ."


@pytest.mark.parametrize(
    ("text", "title", "question", "expected"),
    [
        (SEATS, "Holm Society", "Where was the Holm Society headquartered in May 1960?", "Basel"),
        (SEATS, "Holm Society", "Where was the Holm Society headquartered in May 1974?", "Turku"),
        (SEATS, "Holm Society", "Where was the Holm Society headquartered in May 1920?", None),
        (SEATS, "Holm Society", "Where was the Holm Society headquartered in May 1995?", None),
        (SEATS, "Holm Society", "Where was the Ostby Guild headquartered in May 1960?", None),
        (SINGER, "Ada Marsh", "Which record label was Ada Marsh with in May 2001?", "Ostby Records"),
        (SINGER, "Ada Marsh", "Which record label was Ada Marsh with in May 2005?", "Fell Music"),
        (SINGER, "Ada Marsh", "Which record label was Ada Marsh with in May 2007?", None),
        (KEEPER, "Carl Marsh", "Which team did Carl Marsh coach in May 2006?", "Ostby Rovers"),
        (KEEPER, "Carl Marsh", "Which team did Carl Marsh coach in May 2012?", None),
        (SINGER, "Ada Marsh", "Which record label did Ada Marsh join in May 2005?", None),
        (POSTS, "Ada Marsh", "What position did Ada Marsh hold in May 1883?", "warden"),
        (POSTS, "Ada Marsh", "What position did Ada Marsh hold in May 1885?", "lecturer"),
        (POSTS, "Ada Marsh", "What position did Ada Marsh hold in October 1887?", "professor"),
        (HULL, "Oriole (ship)", "What was the Oriole called in May 1991?", "Greta Holm"),
        (HULL, "Oriole (ship)", "Who owned the Oriole in May 1995?", "Lind Shipping"),
        (BISHOP, "Holm Party", "Who was the chair of the Holm Party in August 2019?", "Ada Marsh"),
        (BISHOP, "Holm Party", "Who was the chair of the Holm Party in August 2021?", "Ada Marsh"),
    ],
)
async def test_the_last_change_before_a_time_tells_what_held_then(
    text: str, title: str, question: str, expected: str | None
) -> None:
    items = [replace(one, speaker=None, title=title) for one in said(f"x: {text}")]
    assert (await ask(items, question, "document")).text == expected


@pytest.mark.parametrize(
    ("text", "question", "hedged"),
    [
        (SEATS, "Where was the Holm Society headquartered in May 1960?", False),
        (SEATS, "Where was the Holm Society headquartered in May 1965?", True),
        (KEEPER, "Which team did Carl Marsh coach in May 2006?", False),
        (KEEPER, "Which team did Carl Marsh play for in May 1994?", True),
    ],
)
async def test_an_old_change_and_a_team_without_an_end_are_hedged(text: str, question: str, hedged: bool) -> None:
    items = [
        replace(one, speaker=None, title="Carl Marsh" if text is KEEPER else "Holm Society")
        for one in said(f"x: {text}")
    ]
    found = await ask(items, question, "document")
    assert (found.text is not None, found.hedged) == (True, hedged)


async def test_a_message_tells_no_succession() -> None:
    assert (await ask(said("Ada: The Holm Society moved its seat to Basel in 1959."),
                      "Where was the Holm Society headquartered in May 1960?")).text is None  # fmt: skip


async def test_an_article_without_its_name_is_known_by_most_of_the_best_evidence() -> None:
    parts = [f"x: The society of botanists, part {part} . {SEATS}" for part in "abcde"]
    items = [replace(one, speaker=None, title="Holm Society") for one in said(*parts)]
    others = [replace(one, title=f"Guild {number}") for number, one in enumerate(items)]
    question = "Where was the society of botanists headquartered in May 1960?"
    assert (await ask(items, question, "document")).text == "Basel"
    assert (await ask(others, question, "document")).text is None
