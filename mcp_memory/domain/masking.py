"""Masking: how values of the log are shown and read, where they hold secrets, and what a call brings.

A mask has the length of what it masks, so spans within a text are right for both, whatever rules found the secret and
whenever. The log keeps what was said; everything that is derived from it, shown, exported or sent rests on masked
values: they are masked where a store's view takes them in (`masked`), and where a call brings them.

What is asked or edited (questions, goals, memory points, feedback) is masked before anything is done with it, so of
these nothing is kept. Secrets in what is to be stored are told to the caller, or refused (`check_secrets`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, ExploreRequest, NewFact, PointEdits, WriteRequest
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput


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


NAMED = 5
"""Places that one warning names."""


def masked_fact(fact: NewFact, masking: Masking) -> NewFact:
    """Return a caller's fact as it is shown; the fact itself where it holds no secret."""
    head, tail = masking.mask(fact.head), masked_value(fact.relation, fact.tail, masking)
    return fact if (head, tail) == (fact.head, fact.tail) else replace(fact, head=head, tail=tail)


def check_secrets(request: WriteRequest, turns: Sequence[Turn], masking: Masking) -> list[str]:
    """Return what to tell the caller about the secrets in a call, in words; nothing where there are none.

    Raises:
        InvalidInput: there are some, and none are to be stored.
    """
    found: list[tuple[str, str]] = []
    for place, turn in enumerate(turns):
        if turn.original is not None:
            kinds = dict.fromkeys(kind for said in turn.original if said for kind in masking.kinds(said))
            found.append((f"{turn.kind}s[{place}]", ", ".join(kinds)))
    for place, fact in enumerate(request.facts):
        if masked_fact(fact, masking) is not fact:
            stated = f"{fact.head} {fact.relation.replace('_', ' ')} {fact.tail}"
            kinds = dict.fromkeys(masking.kinds(stated, statement=True))
            found.append((f"facts[{place}]", ", ".join(kinds) or "secret"))
    if not found:
        return []
    if masking.refuses:
        problem = f"it holds a secret ({found[0][1]}), and privacy.secrets is 'refuse'"
        raise InvalidInput(found[0][0], problem, "Leave the secret out. Nothing of this call was stored.")
    named = ", ".join(f"{where} ({kinds})" for where, kinds in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return [
        f"Secrets in {named}{more}: they stay in this memory's log and are masked wherever they are shown, searched, "
        "exported or sent."
    ]


def masked_query(query: Query, masking: Masking) -> Query:
    """Return a query without secrets."""
    return replace(
        query,
        text=masking.mask(query.text),
        wordings=tuple(map(masking.mask, query.wordings)),
        entities=tuple(map(masking.mask, query.entities)),
    )


def masked_step(request: ExploreRequest, masking: Masking) -> ExploreRequest:
    """Return a step of navigation without secrets."""
    query = request.query and masking.mask(request.query)
    return replace(request, query=query, entity=request.entity and masking.mask(request.entity))


def masked_edits(request: EvolveRequest, masking: Masking) -> EvolveRequest:
    """Return what is to be improved without secrets; a correction is a message, and masked as one."""
    points = request.points
    if points is not None:
        points = PointEdits(
            tuple(replace(one, description=masking.mask(one.description)) for one in points.insert),
            tuple(replace(one, description=masking.mask(one.description)) for one in points.update),
            tuple(replace(one, description=masking.mask(one.description)) for one in points.merge),
        )
    return replace(request, goal=request.goal and masking.mask(request.goal), points=points)
