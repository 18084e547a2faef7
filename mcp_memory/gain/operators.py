"""Propagation one step at a time, for whoever navigates: one round of GAM-RAG (§3.2) as an operator."""

from __future__ import annotations

import numpy as np

from mcp_memory.domain.evidence import Evidence, Source, Suggestion
from mcp_memory.gain.propagation import Propagating, Rows, admitted, anchors, propagate
from mcp_memory.ports import Found, Step
from mcp_memory.vectors import Scores
from mcp_memory.view.entities import EntityIndex

_NEXT = 3
"""Suggestions."""


class Propagate:
    """One round: the sentences that name the entities asked about, those that fit the query best first.

    The view must keep an `EntityIndex`.
    """

    name = "propagate"
    needs = ()
    uses = ("entity", "query", "since", "until")

    def __call__(self, asked: Step) -> Found:
        """See `ports.Operator`; begins at ``entity``, or without one at what ``query`` names; the window narrows it.

        Without a query what names more of these entities comes first. What names none of them is not found.
        """
        space = asked.space
        index = space.index(EntityIndex)
        begin = anchors(index, "" if asked.question is None else asked.question.text)
        if asked.entity is not None:
            number = index.find(asked.entity)
            begin = {} if number is None else {number: 1.0}

        def weigh(rows: Rows) -> Scores:
            weights = np.ones(len(rows), dtype=np.float32) if asked.weigh is None else asked.weigh(rows)
            result: Scores = np.where(admitted(space, rows, asked.window), weights, 0).astype(np.float32)
            return result

        found = propagate(space, index, begin, weigh, Propagating(rounds=1, sentences=asked.limit))
        if not found.rounds:
            return Found(())
        best, scores = found.rounds[0].scores[0], found.rounds[0].scores
        items = [self._item(asked, row, score / best) for row, score in zip(found.activated, scores, strict=True)]
        return Found(tuple(items), self._next(asked, index, found.activated, begin))

    def _item(self, asked: Step, row: int, score: float) -> Evidence:
        sentence = asked.space.sentences[row]
        source = Source(asked.space.turns[sentence.turn_id], sentence.start, sentence.end)
        return Evidence(sentence.id, "sentence", source.quote, score, (self.name,), (source,))

    def _next(
        self, asked: Step, index: EntityIndex, activated: tuple[int, ...], begun: dict[int, float]
    ) -> tuple[Suggestion, ...]:
        """Return a further round from what the best sentences name besides, rarest first where one names several."""
        query = {} if asked.question is None else {"query": asked.question.text}
        named: dict[int, int] = {}
        for row in activated:
            others = (entity for entity in index.entities(row) if entity not in begun)
            for entity in sorted(others, key=lambda entity: (index.degree(entity), index.key(entity))):
                named.setdefault(entity, row)
        leading = [(entity, row) for entity, row in named.items() if index.degree(entity) > 1][:_NEXT]
        further = [index.spelling(asked.space, row).get(entity, index.key(entity)) for entity, row in leading]
        return tuple(Suggestion(self.name, {"entity": name} | query, f"what else names {name}") for name in further)
