"""Masking: how values of the log are shown and read, where they hold secrets.

A mask has the length of what it masks, so spans within a text are right for both, whatever rules found the secret and
whenever. The log keeps what was said; everything that is derived from it, shown, exported or sent rests on masked
values: they are masked where a store's view takes them in (`masked`), and where a call brings them (``privacy/``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.turns import Turn


class Masking(Protocol):
    """Finds and masks secrets.

    Attributes:
        refuses: whether what holds a secret is not to be stored at all.
    """

    @property
    def refuses(self) -> bool: ...  # noqa: D102

    def mask(self, text: str, *, statement: bool = False) -> str:
        """Return a text of the same length without its secrets; masking it again changes nothing.

        Args:
            text: to mask.
            statement: whether it is a caller's fact in words, where a name may stand before its value without a sign.
        """

    def kinds(self, text: str, *, statement: bool = False) -> tuple[str, ...]:
        """Return what kinds of secrets a text holds, each once."""


class KeepSecrets:
    """Masks nothing."""

    refuses = False

    def mask(self, text: str, *, statement: bool = False) -> str:  # noqa: ARG002
        """Return the text as it is."""
        return text

    def kinds(self, text: str, *, statement: bool = False) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing."""
        return ()


KEEP: Masking = KeepSecrets()


def masked_turn(turn: Turn, masking: Masking) -> Turn:
    """Return a turn as it is shown; what the log keeps of it stays in ``original``."""
    text = masking.mask(turn.text, statement=turn.kind == "statement")
    title = turn.title and masking.mask(turn.title)
    if text == turn.text and title == turn.title:
        return turn
    return replace(turn, text=text, title=title, original=turn.original or (turn.text, turn.title))


def masked_assertion(fact: Assertion, masking: Masking) -> Assertion:
    """Return an assertion as it is shown: its relation may say that its tail is a secret."""
    head, tail = masking.mask(fact.head), masked_value(fact.relation, fact.tail, masking)
    return (
        fact
        if (head, tail) == (fact.head, fact.tail)
        else replace(fact, head=head, tail=tail, original=fact.original or (fact.head, fact.tail))
    )


def masked_value(relation: str, tail: str, masking: Masking) -> str:
    """Return the tail of a fact as it is shown."""
    stated = f"{relation.replace('_', ' ')} {tail}"
    return masking.mask(masking.mask(stated, statement=True)[len(stated) - len(tail) :])


def masked(batch: Batch, masking: Masking) -> Batch:
    """Return recorded values as they are shown; the batch itself where it holds no secret."""
    if masking is KEEP:
        return batch
    turns = tuple(masked_turn(turn, masking) for turn in batch.turns)
    facts = tuple(masked_assertion(fact, masking) for fact in batch.assertions)
    lessons = tuple(
        lesson if (query := masking.mask(lesson.query)) == lesson.query else replace(lesson, query=query)
        for lesson in batch.lessons
    )
    points = tuple(
        point if (text := masking.mask(point.description)) == point.description else replace(point, description=text)
        for point in batch.points
    )
    changed = (turns, facts, lessons, points) != (batch.turns, batch.assertions, batch.lessons, batch.points)
    return replace(batch, turns=turns, assertions=facts, lessons=lessons, points=points) if changed else batch
