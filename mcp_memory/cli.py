"""The command line: ``mcp-memory`` and its commands.

Only this file, ``commands`` and ``evaluation`` print, since the server's stdout carries the protocol. Each command
imports what it needs when it runs, so that ``serve`` replies to its client without delay.
"""

from __future__ import annotations

import argparse
import gc
import io
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_memory import __version__
from mcp_memory.commands.arguments import COMMANDS, SETUP, add_commands, add_examples, add_setup
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
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.command == "eval":
        check_files(parser, options)
    command = options.command or "serve"
    try:
        if command in SETUP:
            return _set_up(options, parser)
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
        if arguments is None and command in ("list", "show", "status"):
            gc.disable()  # the process ends soon; collecting while modules are imported takes a tenth of its time
        try:
            return _run(command, settings, options)
        finally:
            MEANT_SPACE.reset(meant)  # for a caller in the same process
    except McpMemoryError as error:
        print(f"mcp-memory {command}: {escaped(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, ConfigurationError) else 1
    except KeyboardInterrupt:
        return 130


def _set_up(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Run a command that sets the program up, without reading the settings; return 0, or 1 if a check found a problem.

    Raises:
        InvalidInput: a client's file cannot be used.
    """
    from mcp_memory.commands.terminal import Terminal

    terminal = Terminal()
    if options.command == "install":
        from mcp_memory.commands.install import install

        install(options, terminal)
        return 0
    if options.command == "check":
        from mcp_memory.commands.check import check

        return check(options, terminal)
    import shtab

    print(shtab.complete(parser, shell=options.shell))
    return 0


def _run(command: str, settings: Settings, options: argparse.Namespace) -> int:
    if command == "serve":
        from mcp_memory.server.process import opener, serve

        if (address := getattr(options, "http", None)) is None:
            if sys.stdin is not None and sys.stdin.isatty():
                print(WAITING, file=sys.stderr)
            return serve(settings)
        from mcp_memory.server.http.access import open_access
        from mcp_memory.server.http.process import address_of, serve_http

        return serve_http(settings, address_of(address), opener(settings), open_access(settings))
    if isinstance(sys.stdout, io.TextIOWrapper):  # stored text may have characters that the terminal cannot encode
        sys.stdout.reconfigure(errors="backslashreplace")
    if command == "token":
        from mcp_memory.commands.tokens import token

        return token(settings, options)
    if command in COMMANDS:
        from mcp_memory.commands.run import run

        return run(settings, options)
    if command == "forget":
        from mcp_memory.commands.care import forget

        return forget(settings, options)
    if command == "demo":
        from mcp_memory.evaluation.demo import demo

        return demo()
    if command == "eval":
        from mcp_memory.commands.terminal import ProgressBar
        from mcp_memory.evaluation.evaluate import evaluate

        bar = ProgressBar("items")
        try:
            return evaluate(settings, options, bar.show)
        finally:
            bar.end()
    if command == "status":
        from mcp_memory.commands.health import status

        return status(settings)
    from mcp_memory.commands.care import doctor

    return doctor(settings, rebuild=options.rebuild, re_embed=options.re_embed, repair=options.repair, yes=options.yes)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="mcp-memory",
        description="A long-term memory for any client of the Model Context Protocol. Without a command it serves the "
        "client that started it.",
    )
    parser.add_argument("--version", action="version", version=f"mcp-memory {__version__}")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings (config.example.toml tells them all)")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("demo", help="start a server on an empty store, write, recall and ask, and show what happens")
    add_setup(commands)
    commands.add_parser(
        "status",
        help="say what the memory holds, where, and whether it is well",
        description="Say whether the memory is well, where it lies, how much each space holds, and what leaves the "
        "machine.",
    )
    add_commands(commands)
    doctor = commands.add_parser(
        "doctor",
        help="look for damage, and mend what can be mended",
        description="Check the model and every table of the store, and say what is damaged and which command mends it. "
        "Without an option nothing is changed.",
    )
    mend = doctor.add_mutually_exclusive_group()
    mend.add_argument(
        "--rebuild", action="store_true", help="read all that was said again, and make facts, vectors and indexes again"
    )
    mend.add_argument("--re-embed", action="store_true", help="the same, with the embedder that is configured now")
    mend.add_argument("--repair", action="store_true", help="take back what a damaged store still has; asks first")
    doctor.add_argument("--yes", action="store_true", help="give up without asking what no repair can bring back")
    serve = commands.add_parser("serve", help="serve over stdio (the default; a client starts this), or over HTTP")
    serve.add_argument("--http", metavar="HOST:PORT", help="listen there for many clients, such as 127.0.0.1:8765")
    _add_eval(commands)
    add_examples(parser, commands)
    return parser


def _add_eval(commands: Any) -> None:
    evaluate = commands.add_parser(
        "eval",
        help="measure on a data set how much of the annotated evidence a recall finds",
        description="Write a data set into an empty store, ask its questions, and say how much of the evidence was "
        "found, by kind of question, with 95 % intervals.",
    )
    evaluate.add_argument(
        "data",
        type=Path,
        metavar="DATA",
        help="path without the endings of DATA.questions.jsonl and DATA.(conversations|corpus).jsonl",
    )
    evaluate.add_argument("--questions", type=_positive, metavar="N", help="an even sample of so many")
    evaluate.add_argument(
        "--switch", action="append", metavar="NAME=false", help="without a mechanism; may be repeated"
    )
    evaluate.add_argument("--store", type=Path, metavar="FOLDER", help="keep the store here, and write only once")
    evaluate.add_argument("--json", type=Path, metavar="FILE", help="also write every question's figures here")
    evaluate.add_argument("--against", type=Path, metavar="FILE", help="of an earlier --json: print paired differences")


def check_files(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Reject output files that cannot be written, before anything is measured."""
    for option, file in (("--json", options.json), ("--plot", getattr(options, "plot", None))):
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            parser.error(f"{option} {file}: " + ("that is a folder" if file.is_dir() else "there is no such folder"))


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
