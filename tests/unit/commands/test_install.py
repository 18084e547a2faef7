"""``mcp-memory install``: three systems by faked homes, every client, and files that somebody else has written in."""

import argparse
import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from mcp_memory.commands import install as module
from mcp_memory.commands.arguments import CLIENTS as NAMES
from mcp_memory.commands.install import CLIENTS, NAME, SUFFIX, System, entry_of, install, read_client_file
from mcp_memory.commands.terminal import Terminal
from mcp_memory.errors import InvalidInput

FILES = [name for name in NAMES if name != "claude-code"]
PLACES = {
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        "Library/Application Support/Claude/claude_desktop_config.json",
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    "cursor": (".cursor/mcp.json",) * 3,
    "vscode": (
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
    ),
    "windsurf": (".codeium/windsurf/mcp_config.json",) * 3,
    "codex": (".codex/config.toml",) * 3,
    "gemini-cli": (".gemini/settings.json",) * 3,
}
BEFORE = {
    "json": """\
{
    "theme": "keep",
    "GROUP": {
        "files": {
            "command": "npx"
        }
    }
}
""",
    "toml": """\
# mine
model = "o9"   # the best

[mcp_servers.files]
command = "npx"  # keep

[other]
a = 1
""",
}


@pytest.fixture(autouse=True)
def command(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "executable", lambda: ["/opt/mcp memory/mcp-memory"])


def system_at(tmp_path, platform="linux", **environment):
    return System(platform, tmp_path, environment)


@pytest.fixture
def system(tmp_path):
    return system_at(tmp_path)


def run(client, system, **how):
    options = {"space": None, "store": None, "judge": None, "config": None, "uninstall": False, "dry_run": False}
    install(argparse.Namespace(client=client, **(options | how)), Terminal(colours=False), system)


def loaded(client, system):
    file = CLIENTS[client].place(system)
    return CLIENTS[client].written(file, read_client_file(file))


def given(client, system, text=None):
    """Write a file as somebody has it, and return its path and text."""
    known = CLIENTS[client]
    file = known.place(system)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = BEFORE[known.form].replace("GROUP", known.group) if text is None else text
    file.write_bytes(text.encode())
    return file, text


def test_the_command_offers_the_clients_that_there_are():
    assert set(NAMES) == set(CLIENTS) == {*PLACES, "claude-code"}


@pytest.mark.parametrize("number", [0, 1, 2], ids=["linux", "macos", "windows"])
@pytest.mark.parametrize("client", FILES)
def test_each_client_gets_its_file_on_each_system_and_twice_gives_once(tmp_path, capsys, client, number):
    system = system_at(tmp_path, ("linux", "darwin", "win32")[number])
    run(client, system, space="work", store="/data/store")
    file = tmp_path / PLACES[client][number]
    assert file.is_file()
    entry = entry_of(loaded(client, system))
    assert entry["command"] == "/opt/mcp memory/mcp-memory"
    assert entry["env"] == {"MCP_MEMORY_SPACE": "work", "MCP_MEMORY_STORAGE_URI": str(Path("/data/store").absolute())}
    first = file.read_bytes()
    capsys.readouterr()
    run(client, system, space="work", store="/data/store")
    assert file.read_bytes() == first
    assert "as it was" in capsys.readouterr().out
    assert not file.with_name(file.name + SUFFIX).exists()  # there was nothing to copy


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("client", FILES)
def test_what_else_stands_in_a_file_stays_and_uninstall_restores_it(system, client, ends):
    file, text = given(client, system, None)
    text = text.replace("\n", ends)
    file.write_bytes(text.encode())
    run(client, system)
    changed = file.read_bytes().decode()
    lines = iter(changed.splitlines())
    assert all(any(line.rstrip(",") == one.rstrip(",") for one in lines) for line in text.splitlines())
    assert file.with_name(file.name + SUFFIX).read_bytes() == text.encode()
    assert ("\r\n" in changed) == (ends == "\r\n")
    assert changed.count("\n") == changed.count(ends)
    run(client, system, uninstall=True)
    assert file.read_bytes().decode() == text
    assert loaded(client, system) is None


@pytest.mark.parametrize("client", FILES)
def test_what_a_person_set_in_the_entry_stays(system, client):
    given(client, system)
    run(client, system, space="work")
    file = CLIENTS[client].place(system)
    toml = CLIENTS[client].form == "toml"
    key = '"MCP_MEMORY_SPACE"'
    extra = 'ANTHROPIC_API_KEY = "k", ' if toml else '"ANTHROPIC_API_KEY": "k", '
    file.write_text(file.read_text().replace(key, extra + key, 1))
    run(client, system, judge="auto")
    assert entry_of(loaded(client, system))["env"] == {
        "ANTHROPIC_API_KEY": "k",
        "MCP_MEMORY_SPACE": "work",
        "MCP_MEMORY_ENGINE_JUDGE": "auto",
    }
    assert "keep" in file.read_text()


@pytest.mark.parametrize(
    ("client", "text", "line"),
    [
        ("cursor", '{\n  "mcpServers": {\n    "a": {}\n    "b": {}\n  }\n}\n', 4),
        ("cursor", "{} {}", 1),
        ("vscode", '{"a": 1}\n// mine', 2),
        ("vscode", '{\n  // mine\n  "servers": {}\n}', 2),
        ("codex", 'model = "x"\n[mcp_servers\n', 2),
        ("codex", "a = 1\na = 2\n", 2),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_what_to_put_in_and_stays(system, capsys, client, text, line):
    file, _ = given(client, system, text)
    with pytest.raises(InvalidInput, match=rf"line {line}"):
        run(client, system)
    assert file.read_text() == text
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    said = capsys.readouterr().out.removeprefix(f"To put into {file} by hand:\n")
    file.write_text(said)
    assert loaded(client, system)["command"] == "/opt/mcp memory/mcp-memory"


def test_a_file_in_another_encoding_is_refused_and_a_mark_of_utf_8_stays(system):
    file, _ = given("cursor", system, "")
    file.write_bytes('{"näme": 1}'.encode("latin-1"))
    with pytest.raises(InvalidInput, match="not UTF-8"):
        run("cursor", system)
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    run("cursor", system)
    assert file.read_bytes().startswith(b'\xef\xbb\xbf{\n  "a": 1,\n  "mcpServers"')


@pytest.mark.parametrize("client", FILES)
def test_a_dry_run_shows_and_changes_nothing(system, capsys, client):
    file, text = given(client, system)
    run(client, system, dry_run=True)
    out = capsys.readouterr().out
    assert f"This would be put into {file}:" in out
    assert "/opt/mcp memory/mcp-memory" in out
    assert "keep" not in out
    assert file.read_text() == text
    assert len(list(file.parent.iterdir())) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_a_link_and_the_mode_stays(tmp_path, system):
    kept = tmp_path / "dotfiles.json"
    kept.write_text("{}")
    kept.chmod(0o640)
    file = CLIENTS["cursor"].place(system)
    file.parent.mkdir(parents=True)
    file.symlink_to(kept)
    usual = os.umask(0o077)  # as where a store was opened before
    try:
        run("cursor", system)
    finally:
        os.umask(usual)
    assert file.is_symlink()
    assert "mcpServers" in json.loads(kept.read_text())
    assert kept.stat().st_mode & 0o777 == 0o640


def test_keys_of_other_servers_are_not_shown(system, capsys):
    given("cursor", system, '{"mcpServers": {"a": {"command": "b", "env": {"KEY": "sesame"}}}}')
    run("cursor", system)
    said = capsys.readouterr().out
    assert f"This was put into {CLIENTS['cursor'].place(system)}:" in said
    assert f'"{NAME}": {{' in said
    assert "sesame" not in said


def test_codex_without_servers_and_with_servers_in_braces(system):
    file, _ = given("codex", system, 'model = "x"')
    run("codex", system, space="work")
    assert file.read_text().startswith('model = "x"\n\n[mcp_servers.mcp-memory]\n')
    assert tomllib.loads(file.read_text())["mcp_servers"][NAME]["env"] == {"MCP_MEMORY_SPACE": "work"}
    file.write_text(f'{file.read_text()}# mine\n\n[other]\na = "1  2"\n')
    run("codex", system, uninstall=True)
    assert file.read_text() == 'model = "x"\n# mine\n\n[other]\na = "1  2"\n'
    _, text = given("codex", system, 'mcp_servers = { files = { command = "npx" } }\n')
    with pytest.raises(InvalidInput, match="Nothing was changed"):
        run("codex", system, space="work")
    assert file.read_text() == text


CLAUDE = """#!/bin/sh
echo "$@" >> "$HOME/calls"
if [ "$2" = fail ]; then exit 3; fi
case "$2" in
  add-json) printf '{"mcpServers": {"mcp-memory": %s}, "other": 1}' "$6" > "$HOME/.claude.json" ;;
  remove) echo '{"mcpServers": {}, "other": 1}' > "$HOME/.claude.json" ;;
esac
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_claude_code_is_changed_by_its_own_command(tmp_path, capsys):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").write_text(CLAUDE)
    (tmp_path / "bin" / "claude").chmod(0o755)
    system = system_at(tmp_path, PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin", HOME=str(tmp_path))
    run("claude-code", system, space="work", dry_run=True)
    assert "Would run: claude mcp add-json --scope user mcp-memory" in capsys.readouterr().out
    assert not (tmp_path / "calls").exists()
    run("claude-code", system, space="work")
    entry = {"type": "stdio", "command": "/opt/mcp memory/mcp-memory", "env": {"MCP_MEMORY_SPACE": "work"}}
    assert loaded("claude-code", system) == entry
    run("claude-code", system, space="work")
    assert len((tmp_path / "calls").read_text().splitlines()) == 1
    run("claude-code", system, space="home")
    assert loaded("claude-code", system)["env"] == {"MCP_MEMORY_SPACE": "home"}
    run("claude-code", system, uninstall=True)
    assert loaded("claude-code", system) is None
    done = [line.split()[1] for line in (tmp_path / "calls").read_text().splitlines()]
    assert done == ["add-json", "remove"] * 2


def test_without_claude_the_line_to_run_is_said(tmp_path, capsys):
    with pytest.raises(InvalidInput, match="not in PATH"):
        run("claude-code", system_at(tmp_path, PATH=str(tmp_path)))
    assert "Would run: claude mcp add-json" in capsys.readouterr().out


def test_print_shows_json_to_paste(tmp_path, capsys):
    run("print", system_at(tmp_path), store="s3://bucket/x")
    assert json.loads(capsys.readouterr().out) == {
        "mcpServers": {
            NAME: {"command": "/opt/mcp memory/mcp-memory", "env": {"MCP_MEMORY_STORAGE_URI": "s3://bucket/x"}}
        }
    }


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"XDG_DATA_HOME": "/data"}, "/data/mcp-memory/store"),
        ({"MCP_MEMORY_STORAGE_URI": "s3://bucket/store", "XDG_DATA_HOME": "/data"}, "s3://bucket/store"),
        ({"MCP_MEMORY_STORAGE_URI": "${user_config.folder}"}, None),
        ({"XDG_DATA_HOME": "relative"}, None),
        ({}, None),
    ],
)
def test_a_place_that_only_the_terminal_knows_is_written_for_the_client(variables, place):
    found = module.store_of(variables)
    assert found == (None if place is None else place if "://" in place else str(Path(place)))
