"""Change one entry of a client's file, in JSON or TOML, and keep the rest as it is.

JSON is parsed and printed again, with the indentation and line ends that it had; one with comments is refused. In TOML
the tables of the entry are replaced. Each change is read back and compared with what it should be,
so that a file with a layout that nobody thought of is refused and not spoilt.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mcp_memory.bounds import SETTINGS_BYTES, BrokenText, OverBounds, parse_json, parse_toml
from mcp_memory.errors import InvalidInput

BOM: Final = "\ufeff"
_BY_HAND: Final = "Mend it, or change it by hand. Nothing was changed."


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


def content_of(file: Path, form: str, text: str) -> Any:
    """Return what the text of a file holds, an empty object for an empty one.

    Raises:
        InvalidInput: it is broken; with the line.
    """
    content = text.removeprefix(BOM)
    try:
        if not content.strip():
            return {}
        if form == "json":
            return parse_json(content)
        return parse_toml(content)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{file}, line {error.lineno}", f"is no plain JSON ({error.msg})", _BY_HAND) from None
    except OverBounds as error:
        raise InvalidInput(str(file), str(error), _BY_HAND) from None
    except BrokenText as error:
        raise InvalidInput(f"{file}, line {error.line}", error.problem, _BY_HAND) from None


def with_entry(file: Path, form: str, path: Sequence[str], entry: Mapping[str, Any] | None, text: str) -> str:
    """Return a file's text with an entry, or without it where that is None.

    Args:
        file: the file, for messages.
        form: json or toml.
        path: names that lead to the entry.
        entry: what it shall be.
        text: the text of the file, as it is.

    Raises:
        InvalidInput: the file is broken, or cannot be changed without changing something else.
    """
    content = text.removeprefix(BOM)
    wanted = _with(file, content_of(file, form, content), path, entry)
    changed = _printed(wanted, content) if form == "json" else _with_tables(content, path, entry)
    after = content_of(file, form, changed)
    if form == "toml" and not wanted.get(path[0]) and path[0] not in after:  # the last table takes its group along
        wanted.pop(path[0], None)
    if after != wanted:
        raise InvalidInput(str(file), "has a layout that would be lost with a change", _BY_HAND)
    return text[: len(text) - len(content)] + changed


def _with(file: Path, before: Any, path: Sequence[str], entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a file's content with an entry, or without it where that is None."""
    content: dict[str, Any] = copy.deepcopy(before)
    owner: Any = content
    for place, name in enumerate(path):
        if not isinstance(owner, dict):
            problem = f"{path[place - 1]!r} is no object" if place else "the file is no object"
            raise InvalidInput(str(file), problem, _BY_HAND)
        if place == len(path) - 1:
            owner.pop(name, None) if entry is None else owner.update({name: dict(entry)})
        else:
            owner = owner.get(name, {}) if entry is None else owner.setdefault(name, {})
    return content


def _printed(content: Mapping[str, Any], before: str) -> str:
    """Return content as JSON, indented as the text that held it before, with its line ends."""
    indent = re.search(r"\n([ \t]+)\S", before)
    text = json.dumps(content, ensure_ascii=False, indent=indent[1] if indent else 2) + "\n"
    text = text if not before.strip() or before.endswith("\n") else text[:-1]
    return text.replace("\n", "\r\n" if "\r\n" in before else "\n")


def _with_tables(text: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
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
