"""The help of every command has examples that the command line takes; documents and plugin name what exists."""

import json
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from mcp_memory import __version__
from mcp_memory.commands.arguments import EXIT_CODES, build_parser
from mcp_memory.server.tools.catalogue import TOOLS

ROOT = Path(__file__).parents[3]


def commands():
    (action,) = (one for one in build_parser()._actions if hasattr(one, "choices") and isinstance(one.choices, dict))
    return action.choices


def examples():
    texts = [parser.format_help().split("examples:\n")[1] for parser in (build_parser(), *commands().values())]
    return [line for text in texts for line in text.split("\n\n")[0].splitlines()]


def test_every_command_has_a_function_and_examples_and_every_help_the_exit_codes():
    for name, parser in commands().items():
        module, _, work = (parser.get_default("work") or "arguments:build_parser").partition(":")  # serve has none
        assert callable(getattr(import_module(f"mcp_memory.commands.{module}"), work))
        shown = parser.format_help()
        assert f"mcp-memory {name}" in shown.split("examples:")[1]
        assert EXIT_CODES in shown
    assert EXIT_CODES in build_parser().format_help()


@pytest.mark.parametrize("line", examples())
def test_an_example_is_a_command_that_can_be_typed(line):
    command = re.split(r" {2,}(?=[a-z])|\s>\s", line.strip())[0]
    words = shlex.split(re.sub(r"^\w+=\S+ ", "", command))
    assert words[0] == "mcp-memory"
    assert build_parser().parse_args(words[1:]).command == words[1]


def documented():
    """Return the commands in README, in its blocks and between backquotes, with a name for each placeholder."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"`(mcp-memory [^`]+)`", text) + re.findall(r"^(mcp-memory .+)$", text, re.MULTILINE)
    return sorted({re.sub(r"\s+", " ", one.split("   ")[0]).replace("CLIENT", "cursor") for one in found})


@pytest.mark.parametrize("command", documented())
def test_a_command_in_the_readme_can_be_typed(command):
    assert build_parser().parse_args(shlex.split(command)[1:]).command


@pytest.mark.parametrize(
    "document", ["README.md", "CONTRIBUTING.md", *(f"docs/{name}.md" for name in ("MANUAL", "RESULTS"))]
)
def test_the_documents_name_commands_and_options_that_exist(document):
    for name, further in re.findall(r"mcp-memory ([a-z]+)([^`\n]*)", (ROOT / document).read_text(encoding="utf-8")):
        assert name in commands()
        options = set(re.findall(r" (--[a-z][a-z-]+)", further.split("#")[0]))
        assert options <= set(re.findall(r"--[a-z][a-z-]+", commands()[name].format_help())) or name == "token"


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
