"""The owner's name is one setting: links, registry entry, bundle, plugin and marketplace are made from it and agree."""

import base64
import json
import re
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest

from mcp_memory import __version__
from mcp_memory.commands.publication import (
    DESCRIPTION,
    OWNER,
    REPOSITORY,
    SERVER_NAME,
    START,
    install_links,
    manifest,
    registry_entry,
    written_files,
)

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_files_of_the_repository_are_as_they_are_written():
    for name, text in written_files(README).items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, "python -m mcp_memory.commands.publication"


def test_every_place_names_the_same_owner():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Repository"] == REPOSITORY
    owners = re.findall(r"github\.com(?:/|%2F)([\w.-]+?)(?:/|%2F)mcp-memory", README + json.dumps(manifest()))
    owners += re.findall(r"io\.github\.([\w.-]+)/mcp-memory", README)
    assert len(owners) >= 4
    assert set(owners) == {OWNER}
    assert f"mcp-name: {SERVER_NAME}" in README
    assert manifest()["author"]["name"] == OWNER
    with pytest.raises(ValueError, match="install links"):
        written_files("no place for the links")


def test_each_link_starts_the_server_from_the_repository_and_from_no_stranger_of_the_same_name():
    asked = {client: parse_qs(urlsplit(link).query) for client, link in install_links().items()}
    assert json.loads(base64.b64decode(asked["Cursor"]["config"][0])) == START
    assert json.loads(asked["VS Code"]["config"][0]) == START
    assert [*asked["Goose"]["cmd"], *asked["Goose"]["arg"]] == [START["command"], *START["args"]]
    assert START["args"][:2] == ["--from", f"git+{REPOSITORY}"]


def test_the_registry_entry_keeps_the_rules_of_the_registry():
    rules = json.loads((ROOT / "tests" / "registry_schema.json").read_text(encoding="utf-8"))
    entry = registry_entry("0" * 64)
    jsonschema.validate(entry, rules, format_checker=jsonschema.FormatChecker())
    assert f"/v{__version__}/" in entry["packages"][0]["identifier"]
    for broken in ({"description": "x" * 101}, {"version": "^1.0"}, {"name": "memory"}, {"packages": []}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(entry | broken, rules)
    assert len(DESCRIPTION) <= 100


def test_the_plugin_asks_for_what_the_server_has():
    from mcp_memory.server.tools.catalogue import TOOLS

    plugin = ROOT / "packaging" / "plugin"
    skill = (plugin / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")
    hooks = json.loads((plugin / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    (hook,) = (one for start in hooks["hooks"]["SessionStart"] for one in start["hooks"])
    named = set(re.findall(r"memory_\w+", skill + hook["command"]))
    assert {"memory_reconstruct", "memory_write"} <= named <= TOOLS.keys()
    assert skill.startswith("---\nname: memory\ndescription: ")
