"""Which occurrence a time without a year means, over every day of a year."""

import pytest

from mcp_memory.language.iso import DAY, MONTHS, WEEKDAYS, midnight
from mcp_memory.language.stated import stated_times
from mcp_memory.language.yearless import FARTHEST, JUST_OVER, LONG_OVER, NEARLY_AS_NEAR

TENSES = {"We met": -1, "The": 0, "We will meet": 1}


def _meant(words, said_at):
    times = stated_times(words, said_at + 9 * 3_600_000)
    assert len(times) <= 1
    return times[0].since if times else None


@pytest.mark.parametrize(("words", "tense"), TENSES.items())
@pytest.mark.parametrize("number", range(1, 13))
def test_a_day_without_a_year_is_the_nearest_unless_tense_chooses_one_nearly_as_near(words, tense, number):
    for said_at in (midnight(2024, 1, 1) + n * DAY for n in range(366)):
        for day in (1, 17, 28):
            found = _meant(f"{words} {MONTHS[number - 1]} {day}", said_at)
            around = [midnight(year, number, day) for year in (2023, 2024, 2025)]
            (near, first), (far, second), _ = sorted((abs(one - said_at), one) for one in around)
            alike = far - near < NEARLY_AS_NEAR
            points_at_first = tense * (first - said_at) >= 0
            if not alike and found is not None:
                assert found == first
            elif alike and tense != 0:
                assert found == (first if points_at_first else second)
            elif found is None:
                over = tense > 0 and near >= JUST_OVER
                assert (tense == 0 and (alike or (first < said_at and near > LONG_OVER))) or (
                    not alike and not points_at_first and (over or far <= FARTHEST)
                )
            assert found is None or abs(found - said_at) <= (183 * DAY if not alike else FARTHEST)


def test_29_february_is_one_that_exists_or_none():
    for said_at in (midnight(2023, 1, 1) + n * DAY for n in range(3 * 365)):
        found = _meant("We met on 29 February", said_at)
        assert found is None or found == midnight(2024, 2, 29)
        assert found is None or abs(found - said_at) <= FARTHEST


@pytest.mark.parametrize("name", WEEKDAYS)
def test_a_weekday_alone_lies_within_a_week_on_the_side_of_the_tense(name):
    for said_at in (midnight(2024, 12, 20) + n * DAY for n in range(21)):
        if WEEKDAYS[(said_at // DAY + 3) % 7] == name:
            assert _meant(f"We met {name}", said_at) is _meant(f"We will meet {name}", said_at) is None
        before, after = _meant(f"We met on {name}", said_at), _meant(f"We will meet on {name}", said_at)
        assert -7 * DAY <= before - said_at < 0
        assert 0 < after - said_at <= 7 * DAY
        assert _meant(f"The {name}", said_at) is None
