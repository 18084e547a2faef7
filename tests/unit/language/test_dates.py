"""Times at the rim and in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.dates import day_in_words, format_time, in_words, parse_time
from mcp_memory.language.gregorian import FIRST, LAST, civil, is_day, midnight


@given(st.integers(FIRST, LAST - 1))
def test_what_is_written_is_read_back_to_the_millisecond(instant: int) -> None:
    assert parse_time(format_time(instant)) == instant


@given(st.dates())
def test_the_calendar_agrees_with_the_standard_library(date) -> None:  # type: ignore[no-untyped-def]
    instant = midnight(date.year, date.month, date.day)
    assert instant // 86_400_000 == date.toordinal() - 719_163
    assert civil(instant) == (date.year, date.month, date.day)
    assert is_day(date.year, date.month, date.day)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("2023-05-08", "2023-05-08T00:00:00Z"),
        ("2023-05-08T13:56", "2023-05-08T13:56:00Z"),
        ("2023-05-08 13:56:07", "2023-05-08T13:56:07Z"),
        ("2023-05-08T13:56:00+02:00", "2023-05-08T11:56:00Z"),
        ("2023-05-08T13:56:00-0530", "2023-05-08T19:26:00Z"),
        ("2023-05-08T13:56:00.1239Z", "2023-05-08T13:56:00.123Z"),
        ("1066-10-14", "1066-10-14T00:00:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_iso_8601_is_read(value: str, written: str) -> None:
    assert format_time(parse_time(value)) == written


@pytest.mark.parametrize(
    "value",
    ["", "yesterday", "2023", "2023-05", "2023-02-30", "2023-13-01", "0000-01-01", "2023-05-08T24:00", "08.05.2023",
     "2023-05-08T10:00:60Z", "2023-05-08T10:00+25:00", "0001-01-01T00:00+01:00", "2023-05-08\n", "٢٠٢٣-٠٥-٠٨",
     "9" * 5_000],
)  # fmt: skip
def test_anything_else_is_refused_with_what_would_be_right(value: str) -> None:
    with pytest.raises(ValueError, match="give an ISO-8601 date") as refusal:
        parse_time(value)
    assert len(str(refusal.value)) < 300


def test_open_intervals_are_put_in_words() -> None:
    assert in_words(parse_time("1972-01-01"), FOREVER, "year") == "since 1972"
    assert in_words(BEGINNING, parse_time("1981-01-01"), "year") == "until 1980"
    assert day_in_words(parse_time("2023-12-29T23:59:59Z")) == "29 December 2023"
