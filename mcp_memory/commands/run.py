"""Run a command for people: open the memory, and call what prints the result; `_search` prints a recall."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

import anyio

from mcp_memory.commands import backup, ingest, show, transfer, view
from mcp_memory.commands.show import known_space
from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.domain.query import Query
from mcp_memory.language.wishes import as_said
from mcp_memory.server.tools.arguments import QUERY_BYTES, check_text
from mcp_memory.server.tools.dossier import dossier_lines
from mcp_memory.server.tools.reconstruct import judgement_lines, recall_reply
from mcp_memory.server.tools.replies import one_line
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_memory, open_unloaded

if TYPE_CHECKING:
    from mcp_memory.domain.evidence import RecallResult
    from mcp_memory.memory import Memory

WHOLE_REPLY = 10_000_000
"""Tokens that no recall has: a terminal needs no budget."""


async def _export(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    await (view.export_page if options.html else transfer.export)(settings, options, terminal)


_WORK = {
    "export": _export,
    "import": transfer.import_,
    "ingest": ingest.ingest,
    "backup": backup.backup,
    "restore": backup.restore_,
    "move": backup.move_,
    "view": view.view,
}


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Run the command that the options name; return 0.

    Raises:
        InvalidInput: there is nothing of that name, or a file cannot be used.
        StoreError: the store cannot be read or written.
    """
    terminal = Terminal()
    try:
        work = _WORK.get(options.command, _look)
        anyio.run(work, settings, options, terminal)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `mcp-memory list facts | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


async def _look(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    memory = await (open_memory(settings) if options.command == "search" else open_unloaded(settings))
    space = options.space or MEANT_SPACE.get()
    try:
        if options.command == "search":
            await _search(memory, terminal, " ".join(options.query), space, options.limit, as_json=options.json)
        elif options.command == "list":
            await show.listing(memory, terminal, options.what, space, options.limit, as_json=options.json)
        elif options.name is None and options.space is None:
            await show.show_spaces(memory, terminal, options.limit, as_json=options.json)
        else:
            name, reading = (space, "space") if options.name is None else (options.name, options.reading)
            await show.show(memory, terminal, name, reading, space, options.limit, as_json=options.json)
    finally:
        await memory.aclose()


async def _search(memory: Memory, terminal: Terminal, query: str, space: str, limit: int, *, as_json: bool) -> None:
    """Print what a recall finds: the best records, then the others by conversation in the order of time.

    Args:
        memory: opened, with its model.
        terminal: the terminal to print to.
        query: a question, or a few words.
        space: the name of the space.
        limit: items of evidence at most, 1 to 200.
        as_json: whether to print the structured reply of ``memory_reconstruct`` in place of text.

    Raises:
        InvalidInput: there is no such space, or the query is too long.
    """
    text = check_text("QUESTION", query, QUERY_BYTES)
    async with memory.store.reading() as view:
        known_space(view, space)
    recall = await memory.reconstruct(Query(text, space, limit))
    if as_json:
        terminal.json({"space": space} | recall_reply(recall, WHOLE_REPLY).structured)
    else:
        _print_recall(terminal, recall)


def _print_recall(terminal: Terminal, recall: RecallResult) -> None:
    if not recall.evidence:
        terminal.line("Nothing was found.")
    for line in dossier_lines(recall.evidence)[1:]:  # without its header, which is for a model
        terminal.line(line if line[:1].isdigit() or line.startswith(" ") else (line, "bold"))
    listed = {item.id for item in recall.evidence}
    for point in recall.points:
        if point.id not in listed:
            terminal.line(("Memory point:", "bold"), one_line(point.description), (point.id, "dim"))
    for wish in recall.wishes:
        terminal.line(("Standing wish:", "bold"), one_line(as_said(wish)), (wish.id, "dim"))
    for conflict in recall.conflicts:
        terminal.line(("Conflict:", "bold"), one_line(conflict))
    for warning in recall.warnings:
        terminal.note(f"Warning: {warning}")
    for line in judgement_lines(recall, recall.missing):
        terminal.line((line, "dim"))
