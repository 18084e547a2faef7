"""Settings of the engine that judges, and of the requests to Claude."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from mcp_memory.configurable import key


class Effort(NamedTuple):
    """What Claude may spend on one query or goal.

    Attributes:
        calls: requests.
        input_tokens: uncached.
        follow_ups: times that it is asked again.
    """

    calls: int
    input_tokens: int
    follow_ups: int


EFFORTS = {"quick": Effort(3, 6_000, 1), "normal": Effort(8, 8_000, 2), "deep": Effort(16, 30_000, 6)}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Who judges; the API key comes only from the environment (ANTHROPIC_API_KEY)."""

    judge: Literal["embedded", "auto", "anthropic"] = key(
        "embedded", 'nothing leaves the machine; "auto": Claude where that judge is unsure; "anthropic": always'
    )
    """``auto`` asks Claude where the embedded judgement of an answer or a recall is unsure, ``anthropic`` about each
    that has evidence. The query and its evidence are sent; the last three settings say what else is."""
    model: str = key(
        "claude-haiku-5-5", "it is sent the query and the evidence found for it; see the last three keys, too"
    )
    timeout_s: float = key(20.0, "seconds for all requests of one query or goal; then the embedded engine goes on")
    """Retries and pauses included; the same for one reading of texts."""
    base_url: str = key("", 'of the Messages API, to which all of it is sent; "" = Anthropic\'s own')
    """The environment's ANTHROPIC_BASE_URL does not count."""
    effort: Literal["quick", "normal", "deep"] = key(
        "normal",
        "how much Claude may spend on one query or goal: 3, 8 or 16 requests and 6,000, 8,000 or 30,000 tokens",
    )
    """With ``quick`` it is asked once more about what it had searched for, with ``normal`` twice, with ``deep`` six
    times (MRAgent §3.2 stops after a bound too). ``quick`` goes without its interpretation of the question, which
    would take what the judgement needs."""
    day_tokens: int = key(500_000, "the same for a day of UTC, over all processes on the store; 0 = no limit", least=0)
    """A reply has at most 2,048 tokens."""
    retries: int = 3
    """Further tries after one that failed or was not usable."""
    at_once: int = 4
    """Requests of this process that run at the same time."""
    understand: bool = key(
        True, 'with "anthropic", Claude interprets the query; the names of up to 12 speakers are sent'
    )
    """Entities, relations and time that the query means, and what has to be found on the way."""
    points: bool = key(
        True, 'with "anthropic", it makes and merges memory points of a goal; these and evidence are sent'
    )
    enrich: Literal["off", "all"] = key(
        "off", 'with "anthropic", it reads "all" that was ever written for facts, in the background'
    )
    """Until half of ``day_tokens`` is spent: the rest is left to queries."""
