"""What no assertion passes without, whoever read it: its words stand in the text, its numbers make sense (DESIGN 1).

A language model may invent a name, a rule may cut one badly. So head and tail must be written in the text, or be who
speaks, who is spoken to, or what the document is about; what a relative is called by whose they are ("Maria's sister")
needs both parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import WHOLE, Assertion
from mcp_memory.domain.turns import Turn

LEAST = 0.01
"""The lowest confidence that is kept; 0 would say that the text denies it."""
LONGEST = 200
"""Characters in a head or a tail; what is longer is a clause, not a name."""


def guarded(
    turn: Turn, partner: str | None, sentences: Sequence[tuple[int, int]], assertions: Iterable[Assertion]
) -> list[Assertion]:
    """Return the assertions that the text bears out, their confidence brought into (0, 1].

    Args:
        turn: the text that is said to assert them.
        partner: whom a message is said to, if known.
        sentences: spans of its sentences, in characters.
        assertions: as an extractor gave them.

    Dropped are those of another turn, with a head or tail that is nowhere written and nobody's name, with a span that
    is empty or leaves its sentence, without an instant in which they hold, or without a number as confidence.
    """
    written = turn.text.casefold()
    known = [name.casefold() for name in (turn.speaker, partner, turn.title) if name]
    known.append("user")
    return [
        replace(item, confidence=min(max(item.confidence, LEAST), 1.0))
        for item in assertions
        if item.turn_id == turn.id
        and math.isfinite(item.confidence)
        and item.since < item.until
        and _within(item, len(turn.text), sentences)
        and item.relation
        and _is_borne_out(item.head, written, known)
        and _is_borne_out(item.tail, written, known)
    ]


def _within(item: Assertion, length: int, sentences: Sequence[tuple[int, int]]) -> bool:
    if item.sentence == WHOLE:
        return 0 <= item.start < item.end <= length
    if not 0 <= item.sentence < len(sentences):
        return False
    start, end = sentences[item.sentence]
    return start <= item.start < item.end <= end


def _is_borne_out(name: str, written: str, known: Sequence[str]) -> bool:
    plain = " ".join(name.casefold().split())
    if not plain or len(plain) > LONGEST:
        return False
    if plain in written or any(plain in title for title in known):
        return True
    owner, possessive, rest = plain.rpartition("'s ")
    if possessive and rest in written:
        return _is_borne_out(owner, written, known)
    return name.casefold() in " ".join(written.split())
