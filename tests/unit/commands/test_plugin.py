"""The plugin for Claude Code names tools that the server has, and the version of this program."""

import json
import re
from pathlib import Path

from mcp_memory import __version__
from mcp_memory.server.tools.catalogue import TOOLS

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "packaging" / "plugin"


def test_the_plugin_asks_for_what_the_server_has():
    skill = (PLUGIN / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    (hook,) = (one for start in hooks["hooks"]["SessionStart"] for one in start["hooks"])
    named = set(re.findall(r"memory_\w+", skill + hook["command"]))
    assert {"memory_reconstruct", "memory_write"} <= named <= TOOLS.keys()
    assert skill.startswith("---\nname: memory\ndescription: ")


def test_plugin_and_marketplace_have_the_version_of_the_program_and_no_address_that_is_none():
    plugin = (PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8")
    marketplace = (ROOT / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8")
    found = json.loads(marketplace)
    versions = [json.loads(plugin)["version"], found["metadata"]["version"], found["plugins"][0]["version"]]
    assert versions == [__version__] * 3
    assert "OWNER" not in plugin + marketplace + (ROOT / "README.md").read_text(encoding="utf-8")
