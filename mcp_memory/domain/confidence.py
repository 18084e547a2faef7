"""The confidence of a fact (REAL §3.2, with DESIGN D38, since the paper gives no formula: DESIGN 2.3).

Each turn that states the fact counts once, with its highest value. With c₁ the highest of all and λ = ½::

    c* = 1 − (1 − c₁) · Π over the others (1 − λ·cᵢ),   at most max(.99, c₁)

So the confidence depends on no order, another turn never lowers it, one hedged remark never reaches the threshold of
stable facts, and a plain statement reaches it at once (unless facts of its class are wrong too often, DESIGN 1). What
contradicts a fact closes or contests it and never lowers its confidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.settings import FactSettings

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
