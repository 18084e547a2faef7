"""Bring the standing wishes that apply into a recall: beside the evidence, and their messages into it."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.domain.evidence import Wish
from mcp_memory.domain.query import Query
from mcp_memory.language.questions import looks_back
from mcp_memory.ports import Embedder
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.windows import recallable
from mcp_memory.search.wishes import SHOWN, WishIndex, fitting_wishes, standing_wishes
from mcp_memory.view.space import NONE, Space

KEPT = 5
"""Records that stand before the messages of wishes."""
PLACED = 3
"""Most messages of wishes that become evidence."""


def newest_wishes(space: Space) -> tuple[Wish, ...]:
    """Return the newest standing wishes, where nothing is asked that they could apply to."""
    return tuple(standing_wishes(space)[-SHOWN:])


async def wishes_for(space: Space, query: Query, embedder: Embedder) -> tuple[list[Wish], int]:
    """Return the standing wishes that apply to a query, the nearest first, and how many texts were embedded for it.

    Args:
        space: of a view that does not change meanwhile.
        query: understood and embedded.
        embedder: of the scopes that were not embedded yet.
    """
    wishes = standing_wishes(space)
    known = space.index(WishIndex).scopes
    scopes = [wish.scope for wish in wishes if wish.scope]
    if new := [scope for scope in dict.fromkeys(scopes) if scope not in known]:
        known.update(zip(new, await embedder.embed(new), strict=True))
    return fitting_wishes(wishes, [known[scope] for scope in scopes], query), len(new)


def place_wishes(
    space: Space, candidates: Sequence[Candidate], wishes: Sequence[Wish], query: Query
) -> Sequence[Candidate]:
    """Return the candidates with the messages of the nearest wishes behind the best `KEPT` of them.

    A message that the best records show stays where it is. Fewer candidates than `KEPT` get no more: what was found is
    little, and a wish does not answer a question. Nor does a question of the past ("have I ever baked bread?"): a wish
    says how something is to be done.

    Args:
        space: of the candidates.
        candidates: best first.
        wishes: that apply, the nearest first.
        query: whose window, role and limit hold for wishes as well.
    """
    if len(candidates) <= KEPT or looks_back(query.text):
        return candidates
    open_ = recallable(space, query.window, query.role)
    first, rest = list(candidates[:KEPT]), list(candidates[KEPT:])
    shown = {space.segment_turn[one.row].id for one in first}
    placed: list[Candidate] = []
    for wish in wishes:
        if not wish.scope or wish.row == NONE or not open_[wish.row] or len(placed) == PLACED:
            continue
        turn = space.segment_turn[wish.row].id
        if turn not in shown:
            shown.add(turn)
            placed.append(Candidate(wish.row, rest[0].score, ("wishes",), {}))
    rest = [one for one in rest if not (space.talk[one.row] and space.segment_turn[one.row].id in shown)]
    return [*first, *placed, *rest][: query.limit]
