"""What is known, as resources: entities, their facts and timelines, one fact with all that speaks for it, the graph.

A fact is shown with the time for which it holds, with its status, and with where it was said. ``suspected`` marks what
nothing has confirmed yet, and stands in timelines only. What is ``contested`` lost to another value of the same start
and never held: it is in no graph. What a large space adds up to is worked out in a thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import to_thread

from mcp_memory.domain.facts import Assertion, Version, verbalise
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server import checks, records
from mcp_memory.server.paging import (
    ENTITIES,
    ENTITY,
    FACT,
    GRAPH,
    PAGE,
    TIMELINE,
    Values,
    following,
    page,
    space_of,
    told,
)
from mcp_memory.server.points import summary
from mcp_memory.services import graph as drawings

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from mcp_memory.domain.aliases import Alias
    from mcp_memory.memory import Memory
    from mcp_memory.view.facts import Facts
    from mcp_memory.view.space import Space

SOURCES = 3
"""Places where a fact was said that are shown with it; its own resource has all."""
HISTORY = 20
"""Moments of recording that the history of a fact goes back; each is a fold of all that was known then."""
DEPTHS = (1, 10)
DEPTH = 2
"""Steps from the entity that a graph is drawn around, where the URI does not say."""

ThingT = TypeVar("ThingT")


async def entities(memory: Memory, values: Values) -> dict[str, Any]:
    """Everything that facts are about, in the order in which it came up."""

    def found(space: Space) -> dict[str, Any]:
        facts = space.facts
        keys = facts.entities()
        start, end = page(values, len(keys))
        rows = [
            {"name": facts.name(key), "kind": facts.kind(key), "facts": facts.degree(key), **_addresses(space, key)}
            for key in keys[start:end]
        ]
        rest = following(ENTITIES, {"space": space.name}, end, len(keys))
        return {"space": space.name, "entities": [told(row) for row in rows], "total": len(keys)} | rest

    return await _in_thread(memory, values, found)


async def entity(memory: Memory, values: Values) -> dict[str, Any]:
    """One entity: its names, the facts about it that can be relied on, by relation, and the memory points that join it.

    One that nothing but memory points names is a placeholder, and has no more than these.
    """

    def found(space: Space) -> dict[str, Any]:
        facts, name = space.facts, values["name"]
        joining = [summary(space, point) for point in space.hypergraph.incident(facts, [facts.key(name)])[:PAGE]]
        if joining and facts.resolve(name) is None:
            from mcp_memory.hypergraph.retrieval import absent  # needs numpy, which no handshake waits for

            state = "placeholder" if absent(space, name) else None
            return told({"space": space.name, "name": name, "state": state, "points": joining})
        key = _key(space, name)
        versions = _versions(facts, key, suspected=False)
        start, end = page(values, len(versions))
        by_relation: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for version in versions[start:end]:
            by_relation[version.relation].append(_row(space, version))
        rest = following(ENTITY, {"space": space.name, "name": facts.name(key)}, end, len(versions))
        head = {"space": space.name, "name": facts.name(key), "names": facts.names(key), "kind": facts.kind(key)}
        known_of = {"facts": by_relation, "total": len(versions), "points": joining or None}
        known_of["held"] = [_held(one) for one in facts.held(key)] or None
        return told(head | _addresses(space, key) | known_of | rest)

    return await _in_thread(memory, values, found)


async def timeline(memory: Memory, values: Values) -> dict[str, Any]:
    """Every version of every fact about an entity, by the time from which it holds."""

    def found(space: Space) -> dict[str, Any]:
        facts, key = space.facts, _key(space, values["name"])
        versions = sorted(_versions(facts, key, suspected=True), key=lambda version: (version.since, version.until))
        start, end = page(values, len(versions))
        rows = [_row(space, version) for version in versions[start:end]]
        rest = following(TIMELINE, {"space": space.name, "name": facts.name(key)}, end, len(versions))
        return {"space": space.name, "name": facts.name(key), "versions": rows, "total": len(versions)} | rest

    return await _in_thread(memory, values, found)


async def fact(memory: Memory, values: Values) -> dict[str, Any]:
    """One version of a fact: who said it last and who ended it, in which words, and what was known when."""

    def found(space: Space) -> dict[str, Any]:
        version = space.facts.version(values["id"])
        if version is None:
            remedy = "Facts are named by evidence of kind fact, f_ and 20 hexadecimal digits."
            raise InvalidInput("id", f"space {space.name!r} has no fact {values['id'][:60]!r}", remedy)
        row = _row(space, version)
        row.pop("sources")
        return row | {
            "space": space.name,
            "statements": len(version.assertions),
            "assertions": [_assertion(space, assertion) for assertion in version.assertions[-PAGE:]],
            "ended_by": [_assertion(space, assertion) for assertion in version.ended_by[-PAGE:]],
            "history": _history(space, version),
        }

    return await _in_thread(memory, values, found)


async def graph(memory: Memory, values: Values) -> dict[str, Any]:
    """Entities and what joins them; each page has the nodes that its edges and hyperedges touch."""

    def found(space: Space) -> dict[str, Any]:
        drawn, points = _drawn(space, values)
        edges = drawings.edges_of(drawn)
        start, end = page(values, len(edges) + len(points))
        shown = points[max(start - len(edges), 0) : max(end - len(edges), 0)]
        joined = {key: {"name": name} for one in shown for key, name in one.nodes.items()}
        nodes = dict.fromkeys((*(node for edge in edges[start:end] for node in edge[:2]), *joined))
        rows = [{"id": node} | (drawn.nodes[node] if node in drawn else joined[node]) for node in nodes]
        kept = {name: value for name, value in values.items() if name in ("space", "entity", "depth", "as_of")}
        extra = {key for one in points for key in one.nodes if key not in drawn}
        return {
            "space": space.name,
            "nodes": [told(row | (_addresses(space, row["id"]) if row["id"] in drawn else {})) for row in rows],
            "edges": [{"from": head, "to": tail} | _row(space, version) for head, tail, version in edges[start:end]],
            "hyperedges": [summary(space, one.point) | {"nodes": list(one.nodes)} for one in shown],
            "total": {
                "nodes": drawn.number_of_nodes() + len(extra),
                "edges": len(edges),
                "hyperedges": len(points),
            },
        } | following(GRAPH, kept, end, len(edges) + len(points))

    return await _in_thread(memory, values, found)


async def mermaid(memory: Memory, values: Values) -> str:
    """The graph as a flowchart."""
    return await _in_thread(memory, values, lambda space: drawings.mermaid(*_drawn(space, values)))


async def graphml(memory: Memory, values: Values) -> str:
    """The graph for other programs."""
    return await _in_thread(memory, values, lambda space: drawings.graphml(*_drawn(space, values)))


async def _in_thread(memory: Memory, values: Values, found: Callable[[Space], ThingT]) -> ThingT:
    async with memory.store.reading() as view:
        return await to_thread.run_sync(found, space_of(view, values))


def _drawn(space: Space, values: Values) -> tuple[MultiDiGraph[str], list[drawings.Hyperedge]]:
    depth, entity = values.get("depth") or str(DEPTH), values.get("entity")
    least, most = DEPTHS
    if not (depth.isascii() and depth.isdigit() and least <= int(depth[:9]) <= most):
        remedy = f"Give a whole number from {least} to {most}."
        raise InvalidInput("depth", f"{checks.shown(depth)} will not do", remedy)
    key = _key(space, entity, "entity") if entity else None
    whole = drawings.graph_of(space.facts, checks.moment("as_of", values.get("as_of") or None))
    drawn = whole if key is None else drawings.around(whole, key, int(depth))
    return drawn, drawings.hyperedges_of(space, drawn, key)


def _key(space: Space, name: str, argument: str = "name") -> str:
    key = space.facts.resolve(name)
    if key is None:
        problem = f"nothing is known of {checks.shown(name)} in space {space.name!r}"
        raise InvalidInput(argument, problem, f"See {ENTITIES.expand({'space': space.name})}.")
    return key


def _versions(facts: Facts, key: str, *, suspected: bool) -> list[Version]:
    """Return the versions about an entity, first those whose head it is; each once."""
    both = (*facts.from_(key, suspected=suspected), *facts.to(key, suspected=suspected))
    return list({version.id: version for version in both}.values())


def _row(space: Space, version: Version) -> dict[str, Any]:
    said = sorted(version.assertions, key=lambda assertion: -assertion.said_at)
    return told(
        {
            "id": version.id,
            "uri": FACT.expand({"space": space.name, "id": version.id}),
            "head": version.head,
            "relation": version.relation,
            "tail": version.tail,
            "text": version.text,
            **_state(space, version),
            "stated": version.stated,
            "intent": version.intent,
            "superseded_by": version.superseded_by,
            "sources": [_source(space, assertion) for assertion in said[:SOURCES]],
        }
    )


def _state(space: Space, version: Version) -> dict[str, Any]:
    """Return for how long a version holds, and how far it can be relied on."""
    return {
        "valid_from": iso.show(version.since),
        "valid_to": iso.show(version.until),
        "status": version.status,
        "confidence": records.rounded(version.confidence),
        "suspected": True if version.confidence < space.facts.stable else None,
    }


def _held(alias: Alias) -> dict[str, Any]:
    """Return a name that the memory itself took for another's, which nobody said."""
    return {
        "name": alias.name,
        "alias": alias.alias,
        "reason": alias.reason,
        "engine": alias.source,
        "recorded": iso.show(alias.at),
    }


def _assertion(space: Space, assertion: Assertion) -> dict[str, Any]:
    words = verbalise(assertion.head, assertion.relation, assertion.tail, negated=assertion.negated)
    return told(
        {
            "id": assertion.id,
            "text": words,
            "negated": assertion.negated or None,
            "valid_from": iso.show(assertion.since),
            "valid_to": iso.show(assertion.until),
            "stated": assertion.stated,
            "confidence": records.rounded(assertion.confidence),
            "intent": assertion.intent,
            "extractor": assertion.extractor,
            "recorded": iso.show(assertion.recorded_at),
            "source": _source(space, assertion),
        }
    )


def _source(space: Space, assertion: Assertion) -> dict[str, Any]:
    turn = space.turns[assertion.turn_id]
    quote = turn.text[assertion.start : assertion.end][: records.QUOTE_CHARS]
    row = space.sentence_row(turn.id, assertion.sentence)
    where = {} if row < 0 else {"sentence": space.sentences[row].id}
    return records.origin(turn).model_dump(exclude_none=True) | where | {"quote": quote}


def _history(space: Space, version: Version) -> list[dict[str, Any]]:
    """Return what was known of a value, and of those that meet its time, after each moment at which that changed."""
    facts = space.facts
    key, single = facts.key(version.tail), facts.cardinality(version.relation) == "single"
    history: list[dict[str, Any]] = []
    for moment, known in facts.history(facts.key(version.head), version.relation, HISTORY):
        bearing = [
            one
            for one in known
            if facts.key(one.tail) == key or (single and one.since <= version.until and one.until >= version.since)
        ]
        rows = [told({"tail": one.tail} | _state(space, one)) for one in bearing[:PAGE]]
        if rows and (not history or rows != history[-1]["known"]):
            history.append({"recorded": iso.show(moment), "known": rows})
    return history


def _addresses(space: Space, key: str) -> dict[str, str]:
    names = {"space": space.name, "name": space.facts.name(key)}
    return {"uri": ENTITY.expand(names), "timeline": TIMELINE.expand(names)}
