"""``mcp-memory doctor`` names the command that mends what it found."""

import pytest

from mcp_memory.commands.care import remedy_of
from mcp_memory.storage.damage import REMEDY


@pytest.mark.parametrize(
    ("problems", "errors", "command"),
    [
        ([f"turns: a file is gone. {REMEDY}"], [], "mcp-memory doctor --repair"),
        (
            ["made with another model: run `mcp-memory doctor --re-embed`."],
            ["segments: x"],
            "mcp-memory doctor --re-embed",
        ),
        ([], ["segments: two of one id (s1)", "beliefs: x"], "mcp-memory doctor --rebuild"),
        ([], ["segments: two of one id (s1)", "turns: the id stands twice (a)"], "mcp-memory doctor --repair"),
        ([], ["commits that are missing (3)"], "mcp-memory doctor --repair"),
        (["the store has another generation"], [], "mcp-memory doctor --rebuild"),
        (["The table 'commits' is damaged. Damaged: commits.lance/data/x."], [], "mcp-memory doctor --repair"),
        (["The table 'turns' has 2 files that were changed."], ["segments: x"], "mcp-memory doctor --repair"),
        (["The table 'segments_0' has 2 files that were changed."], [], "mcp-memory doctor --rebuild"),
    ],
)
def test_each_kind_of_damage_has_its_command(problems, errors, command):
    assert remedy_of(problems, errors).split(" (")[0] == command
