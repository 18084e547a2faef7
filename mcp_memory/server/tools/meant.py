"""What clients send for an argument, read for what it means.

Models fill in arguments that they do not need, and clients turn values into text. So the declared type of a field says
how its value is read, of an object in the arguments likewise (`arguments.Input`):

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
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from mcp_memory.bounds import VALUES, parse_json
from mcp_memory.server.incoming import without_halves

_UNKNOWN = 2
"""Unknown arguments that are handed on to be refused: one is named, and one alone may be a known one misnamed."""
_NOTHING = frozenset(("", "null", "none"))
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{0,18})?")
_TRUTHS: dict[object, bool] = {"true": True, "1": True, "false": False, "0": False}


def as_meant(model: type[BaseModel], raw: Any) -> Any:
    """Return the arguments of a call, or an object in them, as its client meant them: those that count as given."""
    raw = _parsed(raw)
    if not isinstance(raw, Mapping):
        return raw
    declared, given, unknown = _declared(model), dict[str, Any](), 0
    for name, value in raw.items():
        if value is None:
            continue
        if name in declared:
            kind, optional = declared[name]
            if not (optional and _says_nothing(kind, value)):
                meant = _meant(kind, value)
                given |= {} if optional and meant in ([], {}) else {name: meant}
        elif (unknown := unknown + 1) <= _UNKNOWN:
            given[name] = value
    return given


@cache
def _declared(model: type[BaseModel]) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field of a model, without null, and whether it may be left out."""
    return {name: (_bare(field.annotation), not field.is_required()) for name, field in model.model_fields.items()}


def _bare(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return _bare(next(part for part in get_args(annotation) if part is not type(None)))
    return annotation


def _item_of(kind: Any) -> Any:
    """Return the type of the items of a list; None for another type."""
    return _bare(get_args(kind)[0]) if get_origin(kind) is list else None


def _says_nothing(kind: Any, value: Any) -> bool:
    if not isinstance(value, str):
        return value in ([], {})
    of_texts = str in (kind, _item_of(kind))
    return value.strip() in ("", "null") if of_texts else value.strip().lower() in _NOTHING


def _meant(kind: Any, value: Any) -> Any:
    """Return what a value means for a type; itself where it means nothing else."""
    if (item := _item_of(kind)) is not None:
        return _list(item, _parsed(value))
    if get_origin(kind) is Literal:
        spelt = _folded(value) if isinstance(value, str) else None
        return next((word for word in get_args(kind) if _folded(word) == spelt), value)
    if kind is bool:
        return _TRUTHS.get(str(value).strip().lower(), value) if isinstance(value, str | int) else value
    if kind is str:
        return _text(value)
    return _number(kind, value) if kind in (int, float) else _parsed(value)


def _list(item: Any, value: Any) -> Any:
    """Return the list that a value means: itself, or the value as the only item."""
    if isinstance(item, type) and issubclass(item, BaseModel):
        return [value] if isinstance(value, dict) and value else value
    if isinstance(value, str | int | float) and not isinstance(value, bool) and not _is_json(value):
        value = [value]
    if not isinstance(value, list):
        return value
    return [_meant(item, one) for one in value if one is not None and not _says_nothing(item, one)]


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


def _is_json(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(("[", "{"))


def _parsed(value: Any) -> Any:
    """Return the list or object that a JSON text states; any other value as it is."""
    if _is_json(value):
        with suppress(ValueError):
            return parse_json(without_halves(value.encode()).decode(), values=VALUES)
    return value
