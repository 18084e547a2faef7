"""The arguments of the commands for people, and what ``--help`` shows below them: examples, meanings of exit codes."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mcp_memory.domain.access import SPACE_NAME

SETUP = ("install", "check", "completion")
"""The commands that set the program up, and read no settings."""
CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "codex", "gemini-cli", "goose")
"""What the server can be installed into, see `mcp_memory.commands.clients`."""
COMMANDS = ("show", "search", "list", "export", "import", "backup", "restore", "move", "view")
"""The commands that `mcp_memory.commands.run` runs."""
LISTS = ("facts", "points", "sessions")
KINDS = ("mcp-memory", "chatgpt", "claude", "official", "mem0", "zep", "basic-memory", "text", "csv")
"""What can be imported: a copy of `mcp_memory.services.transfer.foreign.kinds.READERS`, which imports much."""
READINGS = ("id", "session", "entity", "message", "space")
"""What a name can mean to ``show``, in the order in which it is tried."""
MOST_EVIDENCE = 200
"""Items that a recall returns at most."""


def add_commands(commands: Any) -> None:
    """Add the commands to a parser's subcommands (argparse has no public type for them)."""
    show = commands.add_parser("show", help="show spaces, a session, what is known of somebody or something, or an id")
    show.add_argument(
        "name",
        nargs="?",
        type=_words,
        metavar="NAME",
        help="a session, an entity (its facts and their timeline), an id, or a space (its sessions); none: all spaces",
    )
    show.add_argument("--as", dest="reading", choices=READINGS, help="what NAME means, where it could mean several")
    _add_common(show, 50, "at most so many messages, sessions or facts")
    search = commands.add_parser("search", help="recall what is known about something, as a client's model would")
    search.add_argument("query", nargs="+", type=_words, metavar="QUESTION", help="a whole question, or a few words")
    _add_common(search, 12, f"at most so many pieces of evidence, up to {MOST_EVIDENCE}", MOST_EVIDENCE)
    listing = commands.add_parser("list", help="list facts, memory points or sessions, the newest first")
    listing.add_argument("what", choices=LISTS)
    _add_common(listing, 50, "at most so many")
    export = commands.add_parser("export", help="write all that was said and asserted to a file of JSON lines")
    export.add_argument("file", type=_path, metavar="FILE", help="to write; this memory's earlier file is replaced")
    export.add_argument("--replace", action="store_true", help="replace an export of another memory, too")
    export.add_argument("--space", metavar="SPACE", help="only this space; default: all")
    form = export.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="write a folder of Markdown, for people and git")
    form.add_argument("--html", action="store_true", help="write a page that draws one space, for any browser")
    export.set_defaults(entity=None)
    export.add_argument("--with-secrets", action="store_true", help="do not mask keys, passwords and card numbers")
    importing = commands.add_parser(
        "import", help="store what an export of mcp-memory, or of another program, holds; twice changes nothing"
    )
    importing.add_argument("file", type=_path, metavar="FILE", help="to read: a file, a folder or a zip archive")
    importing.add_argument("--from", dest="kind", choices=KINDS, help="what it is; default: told by its content")
    importing.add_argument("--dry-run", action="store_true", help="say what would be stored, and store nothing")
    importing.add_argument("--again", action="store_true", help="also store what was forgotten here")
    importing.add_argument("--processes", type=_positive, metavar="N", help="that embed a large corpus of others")
    into = importing.add_mutually_exclusive_group()
    into.add_argument("--space", type=_space, metavar="SPACE", help="the space that it goes into; default: its own")
    into.add_argument(
        "--map",
        type=_renaming,
        action="append",
        metavar="OLD=NEW",
        help="another name for a space of the file; may be repeated",
    )
    _add_view(commands)
    _add_backup(commands)
    _add_forget(commands)
    _add_token(commands)


def _add_view(commands: Any) -> None:
    view = commands.add_parser("view", help="look at the memory as a graph, in the browser")
    view.add_argument("--space", metavar="SPACE", help="the space to show; default: the default space")
    view.add_argument("--entity", type=_words, metavar="NAME", help="begin with what is around it")
    view.add_argument("--no-browser", dest="browser", action="store_false", help="only print where the page is")


def _add_backup(commands: Any) -> None:
    backup = commands.add_parser("backup", help="copy the whole memory into one file, while servers run")
    backup.add_argument("file", type=_path, metavar="FILE", help="to write")
    backup.add_argument("--replace", action="store_true", help="replace an earlier backup of that name")
    restore = commands.add_parser("restore", help="put a memory back from a backup, in an empty or new place")
    restore.add_argument("file", type=_path, metavar="FILE", help="of `mcp-memory backup`, or one that the memory made")
    restore.add_argument("--replace", action="store_true", help="replace the memory that is there, after backing it up")
    restore.add_argument("--again", action="store_true", help="bring back what was forgotten there, too")
    move = commands.add_parser("move", help="move the whole memory to another folder")
    move.add_argument("to", type=_path, metavar="TO", help="a new or an empty folder")


def add_setup(commands: Any) -> None:
    """Add the commands that set the program up."""
    install = commands.add_parser(
        "install",
        help="put the server into a client, or take it out",
        description="Put the server into the file of a client. What else stands there stays, and a copy is made.",
    )
    install.add_argument("client", choices=(*CLIENTS, "print"), help="or print: JSON to paste elsewhere")
    install.add_argument(
        "--space", type=_space, metavar="SPACE", help="of calls that name none; workspace: one for each project"
    )
    install.add_argument("--store", type=_words, metavar="PLACE", help="a folder, or a URI that LanceDB opens")
    install.add_argument("--judge", choices=("embedded", "auto", "anthropic"), help="who judges (engine.judge)")
    install.add_argument("--uninstall", action="store_true", help="take it out again; what is stored stays")
    install.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    check = commands.add_parser(
        "check",
        help="start the server as a client would, and see that it remembers",
        description="Start the server with the command and the variables of a client's file, greet it as older and "
        "newer clients do, store a message in a space of its own, find it, and forget it.",
    )
    check.add_argument("client", nargs="?", choices=CLIENTS, help="as this client starts it; default: as this terminal")
    completion = commands.add_parser("completion", help="print a script that completes commands in a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish", "powershell", "tcsh"))


def _add_forget(commands: Any) -> None:
    forget = commands.add_parser("forget", help="say what would be forgotten, and with --token or --yes forget it")
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
    deed.add_argument(
        "--undo", nargs="?", const="last", metavar="NAME", help="take back what is kept (forget.keep_days)"
    )
    deed.add_argument("--token", type=_words, metavar="TOKEN", help="do it, as previewed: the preview names it")
    deed.add_argument("--yes", action="store_true", help="do it without looking at a preview first")


def _add_token(commands: Any) -> None:
    token = commands.add_parser("token", help="make, list and revoke the tokens of callers over HTTP")
    deeds = token.add_subparsers(dest="deed", metavar="DEED", required=True)
    add = deeds.add_parser("add", help="make a token and print it, this once")
    add.add_argument("name", type=_words, metavar="NAME", help="whose it is; the audit log names them so")
    add.add_argument(
        "--space", dest="spaces", action="append", required=True, metavar="SPACE",
        help="that it is for, or a beginning of names with * behind it; may be repeated",
    )  # fmt: skip
    add.add_argument(
        "--rights", default="read,write", metavar="RIGHTS", help="of read, write, forget (default: read,write)"
    )
    add.add_argument("--days", type=_days, metavar="N", help="after which it is void; default: never")
    add.add_argument("--tenant", default="", metavar="TENANT", help="whose store it is for (storage.uri with {tenant})")
    deeds.add_parser("list", help="list them, without the tokens themselves")
    revoke = deeds.add_parser("revoke", help="make one void, at once")
    revoke.add_argument("name", type=_words, metavar="NAME")


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 36_500):
        raise argparse.ArgumentTypeError(f"{text[:20]!a} is not a number of days")
    return int(text)


def _add_common(parser: argparse.ArgumentParser, limit: int, limit_help: str, most: int = 10**9) -> None:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= most):
            raise argparse.ArgumentTypeError(f"{text[:20]!a} is not a whole number from 1 to {most:,}")
        return int(text)

    parser.add_argument("--space", metavar="SPACE", help="the space to look into; default: the default space")
    parser.add_argument("--limit", type=number, default=limit, metavar="N", help=f"{limit_help} (default {limit})")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1_000):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 999")
    return int(text)


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


def _renaming(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text[:60]!a} is not of the form OLD=NEW")
    return _space(old), _space(new)


EXIT_CODES: Final = "exit codes: 0 success, 1 a problem was found, 2 wrong usage or settings, 130 interrupted"
WIDTH: Final = 78
"""Characters of a line of a description."""
PROGRAM: Final = """\
  mcp-memory install claude-desktop       put the server into a client
  mcp-memory check claude-desktop         start it as that client does, and see that it remembers
  mcp-memory status                       what is stored, where, and whether it is well
  mcp-memory search "Where does Ines live?"
  mcp-memory import chatgpt-export.zip --dry-run"""
EXAMPLES: Final[Mapping[str, str]] = {
    "serve": """\
  mcp-memory serve
  MCP_MEMORY_SPACE=work mcp-memory serve""",
    "demo": "  mcp-memory demo",
    "status": """\
  mcp-memory status
  MCP_MEMORY_STORAGE_URI=/mnt/memory mcp-memory status""",
    "install": """\
  mcp-memory install claude-desktop
  mcp-memory install cursor --space workspace --dry-run
  mcp-memory install codex --uninstall""",
    "check": """\
  mcp-memory check
  mcp-memory check claude-desktop""",
    "completion": """\
  mcp-memory completion bash > ~/.local/share/bash-completion/completions/mcp-memory
  mcp-memory completion fish > ~/.config/fish/completions/mcp-memory.fish""",
    "show": """\
  mcp-memory show                         all spaces
  mcp-memory show Ines                    what is known of somebody, with its timeline
  mcp-memory show --space work --json""",
    "search": """\
  mcp-memory search "Where does Ines live?"
  mcp-memory search "octopus feeding" --space work --limit 5""",
    "list": """\
  mcp-memory list facts
  mcp-memory list sessions --space work --limit 10""",
    "export": """\
  mcp-memory export memory.jsonl
  mcp-memory export notes --markdown --space work
  mcp-memory export memory.html --html    a page that draws the default space""",
    "view": """\
  mcp-memory view                         the default space in the browser
  mcp-memory view --entity Ines --no-browser""",
    "import": """\
  mcp-memory import chatgpt-export.zip --dry-run
  mcp-memory import memory.jsonl --map work=archive
  mcp-memory import corpus.csv --space archive --processes 8""",
    "backup": "  mcp-memory backup memory.backup",
    "restore": """\
  mcp-memory restore memory.backup
  mcp-memory restore memory.backup --replace""",
    "move": "  mcp-memory move /mnt/memory",
    "forget": """\
  mcp-memory forget --session letters             say what would go, and a token
  mcp-memory forget --session letters --token 3f9c2a1b
  mcp-memory forget m42 --yes""",
    "token": """\
  mcp-memory token add ann --space ann
  mcp-memory token list
  mcp-memory token revoke ann""",
    "doctor": """\
  mcp-memory doctor
  mcp-memory doctor --rebuild""",
    "eval": """\
  mcp-memory eval data/NAME --questions 200 --json before.json
  mcp-memory eval data/NAME --questions 200 --switch words=false --against before.json""",
}
"""The examples of each command. Each line is a command; what follows several spaces is a remark."""


def add_examples(parser: argparse.ArgumentParser, commands: Any) -> None:
    """Add examples and exit codes to the help of the program and of each of its commands."""
    shown = {parser: PROGRAM, **{commands.choices[name]: text for name, text in EXAMPLES.items()}}
    for one, examples in shown.items():
        one.formatter_class = argparse.RawDescriptionHelpFormatter
        one.description = textwrap.fill(one.description, WIDTH) if one.description else None
        one.epilog = f"examples:\n{examples}\n\n{EXIT_CODES}"
