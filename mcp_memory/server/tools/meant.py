"""What clients send for an argument, read for what it means.

Models fill in arguments that they do not need, and clients turn values into text. So the declared type of a field, at
any depth, says how its value is read:

| declared | what else is read |
|---|---|
| anything optional | null, an empty text, list or object and the word "null" for left out; "none", too, but for texts |
| text, id, name, time | a number for its text |
| whole number, number | 5.0 and "5" for 5, "0.5" for .5 |
| true or false | "true", "False", 1, "0" |
| one of several words | in upper or lower case, with hyphens or spaces for "_" |
| list | its JSON text; one item for a list of one; without its empty texts |
| object | its JSON text |

What a text says is never read: "5" stays a text where a text is declared, and a required text may be the word "null".
Whatever is not in the table stays as it came, and is refused by its type.

A list that is longer than it may be is refused before its items are read: a quarter of a million words take half a
second, which everybody who calls a server would wait. For the same reason a few unknown names stand for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from mcp_memory.bounds import VALUES, parse_json
from mcp_memory.errors import InvalidInput

LEFT_OUT = object()
"""Stands for a value that counts as left out."""
ITEM_VALUES = 1_000
"""Most values of an item of a list that came as JSON text: a list may have a thousand. A message has nine."""
_UNKNOWN = 2
"""Unknown arguments that are handed on to be refused: one is named, and one alone may be a known one misnamed."""
_NOTHING = frozenset(("", "null", "none"))
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{0,18})?")
_TRUTHS: dict[object, bool] = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Most:
    """Says in the annotation of a list how many items it may have; in that of no other field."""

    items: int


@dataclass(frozen=True, slots=True)
class _Type:
    """What a field takes: a kind (a type of Python, or `Literal`), words, items and how many at most, or fields."""

    kind: Any
    words: tuple[str, ...] = ()
    item: _Type | None = None
    most: int | None = None
    model: type[BaseModel] | None = None


def as_meant(model: type[BaseModel], raw: Mapping[str, Any], items: int = VALUES, within: str = "") -> dict[str, Any]:
    """Return the arguments of a call, or an object in them, as its client meant them: those that count as given.

    Args:
        model: says what the fields take.
        raw: what came.
        items: how many items a list may have whose annotation does not say it (`Most`): the setting ``limits.items``.
        within: where the object stands in the arguments, with a point behind it.

    Raises:
        InvalidInput: a list has more items than it may have.
    """
    fields, given, unknown = _fields(model), {}, 0
    for name, value in raw.items():
        if name in fields:
            declared, optional = fields[name]
            value = _value(declared, value, optional, items, within + name)
        else:
            unknown += value is not None
        if value is not LEFT_OUT and value is not None and (name in fields or unknown <= _UNKNOWN):
            given[name] = value
    return given


@cache
def _fields(model: type[BaseModel]) -> dict[str, tuple[_Type, bool]]:
    """Return what each field of a model takes, and whether it may be left out."""
    found = {}
    for name, field in model.model_fields.items():
        most = next((part.items for part in field.metadata if isinstance(part, Most)), None)
        found[name] = replace(_declared(field.annotation), most=most), not field.is_required()
    return found


def _declared(annotation: Any) -> _Type:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _declared(parts[0])
    if origin is Literal:
        return _Type(Literal, words=parts)
    if origin is list:
        return _Type(list, item=_declared(parts[0]))
    if origin is not None:  # a union with None
        return _declared(next(part for part in parts if part is not type(None)))
    if issubclass(annotation, BaseModel):
        return _Type(dict, model=annotation)
    return _Type(annotation)


def _value(declared: _Type, value: Any, optional: bool, items: int, argument: str) -> Any:
    """Return what a value means for a field; itself where it means nothing else."""
    if isinstance(value, str):
        value = _whole(value)
        if optional and _says_nothing(declared, value):
            return LEFT_OUT
    meant = _converted(declared, value, items, argument)
    return LEFT_OUT if optional and meant in ([], {}) else meant


def _converted(declared: _Type, value: Any, items: int, argument: str) -> Any:
    if declared.item is not None:
        return _list(declared, declared.item, value, items, argument)
    if declared.model is not None:
        value = _parsed(value, argument)
        return as_meant(declared.model, value, items, f"{argument}.") if isinstance(value, dict) else value
    if declared.words:
        spelt = _folded(value) if isinstance(value, str) else None
        return next((word for word in declared.words if _folded(word) == spelt), value)
    if declared.kind is bool:
        return _TRUTHS.get(str(value).strip().lower(), value) if isinstance(value, str | int) else value
    return _text(value) if declared.kind is str else _number(declared.kind, value)


def _says_nothing(declared: _Type, text: str) -> bool:
    of_texts = declared.kind is str or (declared.item is not None and declared.item.kind is str)
    return text.strip() in ("", "null") if of_texts else text.strip().lower() in _NOTHING


def _whole(text: str) -> str:
    """Return a text in which U+FFFD stands for each half of a surrogate pair; what was JSON text may have them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _text(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 10**15:
        return value
    return str(int(value)) if value == int(value) else str(value)


def _number(kind: type[int] | type[float], value: Any) -> Any:
    number = value
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value) if "." in value else int(value)
    if kind is int and isinstance(number, float):
        return int(number) if number.is_integer() else value
    return number


def _folded(word: str) -> str:
    return re.sub(r"[\s-]+", "_", word.strip()).casefold()


def _list(declared: _Type, item: _Type, value: Any, items: int, argument: str) -> Any:
    """Return the list that a value means: the list of its JSON text, or the value as the only item."""
    value = _parsed(value, argument)
    if item.model is not None:
        alone = isinstance(value, dict) and value != {}
    else:
        alone = isinstance(value, str | int | float) and not isinstance(value, bool) and not _is_json(value)
    if alone:
        value = [value]
    if not isinstance(value, list):
        return value
    most, setting = (items, "of limits.items") if declared.most is None else (declared.most, "there may be")
    if len(value) > most:
        problem = f"{len(value):,} items are more than the {most:,} {setting}"
        raise InvalidInput(argument, problem, "Split them over several calls.")
    whole = item.model is not None
    read = [_value(item, one, not whole, items, f"{argument}[{place}]") for place, one in enumerate(value)]
    return [one for one in read if one is not LEFT_OUT and (one is not None or whole)]


def _is_json(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(("[", "{"))


def _parsed(value: Any, argument: str) -> Any:
    """Return the list or object that a JSON text states; any other value as it is."""
    if _is_json(value):
        with suppress(ValueError):
            return parse_json(value, values=ITEM_VALUES if "[" in argument else VALUES)
    return value
