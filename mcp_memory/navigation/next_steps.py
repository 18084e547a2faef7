"""What to try next, for a client that navigates itself: steps of the explore tool that might find what is missing.

Facts lead on from what they reached, as far as more is known there. Where they end, and in a memory without any, what
was found leads on by what is said in it (MRAgent's reverse step) and beside it, and reflection by what is missing
(QRMeM's R; DESIGN 3.5). A step that recall itself has taken is not proposed again.

A recall that finds itself sufficient proposes such steps too: the client's own model decides whether it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from mcp_memory.domain.evidence import Evidence, OperatorCall, Suggestion
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.paths import Path, Root
from mcp_memory.domain.query import DEFAULT_SPACE, Query
from mcp_memory.view.space import Space

BY_FACTS = 3
"""Steps along facts, or to hypotheses, that are suggested at once; the first comes before all others."""
_FROM = 3
"""Pieces of evidence that a step starts from."""
_OF_TIME: frozenset[Intent] = frozenset(("TEMPORAL", "EVOLUTION"))


def suggest_steps(
    space: Space,
    query: Query,
    roots: Sequence[Root],
    paths: Sequence[Path],
    evidence: Sequence[Evidence],
    missing: Sequence[str],
    taken: Sequence[OperatorCall] = (),
) -> tuple[Suggestion, ...]:
    """Return steps that go on from a recall, the most promising first; none if nothing was found.

    Args:
        space: of a view that does not change meanwhile.
        query: understood with the speakers of the space.
        roots: that navigation started from.
        paths: that it found, best first.
        evidence: best first.
        missing: words of the query that nothing covers.
        taken: the calls that recall has made itself.
    """
    done = {_step(call.operator, call.args) for call in taken}
    by_facts: dict[object, Suggestion] = {}
    for suggestion in _along_facts(space, query, [root for root in roots if not root.soft], paths):
        by_facts.setdefault(_step(suggestion.operator, suggestion.args), suggestion)
    first = [*islice((suggestion for step, suggestion in by_facts.items() if step not in done), BY_FACTS)]
    others = [one for one in _by_words(query, evidence, missing) if _step(one.operator, one.args) not in done]
    return in_space(space, (*first[:1], *others[:1], *first[1:], *others[1:]))


def in_space(space: Space, steps: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Return steps with the space in which they are to be taken, unless it is the default one."""
    if space.name == DEFAULT_SPACE:
        return tuple(steps)
    return tuple(replace(step, args={**step.args, "space": space.name}) for step in steps)


def _step(operator: str, args: Mapping[str, str | tuple[str, ...]]) -> object:
    """Return what distinguishes a step from others; the query only ranks what most find."""
    return operator, frozenset((name, value) for name, value in args.items() if name != "query" or len(args) == 1)


def _along_facts(space: Space, query: Query, roots: Sequence[Root], paths: Sequence[Path]) -> Iterator[Suggestion]:
    dated = query.time is not None and query.time.dated
    for root in roots:
        if dated or root.intent in _OF_TIME:
            yield Suggestion("versions", {"entity": root.name}, f"how what is known of {root.name} changed")
    for path in paths:
        last = path.steps[-1].version
        name = last.tail if path.steps[-1].forward else last.head
        more = space.facts.degree(path.end) > 1
        if not path.inferred and more and path.end not in {root.key for root in roots}:
            yield Suggestion("expand_facts", {"entity": name, "query": query.text}, f"where a path led: {last.text}")
    for root in roots:
        args = {"entity": root.name, "query": query.text}
        if any(path.root.key == root.key and path.inferred is None for path in paths):
            yield Suggestion("expand_facts", args, f"what else is known of {root.name}")
        else:
            yield Suggestion("counterfactual", args, f"no fact of {root.name} answers this")


def _by_words(query: Query, evidence: Sequence[Evidence], missing: Sequence[str]) -> Iterator[Suggestion]:
    ids = tuple(item.id for item in evidence if item.inferred is None and item.kind != "point")[:_FROM]
    if not ids:
        return
    about = "what the best are about, and where that leads"
    yield Suggestion("event_keywords", {"ids": ids, "query": query.text}, about)
    yield Suggestion("event_context", {"ids": ids[:1]}, "what was said around the best")
    still = "; ".join((query.text, *([f"missing: {', '.join(missing)}"] if missing else [])))
    yield Suggestion("reflect", {"query": still, "ids": ids}, "what lies beyond the names in it, by what is missing")
