"""What an assistant writes states no facts."""

from dataclasses import replace

import pytest
from reading import turn

from mcp_memory.language.segments import split
from mcp_memory.rules.facts.extractor import RuleExtractor


@pytest.mark.parametrize(
    ("speaker", "role", "read"),
    [
        ("Maria", "assistant", False),
        (None, "assistant", False),
        ("assistant", None, False),
        ("ChatGPT", None, False),
        ("Claude", "user", True),
        ("Maria", "user", True),
        ("Maria", None, True),
    ],
)
def test_an_assistant_states_no_facts(speaker: str | None, role: str | None, read: bool) -> None:
    said = replace(turn("Oskar lives in Turku.", speaker=speaker), role=role)
    spans = split(said.text)
    assert bool(RuleExtractor().extract(said, None, spans, [()] * len(spans))) == read
