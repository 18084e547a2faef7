"""The clients that ``mcp-memory install`` knows: where each keeps its servers, and which of them this is.

The places and shapes are those of the clients' documentation of November 2026. Claude Code keeps its servers in a file
that it rewrites while it runs, so its own command changes them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from mcp_memory.commands.config_files import content_of
from mcp_memory.errors import InvalidInput

Entry = dict[str, Any]
"""How a client starts a server: ``command``, ``args`` and ``env``."""
NAME: Final = "mcp-memory"
"""What the server is called in a client's file; the official memory server is called ``memory``."""


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
        group: the name in the file that has the servers.
        shape: returns the entry as this client writes it.
        restart: what a person does so that the client reads it.
    """

    title: str
    place: Callable[[System], Path]
    form: Literal["json", "toml"] = "json"
    group: str = "mcpServers"
    shape: Callable[[Entry], Entry] = dict
    restart: str = "Restart it"

    def written(self, file: Path, text: str) -> Mapping[str, Any] | None:
        """Return the entry of this program's server as it stands in the client's file; None if it is not there.

        Raises:
            InvalidInput: the file is broken; with the line.
        """
        content = content_of(file, self.form, text)
        servers = content.get(self.group) if isinstance(content, Mapping) else None
        entry = servers.get(NAME) if isinstance(servers, Mapping) else None
        return entry if isinstance(entry, Mapping) else None


def entry_of(written: Mapping[str, Any]) -> Entry:
    """Return how a client starts a server, from what stands in its file."""
    environment = written.get("env") or {}
    return {
        "command": str(written.get("command") or ""),
        "args": [str(argument) for argument in written.get("args") or ()],
        "env": {str(name): str(value) for name, value in environment.items()},
    }


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
        group="servers",
        shape=lambda entry: {"type": "stdio"} | entry,
        restart="Reload its window",
    ),
    "windsurf": ClientFile("Windsurf", lambda system: system.home / ".codeium" / "windsurf" / "mcp_config.json"),
    "codex": ClientFile(
        "Codex",
        lambda system: system.folder("CODEX_HOME", ".codex") / "config.toml",
        form="toml",
        group="mcp_servers",
        shape=lambda entry: entry | {"startup_timeout_sec": 60},  # else it gives up after 10 seconds
        restart="Start a new session",
    ),
    "gemini-cli": ClientFile(
        "Gemini CLI",
        lambda system: system.home / ".gemini" / "settings.json",
        shape=lambda entry: entry | {"timeout": 600_000},  # else `gemini mcp list` waits 5 seconds
        restart="Start a new session in a folder that it trusts",
    ),
}
"""The clients by the name that the command takes."""
