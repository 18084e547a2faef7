"""The table of times, ``resources/times.toml``: each pattern with the function of ``meanings.py`` for what it means."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import NamedTuple

from mcp_memory.language import expressions, meanings
from mcp_memory.language.expressions import MONTH_WORDS, WEEKDAY_WORDS, compiled, written_out
from mcp_memory.language.meanings import Meaning
from mcp_memory.language.yearless import Telling
from mcp_memory.texts import resource


class Pattern(NamedTuple):
    """One kind of time expression.

    Attributes:
        words: the pattern is tried only if the sentence holds one of these, in lower case; ``#`` is a digit.
        text: its regular expression, compiled when a sentence first needs it.
        meaning: returns what a match means, None to leave it to other patterns.
    """

    words: frozenset[str]
    text: str
    meaning: Callable[[re.Match[str], Telling], Meaning | None]

    @property
    def pattern(self) -> re.Pattern[str]:
        """Finds candidates, and fills slots."""
        return compiled(self.text)


_BEHIND = re.compile(r"@behind:([\w ]+)@")
_UNITS = "minute hour day night week fortnight month year decade weekend"
_WORDS = {
    "weekday_words": " ".join(WEEKDAY_WORDS),
    "month_words": " ".join(MONTH_WORDS),
    "unit_words": " ".join(f"{unit} {unit}s" for unit in _UNITS.split()),
    "tie_words": " ".join(meanings.TIES),
}


def _patterns() -> tuple[Pattern, ...]:
    """Return the patterns in the order of their precedence."""
    table = tomllib.loads(resource("times.toml"))
    fragments = {name.lower(): value for name, value in vars(expressions).items() if isinstance(value, str)}
    listed = {
        "ties": "|".join(meanings.TIES),
        "nths": "|".join(meanings.NTH),
    }
    parts = fragments | listed | table["parts"]
    return tuple(
        Pattern(
            frozenset(written_out(row["words"], _WORDS).split()),
            _BEHIND.sub(_lookbehinds, written_out(row["pattern"], parts)),
            getattr(meanings, row["meaning"]),
        )
        for row in table["rows"]
    )


def _lookbehinds(found: re.Match[str]) -> str:
    """Return what matches behind one of some words and a space."""
    return "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in found[1].split()) + ")"


PATTERNS = _patterns()
