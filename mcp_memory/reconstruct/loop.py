"""The active walk: look, judge what is missing, choose the next calls, look again (MRAgent §3.2, DESIGN 3.4).

Each turn selects calls (f_select, eq. 10): the strongest of those that were thought of and not made yet. It has them
made (eq. 11), routes what they find (f_route, eq. 12) and judges again. It ends where that is enough, where nothing new
comes any more, or where the budget does. Whatever is found is found by operators, which the walk knows by what the
policy calls them and by nothing else.

**Budgets**: 8 turns, 10 calls a turn (the paper), 50 in all (the authors' program); both hold (DESIGN D30). So that a
walk does not spend in one turn what later ones need, a turn takes at most its share of the calls that are left.

**Departures.** The paper's model selects and routes; here a table does (``policy.py``), and routing keeps what is
strong enough (``state.py``). The same calls over the same memory end in the same state (DESIGN I35).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import ceil

from mcp_memory.domain.evidence import Stop
from mcp_memory.ports import OperatorResult
from mcp_memory.reconstruct.assess import Assessment
from mcp_memory.reconstruct.state import Action, State

Select = Callable[[State, Assessment, int], Sequence[Action]]
"""f_select: given the state, what is missing and how many turns are left, this one included: calls, best first."""
Execute = Callable[[Sequence[Action]], Awaitable[Sequence[OperatorResult]]]
"""Makes the calls of a turn, all of them at once, and returns what each found."""
Assess = Callable[[State], Assessment]
IDLE = 2
"""Turns without anything new after which a walk ends."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How far a walk may go.

    Attributes:
        max_turns: turns.
        k_ops: calls in one turn.
        calls: calls in all.
        deadline_s: seconds after which no further turn begins.
    """

    max_turns: int = 8
    k_ops: int = 10
    calls: int = 50
    deadline_s: float = 30.0


async def walk(
    state: State,
    first: Assessment,
    *,
    select: Select,
    execute: Execute,
    assess: Assess,
    budget: Budget,
    clock: Callable[[], float],
) -> Stop:
    """Walk on from a state, and change it, until one of the reasons to stop; return that.

    Args:
        state: after the first look.
        first: what is thought of it; where that is enough no turn is taken.
        select: thinks of calls; none is made twice (DESIGN I35).
        execute: makes them.
        assess: judges again.
        budget: how far.
        clock: seconds, from any beginning.
    """
    began, assessment = clock(), first
    while not assessment.sufficient:
        turns, calls = budget.max_turns - state.turns, budget.calls - len(state.trace)
        if turns <= 0:
            return "max_turns"
        if calls <= 0:
            return "budget"
        if clock() - began >= budget.deadline_s:
            return "deadline"
        again = state.consider(select(state, assessment, turns))
        waiting = sorted(state.agenda.values(), key=lambda action: -action.strength)
        chosen = waiting[: min(budget.k_ops, ceil(calls / turns))]
        if not chosen and not again:
            return "exhausted"
        state.take(list(zip(chosen, await execute(chosen) if chosen else (), strict=True)), again)
        if state.idle >= IDLE:
            return "exhausted"
        assessment = assess(state)
    return "sufficient"
