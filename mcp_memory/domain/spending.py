"""What asking a language model has cost, in calls, tokens and time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spending:
    """What was sent and what came back.

    Attributes:
        calls: requests, those that failed included.
        input_tokens: sent and not read from the provider's cache; what was written into it is among them.
        cached_tokens: sent and read from the cache, which costs a tenth.
        output_tokens: that came back.
        seconds: that were waited, pauses and tries included.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, more: Spending) -> Spending:
        """Return both together."""
        return Spending(
            self.calls + more.calls,
            self.input_tokens + more.input_tokens,
            self.cached_tokens + more.cached_tokens,
            self.output_tokens + more.output_tokens,
            self.seconds + more.seconds,
        )
