"""``mcp-memory check``: start the server as a client would, and see that it remembers.

The server gets the command and the variables of the client's file and a bare ``PATH``, as programs have that are not
started in a terminal. It is greeted as today's clients do, stores a message in a space of its own, finds it again, and
forgets it.
"""

from __future__ import annotations

import argparse
import secrets
import shlex
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from math import inf
from pathlib import Path
from typing import Any, Final, TextIO

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_memory import __version__
from mcp_memory.commands.clients import CLIENTS, Entry, System, own_name, servers_in
from mcp_memory.commands.install import executable
from mcp_memory.commands.terminal import Terminal
from mcp_memory.errors import InvalidInput, McpMemoryError

START_S: Final = 60.0
"""Seconds in which a client waits for the first reply: that of Claude Desktop."""
CALL_S: Final = 180.0
"""Seconds in which a call has to be done; the first one loads the model."""
BARE_PATH: Final = "/usr/bin:/bin:/usr/sbin:/sbin"
_MESSAGE: Final = "The lighthouse keeper of Skerry Point keeps a green umbrella."
_QUESTION: Final = "What does the lighthouse keeper of Skerry Point keep?"


class StepFailed(Exception):
    """A step of the check failed.

    Attributes:
        problem: in words.
        remedy: what to do about it.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


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
            place = anyio.run(_check, entry, system, terminal, log)
        except StepFailed as failure:
            terminal.line(("FAILED", "bold"), failure.problem)
            for line in _last_lines(log):
                terminal.line((f"  the server said: {line}", "dim"))
            terminal.line(f"  {failure.remedy}")
            return 1
    if options.client and (own := _own_store(options.config)) not in (None, place):
        terminal.line(("NOTE ", "bold"), f"The commands of this terminal use another store: {own}")
        terminal.line(f"      For one store: mcp-memory install {options.client} --store {shlex.quote(str(own))}")
    terminal.line("All is well.")
    return 0


def _entry_of(client: str | None, system: System, terminal: Terminal) -> Entry:
    """Return how a client starts the server, and say what it is called and what other memory is beside it."""
    if client is None:
        command, *arguments = executable()
        kept = {name: value for name, value in system.environment.items() if name.startswith("MCP_MEMORY_")}
        return {"command": command, "args": arguments, "env": kept}
    known = CLIENTS[client]
    file, usual = known.place(system), known.path[-1]
    servers = servers_in(known, file)
    name = own_name(known, servers, executable())
    if name is None:
        other = f"; {usual!r} in it is another server" if usual in servers else ""
        problem = f"{file} has no server of this program{other}"
        raise InvalidInput(client, problem, f"Put it there: mcp-memory install {client}")
    terminal.line(f"It is {name!r} in {file}")
    if name != usual and usual in servers:
        terminal.line(("NOTE ", "bold"), f"{usual!r} beside it is another server, and a model may store in either.")
        terminal.line("      To have this one alone, take the other out.")
    return known.entry_of(servers[name])


def _own_store(config: Path | None) -> str | None:
    """Return where commands of this terminal find the store; None if its settings are wrong."""
    from mcp_memory.settings import load
    from mcp_memory.wiring import usual_place

    try:
        return load(config).storage.uri or usual_place()
    except McpMemoryError:
        return None


async def _check(entry: Entry, system: System, terminal: Terminal, log: TextIO) -> str:
    """Start the server and let it remember; return the place of its store. What goes wrong is a `StepFailed`."""
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=_environment(system) | entry["env"]
    )
    began, place = time.monotonic(), ""
    try:
        with anyio.CancelScope(deadline=anyio.current_time() + START_S) as scope:
            transport = stdio_client(parameters, errlog=log)
            async with Client(transport, mode="legacy", read_timeout_seconds=CALL_S) as client:
                tools = (await _step(client.list_tools, "the list of tools", START_S)).tools
                scope.deadline = inf
                _good(terminal, f"it offers {len(tools)} tools after {time.monotonic() - began:.1f} s")
                place = await _remember(client, terminal)
    except Exception as error:
        reason: BaseException = error
        while isinstance(reason, BaseExceptionGroup):
            reason = reason.exceptions[0]
        if isinstance(reason, StepFailed):
            raise reason from None
        said = f"{type(reason).__name__}: {reason}"[:200]
        remedy = "See what the server said; mcp-memory doctor looks for damage."
        raise StepFailed(f"the server did not start, or not go on ({said})", remedy) from None
    if scope.cancelled_caught:
        raise StepFailed(f"no reply after {START_S:.0f} s", "Run: mcp-memory doctor")
    return place


async def _remember(client: Client, terminal: Terminal) -> str:
    """Let the server store a message, find it, and forget it; return the place of its store."""
    space = f"check-{secrets.token_hex(4)}"
    began = time.monotonic()
    message = {"id": "check", "speaker": "mcp-memory check", "text": _MESSAGE}
    written = await _call(client, "memory_write", {"messages": [message], "space": space})
    if not written["items"][0]["stored"]:
        raise StepFailed("the message was not stored", "Run: mcp-memory doctor")
    _good(terminal, f"stored a message in space {space} after {time.monotonic() - began:.1f} s")
    try:
        found = await _call(client, "memory_reconstruct", {"query": _QUESTION, "space": space})
        if not any(source["id"] == "check" for item in found["evidence"] for source in item["sources"]):
            raise StepFailed("what was stored was not found again", "Run: mcp-memory doctor --rebuild")
        _good(terminal, "found it again")
    finally:
        with anyio.CancelScope(shield=True):
            preview = await _call(client, "memory_forget", {"everything": True, "space": space})
            deed = {"everything": True, "space": space, "dry_run": False, "token": preview.get("token")}
            await _call(client, "memory_forget", deed)
    _good(terminal, "forgot it")
    status = await _call(client, "memory_status", {})
    if not status["healthy"]:
        raise StepFailed(f"the memory is not well: {'; '.join(status['warnings'])}", "Run: mcp-memory doctor")
    server = status["versions"]["server"]
    told = f"store {status['storage']['uri']}; calls that name no space go to {status['space']}"
    _good(terminal, told)
    if server != __version__:
        terminal.line(f"      its version is {server}, and this is {__version__}; mcp-memory install sets this one")
    return str(status["storage"]["uri"])


async def _call(client: Client, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    result = await _step(lambda: client.call_tool(name, dict(arguments)), name, CALL_S)
    if result.is_error or result.structured_content is None:
        said = " ".join(part.text for part in result.content if part.type == "text")
        raise StepFailed(f"{name}: {said[:500]}", "Do what it says, or run: mcp-memory doctor")
    return dict(result.structured_content)


async def _step(work: Callable[[], Awaitable[Any]], what: str, seconds: float) -> Any:
    try:
        with anyio.fail_after(seconds):
            return await work()
    except TimeoutError:
        remedy = "Other programs may keep the machine busy: try again. If it stays so: mcp-memory doctor"
        raise StepFailed(f"{what} took longer than {seconds:.0f} s", remedy) from None


def _environment(system: System) -> dict[str, str]:
    """Return the variables of a program that was not started in a terminal."""
    if system.platform == "win32":
        return {name: value for name, value in system.environment.items() if not name.startswith("MCP_MEMORY_")}
    return {"PATH": BARE_PATH, "HOME": str(system.home)}


def _good(terminal: Terminal, text: str) -> None:
    terminal.line(("ok   ", "name"), text)


def _last_lines(log: TextIO) -> list[str]:
    log.seek(0)
    lines = [line.rstrip() for line in log.read()[-4000:].splitlines() if line.strip()]
    return lines[-5:]
