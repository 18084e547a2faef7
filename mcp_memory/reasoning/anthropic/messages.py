"""Messages to and from Claude: data between marks that cannot be guessed, and replies that are validated.

Stored text is data. Each text is one line, without invisible characters, behind a number of ours, between two lines
with the same random mark: it can neither pass for another line nor end the data. The numbers are valid for this one
call, and an unknown one is ignored.

A reply is parsed from its bytes, independent of the SDK, as a message of the API, and its text as the requested form.
An unusable one gives its reason twice: for the caller, and for the model, which may try again.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mcp_memory.domain.language_model import Spending
from mcp_memory.errors import EngineError
from mcp_memory.visible import with_masks

LINE_CHARS = 600
"""Length of a line, if it is no sentence; a longer one is cut."""
SENTENCE_CHARS = 1_200
"""Length of a line of one: that of the longest sentence (``language/segments.py``)."""
MARK_BYTES = 8
BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 taken for one token: English has slightly more (tokenizers of 2026), a Chinese sign three."""


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text; it tends to be too high."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


DELIMITER_TOKENS = 2 * estimate_tokens(f"=== {'0' * 2 * MARK_BYTES} ===")


def delimit(lines: Iterable[str]) -> str:
    """Return lines of data between two lines with the same mark, which takes `DELIMITER_TOKENS`."""
    mark = f"=== {secrets.token_hex(MARK_BYTES)} ==="
    return "\n".join((mark, *lines, mark))


def normalise_number(number: str) -> str:
    """Return a line number in our form, such as ``S1``, however the model writes it."""
    return number.strip("[] \n").upper()


def prompt_line(text: str, most: int = LINE_CHARS) -> str:
    """Return a text on one line, without invisible characters, cut after ``most`` characters."""
    text = with_masks(text)
    shown = "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text)
    line = " ".join(shown.split())
    return line if len(line) <= most else f"{line[:most]} …"


FormT = TypeVar("FormT", bound=BaseModel)


class Form(BaseModel):
    """The form of a reply or of a part of it; nothing else may stand in it."""

    model_config = ConfigDict(extra="forbid", strict=True)


_Tokens = Annotated[int, Field(ge=0, le=10_000_000)]


class UnusableReply(Exception):
    """A reply that cannot be used.

    Attributes:
        reason: in words for a warning, without anything from the reply.
        detail: in words for the model.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail or reason


class Usage(BaseModel):
    """What a message took, as the API reports it."""

    input_tokens: _Tokens
    output_tokens: _Tokens
    cache_creation_input_tokens: _Tokens | None = None
    cache_read_input_tokens: _Tokens | None = None

    @property
    def spending(self) -> Spending:
        """The usage as one call."""
        uncached = self.input_tokens + (self.cache_creation_input_tokens or 0)
        return Spending(1, uncached, self.cache_read_input_tokens or 0, self.output_tokens)


class Block(BaseModel):
    """A piece of what a model says."""

    type: str
    text: str = ""


class Message(BaseModel):
    """A reply of the API, as far as it matters."""

    content: list[Block]
    stop_reason: str | None = None
    usage: Usage


def reply_schema(form: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a form as it is sent; it imports the SDK, which takes most of a second."""
    from anthropic import transform_schema

    return _without_titles(transform_schema(form))


def schema_tokens(form: type[BaseModel]) -> int:
    """Return an estimate of the tokens of a form's schema, without importing the SDK."""
    return estimate_tokens(json.dumps(_without_titles(form.model_json_schema())))


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without pydantic's titles, since all of it is sent and billed."""
    kept = {name: value for name, value in schema.items() if not (name == "title" and isinstance(value, str))}
    return {name: _without_titles(value) if isinstance(value, dict) else value for name, value in kept.items()}


def parse_message(body: bytes) -> Message:
    """Return the message that a response body holds.

    Raises:
        UnusableReply: it holds none.
    """
    try:
        return Message.model_validate_json(body)
    except ValidationError:
        raise UnusableReply("its reply was no message of the API", "There was no reply.") from None


def parse_reply(message: Message, form: type[FormT]) -> FormT:
    """Return the text of a message as the requested form.

    Raises:
        UnusableReply: it was cut off, or is not of that form.
        EngineError: the model declined to answer.
    """
    if message.stop_reason == "refusal":
        raise EngineError("the model declined to answer")
    if message.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        raise UnusableReply("its reply was cut off", "The reply was too long and was cut off. Be brief.")
    text = "".join(block.text for block in message.content if block.type == "text")
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        raise UnusableReply("its reply was not the JSON that was asked for", "; ".join(_problems(error))) from None


def _problems(error: ValidationError) -> Iterator[str]:
    """Yield what is wrong with a reply and where, without any of its words: not even the names of its own fields."""
    for one in error.errors(include_url=False, include_input=False):
        known = one["loc"][:-1] if one["type"] == "extra_forbidden" else one["loc"]
        yield f"{'.'.join(map(str, known)) or 'reply'}: {one['msg']}"
