"""``mcp-memory status``: report on the memory."""

from __future__ import annotations

import argparse
import os
from contextlib import aclosing

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.server.tools.replies import quantity
from mcp_memory.server.tools.status import judge_text, spent_today_text, texts_read_text
from mcp_memory.settings import Settings
from mcp_memory.wiring import new_memory


async def status(settings: Settings, _options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the contents and the state of the memory; return 0 if it is healthy, otherwise 1."""
    async with aclosing(new_memory(settings)) as memory:
        found = await memory.status()

    def row(label: str, text: str) -> None:
        terminal.line((f"{label:<8}", "name"), text)

    store = found.store
    size = "" if store.bytes is None else f" ({max(store.bytes / 1e6, 0.1):.1f} MB)"
    others = [str(process) for process in store.holders if process != os.getpid()]
    held = [sum(space.messages for space in found.spaces), sum(space.documents for space in found.spaces)]
    told = (
        f"{quantity(held[0], 'message')} and {quantity(held[1], 'document')} in {quantity(len(found.spaces), 'space')}"
    )
    if found.healthy:
        terminal.line(("healthy ", "good"), told if found.spaces else "nothing is stored yet")
    else:
        terminal.line(("NOT HEALTHY", "bad"), told)
    for problem in store.problems:
        terminal.line(("PROBLEM:", "bad"), problem)
    for note in store.notes:
        terminal.line(("NOTE:", "bold"), note)
    if not found.healthy or store.remedy:
        row("to do", "mcp-memory doctor")
    opened = f"open in process {', '.join(others)}" if others else "no client has it open"
    row("store", f"{store.uri}{size}, {'for any number of servers' if '://' in store.uri else opened}")
    row("space", f"calls that name no space go to {MEANT_SPACE.get()}")
    row("judge", judge_text(found.judging))
    if found.judging:
        row("", spent_today_text(found.judging))
        if found.judging.texts:
            row("", texts_read_text(found.judging))
    read = f"facts are read by {found.extractor}" if found.extractor else "facts are not read out of texts"
    row("program", f"mcp-memory {found.version}; {read}; embedder {found.embedder}")
    terminal.line((f"{'':<8} commit {store.tx}, generation {store.generation}, format {store.format}", "dim"))
    for space in found.spaces:
        came = f"{quantity(space.messages, 'message')}, {quantity(space.documents, 'document')}"
        cut = f"{quantity(space.segments, 'segment')}, {quantity(space.sentences, 'sentence')}"
        terminal.line((f"space {space.name}:", "bold"), f"{came} in {quantity(space.sessions, 'session')}; {cut}")
        terminal.line(
            f"  {quantity(space.assertions, 'statement')} of facts about {quantity(space.entities, 'entity')}"
        )
        terminal.line(f"  {quantity(space.lessons, 'lesson')} of what helped, {quantity(space.points, 'memory point')}")
    return 0 if found.healthy else 1
