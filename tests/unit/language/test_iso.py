"""ISO times in requests and replies, the calendar, and intervals in words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.iso import civil, is_day, midnight, parse, show, show_start
from mcp_memory.language.stated import day_in_words, in_words


def test_the_end_of_time_has_no_date():
    assert show(FOREVER) is None
    assert show(-FOREVER) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_formatted_time_parses_to_the_same_time(when):
    millis = (when - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution * 1000)
    assert parse(show(millis))[0] == millis


@given(st.dates())
def test_the_calendar_agrees_with_the_standard_library(date):
    instant = midnight(date.year, date.month, date.day)
    assert instant // 86_400_000 == date.toordinal() - 719_163
    assert civil(instant) == (date.year, date.month, date.day)
    assert is_day(date.year, date.month, date.day)


def test_open_intervals_are_described_in_words():
    assert in_words(parse("1972-01-01")[0], FOREVER, "year") == "since 1972"
    assert in_words(BEGINNING, parse("1981-01-01")[0], "year") == "until 1980"
    assert day_in_words(parse("2023-12-29T23:59:59Z")[0]) == "29 December 2023"


@pytest.mark.parametrize(
    ("since", "precision", "shown"),
    [
        ("2024-05-06", "day", "2024-05-06"),
        ("2024-05-06", "month", "2024-05"),
        ("2024-05-06", "year", "2024"),
        ("2024-05-06T09:30:00Z", "year", "2024-05-06T09:30:00Z"),
    ],
)
def test_a_start_is_shown_no_more_exactly_than_it_was_told(since, precision, shown):
    assert show_start(parse(since)[0], precision) == shown
