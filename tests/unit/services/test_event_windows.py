"""A window of time finds what was said then and what tells of then."""

import pytest
from learning_memory import memory, recalled, told

from mcp_memory.domain.query import Window
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.iso import parse
from mcp_memory.search.times import tells_of

pytestmark = pytest.mark.anyio
TALK = (
    "@ 2023-09-02",
    "Ann: I flew home from Turku last Sunday.",
    "Ann: My flight to Oslo is on 20 September 2023.",
    "Ann: In 2023 I flew a lot.",
    "@ 2023-08-27",
    "Ann: I have to pack for the flight.",
)


def day(first, last=None):
    return Window(parse(first)[0], parse(last or first)[1])


async def found(window, query="When did Ann fly?"):
    recall = await recalled(await told(memory(), *TALK), query, window=window)
    return {item.text: (item.valid_from, item.valid_to) for item in recall.evidence}


async def test_what_was_said_of_a_day_is_found_for_that_day_and_says_so():
    items = await found(day("2023-08-27"))
    assert items == {
        "I flew home from Turku last Sunday.": parse("2023-08-27"),
        "I have to pack for the flight.": (None, None),
    }


async def test_a_time_of_the_clock_is_found_within_its_day():
    one = await told(memory(), "@ 2026-11-25", "Ann: The dentist is on 1 December 2026 at 9:15.")
    recall = await recalled(one, "When is the dentist?", window=day("2026-12-01"))
    assert [item.text for item in recall.evidence] == ["The dentist is on 1 December 2026 at 9:15."]


async def test_a_year_is_told_of_by_a_window_of_most_of_it_only():
    assert "In 2023 I flew a lot." in await found(day("2023-01-01", "2023-08-30"))
    assert "In 2023 I flew a lot." not in await found(day("2023-05-01", "2023-06-01"))


@pytest.mark.parametrize(
    ("since", "until", "inside"),
    [
        (parse("2023-08-27")[0], FOREVER, True),
        (parse("2023-08-26")[0], FOREVER, False),
        (BEGINNING, parse("2023-08-27")[1], True),
        (BEGINNING, parse("2023-08-29")[0], False),
        (parse("2023-08-27T10:00:00Z")[0], parse("2023-08-27T10:00:00Z")[0], True),
    ],
)
def test_of_an_open_time_the_stated_end_counts(since, until, inside):
    assert tells_of(day("2023-08-27"), since, until) is inside
