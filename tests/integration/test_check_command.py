"""``mcp-memory check``: a real server as a client's file starts it, and what is said where it does not come up."""

import argparse
import sys

import pytest

from mcp_memory.commands.arguments import build_parser
from mcp_memory.commands.install import System, install
from mcp_memory.commands.terminal import Terminal
from mcp_memory.commands.trials import check
from mcp_memory.errors import InvalidInput


def system_at(tmp_path):
    return System("linux", tmp_path, {"PATH": "/usr/bin:/bin"})


def put(tmp_path, *options):
    install(build_parser().parse_args(["install", "cursor", *options]), Terminal(colours=False), system_at(tmp_path))
    return tmp_path / ".cursor" / "mcp.json"


def checked(tmp_path, capsys, client="cursor"):
    capsys.readouterr()
    code = check(argparse.Namespace(client=client, config=None), Terminal(colours=False), system_at(tmp_path))
    return code, capsys.readouterr().out


@pytest.fixture
def from_this_python(monkeypatch):
    monkeypatch.setattr("mcp_memory.commands.install.executable", lambda: [sys.executable, "-m", "mcp_memory"])


@pytest.mark.usefixtures("from_this_python")
def test_a_server_that_is_put_into_a_client_remembers_and_leaves_nothing(tmp_path, capsys):
    put(tmp_path, "--store", str(tmp_path / "store"), "--space", "work")
    code, out = checked(tmp_path, capsys)
    assert code == 0, out
    lines = out.splitlines()
    assert "with MCP_MEMORY_STORAGE_URI" in out
    good = [line.removeprefix("ok    ") for line in lines if line.startswith("ok")]
    done = [line.split(":")[0].split(" in space")[0] for line in good[1:]]
    last = f"store {tmp_path / 'store'}; calls that name no space go to work"
    assert done == ["stored a message", "found it again", "forgot it", last]
    assert lines[-1] == "All is well."


@pytest.mark.usefixtures("from_this_python")
def test_a_server_that_does_not_start_is_explained_by_its_own_words(tmp_path, capsys):
    file = put(tmp_path, "--store", str(tmp_path / "store"))
    file.write_text(file.read_text().replace("MCP_MEMORY_STORAGE_URI", "MCP_MEMORY_STORAGE_URL"))
    code, out = checked(tmp_path, capsys)
    assert code == 1
    assert "FAILED" in out
    assert "MCP_MEMORY_STORAGE_URL: no such setting. The nearest known one is 'MCP_MEMORY_STORAGE_URI'" in out


def test_a_command_that_is_gone_and_a_client_without_the_server_are_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("mcp_memory.commands.install.executable", lambda: [str(tmp_path / "gone" / "mcp-memory")])
    put(tmp_path)
    code, out = checked(tmp_path, capsys)
    assert code == 1
    assert f"there is no {tmp_path / 'gone' / 'mcp-memory'}" in out
    assert "mcp-memory install cursor" in out
    with pytest.raises(InvalidInput, match="has no server 'mcp-memory'"):
        checked(tmp_path, capsys, "gemini-cli")


def test_the_version_is_one_line_and_wrong_usage_has_its_code(run):
    assert run("--version").out.startswith("mcp-memory ")
    run("install", "netscape", code=2)


def test_install_and_check_need_no_settings_that_are_right(tmp_path, monkeypatch, run):
    monkeypatch.setenv("MCP_MEMORY_LIMITS_ITEMS", "many")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "mcpServers" in run("install", "print").out
