"""Counterfactual repair of paths: when it applies, its budget, and the rules that infer steps (REAL §III-B2, III).

A beam is repaired if no candidate of its expansion is reliable, that is both relevant and coherent enough (DESIGN D33).
Inferred paths only take the places that reliable candidates leave: ``B_cf = max(0, m − |N_rel|)``.

Five rules bridge a gap in the graph (REAL Table I, DESIGN 3.3). Each reads the facts around the end of a path and
yields *guesses*: steps that would be possible if the rule were true. A guess has a temporary fact of its own (its id
begins with ``i_``) with the interval that its premises share and the lowest of their confidences times the discount of
the rule; only for temporal succession it may be a stored version. No guess is ever stored (DESIGN I11).

A hypothesis is shown as evidence, and an answer may rest on it with a hedge, where its path suffices like a stated one
(``beam.py``). Its S_AS is multiplied by its confidence, so only rules that keep most of it get there. (Measured over
947 questions: without that factor 7 guesses would be answers, none of them right.) Claude is shown the others, too, as
guesses, except for co-occurrence (`paths.leads_back`).

**Departures** (DESIGN D37). The paper's "symmetry", likes → interested_in, is an implication: the registry separates
inverse, symmetric and implied relations here. Its temporal succession, "after(A, B) and B happened, so A did not", is
unsound in general: all that follows is that A comes after the time of B. In addition, the value before or after the
time in question is offered as a guess. Its hyponymy puts a kind or whole in the place of a tail: A in B and r(C, A), so
r(C, B); never the reverse. In addition an entity inherits from its kinds and wholes, which Table I does not have: A in
B and r(B, T), so r(A, T). What holds of a whole need not hold of each part, so that is a guess only. Its causality goes
from a true cause to its effect; here causes are chained, too: a cause of a cause is a cause.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from mcp_memory.domain.evidence import Path, PathScores, Rule, Step
from mcp_memory.domain.facts import WHOLE, Assertion, Version
from mcp_memory.domain.ids import digest
from mcp_memory.domain.relations import Level, relations
from mcp_memory.domain.times import FOREVER
from mcp_memory.navigation.paths import EXPANDED_NEIGHBOURS, Edge, Neighbourhood, entities_on

Guess = tuple[Step, str]
"""A step that a rule infers, and the key of the entity that it leads to."""

RELIABLE_RELEVANCE = 0.5
"""If no path is more relevant than this, hypotheses are tried. δ_QR, below which a path is not reliable (REAL
§IV-C2, Table IV)."""
RELIABLE_COHERENCE = 0.5
"""The same for how well the facts of a path fit together. δ_LC, likewise."""
SAME, IMPLIED, HYPONYMY, SUCCESSION, CAUSALITY, COOCCURRENCE = 1.0, 0.8, 0.8, 0.6, 0.5, 0.3
"""Share of its confidence that a fact keeps (DESIGN 3.3): in its inverse, or mirrored if the relation is symmetric; in
a relation that another implies; one step up in a hierarchy; in the version before or after; along a chain of causes;
through a shared sentence."""
PREMISES_A_RULE = 24
"""Neighbours that each rule reads; ours, for hubs."""
TOGETHER = "mentioned_with"
"""The relation of a guess by co-occurrence."""
_CAUSES = frozenset(("causes", "caused_by"))
_HAVE_WHOLES = ("place", "organisation")
_FOLLOWED = 3  # kinds and wholes of an entity that are followed
_OF_EACH = 2  # times m: guesses of one rule that are scored before the best of all rules are taken
_CITED = 2  # assertions of each premise that a guess cites


def symmetry(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Infer a relation that the query asks for from its inverse, its mirror image, or one that implies it."""
    for step, end, _ in _premises(near, path):
        version = step.version
        known = relations().get(version.relation)
        for wanted in near.fact_query.relations:
            if wanted in known.implies:
                yield from _infer(near, path, "symmetry", IMPLIED, step.forward, end, wanted, [version])
            mirrored = known.symmetric and wanted == known.name and not step.forward
            if wanted == known.inverse or known.name == relations().get(wanted).inverse or mirrored:
                yield from _infer(near, path, "symmetry", SAME, not step.forward, end, wanted, [version])


def hyponymy(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Infer facts of an entity from what it is a kind or part of, and facts of what contains an entity from its own."""
    for step, end, _ in _premises(near, path):  # r(C, A) and A in B: r(C, B)
        relation = step.version.relation
        if step.forward and near.fact_query.allows(relation):
            whole = _level(relation) == "whole" or relations().get(relation).tail in _HAVE_WHOLES
            for link, other in _above(near, path, end, ("whole" if whole else "kind",)):
                premises = [step.version, link.version]
                yield from _infer(near, path, "hyponymy", HYPONYMY, step.forward, other, relation, premises)
    above = _above(near, path, path.end, ("kind", "whole"))
    for link, container in islice(above, _FOLLOWED):  # A in B and r(B, T): r(A, T)
        for step, end, _ in _premises(near, path, container):
            relation = step.version.relation
            levels = _level(relation), _level(link.version.relation)  # a mill in a county is no county
            if step.forward and near.fact_query.allows(relation) and levels != ("kind", "whole"):
                premises = [link.version, step.version]
                yield from _infer(near, path, "hyponymy", HYPONYMY, step.forward, end, relation, premises)


def succession(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Offer the values before and after the time in question; and if A is after B, place A after the date of B."""
    seen: set[tuple[str, bool, bool]] = set()
    at = near.at
    if at is not None:
        others = near.edges_of_other_times(path.end, path.root.intent)
        allowed = [(step, end) for step, end, _ in others if near.fact_query.allows(step.version.relation)]
        for step, end in sorted(allowed, key=lambda edge: _distance(edge[0].version, at)):
            version = step.version
            side = version.relation, step.forward, version.until <= at[0]
            if side not in seen:  # of each relation only the nearest version on each side
                seen.add(side)
                yield Step(version, step.forward, "succession", version.confidence * SUCCESSION, _cite([version])), end
    for step, end, _ in _premises(near, path):
        known = relations().get(step.version.relation)
        if known.name not in ("after", "before"):
            continue
        order = known.name if step.forward else known.inverse
        for dated, date, _ in _premises(near, path, end):
            if order and dated.forward and relations().get(dated.version.relation).tail == "time":
                premises = [step.version, dated.version]
                yield from _infer(
                    near, path, "succession", SUCCESSION, dated.forward, date, order, premises, timeless=True
                )


def causality(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Infer from causes: a fact about a cause holds for its effect, and a cause of a cause is a cause."""
    for step, end, _ in _premises(near, path):
        effect, relation = _is_to_effect(step), step.version.relation
        if effect is None:  # r(C, A) and A causes B: r(C, B)
            if not step.forward or not near.fact_query.allows(relation):
                continue
            for link, other in near.links(end, path.root.intent, _CAUSES.__contains__):
                if _is_to_effect(link):
                    premises = [step.version, link.version]
                    yield from _infer(near, path, "causality", CAUSALITY, step.forward, other, relation, premises)
            continue
        for link, other in near.links(end, path.root.intent, _CAUSES.__contains__):
            if _is_to_effect(link) is effect:
                premises = [step.version, link.version]
                yield from _infer(near, path, "causality", CAUSALITY, effect, other, "causes", premises, timeless=True)


def cooccurrence(near: Neighbourhood, path: Path) -> Iterator[Guess]:
    """Offer entities that one sentence mentions together with the end of the path, the most similar sentence first."""
    facts = near.facts
    joined: dict[str, tuple[Assertion, Version]] = {}
    known = {path.end, *(end for _, end, _ in near.edges(path.end, path.root.intent))}
    statements = (a for step, _, _ in _premises(near, path) for a in step.version.assertions[-_CITED:])
    sentences = dict.fromkeys((a.turn_id, a.sentence) for a in statements if a.sentence != WHOLE)
    for turn_id, sentence in islice(sentences, PREMISES_A_RULE):
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
        # Only the sentence that mentions both is cited and compared.
        for guess in _infer(near, path, "cooccurrence", COOCCURRENCE, True, key, TOGETHER, [version], support=(other,))
    ]
    similarities = near.similarity.of(step.version for step, _ in guesses)
    for guess, _ in sorted(zip(guesses, similarities, strict=True), key=lambda pair: (-pair[1], pair[0][1])):
        yield guess


RULES = (symmetry, hyponymy, succession, causality, cooccurrence)
"""In the order of DESIGN 3.3."""


def _premises(near: Neighbourhood, path: Path, key: str | None = None) -> Sequence[Edge]:
    return near.edges(path.end if key is None else key, path.root.intent)[:PREMISES_A_RULE]


def _above(near: Neighbourhood, path: Path, key: str, levels: Collection[Level]) -> Iterator[Guess]:
    """Yield the steps one level up from an entity, along relations between kinds, or parts and wholes."""
    for step, end in near.links(key, path.root.intent, lambda relation: _level(relation) in levels):
        if step.forward is (relations().get(step.version.relation).above is not None):
            yield step, end


def _level(relation: str) -> Level | None:
    """Return what a relation, or its inverse, has at its tail."""
    known = relations().get(relation)
    return known.above or (relations().get(known.inverse).above if known.inverse else None)


def _is_to_effect(step: Step) -> bool | None:
    """Return True if a step leads from a cause to its effect, False for the reverse, None for other relations."""
    relation = step.version.relation
    return step.forward is (relation == "causes") if relation in _CAUSES else None


def _distance(version: Version, at: tuple[int, int]) -> tuple[int, int, str]:
    """Return how far a version lies from the time in question; of two at one distance the earlier sorts first."""
    gap = max(at[0] - version.until, version.since - at[1] + 1, 0)
    return gap, version.since, version.id


def _infer(
    near: Neighbourhood,
    path: Path,
    rule: Rule,
    discount: float,
    forward: bool,
    end: str,
    relation: str,
    premises: Sequence[Version],
    *,
    timeless: bool = False,
    support: tuple[Assertion, ...] | None = None,
) -> Iterator[Guess]:
    """Yield the step from the end of the path to an entity, if the premises make it possible.

    Premises that never held together imply nothing, unless the conclusion does not require that: an order, a chain of
    causes (``timeless``). Their lowest confidence is multiplied by ``discount``. The step cites ``support``, else the
    latest assertions of each premise.
    """
    if end == path.end:
        return
    since = max(premise.since for premise in premises)
    until = FOREVER if timeless else min(premise.until for premise in premises)
    if since >= until:
        return
    here, there = near.facts.name(path.end), near.facts.name(end)
    head, tail = (here, there) if forward else (there, here)
    support = _cite(premises) if support is None else support
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
    yield Step(version, forward, rule, confidence, support), end


def _cite(premises: Sequence[Version]) -> tuple[Assertion, ...]:
    return tuple(dict.fromkeys(a for premise in premises for a in premise.assertions[-_CITED:]))


def is_reliable(scores: PathScores) -> bool:
    """Return whether a candidate belongs to N_rel."""
    return scores.relevance >= RELIABLE_RELEVANCE and scores.coherence >= RELIABLE_COHERENCE


def counterfactual_budget(candidates: Iterable[PathScores]) -> int:
    """Return B_cf, the number of places that reliable candidates leave."""
    return max(0, EXPANDED_NEIGHBOURS - sum(is_reliable(scores) for scores in candidates))


def needs_repair(candidates: Sequence[PathScores]) -> bool:
    """Return whether the expansion of a beam is unreliable.

    Each of the paper's three conditions (no candidate, or either maximum below its threshold) makes N_rel empty. With
    the fourth condition of DESIGN D33, an empty N_rel is the complete test.
    """
    return not any(is_reliable(scores) for scores in candidates)


def infer_paths(near: Neighbourhood, path: Path, excluded: Iterable[str]) -> list[Path]:
    """Return the extensions of a path that the rules infer, in the order of the rules, not yet scored."""
    visited = entities_on(path, near.facts)
    known = set(excluded)
    inferred: list[Path] = []
    for rule in RULES:
        # The scores decide which guesses are good; this limit only saves time.
        for step, end in islice(rule(near, path), _OF_EACH * EXPANDED_NEIGHBOURS):
            if end not in visited and step.version.id not in known:
                known.add(step.version.id)
                inferred.append(path.with_step(step, end))
    return inferred
