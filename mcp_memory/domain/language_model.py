"""Work of a language model: the costs of its requests, and its progress in reading each text for facts.

Costs are counted in calls, tokens and time, for each day in UTC. Day 0 is 1970-01-01.

How far a text was read is stored as rows about that text, and the last row counts. A text without a row has not been
read.
"""

from __future__ import annotations

import operator
from dataclasses import astuple, dataclass
from typing import Literal

from mcp_memory.codec import Count
from mcp_memory.domain.times import DAY, Millis


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of some requests.

    Attributes:
        calls: requests that reached the provider, failed ones included.
        input_tokens: sent and not read from the provider's cache; tokens written into the cache count.
        cached_tokens: sent and read from the cache, which costs a tenth.
        seconds: waited, pauses and retries included.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, more: Spending) -> Spending:
        """Return the sum."""
        return Spending(*map(operator.add, astuple(self), astuple(more)))

    def __sub__(self, less: Spending) -> Spending:
        """Return the difference, which may be negative."""
        return Spending(*map(operator.sub, astuple(self), astuple(less)))


@dataclass(frozen=True, slots=True)
class Reservation:
    """An entry of the day's account.

    Attributes:
        day: the day that it counts for.
        what: is added; below 0 where it corrects an earlier entry. Time is no part of it.
    """

    day: int
    what: Spending


def day_number(at: Millis) -> int:
    """Return the number of the day of a moment."""
    return at // DAY


State = Literal["leased", "waiting", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """One revision of the state of reading one turn.

    Attributes:
        state: ``waiting``, after a failure or between the parts of a long text; ``done``; or ``failed`` too often. In
            rows of an older program ``leased`` by ``holder`` until ``until``, which means ``waiting``.
        parts: the parts of the text, read so far; most messages have one part.
        tries: the tries that failed in a row.
        until: 0, but in rows of an older program.
        holder: empty, but in rows of an older program.
    """

    space: str
    turn_id: str
    state: State
    parts: Count
    tries: Count
    until: Count
    holder: str
    at: Millis
