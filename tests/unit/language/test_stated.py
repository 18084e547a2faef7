"""What sentences state: a table read from ``stated.txt``, and properties that hold for any text."""

import pytest
from beside import lines_beside
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.iso import FIRST_INSTANT, LAST_INSTANT, parse
from mcp_memory.language.stated import in_words, stated_times, with_dates

SAID = parse("2023-05-17T10:30:00Z")[0]
TABLE = [
    tuple(part.strip() for part in line.split(" | "))
    for line in lines_beside(__file__, "stated.txt")
    if not line.startswith("#")
]
PIECES = """
    last next this in on since until from to betweeK and ago years weeks days of the May 7 2023 1990s Friday week 9999
    1 2020-12-31 0001-01-01 31/12/9999 century 21st early late - – , 5pm noon weekend summer yesterday couple a 29 '69
    February went will decades centuries hours past coming month ſummer weeK İ
"""


@pytest.mark.parametrize("row", TABLE, ids=[" ".join(row) for row in TABLE])
def test_a_sentence_states_its_times(row):
    sentence, expected, *said = row
    times = stated_times(sentence, parse(said[0])[0] if said else SAID)
    found = [in_words(time.since, time.until, time.grain) for time in times]
    assert "; ".join(found) == expected.removeprefix("-")


@example("0001/1/1 PM 0001/1/1", None)
@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES.split()), max_size=12).map(" ".join)),
    st.integers(FIRST_INSTANT, LAST_INSTANT - 1) | st.none(),
)
def test_no_text_raises_and_every_interval_is_in_order(text, said_at):
    place = 0
    for time in stated_times(text, said_at):
        assert place <= time.start < time.end <= len(text)
        assert BEGINNING <= time.since < time.until <= FOREVER
        assert in_words(time.since, time.until, time.grain)
        assert said_at is not None or not time.relative
        place = time.end


@pytest.mark.parametrize(
    "sentence", ["yesterday", "last week", "on Friday we went", "in two days", "On 7 May we danced."]
)
def test_relative_times_are_not_resolved_without_a_time_of_utterance(sentence):
    assert stated_times(sentence, None) == ()


def test_places_count_from_the_start_of_the_whole_text():
    text = "In 1999 we met. I moved from 1916 to 1920. Since 2001 it is quiet."
    (time,) = stated_times(text, None, 16, 42)
    assert text[time.start : time.end] == "from 1916 to 1920"
    assert (time.since, time.until) == (parse("1916-01-01")[0], parse("1921-01-01")[0])
    assert (time.grain, time.relative) == ("year", False)


def test_open_ends_are_the_beginning_and_forever():
    since, until = stated_times("since 1972, or until 1980", None)
    assert (since.since, since.until) == (parse("1972-01-01")[0], FOREVER)
    assert (until.since, until.until) == (BEGINNING, parse("1981-01-01")[0])


def test_the_tense_of_one_sentence_says_nothing_of_the_next():
    text = "Doris passed on Sunday. We fly to Tucson on Thursday."
    assert with_dates(text, parse("2026-03-03")[0]) == (
        "Doris passed on Sunday [= Sun 1 Mar 2026]. We fly to Tucson on Thursday [= probably Thu 5 Mar 2026]."
    )


def test_days_that_come_again_each_week_or_month_are_called_likely_unless_they_are_over():
    text = "Choir this Friday. We meet on Friday, as on the 10th. He comes on 9 June again. I left on the 5th."
    assert with_dates(text, SAID) == (
        "Choir this Friday [= Fri 19 May 2023]. We meet on Friday [= probably Fri 19 May 2023], as on the 10th "
        "[= probably Sat 10 Jun 2023]. He comes on 9 June [= Fri 9 Jun 2023] again. "
        "I left on the 5th [= Fri 5 May 2023]."
    )


def test_a_long_text_full_of_dates_is_read_in_linear_time():
    assert len(stated_times("on Friday " * 50_000, SAID)) == 0
    told = "".join(f"on 7 May 2023, two weeks ago a{n} b{n} c{n} " for n in range(5_000))
    assert len(stated_times(told, SAID)) == 10_000
    assert with_dates("".join(f"I met a{n} on Friday. " for n in range(5_000)), SAID).count("[= Fri 12 May") == 5_000


def test_no_times_are_read_in_a_sentence_that_only_repeats_itself():
    assert len(stated_times("on 7 May 2023, " * 8, SAID)) == 8
    assert stated_times("on 7 May 2023, " * 80, SAID) == ()


def test_the_end_of_an_open_time_is_shown_too():
    assert with_dates("Live since yesterday 4pm, in Rome until 1 July, silent from May on.", SAID) == (
        "Live since yesterday [= Tue 16 May 2023] 4pm, in Rome until 1 July [= Sat 1 Jul 2023], "
        "silent from May [= May 2023] on."
    )


def test_a_date_stands_behind_a_possessive_and_in_no_code():
    assert with_dates("We skip today's class. ```\nran yesterday\n``` 15 2 * * 1 run --since yesterday", SAID) == (
        "We skip today's [= Wed 17 May 2023] class. ```\nran yesterday\n``` 15 2 * * 1 run --since yesterday"
    )
