"""Days and words of days count where a text was said: by the offset of its time, else in the server's zone."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from learning_memory import memory, recalled
from remembering import space_in

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.language.iso import parse, show
from mcp_memory.language.stated import weekday_and_day, with_dates
from mcp_memory.server.tools.arguments import offset_of, parse_window, start_of
from mcp_memory.settings import ServerSettings

ZONES = ["Pacific/Auckland", "Asia/Kathmandu", "Europe/Lisbon", "UTC", "America/St_Johns", "Pacific/Honolulu"]
TURNS_OF_TIME = [
    "2026-01-01T00:00", "2025-12-31T23:59", "2026-02-28T12:00", "2026-03-01T00:30",
    "2026-03-29T03:15", "2026-10-25T01:30", "2026-11-01T01:30", "2024-02-29T22:00",
]  # fmt: skip
"""New Year, ends of months, and hours at which the clocks of Europe and America change."""


def in_zone(name):
    one = memory()
    one.settings = replace(one.settings, server=ServerSettings(time_zone=name))
    return one


async def written(one, text, time):
    item = NewItem(text, "m1", "Ann", "user", said_at=start_of(time), offset=offset_of(time))
    await one.write(WriteRequest("default", "s", "message", (item,)))


async def dated(one):
    (turn,) = (await space_in(one.store)).turns.values()
    return with_dates(turn.text, turn.local_said_at)


def words(day):
    return f"{day:%a} {day.day} {day:%b %Y}"


@pytest.mark.parametrize("local", TURNS_OF_TIME)
@pytest.mark.parametrize("hours", [-12, -5, 0, 5.75, 9, 14])
async def test_words_of_days_count_in_the_offset_of_the_time(local, hours):
    moment = datetime.fromisoformat(local).replace(tzinfo=timezone(timedelta(hours=hours)))
    one = in_zone("Asia/Tokyo")
    await written(one, "I saw Bo yesterday and see Lea tomorrow.", moment.isoformat())
    day, step = moment.date(), timedelta(days=1)
    before, after = words(day - step), words(day + step)
    assert await dated(one) == f"I saw Bo yesterday [= {before}] and see Lea tomorrow [= {after}]."


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("zone", ZONES)
async def test_a_time_without_an_offset_counts_in_the_zone_of_the_server(zone, seed):
    moment = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=random.Random(seed).randrange(1, 500_000))
    one = in_zone(zone)
    await written(one, "We met today.", moment.strftime("%Y-%m-%dT%H:%M:01"))
    assert await dated(one) == f"We met today [= {words(moment.astimezone(ZoneInfo(zone)).date())}]."


@pytest.mark.parametrize(("time", "day"), [
    ("2026-03-09T06:30:00+10:00", "2026-03-09"), ("2026-03-08T22:30:00-05:00", "2026-03-08"),
    ("2026-01-01T00:10:00+13:00", "2026-01-01"), ("2026-06-30T23:50:00-10:00", "2026-06-30"),
])  # fmt: skip
async def test_a_window_of_a_day_holds_what_was_said_on_that_day_there(time, day):
    one = in_zone("UTC")
    await written(one, "The parcel came.", time)
    space = await space_in(one.store)
    (turn,) = space.turns.values()
    assert space.visible(np.arange(len(space.sentences)), parse_window(day, day)).tolist() == [True]
    before, after = (show(parse(day)[at] + step) for at, step in ((0, -86_400_000), (1, 0)))
    assert [parse_window(d, d).holds(turn) for d in (before, day, after)] == [False, True, False]
    assert len((await recalled(one, "parcel", window=parse_window(day, day))).evidence) == 1
    assert show(turn.time, turn.offset or 0) == time
    assert weekday_and_day(turn.local_time).split()[1] == str(int(day[-2:]))


async def test_an_instant_bounds_a_window_wherever_something_was_said():
    one = in_zone("UTC")
    await written(one, "The parcel came.", "2026-03-08T20:00:00+10:00")  # 10:00 in UTC
    (turn,) = (await space_in(one.store)).turns.values()
    assert not parse_window("2026-03-08T10:00:01Z", None).holds(turn)
    assert parse_window("2026-03-08T10:00:00Z", "2026-03-08T10:00:00Z").holds(turn)
    assert not parse_window(None, "2026-03-08T09:59:59Z").holds(turn)


@pytest.mark.parametrize(("zone", "expected"), [("Pacific/Auckland", "2026-01-01"), ("America/New_York", "2025-12-31")])
async def test_words_of_days_of_a_question_count_in_the_zone_of_the_server(zone, expected):
    moment = parse("2025-12-31T20:00:00Z")[0]
    query = Query("What did I do today?").asked(moment, str, ZoneInfo(zone))
    assert show(query.local_now // 86_400_000 * 86_400_000) == expected
    assert query.moment >= query.now
