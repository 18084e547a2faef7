"""What the fields of a dataclass may hold, and JSON as its values.

The same dataclasses stand in the rows of tables, in the records of an export and in the traces of episodes. All of them
ask here: `fields_of` says which fields a class has, and `read` makes a value of JSON that somebody else may have
written. So a new field is one line, in the class.

The annotations decide: ``Literal`` has its options, ``X | None`` may be missing, and `Count` and `Share` have bounds.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

LARGEST = 2**63 - 1
"""The largest number of a table."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers that a field may hold: from ``least``, or above ``above``, up to ``most``."""

    words: str
    least: int = -LARGEST
    above: float | None = None
    most: int = LARGEST

    def hold(self, value: float) -> bool:
        """Return whether a number lies within them; NaN does not."""
        return self.least <= value <= self.most and (self.above is None or value > self.above)


Count = Annotated[int, Bounds("no whole number that can be right", least=0)]
Share = Annotated[float, Bounds("no number above 0 and at most 1", above=0, most=1)]
_LACK = {str: "no text", bool: "neither true nor false", int: "no whole number that can be right", float: "no number"}


class Misread(ValueError):
    """JSON that is no value of a type; the text says what it has, as in "no whole number".

    Attributes:
        options: what it could be, if these are a few.
    """

    def __init__(self, problem: str, options: tuple[Any, ...] = ()) -> None:
        super().__init__(problem)
        self.options = options


NOT_STORED = {"stored": False}
"""Metadata of a field that belongs to a process alone."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a dataclass.

    Attributes:
        name: its name.
        hint: its annotation.
        kind: its class: ``str``, ``int``, ``tuple``, ….
        optional: whether it may be None.
        default: its default, ``dataclasses.MISSING`` without one.
    """

    name: str
    hint: Any
    kind: type
    optional: bool
    default: Any


@cache
def fields_of(kind: type) -> tuple[Field, ...]:
    """Return the fields of a dataclass that are stored, in order."""
    hints = get_type_hints(kind, localns={"Vector": object}, include_extras=True)  # numpy is too heavy for a name
    made = []
    for one in fields(kind):
        if one.metadata != NOT_STORED:
            hint = hints[one.name]
            known = next(option for option in _options(hint) if option is not type(None))
            bare = get_args(known)[0] if get_origin(known) is Annotated else known
            allowed = get_args(bare) if get_origin(bare) is Literal else ()
            class_ = type(allowed[0]) if allowed else get_origin(bare) or bare
            made.append(Field(one.name, hint, class_, known is not hint, one.default))
    return tuple(made)


def _options(type_: Any) -> tuple[Any, ...]:
    return get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)


def read(type_: Any, value: Any) -> Any:
    """Return JSON as a value of a type, which was checked.

    Args:
        type_: a text, a number, a Literal, a dataclass, a tuple, set or mapping of such, or one of several of them.
        value: as JSON has it. Of a dataclass what it does not know is left out, and what is missing has its default.

    Raises:
        Misread: it is none.
    """
    origin, args = get_origin(type_), get_args(type_)
    if origin is Annotated:
        number = read(args[0], value)
        if isinstance(args[1], Bounds) and not args[1].hold(number):
            raise Misread(args[1].words)
        return number
    if type_ in _LACK:
        if type(value) is not type_ and (type_, type(value)) != (float, int):
            raise Misread(_LACK[type_])
        if type_ is int and abs(value) > LARGEST:
            raise Misread(_LACK[type_])
        return type_(value)
    if origin is Literal:
        if not any(value == option and type(value) is type(option) for option in args):
            raise Misread(f"{value!r:.40}" if isinstance(value, str | int) else "no value that can be right", args)
        return value
    if origin in (Union, UnionType):
        if value is None and type(None) in args:
            return None
        return _read_one_of([one for one in args if one is not type(None)], value)
    if origin in (tuple, frozenset):
        if not isinstance(value, list) or (args[0] is str and not all(isinstance(item, str) for item in value)):
            raise Misread(f"no list of {'texts' if args[0] is str else 'values'}")
        return origin(value if args[0] is str else [read(args[0], item) for item in value])
    if not isinstance(value, dict):
        raise Misread("no object")
    if is_dataclass(type_):
        return _read_fields(type_, value)
    return {name: read(args[1], item) for name, item in value.items()} if args else value  # a mapping


def _read_one_of(types: list[Any], value: Any) -> Any:
    for type_ in types[:-1]:
        try:
            return read(type_, value)
        except Misread:
            pass
    return read(types[-1], value)


def _read_fields(kind: Any, value: dict[str, Any]) -> Any:
    """Return a dataclass of an object."""
    held = {}
    for field in fields_of(kind):
        if field.name in value:
            held[field.name] = read(field.hint, value[field.name])
        elif field.default is MISSING:
            raise Misread(f"no {field.name}")
    return kind(**held)
