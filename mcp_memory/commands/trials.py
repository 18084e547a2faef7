"""``mcp-memory check`` and ``demo``: a real client starts a real server, to see that it remembers, or what it can do.

For ``check`` the server gets the command and the variables of the client's file and a bare ``PATH``, as programs have
that are not started in a terminal. It is greeted as today's clients do, stores a message in a space of its own, finds
it again, and forgets it.

For ``demo`` it has an empty store in a temporary folder, and none of the user's settings. The sample memory in
``resources/`` is written, recalled and asked; one of its facts changes, and its present and past value are asked for.
The first lines of each reply are shown as the model of a client reads them.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TextIO

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from mcp_memory import __version__
from mcp_memory.commands.install import CLIENTS, NAME, Entry, System, entry_of, executable, read_client_file
from mcp_memory.commands.terminal import Terminal
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.replies import quantity
from mcp_memory.texts import resource

START_S: Final = 60.0
"""Seconds in which a client waits for the first reply: that of Claude Desktop."""
CALL_S: Final = 180.0
"""Seconds in which a call has to be done; the first one loads the model."""
BARE_PATH: Final = "/usr/bin:/bin:/usr/sbin:/sbin"
_MESSAGE: Final = "The lighthouse keeper of Skerry Point keeps a green umbrella."
_QUESTION: Final = "What does the lighthouse keeper of Skerry Point keep?"


Step = tuple[str, str, dict[str, Any], int]
"""A tool, what it is called for, its arguments, and how many lines of its reply are shown."""


class StepFailed(Exception):
    """A call or a step failed; the text says why."""


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
    written = known.written(file, read_client_file(file))
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
    await call(client, "memory_write", {"messages": [message], "space": space})
    _good(terminal, f"stored a message in space {space} after {time.monotonic() - began:.1f} s")
    try:
        found, _ = await call(client, "memory_reconstruct", {"query": _QUESTION, "space": space})
        if not any(source["id"] == "check" for item in found["evidence"] for source in item["sources"]):
            raise StepFailed("what was stored was not found again")
        _good(terminal, "found it again")
    finally:
        with anyio.CancelScope(shield=True):
            preview, _ = await call(client, "memory_forget", {"everything": True, "space": space})
            deed = {"everything": True, "space": space, "dry_run": False, "token": preview.get("token")}
            await call(client, "memory_forget", deed)
    _good(terminal, "forgot it")
    status, _ = await call(client, "memory_status", {})
    if not status["healthy"]:
        raise StepFailed(f"the memory is not well: {'; '.join(status['warnings'])}")
    server = status["versions"]["server"]
    _good(terminal, f"store {status['storage']['uri']}; calls that name no space go to {status['space']}")
    if server != __version__:
        terminal.line(f"      its version is {server}, and this is {__version__}; mcp-memory install sets this one")


def _good(terminal: Terminal, text: str) -> None:
    terminal.line(("ok   ", "name"), text)


def _last_lines(log: TextIO) -> list[str]:
    log.seek(0)
    lines = [line.rstrip() for line in log.read()[-4000:].splitlines() if line.strip()]
    return lines[-5:]


async def demo(_settings: object, _options: object, terminal: Terminal) -> int:
    """Run the demonstration; return 0 if every step had the expected result."""
    with tempfile.TemporaryDirectory(prefix="mcp-memory-demo-", ignore_cleanup_errors=True) as folder:
        return await _show(Path(folder), terminal)


async def _show(folder: Path, terminal: Terminal) -> int:
    terminal.note("... starting a server on an empty store (nothing leaves this machine, no key is needed)")
    began, answers = time.perf_counter(), set[str | None]()
    async with Client(_server(folder), read_timeout_seconds=120) as client:
        tools = ", ".join(tool.name for tool in (await client.list_tools()).tools)
        terminal.line((f"A server is up after {time.perf_counter() - began:.1f} s. Its tools: {tools}", "bold"))
        terminal.note("... the first call loads the embedding model")
        for tool, what, arguments, most in _steps(json.loads(resource("sample_memory.json"))):
            reply, said = await call(client, tool, arguments)
            terminal.line((f"{tool}: {what}", "bold"))
            for line in said.split("\n")[:most]:
                terminal.line((f"   {line}", "good") if line.startswith("Answer: ") else f"   {line}")
            if tool == "memory_answer":
                answers.add(reply["answer"])
        status, _ = await call(client, "memory_status", {})
    took, read = time.perf_counter() - began, f"facts read by {status['extractor']}"
    terminal.line((f"Done in {took:.1f} s, judged by the {status['engine']} engine, {read}.", "bold"))
    terminal.line("   Next: mcp-memory install claude-desktop (or another client: mcp-memory install --help)")
    expected = {"Porto, as told on 8 September 2024", "Lisbon, as told on 14 March 2022", None}
    return 0 if status["healthy"] and expected <= answers else 1


def _steps(sample: dict[str, Any]) -> Iterator[Step]:
    for kind in ("messages", "documents"):
        arguments = {kind: sample[kind], "session": sample["session"], "wait": True}
        yield "memory_write", quantity(len(sample[kind]), kind.removesuffix("s")), arguments, 2
    first, history = sample["questions"][0], sample["history"]
    entity, home, then = history["entity"], history["question"], history["as_of"]
    yield "memory_reconstruct", repr(first), {"query": first, "limit": 3}, 4
    yield "memory_explore", f"the timeline of {entity}", {"operator": "timeline", "entity": entity}, 5
    yield "memory_answer", repr(home), {"question": home}, 3
    yield "memory_answer", f"{home!r}, as of {then}", {"question": home, "as_of": then}, 3
    for question in sample["questions"]:
        yield "memory_answer", repr(question), {"question": question}, 3


def _server(folder: Path) -> StdioServerParameters:
    """Return how to start our server without the user's settings, so that the demo is always the same."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    environment |= {"MCP_MEMORY_STORAGE_URI": str(folder / "store"), "MCP_MEMORY_CONFIG": str(folder / "config.toml")}
    (folder / "config.toml").write_text("", encoding="utf-8")
    return StdioServerParameters(command=sys.executable, args=["-m", "mcp_memory", "serve"], env=environment)


async def call(client: Client, tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the structured part of a tool's reply, and its text.

    Raises:
        StepFailed: the tool returned an error.
    """
    result = await client.call_tool(tool, dict(arguments))
    said = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    if result.is_error or result.structured_content is None:
        raise StepFailed(f"{tool}: {said[:500]}")
    return dict(result.structured_content), said
