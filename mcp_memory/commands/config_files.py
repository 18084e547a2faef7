"""Change one entry of a client's file, in each of the formats that clients have, and keep the rest as it is.

JSON is parsed and printed again, with the indentation and line ends that it had; a file with comments, which that would
lose, is read and not changed. In TOML the tables of the entry are replaced. YAML is only read. Each change is read back
and compared with what it should be, so that a file with a layout that nobody thought of is refused and not spoilt.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mcp_memory.bounds import SETTINGS_BYTES, BrokenText, OverBounds, parse_json, parse_toml, parse_yaml
from mcp_memory.errors import InvalidInput

BOM: Final = "\ufeff"
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*+"|,(?=\s*[}\]])')


def read_text(file: Path) -> str:
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


def entry_in(file: Path, form: str, path: Sequence[str], text: str | None = None) -> Any:
    """Return what stands at a path of a file, or None.

    Raises:
        InvalidInput: the file cannot be read, or is broken; with the line.
    """
    content = (read_text(file) if text is None else text).removeprefix(BOM)
    try:
        found: Any = _LOADERS[form](content)
    except BrokenText as error:
        raise _refusal(file, error) from None
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def with_entry(file: Path, form: str, path: Sequence[str], entry: Mapping[str, Any] | None, text: str) -> str:
    """Return a file's text with an entry, or without it where that is None.

    Args:
        file: the file for messages.
        form: json or toml.
        path: names that lead to the entry.
        entry: what it shall be.
        text: the text of the file, as it is.

    Raises:
        InvalidInput: the file is broken, or cannot be changed without changing something else.
    """
    content = text.removeprefix(BOM)
    try:
        wanted = _with(_LOADERS[form](content), path, entry)
        changed = _printed(wanted, content) if form == "json" else _with_tables(content, path, entry)
        after = _LOADERS[form](changed)
    except BrokenText as error:
        raise _refusal(file, error) from None
    if form == "toml" and not wanted.get(path[0]) and path[0] not in after:  # the last table takes its group along
        wanted.pop(path[0], None)
    if after != wanted or (form == "json" and _plain(content) != content):
        problem = "has comments, or a layout, that would be lost with a change"
        raise InvalidInput(str(file), problem, "Put it in by hand; `mcp-memory install print` shows it.")
    return text[: len(text) - len(content)] + changed


def _refusal(file: Path, error: BrokenText) -> InvalidInput:
    remedy = "Mend it, or move it away, and try again. Nothing was changed."
    return InvalidInput(f"{file}, line {error.line}", error.problem, remedy)


def _with(before: Any, path: Sequence[str], entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a file's content with an entry, or without it where that is None.

    Raises:
        BrokenText: something else than an object stands on the way to it.
    """
    content: dict[str, Any] = copy.deepcopy(before)
    owner: Any = content
    for place, name in enumerate(path):
        if not isinstance(owner, dict):
            raise BrokenText(1, f"{path[place - 1]!r} is no object" if place else "the file is no object")
        if place == len(path) - 1:
            owner.pop(name, None) if entry is None else owner.update({name: dict(entry)})
        else:
            owner = owner.get(name, {}) if entry is None else owner.setdefault(name, {})
    return content


def _printed(content: Mapping[str, Any], before: str) -> str:
    """Return content as JSON, indented as the text that held it before, with its line ends."""
    indent = re.search(r"\n([ \t]+)\S", before)
    end = "\r\n" if "\r\n" in before else "\n"
    text = json.dumps(content, ensure_ascii=False, indent=indent[1] if indent else 2) + "\n"
    return (text if not before.strip() or before.endswith("\n") else text[:-1]).replace("\n", end)


def _parse_jsonc(text: str) -> Any:
    """Return the value of a JSON text, which may have comments and trailing commas; an empty one is an empty object."""
    plain = _plain(text)
    try:
        return parse_json(plain) if plain.strip() else {}
    except json.JSONDecodeError as error:
        raise BrokenText(error.lineno, f"is no JSON ({error.msg})") from None
    except OverBounds as error:
        raise BrokenText(1, str(error)) from None


def _plain(text: str) -> str:
    """Return a text with blanks for its comments and trailing commas."""

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])

    return _LAST_COMMA.sub(blank, _COMMENT.sub(blank, text))


def _with_tables(text: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
    """Take the tables of an entry out, and put the new one at the end; one that stands within braces is left."""
    end = "\r\n" if "\r\n" in text else "\n"
    text = _without_tables(text, path)
    if entry is None:
        return text
    gap = "" if not text else end if text.endswith(end) else end * 2
    rows = [f"[{'.'.join(path)}]", *(f"{name} = {_toml_value(value)}" for name, value in entry.items())]
    return text + gap + "".join(row + end for row in rows)


def _without_tables(text: str, path: Sequence[str]) -> str:
    """Return a text without the tables of an entry, and without the empty line before each.

    Comments behind them belong to what follows, and stay.
    """
    name = r"\s*\.\s*".join(f"[\"']?{re.escape(part)}[\"']?" for part in path)
    header, ours = re.compile(rf"\s*\[\s*{name}\s*[.\]]"), False
    stay: list[str] = []
    behind: list[str] = []
    for line in text.splitlines(keepends=True):
        said = line.strip()
        if said.startswith("["):
            if not ours:
                ours = header.match(line) is not None
                if ours and stay and not stay[-1].strip():
                    stay.pop()
            else:
                ours = header.match(line) is not None
                stay += [] if ours else behind
            behind = []
        if not ours:
            stay.append(line)
        elif said.startswith("#") or (behind and not said):
            behind.append(line)
        elif said:
            behind = []
    return "".join(stay + behind)


def _toml_value(value: Any) -> str:
    """Return a value as TOML: JSON, but for objects."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return f"{{{', '.join(f'{json.dumps(name)} = {_toml_value(one)}' for name, one in value.items())}}}"


_LOADERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "json": _parse_jsonc,
    "toml": parse_toml,
    "yaml": lambda text: parse_yaml(text) or {},
}
