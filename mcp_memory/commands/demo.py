"""``mcp-memory demo``: a real client talks to a real server, so that a newcomer sees what the memory does.

A server process is started on an empty store in a temporary folder. The small sample memory in ``resources/`` is
written, recalled and asked over stdio, with the protocol's own client. One of its facts changes; the demonstration asks
for its present and its past value. Progress goes to stderr, results go to stdout, in colour only on a terminal.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from mcp_memory.commands.terminal import Terminal
from mcp_memory.texts import resource


async def demo(_settings: object, _options: object, terminal: Terminal) -> int:
    """Run the demonstration; return 0 if every step had the expected result."""
    with tempfile.TemporaryDirectory(prefix="mcp-memory-demo-", ignore_cleanup_errors=True) as folder:
        return await _session(Path(folder), terminal)


async def _session(folder: Path, terminal: Terminal) -> int:
    sample = json.loads(resource("sample_memory.json"))
    terminal.note("... starting a server on an empty store (nothing leaves this machine, no key is needed)")
    began = time.perf_counter()
    async with Client(_server(folder), read_timeout_seconds=120) as client:
        tools = ", ".join(tool.name for tool in (await client.list_tools()).tools)
        terminal.line((f"A server is up after {time.perf_counter() - began:.1f} s. Its tools: {tools}", "bold"))

        terminal.note("... writing the sample memory (the first call loads the embedding model)")
        for kind in ("messages", "documents"):
            reply = await call(client, "memory_write", {kind: sample[kind], "session": sample["session"], "wait": True})
            stored, cut = sum(item["stored"] for item in reply["items"]), reply["counts"]["sentences"]
            told = f"{stored} {kind} kept, as {cut} sentences; facts in them: {len(reply['facts'])}"
            terminal.line((f"memory_write: {told}", "bold"))
        again = await call(client, "memory_write", {"messages": sample["messages"], "session": sample["session"]})
        terminal.line(f"   Writing the same messages again stored {sum(item['stored'] for item in again['items'])}.")

        terminal.note("... recalling")
        first, *_ = sample["questions"]
        found = await call(client, "memory_reconstruct", {"query": first, "limit": 3})
        terminal.line((f"memory_reconstruct: {first!r}", "bold"))
        for item in found["evidence"]:
            source = item["sources"][0]
            who = source.get("speaker") or source["id"]
            said = f"{who}: {item['text']}" if item["kind"] != "fact" else f"{item['text']}, {_validity(item)}"
            terminal.line(f"   {item['score']:.2f}  {source.get('time', '')[:10]}  {said}")

        terminal.note("... asking what was true when")
        kept_apart = await _history(client, sample["history"], terminal)

        terminal.note("... asking")
        abstained = 0
        for question in sample["questions"]:
            abstained += (await _ask(client, {"question": question}, terminal))["abstained"]
        status = await call(client, "memory_status", {})
    took, read = time.perf_counter() - began, f"facts read by {status['extractor']}"
    terminal.line((f"Done in {took:.1f} s, judged by the {status['engine']} engine, {read}.", "bold"))
    terminal.line("   Next: mcp-memory install claude-desktop (or another client: mcp-memory install --help)")
    return 0 if status["healthy"] and kept_apart and 0 < abstained < len(sample["questions"]) else 1


async def _history(client: Client, history: dict[str, str], terminal: Terminal) -> bool:
    """Show a fact that changed; return whether its present and its past value are answered correctly."""
    line = await call(client, "memory_explore", {"operator": "timeline", "entity": history["entity"]})
    terminal.line((f"memory_explore: the timeline of {history['entity']}", "bold"))
    for item in line["items"]:
        terminal.line(f"   {item['text']}, {_validity(item)}")
    now = await _ask(client, {"question": history["question"]}, terminal)
    then = await _ask(client, {"question": history["question"], "as_of": history["as_of"]}, terminal)
    answers = {reply["answer"] for reply in (now, then) if not reply["abstained"]}
    return len(answers) == 2 and len(line["items"]) >= 2


async def _ask(client: Client, arguments: dict[str, str], terminal: Terminal) -> dict[str, Any]:
    """Print the reply of memory_answer and return it."""
    reply = await call(client, "memory_answer", arguments)
    as_of = f", as of {arguments['as_of']}" if "as_of" in arguments else ""
    terminal.line((f"memory_answer: {arguments['question']!r}{as_of}", "bold"))
    if reply["abstained"]:
        terminal.line("   No certain fact answers that. What was said that comes closest:")
        for said in reply.get("closest", ())[:1]:
            terminal.line(f"   {said['source']['id']}: {said['text']!r}")
        return reply
    terminal.line("  ", (reply["answer"], "good"), f"  (confidence {reply['confidence']:.2f})")
    for citation in reply["citations"]:
        terminal.line(f"   because {citation['source']['id']} says: {citation['quote']!r}")
    return reply


def _validity(fact: dict[str, Any]) -> str:
    """Return the days for which a fact holds, in words."""
    since = f"from {fact['valid_from'][:10]}" if "valid_from" in fact else ""
    until = f"to {fact['valid_to'][:10]}" if "valid_to" in fact else "on"
    return f"{since} {until}".strip()


def _server(folder: Path) -> StdioServerParameters:
    """Return how to start our server without the user's settings, so that the demo is always the same."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    environment |= {"MCP_MEMORY_STORAGE_URI": str(folder / "store"), "MCP_MEMORY_CONFIG": str(folder / "config.toml")}
    (folder / "config.toml").write_text("", encoding="utf-8")
    return StdioServerParameters(command=sys.executable, args=["-m", "mcp_memory", "serve"], env=environment)


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a tool's structured result.

    Raises:
        RuntimeError: the tool returned an error; the message quotes it.
    """
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(f"{tool}: {result.content}")
    return result.structured_content or {}
