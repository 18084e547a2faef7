"""Secrets in what a call brings: masked before anything reads it, refused where none may be stored, told to the caller.

Messages, documents and facts keep their secrets in the log (``domain/masking.py``). What is asked or edited (questions,
goals, memory points, feedback) is masked before anything is done with it, so of these nothing is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.masking import Masking, masked_value
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, ExploreRequest, NewFact, PointEdits, WriteRequest
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput

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
