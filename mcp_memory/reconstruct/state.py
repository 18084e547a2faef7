"""The state of a walk through memory, S(t) = (Z(t), H(t)) (MRAgent §3.2, eq. 7).

H is what is held: segments, each with how strongly it is held and which call brought it. Z is what is active: what the
last turn brought, from which the next one goes on. Beside them stands what keeps a walk short: which calls were tried,
so that none is tried twice, and how many there were.

A segment's *strength*, in (0, 1], is how sure the walk is to be on the right way there: of the first look, its score
relative to the best; of what a call finds, what the call went on from times how well the item fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.evidence import OperatorCall
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.ports import OperatorResult
from mcp_memory.view.space import Space

Argument = str | tuple[str, ...]
Key = tuple[str, tuple[tuple[str, Argument], ...]]
LEAST = 0.05
"""Strength below which what was found is let go (f_route, eq. 12); a segment is found anew if it gains as much."""


@dataclass(frozen=True, slots=True)
class Asked:
    """x of eq. 10: what the whole walk is about.

    Attributes:
        space: of a view that is held still.
        question: understood with the speakers of the space.
        roots: names that facts are followed from.
        points: memory points that bear on the question.
        lost: share of what it says beside names that nothing in the first look covers, in [0, 1].
    """

    space: Space
    question: Query
    roots: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    lost: float = 0.0


@dataclass(frozen=True, slots=True)
class Action:
    """A call that may be made: a ∈ A of eq. 10.

    Attributes:
        operator: its name (`ports.Operator`).
        args: by name, as the explore tool takes them.
        strength: of what it goes on from.
        carries: share of that which it passes on to what it finds.
    """

    operator: str
    args: Mapping[str, Argument]
    strength: float = 1.0
    carries: float = 1.0

    @property
    def key(self) -> Key:
        """What tells it from other calls (DESIGN I35); the case of a text does not."""
        args = ((name, given.casefold() if isinstance(given, str) else given) for name, given in self.args.items())
        return self.operator, tuple(sorted(args))


@dataclass(frozen=True, slots=True)
class Held:
    """A segment of H.

    Attributes:
        row: of the segment.
        strength: in (0, 1].
        via: the operator that brought it; empty for the first look.
        call: the place of the call in the trace; -1 for the first look.
    """

    row: int
    strength: float
    via: str = ""
    call: int = -1


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made: what it found, and how strong what it went on from was."""

    strength: float
    found: OperatorResult
    place: int


@dataclass(slots=True)
class State:
    """A walk as far as it has come.

    Attributes:
        asked: what it is about.
        held: H, by the row of the segment.
        active: Z, the strongest first.
        gone_on: segments that are or were active.
        made: the calls that were made, by `Action.key`.
        agenda: calls that were thought of and not made yet, likewise.
        dated: what calls told the time of: since and until, by the id of the evidence.
        trace: the calls as they are told, in order.
        turns: that were taken.
        idle: turns since one brought something new.
    """

    asked: Asked
    held: dict[int, Held]
    active: tuple[Held, ...]
    gone_on: set[int]
    made: dict[Key, Made] = field(default_factory=dict)
    agenda: dict[Key, Action] = field(default_factory=dict)
    dated: dict[str, tuple[Millis, Millis]] = field(default_factory=dict)
    trace: list[OperatorCall] = field(default_factory=list)
    turns: int = 0
    idle: int = 0

    @classmethod
    def begin(cls, asked: Asked, looked: Sequence[tuple[int, float]], active: int) -> State:
        """Return S(0): what the first look found, as rows with strengths, best first, the best few of it active."""
        held = [Held(row, strength) for row, strength in looked]
        return cls(asked, {one.row: one for one in held}, tuple(held[:active]), {one.row for one in held[:active]})

    def best(self, most: int) -> list[Held]:
        """Return the strongest of what is held, those held first before later ones."""
        return sorted(self.held.values(), key=lambda one: -one.strength)[:most]

    def consider(self, actions: Iterable[Action]) -> list[Action]:
        """Put calls on the agenda; return those that were made already, from something weaker."""
        again: list[Action] = []
        for action in actions:
            made, waiting = self.made.get(action.key), self.agenda.get(action.key)
            if made is not None:
                if action.strength >= made.strength + LEAST:
                    again.append(action)
            elif waiting is None or waiting.strength < action.strength:
                self.agenda[action.key] = action
        return again

    def take(self, done: Sequence[tuple[Action, OperatorResult]], again: Sequence[Action] = ()) -> None:
        """Take a turn's results in: Z(t+1) by routing (eq. 12), H(t+1) = H(t) ∪ Z(t+1).

        An item is routed to the segments that its sources stand in, whatever kind it is of. What is too weak is let go,
        and so is what is held as strongly already; the trace says how many items a call found and how many were kept.

        Args:
            done: calls with what they found.
            again: calls that were made before, from something weaker: what they found is routed anew.
        """
        self.turns += 1
        fresh: dict[int, Held] = {}
        for action in again:
            made = self.made[action.key]
            self._route(action, made.found, made.place, fresh)
            self.made[action.key] = Made(action.strength, made.found, made.place)
        for action, found in done:
            kept = self._route(action, found, len(self.trace), fresh)
            self.made[action.key] = Made(action.strength, found, len(self.trace))
            self.agenda.pop(action.key, None)
            self.trace.append(OperatorCall(self.turns, action.operator, dict(action.args), len(found.items), kept))
        self.active = tuple(sorted(fresh.values(), key=lambda one: -one.strength))
        self.idle = 0 if fresh else self.idle + 1

    def _route(self, action: Action, found: OperatorResult, place: int, fresh: dict[int, Held]) -> int:
        """Hold what a call found, as far as it is news; return how many of its items are kept."""
        kept = 0
        for item in found.items:
            if item.kind == "sentence" and item.valid_from is not None and item.valid_to is not None:
                self.dated[item.id] = (item.valid_from, item.valid_to)
            strength = action.strength * action.carries * item.score
            if strength < LEAST:
                continue
            landed = [
                Held(row, max(strength, self._strength(row)), action.operator, place)
                for source in item.sources
                for row in _segments(self.asked.space, source.turn.id, source.start, source.end)
                if row not in self.gone_on or strength >= self._strength(row) + LEAST
            ]
            for one in landed:
                self.held[one.row] = fresh[one.row] = one
                self.gone_on.add(one.row)
            kept += bool(landed)
        return kept

    def _strength(self, row: int) -> float:
        known = self.held.get(row)
        return 0.0 if known is None else known.strength


def _segments(space: Space, turn: str, start: int, end: int) -> Iterator[int]:
    """Yield the rows of the segments that hold a sentence which a span of a turn touches, each once."""
    seen: set[int] = set()
    for row in space.sentences_of(turn):
        sentence = space.sentences[row]
        if sentence.start < end and sentence.end > start:
            for segment in space.segments_with(turn, sentence.index):
                if segment not in seen:
                    seen.add(segment)
                    yield segment
