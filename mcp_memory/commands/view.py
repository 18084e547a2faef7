"""``mcp-memory view``: the graph of a space as a page for any browser.

The page holds all that it shows and asks nobody for more. Only its owner can read it, and it is removed when the
command ends. So no port is opened, and no address or command line has a secret.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import webbrowser
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.files import whole_file
from mcp_memory.server import viewer
from mcp_memory.server.resources.graph import drawing_of, graph_page
from mcp_memory.server.resources.uris import read_in_thread, space_of
from mcp_memory.settings import Settings
from mcp_memory.visible import each_text, escaped
from mcp_memory.wiring import new_memory

if TYPE_CHECKING:
    from mcp_memory.view.space import Space

MOST_FACTS = 200_000
"""Facts and memory points in a page: some 150 MB."""
LOOK_S = 1.0
"""Seconds between two looks whether the terminal is still there."""


async def view(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Show the page in the browser until the terminal is closed or the command is interrupted.

    Raises:
        InvalidInput: there is no such space, or no fact is about the entity.
    """
    parent = os.getppid()  # before the page is told: who waits for that may end at once
    html = await _page(settings, options)
    for end in {"SIGTERM", "SIGHUP"} & {*dir(signal)}:  # Windows has no SIGHUP
        signal.signal(getattr(signal, end), signal.default_int_handler)  # so that the page goes then, too
    with tempfile.TemporaryDirectory(prefix="mcp-memory-view-") as folder:  # which only its owner can read
        file = Path(folder) / "memory.html"
        with whole_file(file) as out:
            out.write(html.encode())
        terminal.line(("The memory is shown by", "dim"), str(file))
        terminal.line(("until Ctrl-C or the end of this terminal.", "dim"))
        sys.stdout.flush()
        if options.browser:  # which may be one that runs in this terminal until it is closed
            await to_thread.run_sync(webbrowser.open, file.as_uri(), abandon_on_cancel=True)
        while os.getppid() == parent:  # noqa: ASYNC110 - a closed terminal does not always say so
            await anyio.sleep(LOOK_S)


async def _page(settings: Settings, options: argparse.Namespace) -> str:
    """Return the page with the graph that the options choose."""
    space = options.space or MEANT_SPACE.get()
    values = {"space": space} | ({"entity": options.entity} if options.entity else {})

    def content(space: Space, values: Mapping[str, str]) -> dict[str, Any]:
        return each_text(graph_page(drawing_of(space, values), values, MOST_FACTS), escaped)

    async with aclosing(new_memory(settings)) as memory:
        async with memory.store.reading() as stored:
            space_of(stored, space, "--space")
        return await to_thread.run_sync(viewer.page, await read_in_thread(memory, values, content))
