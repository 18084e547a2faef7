"""The servers in a client's file: which one is this program, and what to say and do about another one of its name.

That is mostly the official memory server. Its memory can be imported, and its entry is kept where it makes way.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_memory.commands.clients import ClientFile, Entry, System
from mcp_memory.commands.config_files import entry_in
from mcp_memory.commands.terminal import Terminal
from mcp_memory.errors import InvalidInput
from mcp_memory.files import whole_file

NAMES = ("mcp-memory", "mcp-memory-2")
"""What the server is called where another one has its usual name."""
REMOTE = frozenset(("url", "serverUrl", "httpUrl", "uri", "type", "transport", "headers", "http_headers", "socket"))
"""Fields of a server that is not started but connected to; they never stand beside a command."""


def servers_in(client: ClientFile, file: Path, text: str | None = None) -> dict[str, Mapping[str, Any]]:
    """Return the servers in a client's file, by name.

    Raises:
        InvalidInput: the file is broken; with the line.
    """
    found = entry_in(file, client.form, client.path[:-1], text)
    return {name: one for name, one in found.items() if isinstance(one, Mapping)} if isinstance(found, Mapping) else {}


def own_name(client: ClientFile, servers: Mapping[str, Mapping[str, Any]], started_by: list[str]) -> str | None:
    """Return what this server is called among those of a client; None if it is not among them.

    Args:
        client: the client.
        servers: its servers by name.
        started_by: the command that starts this program here.
    """
    names = dict.fromkeys((client.path[-1], *NAMES, *servers))
    return next(
        (name for name in names if name in servers and is_ours(client.entry_of(servers[name]), started_by)), None
    )


def is_ours(entry: Entry, started_by: list[str]) -> bool:
    """Return whether an entry starts this program.

    The package index has another program of its name, so ``uvx mcp-memory`` alone is not it.
    """
    command, arguments = Path(entry["command"].replace("\\", "/")).name.casefold(), entry["args"]
    if any(name.startswith("MCP_MEMORY_") for name in entry["env"]) or [entry["command"], *arguments] == started_by:
        return True
    if command.removesuffix(".exe") == "mcp-memory":
        return True
    named = "mcp_memory" in arguments[arguments.index("-m") + 1 :][:1] if "-m" in arguments else False
    return named or ("--from" in arguments and "mcp-memory" in arguments)


def started(entry: Mapping[str, Any]) -> list[str]:
    """Return how a server is started, or its address, in words that can be shown: variables may hold keys."""
    address = next((str(entry[name]) for name in ("url", "serverUrl", "httpUrl", "uri") if entry.get(name)), "")
    command = str(entry.get("command") or entry.get("cmd") or address or "a server without a command")
    return [command, *map(str, entry.get("args") or ())]


def tell_of(
    foreign: Mapping[str, Any] | None, name: str, own: str, client: str, system: System, terminal: Terminal
) -> None:
    """Say that another server has the usual name, and what can be done about it."""
    if foreign is None:
        return
    terminal.line(("NOTE ", "bold"), f"{name!r} in that file is another server: {shlex.join(started(foreign))}")
    terminal.line(f"      It stays, and this one is called {own!r}; to put it in the other's place:")
    terminal.line(f"      mcp-memory install {client} --replace")
    offer_import(foreign, system, terminal)


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


def kept_file(file: Path) -> Path:
    """Return where the entry of a server is kept that made way for this one."""
    target = file.resolve()
    return target.with_name(f"{target.name}.replaced-by-mcp-memory")


def write_kept(file: Path, name: str, entry: Mapping[str, Any]) -> None:
    """Keep the entry of a server that makes way, readable for its owner alone: it may hold keys.

    Raises:
        InvalidInput: it cannot be written; nothing was changed.
    """
    kept = kept_file(file)
    if os.path.lexists(kept) and read_kept(file) is None:
        raise InvalidInput(str(kept), "is in the way: this program did not write it", "Move it elsewhere.")
    try:
        with whole_file(kept) as out:
            out.write(json.dumps({"name": name, "entry": entry}, indent=1, default=str).encode())
    except OSError as error:
        raise InvalidInput(str(kept), f"cannot be written ({error.strerror})", "Nothing was changed.") from None


def read_kept(file: Path) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the entry of the server that made way for this one; None if none did."""
    try:
        kept = json.loads(kept_file(file).read_text("utf-8"))
        return kept["name"], kept["entry"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
