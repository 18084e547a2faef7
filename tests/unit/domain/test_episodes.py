"""A lesson stores its episode as a trace and parses it on demand."""

from __future__ import annotations

import json
from dataclasses import replace

from batches import lesson

from mcp_memory.domain.episodes import Episode, Lesson, ShownEvidence


def test_an_episode_is_restored_from_its_lesson_unchanged() -> None:
    """Full episodes, minimal ones, and texts in any script."""
    shown = ShownEvidence("g_1", 0.5, ("meaning",), ("s_1", "s_2"), 'Ελένη said "да", \u202e\N{GRINNING FACE}.')
    full = Episode(
        "ep_1", "x", "кто?", 5, "in May", "caller", (shown, shown), ("s_2",), "她", ("s_1",), True, ("a",), ("b",), 3
    )
    for episode in (full, Episode("ep_2", "x", "", 0)):
        assert Lesson.of(episode, "embedded", {"s_1": 1}, 9).episode() == episode
    assert Lesson.of(full, "embedded").key == ("ep_1", "embedded")


def test_missing_additional_and_other_fields_of_a_trace_are_accepted() -> None:
    trace = json.dumps({"answer": "Ann", "mood": "good", "activated": "s_1", "shown": [{"id": "g"}]}).encode()
    asked = lesson("a")
    assert replace(asked, trace=trace).episode() == Episode(
        "ep_a", "default", asked.query, asked.asked_at, answer="Ann"
    )
