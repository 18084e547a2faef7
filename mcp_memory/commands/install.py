"""``mcp-memory install``: put the server into the file of a client, or take it out again.

What a person set in the entry stays (further variables, switches of the client); only the command and what the options
name are set, so that installing twice changes nothing the second time. A copy of the file is made beside it first.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mcp_memory.commands.clients import CLIENTS, NAME, Entry, System, entry_of, read_client_file
from mcp_memory.commands.terminal import Terminal
from mcp_memory.errors import InvalidInput
from mcp_memory.files import whole_file
from mcp_memory.settings import is_unset

VARIABLES = {"space": "MCP_MEMORY_SPACE", "store": "MCP_MEMORY_STORAGE_URI", "judge": "MCP_MEMORY_ENGINE_JUDGE"}
"""The environment variable of each option."""
SUFFIX: Final = ".before-mcp-memory"
"""What the name of the copy ends in: the file as it was before the server was put into it."""


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
    text, entry = read_client_file(file), None
    try:
        held = client.written(file, text)
        if not options.uninstall:
            known = entry_of(held) if held else None
            entry = {**(held or {}), **client.shape(wanted_entry(options, known, system.environment))}
            entry |= {key: held[key] for key in ("timeout", "startup_timeout_sec") if held and key in held}
        after = client.with_entry(file, entry, text)
    except InvalidInput:
        if not options.uninstall:
            new = client.shape(wanted_entry(options, None, system.environment))
            terminal.line(f"To put into {file} by hand:")
            terminal.line((client.with_entry(file, new, "").rstrip(), "name"))
        raise
    if entry == held:
        has = "does not have it" if held is None else "has it already, just so"
        terminal.line(f"{client.title} {has}: {file} is as it was.")
        return
    if options.client == "claude-code":
        steps = [] if held is None else [["remove", "--scope", "user", NAME]]
        steps += [] if entry is None else [["add-json", "--scope", "user", NAME, json.dumps(entry)]]
        _run_claude(system, terminal, steps, dry_run=options.dry_run)
    else:
        if not options.dry_run:
            _write(file, after, terminal, copied=held is None)
        done = f"{'would be' if options.dry_run else 'was'} {'taken out of' if entry is None else 'put into'}"
        terminal.line(f"This {done} {file}:")
        shown = {client.group: {NAME: _without_keys((held or {}) if entry is None else entry)}}
        terminal.line((json.dumps(shown, ensure_ascii=False), "name"))
    if entry is not None and not options.dry_run:
        terminal.line(f"{client.restart}; then say: “Remember that …”. To test it: mcp-memory check {options.client}")
        if options.judge in ("auto", "anthropic"):
            terminal.line(f'Claude needs a key: add "ANTHROPIC_API_KEY" beside {VARIABLES["judge"]} in that file.')


def wanted_entry(options: argparse.Namespace, known: Entry | None, terminal: Mapping[str, str]) -> Entry:
    """Return how the client shall start the server, given how it starts it now, if it does.

    What no option says stays as it is in the file. The client does not see the environment variables of the terminal,
    so the store's place is copied from them into the entry.
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


def _place(store: str) -> str:
    """Return a store's place as another process can find it: a folder by its absolute path, a URI as it is."""
    return store if "://" in store else str(Path(store).expanduser().absolute())


def _write(file: Path, text: str, terminal: Terminal, *, copied: bool) -> None:
    """Write a client's file, beside a copy of what it was if ``copied``.

    Raises:
        InvalidInput: it cannot be written, and is as it was.
    """
    try:
        target = file.resolve()  # a link to a file that is kept elsewhere stays a link
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        if target.exists() and copied:
            copy = target.with_name(target.name + SUFFIX)
            with whole_file(copy) as out:
                out.write(target.read_bytes())
            shutil.copystat(target, copy)
            terminal.line((f"The file as it was: {copy}", "dim"))
        with whole_file(target) as out:
            out.write(text.encode())
        target.chmod(mode)  # whatever the process gives new files
    except OSError as error:
        raise InvalidInput(str(file), f"cannot be written ({error.strerror})", "It is as it was.") from None


def _run_claude(system: System, terminal: Terminal, steps: list[list[str]], *, dry_run: bool) -> None:
    """Run ``claude mcp`` with some arguments, which changes Claude Code's file.

    Raises:
        InvalidInput: there is no such command, or it fails.
    """
    claude = shutil.which("claude", path=system.environment.get("PATH"))
    for step in steps:
        last = json.dumps(_without_keys(json.loads(step[-1]))) if step[0] == "add-json" else step[-1]
        shown = ["claude", "mcp", *step[:-1], last]
        typed = subprocess.list2cmdline(shown) if system.platform == "win32" else shlex.join(shown)
        terminal.line(f"{'Would run' if dry_run or claude is None else 'Running'}: {typed}")
        if dry_run:
            continue
        if claude is None:
            problem = "the command `claude` is not in PATH"
            raise InvalidInput("claude-code", problem, "Install Claude Code, or run the line above where it is.")
        environment: dict[str, Any] = dict(system.environment)
        done = subprocess.run([claude, "mcp", *step], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())[:300]
            raise InvalidInput("claude-code", f"`claude mcp {step[0]}` failed: {said}", "Nothing else was changed.")


def _without_keys(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry as a terminal may show it: a variable that is not ours may hold a key."""
    variables = {key: value if key.startswith("MCP_MEMORY_") else "…" for key, value in entry.get("env", {}).items()}
    return {**entry, "env": variables} if variables else dict(entry)
