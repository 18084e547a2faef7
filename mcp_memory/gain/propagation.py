"""Propagation: from the entities of a question to sentences, to passages, and on to further entities (GAM-RAG §3.2).

In one round, the scores of the active entities flow to the sentences that name them (eq. 5) and are weighted there by
the similarity of each sentence to the question and by what was learnt about it (eqs 4 and 6). The best few sentences
are *activated* and lift the passages that hold them (eqs 7 and 8). From them scores flow to the entities that they name
(eq. 9), with which the next round starts. A round costs as much as its entities have sentences, however large the space
is. `propagate_once` offers one round as an operator.

**Departures.** No sentence is activated twice (DESIGN D12), or rounds 2 and 3 would choose what round 1 chose. Negative
cosines weigh 0, and a round without any weight does not count (DESIGN D16). Eq. 9 divides by the number of *activated*
sentences of an entity, as the text says, not by all of them, as the symbols say (DESIGN D13). Entities are taken from
the question by their names, never by the nearest vector (DESIGN D18); if no entity is found, propagation starts from
the given sentences, each with u = 1. After the first round hubs are skipped, entities that more than a few sentences
name: they lead everywhere. Sentences that are confidently known to help take part in the first round wherever they
stand: they need not be found again from hop to hop, which saves rounds, and from there the search goes on to sentences
never shown. Ties go by id. Whether to go on is not asked of a language model but of the caller (``enough``).

On questions of two and more hops over passages the bonuses, added to the ranking score, bring 3 to 6 points of R@5 and
3 to 8 of R@10; on dialogues, where most sentences name nobody but their speaker, nothing (-.6 to +.3), whatever the
numbers. Eq. 8 by itself, with its prior, ranks worse than what it is added to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.language.tokens import words
from mcp_memory.ports import OperatorInput, OperatorResult, Weigh
from mcp_memory.vectors import Rows, Scores
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import sentence_evidence
from mcp_memory.view.space import Space

MOST_ROUNDS = 3
"""Rounds of propagation. I, at most (Appendix C: 3)."""
SENTENCES_A_ROUND = 5
"""Sentences that each round activates. K_S (Appendix C: 3; measured: +.3 points of R@5 and +1 of R@10 with 5)."""
ENTITIES_A_ROUND = 5
"""Entities that start the next round. K_E (Appendix C: 5; 3 and 8 lose up to 1 point)."""
HUB_SENTENCES = 10
"""An entity in more sentences than this starts no round. Measured: 200 loses 1 to 3 points of R@5, 30 up to 1, 6 half a
point. The 95th percentile is 6 to 14 on such data, and 1 in a small space."""
READ_WORDS = 200
"""Words of a question that are searched for names; a pasted page is no question."""


Round = Mapping[int, float]
"""The sentences that one round activated, by row, best first: each with its share of the whole round. The shares sum to
1 at most."""


def anchor_entities(index: EntityIndex, text: str, names: Sequence[str] = ()) -> dict[int, float]:
    """Return A_0 of eq. 3: the entities that a question names, each with score 1.

    Of names within one another only the longest count. ``names`` are further ones that are meant: of a speaker called
    by a first name, or given by the caller.
    """
    found = {number: 1.0 for name in names if (number := index.find(name)) is not None}
    for number in index.entities_in(words(text)[:READ_WORDS]):
        found.setdefault(number, 1.0)
    return found


def propagate(
    space: Space,
    begin: Mapping[int, float],
    weigh: Weigh,
    *,
    most_rounds: int = MOST_ROUNDS,
    most: int = SENTENCES_A_ROUND,
    free: Sequence[int] = (),
    known: Sequence[int] = (),
    enough: Callable[[Sequence[Round]], bool] | None = None,
) -> tuple[list[Round], dict[int, float]]:
    """Run propagation; nothing is stored.

    Args:
        space: the space whose view keeps an `EntityIndex`.
        begin: numbers of the entities to start from, with scores above 0 (`anchor_entities`).
        weigh: ``w`` of eq. 4 for rows of sentences, ascending; values below 0 count as 0. A round considers only these
            rows.
        most_rounds: how many rounds run at most.
        most: how many sentences each activates at most.
        free: rows of the sentences to start from if there are no entities.
        known: rows of sentences that are known to help with such questions: the first round treats them as if one more
            entity, with score 1, were named by all of them.
        enough: called with the rounds so far after each but the last; True ends propagation.

    Returns:
        The rounds that ran (a round without results does not count), and by row, of each passage that holds an
        activated sentence, the sum of eq. 8 without its prior.
    """
    index = space.index(EntityIndex)
    rounds: list[Round] = []
    bonuses: dict[int, float] = {}
    used: set[int] = set()
    active = dict(begin)
    for number in range(1, most_rounds + 1):
        rows, worth = _reached_sentences(index, active) if active else _seed_sentences(free if number == 1 else ())
        if number == 1 and len(known):
            rows, worth = _sum_by_row((rows, worth), _seed_sentences(known))
        best = _round(space, rows, worth, weigh, used, most)
        if best is None:
            break
        rounds.append(best)
        used.update(best)
        for row, bonus in _bonuses(space, best).items():
            bonuses[row] = bonuses.get(row, 0.0) + float(np.log1p(bonus)) / number
        if number == most_rounds or (enough is not None and enough(rounds)):
            break
        active = next_entities(index, best)
        if not active:
            break
    return rounds, bonuses


def relative_bonuses(bonuses: Mapping[int, float], count: int) -> Scores:
    """Return the bonuses of all ``count`` passages as shares of the greatest: in [0, 1], 0 without a bonus."""
    scores = np.zeros(count, dtype=np.float32)
    best = max(bonuses.values(), default=0.0)
    for row, bonus in bonuses.items():
        scores[row] = bonus / best
    return scores


def _reached_sentences(index: EntityIndex, active: Mapping[int, float]) -> tuple[Rows, Scores]:
    """Return eq. 5 for the sentences of the active entities: their rows, ascending, and u of each."""
    named = [index.sentences(entity).astype(np.intp) for entity in active]
    return _sum_by_row(*((rows, np.full(len(rows), worth)) for rows, worth in zip(named, active.values(), strict=True)))


def _sum_by_row(*parts: tuple[Rows, Scores]) -> tuple[Rows, Scores]:
    """Return the distinct rows of all parts, ascending, and the sum of the scores of each."""
    rows, places = np.unique(np.concatenate([rows for rows, _ in parts]), return_inverse=True)
    each = np.concatenate([worth for _, worth in parts])
    return rows, np.bincount(places, weights=each, minlength=len(rows)).astype(np.float32)


def _seed_sentences(free: Sequence[int]) -> tuple[Rows, Scores]:
    rows = np.unique(np.array(free, dtype=np.intp))
    return rows, np.ones(len(rows), dtype=np.float32)


def _round(space: Space, rows: Rows, worth: Scores, weigh: Weigh, used: set[int], most: int) -> Round | None:
    """Return the best sentences with their shares (eq. 6), or None if no sentence has weight."""
    if used:
        fresh = ~np.isin(rows, list(used))
        rows, worth = rows[fresh], worth[fresh]
    if not len(rows):
        return None
    scores = np.maximum(weigh(rows), 0).astype(np.float64) * worth
    whole = float(scores.sum())
    if whole <= 0:
        return None
    chosen = np.flatnonzero(scores > 0)
    if len(chosen) > most:
        last = np.partition(scores, len(scores) - most)[len(scores) - most]
        chosen = np.flatnonzero((scores >= last) & (scores > 0))
    best = sorted(chosen.tolist(), key=lambda place: (-scores[place], space.sentences[rows[place]].id))[:most]
    return {int(rows[place]): float(scores[place]) / whole for place in best}


def _bonuses(space: Space, last: Round) -> dict[int, float]:
    """Return eq. 7 for the passages that hold an activated sentence, by row."""
    found: dict[int, float] = {}
    for row, score in last.items():
        for passage in space.segments_of(row):
            found[passage] = found.get(passage, 0.0) + score
    return found


def next_entities(index: EntityIndex, last: Round) -> dict[int, float]:
    """Return eq. 9: the best K_E entities of the activated sentences, with their scores."""
    sums: dict[int, float] = {}
    counts: dict[int, int] = {}
    for row, score in last.items():
        for entity in index.entities(row):
            sums[entity] = sums.get(entity, 0.0) + score
            counts[entity] = counts.get(entity, 0) + 1
    worth = {entity: sums[entity] / counts[entity] for entity in sums if index.degree(entity) <= HUB_SENTENCES}
    best = sorted(worth, key=lambda entity: (-worth[entity], index.key(entity)))[:ENTITIES_A_ROUND]
    return {entity: worth[entity] for entity in best}


_SUGGESTIONS = 3
"""Suggestions at most."""


def propagate_once(call: OperatorInput) -> OperatorResult:
    """One round as an operator: the sentences that name the given entities, most similar to the query first.

    It starts from ``entity``, or without one from the names in ``query``, within the window. Without a query, sentences
    that name more of these entities come first. A further round is suggested from the other entities of the best
    sentences, in each the rarest first.
    """
    space = call.space
    index = space.index(EntityIndex)
    begin = anchor_entities(index, "" if call.query is None else call.query.text)
    if call.entity is not None:
        number = index.find(call.entity)
        begin = {} if number is None else {number: 1.0}

    def weigh(rows: Rows) -> Scores:
        weights = np.ones(len(rows), dtype=np.float32) if call.weigh is None else call.weigh(rows)
        result: Scores = np.where(space.visible(rows, call.window), weights, 0).astype(np.float32)
        return result

    rounds, _ = propagate(space, begin, weigh, most_rounds=1, most=call.limit)
    if not rounds:
        return OperatorResult(())
    best = next(iter(rounds[0].values()))
    items = [
        sentence_evidence(space, space.sentences[row], score / best, ("propagate",)) for row, score in rounds[0].items()
    ]
    named: dict[int, int] = {}
    for row in rounds[0]:
        others = (entity for entity in index.entities(row) if entity not in begin and index.degree(entity) > 1)
        for entity in sorted(others, key=lambda entity: (index.degree(entity), index.key(entity))):
            named.setdefault(entity, row)
    names = [index.spellings_in(space, row).get(one, index.key(one)) for one, row in list(named.items())[:_SUGGESTIONS]]
    steps = (
        Suggestion("propagate", {"entity": name} | call.query_argument, f"what else names {name}") for name in names
    )
    return OperatorResult(tuple(items), tuple(steps))
