"""Place what the ranking alone would not: what holds now goes first, and standing wishes come in.

**Wishes** (`place_wishes`). Those that apply stand beside the evidence, and their messages are among it.

**What holds now** (`current_first`) goes first where memory also knows what held before. "Where do I work?" is as near
to the first job that somebody told of as to the present one. Where the question asks, of one person, for a relation
whose value changed, and of no time, the text that states the present value leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.evidence import Root, Wish
from mcp_memory.domain.facts import Version
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import FOREVER
from mcp_memory.language.questions import looks_back
from mcp_memory.navigation.fact_query import fact_query
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


DEMANDED = 0.5
"""How strongly the question must ask for a relation (`FactQuery.demand`)."""
LEADING = 2
"""Most texts that lead: of an employer and a profession both may be asked for."""


def current_first(
    space: Space, query: Query, roots: Iterable[Root], candidates: Sequence[Candidate]
) -> Sequence[Candidate]:
    """Return the candidates with the texts first that state what holds now and was otherwise before.

    Args:
        space: of the candidates.
        query: understood; one of a time or of the past leaves the candidates as they are.
        roots: the entities from which navigation started.
        candidates: best first.
    """
    asked = fact_query(query)
    heads = [root.key for root in roots if not root.soft]
    of_a_time = query.as_of is not None or (query.time is not None and query.time.order != "now")
    if not candidates or len(heads) != 1 or asked.past or asked.compares or of_a_time:
        return candidates
    open_ = recallable(space, query.window, query.role)
    leading: list[int] = []
    for version in sorted(_changed(space, heads[0], query), key=lambda one: -one.assertions[-1].said_at):
        said = max(version.assertions, key=lambda one: one.said_at)
        row = next((row for row in space.segments_with(said.turn_id, said.sentence) if space.talk[row]), None)
        if row is not None and open_[row] and row not in leading:
            leading.append(row)
    leading = leading[:LEADING]
    turns = {space.segment_turn[row].id for row in leading}
    found = {candidate.row: candidate for candidate in candidates}
    first = [replace(found.get(row, Candidate(row, 1.0, ("facts",), {})), score=1.0) for row in leading]
    rest = [one for one in candidates if space.segment_turn[one.row].id not in turns]
    return [*first, *rest][: query.limit]


def _changed(space: Space, head: str, query: Query) -> Iterator[Version]:
    """Yield the versions that hold now of relations that the query asks for, where others held before."""
    asked, facts = fact_query(query), space.facts
    for relation in facts.relations_of(head):
        if facts.cardinality(relation) != "single" or asked.demand(relation) < DEMANDED:
            continue
        versions = [one for one in facts.versions(head, relation) if one.kind != "planned"]
        now = [one for one in versions if one.until >= FOREVER and one.status == "active"]
        before = [one for one in versions if one.status == "closed"]
        if len(now) == 1 and before:
            yield now[0]
