"""Counterfactual repair of paths: when it is needed, its bounds, and the rules that infer steps (REAL §3.3.2 III).

A beam is repaired if normal expansion is unreliable: no candidate is left, or none is relevant enough, or none is
coherent enough, or (DESIGN D33; the paper tests the two maxima apart) none is both. What is recovered may fill only the
places that reliable candidates leave: ``B_cf = max(0, m − |N_rel|)``.

Five rules bridge a gap of the graph (REAL table I, DESIGN 3.3). Each looks at the facts around the end of a path and
yields hypotheses, *guesses*: steps that would be possible if the rule held. A guess has a fact of its own, made up for
this path (its id begins with ``i_``) from the facts that it follows from, with the time they share and the least of
their confidences, discounted by the rule; only the version before or after is a real one. No guess is ever stored
(DESIGN I11).

**Departures** (DESIGN D37). The paper's "symmetry", likes → interested_in, is an implication: the registry separates
inverse, symmetric and implied relations here. Its temporal succession, "after(A, B) and B happened, so A did not", is
unsound in general: what follows is only that A comes after the time of B; and the value before or after the time in
question is offered, as a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from mcp_memory.domain.facts import WHOLE, Assertion, Version
from mcp_memory.domain.ids import digest
from mcp_memory.domain.paths import Path, PathScores, Rule, Step
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import FOREVER
from mcp_memory.navigation.neighbours import Edge, Neighbourhood
from mcp_memory.navigation.scores import visits
from mcp_memory.navigation.settings import NavigationSettings

TOGETHER = "mentioned_with"
"""The relation of a guess by co-occurrence."""
_UP = frozenset(("is_a", "subclass_of", "part_of", "located_in"))
_DOWN = frozenset(("includes", "has_part", "location_of"))
_CAUSES = frozenset(("causes", "caused_by"))
_WHOLES = 3  # that an entity is looked at as a kind or part of
_OF_EACH = 2  # times m: guesses of one rule that are scored, before the best of all are kept
_SHOWN = 2  # assertions of each premise that a guess cites


@dataclass(frozen=True, slots=True)
class Guess:
    """A step that a rule infers, and the key of the entity that it would lead to."""

    step: Step
    end: str


def symmetry(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Infer a relation that the question asks for from its inverse, its mirror, or one that implies it."""
    for edge in _premises(near, path):
        version = edge.step.version
        known = relations().get(version.relation)
        for asked in near.asking.relations:
            wanted = relations().get(asked)
            if asked in known.implies:
                yield from _guess(near, path, "symmetry", near.settings.implied, edge, asked, [version])
            mirrored = known.symmetric and asked == known.name and not edge.step.forward
            if asked == known.inverse or known.name == wanted.inverse or mirrored:
                turned = Edge(Step(version, not edge.step.forward), edge.end, edge.rank)
                yield from _guess(near, path, "symmetry", near.settings.same, turned, asked, [version])


def hyponymy(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Infer what holds of a thing from what it is a kind or part of, and of a kind or whole from its things."""
    for edge in _premises(near, path):  # r(C, A) and A in B, or B in A: r(C, B)
        if edge.step.forward and near.asking.allows(edge.step.version.relation):
            for link in chain(_hierarchy(near, path, edge.end, up=True), _hierarchy(near, path, edge.end, up=False)):
                premises = [edge.step.version, link.step.version]
                moved = Edge(edge.step, link.end, edge.rank)
                yield from _guess(
                    near, path, "hyponymy", near.settings.hyponymy, moved, edge.step.version.relation, premises
                )
    for link in islice(_hierarchy(near, path, path.end, up=True), _WHOLES):  # A in B and r(B, T): r(A, T)
        for edge in _premises(near, path, link.end):
            if edge.step.forward and near.asking.allows(edge.step.version.relation):
                premises = [link.step.version, edge.step.version]
                yield from _guess(
                    near, path, "hyponymy", near.settings.hyponymy, edge, edge.step.version.relation, premises
                )


def succession(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Offer the value before or after the time in question; and after B what B's date says of the time."""
    seen: set[tuple[str, bool, bool]] = set()
    at = near.at
    if at is not None:
        out = [edge for edge in near.over(path.end, path.root.intent) if near.asking.allows(edge.step.version.relation)]
        for edge in sorted(out, key=lambda edge: _distance(edge.step.version, at)):
            version = edge.step.version
            side = version.relation, edge.step.forward, version.until <= at[0]
            if side not in seen:  # of each relation only the nearest one on each side
                seen.add(side)
                confidence = version.confidence * near.settings.succession
                yield Guess(Step(version, edge.step.forward, "succession", confidence, _cited([version])), edge.end)
    for edge in _premises(near, path):
        known = relations().get(edge.step.version.relation)
        if known.name not in ("after", "before"):
            continue
        order = known.name if edge.step.forward else known.inverse
        for dated in near.edges(edge.end, path.root.intent)[: near.settings.premises]:
            if order and dated.step.forward and relations().get(dated.step.version.relation).tail == "time":
                premises = [edge.step.version, dated.step.version]
                yield from _guess(
                    near, path, "succession", near.settings.succession, dated, order, premises, lasting=True
                )


def causality(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Infer from causes: what holds of a cause holds of its effect, and a cause of a cause is a cause."""
    for edge in _premises(near, path):
        effect = _to_effect(edge)
        if effect is None:  # r(C, A) and A causes B: r(C, B)
            if not edge.step.forward or not near.asking.allows(edge.step.version.relation):
                continue
            for link in near.links(edge.end, path.root.intent, _CAUSES):
                if _to_effect(link):
                    moved = Edge(edge.step, link.end, edge.rank)
                    premises = [edge.step.version, link.step.version]
                    yield from _guess(
                        near, path, "causality", near.settings.causality, moved, edge.step.version.relation, premises
                    )
            continue
        for link in near.links(edge.end, path.root.intent, _CAUSES):
            if _to_effect(link) is effect:
                onward = Edge(Step(link.step.version, effect), link.end, link.rank)
                premises = [edge.step.version, link.step.version]
                yield from _guess(
                    near, path, "causality", near.settings.causality, onward, "causes", premises, lasting=True
                )


def cooccurrence(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Offer entities that a sentence mentions beside the end of the path, by how near that is to the question."""
    facts = near.facts
    joined: dict[str, tuple[Assertion, Version]] = {}
    known = {path.end, *(edge.end for edge in near.edges(path.end, path.root.intent))}
    about = (a for edge in _premises(near, path) for a in edge.step.version.assertions[-_SHOWN:])
    places = dict.fromkeys((a.turn_id, a.sentence) for a in about if a.sentence != WHOLE)
    for turn_id, sentence in islice(places, near.settings.premises):
        for other in facts.assertions_in(turn_id):
            if other.sentence != sentence or other.negated:
                continue
            new = [key for key in (facts.key(other.head), facts.key(other.tail)) if key not in known]
            version = facts.version_of(other) if new else None
            if version is not None and (version.confidence >= facts.stable or near.uncertain):
                for key in new:
                    joined.setdefault(key, (other, version))
    guesses = [
        guess
        for key, (other, version) in joined.items()
        for guess in _guess(
            near,
            path,
            "cooccurrence",
            near.settings.cooccurrence,
            Edge(Step(version, forward=True), key, 0.0),
            TOGETHER,
            [replace(version, assertions=(other,))],  # the sentence that joins them is what is cited and compared
        )
    ]
    likeness = near.likeness.of(guess.step.version for guess in guesses)
    for guess, _ in sorted(zip(guesses, likeness, strict=True), key=lambda found: (-found[1], found[0].end)):
        yield guess


RULES: tuple[tuple[Rule, Callable[[Neighbourhood, Path], Iterator[Guess]]], ...] = (
    ("symmetry", symmetry),
    ("hyponymy", hyponymy),
    ("succession", succession),
    ("causality", causality),
    ("cooccurrence", cooccurrence),
)
"""In the order of DESIGN 3.3."""


def _premises(near: Neighbourhood, path: Path, key: str | None = None) -> Sequence[Edge]:
    return near.edges(path.end if key is None else key, path.root.intent)[: near.settings.premises]


def _hierarchy(near: Neighbourhood, path: Path, key: str, *, up: bool) -> Iterator[Edge]:
    """Return the steps one level up or down from an entity."""
    for edge in near.links(key, path.root.intent, _UP | _DOWN):
        if edge.step.forward is up if edge.step.version.relation in _UP else edge.step.forward is not up:
            yield edge


def _to_effect(edge: Edge) -> bool | None:
    """Return True where a step leads from a cause to its effect, False for the way back, None for other steps."""
    relation = edge.step.version.relation
    return edge.step.forward is (relation == "causes") if relation in ("causes", "caused_by") else None


def _distance(version: Version, at: tuple[int, int]) -> tuple[int, int, str]:
    """Return how far a version lies from the time in question; of two at one distance the earlier comes first."""
    gap = max(at[0] - version.until, version.since - at[1] + 1, 0)
    return gap, version.since, version.id


def _guess(
    near: Neighbourhood,
    path: Path,
    rule: Rule,
    discount: float,
    edge: Edge,
    relation: str,
    premises: Sequence[Version],
    *,
    lasting: bool = False,
) -> Iterator[Guess]:
    """Yield the step from the end of the path to that of ``edge`` which the premises make possible, if they do.

    Args:
        near: what is known.
        path: that the step would go on from.
        rule: by which it is inferred.
        discount: on the least confidence of the premises.
        edge: where the step leads, and in which direction.
        relation: that the step asserts.
        premises: facts that it follows from. Nothing follows from facts that never held together, unless …
        lasting: … what follows does not depend on them holding (an order, a chain of causes).
    """
    if edge.end == path.end:
        return
    since = max(premise.since for premise in premises)
    until = FOREVER if lasting else min(premise.until for premise in premises)
    if since >= until:
        return
    here, there = near.facts.name(path.end), near.facts.name(edge.end)
    head, tail = (here, there) if edge.step.forward else (there, here)
    support = _cited(premises)
    confidence = min(premise.confidence for premise in premises) * discount
    version = Version(
        id="i_" + digest(rule, head, relation, tail, *(premise.id for premise in premises)),
        head=head,
        relation=relation,
        tail=tail,
        since=since,
        until=until,
        stated=any(premise.stated for premise in premises),
        status="active" if until >= FOREVER else "closed",
        confidence=confidence,
        intent=premises[0].intent,
        assertions=support,
    )
    yield Guess(Step(version, edge.step.forward, rule, confidence, support), edge.end)


def _cited(premises: Sequence[Version]) -> tuple[Assertion, ...]:
    return tuple(dict.fromkeys(a for premise in premises for a in premise.assertions[-_SHOWN:]))


def reliable(scores: PathScores, settings: NavigationSettings) -> bool:
    """Return whether a candidate belongs to N_rel."""
    return scores.relevance >= settings.relevance and scores.coherence >= settings.coherence


def budget(candidates: Iterable[PathScores], settings: NavigationSettings) -> int:
    """Return B_cf, how many places reliable candidates leave."""
    return max(0, settings.expanded - sum(reliable(scores, settings) for scores in candidates))


def needed(candidates: Sequence[PathScores], settings: NavigationSettings) -> bool:
    """Return whether the expansion of a beam is unreliable.

    The paper's three conditions, no candidate and either maximum below its threshold, each make N_rel empty; so with
    the fourth of DESIGN D33 this is the whole test.
    """
    return not any(reliable(scores, settings) for scores in candidates)


def recover(near: Neighbourhood, path: Path, without: Iterable[str]) -> list[Path]:
    """Return the paths that the rules switched on infer from a path, in the order of the rules, not yet scored.

    Args:
        near: the facts around the path.
        path: to extend.
        without: ids of versions that extend it anyway.
    """
    visited = visits(path, near.facts)
    known = set(without)
    found: list[Path] = []
    on = _allowed(near.settings)
    for name, rule in RULES:
        if name not in on:
            continue
        # The words of the query decide which of these is good; before that, guesses are cut only to save time.
        for guess in islice(rule(near, path), _OF_EACH * near.settings.expanded):
            if guess.end not in visited and guess.step.version.id not in known:
                known.add(guess.step.version.id)
                found.append(replace(path, steps=(*path.steps, guess.step), end=guess.end))
    return found


def _allowed(settings: NavigationSettings) -> frozenset[Rule]:
    """Return the rules that are switched on."""
    if not settings.counterfactual:
        return frozenset()
    on: dict[Rule, bool] = {
        "symmetry": settings.rule_symmetry,
        "hyponymy": settings.rule_hyponymy,
        "succession": settings.rule_succession,
        "causality": settings.rule_causality,
        "cooccurrence": settings.rule_cooccurrence,
    }
    return frozenset(rule for rule, taken in on.items() if taken)
