"""Run a command for people: open the memory, and call what prints the result; `_search` prints a recall."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

import anyio

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.settings import Settings

if TYPE_CHECKING:
    from mcp_memory.domain.evidence import RecallResult
    from mcp_memory.memory import Memory

WHOLE_REPLY = 10_000_000
"""Tokens that no recall has: a terminal needs no budget."""
_WORK = {
    "export": "transfer.export",
    "import": "transfer.import_",
    "backup": "backup.backup",
    "restore": "backup.restore_",
    "move": "backup.move_",
    "view": "view.view",
    "search": "run.search",
}
"""The function in ``commands/`` that does a command, imported when it runs; the others look."""


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Run the command that the options name; return 0.

    Raises:
        InvalidInput: there is nothing of that name, or a file cannot be used.
        StoreError: the store cannot be read or written.
    """
    name = "view.export_page" if getattr(options, "html", None) else _WORK.get(options.command, "run.look")
    module, function = name.split(".")
    work = getattr(import_module(f"mcp_memory.commands.{module}"), function)
    anyio.run(work, settings, options, Terminal())
    return 0


async def look(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print what ``list`` or ``show`` asks for.

    Raises:
        InvalidInput: there is nothing of that name.
    """
    from mcp_memory.commands import show
    from mcp_memory.commands.looking import open_look

    stored = await open_look(settings)
    space = options.space or MEANT_SPACE.get()
    try:
        if options.command == "list":
            await show.listing(stored, terminal, options.what, space, options.limit, as_json=options.json)
        elif options.name is None and options.space is None:
            await show.show_spaces(stored, terminal, options.limit, as_json=options.json)
        else:
            name, reading = (space, "space") if options.name is None else (options.name, options.reading)
            await show.show(stored, terminal, name, reading, space, options.limit, as_json=options.json)
    finally:
        await stored.aclose()


async def search(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print what a recall finds, as the options of ``search`` say.

    Raises:
        InvalidInput: there is no such space, or the query is too long.
    """
    from mcp_memory.wiring import open_memory

    memory = await open_memory(settings)
    space = options.space or MEANT_SPACE.get()
    try:
        await _search(memory, terminal, " ".join(options.query), space, options.limit, as_json=options.json)
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
    from mcp_memory.commands.show import known_space
    from mcp_memory.domain.query import Query
    from mcp_memory.server.tools.arguments import QUERY_BYTES, check_text
    from mcp_memory.server.tools.reconstruct import recall_reply

    text = check_text("QUESTION", query, QUERY_BYTES)
    async with memory.store.reading() as view:
        known_space(view, space)
    recall = await memory.reconstruct(Query(text, space, limit))
    if as_json:
        terminal.json({"space": space} | recall_reply(recall, WHOLE_REPLY).structured)
    else:
        _print_recall(terminal, recall)


def _print_recall(terminal: Terminal, recall: RecallResult) -> None:
    from mcp_memory.language.wishes import as_said
    from mcp_memory.server.tools.dossier import dossier_lines
    from mcp_memory.server.tools.reconstruct import judgement_lines
    from mcp_memory.visible import one_line

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
