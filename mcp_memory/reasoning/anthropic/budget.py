"""What one question may cost, or one goal of memory points, or one reading of texts, and what it has cost so far.

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

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mcp_memory.domain.spending import Spending
from mcp_memory.errors import EngineError

BYTES_PER_TOKEN = 3
"""Of UTF-8: a little less than English takes with the tokenizers of 2026, and one sign of a script without letters."""

ANSWER_TOKENS = 3_000
"""Of input, that the steps before the judgement leave for it: its frame with a dozen lines at least, and once more with
a few of what it misses. What a question means and how good paths are helps nobody where no judge can be asked any more.
"""


def estimate(text: str) -> int:
    """Return about how many tokens a text is, rather too many."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Allowance:
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

    def __init__(self, allowance: Allowance, spent: Spending | None = None) -> None:
        self._allowance = allowance
        self._kept = 0
        self.spent = spent or Spending()

    @property
    def left(self) -> int:
        """Input tokens that may still be sent, at least 0."""
        return max(0, self._allowance.input_tokens - self.spent.input_tokens - self._kept)

    @contextmanager
    def keeping(self, tokens: int) -> Iterator[None]:
        """Let no call pass meanwhile that would leave fewer tokens than these for what comes later, or no call."""
        before, self._kept = self._kept, tokens
        try:
            yield
        finally:
            self._kept = before

    def afford(self, tokens: int) -> None:
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
