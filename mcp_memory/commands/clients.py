"""The clients that ``mcp-memory install`` knows: where each keeps its servers, and which of them this is.

The places and shapes are those of the clients' documentation of November 2026. Claude Code keeps its servers in a file
that it rewrites while it runs, so its own command changes them. Goose has YAML, which is read and not edited.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from mcp_memory.commands.config_files import content_of, read_text
from mcp_memory.errors import InvalidInput

Entry = dict[str, Any]
"""How a client starts a server: ``command``, ``args`` and ``env``."""
NAME: Final = "memory"
"""What the server is called in a client's file."""


@dataclass(frozen=True, slots=True)
class System:
    """What the place of a file depends on; a test gives its own.

    Attributes:
        platform: as `sys.platform`.
        home: the folder of the user.
        environment: variables.
    """

    platform: str
    home: Path
    environment: Mapping[str, str]

    @staticmethod
    def current() -> System:
        """Return the system that this process runs on.

        Raises:
            InvalidInput: the user has no home folder.
        """
        try:
            return System(sys.platform, Path.home(), os.environ)
        except RuntimeError:
            raise InvalidInput(
                "HOME", "there is no home folder", "Set it, or use `mcp-memory install print`."
            ) from None

    def configuration(self) -> Path:
        """Return the folder in which programs keep the settings of a user."""
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData/Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", ".config")

    def folder(self, variable: str, usual: str) -> Path:
        """Return a folder of the home folder, unless a variable names another one."""
        named = self.environment.get(variable, "")
        return Path(named) if named else self.home / usual


@dataclass(frozen=True, slots=True)
class ClientFile:
    """Where a client keeps its servers.

    Attributes:
        title: what people call the client.
        place: returns its file.
        form: the form of the file.
        path: names that lead to the server.
        shape: returns the entry as this client writes it.
        restart: what a person does so that the client reads it.
    """

    title: str
    place: Callable[[System], Path]
    form: Literal["json", "toml", "yaml"] = "json"
    path: tuple[str, ...] = ("mcpServers", NAME)
    shape: Callable[[Entry], Entry] = dict
    restart: str = "Restart it"

    def entry_of(self, written: Mapping[str, Any]) -> Entry:
        """Return how a client starts a server, from what stands in its file."""
        environment = written.get("env") or written.get("envs") or {}
        return {
            "command": str(written.get("command") or written.get("cmd") or ""),
            "args": [str(argument) for argument in written.get("args") or ()],
            "env": {str(name): str(value) for name, value in environment.items()},
        }


def _goose(entry: Entry) -> Entry:
    return {
        "enabled": True,
        "type": "stdio",
        "name": "mcp-memory",
        "description": "Long-term memory",
        "cmd": entry["command"],
        "args": entry.get("args", []),
        "envs": entry.get("env", {}),
        "timeout": 300,
    }


def _goose_file(system: System) -> Path:
    if system.platform == "win32":
        return system.configuration() / "Block" / "goose" / "config" / "config.yaml"
    return system.folder("XDG_CONFIG_HOME", ".config") / "goose" / "config.yaml"


CLIENTS: Final[Mapping[str, ClientFile]] = {
    "claude-desktop": ClientFile(
        "Claude Desktop",
        lambda system: system.configuration() / "Claude" / "claude_desktop_config.json",
        restart="Quit it completely and start it again",
    ),
    "claude-code": ClientFile(
        "Claude Code",
        lambda system: system.folder("CLAUDE_CONFIG_DIR", ".") / ".claude.json",
        shape=lambda entry: {"type": "stdio"} | entry,
        restart="Start a new session",
    ),
    "cursor": ClientFile("Cursor", lambda system: system.home / ".cursor" / "mcp.json"),
    "vscode": ClientFile(
        "VS Code",
        lambda system: system.configuration() / "Code" / "User" / "mcp.json",
        path=("servers", NAME),
        shape=lambda entry: {"type": "stdio"} | entry,
        restart="Reload its window",
    ),
    "windsurf": ClientFile("Windsurf", lambda system: system.home / ".codeium" / "windsurf" / "mcp_config.json"),
    "codex": ClientFile(
        "Codex",
        lambda system: system.folder("CODEX_HOME", ".codex") / "config.toml",
        form="toml",
        path=("mcp_servers", NAME),
        shape=lambda entry: entry | {"startup_timeout_sec": 60},  # else it gives up after 10 seconds
        restart="Start a new session",
    ),
    "gemini-cli": ClientFile(
        "Gemini CLI",
        lambda system: system.home / ".gemini" / "settings.json",
        shape=lambda entry: entry | {"timeout": 600_000},  # else `gemini mcp list` waits 5 seconds
        restart="Start a new session in a folder that it trusts",
    ),
    "goose": ClientFile(
        "Goose",
        _goose_file,
        form="yaml",
        path=("extensions", "mcp-memory"),
        shape=_goose,
        restart="Start a new session",
    ),
}
"""The clients by the name that the command takes."""


NAMES = ("mcp-memory", "mcp-memory-2")
"""What the server is called where another one has its usual name."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers in the file of a client.

    Attributes:
        client: the client.
        file: its file.
        text: the text of the file.
        entries: the servers by name, as they stand there.
        own: the name of this program's server; None if it is not among them.
    """

    client: ClientFile
    file: Path
    text: str
    entries: Mapping[str, Mapping[str, Any]]
    own: str | None

    @property
    def has_other(self) -> bool:
        """Whether another server has the usual name."""
        return self.client.path[-1] in self.entries and self.own != self.client.path[-1]


def servers_of(client: ClientFile, system: System, started_by: list[str]) -> Servers:
    """Return the servers in a client's file.

    Args:
        client: the client.
        system: the system that the client runs on.
        started_by: the command that starts this program here.

    Raises:
        InvalidInput: the file is broken; with the line.
    """
    file = client.place(system)
    text = read_text(file)
    found = content_of(file, client.form, text)
    for name in client.path[:-1]:
        found = found.get(name) if isinstance(found, Mapping) else None
    entries = (
        {name: one for name, one in found.items() if isinstance(one, Mapping)} if isinstance(found, Mapping) else {}
    )
    names = (name for name in dict.fromkeys((client.path[-1], *NAMES, *entries)) if name in entries)
    own = next((name for name in names if is_ours(client.entry_of(entries[name]), started_by)), None)
    return Servers(client, file, text, entries, own)


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
