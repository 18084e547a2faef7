"""The tables of ``mcp-memory eval``: kinds, intervals, and paired differences."""

import pytest

from mcp_memory.commands.evaluate import differences
from mcp_memory.errors import ConfigurationError
from mcp_memory.settings import Settings, with_switches


def row(name, kind, value, answerable=True):
    return {"id": name, "kind": kind, "answerable": answerable, **{f"R@{k}": value for k in (2, 5, 10, 20)}}


def test_a_difference_is_paired_so_that_what_both_runs_miss_does_not_widen_it():
    before = {"data": "x", "questions": [row("q1", "a", 0.0), row("q2", "a", 1.0), row("gone", "a", 1.0)]}
    now = {"data": "x", "questions": [row("q1", "a", 0.5), row("q2", "a", 1.0), row("new", "a", 0.0)]}
    (every, kind) = differences(before, now)
    assert "+25.0 ±34.6" in every
    assert every.endswith("n=2")
    assert kind.strip().startswith("a ")
    with pytest.raises(ConfigurationError, match="asked nothing of y, but of x"):
        differences(before, {"data": "y", "questions": []})


def test_a_switch_turns_a_mechanism_off_and_a_wrong_one_names_the_nearest():
    assert with_switches(Settings(), []) == Settings()
    assert with_switches(Settings(), ["words=false"]) != Settings()
    with pytest.raises(ConfigurationError, match="nearest known one is 'words'"):
        with_switches(Settings(), ["wordz=false"])
    with pytest.raises(ConfigurationError, match="switch words: 'perhaps'"):
        with_switches(Settings(), ["words=perhaps"])
