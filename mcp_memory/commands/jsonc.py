"""Edit one value of a JSON file and keep every other byte: comments, order, indentation, line ends.

People keep other servers in the files of their clients, often with comments, which a parser and a printer would lose.
So comments and trailing commas, as JSONC has them, are read as blanks (`_plain`): what is left is JSON in which every
character stands where it stood. Python's own decoder then says where a value ends, and one place of the text changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mcp_memory.bounds import SETTINGS_BYTES, BrokenText, OverBounds, parse_json

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*+"|,(?=\s*[}\]])')
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    """A name and its value in an object: where the name begins, where the value begins and ends."""

    name: str
    start: int
    value: int
    end: int


def parse(text: str) -> Any:
    """Return the value of a JSON text, which may have comments and trailing commas; an empty one is an empty object.

    Raises:
        BrokenText: it is none.
    """
    if len(text) > SETTINGS_BYTES:
        raise BrokenText(1, f"is longer than {SETTINGS_BYTES:,} characters")
    plain = _plain(text)
    try:
        return parse_json(plain) if plain.strip() else {}
    except json.JSONDecodeError as error:
        raise BrokenText(error.lineno, f"is no JSON ({error.msg})") from None
    except OverBounds as error:
        raise BrokenText(1, str(error)) from None


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value at a path of names; objects on the way are made where they are missing.

    Raises:
        BrokenText: the text is no JSON, or something else than an object stands on the way.
    """
    content, plain, end = parse(text), _plain(text), "\r\n" if "\r\n" in text else "\n"
    if not plain.strip():  # nothing but white space and comments
        return text + _printed(_nested(path, value), "  ", end, "") + end
    at, rest = _deepest(plain, content, path)
    members, close = _members(plain, at), _DECODER.raw_decode(plain, at)[1] - 1
    in_lines = "\n" in text[at:close] or not members
    first = _members(plain, _past_space(plain, 0))
    unit = (_indent(text, first[0].start) if first else "") or "  "
    if known := _called(members, rest[0]):
        indent = _indent(text, known.start) if "\n" in text[at:close] else None
        return text[: known.value] + _printed(value, unit, end, indent) + text[known.end :]
    indent = (_indent(text, members[-1].start) if members else _indent(text, at) + unit) if in_lines else None
    new = f"{json.dumps(rest[0], ensure_ascii=False)}: {_printed(_nested(rest[1:], value), unit, end, indent)}"
    comma = _comma(text, members[-1].end) if members else None
    if not in_lines:
        if comma is not None:
            return f"{text[: comma + 1]} {new},{text[comma + 1 :]}"
        return f"{text[: members[-1].end]}, {new}{text[members[-1].end :]}"
    new, place = f"{end}{indent}{new}", len(text[:close].rstrip())
    if not members:
        on_one_line = "\n" not in text[place:close]
        return text[:place] + new + (end + _indent(text, at) + text[close:] if on_one_line else text[place:])
    if comma is not None:
        return text[:place] + new + "," + text[place:]
    return text[: members[-1].end] + "," + text[members[-1].end : place] + new + text[place:]


def without_value(text: str, path: Sequence[str]) -> str:
    """Return a text without the member at a path of names; unchanged if there is none.

    Raises:
        BrokenText: the text is no JSON.
    """
    content, plain = parse(text), _plain(text)
    owner = content
    for name in path[:-1]:
        owner = owner.get(name) if isinstance(owner, dict) else None
    if not isinstance(owner, dict) or path[-1] not in owner:
        return text
    at, _ = _deepest(plain, content, path)
    members = _members(plain, at)
    found = _called(members, path[-1])
    assert found is not None
    start, comma = len(text[: found.start].rstrip()), _comma(text, found.end)
    place = members.index(found)
    changed = text[:start] + text[found.end if comma is None else comma + 1 :]
    if comma is None and place and (before := _comma(text, members[place - 1].end)) is not None:
        changed = changed[:before] + changed[before + 1 :]
    elif len(members) == 1 and (empty := re.compile(r"\{\s*\}").match(changed, at)):  # "{\n}" where "{}" was
        changed = changed[:at] + "{}" + changed[empty.end() :]
    return changed


def _called(members: Sequence[_Member], name: str) -> _Member | None:
    """Return the last member of a name, which is the one that counts."""
    return next((one for one in reversed(members) if one.name == name), None)


def _comma(text: str, at: int) -> int | None:
    """Return the place of the comma behind a value, if there is one."""
    found = re.compile(r"\s*,").match(_without_comments(text), at)
    return None if found is None else found.end() - 1


def _plain(text: str) -> str:
    """Return a text with blanks for its comments and trailing commas, so that it is JSON of the same length."""
    return _LAST_COMMA.sub(lambda found: found[0] if found[0][0] == '"' else " ", _without_comments(text))


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text)


def _deepest(plain: str, content: Any, path: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Return where the deepest object on a path begins, and the names that are left; the last name is never followed.

    Raises:
        BrokenText: something else than an object stands on the way.
    """
    at = _past_space(plain, 0)
    for depth, name in enumerate(path):
        if not isinstance(content, dict):
            where = f"{path[depth - 1]!r} is" if depth else "the file is"
            raise BrokenText(plain.count("\n", 0, at) + 1, f"{where} no object")
        if depth == len(path) - 1 or name not in content:
            return at, path[depth:]
        content = content[name]
        at = next(one.value for one in reversed(_members(plain, at)) if one.name == name)
    raise ValueError("an empty path")


def _members(plain: str, at: int) -> list[_Member]:
    """Return the members of the object that begins at a place of a text that is JSON."""
    found, here = [], _past_space(plain, at + 1)
    while plain[here] != "}":
        name, colon = _DECODER.raw_decode(plain, here)
        value = _past_space(plain, _past_space(plain, colon) + 1)
        end = _DECODER.raw_decode(plain, value)[1]
        found.append(_Member(name, here, value, end))
        here = _past_space(plain, end)
        if plain[here] == ",":
            here = _past_space(plain, here + 1)
    return found


def _past_space(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    assert found is not None
    return found.end()


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _printed(value: Any, unit: str, end: str, indent: str | None) -> str:
    """Return a value as JSON, its further lines indented; on one line if there is no indentation."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", end + indent)


def _indent(text: str, at: int) -> str:
    """Return the white space at the beginning of a line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
