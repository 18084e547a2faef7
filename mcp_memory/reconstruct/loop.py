"""The active loop: assess, choose the next calls, make them, assess again (MRAgent §3.2, DESIGN 3.4).

The state is S(t) = (Z(t), H(t)) (eq. 7). H holds the segments found so far, each with its strength. Z, the frontier,
holds those that the last turn brought; the next turn goes on from them. No call is made twice (DESIGN I35).

A segment's *strength*, in (0, 1], says how likely the segment leads to the answer: for a candidate of the search,
its score relative to the best; for what a call finds, the strength that the call started from times how well the item
fits.

Each turn selects calls (f_select, eq. 10): the strongest that were proposed and not made yet. It has them made (eq.
11), routes what they find (f_route, eq. 12) and asks again whether the evidence covers the query
(``search/coverage.py``). The loop ends when it does, when nothing new comes any more, or when the budget is spent.

**Budgets**: 8 turns, 10 calls a turn (the paper), 50 in all (the authors' program); both hold (DESIGN D30). So that one
turn does not spend what later turns need, it takes at most its share of the calls that are left.

**Departures.** The paper's model selects and routes; here a rule selects (``frontier.py``), and routing keeps what is
strong enough. The same calls over the same memory end in the same state (DESIGN I35). The paper's model also judges
whether what is held is enough (C_LLM). Here nobody judges that: the loop goes on while parts and names of the query
stand in nothing that was found, or nothing of the form that is asked for does: a number, a date, a name that is not in
the query. What it ends with is called covered, never sufficient.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from mcp_memory.domain.evidence import Evidence, OperatorCall, Source, Stop
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.language.tokens import words
from mcp_memory.ports import OperatorResult
from mcp_memory.reconstruct.settings import LoopSettings
from mcp_memory.view.space import Space

Argument = str | tuple[str, ...]
Key = tuple[str, tuple[tuple[str, Argument], ...]]
LEAST = 0.05
"""Strength below which an item is dropped (f_route, eq. 12); a segment is news again if it gains as much."""
IDLE = 2
"""Turns without anything new after which the loop ends."""


@dataclass(frozen=True, slots=True)
class Action:
    """A call that may be made: a ∈ A of eq. 10.

    Attributes:
        operator: its name (`ports.Operator`).
        args: by name, as the explore tool takes them.
        strength: the strength of what it starts from.
    """

    operator: str
    args: Mapping[str, Argument]
    strength: float = 1.0

    @property
    def key(self) -> Key:
        """What distinguishes it from other calls (DESIGN I35); upper and lower case do not."""
        args = ((name, value.casefold() if isinstance(value, str) else value) for name, value in self.args.items())
        return self.operator, tuple(sorted(args))


@dataclass(slots=True)
class LoopState:
    """The state of the loop after some turns.

    Attributes:
        space: the space of a view that does not change meanwhile.
        query: understood with the speakers of the space; x of eq. 10.
        found: H, the strength of each segment by its row.
        frontier: Z, rows, the strongest first.
        uncovered: share of the query's content words, names aside, that no candidate covers, in [0, 1].
        expanded: segments that are or were in the frontier.
        brought: the strengths of segments that calls found, by operator and row.
        dated: times that calls found: since and until, by the id of the evidence.
        agenda: calls that were proposed and not made yet, by `Action.key`.
        made: calls with their results, likewise; with the greatest strength that they were proposed with.
        trace: the calls as they are reported, in order.
        turns: the turns that were taken.
        idle: turns since one brought something new.
    """

    space: Space
    query: Query
    found: dict[int, float]
    frontier: tuple[int, ...]
    uncovered: float = 0.0
    expanded: set[int] = field(default_factory=set)
    brought: dict[str, dict[int, float]] = field(default_factory=dict)
    dated: dict[str, tuple[Millis, Millis]] = field(default_factory=dict)
    agenda: dict[Key, Action] = field(default_factory=dict)
    made: dict[Key, tuple[Action, OperatorResult]] = field(default_factory=dict)
    trace: list[OperatorCall] = field(default_factory=list)
    turns: int = 0
    idle: int = 0

    @classmethod
    def begin(
        cls, space: Space, query: Query, candidates: Sequence[tuple[int, float]], width: int, uncovered: float = 0.0
    ) -> LoopState:
        """Return S(0): the candidates of the search as rows with strengths, best first, the first ``width`` in Z."""
        first = tuple(row for row, _ in candidates[:width])
        return cls(space, query, dict(candidates), first, uncovered, set(first))

    def strongest(self, count: int) -> list[int]:
        """Return the rows of the strongest segments that were found, earlier ones first in a tie."""
        return sorted(self.found, key=lambda row: -self.found[row])[:count]

    def propose(self, actions: Iterable[Action]) -> list[Action]:
        """Put calls on the agenda; return those that were made already, but from something weaker."""
        again: list[Action] = []
        for action in actions:
            if action.key in self.made:
                if action.strength >= self.made[action.key][0].strength + LEAST:
                    again.append(action)
            elif action.strength >= self.agenda.get(action.key, action).strength:
                self.agenda[action.key] = action
        return again

    def add_turn(self, done: Iterable[tuple[Action, OperatorResult]], again: Iterable[Action] = ()) -> None:
        """Add the results of a turn: Z(t+1) by routing (eq. 12), H(t+1) = H(t) ∪ Z(t+1).

        An item is routed to the segments of its sources, whatever its kind. Items that are too weak are dropped, and so
        are segments that are as strong already; the trace has how many items a call found and how many were kept. What
        calls found that are proposed ``again``, from something stronger, is routed again.
        """
        self.turns += 1
        fresh: set[int] = set()
        for action in again:
            _, result = self.made[action.key]
            self.made[action.key] = action, result
            for item in result.items:
                self._route(action, item, fresh)
        for action, result in done:
            self.agenda.pop(action.key, None)
            self.made[action.key] = action, result
            kept = sum(self._route(action, item, fresh) for item in result.items)
            self.trace.append(OperatorCall(self.turns, action.operator, dict(action.args), len(result.items), kept))
        self.frontier = tuple(sorted(fresh, key=lambda row: (-self.found[row], row)))
        self.idle = 0 if fresh else self.idle + 1

    def _route(self, action: Action, item: Evidence, fresh: set[int]) -> bool:
        """Add the segments of an item to H and to ``fresh``, as far as they are news; return whether any are."""
        if item.kind == "sentence" and item.valid_from is not None and item.valid_to is not None:
            self.dated[item.id] = (item.valid_from, item.valid_to)
        strength = action.strength * item.score
        reached = (
            {row for source in item.sources for row in _segments(self.space, source)} if strength >= LEAST else set()
        )
        news = [row for row in reached if row not in self.expanded or strength >= self.found.get(row, 0.0) + LEAST]
        for row in news:
            self.found[row] = max(strength, self.found.get(row, 0.0))
            self.brought.setdefault(action.operator, {})[row] = self.found[row]
        self.expanded.update(news)
        fresh.update(news)
        return bool(news)


def _segments(space: Space, source: Source) -> Iterator[int]:
    """Yield the rows of the segments with a sentence that overlaps a span of a turn."""
    for row in space.sentences.overlapping(source.turn.id, source.start, source.end):
        yield from space.segments_with(source.turn.id, space.sentences[row].index)


Select = Callable[[LoopState], Sequence[Action]]
"""f_select: calls for a state, best first."""
Execute = Callable[[Sequence[Action]], Awaitable[Sequence[OperatorResult]]]
"""Makes the calls of a turn, all at once, and returns the result of each."""


async def run_loop(
    state: LoopState,
    *,
    select: Select,
    execute: Execute,
    covered: Callable[[LoopState], bool],
    settings: LoopSettings,
    clock: Callable[[], float],
) -> Stop:
    """Run the loop, changing the state, and return why it stopped.

    Args:
        state: after a search that did not cover the query.
        select: proposes calls; none is made twice (DESIGN I35).
        execute: makes them.
        covered: whether what is found covers the query.
        settings: how far.
        clock: seconds, from any beginning.
    """
    began = clock()
    while True:
        turns, calls = settings.max_turns - state.turns, settings.calls - len(state.trace)
        if turns <= 0:
            return "max_turns"
        if calls <= 0:
            return "budget"
        if clock() - began >= settings.deadline_s:
            return "deadline"
        again = state.propose(select(state))
        waiting = sorted(state.agenda.values(), key=lambda action: -action.strength)
        chosen = waiting[: min(settings.k_ops, ceil(calls / turns))]
        if not chosen and not again:
            return "exhausted"
        state.add_turn(zip(chosen, await execute(chosen), strict=True), again)
        if state.idle >= IDLE:
            return "exhausted"
        if covered(state):
            return "covered"


def uncovered_share(query: Query, missing: Collection[str]) -> float:
    """Return the share of a query's content words, names aside, that is missing, in [0, 1]; 0 where all are names.

    Where most of it is missing, the query's words lead nowhere, and only its names do.
    """
    in_names = {word for name in (*query.names, *query.speakers) for word in words(name)}
    content = [word for word, _ in query.content_words if not in_names.issuperset(words(word))]
    return sum(word in missing for word in content) / len(content) if content else 0.0
