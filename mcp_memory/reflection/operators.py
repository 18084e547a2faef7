"""Reflection as a step of navigation, for whoever navigates: one call goes through the three navigators of QRMeM.

The paper has them as alternatives, each better than the one before. Here one leads on to the other: the entities are
grown along what is near to the question (`expansion`), then reflection takes one entity after the other (`reflect`),
and where neither gets anywhere, because the question names nothing that is known, what the held segments share is
tried (`trial`). They are one operator and not three because they ask for the same, what lies beyond the question's
entities, and whoever chooses a step by its name cannot know which of them will find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.language.tokens import words
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reflection.graph import Graph, Piece, fitting
from mcp_memory.reflection.navigators import entity_trial, expand, reflect
from mcp_memory.reflection.settings import Reflecting
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import segment_evidence
from mcp_memory.view.space import NONE, Space

_NEXT = 3
"""Suggestions beside the next step."""
_READ = 200
"""Words of a query that are searched for names; a pasted page is not a question."""


class Reflect:
    """Further entities, and the segments that tell of them, by what is said between them and those of the query.

    The view must keep an `EntityIndex`.

    Args:
        settings: how far it goes.
    """

    name = "reflect"
    needs = ("query",)
    uses = ("query", "entity", "ids", "since", "until")

    def __init__(self, settings: Reflecting | None = None) -> None:
        self._settings = settings or Reflecting()

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; begins at what ``query`` names and at ``entity``.

        The query is [Q; R; E] of the paper: the question, what is missing, and the entities that are known, in any
        words; after a semicolon each may stand by itself. What ``ids`` stand for is held: it is S_imp and not found
        again. The window hides what was said outside of it.
        """
        if asked.weigh is None or asked.query is None:
            return OperatorResult(())
        graph = Graph(asked.space, asked.weigh, hub=self._settings.hub)
        begin = _entities(graph, asked)
        held = graph.standing(row for one in asked.ids for row in _sentences(asked.space, one))
        entities, pieces = self._navigated(graph, begin, held)
        shown = pieces[: asked.limit]
        best = shown[0].score if shown else 1.0
        items = [segment_evidence(asked.space, piece.row, piece.score / best, (self.name,)) for piece in shown]
        return OperatorResult(tuple(items), tuple(self._next(asked, graph, entities, items)))

    def _navigated(
        self, graph: Graph, begin: Sequence[str], held: Sequence[Piece]
    ) -> tuple[list[str], tuple[Piece, ...]]:
        """Return the entities that were added, and the segments that fit the window beside what is held."""
        settings = self._settings
        there = {piece.row for piece in held}
        pieces: list[Piece] = []
        entities: list[str] = []
        if settings.expansion:
            for end, edge in expand(graph, begin, settings).items():
                entities.append(end)
                pieces += graph.gained(end, edge.score, there, settings.segments)
        if settings.reflection:
            reflected = reflect(graph, (*begin, *entities), held, settings)
            entities += reflected.entities
            pieces += reflected.added
        if settings.entity_trial and not pieces:
            tried = entity_trial(graph, (*begin, *entities), held, settings)
            entities += tried.entities
            pieces += tried.added
        return entities, fitting(held, pieces, settings.window)[1]

    def _next(
        self, asked: OperatorInput, graph: Graph, entities: Sequence[str], items: Sequence[Evidence]
    ) -> Iterator[Suggestion]:
        """Yield the step after this one, with what it added, and where else the new entities lead."""
        if asked.query is None or not items:
            return
        names = {key: graph.name(key) for key in entities}
        query = "; ".join(dict.fromkeys((asked.query.text, *names.values())))
        ids = tuple(dict.fromkeys((*asked.ids, *(item.id for item in items))))
        yield Suggestion(self.name, {"query": query, "ids": ids}, "what lies beyond these")
        for key in entities[:_NEXT]:
            operator = "expand_facts" if graph.space.facts.degree(key) else "propagate"
            args = {"entity": names[key], "query": asked.query.text}
            yield Suggestion(operator, args, f"what else is known of {names[key]}")


def _entities(graph: Graph, asked: OperatorInput) -> list[str]:
    """Return E: the keys of the entities that the query names or the caller does."""
    question = asked.query
    if question is None:
        return []
    parts = [part.strip() for part in question.text.split(";")[1:]]
    entity = () if asked.entity is None else (asked.entity,)
    found = [graph.find(name) for name in (*entity, *question.speakers, *question.names, *parts)]
    index = graph.space.index(EntityIndex)
    found += [graph.key(number) for number in index.within(words(question.text)[:_READ])]
    return list(dict.fromkeys(key for key in found if key is not None))


def _sentences(space: Space, evidence_id: str) -> list[int]:
    """Return the rows of the sentences that an id of evidence stands for; none for what nobody knows."""
    if (row := space.segment_row(evidence_id)) != NONE:
        return space.sentences_within(space.segments[row])
    if (sentence := space.sentence(evidence_id)) is not None:
        return [space.sentence_row(sentence.turn_id, sentence.index)]
    version = space.facts.version(evidence_id)
    said = () if version is None else version.assertions
    rows = (space.sentence_row(one.turn_id, max(one.sentence, 0)) for one in said)
    return [row for row in rows if row != NONE]
