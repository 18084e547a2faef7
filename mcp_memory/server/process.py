"""The server process: the protocol over stdin and stdout, and a guaranteed end.

stdout belongs to the protocol. Before anything else runs, file descriptor 1 is redirected to stderr for good and the
protocol uses a private duplicate. So whatever a library prints, in Python or below it, now or from a buffer at exit,
goes to stderr. (The SDK's own redirection is undone when it closes, and a buffered ``print`` then leaks.)

The process ends when the client closes stdin, on SIGTERM or SIGINT, or (not on Windows) when its parent has died
without closing anything. Running calls are cancelled, background work may drain for two seconds, and then the process
exits without joining its threads: a thread that is blocked in a read, or busy in a library, cannot keep it alive. No
data is lost, since a write is with the operating system before it is acknowledged.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from mcp_memory.server.app import build
from mcp_memory.server.incoming import read_message
from mcp_memory.server.opening import DRAIN_S, Opener
from mcp_memory.settings import Settings

if TYPE_CHECKING:
    from mcp_memory.memory import Memory

log = logging.getLogger(__name__)

_OPENED_WITH = ("server.tools.catalogue", "server.resources.catalogue", "wiring")
"""Modules that opening a memory imports, with all that they need."""
ORPHAN_POLL_S = 1.0
"""Seconds between two checks whether the parent process still exists."""


def serve(settings: Settings, open_memory: Opener | None = None) -> NoReturn:
    """Serve one client over stdin and stdout, then end the process.

    The exit status is 0 for a requested end, and 1 after an error.
    """
    incoming, outgoing = _claim_wire()
    status = 0
    try:
        anyio.run(_serve, settings, open_memory or opener(settings), incoming, outgoing)
    except* (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        log.info("The client has gone.")
    except* Exception:
        log.exception("The server stopped because of an error.")
        status = 1
    _exit_soon(status)  # in case nobody reads the last lines on stderr
    logging.shutdown()
    os._exit(status)  # without joining threads, and without flushing what others left in buffers


def _claim_wire() -> tuple[io.BufferedReader, io.TextIOWrapper]:
    """Take stdin and stdout for the protocol, on private file descriptors.

    For all other code stdin is empty and stdout goes to stderr.
    """
    while (nothing := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # the process was started without this descriptor, which must not become the wire
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        for descriptor in (0, 1):  # for libraries that ask Windows for the handle, and not C for the descriptor
            rebind_std_handle_to_fd(descriptor)
    sys.stdout = sys.stderr
    # Not the platform's encoding (Windows).
    reader, writer = io.FileIO(incoming, "r"), io.FileIO(outgoing, "w")
    return io.BufferedReader(reader), io.TextIOWrapper(io.BufferedWriter(writer), "utf-8", newline="\n")


def opener(settings: Settings) -> Opener:
    """Return what opens the memory that the settings name."""

    async def open_memory() -> Memory:
        # These imports take a second or more: in a thread, so that the server can answer what needs no memory.
        for name in _OPENED_WITH:
            await to_thread.run_sync(import_module, f"mcp_memory.{name}", abandon_on_cancel=True)
        from mcp_memory import wiring

        return await wiring.open_memory(settings)

    return open_memory


async def _serve(
    settings: Settings, open_memory: Opener, incoming: io.BufferedReader, outgoing: io.TextIOWrapper
) -> None:
    server = build(open_memory, settings)
    to_server, reading = anyio.create_memory_object_stream[SessionMessage | Exception]()
    writing, from_server = anyio.create_memory_object_stream[SessionMessage]()
    sender = _Sender(outgoing)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, tasks.cancel_scope)
        tasks.start_soon(_stop_when_orphaned, tasks.cancel_scope)
        tasks.start_soon(_receive, incoming, settings.server.max_line, to_server, sender)
        async with anyio.create_task_group() as sending:
            sending.start_soon(_send, from_server, sender)
            await server.run(reading, writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


class _Sender:
    """Writes whole lines to the client, one after the other, for the server and for lines that never reach it."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = anyio.wrap_file(file)
        self._lock = anyio.Lock()

    async def send(self, line: str) -> None:
        async with self._lock:
            await self._file.write(f"{line}\n")
            await self._file.flush()


async def _receive(
    file: io.BufferedReader, most: int, to_server: MemoryObjectSendStream[SessionMessage | Exception], sender: _Sender
) -> None:
    """Hand on the messages that the client sends; after the last one the process ends within `DRAIN_S`.

    Lines that are none are answered here. On cancellation the thread that waits for a line is abandoned: nothing else
    would wake it.
    """
    async with to_server:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended
            while read := await to_thread.run_sync(read_message, file, most, abandon_on_cancel=True):
                message, refusal = read
                if message is not None:
                    await to_server.send(SessionMessage(message))
                else:
                    log.warning("A line from the client is refused: %s", refusal)
                    await sender.send(refusal)
        _exit_soon()


async def _send(from_server: MemoryObjectReceiveStream[SessionMessage], sender: _Sender) -> None:
    async with from_server:
        async for item in from_server:
            await sender.send(item.message.model_dump_json(by_alias=True, exclude_unset=True))


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    if sys.platform == "win32":  # SIGTERM ends a process there at once, and Ctrl-C arrives as KeyboardInterrupt
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            _exit_soon()
            scope.cancel()


async def _stop_when_orphaned(scope: anyio.CancelScope) -> None:
    """End the server when its parent process is gone, even if another process holds its pipe open."""
    if sys.platform == "win32":  # there an orphan keeps its parent's id; the end of stdin ends it
        return
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - not every system has an event for it
        await anyio.sleep(ORPHAN_POLL_S)
    _exit_soon()
    scope.cancel()


def _exit_soon(status: int = 0) -> None:
    """Exit when the time to drain is over, whatever still runs then."""

    def exit_late() -> None:
        time.sleep(DRAIN_S)
        os._exit(status)

    threading.Thread(target=exit_late, name="exit", daemon=True).start()
