"""A lesson stores its episode as a trace and parses it on demand."""

import json
from dataclasses import replace

from batches import lesson

from mcp_memory.domain.episodes import Episode


def test_missing_additional_and_other_fields_of_a_trace_are_accepted():
    trace = json.dumps({"answer": "Ann", "mood": "good", "activated": "s_1", "shown": [{"id": "g"}]}).encode()
    asked = lesson("a")
    assert replace(asked, trace=trace).episode() == Episode(
        "ep_a", "default", asked.query, asked.asked_at, answer="Ann"
    )
