"""Intervals of facts by tense and stated dates."""

import pytest
from reading import intervals, read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to Bergen in 2016.", ["Bergen 2016-01-01 …"]),
        ("I have lived in Bergen since May 2019.", ["Bergen 2019-05-01 …"]),
        ("I've lived in Bergen for ten years.", ["Bergen 2013-01-01 …"]),
        ("I lived in Bergen from 2004 to 2009.", ["Bergen 2004-01-01 2010-01-01"]),
        ("I lived in Bergen until 2021.", ["Bergen … 2022-01-01"]),
        ("I used to live in Bergen.", ["Bergen … 2023-05-08"]),
        ("I live in Bergen.", ["Bergen 2023-05-08 …"]),
        ("I bought a boat last month.", ["boat 2023-04-01 2023-05-01"]),
        ("I'm moving to Bergen next month.", ["Bergen 2023-06-01 …"]),
        ("I stopped working as a baker in 2019.", ["baker 2019-01-01 …"]),
        ("He won the Cape Marathon in 2008 and 2011.", []),
    ],
)
def test_tense_and_dates_give_the_interval(text: str, expected: list[str]) -> None:
    assert intervals(text) == expected


def test_an_event_that_happened_twice_is_two_facts() -> None:
    found = intervals("He won the Cape Marathon in 2008 and 2011.", title="Jonas Abel")
    assert found == ["Cape Marathon 2008-01-01 2009-01-01", "Cape Marathon 2011-01-01 2012-01-01"]


def test_a_fact_without_a_stated_time_is_marked() -> None:
    assert [fact.stated for fact in read("I live in Bergen.")] == [False]
    assert [fact.stated for fact in read("I moved to Bergen in 2016.")] == [True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My late husband Ivo loved jazz.", ["jazz … 2023-05-08", "Ivo … 2023-05-08"]),
        ("My old boss Olga called.", ["Olga … 2023-05-08"]),
        ("My husband Ivo died in March.", ["March 2023-03-01 2023-04-01", "Ivo … 2023-05-08"]),
        ("My late father Ivo lived in Bergen.", ["Bergen … 2023-05-08", "Ivo 2023-05-08 …"]),
    ],
)
def test_who_somebody_was_to_another_is_over_where_a_word_says_so(text: str, expected: list[str]) -> None:
    assert intervals(text) == expected
