"""Reflection as an operator: one call runs the three navigators of QRMeM one after another.

The paper has them as alternatives, each better than the one before. Here they build on each other: graph expansion adds
the entities near the question (`expand`), reflection takes one entity after another (`reflect`), and if neither finds
anything, because the question names nothing known, the entity trial starts from what the given segments share
(`entity_trial`). They are one operator and not three because they serve one purpose: finding evidence beyond the
question's entities. A caller that chooses an operator by name cannot know which navigator will find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.language.tokens import words
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reflection.graph import EntityGraph, WindowSegment, fit_window
from mcp_memory.reflection.navigators import entity_trial, expand, reflect
from mcp_memory.reflection.settings import ReflectionSettings
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import segment_evidence
from mcp_memory.view.space import NONE, Space

_NEXT = 3
"""Suggestions besides the next step."""
_READ = 200
"""Words of a query that are searched for names; a pasted page is not a question."""


class Reflect:
    """Find further entities along the relations of those in the query, and their segments.

    The view must keep an `EntityIndex`.

    Args:
        settings: limits of the navigators.
    """

    name = "reflect"
    needs = ("query",)
    uses = ("query", "entity", "ids", "since", "until")

    def __init__(self, settings: ReflectionSettings | None = None) -> None:
        self._settings = settings or ReflectionSettings()

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; starts from the names in ``query`` and from ``entity``.

        The query is [Q; R; E] of the paper: the question, what is missing, and the known entities, in any words; each
        part after a semicolon may be a name. The evidence of ``ids`` is S_imp and is not found again. The time window
        hides what was said outside it.
        """
        if call.weigh is None or call.query is None:
            return OperatorResult(())
        graph = EntityGraph(call.space, call.weigh, hub=self._settings.hub)
        begin = _entities(graph, call)
        given = graph.segments_with(row for one in call.ids for row in _sentences(call.space, one))
        entities, segments = self._navigate(graph, begin, given)
        shown = segments[: call.limit]
        best = shown[0].score if shown else 1.0
        items = [segment_evidence(call.space, piece.row, piece.score / best, (self.name,)) for piece in shown]
        return OperatorResult(tuple(items), tuple(self._next(call, graph, entities, items)))

    def _navigate(
        self, graph: EntityGraph, begin: Sequence[str], given: Sequence[WindowSegment]
    ) -> tuple[list[str], tuple[WindowSegment, ...]]:
        """Return the entities that were added, and the segments that fit the window beside the given ones."""
        settings = self._settings
        present = {piece.row for piece in given}
        segments: list[WindowSegment] = []
        entities: list[str] = []
        if settings.expansion:
            for end, edge in expand(graph, begin, settings).items():
                entities.append(end)
                segments += graph.new_segments(end, edge.score, present, settings.segments)
        if settings.enabled:
            reflected = reflect(graph, (*begin, *entities), given, settings)
            entities += reflected.entities
            segments += reflected.added
        if settings.entity_trial and not segments:
            tried = entity_trial(graph, (*begin, *entities), given, settings)
            entities += tried.entities
            segments += tried.added
        return entities, fit_window(given, segments, settings.window)[1]

    def _next(
        self, call: OperatorInput, graph: EntityGraph, entities: Sequence[str], items: Sequence[Evidence]
    ) -> Iterator[Suggestion]:
        """Suggest the next step from what this one added, and steps about the new entities."""
        if call.query is None or not items:
            return
        names = {key: graph.name(key) for key in entities}
        query = "; ".join(dict.fromkeys((call.query.text, *names.values())))
        ids = tuple(dict.fromkeys((*call.ids, *(item.id for item in items))))
        yield Suggestion(self.name, {"query": query, "ids": ids}, "what lies beyond these")
        for key in entities[:_NEXT]:
            operator = "expand_facts" if graph.space.facts.degree(key) else "propagate"
            args = {"entity": names[key], "query": call.query.text}
            yield Suggestion(operator, args, f"what else is known of {names[key]}")


def _entities(graph: EntityGraph, call: OperatorInput) -> list[str]:
    """Return E: the keys of the entities that the query or the caller names."""
    query = call.query
    if query is None:
        return []
    parts = [part.strip() for part in query.text.split(";")[1:]]
    entity = () if call.entity is None else (call.entity,)
    keys = [graph.find(name) for name in (*entity, *query.speakers, *query.names, *parts)]
    index = graph.space.index(EntityIndex)
    keys += [graph.key(number) for number in index.entities_in(words(query.text)[:_READ])]
    return list(dict.fromkeys(key for key in keys if key is not None))


def _sentences(space: Space, evidence_id: str) -> list[int]:
    """Return the rows of the sentences of a piece of evidence; none for an unknown id."""
    if (row := space.segment_row(evidence_id)) != NONE:
        return space.sentences_within(space.segments[row])
    if (sentence := space.sentence(evidence_id)) is not None:
        return [space.sentence_row(sentence.turn_id, sentence.index)]
    version = space.facts.version(evidence_id)
    assertions = () if version is None else version.assertions
    rows = (space.sentence_row(one.turn_id, max(one.sentence, 0)) for one in assertions)
    return [row for row in rows if row != NONE]
