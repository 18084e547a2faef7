"""Ask Claude: one client per process, which requests JSON of a given form, and the budget of these requests.

**Messages.** Stored text is data. Each text is one line, without invisible characters, behind a number of ours, between
two lines with the same random mark: it can neither pass for another line nor end the data. The numbers are valid for
this one call, and an unknown one is ignored. A reply is parsed from its bytes, independent of the SDK, as a message of
the API, and its text as the requested form.

An unusable reply is sent back with the reason, and without the model's own text, as often as the settings allow; as
often the SDK repeats what failed for a moment: an overload, a rate limit, a broken connection. A refused key, a refused
request and a model that declines are final. ``timeout_s`` limits all of it, and a caller that is cancelled closes the
connection.

The key is kept only in the SDK's client, and appears in no message, log or representation of ours. The SDK logs
requests (memory text) below the level INFO only, which is switched off here.

**Budget.** Calls and uncached input tokens of one question or one reading of texts are bounded. A call is estimated
before it is made, and counts afterwards as it was reported; one that was cut off counts as estimated, since it may have
been billed, and one that reached no server counts nothing.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import anyio
from anyio import to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mcp_memory.configurable import EngineSettings
from mcp_memory.domain.language_model import Spending
from mcp_memory.errors import EngineError, EngineRefused, EngineUnavailable
from mcp_memory.ports import Ledger
from mcp_memory.texts import prompt
from mcp_memory.visible import with_masks

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from httpx2 import Request

HOME = "https://api.anthropic.com"
OUTPUT_TOKENS = 2_048
"""Most tokens of one reply, the model's thinking included."""
PROBLEM_CHARS = 400
"""Most characters of the problem that is sent back."""
REFUSED_STATUSES = frozenset((401, 403, 404))
"""Statuses that repeat until another key or model is set."""
_STATUS_WORDS = {
    401: "the key was refused",
    403: "the key may not do this",
    404: "the model is not known there",
    413: "the request was too large",
    429: "too many requests were sent",
    529: "it is overloaded",
}
LINE_CHARS = 600
"""Length of a line, if it is no sentence; a longer one is cut."""
SENTENCE_CHARS = 1_200
"""Length of a line of one: that of the longest sentence (``language/segments.py``)."""
MARK_BYTES = 8
BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 taken for one token: English has slightly more (tokenizers of 2026), a Chinese sign three."""

FormT = TypeVar("FormT", bound=BaseModel)
UsedT = TypeVar("UsedT")


class Claude:
    """The shared client; nothing is imported or opened before the first call.

    Attributes:
        settings: the settings of the engine.
        spent: by this process so far.
        ledger: keeps what all processes spend within the day's budget; None for no daily budget.
    """

    def __init__(self, key: str | None, settings: EngineSettings, ledger: Ledger | None = None) -> None:
        self.settings = settings
        self.spent = Spending()
        self.ledger = ledger
        self._key = (key or "").strip()
        self._client: AsyncAnthropic | None = None
        self._opening = anyio.Lock()
        self._places = anyio.CapacityLimiter(settings.at_once)

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.settings.model

    @property
    def base_url(self) -> str:
        """Where requests are sent."""
        return self.settings.base_url or HOME

    @property
    def ready(self) -> bool:
        """Whether there is a string that may be a key."""
        return self._key.isascii() and self._key.isprintable() and bool(self._key)

    async def ask(
        self,
        system: str,
        asked: str,
        form: type[FormT],
        convert: Callable[[FormT], UsedT],
        budget: Budget,
        *,
        sent_back: bool = True,
    ) -> UsedT:
        """Return what ``convert`` makes of a reply of the given form.

        Args:
            system: the part of the prompt that is the same in every call.
            asked: the part for this call.
            form: the form of the reply.
            convert: checks and converts the reply; `UnusableReply` sends it back.
            budget: the budget of the question or texts; the time counts too.
            sent_back: whether an unusable reply is sent back. Without it, a request is repeated only if the server
                could not be reached or was overloaded.

        Raises:
            EngineError: nothing usable came within the time, the tries and the budget; the subclass says what helps.
        """
        if not self.ready:
            raise EngineRefused("ANTHROPIC_API_KEY is not set" if not self._key else "ANTHROPIC_API_KEY is no key")
        client = await self._sdk_client()
        began = anyio.current_time()
        left = self.settings.timeout_s - budget.spent.seconds
        try:
            with anyio.move_on_after(left):
                async with self._places:
                    reason = problem = ""
                    for _ in range(self.settings.retries + 1 if sent_back else 1):
                        try:
                            reply = await self._send(client, system, asked, form, problem, budget)
                            return convert(parse_reply(reply, form))
                        except UnusableReply as error:
                            reason, problem = error.reason, error.detail
                    raise EngineError(reason)
        finally:
            spending = Spending(seconds=anyio.current_time() - began)
            budget.spend(spending)
            self.spent += spending
        raise EngineError(f"there was no answer within {self.settings.timeout_s:g} s")

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def _sdk_client(self) -> AsyncAnthropic:
        async with self._opening:
            if self._client is None:
                self._client = await to_thread.run_sync(self._open, abandon_on_cancel=True)
            return self._client

    def _open(self) -> AsyncAnthropic:
        """Return the SDK's client; importing it takes most of a second."""
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        log = logging.getLogger("anthropic")
        log.setLevel(max(log.getEffectiveLevel(), logging.INFO))
        url = self.base_url
        return AsyncAnthropic(
            api_key=self._key,
            base_url=url,
            timeout=self.settings.timeout_s,
            max_retries=self.settings.retries,
            open_telemetry=False,
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),  # no data goes to another address
        )

    async def _send(
        self, client: AsyncAnthropic, system: str, asked: str, form: type[BaseModel], problem: str, budget: Budget
    ) -> Message:
        """Return one reply of the API; its cost is counted in every case, once a server was reached.

        Raises:
            UnusableReply: it is no message of the API.
            EngineError: there is none, or it does not fit the budget.
        """
        from anthropic import APIConnectionError, APIStatusError

        schema = reply_schema(form)
        content = asked
        if problem:
            content = prompt("again.txt").substitute(asked=asked, problem=problem[:PROBLEM_CHARS])
        size = estimate_tokens(system) + estimate_tokens(content) + estimate_tokens(json.dumps(schema))
        budget.check(size)
        reserved = await self.ledger.reserve(size) if self.ledger else None
        spending = Spending(1, size)
        try:
            raw = await client.messages.with_raw_response.create(
                model=self.settings.model,
                max_tokens=OUTPUT_TOKENS,
                system=system,
                messages=[{"role": "user", "content": content}],
                output_config={"format": {"type": "json_schema", "schema": schema}},
            )
            message = parse_message(raw.http_response.content)
            spending = message.usage.spending + Spending(_repeats(raw.http_response.request))
        except APIStatusError as error:
            spending = Spending(1 + _repeats(error.request))
            raise _refusal(error.status_code) from None  # not `from error`: it holds the request, with the key
        except APIConnectionError as error:
            if type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout"):  # of the SDK's HTTP library
                spending = Spending()  # nothing was sent
            else:
                spending = Spending(1 + _repeats(error.request), size)
            raise EngineUnavailable(f"the connection to {self.base_url} failed") from None
        finally:
            budget.spend(spending)
            self.spent += spending
            if self.ledger and reserved:
                await self.ledger.settle(reserved, spending)
        return message


def _repeats(request: Request) -> int:
    """Return how often the SDK had sent a request before: it repeats by itself what fails for a moment."""
    return int(request.headers.get("x-stainless-retry-count", 0))


def _refusal(status: int) -> EngineError:
    """Return the error for a request that the server did not answer."""
    reason = _STATUS_WORDS.get(status, f"it replied with HTTP status {status}")
    if status in REFUSED_STATUSES:
        return EngineRefused(reason)
    return EngineUnavailable(reason) if status in (408, 409, 429) or status >= 500 else EngineError(reason)


@dataclass(slots=True)
class Budget:
    """What one question or reading has spent, within its limits.

    Attributes:
        calls: requests that it may take, failed ones included.
        input_tokens: that it may send and that are not read from a cache.
        spent: so far.
    """

    calls: int
    input_tokens: int
    spent: Spending = field(default_factory=Spending)

    @property
    def left(self) -> int:
        """Input tokens that may still be sent, at least 0."""
        return max(0, self.input_tokens - self.spent.input_tokens)

    def check(self, tokens: int) -> None:
        """Check that a call of this size fits.

        Raises:
            EngineError: it exceeds the limits.
        """
        if self.spent.calls >= self.calls:
            raise EngineError(f"the budget for this is spent ({self.calls} calls)")
        if tokens > self.left:
            raise EngineError(f"the budget for this is spent ({self.input_tokens} input tokens)")

    def spend(self, took: Spending) -> None:
        """Count a call that was made."""
        self.spent += took


class Form(BaseModel):
    """The form of a reply or of a part of it; nothing else may stand in it."""

    model_config = ConfigDict(extra="forbid", strict=True)


_Tokens = Annotated[int, Field(ge=0, le=10_000_000)]


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
