"""``mcp-memory view`` and ``export --html``: the viewer in a browser.

``view`` serves it on the loopback interface alone, to the one browser that gives the code (`Door`). Requests under
another host name are refused, so that no web page reaches the server by a name of its own (DNS rebinding). Beside the
code it takes GET only, reads only, and ends with the terminal that it was started in.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import anyio
from anyio import to_thread

from mcp_memory.commands.show import known_space
from mcp_memory.commands.target import refuse_in_store, refuse_other_export, without_forgotten
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
from mcp_memory.visible import each_text, escaped
from mcp_memory.wiring import open_unloaded

if TYPE_CHECKING:
    from types import FrameType

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from uvicorn import Server

    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space

GRACE_S = 2
"""Seconds that open connections have once the viewer ends."""
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


LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_S = 600.0
"""Seconds within which the code has to be given."""
COOKIE = "viewer"


class Door:
    """Lets one browser in: the first that gives the code.

    Other users of this machine can read the command lines of every process, so an address that a browser is started
    with may hold no secret. The code is typed, or posted by a file that its owner alone can read, and works once. Who
    gave it gets a cookie for a path of its own. Cookies go to every port of a host, so a server of somebody else there
    would have to know the path, and a path that stays in a history opens nothing without the cookie.

    Args:
        clock: seconds since any fixed moment.

    Attributes:
        code: the code, as it is shown.
        path: the first part of the path of every page.
        cookie: the value of the cookie.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock() + CODE_S
        self.code = "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(3))
        self.path, self.cookie = secrets.token_urlsafe(24), secrets.token_urlsafe(24)

    def opens_for(self, code: str) -> bool:
        """Return whether this is the code, which is void from then on."""
        given = "".join(code.upper().replace("-", " ").split())
        good = secrets.compare_digest(given.encode(), self.code.replace("-", "").encode())
        if not good or self._clock() >= self._until:
            return False
        self._until = self._clock()
        return True

    def knows(self, path: str, cookie: str) -> bool:
        """Return whether a request is of the browser that was let in."""
        same = secrets.compare_digest
        return same(path.encode(), self.path.encode()) and same(cookie.encode(), self.cookie.encode())


_FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Memory graph</title>
<form method="post" action="{address}open" autocomplete="off"><p><label>{words}
<input name="code" value="{code}" autofocus></label> <button>Show the memory</button></form>{script}</html>
"""
_ASKS = "The code that mcp-memory view has printed:"
_REFUSES = (
    "This code is wrong, was used, or is too old. Run mcp-memory view again, or type the code that it has printed:"
)


async def export_page(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the viewer with the graph of a space inside to a file.

    Raises:
        InvalidInput: the file cannot be written, or there is no such space; the file is as it was.
    """
    file: Path = options.file
    check_target(file, ("<!doctype html>", "<title>Memory graph</title>"))
    refuse_in_store(file)
    refuse_other_export(settings, file, file, replace=options.replace)
    if options.with_secrets:
        settings = replace(settings, privacy=replace(settings.privacy, secrets="keep"))
    memory = await open_unloaded(settings)

    async def write() -> dict[str, Any]:
        graph = await _graph(memory, await _chosen_values(memory, options), SAVED_FACTS)
        note_place(Tables((await memory.store.about()).uri).folder, "copy", file, now())
        html = await to_thread.run_sync(viewer.page, graph)
        await to_thread.run_sync(write_aside, file, [html.encode()])
        return graph

    try:
        graph = await without_forgotten(memory.store, file, write)
    finally:
        await memory.aclose()
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
        door = Door()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        terminal.line(("The memory is shown at", "dim"), address)
        terminal.line(("to the one browser that gives the code", "dim"), door.code)
        terminal.line(("Only this machine reaches it, until Ctrl-C or the end of this terminal.", "dim"))
        sys.stdout.flush()

        class Interruptible(Server):
            """Remembers an interrupt, since the cancellation that follows may get lost while the server closes."""

            interrupted = False

            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                self.interrupted = self.interrupted or sig == signal.SIGINT
                super().handle_exit(sig, frame)

        app = application(memory, values, door)
        config = Config(app, log_level="warning", lifespan="off", ws="none", timeout_graceful_shutdown=GRACE_S)
        server = Interruptible(config)
        with tempfile.TemporaryDirectory(prefix="mcp-memory-view-") as folder:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_end_with_terminal, server)
                if options.browser:  # which may be one that runs in this terminal until it is closed
                    page = _posting_file(Path(folder), address, door.code).as_uri()
                    tasks.start_soon(partial(to_thread.run_sync, webbrowser.open, page, abandon_on_cancel=True))
                await server.serve([listener])
                tasks.cancel_scope.cancel()
        if server.interrupted:
            raise KeyboardInterrupt
    finally:
        await memory.aclose()


def _posting_file(folder: Path, address: str, code: str) -> Path:
    """Return a file that gives the code for whoever opens it; its owner alone can read it."""
    script = "<script>document.forms[0].submit()</script>"
    page = _FORM.format(address=address, words=_ASKS, code=code, script=script)
    file = folder / "open.html"
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as to:
        to.write(page)
    return file


def application(memory: Memory, chosen: Mapping[str, str], door: Door) -> Starlette:
    """Return what answers the browser: the form for the code, the page, and parts of the graph that the page asks for.

    Args:
        memory: read from, never written to.
        chosen: the space, and perhaps the entity, of the page.
        door: see `Door`.
    """
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
    from starlette.routing import Route

    def form(words: str, status: int) -> Response:
        html, policy = _FORM.format(address="/", words=words, code="", script=""), "default-src 'none'; "
        policy += "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        return HTMLResponse(html, status, HEADERS | {"Content-Security-Policy": policy})

    async def ask(_request: Request) -> Response:
        return form(_ASKS, 200)

    async def enter(request: Request) -> Response:
        origin = request.headers.get("origin", "null")  # that of a file
        if origin not in ("null", f"http://{request.headers['host']}"):
            return PlainTextResponse("Another page may not give the code.", 403, HEADERS)
        given = bytearray()
        async for piece in request.stream():
            given += piece
            if len(given) > _MOST:
                return PlainTextResponse("Too large.", 413, HEADERS)
        if not door.opens_for("".join(parse_qs(given.decode(errors="replace")).get("code", ())[:1])):
            return form(_REFUSES, 403)
        reply = RedirectResponse(f"/{door.path}/", 303, HEADERS)
        reply.set_cookie(COOKIE, door.cookie, path=f"/{door.path}/", httponly=True, samesite="lax")
        return reply

    def known(request: Request) -> bool:
        return door.knows(request.path_params["path"], request.cookies.get(COOKIE, ""))

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
        routes=[
            Route("/", ask, methods=["GET"]),
            Route("/open", enter, methods=["POST"]),
            Route("/{path}/", page, methods=["GET"]),
            Route("/{path}/graph", graph, methods=["GET"]),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"], www_redirect=False)],
    )


_MOST = 1_000
"""Bytes of what the form sends."""
_ASKED = ("entity", "depth", "as_of", "cursor")


async def _chosen_values(memory: Memory, options: argparse.Namespace) -> dict[str, str]:
    """Return the values of the graph that the options choose."""
    space = options.space or MEANT_SPACE.get()
    async with memory.store.reading() as view:
        known_space(view, space)
    return {"space": space} | ({"entity": options.entity} if options.entity else {})


async def _graph(memory: Memory, values: Mapping[str, str], size: int) -> dict[str, Any]:
    def content(space: Space, values: Mapping[str, str]) -> dict[str, Any]:
        return each_text(page_row(drawing_of(space, values), values, size), escaped)

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
