"""Read and check the arguments of a tool call; refuse wrong ones with the argument, the problem and the remedy.

`read_arguments` lets pydantic check what clients send, as they mean it, against the `Input` model of the tool, and
states its first complaint in our words. What a schema cannot say is checked by the types of fields (`Name`,
`short_text`, `Time`), within the configured limits. All of it happens before the memory is opened, so a refused call
changes nothing.

The published input schemas come from these models, too. A plain text in an annotation says which values a field takes;
refusals quote it.

Models fill in arguments that they do not need, and clients turn values into text. So the declared type of a field says
how its value is read (`as_meant`), of an object in the arguments likewise:

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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from mcp_memory import codec
from mcp_memory.bounds import MOST_VALUES, parse_json
from mcp_memory.configurable import LimitSettings
from mcp_memory.domain.access import CALLER, MEANT_SPACE, NEEDED, SPACE_NAME
from mcp_memory.domain.query import Detail as DetailLevel
from mcp_memory.domain.query import Window
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import FOREVER, Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server.incoming import without_halves

QUERY_BYTES = 20_000
"""Most UTF-8 bytes of a query, question or goal; a longer one is a text to remember."""


class Input(BaseModel):
    """Arguments of a tool, or an object in them, read as they are meant. An unknown argument is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, raw: Any) -> Any:
        return as_meant(cls, raw)


class _Wrong(ValueError):
    """A value that a schema allows and we do not: what is wrong with it, and what would be right."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


def _utf8_size(text: str) -> int:
    """Return the size of a text in bytes of UTF-8; refuse one that cannot be stored."""
    if "\x00" in text:
        raise _Wrong("holds a null byte (U+0000)", "Take it out.")
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        problem = f"is not valid Unicode: half of a surrogate pair at character {error.start}"
        raise _Wrong(problem, "Send the whole character.") from None


def text_within(setting: Literal["message_bytes", "document_bytes"]) -> AfterValidator:
    """Return what lets a text pass that is not empty and has at most the bytes of a setting of ``limits``."""

    def check(value: str, info: ValidationInfo[LimitSettings]) -> str:
        return _text(value, getattr(info.context, setting), f"of limits.{setting}", "Split it into shorter ones.")

    return AfterValidator(check)


def short_text(remedy: str = "Give the words themselves.", most: int = QUERY_BYTES) -> AfterValidator:
    """Return what lets a text pass that is not empty and not too long to be looked for; ``remedy`` is for no text."""
    return AfterValidator(lambda value: _text(value, most, "there may be", "Ask more briefly.", remedy))


def _text(value: str, most: int, limit: str, shorter: str, remedy: str = "Give the words themselves.") -> str:
    if not value.strip():
        raise _Wrong("is empty", remedy)
    if (size := _utf8_size(value)) > most:
        raise _Wrong(f"{size:,} bytes are more than the {most:,} {limit}", shorter)
    return value


def _name(value: str, info: ValidationInfo[LimitSettings]) -> str:
    if not value.strip():
        raise _Wrong("is empty", "Give a name, or leave it out.")
    _utf8_size(value)
    if len(value) > (most := info.context.name_chars):
        problem = f"{len(value):,} characters are more than the {most:,} of limits.name_chars"
        raise _Wrong(problem, "Give a shorter one.")
    return value


def _relation(value: str) -> str:
    if not relations().name(value):
        raise _Wrong(f"{shown(value)} has neither letter nor digit", "Give a verb phrase such as lives_in or works_at.")
    return value


def _time(value: str) -> str:
    try:
        iso.parse(value)
    except ValueError:
        remedy = "Write a date as 2023-05-08, 2023-05 or 2023, or with a time as 2023-05-08T14:30:00Z."
        raise _Wrong(f"{shown(value)} is not an ISO-8601 date or date-time", remedy) from None
    return value


def _some(items: ListT) -> ListT:
    if not items:
        raise _Wrong("is empty", "Give at least one.")
    return items


def at_most(number: int) -> AfterValidator:
    """Return what lets a list pass that has at most so many items."""
    return AfterValidator(lambda items: _bounded(items, number, "there may be"))


def _bounded(items: ListT, most: int, limit: str) -> ListT:
    if items is not None and len(items) > most:
        raise _Wrong(f"{len(items):,} items are more than the {most:,} {limit}", "Split them over several calls.")
    return items


def _within_setting(items: ListT, info: ValidationInfo[LimitSettings]) -> ListT:
    return _bounded(items, info.context.items, "of limits.items")


ListT = TypeVar("ListT", bound=Sequence[object])
NAMES = at_most(16)
"""Says how many names a call may give in one list; each costs a search of its own."""
IDS = at_most(200)
"""Says how many pieces of evidence a call may name; a recall returns as many."""
ITEMS = AfterValidator(_within_setting)
"""Says that a list may have as many items as the setting ``limits.items`` says."""
SOME = AfterValidator(_some)
"""Says in the annotation of a list that it has at least one item."""
Name = Annotated[str, AfterValidator(_name)]
"""An id, session, speaker, role, title or the name of an entity."""
RelationName = Annotated[Name, AfterValidator(_relation)]
Time = Annotated[str, AfterValidator(_time)]
"""A day, month, year or time in ISO-8601."""
SpaceName = str | None
"""The name of a space; the schema of memory_write says what one is."""
Limit = Annotated[StrictInt, Field(ge=1, le=200), "a whole number from 1 to 200"]
MaxTokens = Annotated[StrictInt, Field(ge=100, le=100_000), "a whole number from 100 to 100000"]
AsOf = Annotated[Time | None, Field(description="Facts as of this ISO time.")]
Detail = Annotated[
    DetailLevel,
    Field(description="full: also how it was found, and steps to take next."),
    f"one of {', '.join(get_args(DetailLevel))}",
]
RecordId = Name
"""An id of evidence, or the number of a record in the text of a reply."""


InputT = TypeVar("InputT", bound=Input)
RequestT = TypeVar("RequestT")
_KINDS = {
    "string": "a text",
    "int": "a whole number",
    "bool": "true or false",
    "list": "a list",
    "model": "an object",
    "dict": "an object",
}
"""What a field of a type takes, by the first word of pydantic's error type."""


def read_arguments(model: type[InputT], raw: Mapping[str, Any], limits: LimitSettings) -> InputT:
    """Return the arguments of a call as its model.

    Raises:
        InvalidInput: an argument is missing, unknown, of another type, out of range, or what its type refuses.
    """
    try:
        return model.model_validate(raw, context=limits)
    except ValidationError as error:
        raise _refusal(model, error.errors(include_url=False)[0]) from None


def _refusal(model: type[Input], error: Mapping[str, Any]) -> InvalidInput:
    """Return a complaint of pydantic in our words."""
    place, kind, value = error["loc"], error["type"], error["input"]
    argument = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    fields = [part for part in place if isinstance(part, str)]  # of steps[0] it is steps
    if isinstance(wrong := error.get("ctx", {}).get("error"), _Wrong):
        return InvalidInput(argument, wrong.problem, wrong.remedy)
    for name in fields[:-1]:
        nested, _ = _declared(model)[name]
        model = _item_of(nested) or nested
    if kind == "extra_forbidden":
        known = ", ".join(model.model_fields) or "none"
        return InvalidInput(shown(argument, 80).strip("'"), "there is no such argument", f"Known here: {known}.")
    takes = next((part for part in model.model_fields[fields[-1]].metadata if isinstance(part, str)), None)
    if kind == "missing":
        unknown = [name for name in value if name not in model.model_fields] if isinstance(value, dict) else []
        if len(unknown) == 1 and isinstance(value[unknown[0]], str):  # the "content" of a chat's message
            remedy = f"Give it as {fields[-1]!r}: {shown(unknown[0], 80)} is no argument here."
            return InvalidInput(argument, "is missing", remedy)
        return InvalidInput(argument, "is missing", f"Give {takes}." if takes else "It cannot be left out.")
    if takes:
        return InvalidInput(argument, f"{shown(value)} will not do", f"Give {takes}.")
    expected = _KINDS.get(kind.split("_")[0], "another type")
    return InvalidInput(argument, f"{shown(value)} is not {expected}", f"Give {expected}.")


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
        return _as_text(value)
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


def _as_text(value: Any) -> Any:
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
            return parse_json(without_halves(value.encode()).decode(), values=MOST_VALUES)
    return value


def allowed_space(value: str | None, argument: str = "space") -> str:
    """Return the name of a space unchanged; where none was given, that of the space that is meant then.

    Raises:
        InvalidInput: it is no name, or the caller may not do there what the call does (`NEEDED`).
    """
    space = MEANT_SPACE.get() if value is None else value
    if not SPACE_NAME.fullmatch(space):
        remedy = 'Give 1 to 64 letters, digits, "_", ".", "@" or "-" that begin with a letter, a digit or "_".'
        near = re.sub(r"[^\w.@-]+", "-", value).strip("-.@") if isinstance(value, str) else ""
        if SPACE_NAME.fullmatch(near):
            remedy = f"Give {near!r}, or other {remedy.removeprefix('Give ')}"
        raise InvalidInput(argument, f"{shown(value)} is not the name of a space", remedy)
    if missing := [right for right in sorted(NEEDED.get()) if not CALLER.get().may((right,), space)]:
        problem = f"your token does not allow to {' or '.join(missing)} in {space!r}"
        raise InvalidInput(argument, problem, "memory://spaces lists those that you may read.")
    return space


def request_of(kind: type[RequestT], args: Input, **more: Any) -> RequestT:
    """Return arguments as the request of the domain whose fields have their names, for a space that is allowed.

    Args:
        kind: the class of the request.
        args: what it does not know of them is left out, and what they leave out has its default.
        more: fields that are not just as the caller gave them, as JSON.

    Raises:
        InvalidInput: see `allowed_space`.
    """
    given = args.model_dump(exclude_none=True) | {"space": allowed_space(getattr(args, "space", None))} | more
    return codec.read(kind, given)  # type: ignore[no-any-return]


def start_of(value: str | None) -> Millis | None:
    """Return the first instant of a day, month, year or time; None stays None."""
    return None if value is None else iso.parse(value)[0]


def offset_of(value: str | None) -> int | None:
    """Return the offset of a written time in minutes; None if it says none."""
    return None if value is None else iso.offset_in(value)


def moment_of(value: str | None) -> Millis | None:
    """Return the instant that a time means for facts: of a day, month or year its last, so that it counts."""
    return None if value is None else iso.parse(value)[1] - 1


def parse_window(since: str | None, until: str | None) -> Window:
    """Return the times from ``since`` on and before ``until``, which includes its day, month or year if it is one."""
    first, day = iso.parse(since) if since is not None else (-FOREVER, 0)
    moment, last = iso.parse(until) if until is not None else (0, FOREVER)
    if first >= last:
        raise InvalidInput("since", f"{shown(since)} is not before until, {shown(until)}", "Swap them.")
    return Window(first, last, day - first == 1, last - moment == 1)


def shown(value: object, most: int = 60) -> str:
    """Return any value in a form that fits into a message: short, on one line."""
    if isinstance(value, int) and abs(value) >= 10**most:  # Python refuses to write out thousands of digits
        return "a number of that size"
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    words = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return words if len(words) <= most else words[: most - 1] + "…"
