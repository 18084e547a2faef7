"""``mcp-memory demo``: a real client talks to a real server, so that a newcomer sees what the memory does.

A server process is started on an empty store in a temporary folder; the small sample memory that ships in
``resources/`` is written, recalled and asked, over stdio, with the protocol's own client. Progress goes to stderr and
what happened to stdout, in colour only on a terminal.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TextIO

import anyio
from mcp import Client, StdioServerParameters

from mcp_memory.texts import resource

BOLD, DIM, GREEN, PLAIN = "\033[1m", "\033[2m", "\033[32m", "\033[0m"


def demo() -> int:
    """Run the demonstration; return 0 when every step did what it should."""
    with tempfile.TemporaryDirectory(prefix="mcp-memory-demo-", ignore_cleanup_errors=True) as folder:
        return anyio.run(_session, Path(folder))


async def _session(folder: Path) -> int:
    sample = json.loads(resource("sample_memory.json"))
    _progress("starting a server on an empty store (nothing leaves this machine, no key is needed)")
    began = time.perf_counter()
    async with Client(_server(folder), read_timeout_seconds=120) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        _heading(f"A server is up after {time.perf_counter() - began:.1f} s. Its tools: {', '.join(tools)}")

        _progress("writing the sample memory (the first call loads the embedding model)")
        for kind in ("messages", "documents"):
            told = await _call(client, "memory_write", {kind: sample[kind], "session": sample["session"]})
            stored = sum(item["stored"] for item in told["items"])
            counts = told["counts"]
            _heading(f"memory_write: {stored} {kind} kept, as {counts['sentences']} sentences")
        again = await _call(client, "memory_write", {"messages": sample["messages"], "session": sample["session"]})
        _say(f"   Writing the same messages again stored {sum(item['stored'] for item in again['items'])}.")

        _progress("recalling")
        first, *_ = sample["questions"]
        found = await _call(client, "memory_reconstruct", {"query": first, "limit": 3})
        _heading(f"memory_reconstruct: {first!r}")
        for item in found["evidence"]:
            source = item["sources"][0]
            who = source.get("speaker") or source["id"]
            _say(f"   {item['score']:.2f}  {source.get('time', '')[:10]}  {who}: {item['text']}")

        _progress("asking")
        abstained = 0
        for question in sample["questions"]:
            reply = await _call(client, "memory_answer", {"question": question})
            abstained += reply["abstained"]
            _heading(f"memory_answer: {question!r}")
            if reply["abstained"]:
                _say("   No answer: the memory holds nothing that supports one well enough.")
                continue
            _say(f"   {_painted(reply['answer'], GREEN, sys.stdout)}   (confidence {reply['confidence']:.2f})")
            for citation in reply["citations"]:
                _say(f"   because {citation['source']['id']} says: {citation['quote']!r}")
        status = await _call(client, "memory_status", {})
    _heading(f"Done in {time.perf_counter() - began:.1f} s, judged by the {status['engine']} engine.")
    _say("   Next: README.md shows how to put the server into Claude Desktop, Claude Code, VS Code or Cursor.")
    return 0 if status["healthy"] and 0 < abstained < len(sample["questions"]) else 1


def _server(folder: Path) -> StdioServerParameters:
    """Return how to start our own server: settings of the user are left out, so that the demo is the same for all."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    environment |= {"MCP_MEMORY_STORAGE_URI": str(folder / "store"), "MCP_MEMORY_CONFIG": str(folder / "config.toml")}
    (folder / "config.toml").write_text("", encoding="utf-8")
    return StdioServerParameters(command=sys.executable, args=["-m", "mcp_memory", "serve"], env=environment)


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(f"{tool}: {result.content}")
    return result.structured_content or {}


def _heading(text: str) -> None:
    _say(_painted(text, BOLD, sys.stdout))


def _say(text: str) -> None:
    print(text, flush=True)


def _progress(text: str) -> None:
    print(_painted(f"... {text}", DIM, sys.stderr), file=sys.stderr, flush=True)


def _painted(text: str, colour: str, stream: TextIO) -> str:
    return f"{colour}{text}{PLAIN}" if stream.isatty() and "NO_COLOR" not in os.environ else text
