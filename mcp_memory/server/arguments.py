"""Arguments checked once, at the rim, and refused in our own words: which argument, what is wrong, what would be right.

Two steps. ``read`` lets pydantic check types, ranges and names of fields, and says its complaints anew. Then
``write_request``, ``recall_request`` and ``answer_request`` check what a schema cannot say, and hand over requests in
the words of ``domain``. Whatever is refused is refused before the memory is touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from mcp_memory.config import Limits
from mcp_memory.domain.requests import AnswerRequest, NewItem, RecallRequest, Window, WriteRequest
from mcp_memory.domain.times import FOREVER, Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server.schemas import (
    LIMIT,
    MAX_TOKENS,
    AnswerArguments,
    Arguments,
    Document,
    Message,
    ReconstructArguments,
    WriteArguments,
)

QUERY_BYTES = 20_000
"""Of a query or question in UTF-8: beyond that it is a text to remember, not a question."""

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)
_SPACE = re.compile(r"\w[\w.@-]{0,63}")
_LISTS = ("messages", "documents")
_RANGES = {"limit": LIMIT, "max_tokens": MAX_TOKENS}
_EXPECTED = {"string": "a text", "int": "a whole number", "list": "a list", "model": "an object", "dict": "an object"}


def read(model: type[ArgumentsT], raw: Mapping[str, Any]) -> ArgumentsT:
    """Return the arguments of a call.

    An argument that is null counts as left out. A list that came as the text of a JSON list is read as that list, since
    some clients send it so; no other text is ever turned into anything else.

    Raises:
        InvalidInput: an argument is missing, unknown or of another type, or a number is out of range.
    """
    given = {name: value for name, value in raw.items() if value is not None}
    for name in _LISTS:
        if name in model.model_fields and name in given:
            given[name] = _list(given[name])
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _refusal(model, error.errors(include_url=False, include_context=False)[0]) from None


def write_request(args: WriteArguments, limits: Limits) -> WriteRequest:
    """Return what a call of memory_write asks to remember.

    Raises:
        InvalidInput: naming the argument.
    """
    given = [name for name in ("messages", "documents", "text") if getattr(args, name) is not None]
    if len(given) != 1:
        problem = f"{' and '.join(given)} came together" if given else "none of them was given"
        raise InvalidInput("messages, documents, text", problem, "Give exactly one of the three.")
    space, session = _space(args.space), _name("session", args.session, limits)
    if args.text is not None:
        text = _text("text", args.text, limits.message_bytes, "limits.message_bytes")
        return WriteRequest(space, session, "message", (NewItem(text),))
    if args.messages is not None:
        _number(args.messages, "messages", limits)
        talk = tuple(_message(f"messages[{place}]", item, limits) for place, item in enumerate(args.messages))
        return WriteRequest(space, session, "message", talk)
    documents = args.documents or ()
    _number(documents, "documents", limits)
    texts = tuple(_document(f"documents[{place}]", item, limits) for place, item in enumerate(documents))
    return WriteRequest(space, session, "document", texts)


def recall_request(args: ReconstructArguments) -> RecallRequest:
    """Return what a call of memory_reconstruct asks for.

    Raises:
        InvalidInput: naming the argument.
    """
    query = args.query
    if query is not None:
        query = _text("query", query, QUERY_BYTES, None, "Give a question, or leave it out for the newest records.")
    since = _instant("since", args.since)[0] if args.since is not None else -FOREVER
    until = _instant("until", args.until)[-1] if args.until is not None else FOREVER
    if since >= until:
        raise InvalidInput("since", f"{_shown(args.since)} is not before until, {_shown(args.until)}", "Swap them.")
    return RecallRequest(_space(args.space), query, args.limit, Window(since, until))


def answer_request(args: AnswerArguments) -> AnswerRequest:
    """Return what a call of memory_answer asks.

    Raises:
        InvalidInput: naming the argument.
    """
    question = _text("question", args.question, QUERY_BYTES, None, "Give a whole question.")
    return AnswerRequest(_space(args.space), question, args.limit)


def _message(argument: str, item: Message, limits: Limits) -> NewItem:
    return NewItem(
        text=_text(f"{argument}.text", item.text, limits.message_bytes, "limits.message_bytes"),
        ref=_name(f"{argument}.id", item.id, limits),
        speaker=_name(f"{argument}.speaker", item.speaker, limits),
        role=_name(f"{argument}.role", item.role, limits),
        said_at=_said(f"{argument}.time", item.time),
    )


def _document(argument: str, item: Document, limits: Limits) -> NewItem:
    return NewItem(
        text=_text(f"{argument}.text", item.text, limits.document_bytes, "limits.document_bytes"),
        ref=_name(f"{argument}.id", item.id, limits),
        title=_name(f"{argument}.title", item.title, limits),
        said_at=_said(f"{argument}.time", item.time),
    )


def _number(items: Sequence[object], argument: str, limits: Limits) -> None:
    if not items:
        raise InvalidInput(argument, "is empty", "Give at least one.")
    if len(items) > limits.items:
        problem = f"{len(items):,} items are more than the {limits.items:,} of limits.items"
        raise InvalidInput(argument, problem, "Split them over several calls.")


def _text(argument: str, text: str, most: int, setting: str | None, remedy: str = "Give the words themselves.") -> str:
    if not text.strip():
        raise InvalidInput(argument, "is empty", remedy)
    size = _size(argument, text)
    if size > most:
        problem = f"{size:,} bytes are more than the {most:,}" + (f" of {setting}" if setting else " there may be")
        raise InvalidInput(argument, problem, "Split it into shorter ones." if setting else "Ask more briefly.")
    return text


NameT = TypeVar("NameT", str, str | None)


def _name(argument: str, name: NameT, limits: Limits) -> NameT:
    """Return an id, session, speaker, role or title as it is, or None for none."""
    if name is None:
        return name
    if not name.strip():
        raise InvalidInput(argument, "is empty", "Give a name, or leave it out.")
    _size(argument, name)
    if len(name) > limits.name_chars:
        problem = f"{len(name):,} characters are more than the {limits.name_chars:,} of limits.name_chars"
        raise InvalidInput(argument, problem, "Give a shorter one.")
    return name


def _space(name: str) -> str:
    if not _SPACE.fullmatch(name):
        remedy = 'Give 1 to 64 letters, digits, "_", ".", "@" or "-" that begin with a letter, a digit or "_".'
        raise InvalidInput("space", f"{_shown(name)} is not the name of a space", remedy)
    return name


def _said(argument: str, text: str | None) -> Millis | None:
    return None if text is None else _instant(argument, text)[0]


def _instant(argument: str, text: str) -> tuple[Millis, Millis]:
    try:
        return iso.parse(text)
    except ValueError:
        remedy = "Write a date as 2023-05-08, or a date with a time as 2023-05-08T14:30:00Z."
        raise InvalidInput(argument, f"{_shown(text)} is not an ISO-8601 date or date-time", remedy) from None


def _size(argument: str, text: str) -> int:
    """Return the size of a text in bytes of UTF-8, if it is one that can be kept."""
    if "\x00" in text:
        raise InvalidInput(argument, "holds a null byte (U+0000)", "Take it out.")
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        problem = f"is not valid Unicode: half of a surrogate pair at character {error.start}"
        raise InvalidInput(argument, problem, "Send the whole character.") from None


def _list(value: object) -> object:
    """Return a list whose items have no nulls; from the text of a JSON list, that list; anything else as it is."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return value
        value = parsed if isinstance(parsed, list) else value
    if not isinstance(value, list):
        return value
    return [{k: v for k, v in item.items() if v is not None} if isinstance(item, dict) else item for item in value]


def _refusal(model: type[Arguments], error: Mapping[str, Any]) -> InvalidInput:
    """Return one complaint of pydantic in our words."""
    place, kind, value = error["loc"], error["type"], error["input"]
    argument = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    if kind == "extra_forbidden":
        fields = _model_at(model, place[:-1]).model_fields
        known = ", ".join(fields) or "none"
        return InvalidInput(_shown(argument, 80).strip("'"), "there is no such argument", f"Known here: {known}.")
    if place[-1] in _RANGES:
        least, most = _RANGES[place[-1]]
        return InvalidInput(argument, f"{_shown(value)} will not do", f"Give a whole number from {least} to {most}.")
    if kind == "missing":
        return InvalidInput(argument, "is missing", "It cannot be left out.")
    expected = _EXPECTED.get(kind.split("_")[0], "another type")
    return InvalidInput(argument, f"{_shown(value)} is not {expected}", f"Give {expected}.")


def _model_at(model: type[Arguments], place: Sequence[int | str]) -> type[Arguments]:
    """Return the model whose fields are meant at a place: of the arguments, or of one message or document."""
    parts: dict[str, type[Arguments]] = {"messages": Message, "documents": Document}
    return parts.get(str(place[0]), model) if place else model


def _shown(value: object, most: int = 60) -> str:
    """Return a value as it may stand in a message: short, on one line, whatever it is."""
    if isinstance(value, int) and abs(value) >= 10**most:  # Python refuses to write out thousands of digits
        return "a number of that size"
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    words = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return words if len(words) <= most else words[: most - 1] + "…"
