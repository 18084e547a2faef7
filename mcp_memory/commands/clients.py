"""The clients that ``mcp-memory install`` knows: where each keeps its servers, and how an entry of its file changes.

The places and shapes are those of the clients' documentation of November 2026. Claude Code keeps its servers in a file
that it rewrites while it runs, so its own command changes them.

All else in a file stays as it is. JSON is parsed and printed again, with the indentation and line ends that it had; one
with comments is refused. In TOML the tables of the entry are replaced. Each change is read back and compared with what
it should be, so that a file with a layout that nobody thought of is refused and not spoilt.
"""

from __future__ import annotations

import copy
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from mcp_memory.bounds import SETTINGS_BYTES, BrokenText, OverBounds, parse_json, parse_toml
from mcp_memory.errors import InvalidInput

Entry = dict[str, Any]
"""How a client starts a server: ``command``, ``args`` and ``env``."""
NAME: Final = "mcp-memory"
"""What the server is called in a client's file; the official memory server is called ``memory``."""
BOM: Final = "\ufeff"
_BY_HAND: Final = "Mend it, or change it by hand. Nothing was changed."


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

    def content(self, file: Path, text: str) -> dict[str, Any]:
        """Return what the text of a file holds, nothing for an empty one.

        Raises:
            InvalidInput: it is broken; with the line.
        """
        text = text.removeprefix(BOM)
        try:
            content = {} if not text.strip() else parse_json(text) if self.form == "json" else parse_toml(text)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"{file}, line {error.lineno}", f"is no plain JSON ({error.msg})", _BY_HAND) from None
        except OverBounds as error:
            raise InvalidInput(str(file), str(error), _BY_HAND) from None
        except BrokenText as error:
            raise InvalidInput(f"{file}, line {error.line}", error.problem, _BY_HAND) from None
        for held, what in ((content, "the file"), (content and content.get(self.group, {}), repr(self.group))):
            if not isinstance(held, dict):
                raise InvalidInput(str(file), f"{what} is no object", _BY_HAND)
        return content

    def written(self, file: Path, text: str) -> Mapping[str, Any] | None:
        """Return the entry of this program's server as it stands in the client's file; None if it is not there.

        Raises:
            InvalidInput: see `content`.
        """
        entry = self.content(file, text).get(self.group, {}).get(NAME)
        return entry if isinstance(entry, Mapping) else None

    def with_entry(self, file: Path, entry: Mapping[str, Any] | None, text: str) -> str:
        """Return a file's text with this entry of our server, or without one where that is None.

        Raises:
            InvalidInput: the file is broken, or cannot be changed without changing something else.
        """
        content = text.removeprefix(BOM)
        wanted = copy.deepcopy(self.content(file, content))
        servers = wanted.setdefault(self.group, {})
        servers.pop(NAME, None)
        if entry is not None:
            servers[NAME] = dict(entry)
        changed = _printed(wanted, content) if self.form == "json" else _with_tables(content, (self.group, NAME), entry)
        after = self.content(file, changed)
        if self.form == "toml" and not servers and self.group not in after:  # the last table takes its group along
            del wanted[self.group]
        if after != wanted:
            raise InvalidInput(str(file), "has a layout that would be lost with a change", _BY_HAND)
        return text[: len(text) - len(content)] + changed


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


def entry_of(written: Mapping[str, Any]) -> Entry:
    """Return how a client starts a server, from what stands in its file."""
    environment = written.get("env") or {}
    return {
        "command": str(written.get("command") or ""),
        "args": [str(argument) for argument in written.get("args") or ()],
        "env": {str(name): str(value) for name, value in environment.items()},
    }


def read_client_file(file: Path) -> str:
    """Return the text of a file with its line ends; empty if there is none.

    Raises:
        InvalidInput: it cannot be read, or is not UTF-8.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(SETTINGS_BYTES + 1)
        if len(content) > SETTINGS_BYTES:
            raise InvalidInput(str(file), f"is longer than {SETTINGS_BYTES:,} bytes", "Nothing was changed.")
        return content.decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InvalidInput(str(file), f"is not UTF-8 (byte {error.start})", "Nothing was changed.") from None
    except OSError as error:
        raise InvalidInput(str(file), f"cannot be read ({error.strerror})", "Nothing was changed.") from None


def _printed(content: Mapping[str, Any], before: str) -> str:
    """Return content as JSON, indented as the text that held it before, with its line ends."""
    indent = re.search(r"\n([ \t]+)\S", before)
    text = json.dumps(content, ensure_ascii=False, indent=indent[1] if indent else 2) + "\n"
    text = text if not before.strip() or before.endswith("\n") else text[:-1]
    return text.replace("\n", "\r\n" if "\r\n" in before else "\n")


def _with_tables(text: str, path: tuple[str, str], entry: Mapping[str, Any] | None) -> str:
    """Take the tables of an entry out, with the empty line before each, and put the new one at the end.

    A table ends before a comment, which belongs to what follows.
    """
    name = r"\s*\.\s*".join(f"[\"']?{re.escape(part)}[\"']?" for part in path)
    header = rf"^[ \t]*\[\s*{name}\s*[.\]].*$"
    row = r"\n(?![ \t]*[\[#]).*$"
    text = re.sub(rf"(?m)(?:^[ \t]*\r?\n)?{header}(?:{row})*\n?", "", text)
    if entry is None:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else end if text.endswith(end) else end * 2
    rows = [f"[{'.'.join(path)}]", *(f"{name} = {_toml_value(value)}" for name, value in entry.items())]
    return text + gap + "".join(row + end for row in rows)


def _toml_value(value: Any) -> str:
    """Return a value as TOML: JSON, but for objects."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return f"{{{', '.join(f'{json.dumps(name)} = {_toml_value(one)}' for name, one in value.items())}}}"
