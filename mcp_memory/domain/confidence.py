"""The confidence of a fact (REAL §3.2, with DESIGN D38, since the paper gives no formula: DESIGN 2.3).

Each turn that states the fact counts once, with its highest value. With c₁ the highest of all and λ = ½::

    c* = 1 − (1 − c₁) · Π over the others (1 − λ·cᵢ),   at most max(.99, c₁)

So the confidence depends on no order, another turn never lowers it, one hedged remark never reaches the threshold of
stable facts, and a plain statement reaches it at once (unless facts of its class are wrong too often, DESIGN 1). What
contradicts a fact closes or contests it and never lowers its confidence.

How many values a relation has at a time, learnt from assertions (REAL §3.2; formula: DESIGN D38 and 2.4).

Two counters for each relation: how often one value replaced another (s), and how often two values held at the same time
(m). With ``P = (s + 1)/(s + m + 2)``, a relation that the registry does not know is single if s ≥ 3 and P ≥ ¾, multi if
m ≥ 3 and P ≤ .35, and otherwise unknown, which behaves as multi.

**Departures.** DESIGN 2.4 lets a relation once learnt as single fall back only below P = ½. That depends on the order
of arrival; here the counters alone decide, so that folding again always gives the same result (DESIGN I10).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import prod

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import Cardinality
from mcp_memory.domain.settings import FactSettings
from mcp_memory.domain.times import Millis

LAMBDA = 0.5
"""Weight of a further turn beside the one with the highest confidence."""
CEILING = 0.99
"""Highest confidence that several turns reach, unless one of them exceeds it."""
STABLE = FactSettings().stable
"""θ_stable of REAL (§4.1, sensitivity in its figure): a fact below it is only suspected."""


def combined(assertions: Iterable[Assertion]) -> float:
    """Return the confidence in (0, 1] of one or more assertions of the same fact."""
    turns: dict[str, float] = {}
    for assertion in assertions:
        turns[assertion.turn_id] = max(assertion.confidence, turns.get(assertion.turn_id, 0.0))
    surest, *others = sorted(turns.values(), reverse=True)
    if not others:
        return surest
    together = 1 - (1 - surest) * prod(1 - LAMBDA * other for other in others)
    return max(surest, min(together, CEILING))  # rounding could take very small values below the surest


def learnt(superseded: int, together: int) -> Cardinality:
    """Return the cardinality that the counters s and m of a relation indicate."""
    single = (superseded + 1) / (superseded + together + 2)  # P
    if superseded >= 3 and single >= 0.75:
        return "single"
    if together >= 3 and single <= 0.35:
        return "multi"
    return "unknown"


def count(assertions: Sequence[Assertion], key: Callable[[str], str]) -> tuple[int, int]:
    """Return the counters s and m of one (head, relation).

    A value supersedes another if it begins, or comes back, with a marker of change or with the negation of another
    value in the same turn, while another value was known before. Two values are together if, without such a marker, one
    turn states both for one time, or a later turn states the older one again after the newer one has begun.

    Args:
        assertions: of one head and relation, in any order.
        key: of a tail.
    """
    by_turn: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in assertions:
        by_turn[assertion.turn_id].append(assertion)
    superseded = together = 0
    begun: dict[str, None] = {}  # values in the order in which they began, or came back
    for said in sorted(by_turn.values(), key=lambda said: (min(a.since for a in said), min(a.id for a in said))):
        starts: dict[str, Millis] = {}
        for assertion in sorted(said, key=lambda a: (a.since, a.id)):
            if not assertion.negated:
                starts.setdefault(key(assertion.tail), assertion.since)
        at_once = len(starts) > 1 and len(set(starts.values())) == 1
        denied = any(a.negated and key(a.tail) in begun and key(a.tail) not in starts for a in said)
        change = denied or any(a.change or a.intent == "EVOLUTION" for a in said)
        current = next(reversed(begun), None)
        if not change:
            together += at_once or any(tail in begun and tail != current for tail in starts)
        begun |= dict.fromkeys(tail for tail in starts if tail not in begun)
        if change and starts and not at_once:
            latest = next(reversed(starts))
            superseded += latest != current and len(begun) > 1
            begun.pop(latest)
            begun[latest] = None
    return superseded, together
