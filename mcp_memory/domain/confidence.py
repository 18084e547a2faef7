"""How sure the memory is of a fact (REAL §3.2, with DESIGN D38, since the paper gives no formula: DESIGN 2.3).

One value for each turn that says it, the highest. With c₁ the highest of all and λ = ½::

    c* = 1 − (1 − c₁) · Π over the others (1 − λ·cᵢ),   at most max(.99, c₁)

So it depends on no order, another turn never lowers it, one hedged remark never reaches the threshold of what counts
as stable, and a plain statement does at once. What contradicts a fact closes or contests it and never lowers it.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from mcp_memory.domain.facts import Assertion

LAMBDA = 0.5
"""How much a further turn counts beside the surest one."""
CEILING = 0.99
"""No number of turns makes a fact surer than this, unless one of them is."""
STABLE = 0.8
"""θ_stable of REAL (§4.1, sensitivity in its figure): below it a fact stays in the background."""


def combined(assertions: Iterable[Assertion]) -> float:
    """Return the confidence in (0, 1] of what one or more assertions say together."""
    turns: dict[str, float] = {}
    for assertion in assertions:
        turns[assertion.turn_id] = max(assertion.confidence, turns.get(assertion.turn_id, 0.0))
    surest, *others = sorted(turns.values(), reverse=True)
    if not others:
        return surest
    together = 1 - (1 - surest) * prod(1 - LAMBDA * other for other in others)
    return max(surest, min(together, CEILING))  # rounding alone could take very small ones below the surest
