"""A reply, and what of it fits: a structured part and a text, each of at most ``max_tokens`` counted as characters / 4.

What comes beside the items has a share each (``SHARES``). The items have what is left: the least relevant go first,
and a warning says how many went.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from mcp_memory.server.results import AnswerResult, Result

CHARS_PER_TOKEN = 4
FRAME_CHARS = 300
"""What a reply takes before anything is in it."""
SHARES = {
    "warnings": 0.2,
    "missing": 0.1,
    "conflicts": 0.1,
    "paths": 0.1,
    "next": 0.1,
    "roots": 0.05,
    "points": 0.2,
    "trace": 0.1,
}
"""Of the reply without its frame."""
LABEL_CHARS = 25
"""What a line of the readable part may have before its words: "Next: memory_explore …"."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool says.

    Attributes:
        result: the structured part.
        text: the same for reading.
    """

    result: Result
    text: str

    @property
    def structured(self) -> dict[str, Any]:
        """The structured part as JSON: fields that are null are left out, but for an answer that is none."""
        content = self.result.model_dump(mode="json", exclude_none=True)
        if isinstance(self.result, AnswerResult):
            content.setdefault("answer", None)
        return content

    @property
    def tokens(self) -> float:
        """The size of its larger part; JSON as Python's ``json`` writes it, a little longer than on the wire."""
        return max(_length(self.structured), len(self.text)) / CHARS_PER_TOKEN


ThingT = TypeVar("ThingT", bound=str | BaseModel)


def within(things: Sequence[ThingT], share: str, max_tokens: int) -> list[ThingT]:
    """Return as many things from the start as their share of a reply holds, in JSON or as a line of their own."""
    kept: list[ThingT] = []
    room = (max_tokens * CHARS_PER_TOKEN - FRAME_CHARS) * SHARES[share]
    for thing in things:
        room -= _length(thing if isinstance(thing, str) else thing.model_dump()) + LABEL_CHARS
        if room < 0:
            break
        kept.append(thing)
    return kept


def most_fitting(reply: Callable[[int], Reply], least: int, most: int, max_tokens: int) -> Reply | None:
    """Return the reply with the most items that fits; None if not even ``least`` fit.

    Leaving out the first item also adds a warning; from there on each item less makes the reply shorter.
    """
    if (whole := reply(most)).tokens <= max_tokens:
        return whole
    fitting = None
    while least < most:
        middle = (least + most) // 2
        if (tried := reply(middle)).tokens <= max_tokens:
            fitting, least = tried, middle + 1
        else:
            most = middle
    return fitting


def _length(content: object) -> int:
    return len(json.dumps(content, ensure_ascii=False))


def left_out(number: int) -> list[str]:
    """Return the warning that so many items are missing, if any are."""
    return [f"{counted(number, 'item')} left out to keep within max_tokens."] if number else []


def warned(warnings: Sequence[str]) -> list[str]:
    """Return warnings as lines of the readable part."""
    return [f"Warning: {warning}" for warning in warnings]


def counted(number: int, thing: str) -> str:
    """Return a number with its thing, "1 space", "2 entities"."""
    plural = thing[:-1] + "ies" if thing.endswith("y") else thing + ("es" if thing.endswith("s") else "s")
    return f"{number:,} {thing if number == 1 else plural}"
