"""``mcp-memory view`` and ``export --html``: the viewer in a browser.

``view`` serves it on the loopback interface alone, to whoever knows the address: a random token is part of it. Requests
under another host name are refused, so that no web page reaches the server by a name of its own (DNS rebinding). It
answers GET only, reads only, and ends with the terminal that it was started in.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from mcp_memory.commands.show import known_space
from mcp_memory.commands.terminal import Terminal
from mcp_memory.commands.transfer import check_target, write_aside
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput
from mcp_memory.memory import now
from mcp_memory.server import viewer
from mcp_memory.server.resources.graph import drawing_of, page_row
from mcp_memory.server.resources.uris import read_in_thread
from mcp_memory.server.tools.replies import quantity
from mcp_memory.settings import Settings
from mcp_memory.storage.places import note_place
from mcp_memory.storage.tables import Tables
from mcp_memory.wiring import open_unloaded

if TYPE_CHECKING:
    from types import FrameType

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from uvicorn import Server

    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space

FIRST_FACTS = 2_000
"""Facts and memory points in a page or a reply of ``view``; the viewer asks for more until it has 60 times as many."""
SAVED_FACTS = 200_000
"""Facts and memory points in an exported page: some 150 MB."""
LOOK_S = 1.0
"""Seconds between two looks whether the terminal is still there."""
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


async def export_page(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the viewer with the graph of a space inside to a file.

    Raises:
        InvalidInput: the file cannot be written, or there is no such space; the file is as it was.
    """
    file: Path = options.file
    check_target(file, "<title>Memory graph</title>")
    if options.with_secrets:
        settings = replace(settings, privacy=replace(settings.privacy, secrets="keep"))
    memory = await open_unloaded(settings)
    try:
        values = await _chosen_values(memory, options)
        graph = await _graph(memory, values, SAVED_FACTS)
        note_place(Tables((await memory.store.about()).uri).folder, "copy", file, now())
    finally:
        await memory.aclose()
    html = await to_thread.run_sync(viewer.page, graph)
    await to_thread.run_sync(write_aside, file, [html.encode()])
    terminal.line(f"Exported {quantity(len(graph['edges']), 'fact')} to {file}, a page for any browser.")
    if "next" in graph:
        terminal.note(f"{quantity(graph['total']['edges'] - len(graph['edges']), 'fact')} more did not fit.")
    terminal.tell_of_secrets(kept=settings.privacy.secrets == "keep")


async def view(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Serve the viewer until the terminal is closed or the command is interrupted.

    Raises:
        InvalidInput: there is no such space, nothing is known of the entity, or the port is taken.
    """
    from uvicorn import Config, Server

    memory = await open_unloaded(settings)
    try:
        values = await _chosen_values(memory, options)
        await _graph(memory, values, 1)  # what cannot be shown is refused before anything is served
        listener = _listen(options.port)
        token = secrets.token_urlsafe(24)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/"
        terminal.line(("The memory is shown at", "dim"), address)
        terminal.line(("Only this machine reaches it, until Ctrl-C or the end of this terminal.", "dim"))
        sys.stdout.flush()

        class Interruptible(Server):
            """Remembers an interrupt, since the cancellation that follows may get lost while the server closes."""

            interrupted = False

            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                self.interrupted = self.interrupted or sig == signal.SIGINT
                super().handle_exit(sig, frame)

        config = Config(application(memory, values, token), log_level="warning", lifespan="off", ws="none")
        server = Interruptible(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_with_terminal, server)
            if options.browser:  # which may be one that runs in this terminal until it is closed
                tasks.start_soon(partial(to_thread.run_sync, webbrowser.open, address, abandon_on_cancel=True))
            await server.serve([listener])
            tasks.cancel_scope.cancel()
        if server.interrupted:
            raise KeyboardInterrupt
    finally:
        await memory.aclose()


def application(memory: Memory, chosen: Mapping[str, str], token: str) -> Starlette:
    """Return what answers the browser: the page, and parts of the graph that the page asks for.

    Args:
        memory: read from, never written to.
        chosen: the space, and perhaps the entity, of the page.
        token: first part of every path; others are not found.
    """
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
    from starlette.routing import Route

    def known(request: Request) -> bool:
        return secrets.compare_digest(request.path_params["token"].encode(), token.encode())

    async def page(request: Request) -> Response:
        if not known(request):
            return PlainTextResponse("Not found", 404, HEADERS)
        graph = await _graph(memory, chosen, FIRST_FACTS)
        html = await to_thread.run_sync(partial(viewer.page, graph, requests=True))
        return HTMLResponse(html, headers=HEADERS | {"Content-Security-Policy": "frame-ancestors 'none'"})

    async def graph(request: Request) -> Response:
        if not known(request):
            return PlainTextResponse("Not found", 404, HEADERS)
        asked = {name: request.query_params[name] for name in _ASKED if name in request.query_params}
        try:
            return JSONResponse(await _graph(memory, {"space": chosen["space"]} | asked, FIRST_FACTS), headers=HEADERS)
        except InvalidInput as error:
            return PlainTextResponse(str(error), 400, HEADERS)

    return Starlette(
        routes=[Route("/{token}/", page, methods=["GET"]), Route("/{token}/graph", graph, methods=["GET"])],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"], www_redirect=False)],
    )


_ASKED = ("entity", "depth", "as_of", "cursor")


async def _chosen_values(memory: Memory, options: argparse.Namespace) -> dict[str, str]:
    """Return the values of the graph that the options choose."""
    space = options.space or MEANT_SPACE.get()
    async with memory.store.reading() as view:
        known_space(view, space)
    return {"space": space} | ({"entity": options.entity} if options.entity else {})


async def _graph(memory: Memory, values: Mapping[str, str], size: int) -> dict[str, Any]:
    def content(space: Space, values: Mapping[str, str]) -> dict[str, Any]:
        return page_row(drawing_of(space, values), values, size)

    return await read_in_thread(memory, values, content)


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        problem = f"{port} cannot be listened at ({error.strerror})"
        raise InvalidInput("--port", problem, "Leave it out, and a free one is taken.") from None


async def _end_with_terminal(server: Server) -> None:
    """Stop the server when the process that started it is gone; a closed terminal does not always say so."""
    parent = os.getppid()
    while not server.should_exit:
        await anyio.sleep(LOOK_S)
        server.should_exit |= os.getppid() != parent
