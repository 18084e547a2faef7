"""Where to go on from a step that knows no next one.

Most operators say themselves what to try. This is for what they do not know. Of a step that found nothing: that a name
is written otherwise here, that a limit of time or a kind of fact shuts everything out, which topics there are. Of one
that found what leads nowhere by facts or names: what is told beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language import iso
from mcp_memory.ports import Operator, OperatorInput
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space

_NEXT = 3
"""Suggestions of one kind."""
_ALIKE = 0.7
"""Ratio of `difflib` from which on a name may be another, written otherwise."""
_COMPARED = 20_000
"""Names that one is compared with."""
_SHARING = 64
"""Entities that have a word of a name in theirs."""


def elsewhere(asked: OperatorInput, operator: Operator) -> tuple[Suggestion, ...]:
    """Return what may be worth trying after a step that found nothing; nothing in a space that holds nothing.

    Args:
        asked: the step.
        operator: that was asked.
    """
    return tuple(_tried(asked, operator.name)) if asked.space.turns else ()


def beyond(asked: OperatorInput, operator: Operator, items: Sequence[Evidence]) -> tuple[Suggestion, ...]:
    """Return where the best of what a step found may lead by what is said there; nothing where only guesses were found.

    Args:
        asked: the step.
        operator: that was asked.
        items: that it found, best first.
    """
    ids = tuple(item.id for item in items if item.inferred is None and item.kind != "point")[:_NEXT]
    query = {} if asked.query is None else {"query": asked.query.text}
    ways = {
        "event_keywords": "what these are about, and where that leads",
        "event_context": "what was said around them",
    }
    return tuple(
        Suggestion(name, {"ids": ids, **query}, why) for name, why in ways.items() if ids and name != operator.name
    )


def _tried(asked: OperatorInput, operator: str) -> Iterator[Suggestion]:
    given = _arguments(asked)
    if given.keys() & {"since", "until"}:
        timeless = {name: value for name, value in given.items() if name not in ("since", "until")}
        yield Suggestion(operator, timeless, "at any time")
    if asked.entity is not None:
        yield from _of_entity(asked, asked.entity, operator, given)
    elif operator == "topic_events":
        yield from _topics(asked.space)
        yield Suggestion("tag_events", {"query": asked.topic or ""}, "the sentences with these words")
    elif operator == "tag_events":
        yield from _topics(asked.space)
    elif asked.query is not None:
        yield Suggestion("tag_events", {"query": asked.query.text}, "the sentences with its words")


def _of_entity(
    asked: OperatorInput, entity: str, operator: str, given: dict[str, str | tuple[str, ...]]
) -> Iterator[Suggestion]:
    facts = asked.space.facts
    key = facts.resolve(entity)
    if key is None or not facts.degree(key):
        for name in _near(facts, entity):
            yield Suggestion(operator, given | {"entity": name}, f"perhaps {name} is meant")
    else:
        if asked.relation is not None:
            wider = {name: value for name, value in given.items() if name != "relation"}
            yield Suggestion(operator, wider, "any kind of fact")
        if operator != "personal_information":
            yield Suggestion("personal_information", {"entity": facts.name(key)}, "the aspects that are known")
    if operator != "tag_events":
        yield Suggestion("tag_events", {"entity": entity}, "the sentences that name it")


def _near(facts: Facts, name: str) -> list[str]:
    """Return the names most like one that nobody bears: written much like it, then with a word in common."""
    wanted = entity_key(name)
    close = get_close_matches(wanted, list(islice(facts.entities(), _COMPARED)), _NEXT, _ALIKE)
    sharing = sorted(facts.entities_with_words(wanted.split(), _SHARING), key=lambda key: (-facts.degree(key), key))
    return [facts.name(key) for key in dict.fromkeys((*close, *sharing)) if facts.degree(key)][:_NEXT]


def _topics(space: Space) -> Iterator[Suggestion]:
    """Yield the largest topics that there are."""
    topics, graph = Topics.of(space), CueGraph.of(space)
    for topic in topics.all(space)[:_NEXT]:
        terms = ", ".join(topics.summary(space, graph, topic).terms) or "without a word for it"
        yield Suggestion("topic_events", {"topic": topic.id}, f"a topic here: {terms}")


def _arguments(asked: OperatorInput) -> dict[str, str | tuple[str, ...]]:
    """Return the arguments that a step was asked with."""
    window = asked.window
    given: dict[str, str | tuple[str, ...] | None] = {
        "entity": asked.entity,
        "relation": asked.relation,
        "tag": asked.tag,
        "topic": asked.topic,
        "ids": asked.ids,
        "query": None if asked.query is None else asked.query.text,
        "since": iso.show(window.since) if window.since > BEGINNING else None,
        "until": iso.show(window.until) if window.until < FOREVER else None,
    }
    return {name: value for name, value in given.items() if value}
