"""The commands: what does each, what it takes, and what ``--help`` shows below it: examples, meanings of exit codes.

It is imported with every command, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Final

from mcp_memory import __version__
from mcp_memory.domain.access import SPACE_NAME

CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "codex", "gemini-cli")
"""What the server can be installed into, see `mcp_memory.commands.install`."""
KINDS = ("mcp-memory", "chatgpt", "claude", "official", "mem0", "text")
"""What can be imported: a copy of `mcp_memory.services.transfer.kinds.READERS`, which imports much."""
MOST_EVIDENCE = 200
"""Items that a recall returns at most."""
EXIT_CODES: Final = (
    "exit codes: 0 success, 1 a problem was found, 2 wrong usage or settings, 130 interrupted, 141 nobody reads on"
)
EXAMPLES: Final = """\
mcp-memory install claude-desktop       put the server into a client
mcp-memory check claude-desktop         start it as that client does, and see that it remembers
mcp-memory status                       what is stored, where, and whether it is well
mcp-memory search "Where does Ines live?"
mcp-memory import chatgpt-export.zip --dry-run"""
"""Each line is a command; what follows several spaces is a remark."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="mcp-memory",
        description="A long-term memory for any client of the Model Context Protocol. Without a command it serves the "
        "client that started it.",
        epilog=_epilog(EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"mcp-memory {__version__}")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings (config.example.toml tells them all)")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(
        name: str, work: str | None, about: str, examples: str, *, configured: bool = True
    ) -> argparse.ArgumentParser:
        """Add a command that the function ``work`` does; it takes the settings, if configured, options and terminal."""
        form = argparse.RawDescriptionHelpFormatter
        made: argparse.ArgumentParser = commands.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=_epilog(examples),
            formatter_class=form,
        )
        made.set_defaults(work=work, configured=configured)
        return made

    command(
        "demo",
        "trials:demo",
        "start a server on an empty store, write, recall and ask, and show what happens",
        "mcp-memory demo",
    )
    _add_setup_commands(command)
    command(
        "status",
        "care:status",
        "say what the memory holds, where, whether it is well, and what leaves the machine",
        "mcp-memory status\nMCP_MEMORY_STORAGE_URI=/mnt/memory mcp-memory status",
    )
    _add_looking_commands(command)
    _add_moving_commands(command)
    _add_forget(command)
    _add_token(command)
    _add_doctor(command)
    serve = command(
        "serve",
        None,
        "serve over stdio (the default; a client starts this), or over HTTP",
        "mcp-memory serve\nMCP_MEMORY_SPACE=work mcp-memory serve",
    )
    serve.add_argument("--http", metavar="HOST:PORT", help="listen there for many clients, such as 127.0.0.1:8765")
    return parser


def _epilog(examples: str) -> str:
    return f"examples:\n{textwrap.indent(examples, '  ')}\n\n{EXIT_CODES}"


Command = Callable[..., argparse.ArgumentParser]


def _add_setup_commands(command: Command) -> None:
    """Add the commands that set the program up, and read no settings."""
    install = command(
        "install",
        "install:install",
        "put the server into the file of a client, where all else stays, or take it out",
        "mcp-memory install claude-desktop\nmcp-memory install cursor --space workspace --dry-run\n"
        "mcp-memory install codex --uninstall",
        configured=False,
    )
    install.add_argument("client", choices=(*CLIENTS, "print"), help="or print: JSON to paste elsewhere")
    install.add_argument(
        "--space", type=_space, metavar="SPACE", help="of calls that name none; workspace: one for each project"
    )
    install.add_argument("--store", type=_words, metavar="PLACE", help="a folder, or a URI that LanceDB opens")
    install.add_argument("--judge", choices=("embedded", "auto", "anthropic"), help="who judges (engine.judge)")
    install.add_argument("--uninstall", action="store_true", help="take it out again; what is stored stays")
    install.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    check = command(
        "check",
        "trials:check",
        "start the server as a client would, and see that it remembers",
        "mcp-memory check\nmcp-memory check claude-desktop",
        configured=False,
    )
    check.add_argument("client", nargs="?", choices=CLIENTS, help="as this client starts it; default: as this terminal")


def _add_looking_commands(command: Command) -> None:
    show = command(
        "show",
        "show:show",
        "show a session, what is known of somebody or something, or what has an id or a title",
        "mcp-memory show Ines                    what is known of somebody, with its timeline\n"
        "mcp-memory show letters --space work --json",
    )
    show.add_argument(
        "name", type=_words, metavar="NAME", help="a session, an entity (with its timeline), an id or a title"
    )
    _add_common(show, 50, "at most so many messages, sessions or facts")
    search = command(
        "search",
        "show:search",
        "recall what is known about something, as a client's model would",
        'mcp-memory search "Where does Ines live?"\nmcp-memory search "octopus feeding" --space work --limit 5',
    )
    search.add_argument("query", nargs="+", type=_words, metavar="QUESTION", help="a whole question, or a few words")
    _add_common(search, 12, f"at most so many pieces of evidence, up to {MOST_EVIDENCE}", MOST_EVIDENCE)
    listing = command(
        "list",
        "show:list_",
        "list facts, memory points or sessions, the newest first",
        "mcp-memory list facts\nmcp-memory list sessions --space work --limit 10",
    )
    listing.add_argument("what", choices=("facts", "points", "sessions"))
    _add_common(listing, 50, "at most so many")
    view = command(
        "view",
        "view:view",
        "look at the memory as a graph, in the browser",
        "mcp-memory view                         the default space in the browser\n"
        "mcp-memory view --entity Ines --no-browser",
    )
    view.add_argument("--space", metavar="SPACE", help="the space to show; default: the default space")
    view.add_argument("--entity", type=_words, metavar="NAME", help="begin with what is around it")
    view.add_argument("--no-browser", dest="browser", action="store_false", help="only print where the page is")


def _add_common(parser: argparse.ArgumentParser, limit: int, limit_help: str, most: int = 10**9) -> None:
    parser.add_argument("--space", metavar="SPACE", help="the space to look into; default: the default space")
    parser.add_argument(
        "--limit", type=_number(most), default=limit, metavar="N", help=f"{limit_help} (default {limit})"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def _add_moving_commands(command: Command) -> None:
    export = command(
        "export",
        "transfer:export",
        "write what was said and stated to a file of JSON lines; what was learnt is in a backup only",
        "mcp-memory export memory.jsonl\nmcp-memory export work.jsonl --space work",
    )
    export.add_argument("file", type=_path, metavar="FILE", help="to write")
    export.add_argument("--replace", action="store_true", help="replace a file of that name")
    export.add_argument("--space", metavar="SPACE", help="only this space; default: all")
    export.add_argument("--with-secrets", action="store_true", help="do not mask keys, passwords and card numbers")
    importing = command(
        "import",
        "transfer:import_",
        "store what an export of mcp-memory, or of another program, holds; twice changes nothing",
        "mcp-memory import chatgpt-export.zip --dry-run\nmcp-memory import work.jsonl --space archive",
    )
    importing.add_argument("file", type=_path, metavar="FILE", help="to read: a file, a folder or a zip archive")
    importing.add_argument("--from", dest="kind", choices=KINDS, help="what it is; default: told by its content")
    importing.add_argument("--dry-run", action="store_true", help="say what would be stored, and store nothing")
    importing.add_argument(
        "--space", type=_space, metavar="SPACE", help="the space that it goes into; default: its own"
    )
    backup = command(
        "backup",
        "transfer:backup",
        "copy the whole memory, with what it learnt, into one file, while servers run",
        "mcp-memory backup memory.backup",
    )
    backup.add_argument("file", type=_path, metavar="FILE", help="to write")
    backup.add_argument("--replace", action="store_true", help="replace a file of that name")
    restore = command(
        "restore",
        "transfer:restore_",
        "put a memory back from a backup, in an empty or new place",
        "mcp-memory restore memory.backup",
    )
    restore.add_argument("file", type=_path, metavar="FILE", help="of `mcp-memory backup`")


def _add_forget(command: Command) -> None:
    forget = command(
        "forget",
        "care:forget",
        "say what would be forgotten, and with --token or --yes forget it",
        "mcp-memory forget --session letters             say what would go, and a token\n"
        "mcp-memory forget --session letters --token 3f9c2a1b\nmcp-memory forget m42 --yes",
    )
    forget.add_argument(
        "ids", nargs="*", type=_words, metavar="ID", help="of messages, documents, facts, memory points or evidence"
    )
    forget.add_argument(
        "--session", type=_words, metavar="NAME", help="a whole session, or the one that the ids are of"
    )
    forget.add_argument(
        "--entity", type=_words, metavar="NAME", help="what somebody said, and what is about them alone"
    )
    forget.add_argument("--query", type=_words, metavar="WORDS", help="the messages that a search for these finds")
    forget.add_argument("--since", metavar="DATE", help="what was said from then on")
    forget.add_argument("--until", metavar="DATE", help="what was said before then, or on that day")
    forget.add_argument("--everything", action="store_true", help="the whole space")
    forget.add_argument("--space", metavar="SPACE", help="the space it is in; default: the default space")
    forget.add_argument("--json", action="store_true", help="print JSON, for programs")
    deed = forget.add_mutually_exclusive_group()
    deed.add_argument("--token", type=_words, metavar="TOKEN", help="do it, as previewed: the preview names it")
    deed.add_argument("--yes", action="store_true", help="do it without looking at a preview first")


def _add_token(command: Command) -> None:
    token = command(
        "token",
        "care:token",
        "make, list and revoke the tokens of callers over HTTP",
        "mcp-memory token add ann --space ann\nmcp-memory token list\nmcp-memory token revoke ann",
    )
    deeds = token.add_subparsers(dest="deed", metavar="DEED", required=True)
    add = deeds.add_parser("add", help="make a token and print it, this once")
    add.add_argument("name", type=_words, metavar="NAME", help="whose it is")
    add.add_argument(
        "--space", dest="spaces", action="append", required=True, metavar="SPACE",
        help="that it is for, or a beginning of names with * behind it; may be repeated",
    )  # fmt: skip
    add.add_argument(
        "--rights", default="read,write", metavar="RIGHTS", help="read, perhaps write and forget (default: read,write)"
    )
    add.add_argument("--days", type=_number(36_500), metavar="N", help="after which it is void; default: never")
    deeds.add_parser("list", help="list them, without the tokens themselves")
    revoke = deeds.add_parser("revoke", help="make one void, at once")
    revoke.add_argument("name", type=_words, metavar="NAME")


def _add_doctor(command: Command) -> None:
    doctor = command(
        "doctor",
        "care:doctor",
        "look for damage, and say which command mends it; without an option nothing is changed",
        "mcp-memory doctor\nmcp-memory doctor --rebuild",
    )
    told = (
        "read all that was said again, and make facts, vectors and indexes again, with the embedder that is configured"
    )
    doctor.add_argument("--rebuild", action="store_true", help=told)


def _number(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= most):
            raise argparse.ArgumentTypeError(f"{text[:20]!a} is not a whole number from 1 to {most:,}")
        return int(text)

    return number


def _path(text: str) -> Path:
    """Return the path of a file or folder; what is written is moved into place, and a pipe or device would be lost."""
    path = Path(text)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise argparse.ArgumentTypeError(f"{text} is a device, a pipe or a socket; name a file")
    return path


def _words(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty")
    return text


def _space(text: str) -> str:
    if not SPACE_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text[:60]!a} is not the name of a space")
    return text
