"""``mcp-memory view`` and ``export --html``: the graph of a space as a page for any browser.

The page holds all that it shows and asks nobody for more. Only its owner can read it; that of ``view`` is removed when
the command ends. So nothing listens, and no address or command line has a secret.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import webbrowser
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from mcp_memory.commands.looking import known_space
from mcp_memory.commands.target import (
    check_target,
    refuse_in_store,
    without_forgotten,
    write_aside,
)
from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.server import viewer
from mcp_memory.server.resources.graph import drawing_of, page_row
from mcp_memory.server.resources.uris import read_in_thread
from mcp_memory.server.tools.replies import quantity
from mcp_memory.settings import Settings
from mcp_memory.visible import each_text, escaped
from mcp_memory.wiring import new_memory

if TYPE_CHECKING:
    from mcp_memory.view.space import Space

MOST_FACTS = 200_000
"""Facts and memory points in a page: some 150 MB."""
LOOK_S = 1.0
"""Seconds between two looks whether the terminal is still there."""


async def export_page(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the page to a file that stays.

    Raises:
        InvalidInput: the file cannot be written, or there is no such space; the file is as it was.
    """
    file: Path = options.file
    check_target(file, replace=options.replace, is_one=_is_page)
    refuse_in_store(file)
    if options.with_secrets:
        settings = replace(settings, privacy=replace(settings.privacy, secrets="keep"))
    graph = await _write(settings, options, file)
    terminal.line(f"Exported {quantity(len(graph['edges']), 'fact')} to {file}, a page for any browser.")
    if "next" in graph:
        terminal.note(f"{quantity(graph['total']['edges'] - len(graph['edges']), 'fact')} more did not fit.")
    terminal.tell_of_secrets(kept=settings.privacy.secrets == "keep")


def _is_page(first: bytes) -> bool:
    return first.startswith(b"<!doctype html>") and b"<title>Memory graph</title>" in first


async def view(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Show the page in the browser until the terminal is closed or the command is interrupted.

    Raises:
        InvalidInput: there is no such space, or no fact is about the entity.
    """
    parent = os.getppid()  # before the page is told: who waits for that may end at once
    with tempfile.TemporaryDirectory(prefix="mcp-memory-view-") as folder:
        file = Path(folder) / "memory.html"
        await _write(settings, options, file)
        terminal.line(("The memory is shown by", "dim"), str(file))
        terminal.line(("until Ctrl-C or the end of this terminal; `export FILE --html` keeps a page.", "dim"))
        sys.stdout.flush()
        if options.browser:  # which may be one that runs in this terminal until it is closed
            await to_thread.run_sync(webbrowser.open, file.as_uri(), abandon_on_cancel=True)
        while os.getppid() == parent:  # noqa: ASYNC110 - a closed terminal does not always say so
            await anyio.sleep(LOOK_S)


async def _write(settings: Settings, options: argparse.Namespace, file: Path) -> Mapping[str, Any]:
    """Write the page that the options choose, and return its graph."""
    memory = new_memory(settings)
    space = options.space or MEANT_SPACE.get()
    values = {"space": space} | ({"entity": options.entity} if options.entity else {})

    def content(space: Space, values: Mapping[str, str]) -> dict[str, Any]:
        return each_text(page_row(drawing_of(space, values), values, MOST_FACTS), escaped)

    async def write() -> Mapping[str, Any]:
        async with memory.store.reading() as stored:
            known_space(stored, space)
        graph = await read_in_thread(memory, values, content)
        html = await to_thread.run_sync(viewer.page, graph)
        await to_thread.run_sync(partial(write_aside, file, [html.encode()]))
        return graph

    async with aclosing(memory):
        return await without_forgotten(memory.store, file, write)
