"""ISO times in requests and replies, the calendar, and intervals in words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.iso import DAY, civil, is_day, midnight, parse, show
from mcp_memory.language.stated import day_in_words, in_words


def test_a_date_names_the_whole_day_and_a_time_a_millisecond():
    midnight = int(datetime(2023, 5, 8, tzinfo=UTC).timestamp() * 1000)
    assert parse("2023-05-08") == (midnight, midnight + DAY)
    assert parse("2023-05-08T00:00:00Z") == (midnight, midnight + 1)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("2023-05", "2023-05-01", "2023-06-01"),
        ("2023-12", "2023-12-01", "2024-01-01"),
        ("2024-02", "2024-02-01", "2024-03-01"),
        ("2023", "2023-01-01", "2024-01-01"),
        ("2024", "2024-01-01", "2025-01-01"),
    ],
)
def test_a_month_or_year_names_all_its_days(text, first, after):
    assert parse(text) == (parse(first)[0], parse(after)[0])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2023-05-08T14:30", "2023-05-08T14:30:00Z"),
        ("2023-05-08 14:30:00", "2023-05-08T14:30:00Z"),
        ("2023-05-08T14:30:00+02:00", "2023-05-08T12:30:00Z"),
        ("2023-05-08T14:30:00-0530", "2023-05-08T20:00:00Z"),
        ("2023-05-08t14:30:00.1234567z", "2023-05-08T14:30:00.123Z"),
        ("0001-01-01T00:00+14:00", None),  # before any year that can be written: kept, not shown
    ],
)
def test_times_with_a_zone_are_converted_to_utc(text, same):
    assert show(parse(text)[0]) == same


NO_DATES = [
    *(
        "",
        "yesterday",
        "203",
        "2023-5",
        "9999",
        "9999-12",
        "20230508",
        "08.05.2023",
        "2023-13-01",
        "2023-02-30",
        "0000-01-01",
    ),
    *("2023-05-08T", "2023-05-08T25:00", "2023-05-08T14:30:00+99:00", "2023-05-08, 2023-05-09", "٢٠٢٣-٠٥-٠٨"),
]


@pytest.mark.parametrize("text", NO_DATES)
def test_text_that_is_not_an_iso_date_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - its words are never shown
        parse(text)


def test_the_end_of_time_has_no_date():
    assert show(FOREVER) is None
    assert show(-FOREVER) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_formatted_time_parses_to_the_same_time(when):
    millis = (when - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution * 1000)
    assert parse(show(millis))[0] == millis


@given(st.dates())
def test_the_calendar_agrees_with_the_standard_library(date) -> None:  # type: ignore[no-untyped-def]
    instant = midnight(date.year, date.month, date.day)
    assert instant // 86_400_000 == date.toordinal() - 719_163
    assert civil(instant) == (date.year, date.month, date.day)
    assert is_day(date.year, date.month, date.day)


def test_open_intervals_are_described_in_words() -> None:
    assert in_words(parse("1972-01-01")[0], FOREVER, "year") == "since 1972"
    assert in_words(BEGINNING, parse("1981-01-01")[0], "year") == "until 1980"
    assert day_in_words(parse("2023-12-29T23:59:59Z")[0]) == "29 December 2023"
