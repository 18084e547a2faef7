"""``mcp-memory check``: start the server as a client would, and see that it remembers.

The server gets the command and the variables of the client's file and a bare ``PATH``, as programs have that are not
started in a terminal. It is greeted as today's clients do, stores a message in a space of its own, finds it again, and
forgets it.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import tempfile
import time
from collections.abc import Mapping
from typing import Any, Final, TextIO

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_memory import __version__
from mcp_memory.commands.clients import CLIENTS, NAME, Entry, System, entry_of
from mcp_memory.commands.config_files import read_text
from mcp_memory.commands.install import executable
from mcp_memory.commands.terminal import Terminal
from mcp_memory.errors import InvalidInput

START_S: Final = 60.0
"""Seconds in which a client waits for the first reply: that of Claude Desktop."""
CALL_S: Final = 180.0
"""Seconds in which a call has to be done; the first one loads the model."""
BARE_PATH: Final = "/usr/bin:/bin:/usr/sbin:/sbin"
_MESSAGE: Final = "The lighthouse keeper of Skerry Point keeps a green umbrella."
_QUESTION: Final = "What does the lighthouse keeper of Skerry Point keep?"


class StepFailed(Exception):
    """A step of the check failed; the text says why."""


def check(options: argparse.Namespace, terminal: Terminal, system: System | None = None) -> int:
    """Run every step and print what came of it; return 0 if all went well, otherwise 1.

    Raises:
        InvalidInput: the client's file is broken.
    """
    system = system or System.current()
    entry = _entry_of(options.client, system, terminal)
    terminal.line(f"Starting {' '.join([entry['command'], *entry['args']])}")
    path = None if system.platform == "win32" else BARE_PATH
    if shutil.which(entry["command"], path=path) is None:
        terminal.line(("FAILED", "bold"), f"there is no {entry['command']}, or none that clients find")
        terminal.line(f"  Set the path that it has now: mcp-memory install {options.client or 'CLIENT'}")
        return 1
    for name in entry["env"]:
        terminal.line((f"  with {name}", "dim"))
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        try:
            anyio.run(_check, entry, system, terminal, log)
        except Exception as error:
            reason: BaseException = error
            while isinstance(reason, BaseExceptionGroup):
                reason = reason.exceptions[0]
            said = str(reason) if isinstance(reason, StepFailed) else f"{type(reason).__name__}: {reason}"[:200]
            terminal.line(("FAILED", "bold"), said)
            for line in _last_lines(log):
                terminal.line((f"  the server said: {line}", "dim"))
            terminal.line("  If its words do not help: mcp-memory doctor looks for damage.")
            return 1
    terminal.line("All is well.")
    return 0


def _entry_of(client: str | None, system: System, terminal: Terminal) -> Entry:
    """Return how a client starts the server, and say where that stands."""
    if client is None:
        command, *arguments = executable()
        kept = {name: value for name, value in system.environment.items() if name.startswith("MCP_MEMORY_")}
        return {"command": command, "args": arguments, "env": kept}
    known = CLIENTS[client]
    file = known.place(system)
    written = known.written(file, read_text(file))
    if written is None:
        raise InvalidInput(client, f"{file} has no server {NAME!r}", f"Put it there: mcp-memory install {client}")
    terminal.line(f"It is {NAME!r} in {file}")
    return entry_of(written)


async def _check(entry: Entry, system: System, terminal: Terminal, log: TextIO) -> None:
    """Start the server and let it remember."""
    environment = {"PATH": BARE_PATH, "HOME": str(system.home)}  # of a program that was not started in a terminal
    if system.platform == "win32":
        environment = {name: text for name, text in system.environment.items() if not name.startswith("MCP_MEMORY_")}
    parameters = StdioServerParameters(command=entry["command"], args=entry["args"], env=environment | entry["env"])
    began = time.monotonic()
    with anyio.CancelScope(deadline=anyio.current_time() + START_S) as scope:
        async with Client(stdio_client(parameters, errlog=log), mode="legacy", read_timeout_seconds=CALL_S) as client:
            tools = (await client.list_tools()).tools
            scope.deadline = float("inf")
            _good(terminal, f"it offers {len(tools)} tools after {time.monotonic() - began:.1f} s")
            await _remember(client, terminal)
            return
    raise StepFailed(f"no reply after {START_S:.0f} s")


async def _remember(client: Client, terminal: Terminal) -> None:
    """Let the server store a message, find it, and forget it."""
    space = f"check-{secrets.token_hex(4)}"
    began = time.monotonic()
    message = {"id": "check", "speaker": "mcp-memory check", "text": _MESSAGE}
    await _call(client, "memory_write", {"messages": [message], "space": space})
    _good(terminal, f"stored a message in space {space} after {time.monotonic() - began:.1f} s")
    try:
        found = await _call(client, "memory_reconstruct", {"query": _QUESTION, "space": space})
        if not any(source["id"] == "check" for item in found["evidence"] for source in item["sources"]):
            raise StepFailed("what was stored was not found again")
        _good(terminal, "found it again")
    finally:
        with anyio.CancelScope(shield=True):
            preview = await _call(client, "memory_forget", {"everything": True, "space": space})
            deed = {"everything": True, "space": space, "dry_run": False, "token": preview.get("token")}
            await _call(client, "memory_forget", deed)
    _good(terminal, "forgot it")
    status = await _call(client, "memory_status", {})
    if not status["healthy"]:
        raise StepFailed(f"the memory is not well: {'; '.join(status['warnings'])}")
    server = status["versions"]["server"]
    _good(terminal, f"store {status['storage']['uri']}; calls that name no space go to {status['space']}")
    if server != __version__:
        terminal.line(f"      its version is {server}, and this is {__version__}; mcp-memory install sets this one")


async def _call(client: Client, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(name, dict(arguments))
    if result.is_error or result.structured_content is None:
        said = " ".join(part.text for part in result.content if part.type == "text")
        raise StepFailed(f"{name}: {said[:500]}")
    return dict(result.structured_content)


def _good(terminal: Terminal, text: str) -> None:
    terminal.line(("ok   ", "name"), text)


def _last_lines(log: TextIO) -> list[str]:
    log.seek(0)
    lines = [line.rstrip() for line in log.read()[-4000:].splitlines() if line.strip()]
    return lines[-5:]
