"""Change one entry of a client's file, in each of the formats that clients have, and keep the rest as it is.

JSON is edited by `jsonc`, TOML by tomlkit, which keeps comments and layout. Of YAML only the positions are read, and
the lines of the entry are put in or taken out. Each change is read back and compared with what it should be, so that a
file with a layout that nobody thought of is refused and not spoilt.
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
SUFFIX: Final = ".before-mcp-memory"
"""What the name of the copy ends in that is made before a change."""


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
        form: json, toml or yaml.
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
    if entry is None and not wanted.get(path[0]) and path[0] not in after:  # tomlkit drops a group that is empty
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
    known = jsonc.value_at(text, path)
    if not isinstance(known, dict):
        return jsonc.with_value(text, path, dict(entry))
    for name in known.keys() - entry.keys():
        text = jsonc.without_value(text, (*path, name))
    for name, value in entry.items():  # one by one, for the sake of comments between them
        if known.get(name) != value or name not in known:
            text = jsonc.with_value(text, (*path, name), value)
    return text


def _edit_toml(text: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    group, name = path
    end = "\r\n" if "\r\n" in text else "\n"
    if entry is not None and group not in parse_toml(text):
        return _append_table(text, _toml_table(path, entry, end), end)
    if entry is None and (without := _without_tables(text, path)) != text:
        return without
    try:
        document = tomlkit.parse(text)
        servers: Any = document.get(group)
        if entry is None:
            if isinstance(servers, dict) and name in servers:
                del servers[name]
        elif name in servers:
            for one in set(servers[name]) - set(entry):
                del servers[name][one]
            for one, value in entry.items():
                if servers[name].get(one) != value:
                    servers[name][one] = value
        elif "[" + group in text.replace(" ", ""):  # its tables stand in sections of their own
            return _append_table(text, _toml_table(path, entry, end), end)
        else:
            servers[name] = entry
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise BrokenText(1, str(error)) from None


def _without_tables(text: str, path: Sequence[str]) -> str:
    """Return a text without the tables of an entry; comments behind them belong to what follows, and stay."""
    name = r"\s*\.\s*".join(f"[\"']?{re.escape(part)}[\"']?" for part in path)
    header, ours = re.compile(rf"\s*\[\s*{name}\s*[.\]]"), False
    stay: list[str] = []
    behind: list[str] = []
    for line in text.splitlines(keepends=True):
        said = line.strip()
        if said.startswith("["):
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


def _append_table(text: str, table: str, end: str) -> str:
    """Return a text with a table behind it, after an empty line."""
    gap = "" if not text else end if text.endswith(end) else end * 2
    return f"{text}{gap}{table}"


def _toml_table(path: Sequence[str], entry: Mapping[str, Any], end: str) -> str:
    import tomlkit

    table = tomlkit.document()
    inner = tomlkit.table(is_super_table=True)
    content = tomlkit.table()
    for key, value in entry.items():
        if isinstance(value, Mapping):
            rows = tomlkit.inline_table()
            rows.update(value)
            content[key] = rows
        else:
            content[key] = value
    inner[path[1]] = content
    table[path[0]] = inner
    return tomlkit.dumps(table).replace("\n", end)


def _edit_yaml(text: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
    import yaml

    group, name = path
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    end = "\r\n" if "\r\n" in text else "\n"
    found = _member(root, group)
    if found is None or not found.value:  # no group, or an empty one
        if entry is None:
            return text
        body = f"{group}:{end}" + _yaml_lines(name, entry, 2, end)
        if found is None:
            return text + ("" if not text or text.endswith("\n") else end) + body
        return (
            text[: found.start_mark.index] + end + body.split(end, 1)[1].rstrip("\r\n") + text[found.end_mark.index :]
        )
    if not isinstance(found, yaml.MappingNode):
        raise BrokenText(found.start_mark.line + 1, f"{group!r} is no object")
    if found.flow_style:
        raise BrokenText(found.start_mark.line + 1, f"{group!r} is written in braces, which cannot be changed here")
    lines = text.splitlines(keepends=True)
    column = found.value[0][0].start_mark.column
    keys = [key for key, _ in found.value]
    place = next((number for number, key in enumerate(keys) if key.value == name), None)
    if place is not None:
        first = keys[place].start_mark.line
        last = _last_line(found.value[place][1]) + 1
        lines[first:last] = []
        at = first
    else:
        at = keys[0].start_mark.line
    if entry is not None:
        lines.insert(at, _yaml_lines(name, entry, column, end))
    elif len(keys) == 1 and place == 0:  # an empty group is written as one
        head = found.start_mark.line - 1
        while group not in lines[head]:
            head -= 1
        lines[head] = lines[head].replace(f"{group}:", f"{group}: {{}}", 1)
    return "".join(lines)


def _member(node: Any, name: str) -> Any:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _last_line(node: Any) -> int:
    """Return the last line of a YAML node that has something of it."""
    children = [part for pair in node.value for part in pair] if node.id == "mapping" else []
    if node.id == "sequence":
        children = list(node.value)
    if children and not node.flow_style:
        return max(map(_last_line, children))
    ends_before = node.end_mark.column == 0 and node.end_mark.line > node.start_mark.line
    line: int = node.end_mark.line
    return line - 1 if ends_before else line


def _yaml_lines(name: str, entry: Mapping[str, Any], column: int, end: str) -> str:
    """Return an entry as lines; every value is written as JSON, which YAML reads."""
    rows = [f"{name}:", *(f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items())]
    return "".join(f"{' ' * column}{row}{end}" for row in rows)


_LOADERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "json": lambda text: jsonc.parse(text).plain(),
    "toml": parse_toml,
    "yaml": lambda text: parse_yaml(text) or {},
}
_EDITORS: Final[Mapping[str, Callable[[str, Sequence[str], Mapping[str, Any] | None], str]]] = {
    "json": _edit_json,
    "toml": _edit_toml,
    "yaml": _edit_yaml,
}
