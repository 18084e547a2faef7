"""Place what the ranking by channels alone would not.

**Confirmed evidence** (`rank_confirmed`). What a caller named as helpful comes first (``gain/caller_feedback.py``).

**Wishes** (`place_wishes`). Those that apply stand beside the evidence, and their messages are among it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from mcp_memory.domain.evidence import Wish
from mcp_memory.domain.query import Query
from mcp_memory.language.questions import looks_back
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.times import recallable
from mcp_memory.view.space import Space

KEPT = 5
"""Records that stand before the messages of wishes."""
CONFIRMED = 0.7
"""The least sufficiency of evidence that a caller said helps."""
PLACED = 3
"""Most messages of wishes that become evidence."""


def place_wishes(
    space: Space, candidates: Sequence[Candidate], wishes: Sequence[Wish], query: Query
) -> Sequence[Candidate]:
    """Return the candidates with the messages of the nearest wishes behind the best `KEPT` of them.

    A message that the best records show stays where it is. Fewer candidates than `KEPT` get no more: what was found is
    little, and a wish does not answer a question. Nor does a question of the past ("have I ever baked bread?"): a wish
    says how something is to be done.

    Args:
        space: the space of the candidates.
        candidates: best first.
        wishes: the wishes that apply, the nearest first.
        query: the query whose window, role and limit hold for wishes as well.
    """
    if len(candidates) <= KEPT or looks_back(query.text):
        return candidates
    open_ = recallable(space, query.window, query.role)
    first, rest = list(candidates[:KEPT]), list(candidates[KEPT:])
    shown = {space.segment_turn[one.row].id for one in first}
    placed: list[Candidate] = []
    for wish in wishes:
        if not wish.scope or not open_[wish.row] or len(placed) == PLACED:
            continue
        turn = space.segment_turn[wish.row].id
        if turn not in shown:
            shown.add(turn)
            placed.append(Candidate(wish.row, rest[0].score, ("wishes",), {}))
    rest = [one for one in rest if not (space.talk[one.row] and space.segment_turn[one.row].id in shown)]
    return [*first, *placed, *rest][: query.limit]


def rank_confirmed(
    space: Space,
    query: Query,
    candidates: Sequence[Candidate],
    confirmed: Set[int],
    gates: Mapping[int, float],
) -> tuple[Sequence[Candidate], float | None]:
    """Return the candidates, best first, and their sufficiency by the word of callers, both as feedback has them.

    Where nothing is confirmed, or there is no room for all of it, the sufficiency is None: nobody judged it.

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood with the speakers of the space.
        candidates: best first.
        confirmed: rows of the sentences that come first, from `confirmed_sentences` or `find_correction`.
        gates: the gates of the query, by row of the sentence, from `gain.gates.sentence_gates`.
    """
    if not confirmed:
        return candidates, None

    def sentences(row: int) -> list[int]:
        return space.sentences_within(space.segments[row])

    first = [candidate for candidate in candidates if not confirmed.isdisjoint(sentences(candidate.row))]
    missing = confirmed - {row for candidate in first for row in sentences(candidate.row)}
    further: dict[int, None] = {}
    for row in sorted(missing, key=lambda row: (-gates[row], row)):
        further[space.segments_with(space.sentences[row].turn_id, space.sentences[row].index)[0]] = None
    least = min((candidate.score for candidate in candidates), default=1.0) or 1.0
    first += [Candidate(row, least, ("experience",), {}) for row in further]
    best = max(candidate.score for candidate in first) or 1.0
    rest = [candidate for candidate in candidates if candidate not in first]
    ranked = [replace(candidate, score=(1 + candidate.score / best) / 2) for candidate in first]
    ranked = [*ranked, *(replace(candidate, score=candidate.score / 2) for candidate in rest)][: query.limit]
    if len(first) > query.limit:
        return ranked, None
    return ranked, max(CONFIRMED, *(gates[row] / 2 for row in confirmed))
