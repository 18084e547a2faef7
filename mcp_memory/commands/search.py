"""``mcp-memory search``: print a recall, the best records first, then the others by conversation in order of time."""

from __future__ import annotations

import argparse
from contextlib import aclosing

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.domain.evidence import RecallResult
from mcp_memory.domain.query import Query
from mcp_memory.language.wishes import as_said
from mcp_memory.server.resources.uris import space_of
from mcp_memory.server.tools.answer import AnswerInput
from mcp_memory.server.tools.arguments import read
from mcp_memory.server.tools.dossier import dossier_lines
from mcp_memory.server.tools.reconstruct import judgement_lines, recall_reply
from mcp_memory.settings import Settings
from mcp_memory.visible import as_name, one_line
from mcp_memory.wiring import new_memory

WHOLE_REPLY = 10_000_000
"""Tokens that no recall has: a terminal needs no budget."""


async def search(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print what a recall finds, or with ``--json`` the structured reply of ``memory_reconstruct``.

    Raises:
        InvalidInput: there is no such space, or the query is too long.
    """
    space = options.space or MEANT_SPACE.get()
    async with aclosing(new_memory(settings)) as memory:
        text = read(AnswerInput, {"question": " ".join(options.query)}, settings.limits).question
        async with memory.store.reading() as view:
            space_of(view, space, "--space")
        recall = await memory.reconstruct(Query(text, space, options.limit))
    if options.json:
        terminal.json({"space": space} | recall_reply(recall, WHOLE_REPLY).structured)
    else:
        _print_recall(terminal, recall)


def _print_recall(terminal: Terminal, recall: RecallResult) -> None:
    if not recall.evidence:
        terminal.line("Nothing was found.")
    for line in dossier_lines(recall.evidence)[1:]:  # without its header, which is for a model
        terminal.line(line if line[:1].isdigit() or line.startswith(" ") else (line, "bold"))
    said = [(number, item.sources[0].turn) for number, item in enumerate(recall.evidence, 1) if item.sources]
    if said:
        ids = ", ".join(f"{number} {as_name(turn.ref)}" for number, turn in said)
        terminal.line((f"Their ids, which show and forget take: {ids}", "dim"))
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
