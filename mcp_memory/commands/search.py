"""``mcp-memory search``: recall evidence for a question, and print it for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_memory.commands.listing import known_space
from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.query import Query
from mcp_memory.server.tools.arguments import QUERY_BYTES, check_text
from mcp_memory.server.tools.dossier import dossier_lines
from mcp_memory.server.tools.reconstruct import enough_in_words, recall_reply
from mcp_memory.server.tools.replies import one_line

if TYPE_CHECKING:
    from mcp_memory.domain.evidence import RecallResult
    from mcp_memory.memory import Memory

WHOLE_REPLY = 10_000_000
"""Tokens that no recall has: a terminal needs no budget."""


async def search(memory: Memory, terminal: Terminal, query: str, space: str, limit: int, *, as_json: bool) -> None:
    """Print what a recall finds: facts, then the passages by conversation in the order of time.

    Args:
        memory: opened, with its model.
        terminal: to print to.
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
        terminal.line(("Standing wish:", "bold"), one_line(wish.text), (wish.id, "dim"))
    for conflict in recall.conflicts:
        terminal.line(("Conflict:", "bold"), one_line(conflict))
    for warning in recall.warnings:
        terminal.note(f"Warning: {warning}")
    if recall.evidence:
        terminal.line((f"{enough_in_words(recall, recall.missing)}.", "dim"))
