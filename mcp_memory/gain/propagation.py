"""Propagation: from the entities of a question to sentences, to passages, and on to further entities (GAM-RAG §3.2).

One round of it: what the active entities are worth flows to the sentences that name them (eq. 5) and is weighed there
by how like the question each sentence is and by what was learnt about it (eqs 4 and 6); the best few are *activated*
and lift the passages that hold them (eqs 7 and 8); from them it flows to the entities that they name (eq. 9), with
which the next round begins.

Only what is active is touched: a round costs as much as its entities have sentences, however large the space.

**Departures.** No sentence is activated twice (DESIGN D12), or rounds 2 and 3 would choose what round 1 chose. Negative
cosines weigh nothing, and a round in which nothing weighs anything is not held (DESIGN D16). Eq. 9 divides by the
number of *activated* sentences of an entity, as the text says, not by all of them, as the symbols say (DESIGN D13).
Entities are taken from the question by what it calls them, never by the nearest vector (DESIGN D18); without any, every
sentence offered has u = 1. After the first round entities that more than a few sentences name are passed over: what
leads everywhere leads nowhere. What is confidently known to help takes part in the first round wherever it stands: it
need not be found again from hop to hop, which saves rounds, and from there the search goes on to what was never shown.
Ties go by id. Whether to go on is not asked of a language model but of whoever calls (``enough``).

On questions of two and more hops over passages the bonuses, added to what ranks them, bring 3 to 6 points of R@5 and
3 to 8 of R@10; on dialogues, where most sentences name nobody but their speaker, nothing (-.6 to +.3), whatever the
numbers. Eq. 8 by itself, with its prior, ranks worse than what it is added to.

Propagation one step at a time, for whoever navigates: one round of GAM-RAG (§3.2) as an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Evidence, Source, Suggestion
from mcp_memory.domain.query import Window
from mcp_memory.gain.settings import GainSettings
from mcp_memory.language.tokens import words
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.vectors import Scores
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import Space

Rows = NDArray[np.intp]
READ = 200
"""Words of a question that are searched for names; a pasted page is not a question."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did.

    Attributes:
        entities: numbers of the entities that it began with, and their worth; none in an entity-free round.
        sentences: rows of the sentences that it activated, best first.
        scores: of these, shares of the whole round's; they add up to 1 at most.
    """

    entities: Mapping[int, float]
    sentences: tuple[int, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Propagation:
    """What propagation found.

    Attributes:
        rounds: as they were held; those that found nothing are none.
        bonuses: of each passage that holds an activated sentence, by its row: the sum of eq. 8 without its prior.
        stopped: whether ``enough`` ended it.
    """

    rounds: tuple[Round, ...]
    bonuses: Mapping[int, float]
    stopped: bool = False

    @property
    def activated(self) -> tuple[int, ...]:
        """S_act: rows of the sentences, in the order in which they were activated."""
        return tuple(row for held in self.rounds for row in held.sentences)

    def channel(self, count: int) -> Scores:
        """Return the bonuses of all ``count`` passages over the greatest: in [0, 1], 0 where there are none."""
        scores = np.zeros(count, dtype=np.float32)
        best = max(self.bonuses.values(), default=0.0)
        for row, bonus in self.bonuses.items():
            scores[row] = bonus / best
        return scores


def in_window(space: Space, rows: Rows, window: Window) -> NDArray[np.bool_]:
    """Return which of these sentences may be found: those said within the window and of no old revision."""
    times = space.sentence_times[rows]
    found: NDArray[np.bool_] = space.sentence_live[rows] & (times >= window.since) & (times < window.until)
    return found


def anchor_entities(index: EntityIndex, text: str, names: Sequence[str] = ()) -> dict[int, float]:
    """Return the entities that a question names and what each is worth, A_0 of eq. 3: 1 for every one of them.

    Args:
        index: of the space.
        text: of the question. Of names within one another only the longest count.
        names: that are meant beside those: of the speaker whom it calls by a first name, or by the caller.
    """
    found = {number: 1.0 for name in names if (number := index.find(name)) is not None}
    for number in index.entities_in(words(text)[:READ]):
        found.setdefault(number, 1.0)
    return found


def propagate(
    space: Space,
    index: EntityIndex,
    begin: Mapping[int, float],
    weigh: Callable[[Rows], Scores],
    settings: GainSettings,
    *,
    free: Sequence[int] = (),
    known: Sequence[int] = (),
    enough: Callable[[Sequence[Round]], bool] | None = None,
) -> Propagation:
    """Return what propagation finds; it changes nothing.

    Args:
        space: of a view that is held still.
        index: of this space.
        begin: numbers of the entities to begin with and their worth, above 0 (`anchor_entities`).
        weigh: ``w`` of eq. 4 for the rows of some sentences, ascending; what is below 0 counts as 0. The rows are all
            that a round looks at.
        settings: the numbers.
        free: rows of the sentences to begin with where there are no entities.
        known: rows of sentences that are known to help with such questions: the first round looks at them as if one
            more entity, worth 1, were named by all of them.
        enough: asked with all rounds so far after each but the last; True ends it.
    """
    rounds: list[Round] = []
    bonuses: dict[int, float] = {}
    used: set[int] = set()
    active = dict(begin)
    for number in range(1, settings.rounds + 1):
        rows, worth = _reached(index, active) if active else _offered(free if number == 1 else ())
        if number == 1 and len(known):
            rows, worth = _joined((rows, worth), _offered(known))
        held = _round(space, rows, worth, weigh, used, settings.sentences)
        if held is None:
            break
        rounds.append(Round(active, *held))
        used.update(rounds[-1].sentences)
        for row, bonus in _bonuses(space, rounds[-1]).items():
            bonuses[row] = bonuses.get(row, 0.0) + float(np.log1p(bonus)) / number
        if number == settings.rounds:
            break
        if enough is not None and enough(rounds):
            return Propagation(tuple(rounds), bonuses, stopped=True)
        active = _next(index, rounds[-1], settings)
        if not active:
            break
    return Propagation(tuple(rounds), bonuses)


def _reached(index: EntityIndex, active: Mapping[int, float]) -> tuple[Rows, Scores]:
    """Return eq. 5 over the sentences of the active entities: their rows, ascending, and u of each."""
    named = [index.sentences(entity).astype(np.intp) for entity in active]
    return _joined(*((rows, np.full(len(rows), worth)) for rows, worth in zip(named, active.values(), strict=True)))


def _joined(*parts: tuple[Rows, Scores]) -> tuple[Rows, Scores]:
    """Return the rows of all parts, ascending, each once, and the sum of what each is worth."""
    rows, places = np.unique(np.concatenate([rows for rows, _ in parts]), return_inverse=True)
    each = np.concatenate([worth for _, worth in parts])
    return rows, np.bincount(places, weights=each, minlength=len(rows)).astype(np.float32)


def _offered(free: Sequence[int]) -> tuple[Rows, Scores]:
    rows = np.unique(np.array(free, dtype=np.intp))
    return rows, np.ones(len(rows), dtype=np.float32)


def _round(
    space: Space, rows: Rows, worth: Scores, weigh: Callable[[Rows], Scores], used: set[int], most: int
) -> tuple[tuple[int, ...], tuple[float, ...]] | None:
    """Return the best sentences and their shares (eq. 6), or None where nothing weighs anything."""
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
    return tuple(int(rows[place]) for place in best), tuple(float(scores[place]) / whole for place in best)


def _bonuses(space: Space, held: Round) -> dict[int, float]:
    """Return eq. 7 for the passages that hold an activated sentence, by row."""
    found: dict[int, float] = {}
    for row, score in zip(held.sentences, held.scores, strict=True):
        sentence = space.sentences[row]
        for passage in space.segments_with(sentence.turn_id, sentence.index):
            found[passage] = found.get(passage, 0.0) + score
    return found


def _next(index: EntityIndex, held: Round, settings: GainSettings) -> dict[int, float]:
    """Return eq. 9: the entities of the activated sentences, the best K_E of them and their worth."""
    sums: dict[int, float] = {}
    counts: dict[int, int] = {}
    for row, score in zip(held.sentences, held.scores, strict=True):
        for entity in index.entities(row):
            sums[entity] = sums.get(entity, 0.0) + score
            counts[entity] = counts.get(entity, 0) + 1
    if settings.divided == "degree":
        counts = {entity: index.degree(entity) for entity in sums}
    worth = {entity: sums[entity] / counts[entity] for entity in sums if index.degree(entity) <= settings.hub}
    best = sorted(worth, key=lambda entity: (-worth[entity], index.key(entity)))[: settings.entities]
    return {entity: worth[entity] for entity in best}


_NEXT = 3
"""Suggestions."""


class Propagate:
    """One round: the sentences that name the entities asked about, those that fit the query best first.

    The view must keep an `EntityIndex`.
    """

    name = "propagate"
    needs = ()
    uses = ("entity", "query", "since", "until")

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; begins at ``entity``, or without one at what ``query`` names; the window narrows it.

        Without a query what names more of these entities comes first. What names none of them is not found.
        """
        space = asked.space
        index = space.index(EntityIndex)
        begin = anchor_entities(index, "" if asked.query is None else asked.query.text)
        if asked.entity is not None:
            number = index.find(asked.entity)
            begin = {} if number is None else {number: 1.0}

        def weigh(rows: Rows) -> Scores:
            weights = np.ones(len(rows), dtype=np.float32) if asked.weigh is None else asked.weigh(rows)
            result: Scores = np.where(in_window(space, rows, asked.window), weights, 0).astype(np.float32)
            return result

        found = propagate(space, index, begin, weigh, GainSettings(rounds=1, sentences=asked.limit))
        if not found.rounds:
            return OperatorResult(())
        best, scores = found.rounds[0].scores[0], found.rounds[0].scores
        items = [self._item(asked, row, score / best) for row, score in zip(found.activated, scores, strict=True)]
        return OperatorResult(tuple(items), self._next(asked, index, found.activated, begin))

    def _item(self, asked: OperatorInput, row: int, score: float) -> Evidence:
        sentence = asked.space.sentences[row]
        source = Source(asked.space.turns[sentence.turn_id], sentence.start, sentence.end)
        return Evidence(sentence.id, "sentence", source.quote, score, (self.name,), (source,))

    def _next(
        self, asked: OperatorInput, index: EntityIndex, activated: tuple[int, ...], begun: dict[int, float]
    ) -> tuple[Suggestion, ...]:
        """Return a further round from what the best sentences name besides, rarest first where one names several."""
        query = {} if asked.query is None else {"query": asked.query.text}
        named: dict[int, int] = {}
        for row in activated:
            others = (entity for entity in index.entities(row) if entity not in begun)
            for entity in sorted(others, key=lambda entity: (index.degree(entity), index.key(entity))):
                named.setdefault(entity, row)
        leading = [(entity, row) for entity, row in named.items() if index.degree(entity) > 1][:_NEXT]
        further = [index.spellings_in(asked.space, row).get(entity, index.key(entity)) for entity, row in leading]
        return tuple(Suggestion(self.name, {"entity": name} | query, f"what else names {name}") for name in further)
