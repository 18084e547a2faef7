"""``mcp-memory install``: put the server into the file of a client, or take it out again.

What a person set in the entry stays (further variables, switches of the client); only the command and what the options
name are set, so that installing twice changes nothing the second time. A copy of the file is made beside it first.

**Another server of our name**, mostly the official memory server, stays where it is, and this one is called otherwise.
With ``--replace`` it makes way: its entry is kept in a file beside the client's, and ``--uninstall`` puts it back.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp_memory.commands.clients import CLIENTS, NAME, ClientFile, Entry, System
from mcp_memory.commands.config_files import SUFFIX, entry_in, read_text, with_entry
from mcp_memory.commands.other_servers import (
    NAMES,
    REMOTE,
    kept_file,
    offer_import,
    own_name,
    read_kept,
    servers_in,
    started,
    tell_of,
    write_kept,
)
from mcp_memory.commands.terminal import Terminal
from mcp_memory.errors import InvalidInput
from mcp_memory.files import whole_file
from mcp_memory.settings import is_unset

VARIABLES = {"space": "MCP_MEMORY_SPACE", "store": "MCP_MEMORY_STORAGE_URI", "judge": "MCP_MEMORY_ENGINE_JUDGE"}
"""The environment variable of each option."""


def install(options: argparse.Namespace, terminal: Terminal, system: System | None = None) -> None:
    """Do what the options say, and print it.

    Raises:
        InvalidInput: the client's file is broken or cannot be written, or its own command is missing or fails.
    """
    if options.client == "print":
        terminal.json({"mcpServers": {NAME: wanted_entry(options, None, os.environ)}})
        return
    system = system or System.current()
    client = CLIENTS[options.client]
    file = client.place(system)
    text = read_text(file)
    servers = servers_in(client, file, text)
    name, usual = own_name(client, servers, executable()), client.path[-1]
    if options.uninstall:
        if name is None:
            terminal.line(f"{client.title} does not have it: {file} is as it was.")
        else:
            _uninstall(client, file, text, name, terminal, system, dry_run=options.dry_run)
        return
    there = servers[name] if name is not None else None
    foreign = servers.get(usual) if name != usual else None
    if foreign is not None and options.replace:
        wanted, goes = usual, [one for one in (name,) if one is not None]
    else:
        wanted, goes = name or next(one for one in (usual, *NAMES) if one not in servers), []
        tell_of(foreign, usual, wanted, options.client, system, terminal)
    found = client.entry_of(there) if there is not None else None
    held = {key: value for key, value in (there or {}).items() if key not in REMOTE}
    entry = {**held, **client.shape(wanted_entry(options, found, system.environment))}
    entry |= {key: held[key] for key in ("timeout", "startup_timeout_sec") if key in held}
    if entry == servers.get(wanted):
        terminal.line(f"{client.title} has it already, just so: {file} is as it was.")
        return
    replaced = servers.get(wanted) if wanted not in (name, None) else None
    if replaced is not None and not options.dry_run:
        write_kept(file, usual, replaced)
    if options.client == "claude-code":
        steps = [["remove", "--scope", "user", one] for one in (*goes, wanted) if one in servers]
        steps.append(["add-json", "--scope", "user", wanted, json.dumps(entry)])
        _run_claude(system, terminal, steps, dry_run=options.dry_run)
    else:
        going = [*(goes if wanted not in goes else ()), *([wanted] if replaced is not None else ())]
        changed = _with_server(file, client, text, wanted, entry, going)  # whole: nothing of the other stays in it
        own = name is not None and _has_nothing_else(file, client, _without(file, client, text, name))
        _change(file, client, text, changed, terminal, dry_run=options.dry_run, fresh=name is None, copy=not own)
    if replaced is not None:
        terminal.line(
            f"In place of {shlex.join(started(replaced))}; --uninstall puts that back from {kept_file(file)}."
        )
        offer_import(replaced, system, terminal)
    if not options.dry_run:
        terminal.line(f"{client.restart}; then say: “Remember that …”. To test it: mcp-memory check {options.client}")
        if is_temporary(Path(sys.prefix)):
            remedy = "Install it (uv tool install, pipx install or pip install), and run this command once more."
            terminal.line(("NOTE ", "bold"), f"This program lies in a cache that may be cleared. {remedy}")
        if options.judge in ("auto", "anthropic"):
            terminal.line(f'Claude needs a key: add "ANTHROPIC_API_KEY" beside {VARIABLES["judge"]} in that file.')


def _uninstall(
    client: ClientFile, file: Path, text: str, name: str, terminal: Terminal, system: System, *, dry_run: bool
) -> None:
    """Take the server out of a client's file, and put back what made way for it, unless that name is taken again."""
    kept = read_kept(file)
    if kept is not None and kept[0] != name and kept[0] in servers_in(client, file, text):
        kept = None
    if client is CLIENTS["claude-code"]:
        steps = [["remove", "--scope", "user", name]]
        if kept is not None:
            steps.append(["add-json", "--scope", "user", kept[0], json.dumps(kept[1])])
        _run_claude(system, terminal, steps, dry_run=dry_run)
    else:
        _take_out(file, client, text, name, kept, terminal, dry_run=dry_run)
    if kept is not None and not dry_run:
        kept_file(file).unlink(missing_ok=True)
        terminal.line(f"{kept[0]!r} is again what it was before: {shlex.join(started(kept[1]))}")


def wanted_entry(options: argparse.Namespace, known: Entry | None, terminal: Mapping[str, str]) -> Entry:
    """Return how the client shall start the server.

    Args:
        options: the options of the command; those that were not given stay as they are in the file.
        known: how it starts it now; None if it does not.
        terminal: the environment variables of the terminal. The client does not see them, so the store's place is
            copied from them into the entry.
    """
    command, *arguments = executable()
    environment = dict(known["env"]) if known else {}
    for option, variable in VARIABLES.items():
        if (value := getattr(options, option)) is not None:
            environment[variable] = _place(value) if option == "store" else value
    if (place := store_of(terminal)) is not None:
        environment.setdefault(VARIABLES["store"], place)
    if options.config is not None:
        environment["MCP_MEMORY_CONFIG"] = str(options.config.expanduser().absolute())
    entry: Entry = {"command": command}
    if arguments:
        entry["args"] = arguments
    if environment:
        entry["env"] = environment
    return entry


def store_of(variables: Mapping[str, str]) -> str | None:
    """Return where the variables of a terminal put the store; None if they do not, so that it is where all look."""
    named = variables.get(VARIABLES["store"], "")
    if not is_unset(named):
        return _place(named)
    data = variables.get("XDG_DATA_HOME", "")
    return str(Path(data) / "mcp-memory" / "store") if Path(data).is_absolute() else None


def executable() -> list[str]:
    """Return the command that starts this program, by its absolute path, since clients have a PATH of their own."""
    name = "mcp-memory.exe" if sys.platform == "win32" else "mcp-memory"
    started = Path(sys.argv[0])
    for place in (started if started.name == name else None, Path(sys.executable).parent / name,
                  Path(sysconfig.get_path("scripts")) / name):  # fmt: skip
        if place is not None and place.is_file() and os.access(place, os.X_OK):
            return [os.path.abspath(place)]  # noqa: PTH100 - without "..", and links stay links
    return [sys.executable, "-m", "mcp_memory"]


def is_temporary(environment: Path) -> bool:
    """Return whether an environment of Python is one that ``uvx`` or ``pipx run`` made, and may clear."""
    parts = set(environment.parts)
    return bool(parts & {"archive-v0", "environments-v2"}) or {".cache", "pipx"} <= parts


def _place(store: str) -> str:
    """Return a store's place as another process can find it: a folder by its absolute path, a URI as it is."""
    return store if "://" in store else str(Path(store).expanduser().absolute())


def _change(
    file: Path, client: ClientFile, before: str, after: str, terminal: Terminal,
    *, dry_run: bool, fresh: bool = False, copy: bool = True,
) -> None:  # fmt: skip
    """Show what changes in a file, and change it, with a copy beside it.

    Args:
        file: the file to change.
        client: the client whose file it is.
        before: its text.
        after: its new text.
        terminal: the terminal that shows the lines.
        dry_run: only show them.
        fresh: whether the file did not have the server before; else an earlier copy is the better one.
        copy: whether to make one at all: of a file that had the server alone there was nothing before.

    Raises:
        InvalidInput: it cannot be written; it is as it was.
    """
    terminal.line(f"{'Would change' if dry_run else 'Changing'} {file}:")
    for line in _difference(file, client, before, after):
        terminal.line((line, "name" if line.startswith("+") else "dim"))
    if dry_run:
        return
    try:
        target = file.resolve()  # a link to a file that is kept elsewhere stays a link
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        kept = _copy_of(target)
        if target.exists() and copy and not (kept.exists() and (not fresh or read_text(kept) == before)):
            kept = _copy_of(target, new=True)
            with whole_file(kept) as out:
                out.write(target.read_bytes())
            shutil.copystat(target, kept)
            terminal.line((f"The file as it was: {kept}", "dim"))
        with whole_file(target) as out:
            out.write(after.encode())
        target.chmod(mode)  # whatever the process gives new files
    except OSError as error:
        raise InvalidInput(str(file), f"cannot be written ({error.strerror})", "It is as it was.") from None


def _copy_of(file: Path, *, new: bool = False) -> Path:
    """Return where the newest copy of a file lies, as it was before the server was put into it.

    Args:
        file: the file.
        new: return where a further copy goes, since none is written over.
    """
    newest = free = file.with_name(file.name + SUFFIX)
    number = 1
    while os.path.lexists(free):
        number += 1
        newest, free = free, file.with_name(f"{file.name}{SUFFIX}-{number}")
    return free if new else newest


def _difference(file: Path, client: ClientFile, before: str, after: str) -> Iterator[str]:
    """Yield the lines that change, without the others: they may hold keys of other servers. JSON may be one line."""
    if client.form == "json":
        texts = (
            json.dumps(entry_in(file, "json", (), one), indent=2) if one.strip() else "" for one in (before, after)
        )
        before, after = texts
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return (line for line in lines if not line.startswith(("---", "+++", "@@")))


def _take_out(
    file: Path,
    client: ClientFile,
    text: str,
    name: str,
    kept: tuple[str, Mapping[str, Any]] | None,
    terminal: Terminal,
    *,
    dry_run: bool,
) -> None:
    """Take the server out of a file; a file that had nothing else, and was not there before, goes."""
    after = _as_before(file, client, text, name, kept)
    if _copy_of(file.resolve()).exists() or not _has_nothing_else(file, client, after):
        _change(file, client, text, after, terminal, dry_run=dry_run)
        return
    terminal.line(f"{'Would remove' if dry_run else 'Removing'} {file}, which has nothing else.")
    if not dry_run:
        try:
            file.resolve().unlink()
        except OSError as error:
            raise InvalidInput(str(file), f"cannot be removed ({error.strerror})", "It is as it was.") from None


def _has_nothing_else(file: Path, client: ClientFile, without: str) -> bool:
    """Return whether a file's text without the server holds nothing, no comment, or an empty list of servers alone."""
    holds = entry_in(file, client.form, (), without) or {}
    return holds in ({}, {client.path[0]: {}}) and not any(sign in without for sign in ("#", "//", "/*"))


def _without(file: Path, client: ClientFile, text: str, name: str) -> str:
    return with_entry(file, client.form, client.at(name), None, text)


def _as_before(file: Path, client: ClientFile, text: str, name: str, kept: tuple[str, Mapping[str, Any]] | None) -> str:
    """Return a file's text without the server; that of the copy, if nothing but empty lines was changed since."""
    bare = _without(file, client, text, name)
    copy = _copy_of(file.resolve())
    if copy.is_file():
        before = read_text(copy)
        other = before if kept is None else _without(file, client, before, kept[0])
        emptied = [bare]
        if client.form == "json" and not entry_in(file, client.form, client.path[:-1], bare):
            emptied.append(with_entry(file, client.form, client.path[:-1], None, bare))
        if any(_lines(one) == _lines(other) for one in emptied):
            return before
    return bare if kept is None else with_entry(file, client.form, client.at(kept[0]), kept[1], bare)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _with_server(
    file: Path, client: ClientFile, text: str, name: str, entry: Mapping[str, Any], goes: Sequence[str]
) -> str:
    """Return a file's text with the server, in place of others that go."""
    for one in goes:
        text = with_entry(file, client.form, client.at(one), None, text)
    return with_entry(file, client.form, client.at(name), entry, text)


def _run_claude(system: System, terminal: Terminal, steps: list[list[str]], *, dry_run: bool) -> None:
    """Run ``claude mcp`` with some arguments, which changes Claude Code's file.

    Raises:
        InvalidInput: there is no such command, or it fails.
    """
    claude = shutil.which("claude", path=system.environment.get("PATH"))
    for step in steps:
        command = ["claude", "mcp", *step]
        shown = [*command[:-1], _without_keys(step[-1])] if step[0] == "add-json" else command
        typed = subprocess.list2cmdline(shown) if system.platform == "win32" else shlex.join(shown)
        terminal.line(f"{'Would run' if dry_run or claude is None else 'Running'}: {typed}")
        if dry_run:
            continue
        if claude is None:
            problem = "the command `claude` is not in PATH"
            raise InvalidInput("claude-code", problem, "Install Claude Code, or run the line above where it is.")
        environment: dict[str, Any] = dict(system.environment)
        done = subprocess.run([claude, *command[1:]], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())[:300]
            raise InvalidInput("claude-code", f"`claude mcp {step[0]}` failed: {said}", "Nothing else was changed.")


def _without_keys(entry: str) -> str:
    """Return the JSON text of an entry as a terminal may show it: a variable that is not ours may hold a key."""
    known = json.loads(entry)
    if "env" in known:
        known["env"] = {key: value if key.startswith("MCP_MEMORY_") else "…" for key, value in known["env"].items()}
    return json.dumps(known, ensure_ascii=False)
