"""The way to Claude: one client for the process, which asks for JSON of a given form and takes no other.

A reply is validated twice (``message.py``): as a message of the API, and its text as the form that was asked for. What
does not fit is sent back with the reason, in the same words as before and without what the model had said, as often as
the terms allow. A server that is overloaded, limits the rate or breaks the connection is asked again after a pause, the
one it names or twice the last. Where nobody can be reached, it is tried once more and then given up, and nothing of it
counts as sent. A refused key, a refused request and a model that declines are not asked again. All of it, waiting for a
free place included, has ``timeout_s``: a pause that would not end in time is not begun. Importing the SDK, once, takes
a second or two that are no part of it.

Whoever is cancelled while waiting cancels the request, which closes the connection.

**Departures.** DESIGN 5 raises the temperature with each try; the SDK of today has no temperature to raise.

The key is handed over once and kept in the SDK's client alone. It is in no message, log or representation of ours, and
the SDK logs requests (memory text) below the level INFO only, which is shut off here.

What one question may cost, or one goal of memory points, or one reading of texts, and what it has cost so far.

Calls and uncached input tokens are bounded, whichever is spent first; tokens read from the provider's cache are counted
apart. Before a call its size is estimated, and a call that does not fit is not made. Afterwards what the reply reports
counts; a call that was cut off counts as estimated, since it may have been paid for, and one that reached nobody counts
nothing.

How a question's tokens are parted: its meaning (``understanding.py``) and its paths (``paths.py``) are asked about
first, and leave `ANSWER_TOKENS` untouched, and one call. Of what is then left the first judgement takes 40 %, or 2,000
tokens if these are at most 60 %, and of what is left of that each later one 60 %, or 2,000 (``answer.py``). Its time
likewise: the meaning may take 40 % of it, each look at paths 25 %, and the judgement what is left. A goal's tokens
(``points.py``): each of its two steps may take 40 % of what is left, so that it can be asked again.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import to_thread
from pydantic import BaseModel

from mcp_memory.domain.spending import Spending
from mcp_memory.errors import EngineCutOff, EngineError, EngineRefused, EngineUnavailable
from mcp_memory.ports import Ledger
from mcp_memory.reasoning.anthropic.replies import (
    CutOffReply,
    FormT,
    Message,
    UnusableReply,
    parse_message,
    parse_reply,
    reply_schema,
)
from mcp_memory.texts import prompt

if TYPE_CHECKING:
    from anthropic import APIConnectionError, APIStatusError, AsyncAnthropic
    from anthropic.types import TextBlockParam

HOME = "https://api.anthropic.com"
OUTPUT_TOKENS = 2_048
"""Of one reply, what the model thinks before it speaks included."""
PROBLEM_CHARS = 400
"""Of what was wrong with a reply, as the model is told."""
LONGEST_PAUSE_S = 8.0
UNREACHED = 2
"""Tries that reach nobody: a second one helps where a server is just starting, a third keeps the asker waiting."""
REFUSED = frozenset((401, 403, 404))
"""Statuses that come again whatever is asked, until somebody sets another key or model."""
_STATUS_WORDS = {
    401: "the key was refused",
    403: "the key may not do this",
    404: "the model is not known there",
    413: "the request was too large",
    429: "too many requests were sent",
    529: "it is overloaded",
}


@dataclass(frozen=True, slots=True)
class ClaudeSettings:
    """How Claude is asked.

    Attributes:
        model: its id.
        timeout_s: for all that is asked about one question, goal or text, with everything that it takes.
        base_url: of the Messages API.
        retries: further tries after one that failed.
        at_once: requests under way at the same time; others wait.
        cache_min_tokens: what is the same in every call is marked for the provider's cache from this length on.
        pause_s: before the second try, where the server names none; then twice the last.
    """

    model: str = "claude-haiku-5-5"
    timeout_s: float = 20.0
    base_url: str = HOME
    retries: int = 3
    at_once: int = 4
    cache_min_tokens: int = 4_096
    pause_s: float = 0.5


@dataclass(frozen=True, slots=True)
class Request:
    """What is said to the model.

    Attributes:
        stable: the same in every call, so that it can be cached.
        asked: this time.
    """

    system: str
    asked: str


UsedT = TypeVar("UsedT")


class Claude:
    """The shared client; nothing is imported or opened before the first call.

    Attributes:
        terms: how it is asked.
        spent: by this process, so far.
        ledger: keeps what all processes spend within the day's budget; None leaves that to nobody.
    """

    def __init__(self, key: str | None, terms: ClaudeSettings, ledger: Ledger | None = None) -> None:
        self.terms = terms
        self.spent = Spending()
        self.ledger = ledger
        self._key = (key or "").strip()
        self._client: AsyncAnthropic | None = None
        self._opening = anyio.Lock()
        self._places = anyio.CapacityLimiter(terms.at_once)

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.terms.model

    @property
    def base_url(self) -> str:
        """Where requests are sent."""
        return self.terms.base_url

    @property
    def ready(self) -> bool:
        """Whether there is something that looks like a key."""
        return self._key.isascii() and self._key.isprintable() and bool(self._key)

    async def ask(
        self,
        request: Request,
        form: type[FormT],
        convert: Callable[[FormT], UsedT],
        budget: Budget,
        *,
        sent_back: bool = True,
        within_s: float = math.inf,
    ) -> UsedT:
        """Return what ``use`` makes of a reply of the given form.

        Args:
            request: to the model.
            form: of its reply.
            convert: checks the reply and makes something of it; `UnusableReply` sends it back.
            budget: of the question, the goal or the texts that this is for; the time spent on them counts too.
            sent_back: whether a reply that cannot be used is sent back; else nothing is asked twice, but of a server
                that could not be reached or was overloaded.
            within_s: the time for this, where it is less than what is left of `Terms.timeout_s`.

        Raises:
            EngineError: nothing usable came within the time, the tries and the budget; the subclass says what helps.
        """
        if not self.ready:
            raise EngineRefused("ANTHROPIC_API_KEY is not set" if not self._key else "ANTHROPIC_API_KEY is no key")
        client = await self._opened()
        began = anyio.current_time()
        left = self.terms.timeout_s - budget.spent.seconds
        try:
            with anyio.move_on_after(min(left, within_s)):
                async with self._places:
                    return await self._tried(client, request, form, convert, budget, sent_back=sent_back)
        finally:
            spending = Spending(seconds=anyio.current_time() - began)
            budget.spend(spending)
            self.spent += spending
        raise EngineError(f"there was no answer within {within_s if within_s < left else self.terms.timeout_s:g} s")

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def _opened(self) -> AsyncAnthropic:
        async with self._opening:
            if self._client is None:
                self._client = await to_thread.run_sync(self._open, abandon_on_cancel=True)
            return self._client

    def _open(self) -> AsyncAnthropic:
        """Return the SDK's client; importing it takes most of a second."""
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        log = logging.getLogger("anthropic")
        log.setLevel(max(log.getEffectiveLevel(), logging.INFO))
        url = self.terms.base_url or HOME
        return AsyncAnthropic(
            api_key=self._key,
            base_url=url,
            timeout=self.terms.timeout_s,
            max_retries=0,
            open_telemetry=False,
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),  # nothing goes where nobody said it should
        )

    async def _tried(
        self,
        client: AsyncAnthropic,
        request: Request,
        form: type[FormT],
        convert: Callable[[FormT], UsedT],
        budget: Budget,
        *,
        sent_back: bool,
    ) -> UsedT:
        from anthropic import APIConnectionError, APIStatusError

        pause, reason, problem, unreached = self.terms.pause_s, "", "", 0
        wait: float | None = None
        failure: type[EngineError] = EngineError
        for _ in range(self.terms.retries + 1):
            if wait is not None:
                await _pause(wait, reason)
                pause, wait = min(2 * pause, LONGEST_PAUSE_S), None
            try:
                return convert(parse_reply(await self._sent(client, request, form, problem, budget), form))
            except UnusableReply as error:
                reason, problem = error.reason, error.detail
                failure = EngineCutOff if isinstance(error, CutOffReply) else EngineError
                if not sent_back:
                    break
            except APIStatusError as error:
                reason = _STATUS_WORDS.get(error.status_code, f"it replied with HTTP status {error.status_code}")
                if error.status_code not in (408, 409, 429) and error.status_code < 500:
                    refused = EngineRefused if error.status_code in REFUSED else EngineError
                    raise refused(reason) from None  # not `from error`: it holds the request, with the key
                wait, failure = _requested_pause(error) or pause, EngineUnavailable
            except APIConnectionError as error:
                reason, wait, failure = "the connection failed", pause, EngineUnavailable
                if _reached_nobody(error):
                    unreached += 1
                    reason = f"the connection failed: nobody could be reached at {self.terms.base_url}"
                    if unreached == UNREACHED:
                        break
        raise failure(reason)

    async def _sent(
        self, client: AsyncAnthropic, request: Request, form: type[BaseModel], problem: str, budget: Budget
    ) -> Message:
        """Return one reply of the API; what it takes is counted, whatever happens, once somebody was reached."""
        from anthropic import APIConnectionError, APIStatusError

        schema = reply_schema(form)
        content = request.asked
        if problem:
            content = prompt("again.txt").substitute(asked=content, problem=problem[:PROBLEM_CHARS])
        size = estimate_tokens(request.system) + estimate_tokens(content) + estimate_tokens(dumps(schema))
        budget.check(size)
        system: TextBlockParam = {"type": "text", "text": request.system}
        if estimate_tokens(request.system) >= self.terms.cache_min_tokens:
            system["cache_control"] = {"type": "ephemeral"}
        reserved = await self.ledger.reserve(size) if self.ledger else None
        spending = Spending(1, size)
        try:
            raw = await client.messages.with_raw_response.create(
                model=self.terms.model,
                max_tokens=OUTPUT_TOKENS,
                system=[system],
                messages=[{"role": "user", "content": content}],
                output_config={"format": {"type": "json_schema", "schema": schema}},
            )
            message = parse_message(raw.http_response.content)
            spending = message.usage.spending
        except APIStatusError:
            spending = Spending(1)
            raise
        except APIConnectionError as error:
            spending = Spending() if _reached_nobody(error) else spending
            raise
        finally:
            budget.spend(spending)
            self.spent += spending
            if self.ledger and reserved:
                self.ledger.settle(reserved, spending)
        return message


async def _pause(seconds: float, reason: str) -> None:
    """Wait before the next try, unless that would not end in time."""
    if anyio.current_time() + seconds >= anyio.current_effective_deadline():
        raise EngineUnavailable(reason)
    await anyio.sleep(seconds)


def _reached_nobody(error: APIConnectionError) -> bool:
    """Return whether no connection was made at all, so that nothing was sent.

    Told by the name of what caused it: which library for HTTP the SDK has is its own affair, and has changed.
    """
    return type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout")


def _requested_pause(error: APIStatusError) -> float | None:
    """Return the seconds that a server asks to wait, if it says so."""
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:  # a date, or nothing
        return None
    return seconds if seconds >= 0 else None


BYTES_PER_TOKEN = 3
"""Of UTF-8: a little less than English takes with the tokenizers of 2026, and one sign of a script without letters."""

ANSWER_TOKENS = 3_000
"""Of input, that the steps before the judgement leave for it: its frame with a dozen lines at least, and once more with
a few of what it misses. What a question means and how good paths are helps nobody where no judge can be asked any more.
"""


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is, rather too many."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """What one question, goal or reading may cost.

    Attributes:
        calls: requests, those that fail included.
        input_tokens: sent and not read from a cache.
    """

    calls: int = 8
    input_tokens: int = 6_000


class Budget:
    """The budget of one question, goal or reading.

    Attributes:
        spent: so far.
    """

    def __init__(self, allowance: BudgetLimits, spent: Spending | None = None) -> None:
        self._allowance = allowance
        self._kept = 0
        self.spent = spent or Spending()

    @property
    def left(self) -> int:
        """Input tokens that may still be sent, at least 0."""
        return max(0, self._allowance.input_tokens - self.spent.input_tokens - self._kept)

    @contextmanager
    def reserve(self, tokens: int) -> Iterator[None]:
        """Let no call pass meanwhile that would leave fewer tokens than these for what comes later, or no call."""
        before, self._kept = self._kept, tokens
        try:
            yield
        finally:
            self._kept = before

    def check(self, tokens: int) -> None:
        """Let a call of this size pass.

        Raises:
            EngineError: it would go beyond the allowance.
        """
        if self.spent.calls >= self._allowance.calls:
            raise EngineError(f"the budget for this is spent ({self._allowance.calls} calls)")
        if self._kept and self.spent.calls + 1 >= self._allowance.calls:
            raise EngineError("the rest of the budget is kept for the judgement (1 call)")
        if tokens > self.left and tokens <= self.left + self._kept:
            raise EngineError(f"the rest of the budget is kept for the judgement ({self._kept} input tokens)")
        if tokens > self.left:
            raise EngineError(f"the budget for this is spent ({self._allowance.input_tokens} input tokens)")

    def spend(self, took: Spending) -> None:
        """Count a call that was made."""
        self.spent += took
