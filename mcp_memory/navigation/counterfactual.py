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
from mcp_memory.navigation.limits import Limits, Switches
from mcp_memory.navigation.neighbours import Neighbourhood
from mcp_memory.navigation.rules import RULES
from mcp_memory.navigation.scores import visits

_OF_EACH = 2  # times m: guesses of one rule that are scored, before the best of all are kept


def reliable(scores: PathScores, limits: Limits) -> bool:
    """Return whether a candidate belongs to N_rel."""
    return scores.relevance >= limits.relevance and scores.coherence >= limits.coherence


def budget(candidates: Iterable[PathScores], limits: Limits) -> int:
    """Return B_cf, how many places reliable candidates leave."""
    return max(0, limits.expanded - sum(reliable(scores, limits) for scores in candidates))


def needed(candidates: Sequence[PathScores], limits: Limits) -> bool:
    """Return whether the expansion of a beam is unreliable.

    The paper's three conditions, no candidate and either maximum below its threshold, each make N_rel empty; so with
    the fourth of DESIGN D33 this is the whole test.
    """
    return not any(reliable(scores, limits) for scores in candidates)


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
    on = allowed(near.switches)
    for name, rule in RULES:
        if name not in on:
            continue
        # A question's own words decide which of these is good; nothing is cut before except for the sake of time.
        for guess in islice(rule(near, path), _OF_EACH * near.limits.expanded):
            if guess.end not in visited and guess.step.version.id not in known:
                known.add(guess.step.version.id)
                found.append(replace(path, steps=(*path.steps, guess.step), end=guess.end))
    return found


def allowed(switches: Switches) -> frozenset[Rule]:
    """Return the rules that are switched on."""
    if not switches.counterfactual:
        return frozenset()
    on: dict[Rule, bool] = {
        "symmetry": switches.rule_symmetry,
        "hyponymy": switches.rule_hyponymy,
        "succession": switches.rule_succession,
        "causality": switches.rule_causality,
        "cooccurrence": switches.rule_cooccurrence,
    }
    return frozenset(rule for rule, taken in on.items() if taken)
