"""The semantic layer of MRAgent, V^s: which aspects of somebody are known, and what is known under one of them.

A semantic unit (c^s, g^s, s) is an entity, an aspect and what is so. That is a fact: head, relation, tail. So the two
operators read the facts, with their times and their sureness, and nothing is kept a second time. An aspect may look at
an entity from either side: "is a sister of" of the one is told of the other too.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.domain.facts import Version
from mcp_memory.domain.relations import relations
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.cues import key_of, likeness
from mcp_memory.reconstruct.graph import relation_tag
from mcp_memory.view.evidence import fact_evidence
from mcp_memory.view.facts import Facts

_COMPARED = 64  # entities with a word in common that are compared with a name
_READ = 500  # facts that have an entity as their tail: a town may have thousands
_NEXT = 3


class PersonalInformation:
    """φ_{c^s→g^s}: the aspects of an entity that something is known of, each with its newest fact.

    Every aspect is a step in ``next``; with a query the one whose fact is likest to it comes first.
    """

    name = "personal_information"
    needs = ("entity",)
    uses = ("entity", "query", "since", "until")

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`."""
        facts, key = asked.space.facts, entity_of(asked)
        if key is None:
            return OperatorResult((), tuple(_told_of(asked)))
        aspects = _aspects(asked, key)
        order = _likest(asked, {relation: known[0] for relation, known in aspects.items()})[: asked.limit]
        items = tuple(fact_evidence(asked.space, aspects[name][0], score, (self.name,)) for name, score in order)
        following = [
            Suggestion(
                "personal_aspect",
                {"entity": facts.name(key), "relation": name},
                f"{relations().get(name).label}: {len(aspects[name])} known",
            )
            for name, _ in order
        ]
        return OperatorResult(items, (*following, *_told_of(asked)))


class PersonalAspect:
    """φ_{(c^s,g^s)→v^s}: what is known of an entity under one aspect, what holds now first."""

    name = "personal_aspect"
    needs = ("entity", "relation or tag")
    uses = ("entity", "relation", "tag", "since", "until")

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; the aspect is a ``relation``, or a ``tag`` that fits the words of some relations."""
        key = entity_of(asked)
        if key is None:
            return OperatorResult((), tuple(_told_of(asked)))
        meant = (known for relation, known in _aspects(asked, key).items() if _meant(asked, relation))
        known = [version for one in meant for version in one][: asked.limit]
        items = tuple(fact_evidence(asked.space, version, 1.0, (self.name,)) for version in known)
        return OperatorResult(items, tuple(self._next(asked, key, known)))

    def _next(self, asked: OperatorInput, key: str, known: list[Version]) -> Iterator[Suggestion]:
        facts = asked.space.facts
        ends = dict.fromkeys(facts.end(one, forward=facts.key(one.head) == key) for one in known)
        for end in [end for end in ends if end != key and facts.bearer(end) == end and facts.degree(end) > 1][:_NEXT]:
            yield Suggestion("personal_information", {"entity": facts.name(end)}, f"more is known of {facts.name(end)}")
        if known:
            tag = relation_tag(known[0].relation)
            yield Suggestion("tag_events", {"entity": facts.name(key), "tag": tag}, "where it was said")
        else:
            yield Suggestion("personal_information", {"entity": facts.name(key)}, "the aspects that are known")


def entity_of(asked: OperatorInput) -> str | None:
    """Return the key of the entity that is asked about: who bears the name, else whose name matches it (`likeness`)."""
    facts, name = asked.space.facts, asked.entity or ""
    key = facts.resolve(name)
    if key is not None and facts.degree(key):
        return key
    wanted = key_of(name)
    near = [(likeness(wanted, key_of(other)), facts.degree(other), other) for other in _sharing(facts, name)]
    best = max((one for one in near if one[0] and one[1]), default=None)
    return None if best is None else best[2]


def _sharing(facts: Facts, name: str) -> list[str]:
    return facts.sharing([word for word in name.casefold().split() if word], _COMPARED)


def _aspects(asked: OperatorInput, key: str) -> dict[str, list[Version]]:
    """Return what is known of an entity from both sides, by relation: what holds now first, then the newest."""
    facts, window = asked.space.facts, asked.window
    found: dict[str, dict[str, Version]] = {}
    for version in (*facts.from_(key), *islice(facts.to(key), _READ)):
        if version.since < version.until and version.holds(window.since, window.until):
            found.setdefault(version.relation, {})[version.id] = version
    return {
        relation: sorted(known.values(), key=lambda one: (-one.until, -one.since, one.id))
        for relation, known in found.items()
    }


def _likest(asked: OperatorInput, facts: dict[str, Version]) -> list[tuple[str, float]]:
    """Return aspects with their scores, best = 1: by what their facts have to do with the query, in a tie as known."""
    likeness_of = {name: max(asked.cosine(version.assertions), default=0.0) for name, version in facts.items()}
    best = max(likeness_of.values(), default=0.0)
    scores = [(name, max(0.0, like) / best if best > 0 else 1.0) for name, like in likeness_of.items()]
    return sorted(scores, key=lambda one: -one[1])


def _meant(asked: OperatorInput, relation: str) -> bool:
    if asked.relation is not None:
        return relation == relations().name(asked.relation)
    tag = (asked.tag or "").replace("_", " ")
    known = relations().get(relation)
    forms = (known.label, relation_tag(relation), *known.asked)
    return any(likeness(key_of(tag), key_of(form)) for form in forms)


def _told_of(asked: OperatorInput) -> Iterator[Suggestion]:
    """Yield the step to the sentences that name the entity: what was told of it and is no fact."""
    if asked.entity is not None:
        yield Suggestion("tag_events", {"entity": asked.entity}, "the sentences that name it")
