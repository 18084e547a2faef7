"""Edit one value of a JSON file and keep every other byte: comments, order, indentation, line ends.

People keep other servers in the files of their clients, often with comments, which a parser and a printer would lose.
So a file is parsed into spans only (`parse`), with comments and trailing commas as JSONC has them, and the text is
changed at one place (`with_value`, `without_value`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_memory.bounds import DEEPEST, SETTINGS_BYTES, BrokenText, parse_json

_SKIPPED = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DECODER = json.JSONDecoder()
_SLOW_CHARS = 1 << 19
"""Most characters of a text that is read value by value."""
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_PLAIN = re.compile(r"-?\d[\d.eE+-]*|true|false|null")


@dataclass(slots=True)
class JsonMember:
    """A name and its value in an object.

    Attributes:
        name: the name of the value.
        start: first character of the name.
        value: its span.
        comma: place of the comma behind it, or None.
    """

    name: str
    start: int
    value: JsonSpan
    comma: int | None = None


@dataclass(slots=True)
class JsonSpan:
    """Where a value stands in a text.

    Attributes:
        start: its first character.
        end: the first one after it.
        content: the content of a plain value or an array, parsed; None for an object.
        members: the members of an object; None for another value.
    """

    start: int
    end: int = 0
    content: Any = None
    members: list[JsonMember] | None = field(default=None)

    def plain(self) -> Any:
        """Return the value as Python has it."""
        if self.members is None:
            return self.content
        return {member.name: member.value.plain() for member in self.members}

    def member(self, name: str) -> JsonMember | None:
        """Return the last member of a name, which is the one that counts."""
        return next((one for one in reversed(self.members or ()) if one.name == name), None)


_Way = Sequence[str] | None
"""Names that lead from an object to what is looked for; None opens everything."""


def parse(text: str, path: Sequence[str] = ()) -> JsonSpan:
    """Return the spans of a JSON text, which may have comments and trailing commas; an empty one is an empty object.

    Objects that are on no way to ``path`` have their content for members, unless comments or the like stand in a text.

    Raises:
        BrokenText: it is none.
    """
    if len(text) > SETTINGS_BYTES:
        raise BrokenText(1, f"is longer than {SETTINGS_BYTES:,} characters")
    at = _skip(text, 0)
    if at == len(text):
        return JsonSpan(at, at, members=[])
    try:
        parse_json(text)
        way: _Way = path
    except ValueError:
        if len(text) > _SLOW_CHARS:
            problem = f"is longer than {_SLOW_CHARS:,} characters, and has comments or is no JSON"
            raise BrokenText(1, problem) from None
        way = None
    value = _object(text, at, 0, way) if text[at] == "{" else _value(text, at, 0, None)
    end = _skip(text, value.end)
    if end < len(text):
        raise _syntax_error(text, end, "something stands behind the end")
    return value


def value_at(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path of names, or None if there is none.

    Raises:
        BrokenText: the text is no JSON.
    """
    found: JsonSpan | None = parse(text, path)
    for name in path:
        member = found.member(name) if found is not None else None
        found = member.value if member is not None else None
    return None if found is None else found.plain()


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return a text with a value at a path of names; objects on the way are made where they are missing.

    Raises:
        BrokenText: the text is no JSON, or something else than an object stands on the way.
    """
    root = parse(text, path)
    if root.start == root.end:  # nothing but white space and comments
        return text + _json_text(_nest(path, value), "  ", _line_end(text), "") + _line_end(text)
    owner, depth = _owner(text, root, path)
    unit, end = _unit(text, root), _line_end(text)
    name = path[depth]
    if (member := owner.member(name)) is not None:
        indent = _indent_of(text, member.start)
        printed = _json_text(value, unit, end, indent if "\n" in text[owner.start : owner.end] else None)
        return text[: member.value.start] + printed + text[member.value.end :]
    return _insert_member(text, owner, name, _nest(path[depth + 1 :], value), unit, end)


def without_value(text: str, path: Sequence[str]) -> str:
    """Return a text without the member at a path of names; unchanged if there is none.

    Raises:
        BrokenText: the text is no JSON.
    """
    owner: JsonSpan | None = parse(text, path)
    for name in path[:-1]:
        member = owner.member(name) if owner is not None else None
        owner = member.value if member is not None else None
    found = owner.member(path[-1]) if owner is not None else None
    if owner is None or found is None or owner.members is None:
        return text
    place = owner.members.index(found)
    start = _before_space(text, found.start)
    end = found.value.end if found.comma is None else found.comma + 1
    text = text[:start] + text[end:]
    if found.comma is None and place and (comma := owner.members[place - 1].comma) is not None:
        text = text[:comma] + text[comma + 1 :]
    elif len(owner.members) == 1 and not text[owner.start + 1 : start].strip():  # "{\n}" where "{}" was
        close = text.index("}", owner.start)
        if not text[start:close].strip():
            text = text[: owner.start + 1] + text[close:]
    return text


def _insert_member(text: str, owner: JsonSpan, name: str, value: Any, unit: str, end: str) -> str:
    """Return a text with a new last member of an object."""
    members, close = owner.members or [], owner.end - 1
    label = json.dumps(name, ensure_ascii=False) + ": "
    if members and "\n" not in text[owner.start : owner.end]:  # all on one line
        last = members[-1]
        if last.comma is not None:
            return f"{text[: last.comma + 1]} {label}{_json_text(value, unit, end, None)},{text[last.comma + 1 :]}"
        return f"{text[: last.value.end]}, {label}{_json_text(value, unit, end, None)}{text[last.value.end :]}"
    indent = _indent_of(text, members[-1].start) if members else _indent_of(text, owner.start) + unit
    printed = f"{end}{indent}{label}{_json_text(value, unit, end, indent)}"
    at = _before_space(text, close)
    if not members:
        closing = "" if "\n" in text[at:close] else f"{end}{_indent_of(text, owner.start)}"
        return text[:at] + printed + closing + text[at if closing == "" else close :]
    last = members[-1]
    if last.comma is not None:
        return text[:at] + printed + "," + text[at:]
    return text[: last.value.end] + "," + text[last.value.end : at] + printed + text[at:]


def _owner(text: str, root: JsonSpan, path: Sequence[str]) -> tuple[JsonSpan, int]:
    """Return the deepest object on a path, and how many names lead to it; the last name is never followed."""
    found = root
    for depth, name in enumerate(path):
        if found.members is None:
            where = f"{path[depth - 1]!r} is" if depth else "the file is"
            raise _syntax_error(text, found.start, f"{where} no object")
        member = found.member(name)
        if member is None or depth == len(path) - 1:
            return found, depth
        found = member.value
    raise ValueError("an empty path")


def _value(text: str, at: int, depth: int, way: _Way) -> JsonSpan:
    if depth > DEEPEST:
        raise _syntax_error(text, at, "it is nested too deeply")
    mark = text[at : at + 1]
    if mark == "{":
        return _object(text, at, depth, way)
    if mark == "[":
        return _array(text, at, depth)
    found = (_STRING if mark == '"' else _PLAIN).match(text, at)
    if found is None:
        here = text[at : at + 20].partition("\n")[0]
        raise _syntax_error(text, at, f"{here!r} is no value" if mark else "the file ends here")
    return JsonSpan(at, found.end(), _plain_value(text, at, found[0]))


def _plain_value(text: str, at: int, words: str) -> Any:
    try:
        return json.loads(words)
    except ValueError:
        raise _syntax_error(text, at, f"{words[:20]!r} is no value") from None


def _object(text: str, at: int, depth: int, way: _Way) -> JsonSpan:
    members: list[JsonMember] = []
    here = _skip(text, at + 1)
    while text[here : here + 1] != "}":
        name = _STRING.match(text, here)
        if name is None:
            raise _syntax_error(text, here, "a name in quotes is missing" if here < len(text) else "the file ends here")
        colon = _skip(text, name.end())
        if text[colon : colon + 1] != ":":
            raise _syntax_error(text, colon, f"a colon is missing behind {name[0][:40]}")
        known, start = _plain_value(text, here, name[0]), _skip(text, colon + 1)
        if way is None or list(way[:1]) == [known]:
            value = _value(text, start, depth + 1, way and way[1:])
        else:
            content, end = _DECODER.raw_decode(text, start)
            value = JsonSpan(start, end, content)
        member = JsonMember(known, here, value)
        members.append(member)
        here = _skip(text, member.value.end)
        if text[here : here + 1] == ",":
            member.comma = here
            here = _skip(text, here + 1)
        elif text[here : here + 1] != "}":
            raise _syntax_error(text, here, "a comma or } is missing")
    return JsonSpan(at, here + 1, members=members)


def _array(text: str, at: int, depth: int) -> JsonSpan:
    content: list[Any] = []
    here = _skip(text, at + 1)
    while text[here : here + 1] != "]":
        value = _value(text, here, depth + 1, None)
        content.append(value.plain())
        here = _skip(text, value.end)
        if text[here : here + 1] == ",":
            here = _skip(text, here + 1)
        elif text[here : here + 1] != "]":
            raise _syntax_error(text, here, "a comma or ] is missing")
    return JsonSpan(at, here + 1, content)


def _skip(text: str, at: int) -> int:
    found = _SKIPPED.match(text, at)
    assert found is not None
    return found.end()


def _nest(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _json_text(value: Any, unit: str, end: str, indent: str | None) -> str:
    """Return a value as JSON, its further lines indented; on one line if there is no indentation."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", end + indent)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str, root: JsonSpan) -> str:
    """Return what a file indents by: what stands before its first name, or two spaces."""
    first = root.members[0] if root.members else None
    return (_indent_of(text, first.start) if first is not None else "") or "  "


def _indent_of(text: str, at: int) -> str:
    """Return the white space at the beginning of a line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _before_space(text: str, at: int) -> int:
    """Return the place behind the last character before some place that is no white space."""
    return len(text[:at].rstrip(" \t\r\n"))


def _syntax_error(text: str, at: int, problem: str) -> BrokenText:
    return BrokenText(text.count("\n", 0, at) + 1, problem)
