"""The command line: ``mcp-memory`` and its commands.

Only this file and ``commands`` print, since the server's stdout carries the protocol. The module of a
command is imported when it runs, so that ``serve`` replies to its client without delay.
"""

from __future__ import annotations

import argparse
import inspect
import io
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from mcp_memory.commands.arguments import build_parser
from mcp_memory.errors import ConfigurationError, McpMemoryError
from mcp_memory.visible import escaped

if TYPE_CHECKING:
    from mcp_memory.settings import Settings

PIPE_CLOSED = 141
"""Exit code where nobody reads the output any more, as a shell tells it of other programs (128 + SIGPIPE)."""
WAITING = (
    "This is what a client starts: it waits here for a client's messages. Ctrl-C ends it.\n"
    "To put it into a client: mcp-memory install CLIENT. All commands: mcp-memory --help"
)
"""For somebody who starts the server in a terminal, where nothing would be seen to happen."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code.

    It is 0 for success, 1 if a problem was found, 2 for wrong usage, 130 if interrupted, `PIPE_CLOSED` if the reader of
    the output has seen enough, as in ``mcp-memory list facts | head``.
    """
    try:
        try:
            return _run_command(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except (BrokenPipeError, BaseExceptionGroup) as error:
        if isinstance(error, BaseExceptionGroup) and error.split(BrokenPipeError)[1] is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still in its buffer at the end
        return PIPE_CLOSED


def _run_command(arguments: Sequence[str] | None) -> int:
    options = build_parser().parse_args(arguments)
    command = options.command or "serve"
    try:
        if options.command and not options.configured:
            return _call(options.work, options)
        from mcp_memory.domain.access import MEANT_SPACE
        from mcp_memory.server.opening import WORKSPACE, configured_space
        from mcp_memory.settings import load

        settings = load(options.config)
        logging.basicConfig(
            stream=sys.stderr, level=settings.server.log_level, format="%(levelname)s %(name)s: %(message)s"
        )
        if getattr(options, "space", None) == WORKSPACE:  # here it is that of the folder
            options.space = configured_space(WORKSPACE)
        meant = MEANT_SPACE.set(configured_space(settings.server.space))
        try:
            if command == "serve":
                return _serve(settings, options)
            return _call(options.work, settings, options)
        finally:
            MEANT_SPACE.reset(meant)  # for a caller in the same process
    except McpMemoryError as error:
        print(f"mcp-memory {command}: {escaped(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, ConfigurationError) else 1
    except KeyboardInterrupt:
        return 130


def _call(place: str, *given: object) -> int:
    """Call the function of a command, also one that waits, and return the exit code."""
    import anyio

    from mcp_memory.commands.terminal import Terminal

    if isinstance(sys.stdout, io.TextIOWrapper):  # stored text may have characters that the terminal cannot encode
        sys.stdout.reconfigure(errors="backslashreplace")
    module, name = place.split(":")
    work, terminal = getattr(import_module(f"mcp_memory.commands.{module}"), name), Terminal()
    done = anyio.run(work, *given, terminal) if inspect.iscoroutinefunction(work) else work(*given, terminal)
    return done or 0


def _serve(settings: Settings, options: argparse.Namespace) -> int:
    from mcp_memory.server.process import opener, serve

    if (address := getattr(options, "http", None)) is None:
        if sys.stdin is not None and sys.stdin.isatty():
            print(WAITING, file=sys.stderr)
        return serve(settings)
    from mcp_memory.server.http import host_and_port, serve_http
    from mcp_memory.wiring import open_access

    return serve_http(settings, host_and_port(address), opener(settings), open_access(settings))
