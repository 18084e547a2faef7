"""What somebody or something became, and when, from sentences of documents that say so with a verb."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_memory import ask, said

pytestmark = pytest.mark.anyio

MOVES = "The Ostby League moved its headquarters to Lowick in 1959 and to Dunmore in 1973 ."
TITLES = "She was awarded the titles of Junior Master in 2007 and Senior Master in 2012 ."
CLUBS = "In May 1990 Marsh signed for Lowick Town . On 3 July 1991 he joined Serie B club Dunmore City ."
LEFT = "In May 1990 Marsh signed for Lowick Town . He left in August 1990 ."
PRIZES = "- Holm Prize in 1994 - Ostby Medal in 1975 awarded by the mayor"
MADE = "She was made commissioner of a theatre in 1834 and made an officer of the Order of Ostby in 1877 ."
SEASONS = "Subsequently , he returned to his native Tuscany to coach Lowick FC in 2002–03 and Dunmore FC in 2003–04 ."
NAMED = "Marsh was appointed as the Lowick manager on 24 May 1998 ."
DESCRIBED = "Her son was Frank Moor . Ada Holm married Otto Moor on 28 December 1841 ."
DPA = MOVES.replace("Ostby League", "DPA")
NAMES = (
    "In 1916 it became Dunmore Normal College , and then , in 1923 , the name was changed to Dunmore Junior College ."
)


@pytest.mark.parametrize(
    ("text", "title", "question", "expected"),
    [
        (MOVES, "Ostby League", "Where was the Ostby League headquartered in May 1965?", "Lowick"),
        (MOVES, "Ostby League", "Where was the Ostby League headquartered in May 1975?", "Dunmore"),
        (MOVES, "Ostby League", "Where was the Ostby League headquartered in May 1950?", None),
        (
            MOVES.replace("The Ostby League", "It"),
            "Holm League",
            "Where was the Ostby League headquartered in May 1965?",
            None,
        ),
        (TITLES, "Ada Marsh", "Which title was given to Ada Marsh in 2007?", "Junior Master"),
        (TITLES, "Ada Marsh", "Which title was given to Ada Marsh in 2012?", "Senior Master"),
        (TITLES, "Ada Marsh", "Which title was given to Ada Marsh in 2009?", None),
        (TITLES, "Ada Marsh", "What title did Ada Marsh have in 2009?", "Junior Master"),
        (CLUBS, "Ben Marsh", "Which club did Ben Marsh play for in December 1990?", "Lowick Town"),
        (CLUBS, "Ben Marsh", "Which club did Ben Marsh play for in September 1991?", "Dunmore City"),
        (CLUBS, "Ben Marsh", "Which club did Ben Marsh play for in May 1999?", None),
        (LEFT, "Ben Marsh", "Which club did Ben Marsh play for in December 1990?", None),
        (
            NAMES,
            "Dunmore College",
            "What was the formal name of Dunmore College in May 1925?",
            "Dunmore Junior College",
        ),
        (PRIZES, "Ada Marsh: Honours", "Which prize did Ada Marsh win in 1994?", "Holm Prize"),
        (SEASONS, "Ben Marsh", "Which team did Ben Marsh coach in May 2003?", "Lowick FC"),
        (MADE, "Ada Marsh", "Which award did Ada Marsh receive in 1877?", "officer of the Order of Ostby"),
        (MADE, "Ada Marsh", "Which award did Ada Marsh receive in 1834?", None),
        (NAMES, "Dunmore College", "What was Dunmore College named after in May 1925?", None),
        (SEASONS, "Ben Marsh", "Which team did Ben Marsh coach in May 2004?", "Dunmore FC"),
        (NAMED, "Ben Marsh", "Which team was managed by Ben Marsh in May 1999?", "Lowick"),
        (DESCRIBED, "Ada Holm", "Who was the mother of Frank Moor married to in May 1845?", "Otto Moor"),
        (DESCRIBED, "Ada Holm", "Who was the mother of Carl Ostby married to in May 1845?", None),
        (DPA, "Dunmore Press Association", "Where was the DPA headquartered in May 1965?", "Lowick"),
        (DPA, "Dunmore Pony Club", "Where was the DPA headquartered in May 1965?", None),
    ],
)
async def test_the_last_value_that_a_document_says_before_a_time_held_then(
    text: str, title: str, question: str, expected: str | None
) -> None:
    items = [replace(one, speaker=None, title=title) for one in said(f"x: {text}")]
    assert (await ask(items, question, "document")).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "In 1990 Marsh refused and never joined Dunmore City .",
        "In 1990 his brother Otto Holm joined Dunmore City .",
        "In 1990 Marsh was to join the Dunmore and Lowick football teams .",
    ],
)
async def test_what_did_not_happen_or_is_of_somebody_else_is_not_proposed(text: str) -> None:
    items = [replace(one, speaker=None, title="Ben Marsh") for one in said(f"x: {text}")]
    assert (await ask(items, "Which club did Ben Marsh play for in May 1990?", "document")).text is None


async def test_a_rank_that_somebody_received_is_hedged_and_a_club_is_plain() -> None:
    text = f"{CLUBS} In 1992 he was promoted to captain ."
    items = [replace(one, speaker=None, title="Ben Marsh") for one in said(f"x: {text}")]
    rank = await ask(items, "What rank did Ben Marsh have in May 1993?", "document")
    club = await ask(items, "Which club did Ben Marsh play for in December 1990?", "document")
    assert (rank.text, rank.hedged) == ("captain", True)
    assert (club.text, club.hedged) == ("Lowick Town", False)
