"""Is what is held enough, and if not, what is missing: DESIGN 3.5, without a language model.

How far the evidence covers the question is judged by whoever looked (``search/sufficiency.py``: coverage by rarity, and
margin and share of the speaker who is named). Here comes the question whether anything among the best is of the type
that is asked for, and both become a *reason* in words: what nothing covers, and what kind of answer is needed for whom.
Words, because an operator may look for them (QRMeM's retry with the reason).

**Departures** from DESIGN 3.5, which wants coverage ≥ .8, an item of the right type tied to a root, and a stable path:
coverage alone tells answerable questions from others with an AUROC of .75, the judgement used here with .79, so that
decides, and the type is asked for besides. Of the type only the form is looked at: a number, a date, a name that the
question does not say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from mcp_memory.domain.query import AnswerType as Wanted
from mcp_memory.domain.query import Query
from mcp_memory.language.names import names
from mcp_memory.language.tokens import words
from mcp_memory.view.space import Space

LOOKED_AT = 5
"""Items of which one must have the type that is asked for."""
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|once|twice"
    r"|several|couple|no)\b",
    re.IGNORECASE,
)
_NEEDED: dict[Wanted, str] = {
    "who": "a name",
    "where": "a place",
    "when": "a date",
    "how_many": "a number",
    "how_long": "a length of time",
    "why": "a reason",
}


class Judged(Protocol):
    """What whoever looked thinks of what was found."""

    @property
    def sufficiency(self) -> float: ...  # noqa: D102

    @property
    def sufficient(self) -> bool: ...  # noqa: D102

    @property
    def missing(self) -> tuple[str, ...]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is thought of what is held.

    Attributes:
        sufficient: whether it is enough to stop.
        score: in [0, 1].
        missing: content words of the question that nothing covers.
        reason: why it is not enough, in words; empty where it is.
    """

    sufficient: bool
    score: float
    missing: tuple[str, ...] = ()
    reason: str = ""


def assess(space: Space, question: Query, rows: Sequence[int], judged: Judged, roots: Sequence[str]) -> Assessment:
    """Return what is thought of the evidence.

    Args:
        space: of a view that is held still.
        question: that is asked.
        rows: of the segments that were found, best first.
        judged: how far they cover the question.
        roots: names that the question is about.
    """
    typed = any(_has_type(space, question, row) for row in rows[:LOOKED_AT])
    if judged.sufficient and typed:
        return Assessment(True, judged.sufficiency, judged.missing)
    parts = [f"missing: {', '.join(judged.missing)}"] if judged.missing else []
    if not typed:
        whom = f" for {', '.join(roots)}" if roots else ""
        parts.append(f"need {_NEEDED.get(question.answer_type, 'an answer')}{whom}")
    return Assessment(False, judged.sufficiency, judged.missing, "; ".join(parts) or "too little covers the question")


def lost(question: Query, missing: Collection[str]) -> float:
    """Return the share of a question's content, names aside, that is missing, in [0, 1]; 0 where it is all names.

    Where it is most of it, what the question says leads nowhere, and only what it names does.
    """
    named = {word for name in (*question.names, *question.speakers) for word in words(name)}
    said = [word for word, _ in question.content_words if not named.issuperset(words(word))]
    return sum(word in missing for word in said) / len(said) if said else 0.0


def _has_type(space: Space, question: Query, row: int) -> bool:
    """Return whether a segment holds something of the form that is asked for; who speaks is a name as well."""
    segment, turn = space.segments[row], space.segment_turn[row]
    text = space.text(segment)
    match question.answer_type:
        case "how_many":
            return _NUMBER.search(text) is not None
        case "when" | "how_long":
            stated = any(space.sentences[one].times for one in space.sentences_within(segment))
            return stated or turn.kind != "document"  # a message has the day on which it was said
        case "who":
            asked = set(words(question.text))
            said = (*names(text), *([turn.speaker] if turn.speaker else []))
            return any(not asked.issuperset(words(name)) for name in said)
    return True
