"""How far the clocks of a zone are ahead of UTC, also on the days on which they change."""

import time
from zoneinfo import ZoneInfo

import pytest

from mcp_memory.domain.times import offset_at, zone_named
from mcp_memory.errors import ConfigurationError
from mcp_memory.language.iso import offset_in, parse

ZONES = ["Asia/Tokyo", "Asia/Kathmandu", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe"]
INSTANTS = [
    "2026-03-08T06:59:59Z", "2026-03-08T07:00:01Z", "2026-03-29T00:59:59Z", "2026-03-29T01:00:01Z",
    "2026-10-25T00:59:59Z", "2026-10-25T01:00:01Z", "2026-12-31T23:59:59Z", "2024-02-29T12:00:00Z",
]  # fmt: skip


@pytest.fixture(params=ZONES)
def machine(request, monkeypatch):
    """Let this machine be in another zone."""
    if not hasattr(time, "tzset"):
        pytest.skip("the zone of this system cannot be set for one process")
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_without_a_name_it_is_that_of_this_machine(machine):
    for written in INSTANTS:
        assert offset_at(parse(written)[0], zone_named("")) == offset_at(parse(written)[0], ZoneInfo(machine))


@pytest.mark.parametrize("name", ["Europe/Atlantis", "../etc/passwd", "/etc/localtime", "a\0b", "x" * 500])
def test_a_zone_that_does_not_exist_is_refused_by_name(name):
    with pytest.raises(ConfigurationError, match=r"server\.time_zone: there is no time zone"):
        zone_named(name)


@pytest.mark.parametrize(("written", "minutes"), [
    ("2026-03-09", 0), ("2026-03", 0), ("2026-03-09T06:30:00Z", 0), ("2026-03-09T06:30:00", None),
    ("2026-03-09T06:30:00+05:45", 345), ("2026-03-09 06:30-0330", -210),
])  # fmt: skip
def test_a_written_time_says_its_offset_or_none(written, minutes):
    assert offset_in(written) == minutes
