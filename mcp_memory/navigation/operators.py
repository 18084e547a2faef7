"""Navigate one step at a time: REAL's expansion, history and repair as operators.

Each operator returns facts as evidence and suggests the next steps, so that a client's own model can do what the beam
search does. An entity without facts gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from mcp_memory.domain.evidence import Path, PathScores, Root, Suggestion
from mcp_memory.domain.facts import Version
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.questions import understand
from mcp_memory.navigation.counterfactual import infer_paths
from mcp_memory.navigation.fact_query import fact_query, resolve_name
from mcp_memory.navigation.paths import Neighbourhood, StatementSimilarity, score_paths
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.view.evidence import fact_evidence
from mcp_memory.view.facts import Facts

_SUGGESTIONS = 3
"""Suggestions of one kind."""
_RAW_BACKGROUND = (0.0, 0.25)
"""A background that leaves cosines unchanged: a single step does not know that of the space."""


def expand_facts(call: OperatorInput) -> OperatorResult:
    """One step of the beam: the facts around an entity, in both directions, the most similar to the query first.

    ``relation``, ``query`` and the window limit the facts and rank them.
    """
    key = _entity(call)
    if key is None:
        return OperatorResult(())
    near = _around(call, key)
    facts, wanted = near.facts, relations().name(call.relation) if call.relation else None
    edges = [edge for edge in near.edges(key, near.fact_query.intent) if wanted in (None, edge[0].version.relation)]
    edges = edges[: call.limit]
    if not edges:
        args = {"entity": facts.name(key)} | ({"relation": call.relation} if call.relation else {})
        args |= call.query_argument
        why = "nothing is known directly: try what may be inferred"
        return OperatorResult((), (Suggestion("counterfactual", args, why),))
    best = max(rank for _, _, rank in edges)
    items = [
        fact_evidence(call.space, taken.version, max(0.0, rank / best) if best > 0 else 1.0, ("expand_facts",))
        for taken, _, rank in edges
    ]
    groups = dict.fromkeys((facts.key(taken.version.head), taken.version.relation) for taken, _, _ in edges)
    changed = (group for group in groups if len(facts.versions(*group)) > 1 and facts.cardinality(group[1]) == "single")
    following = [
        Suggestion("versions", {"entity": facts.name(head), "relation": relation}, "this value changed over time")
        for head, relation in islice(changed, _SUGGESTIONS)
    ]
    return OperatorResult(tuple(items), (*following, *_expansions(facts, (end for _, end, _ in edges))))


def versions(call: OperatorInput) -> OperatorResult:
    """The history of an entity's facts: every version, by start, including suspected and contested ones.

    ``relation`` limits it to one relation, the window to a time. Above the limit what still holds is kept first, then
    what began last.
    """
    key = _entity(call)
    if key is None:
        return OperatorResult(())
    facts = call.space.facts
    names = facts.relations_of(key) if call.relation is None else [relations().name(call.relation)]
    history = [v for name in names for v in (*facts.versions(key, name), *facts.suspected(key, name))]
    found = _sort_by_start(v for v in history if _is_within(v, call))
    oldest = sorted(found, key=lambda version: version.current)[-call.limit :]
    shown = [version for version in found if version in oldest]
    tails = (facts.key(version.tail) for version in reversed(shown) if version.until >= FOREVER)
    following = _expansions(facts, (tail for tail in tails if tail != key))
    return _history(call, "versions", shown, following, [version.id for version in oldest], len(found) - len(shown))


def timeline(call: OperatorInput) -> OperatorResult:
    """Facts that began or held in a window, by start: those of an entity as head or tail, or those of the whole space.

    It needs neither an entity nor a window, but either makes it short. Without an entity only facts that begin within
    the window are shown, since those that hold in it may be all. Above the limit those that began last are kept.
    """
    facts = call.space.facts
    if call.entity is None:
        shown, left_out = _facts_that_begin(call)
    else:
        key = _entity(call)
        both = () if key is None else (*facts.from_(key), *facts.to(key))
        found = _sort_by_start(v for v in both if v.since < v.until and _is_within(v, call))
        shown, left_out = found[-call.limit :], max(0, len(found) - call.limit)
    heads = dict.fromkeys(version.head for version in shown)
    following = [Suggestion("versions", {"entity": head}, f"all that is known of {head}, by time") for head in heads]
    return _history(call, "timeline", shown, following[:_SUGGESTIONS], [version.id for version in shown], left_out)


def counterfactual(call: OperatorInput, *, enabled: bool = True) -> OperatorResult:
    """Unstated facts that the rules infer about an entity: hypotheses, each with its rule; none if not ``enabled``.

    With a relation, only guesses with this relation are inferred; a query in addition ranks them.
    """
    key = _entity(call) if enabled else None
    if key is None:
        return OperatorResult(())
    near = _around(call if call.relation is None else replace(call, query=None), key)
    facts, query = near.facts, call.query or near.fact_query.query
    relation = None if call.relation is None else relations().name(call.relation)
    root = Root(key, facts.name(key), near.fact_query.intent)
    inferred = infer_paths(near, Path(root, (), key, PathScores(0.0, 0.0, 0.0)), ())
    guesses = [path for path in inferred if relation in (None, path.steps[-1].version.relation)]
    scored = zip(guesses, score_paths(near, query, {}, guesses) if guesses else [], strict=True)
    ranked = sorted(scored, key=lambda pair: (-pair[1].mean, pair[0].steps[-1].version.id))[: call.limit]
    best = max((scores.mean for _, scores in ranked), default=0.0) or 1.0
    items = [
        fact_evidence(call.space, one.version, scores.mean / best, ("counterfactual",), one.inferred, one.confidence)
        for path, scores in ranked
        for one in path.steps[-1:]
    ]
    ends = list(dict.fromkeys(facts.name(path.end) for path, _ in ranked))[:_SUGGESTIONS]
    checks = (Suggestion("expand_facts", {"entity": name}, f"check the guess from {name}") for name in ends)
    return OperatorResult(tuple(items), tuple(checks))


def _around(call: OperatorInput, key: str) -> Neighbourhood:
    """Return the facts around an entity as the relation, query and window of a step limit and rank them."""
    label = relations().get(relations().name(call.relation)).label if call.relation else ""
    wanted, window = fact_query(call.query or understand(label, ())), call.window
    bounded = window.since > BEGINNING or window.until < FOREVER
    return Neighbourhood(
        call.space.facts,
        wanted,
        StatementSimilarity(call.cosine, _RAW_BACKGROUND),
        (key,),
        at=(window.since, window.until) if bounded else None,
    )


def _entity(call: OperatorInput) -> str | None:
    """Return the key of the entity of a step, the most similar if the name fits several; None if there is none."""
    keys = resolve_name(call.space.facts, call.entity or "")
    return keys[0] if keys else None


def _expansions(facts: Facts, ends: Iterable[str]) -> list[Suggestion]:
    """Return the step to more facts of each of some entities that have more; an alias is no entity."""
    more = (key for key in dict.fromkeys(ends) if facts.known_entity(key) == key and facts.degree(key) > 1)
    names = map(facts.name, islice(more, _SUGGESTIONS))
    return [Suggestion("expand_facts", {"entity": name}, f"more is known about {name}") for name in names]


def _is_within(version: Version, call: OperatorInput) -> bool:
    return version.since < call.window.until and max(version.until, version.since + 1) > call.window.since


def _sort_by_start(versions: Iterable[Version]) -> list[Version]:
    unique = {version.id: version for version in versions}
    return sorted(unique.values(), key=lambda version: (version.since, version.until, version.id))


def _facts_that_begin(call: OperatorInput) -> tuple[list[Version], int]:
    """Return the last versions that begin within the window, by start, and how many facts before them may, too.

    Only the versions that are shown are computed.
    """
    facts = call.space.facts
    rows = [row for row in facts.rows if call.window.since <= row.since < call.window.until and not row.negated]
    rows.sort(key=lambda row: (row.since, row.id))
    found: dict[str, Version] = {}
    while rows and len(found) < call.limit:
        row = rows.pop()
        version = facts.version_of(row)
        if version is not None and version.since == row.since and version.confidence >= facts.stable:
            found.setdefault(version.id, version)
    return [*reversed(found.values())], len({(row.head, row.relation, row.tail, row.since) for row in rows})


def _history(
    call: OperatorInput,
    name: str,
    shown: Sequence[Version],
    following: Iterable[Suggestion],
    oldest: Iterable[str],
    left_out: int,
) -> OperatorResult:
    items = tuple(fact_evidence(call.space, version, 1.0, (name,)) for version in shown)
    return OperatorResult(items, tuple(following), (), tuple(oldest), left_out)
