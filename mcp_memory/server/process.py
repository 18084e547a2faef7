"""The server as a process: the protocol over stdin and stdout, and an end that always comes.

stdout belongs to the protocol. Before anything else runs, descriptor 1 is turned to stderr for good and the wire goes
on through a private duplicate, so that whatever a library prints, in Python or below it, now or from a buffer at exit,
lands on stderr. (The SDK's own diversion is undone when it closes, and a buffered ``print`` then leaks.)

The process ends when the client closes stdin, on SIGTERM or SIGINT, or when its parent has died without closing
anything. Calls in flight are cancelled, background work may drain for two seconds, and then the process leaves without
waiting for anyone: a thread that is blocked in a read, or busy in a library, cannot keep it alive. Nothing is lost by
that, since a write is with the operating system before it is acknowledged.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, cast

import anyio
from anyio import to_thread
from mcp.server.stdio import stdio_server

from mcp_memory.config import Config
from mcp_memory.server.app import DRAIN_S, build
from mcp_memory.server.opening import Opener

if TYPE_CHECKING:
    from mcp_memory.memory import Memory

log = logging.getLogger(__name__)

ORPHAN_POLL_S = 1.0
"""How often the process looks whether its parent is still there."""


def serve(config: Config, open_memory: Opener | None = None) -> NoReturn:
    """Serve one client over stdin and stdout, then end the process.

    Args:
        config: every setting.
        open_memory: another memory than the one that ``config`` describes.

    The process ends with status 0 when it was told to, and 1 when it broke.
    """
    wire = _claim_wire()
    status = 0
    try:
        anyio.run(_serve, config, open_memory or _opener(config), wire)
    except* (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        log.info("The client has gone.")
    except* Exception:
        log.exception("The server broke.")
        status = 1
    _leave_soon(status)  # should the last words to stderr find no reader
    logging.shutdown()
    os._exit(status)  # without joining threads, and without flushing what others left in buffers


@dataclass(frozen=True, slots=True)
class _Wire:
    """The two ends of the protocol, under descriptors that nobody else knows."""

    incoming: io.TextIOWrapper
    outgoing: io.TextIOWrapper


def _claim_wire() -> _Wire:
    """Take stdin and stdout for the protocol; what others read from them is empty, what they write goes to stderr."""
    while (nothing := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # we were started without this one, and must not take it for the wire
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        for descriptor in (0, 1):  # for libraries that ask Windows for the handle, and not C for the descriptor
            rebind_std_handle_to_fd(descriptor)
    sys.stdout = sys.stderr
    # The platform's encoding is no use (Windows), and bytes that are not UTF-8 must not end the server.
    reader, writer = io.FileIO(incoming, "r"), io.FileIO(outgoing, "w")
    return _Wire(
        io.TextIOWrapper(io.BufferedReader(reader), "utf-8", errors="replace"),
        io.TextIOWrapper(io.BufferedWriter(writer), "utf-8", newline="\n"),
    )


def _opener(config: Config) -> Opener:
    async def open_memory() -> Memory:
        # A second and more of imports: in a thread, so that the server answers meanwhile what needs no memory.
        await to_thread.run_sync(import_module, "mcp_memory.wiring", abandon_on_cancel=True)
        from mcp_memory import wiring

        return await wiring.open_memory(config)

    return open_memory


async def _serve(config: Config, open_memory: Opener, wire: _Wire) -> None:
    server = build(open_memory, config)
    incoming = cast("anyio.AsyncFile[str]", _lines(wire.incoming))
    outgoing = anyio.wrap_file(wire.outgoing)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, tasks.cancel_scope)
        tasks.start_soon(_stop_when_orphaned, tasks.cancel_scope)
        async with stdio_server(incoming, outgoing) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _lines(file: io.TextIOWrapper) -> AsyncIterator[str]:
    """Yield what the client sends, line by line; at the end of it the process has so long to live.

    The thread that waits for a line is left behind on cancellation: nothing else would wake it.
    """
    while line := await to_thread.run_sync(file.readline, abandon_on_cancel=True):
        yield line
    _leave_soon()


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    if sys.platform == "win32":  # SIGTERM ends a process there at once, and Ctrl-C arrives as KeyboardInterrupt
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            _leave_soon()
            scope.cancel()


async def _stop_when_orphaned(scope: anyio.CancelScope) -> None:
    """End the server when the process that started it is gone, even if someone else holds its pipe open."""
    has_parent = _parent()
    while has_parent():  # noqa: ASYNC110 - no event tells of it on every system
        await anyio.sleep(ORPHAN_POLL_S)
    _leave_soon()
    scope.cancel()


def _parent() -> Callable[[], bool]:
    """Return what tells whether the process that started this one is still there."""
    parent = os.getppid()
    if sys.platform != "win32":
        return lambda: os.getppid() == parent  # an orphan is given another parent
    import psutil

    try:
        return psutil.Process(parent).is_running  # knows it from a later process of the same number
    except psutil.NoSuchProcess:  # a launcher that is gone already; the end of stdin still ends the server
        return lambda: True


def _leave_soon(status: int = 0) -> None:
    """Leave when the time to drain is over, whatever is still going on then."""

    def leave() -> None:
        time.sleep(DRAIN_S)
        os._exit(status)

    threading.Thread(target=leave, name="leave", daemon=True).start()
