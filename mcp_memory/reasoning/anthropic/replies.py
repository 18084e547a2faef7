"""Validate what comes back from Claude: a message of the API, and its text as the requested form.

A message is parsed from its bytes, independent of the SDK, and nothing in it is used before it is validated. An
unusable reply gives its reason twice: for the caller, and for the model, which may try again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mcp_memory.domain.language_model import Spending
from mcp_memory.errors import EngineError

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


class CutOffReply(UnusableReply):
    """A reply that exceeded its length."""


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
    """Return the JSON schema of a form; importing the SDK for it takes most of a second the first time."""
    from anthropic import transform_schema

    return _without_titles(transform_schema(form))


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
        raise CutOffReply("its reply was cut off", "The reply was too long and was cut off. Be brief.")
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
