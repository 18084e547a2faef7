"""A person's day under the rules of Windows' file system, and what the process asks of the system there."""

import json
import re
import signal
import sys
from pathlib import Path

import anyio
import pytest
from windows_rules import enforce

from mcp_memory.commands.arguments import build_parser
from mcp_memory.commands.install import System, install
from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.server import process
from mcp_memory.settings import load
from mcp_memory.wiring import open_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is open is read from /proc")
NAMES = ("talk", "CON", "aux.notes", 'who? "me": <b>', "ends.", "Talk", "NUL")
"""Sessions that people may name so."""


@pytest.fixture
def place(here, monkeypatch):
    enforce(monkeypatch, here)
    return here


async def write(sessions):
    memory = await open_memory(load())
    try:
        for number, session in enumerate(sessions):
            item = NewItem(f"Ines feeds octopus number {number}.", ref=f"m{number}", speaker="Ines")
            await memory.write(WriteRequest("default", session, "message", (item,)))
    finally:
        await memory.aclose()


def test_a_day_of_writing_forgetting_copying_and_moving_keeps_the_rules(place, run):
    anyio.run(write, NAMES)
    run("export", place / "out.jsonl")
    run("forget", "m1", "--yes")
    assert "octopus number 1" not in run("show", "CON", code=1).out
    run("backup", place / "copy.backup")
    run("restore", place / "copy.backup", code=1)
    run("doctor", "--rebuild")
    run("import", place / "out.jsonl")
    lines = [path for path in (place / "store").rglob("*.json*") if b"\r\n" in path.read_bytes()]
    lines += [path for path in (place / "store").glob("*") if path.is_file() and b"\r\n" in path.read_bytes()]
    assert not lines
    assert "octopus number 6" in run("show", "NUL").out
    assert "ERROR" not in run("doctor").out
    assert not list((place / "store" / "holders").glob("*.lock"))


def test_installing_on_windows_keeps_the_rules_and_the_line_ends(place):
    system = System("win32", place, {"APPDATA": str(place / "Roaming")})
    file = place / "Roaming" / "Claude" / "claude_desktop_config.json"
    file.parent.mkdir(parents=True)
    before = b'{\r\n  "theme": "dark"\r\n}\r\n'
    file.write_bytes(before)
    install(build_parser().parse_args(["install", "claude-desktop"]), Terminal(colours=False), system)
    assert b"\n" not in file.read_bytes().replace(b"\r\n", b"")
    install(build_parser().parse_args(["install", "claude-desktop", "--uninstall"]), Terminal(colours=False), system)
    after = file.read_bytes()
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert json.loads(after) == {"theme": "dark", "mcpServers": {}}


def test_no_signal_that_windows_lacks_is_waited_for_there(monkeypatch):
    monkeypatch.setattr(process.sys, "platform", "win32")
    monkeypatch.delattr(signal, "SIGTERM")

    async def wait():
        with anyio.CancelScope() as scope:
            await process._stop_on_signal(scope)
        assert not scope.cancel_called

    anyio.run(wait)


def test_the_older_console_of_windows_gets_no_colours(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for name in ("NO_COLOR", "TERM", "WT_SESSION", "ANSICON", "ConEmuANSI"):
        monkeypatch.delenv(name, raising=False)
    assert "\x1b" in Terminal().paint("x", "bold")
    monkeypatch.setattr("mcp_memory.commands.terminal.sys.platform", "win32")
    assert Terminal().paint("x", "bold") == "x"
    monkeypatch.setenv("WT_SESSION", "1")
    assert "\x1b" in Terminal().paint("x", "bold")


def test_no_file_of_the_package_uses_what_only_posix_has():
    only = re.compile(
        r"fcntl|^\s*import resource$|os\.(?:fork|umask|getuid|setsid|kill|mkfifo)\b|SIGKILL", re.MULTILINE
    )
    package = Path(process.__file__).parents[1]
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    unguarded = [str(path) for path, text in texts.items() if only.search(text) and 'os.name == "posix"' not in text]
    assert not unguarded
