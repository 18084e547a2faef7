"""``mcp-memory install``: put the server into the file of a client, or take it out again.

What a person set in the entry stays (further variables, switches of the client); only the command and what the options
name are set, so that installing twice changes nothing the second time. A copy of the file is made beside it first.

Another server of our name, mostly the official memory server, stays where it is, and this one is called otherwise.
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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mcp_memory.commands.clients import (
    CLIENTS,
    NAME,
    NAMES,
    REMOTE,
    ClientFile,
    Entry,
    System,
    own_name,
    servers_in,
    started,
)
from mcp_memory.commands.config_files import entry_in, read_text, with_entry
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
    file, usual = client.place(system), client.path[-1]
    text = read_text(file)
    servers = servers_in(client, file, text)
    name = own_name(client, servers, executable())
    if options.uninstall:
        if name is None:
            terminal.line(f"{client.title} does not have it: {file} is as it was.")
        else:
            _set(client, file, text, name, None, terminal, system, dry_run=options.dry_run)
        return
    wanted = name or next(one for one in (usual, *NAMES) if one not in servers)
    if name is None and usual in servers:
        foreign = servers[usual]
        terminal.line(("NOTE ", "bold"), f"{usual!r} in that file is another server: {shlex.join(started(foreign))}")
        terminal.line(f"      It stays, and this one is called {wanted!r}; take the other out to have this one alone.")
        offer_import(foreign, system, terminal)
    there = servers.get(wanted)
    found = client.entry_of(there) if there is not None else None
    held = {key: value for key, value in (there or {}).items() if key not in REMOTE}
    entry = {**held, **client.shape(wanted_entry(options, found, system.environment))}
    entry |= {key: held[key] for key in ("timeout", "startup_timeout_sec") if key in held}
    if entry == there:
        terminal.line(f"{client.title} has it already, just so: {file} is as it was.")
        return
    _set(client, file, text, wanted, entry, terminal, system, dry_run=options.dry_run)
    if not options.dry_run:
        terminal.line(f"{client.restart}; then say: “Remember that …”. To test it: mcp-memory check {options.client}")
        if is_temporary(Path(sys.prefix)):
            remedy = "Install it (uv tool install, pipx install or pip install), and run this command once more."
            terminal.line(("NOTE ", "bold"), f"This program lies in a cache that may be cleared. {remedy}")
        if options.judge in ("auto", "anthropic"):
            terminal.line(f'Claude needs a key: add "ANTHROPIC_API_KEY" beside {VARIABLES["judge"]} in that file.')


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


OFFICIAL = ("server-memory", "mcp/memory", "mcp-server-memory")
"""What names the official memory server in its command."""


def offer_import(entry: Mapping[str, Any], system: System, terminal: Terminal) -> None:
    """Say how the memory of the official server can be brought along, if it is that one."""
    variables = entry.get("env") or entry.get("envs") or {}
    named = str(variables.get("MEMORY_FILE_PATH") or "")
    if not named and not any(word in part for part in started(entry) for word in OFFICIAL):
        return
    caches = [system.home / ".npm", system.folder("LOCALAPPDATA", "AppData/Local") / "npm-cache"]
    if npm := system.environment.get("npm_config_cache"):
        caches.insert(0, Path(npm))
    inside = "_npx/*/node_modules/@modelcontextprotocol/server-memory/dist/memory.json*"
    found = [path for cache in caches for path in sorted(cache.glob(inside))] if not named else []
    file = named or (str(found[0]) if found else "")
    if file.startswith("~"):
        file = str(system.home / file[1:].lstrip("/\\"))
    if file:
        gone = "" if Path(file).is_file() else " (there is no such file now)"
        terminal.line(f"      To bring its memory along{gone}: mcp-memory import --from official {shlex.quote(file)}")
    else:
        terminal.line("      To bring its memory along: mcp-memory import --from official FILE, its memory.jsonl")


def _set(
    client: ClientFile,
    file: Path,
    text: str,
    name: str,
    entry: Mapping[str, Any] | None,
    terminal: Terminal,
    system: System,
    *,
    dry_run: bool,
) -> None:
    """Put an entry into a client's file, or take it out where it is None, and show what changes.

    Raises:
        InvalidInput: the file cannot be changed, and is as it was.
    """
    path = (*client.path[:-1], name)
    if client.form == "yaml":
        rows = [] if entry is None else [f"    {key}: {json.dumps(value)}" for key, value in entry.items()]
        what = "Take this out of" if entry is None else "Put this into"
        terminal.line(f"{what} {file} by hand, which is YAML:")
        for line in (f"{client.path[0]}:", f"  {name}:", *rows):
            terminal.line((line, "name"))
        return
    if client is CLIENTS["claude-code"]:
        steps = [["remove", "--scope", "user", name]] if entry is None or entry_in(file, "json", path, text) else []
        steps += [] if entry is None else [["add-json", "--scope", "user", name, json.dumps(entry)]]
        _run_claude(system, terminal, steps, dry_run=dry_run)
        return
    after = with_entry(file, client.form, path, entry, text)
    terminal.line(f"{'Would change' if dry_run else 'Changing'} {file}:")
    for line in _difference(file, client, text, after):
        terminal.line((line, "name" if line.startswith("+") else "dim"))
    if dry_run:
        return
    try:
        target = file.resolve()  # a link to a file that is kept elsewhere stays a link
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        if target.exists() and entry_in(file, client.form, path, text) is None:
            copy = target.with_name(target.name + SUFFIX)
            with whole_file(copy) as out:
                out.write(target.read_bytes())
            shutil.copystat(target, copy)
            terminal.line((f"The file as it was: {copy}", "dim"))
        with whole_file(target) as out:
            out.write(after.encode())
        target.chmod(mode)  # whatever the process gives new files
    except OSError as error:
        raise InvalidInput(str(file), f"cannot be written ({error.strerror})", "It is as it was.") from None


def _difference(file: Path, client: ClientFile, before: str, after: str) -> Iterator[str]:
    """Yield the lines that change, without the others: they may hold keys of other servers. JSON may be one line."""
    if client.form == "json":
        before, after = (
            json.dumps(entry_in(file, "json", (), one), indent=2) if one.strip() else "" for one in (before, after)
        )
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return (line for line in lines if not line.startswith(("---", "+++", "@@")))


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
