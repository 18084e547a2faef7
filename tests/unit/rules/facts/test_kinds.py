"""Kinds, intervals and precision of facts (DESIGN 1.2); everything is said on Monday 8 May 2023."""

import pytest
from reading import read

from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language import iso


def told(text: str) -> list[str]:
    """Return the facts of a message as "head relation tail | first day to last day | kind precision"."""
    return [
        f"{'not ' * fact.negated}{fact.head} {fact.relation} {fact.tail} | {_day(fact.since)} to {_day(fact.until - 1)}"
        f" | {fact.kind} {fact.precision or '-'}"
        for fact in read(text)
    ]


def _day(instant: int) -> str:
    return "…" if instant <= BEGINNING or instant >= FOREVER - 1 else (iso.show(instant) or "")[:10]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I visited Verona.", "visited Verona | 2023-05-08 to 2023-05-08 | event before"),
        ("I visited Verona last month.", "visited Verona | 2023-04-01 to 2023-04-30 | event month"),
        ("I sold my kayak on Friday.", "sold kayak | 2023-05-05 to 2023-05-05 | event day"),
        ("I came back from Verona yesterday.", "visited Verona | 2023-05-07 to 2023-05-07 | event before"),
        ("We got home from Verona on Sunday.", "visited Verona | 2023-05-07 to 2023-05-07 | event before"),
        ("I'm back from Verona.", "visited Verona | 2023-05-08 to 2023-05-08 | event before"),
        ("We fly to Verona on 20 September.", "visited Verona | 2023-09-20 to 2023-09-20 | planned day"),
        ("I'm starting at Halden Clinic on 1 June.", "works_at Halden Clinic | 2023-06-01 to … | planned day"),
        ("We're going to move to Verona in June.", "lives_in Verona | 2023-06-01 to … | planned month"),
        ("I lived in Verona.", "lives_in Verona | … to 2023-05-07 | state before"),
        ("I liked mint tea back then.", "likes mint tea | … to 2023-05-07 | state before"),
        ("I used to live in Verona.", "lives_in Verona | … to 2023-05-07 | state -"),
        ("I live in Verona.", "lives_in Verona | 2023-05-08 to … | state -"),
        ("I moved to Verona in 2016.", "lives_in Verona | 2016-01-01 to … | state year"),
        ("I was promoted to head nurse on 8 January.", "works_as head nurse | 2023-01-08 to … | state day"),
    ],
)
def test_a_fact_has_its_kind_and_time(text: str, expected: str) -> None:
    assert f"Maria {expected}" in told(text)


@pytest.mark.parametrize("text", ["We visit Verona every summer.", "I'm going to visit Verona.", "We fly to Verona."])
def test_neither_a_habit_nor_a_plan_without_a_date_is_an_event(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize("text", ["Nele was born on 12 June.", "Nele's birthday is on 12 June."])
def test_a_birthday_has_no_year(text: str) -> None:
    assert told(text) == ["Nele born_on 12 June | … to … | state yearless"]


def test_a_date_of_birth_with_a_year_starts_then() -> None:
    assert told("Nele was born on 12 June 1990.") == ["Nele born_on 12 June 1990 | 1990-06-12 to … | state day"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Last Saturday was lovely. We visited Verona.", "2023-05-06"),
        ("I visited Verona on 3 May and bought a lamp.", "2023-05-03"),
    ],
)
def test_an_event_takes_the_only_time_around_it(text: str, day: str) -> None:
    assert f"{day} to {day} | event day" in told(text)[-1]


@pytest.mark.parametrize(
    "text",
    [
        "I visited Verona after I sold the van on 3 May.",
        "On 3 May it rained, on 4 May it was hot. I visited Verona.",
        "Back in 2019 we were young. I visited Verona.",
        "I visited Verona and booked a farm for 12 August.",
    ],
)
def test_an_event_takes_no_time_that_may_belong_to_something_else(text: str) -> None:
    assert "Maria visited Verona | 2023-05-08 to 2023-05-08 | event before" in told(text)
