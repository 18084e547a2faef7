"""Resources that show what is known: entities, facts and timelines, memory points, topics, wishes.

A fact is shown with the time for which it holds, its status, and where it was said. ``suspected`` marks a fact that
nothing has confirmed; only timelines show those. A ``contested`` fact lost to another value with the same start and
never held, so no graph contains it.

Of the sentences and facts behind a memory point only those that still exist are shown: a rebuild may have cut a text
otherwise, or extracted other facts. An entity that only points name is marked as a placeholder.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from mcp_memory.domain.facts import Assertion, Version, verbalise
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server.resources.uris import PAGE_ENTRIES, Values, address, next_page, page, page_of, uri_of
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import QUOTE_CHARS, row, source_row

if TYPE_CHECKING:
    from mcp_memory.domain.evidence import Wish
    from mcp_memory.domain.points import Point
    from mcp_memory.reconstruct.topics import Topic
    from mcp_memory.view.facts import Facts
    from mcp_memory.view.space import Space

SHOWN_SOURCES = 3
"""Most places where a fact was said that are shown with it; its own resource shows all."""


def entities(space: Space, values: Values) -> dict[str, Any]:
    """Every entity that facts are about, in order of first mention."""
    facts = space.facts

    def entity_row(key: str) -> dict[str, Any]:
        known = {"name": facts.name(key), "kind": facts.kind(key), "facts": facts.degree(key)}
        return known | entity_uris(space, key)

    return page("entities", values, {"space": space.name}, facts.entities(), entity_row)


def entity(space: Space, values: Values) -> dict[str, Any]:
    """One entity: its names, its confirmed facts by relation, and the memory points that join it.

    An entity that only memory points name is a placeholder: it has a name and points, and nothing else.
    """
    facts, name = space.facts, values["name"]
    points = [point_row(space, point) for point in space.hypergraph.incident(facts, [facts.key(name)])[:PAGE_ENTRIES]]
    if points and facts.resolve(name) is None:
        from mcp_memory.hypergraph.retrieval import (
            is_placeholder,  # imports NumPy, which the first reply must not wait for
        )

        state = "placeholder" if is_placeholder(space, name) else None
        return {"space": space.name, "name": name, "state": state, "points": points}
    key = known_entity_key(space, name)
    versions = _versions(facts, key, suspected=False)
    start, end = page_of(values, len(versions))
    by_relation: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for version in versions[start:end]:
        by_relation[version.relation].append(fact_row(space, version))
    merged_names = [  # the memory itself took these for names of the entity; nobody stated it
        row(alias, "name", "alias", "reason") | {"engine": alias.source, "recorded": iso.show(alias.at)}
        for alias in facts.inferred_aliases(key)
    ]
    return {
        "space": space.name,
        "name": facts.name(key),
        "names": facts.names(key),
        "kind": facts.kind(key),
        **entity_uris(space, key),
        "facts": by_relation,
        "total": len(versions),
        "points": points or None,
        "held": merged_names or None,
        **next_page("entity", {"space": space.name, "name": facts.name(key)}, end, len(versions)),
    }


def timeline(space: Space, values: Values) -> dict[str, Any]:
    """Every version of every fact about an entity, by the start of its validity."""
    facts, key = space.facts, known_entity_key(space, values["name"])
    versions = sorted(_versions(facts, key, suspected=True), key=lambda version: (version.since, version.until))
    about = {"space": space.name, "name": facts.name(key)}
    return page("timeline", values, about, versions, lambda version: fact_row(space, version), "versions")


def fact(space: Space, values: Values) -> dict[str, Any]:
    """One version of a fact: who stated and who ended it, when, and in which words."""
    version = space.facts.version(values["id"])
    if version is None:
        remedy = "Facts are named by evidence of kind fact, f_ and 20 hexadecimal digits."
        raise InvalidInput("id", f"space {space.name!r} has no fact {values['id'][:60]!r}", remedy)
    known = fact_row(space, version)
    known.pop("sources")
    return known | {
        "space": space.name,
        "statements": len(version.assertions),
        "assertions": [_assertion_row(space, assertion) for assertion in version.assertions[-PAGE_ENTRIES:]],
        "ended_by": [_assertion_row(space, assertion) for assertion in version.ended_by[-PAGE_ENTRIES:]],
    }


def known_entity_key(space: Space, name: str, argument: str = "name") -> str:
    """Return the key of an entity by one of its names; raise `InvalidInput` if no fact is about it."""
    key = space.facts.resolve(name)
    if key is None:
        problem = f"no fact of space {space.name!r} is about {shown(name)}"
        listed = uri_of("entities", {"space": space.name})
        remedy = f"See {listed}, or ask memory_reconstruct what was said of it."
        raise InvalidInput(argument, problem, remedy)
    return key


def entity_uris(space: Space, key: str) -> dict[str, str]:
    """Return the URIs of an entity and of its timeline."""
    names = {"space": space.name, "name": space.facts.name(key)}
    return {"uri": uri_of("entity", names), "timeline": uri_of("timeline", names)}


def _versions(facts: Facts, key: str, *, suspected: bool) -> list[Version]:
    """Return the versions about an entity, each once, first those whose head it is."""
    both = (*facts.from_(key, suspected=suspected), *facts.to(key, suspected=suspected))
    return list({version.id: version for version in both}.values())


def fact_row(space: Space, version: Version) -> dict[str, Any]:
    """Return the row of a version in a list: for how long it holds, how reliable it is, and where it was said."""
    newest_first = sorted(version.assertions, key=lambda assertion: -assertion.said_at)
    return {
        **address(space, "fact", version.id),
        **row(version, "head", "relation", "tail", "text"),
        "valid_from": iso.show(version.since),
        "valid_to": iso.show(version.until),
        **row(version, "kind", "precision", "status", "confidence"),
        "suspected": True if version.confidence < space.facts.stable else None,
        **row(version, "stated", "intent", "superseded_by"),
        "sources": [_source_row(space, assertion) for assertion in newest_first[:SHOWN_SOURCES]],
    }


def _assertion_row(space: Space, assertion: Assertion) -> dict[str, Any]:
    return {
        **row(assertion, "id", "kind", "precision", "stated", "confidence", "intent", "extractor"),
        "text": verbalise(assertion.head, assertion.relation, assertion.tail, negated=assertion.negated),
        "negated": assertion.negated or None,
        "valid_from": iso.show(assertion.since),
        "valid_to": iso.show(assertion.until),
        "recorded": iso.show(assertion.recorded_at),
        "source": _source_row(space, assertion),
    }


def _source_row(space: Space, assertion: Assertion) -> dict[str, Any]:
    turn = space.turns[assertion.turn_id]
    quote = turn.text[assertion.start : assertion.end][:QUOTE_CHARS]
    place = space.sentence_row(turn.id, assertion.sentence)
    sentence = {} if place < 0 else {"sentence": space.sentences[place].id}
    return source_row(turn) | sentence | {"quote": quote}


def wishes(space: Space, values: Values) -> dict[str, Any]:
    """The wishes that stand, the newest last; what a later one superseded is left out."""
    from mcp_memory.search.wishes import standing_wishes  # imports NumPy, which the first reply must not wait for

    standing = standing_wishes(space)
    return page("wishes", values, {"space": space.name}, standing, lambda wish: _wish_row(space, wish))


def _wish_row(space: Space, wish: Wish) -> dict[str, Any]:
    from mcp_memory.language.wishes import as_said

    return {
        **address(space, "sentence", wish.id),
        "text": as_said(wish),
        "scope": wish.scope or None,
        "said": iso.show(wish.said_at),
        "source": source_row(wish.source.turn),
    }


def points(space: Space, values: Values) -> dict[str, Any]:
    """The points of a space that are in use, in the order in which they were made."""
    active = space.hypergraph.active()
    return page("points", values, {"space": space.name}, active, lambda point: point_row(space, point))


def point(space: Space, values: Values) -> dict[str, Any]:
    """One point, in use or merged: its entities, its sources, its earlier descriptions."""
    point = space.hypergraph.get(values["id"])
    if point is None:
        problem = f"space {space.name!r} has no memory point {shown(values['id'])}"
        raise InvalidInput("id", problem, f"See {uri_of('points', {'space': space.name})}.")
    current = space.hypergraph.resolve(point.id)
    return {
        **point_row(space, point),
        "space": space.name,
        "joins": [_joined_row(space, name) for name in point.entities],
        "source": point.source,
        "changed": iso.show(point.at),
        "parents": [address(space, "point", name) for name in point.parents] or None,
        "merged_into": address(space, "point", point.merged_into) if point.merged_into else None,
        "has_become": address(space, "point", current.id) if current and current.id != point.id else None,
        "sentences": [
            address(space, "sentence", name) | {"text": space.text(sentence)}
            for name in point.sentences
            if (sentence := space.sentence(name)) is not None
        ],
        "facts": [
            address(space, "fact", name) | {"text": version.text}
            for name in point.facts
            if (version := space.facts.version(name)) is not None
        ],
        "history": [
            {"revision": one.revision, "text": one.description, "status": one.status, "recorded": iso.show(one.at)}
            for one in space.hypergraph.revisions(point.id)
        ],
    }


def point_row(space: Space, point: Point) -> dict[str, Any]:
    """Return the row of a point in a list."""
    return {
        **address(space, "point", point.id),
        "text": point.description,
        "entities": list(point.entities),
        "goal": point.scope or None,
        **row(point, "status", "revision"),
    }


def _joined_row(space: Space, name: str) -> dict[str, Any]:
    from mcp_memory.hypergraph.retrieval import is_placeholder  # imports NumPy, which the first reply must not wait for

    if is_placeholder(space, name):
        return {"name": name, "state": "placeholder"}
    if space.facts.resolve(name) is None:
        return {"name": name}  # sentences name it, but no fact is about it
    return {"name": name, "uri": uri_of("entity", {"space": space.name, "name": name})}


def topics(space: Space, values: Values) -> dict[str, Any]:
    """Every topic with its most typical sentence, its terms and its size, the largest topic first."""
    from mcp_memory.reconstruct.graph import CueGraph  # imports NumPy, which the first reply must not wait for
    from mcp_memory.reconstruct.topics import Topics

    topics, graph = Topics.of(space), CueGraph.of(space)

    def topic_row(topic: Topic) -> dict[str, Any]:
        typical, terms = topics.summary(space, graph, topic)
        shown: dict[str, Any] = {"id": topic.id, "passages": len(topic.members), "terms": list(terms)}
        if typical >= 0:
            sentence = space.sentences[typical]
            shown |= {
                "summary": space.text(sentence),
                "uri": uri_of("sentence", {"space": space.name, "id": sentence.id}),
                "source": source_row(space.turns[sentence.turn_id]),
            }
        return shown

    return page("topics", values, {"space": space.name}, topics.all(space), topic_row)
