"""Who held what at a time, from documents that state a name or a post beside an interval."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_memory import ask, said

pytestmark = pytest.mark.anyio

RECTORS = (
    "Rectors of the Dunmore Academy: - Ada Marsh ( 1903–1911 ) - Carl Lind ( 1911–1920 ) - Nora Fell ( joint ) "
    "( 1914–1920 ) - Otto Brandt ( June 2, 1920 – May 4, 1931 ) - Ida Holm ( 1931– )"
)
LIVES = "People of Dunmore Academy: - Ada Marsh ( 1823–1911 ) - Carl Lind ( 1831–1920 ) - Nora Fell ( 1844–1920 )"


async def answer(text: str, question: str, title: str = "Dunmore Academy") -> str | None:
    """Return the answer from one document."""
    items = [replace(one, speaker=None, title=title) for one in said(f"x: {text}")]
    return (await ask(items, question, "document")).text


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("in May 1905", "Ada Marsh"),
        ("between June 1924 and July 1925", "Otto Brandt"),
        ("in 1950", "Ida Holm"),
        ("in May 1916", "Carl Lind and Nora Fell"),
        ("in May 1914", "Carl Lind or Nora Fell"),
        ("in May 1890", None),
        ("between October 1902 and June 1906", "Ada Marsh"),
        ("between October 1890 and June 1906", None),
        ("between March 1909 and February 1912", None),
    ],
)
async def test_a_list_tells_who_held_an_office(when: str, expected: str | None) -> None:
    assert await answer(RECTORS, f"Who was the rector of the Dunmore Academy {when}?") == expected


async def test_lifetimes_are_no_tenures() -> None:
    assert await answer(LIVES, "Who was the rector of the Dunmore Academy in May 1890?") is None


async def test_a_post_beside_its_time_answers_which_post_somebody_held() -> None:
    text = "Ada Marsh served as warden of the mint from 1863 until 1871 , and was a poet ."
    assert await answer(text, "What position did Ada Marsh serve in in May 1866?", "Ada Marsh") == "warden of the mint"
    assert await answer(text, "What position did Ada Marsh serve in in May 1880?", "Ada Marsh") is None


PASTOR = "From 1993 to 1997 she was pastor at St. Bridget and from 1997 to 2003 she was abroad ."


@pytest.mark.parametrize(
    ("question", "hedged"),
    [
        ("What position did Ada Marsh have in May 1995?", False),
        ("What position did Mrs Marsh have in May 1995?", False),
        ("What position did Ada Marsh have in May 1993?", True),
    ],
)
async def test_a_post_is_plain_where_its_time_surely_holds_the_one_asked_about(question: str, hedged: bool) -> None:
    items = [replace(one, speaker=None, title="Ada Marsh") for one in said(f"x: {PASTOR}")]
    found = await ask(items, question, "document")
    assert (found.text, found.hedged) == ("pastor at St. Bridget", hedged)


HEADED = "- Ada Marsh , Founding director , 1968–1977 - Carl Lind , 1978–1989 - Nora Fell , 1991–2001"
LEADERS = "- Chairman : Ada Marsh ( since 2005 ) - Chief Executive Officer : Carl Lind ( since 2017 )"
COACHES = "- Ada Marsh ( Jan 1 , 2013 – April 28 , 2014 ) - Carl Lind ( April 29 , 2014– )"
CAPTAINS = "Captains of Dunmore FC: - Ada Marsh ( 2002–03 ) - Carl Lind ( 2003–04 ) - Nora Fell ( 2004–05 )"


@pytest.mark.parametrize(
    ("text", "title", "question", "expected"),
    [
        (COACHES, "Dunmore FC: Managers", "Who coached Dunmore FC in March 2014?", "Ada Marsh"),
        (COACHES, "Dunmore FC: Managers", "Who coached Dunmore FC in May 2014?", "Carl Lind"),
        (COACHES, "Dunmore FC: Managers", "Which team was managed by Dunmore FC in May 2014?", None),
        (CAPTAINS, "Dunmore FC", "Who was captain of Dunmore FC in March 2004?", "Carl Lind"),
        (CAPTAINS, "Dunmore FC", "Who was captain of Dunmore FC in March 2002?", None),
        (
            "- Ada Marsh ( 1949–1997 ) , hockey player - Carl Lind ( 1950–1990 ) , poet - Nora Fell ( 1951–1991 )",
            "Dunmore: Notable people",
            "Who chaired the town Dunmore in May 1970?",
            None,
        ),
        (HEADED, "Dunmore Press Association: Directors", "Who managed the DPA in May 1970?", "Ada Marsh"),
        (HEADED, "Dunmore Pony Club: Directors", "Who managed the DPA in May 1970?", None),
        (LEADERS, "Dunmore Steel", "Who was CEO of Dunmore Steel in May 2018?", "Carl Lind"),
    ],
)
async def test_a_list_of_entries_is_read_by_its_heading_its_labels_and_its_seasons(
    text: str, title: str, question: str, expected: str | None
) -> None:
    assert await answer(text, question, title) == expected


PRINTERS = "- Lowick Press ( 1840–1862 ) - Dunmore Press ( 1862–1884 ) - Holm and Sons ( 1884– )"
GROUNDS = "The club played at the Lowick Stadium from 1978 until 1999 and at the Mill Ground from 1953 to 1978 ."
HEADS = "- Chairman : Ada Marsh ( 1903–1911 ) , Carl Lind ( 1911–1920 ) - Director : Nora Fell ( 1903–1920 )"


@pytest.mark.parametrize(
    ("text", "question", "title", "expected"),
    [
        (PRINTERS, "What printed the Dunmore Almanac in May 1870?", "Dunmore Almanac: Printers", None),
        (
            PRINTERS,
            "Which printers made the Dunmore Almanac in May 1870?",
            "Dunmore Almanac: Printers",
            "Dunmore Press",
        ),
        (PRINTERS, "Which printers made the Dunmore Almanac in May 1870?", "Dunmore Almanac: Readers", None),
        (PRINTERS, "Which printers made the Oslow Gazette in May 1870?", "Dunmore Almanac: Printers", None),
        (GROUNDS, "Which stadium was the home of Dunmore FC in May 1985?", "Dunmore FC", "Lowick Stadium"),
        (GROUNDS, "Which stadium was the home of Dunmore FC in May 1960?", "Dunmore FC", None),
        (HEADS, "Who was the director of the Dunmore Academy in May 1905?", "Dunmore Academy: Leadership", "Nora Fell"),
    ],
)
async def test_a_heading_or_the_name_itself_tells_of_what_a_list_is(
    text: str, question: str, title: str, expected: str | None
) -> None:
    assert await answer(text, question, title) == expected


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("From 1990 until 1995 , the rector was Nora Fell .", "Who was the rector in May 1992?", "Nora Fell"),
        ("Nora Fell has served as rector since 1990 .", "Who was the rector in May 1992?", "Nora Fell"),
        ("Nora Fell was rector of the academy from 1990 to 1995 .", "Who was the rector in May 1992?", "Nora Fell"),
        ("Director Nora Fell ( 1990–1995 ) .", "Who was the director in May 1992?", "Nora Fell"),
        ("It was led by the poet Nora Fell from 1990 to 1995 .", "Who led the academy in May 1992?", "Nora Fell"),
        ("Nora Fell led the academy from 1990 to 1995 .", "Who led the academy in May 1992?", "Nora Fell"),
        ("Nora Fell was art director of it from 1990 to 1995 .", "Who was the director in May 1992?", None),
        ("Nora Fell studied there from 1990 to 1995 .", "Who led the academy in May 1992?", None),
        ("From 1990 until 1995 , the rector was Nora Fell .", "Who was the rector in May 1997?", None),
    ],
)
async def test_a_sentence_tells_who_held_an_office(text: str, question: str, expected: str | None) -> None:
    said_so = f"The Dunmore Academy is a school . {text}"
    assert await answer(said_so, question.replace(" in May", " of the Dunmore Academy in May")) == expected


MEMBER = "In 1795 she was elected a member of the Holm Academy of Letters , and left the Ostby Academy before 1801 ."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which academy did Ada Marsh join in 1795?", "Holm Academy of Letters"),
        ("Ada Marsh joined which academy in May 1795?", "Holm Academy of Letters"),
        ("Which academy did Ada Marsh join in 1801?", None),
        ("Which prize did Ada Marsh win in 1795?", None),
        ("Which academy did Ada Marsh join between 1780 and 1799?", None),
    ],
)
async def test_a_name_of_the_kind_asked_for_near_the_time_answers(question: str, expected: str | None) -> None:
    assert await answer(MEMBER, question, "Ada Marsh") == expected
