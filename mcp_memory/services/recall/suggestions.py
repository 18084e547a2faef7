"""What to try next, for a client that navigates itself: steps of the explore tool that might find what is missing.

Facts lead on from what they reached, as far as more is known there. Where they end, and in a memory without any, what
was found leads on by what is said in it (MRAgent's reverse step) and beside it, and reflection by what is missing
(QRMeM's R; DESIGN 3.5). A step that recall itself has taken is not proposed again.

There are such steps for a recall that finds itself sufficient too: whether it is, the client's own model decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from mcp_memory.domain.evidence import Evidence, OperatorCall, Suggestion
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.query import Query
from mcp_memory.navigation.navigate import Navigation
from mcp_memory.view.space import Space

BY_FACTS = 3
"""Steps along facts, or to what may be so, that are suggested at once; the first comes before all others."""
_FROM = 3
"""Pieces of evidence that a step goes on from."""
_OF_TIME: frozenset[Intent] = frozenset(("TEMPORAL", "EVOLUTION"))


def suggestions(
    space: Space,
    question: Query,
    navigation: Navigation,
    evidence: Sequence[Evidence],
    missing: Sequence[str],
    taken: Sequence[OperatorCall] = (),
) -> tuple[Suggestion, ...]:
    """Return steps that go on from a recall, most promising first; none where nothing was found.

    Args:
        space: of a view that is held still.
        question: understood with the speakers of the space.
        navigation: the paths through facts.
        evidence: best first.
        missing: words of the question that nothing covers.
        taken: what recall has called itself.
    """
    done = {_step(call.operator, call.args) for call in taken}
    by_facts: dict[object, Suggestion] = {}
    for one in _along_facts(space, question, navigation):
        by_facts.setdefault(_step(one.operator, one.args), one)
    first = [*islice((one for step, one in by_facts.items() if step not in done), BY_FACTS)]
    others = [one for one in _by_words(question, evidence, missing) if _step(one.operator, one.args) not in done]
    return (*first[:1], *others[:1], *first[1:], *others[1:])


def _step(operator: str, args: Mapping[str, str | tuple[str, ...]]) -> object:
    """Return what tells a step from others; the query only ranks what most find."""
    return operator, frozenset((name, value) for name, value in args.items() if name != "query" or len(args) == 1)


def _along_facts(space: Space, question: Query, navigation: Navigation) -> Iterator[Suggestion]:
    roots = [root for root in navigation.roots if not root.soft]
    bound = question.time is not None and question.time.dated
    for root in roots:
        if bound or root.intent in _OF_TIME:
            yield Suggestion("versions", {"entity": root.name}, f"how what is known of {root.name} changed")
    for path in navigation.paths:
        last = path.steps[-1].version
        name = last.tail if path.steps[-1].forward else last.head
        more = space.facts.degree(path.end) > 1
        if not path.inferred and more and path.end not in {root.key for root in roots}:
            yield Suggestion("expand_facts", {"entity": name, "query": question.text}, f"where a path led: {last.text}")
    for root in roots:
        args = {"entity": root.name, "query": question.text}
        if any(path.root.key == root.key and path.inferred is None for path in navigation.paths):
            yield Suggestion("expand_facts", args, f"what else is known of {root.name}")
        else:
            yield Suggestion("counterfactual", args, f"no fact of {root.name} answers this")


def _by_words(question: Query, evidence: Sequence[Evidence], missing: Sequence[str]) -> Iterator[Suggestion]:
    ids = tuple(item.id for item in evidence if item.inferred is None and item.kind != "point")[:_FROM]
    if not ids:
        return
    about = "what the best are about, and where that leads"
    yield Suggestion("event_keywords", {"ids": ids, "query": question.text}, about)
    yield Suggestion("event_context", {"ids": ids[:1]}, "what was said around the best")
    still = "; ".join((question.text, *([f"missing: {', '.join(missing)}"] if missing else [])))
    yield Suggestion("reflect", {"query": still, "ids": ids}, "what lies beyond the names in it, by what is missing")
