"""When navigation needs repair, how much it may cost, and the paths that it recovers (REAL §3.3.2 III; DESIGN D33).

A beam is repaired where normal expansion is unreliable: no candidate is left, or none is relevant enough, or none is
coherent enough, or (DESIGN D33; the paper tests the two maxima apart) none is both. What is recovered may fill only the
places that reliable candidates leave: ``B_cf = max(0, m − |N_rel|)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from mcp_memory.domain.paths import Path, PathScores, Rule
from mcp_memory.navigation.neighbours import Neighbourhood
from mcp_memory.navigation.rules import RULES
from mcp_memory.navigation.scores import visits
from mcp_memory.navigation.settings import NavigationSettings

_OF_EACH = 2  # times m: guesses of one rule that are scored, before the best of all are kept


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
        near: what is known.
        path: to go on from.
        without: ids of versions that it goes on to anyway.
    """
    visited = visits(path, near.facts)
    known = set(without)
    found: list[Path] = []
    on = allowed(near.settings)
    for name, rule in RULES:
        if name not in on:
            continue
        # A question's own words decide which of these is good; nothing is cut before except for the sake of time.
        for guess in islice(rule(near, path), _OF_EACH * near.settings.expanded):
            if guess.end not in visited and guess.step.version.id not in known:
                known.add(guess.step.version.id)
                found.append(replace(path, steps=(*path.steps, guess.step), end=guess.end))
    return found


def allowed(settings: NavigationSettings) -> frozenset[Rule]:
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
