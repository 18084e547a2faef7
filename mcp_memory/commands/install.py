"""``mcp-memory install``: put the server into the file of a client, or take it out again.

What a person set in the entry stays (further variables, switches of the client); only the command and what the options
name are set, so that installing twice changes nothing the second time. A copy of the file is made beside it first.

**The clients**: the places and shapes of their files are those of their documentation of November 2026. Claude Code
rewrites its file while it runs, so its own command changes it. All else in a file stays as it is. JSON is parsed and
printed again, with the indentation and line ends that it had; one with comments is refused. In TOML the tables of the
entry are replaced. Each change is read back and compared with what it should be, so that a file with a layout that
nobody thought of is refused and not spoilt.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from mcp_memory.bounds import SETTINGS_BYTES, BrokenText, OverBounds, parse_json, parse_toml
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


# The clients


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
