"""The kind of value that a question asks for: what it is called, and whether a text has one at all.

Only the form is checked: a number, a date, a name that is not in the question.
"""

from __future__ import annotations

import re

from mcp_memory.domain.query import AnswerType
from mcp_memory.language.names import names
from mcp_memory.language.tokens import words

NEEDED: dict[AnswerType, str] = {
    "who": "a name",
    "where": "a place",
    "when": "a date",
    "how_many": "a number",
    "how_long": "a length of time",
    "why": "a reason",
}
"""What each kind is called in words, for those that have a name."""
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|once|twice"
    r"|several|couple|no)\b",
    re.IGNORECASE,
)


def has_kind(kind: AnswerType, question: str, text: str, speaker: str | None, *, dated: bool) -> bool:
    """Return whether a text has a value of a kind; true of the kinds that have no form of their own.

    Args:
        kind: what the question asks for.
        question: whose own names are no answers to it.
        text: of the evidence.
        speaker: who said it, whose name is one too.
        dated: whether it states a time, or has the day on which it was said.
    """
    match kind:
        case "how_many":
            return _NUMBER.search(text) is not None
        case "when" | "how_long":
            return dated
        case "who":
            asked = set(words(question))
            named = (*names(text), *([speaker] if speaker else []))
            return any(not asked.issuperset(words(name)) for name in named)
    return True
