"""Change one entry of a client's file, in each of the formats that clients have, and keep the rest as it is.

JSON is edited by `jsonc`; in TOML the tables of the entry are replaced; YAML is only read. Each change is read back and
compared with what it should be, so that a file with a layout that nobody thought of is refused and not spoilt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mcp_memory.bounds import SETTINGS_BYTES, BrokenText, parse_toml, parse_yaml
from mcp_memory.commands import jsonc
from mcp_memory.errors import InvalidInput

BOM: Final = "\ufeff"


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
        before = _LOADERS[form](content)
        if entry is not None and before is not None and not isinstance(before, Mapping):
            raise BrokenText(1, "the file is no object")
        changed = _EDITORS[form](content, path, entry)
        after = _LOADERS[form](changed)
    except BrokenText as error:
        raise _refusal(file, error) from None
    wanted = _expected_content(before or {}, path, entry)
    if (
        entry is None and not wanted.get(path[0]) and path[0] not in after
    ):  # in TOML the last table takes its group along
        wanted.pop(path[0], None)
    if after != wanted:
        problem = "has a layout that cannot be changed without changing something else"
        raise InvalidInput(str(file), problem, "Put it in by hand; `mcp-memory install print` shows it.")
    return text[: len(text) - len(content)] + changed


def _refusal(file: Path, error: BrokenText) -> InvalidInput:
    remedy = "Mend it, or move it away, and try again. Nothing was changed."
    return InvalidInput(f"{file}, line {error.line}", error.problem, remedy)


def _expected_content(
    before: Mapping[str, Any], path: Sequence[str], entry: Mapping[str, Any] | None
) -> dict[str, Any]:
    name, *rest = path
    content = dict(before)
    if rest:
        inner = before.get(name)
        if entry is None and not isinstance(inner, Mapping):
            return content
        content[name] = _expected_content(inner if isinstance(inner, Mapping) else {}, rest, entry)
    elif entry is None:
        content.pop(name, None)
    else:
        content[name] = dict(entry)
    return content


def _edit_json(text: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return jsonc.without_value(text, path)
    known: Any = jsonc.parse(text)
    for name in path:
        known = known.get(name) if isinstance(known, dict) else None
    if not isinstance(known, dict):
        return jsonc.with_value(text, path, dict(entry))
    for name in known.keys() - entry.keys():
        text = jsonc.without_value(text, (*path, name))
    for name, value in entry.items():  # one by one, for the sake of comments between them
        if known.get(name) != value or name not in known:
            text = jsonc.with_value(text, (*path, name), value)
    return text


def _edit_toml(text: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
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
    "json": jsonc.parse,
    "toml": parse_toml,
    "yaml": lambda text: parse_yaml(text) or {},
}
_EDITORS: Final[Mapping[str, Callable[[str, Sequence[str], Mapping[str, Any] | None], str]]] = {
    "json": _edit_json,
    "toml": _edit_toml,
}
