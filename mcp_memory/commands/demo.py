"""``mcp-memory demo``: a real client talks to a real server, so that a newcomer sees what the memory does.

A server process is started on an empty store in a temporary folder. The small sample memory in ``resources/`` is
written, recalled and asked over stdio, with the protocol's own client. The first lines of each reply are shown as the
model of a client reads them. One of the facts changes; the demonstration asks for its present and its past value.
Progress goes to stderr, results go to stdout, in colour only on a terminal.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from mcp_memory.commands.terminal import Terminal
from mcp_memory.server.tools.replies import quantity
from mcp_memory.texts import resource

Step = tuple[str, str, dict[str, Any], int]
"""A tool, what it is called for, its arguments, and how many lines of its reply are shown."""


async def demo(_settings: object, _options: object, terminal: Terminal) -> int:
    """Run the demonstration; return 0 if every step had the expected result."""
    with tempfile.TemporaryDirectory(prefix="mcp-memory-demo-", ignore_cleanup_errors=True) as folder:
        return await _session(Path(folder), terminal)


async def _session(folder: Path, terminal: Terminal) -> int:
    terminal.note("... starting a server on an empty store (nothing leaves this machine, no key is needed)")
    began, answers = time.perf_counter(), set[str | None]()
    async with Client(_server(folder), read_timeout_seconds=120) as client:
        tools = ", ".join(tool.name for tool in (await client.list_tools()).tools)
        terminal.line((f"A server is up after {time.perf_counter() - began:.1f} s. Its tools: {tools}", "bold"))
        terminal.note("... the first call loads the embedding model")
        for tool, what, arguments, most in _steps(json.loads(resource("sample_memory.json"))):
            reply = await call(client, tool, arguments)
            terminal.line((f"{tool}: {what}", "bold"))
            said = "\n".join(part.text for part in reply.content if isinstance(part, TextContent))
            for line in said.split("\n")[:most]:
                terminal.line((f"   {line}", "good") if line.startswith("Answer: ") else f"   {line}")
            if tool == "memory_answer":
                answers.add((reply.structured_content or {})["answer"])
        status = (await call(client, "memory_status", {})).structured_content or {}
    took, read = time.perf_counter() - began, f"facts read by {status['extractor']}"
    terminal.line((f"Done in {took:.1f} s, judged by the {status['engine']} engine, {read}.", "bold"))
    terminal.line("   Next: mcp-memory install claude-desktop (or another client: mcp-memory install --help)")
    return 0 if status["healthy"] and {"Porto, as told on 8 September 2024", "Lisbon", None} <= answers else 1


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


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    """Return a tool's result.

    Raises:
        RuntimeError: the tool returned an error; the message quotes it.
    """
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(f"{tool}: {result.content}")
    return result
