"""The policy: a table of the calls that the loop makes next, f_select without a model (MRAgent eq. 10, DESIGN 3.4).

``resources/policy.toml`` defines kinds of query, and for each the operators that are called in each turn and where
their arguments come from. It is read once and checked against the operators that exist: the loop knows none by name.

A query is of a kind if it has one of the kind's conditions: the type of answer, a date, how many names or speakers it
names, or words, as regular expressions. The first kind in the file that fits is used; a kind without conditions fits
every query. Where the loop takes more turns than its kind lists, the last one is repeated, with what was found
meanwhile; before the loop's last turn come the calls that are listed for then.

Each *source* of an argument (`SOURCES`) gives the values that it has in a state of the loop, strongest first, each with
its strength; a call is made for every value. A source without values gives no call.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, get_args

from mcp_memory.domain.evidence import Coverage
from mcp_memory.domain.query import AnswerType, Query
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.errors import ConfigurationError
from mcp_memory.language import iso
from mcp_memory.ports import Operator
from mcp_memory.reconstruct.frontier import find_pointers
from mcp_memory.reconstruct.loop import Action, Argument, LoopState
from mcp_memory.reconstruct.topics import Topics

FILE = "policy.toml"
BEST = 3
"""Segments whose ids stand for the best, and for what is new."""
Values = Sequence[tuple[Argument, float]]
Source = Callable[[LoopState, Coverage], Values]


@dataclass(frozen=True, slots=True)
class Worth:
    """How much it counts that an operator found something.

    Attributes:
        talk: what a message gains, as a share of the best score, for each unit of strength.
        document: the same for a segment of a document.
        steepness: how fast that falls with strength: the exponent.
        carries: share of its strength that a call passes on to what it finds.
    """

    talk: float = 0.0
    document: float = 0.0
    steepness: float = 1.0
    carries: float = 1.0


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a kind of query; a kind without any fits all.

    Attributes:
        asked: types of answer.
        words: expressions, one of which occurs in the query, in any case.
        dated: the query gives a date.
        names: it names at least so many things; 0 where that is no condition.
        speakers: it names exactly so many speakers; 0 likewise.
        lost: at least this share of its content words, names aside, is covered by no candidate; 0 likewise.
    """

    asked: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None
    dated: bool = False
    names: int = 0
    speakers: int = 0
    lost: float = 0.0

    def fit(self, query: Query, uncovered: float) -> bool:
        """Return whether a query, with its uncovered share, has one of the conditions, or there are none."""
        return (
            self == Conditions()
            or query.answer_type in self.asked
            or (self.dated and query.time is not None and query.time.dated)
            or (0 < self.names <= len(query.names))
            or (0 < self.speakers == len(query.speakers))
            or (0 < self.lost <= uncovered)
            or (self.words is not None and self.words.search(query.text) is not None)
        )


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call as the table has it.

    Attributes:
        operator: its name.
        args: the source of each argument, by the argument's name.
    """

    operator: str
    args: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class QueryKind:
    """A kind of query.

    Attributes:
        name: the name of the kind.
        conditions: the conditions that a query of this kind has.
        turns: the calls of each turn.
        before_last: further calls of the turn before the last.
    """

    name: str
    conditions: Conditions
    turns: tuple[tuple[PlannedCall, ...], ...]
    before_last: tuple[PlannedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """The table.

    Attributes:
        kinds: in the order in which they are tried.
        worths: the worths of operators, by name.
    """

    kinds: tuple[QueryKind, ...]
    worths: Mapping[str, Worth]

    @classmethod
    def read(cls, text: str, operators: Mapping[str, Operator]) -> Policy:
        """Return the table in a TOML text.

        Raises:
            ConfigurationError: it is no such table, or names an operator, an argument or a source that does not exist.
        """
        try:
            content = tomllib.loads(text)
            worths = {name: Worth(**table) for name, table in content.pop("operators").items()}
            policy = cls(tuple(map(_kind, content.pop("kinds"))), worths)
        except (tomllib.TOMLDecodeError, re.error, TypeError, KeyError, AttributeError, ValueError) as error:
            raise ConfigurationError(f"{FILE}: {error if str(error) else 'it is no table of calls'}") from error
        if content:
            raise ConfigurationError(f"{FILE}: unknown keys: {', '.join(content)}")
        for problem in policy._problems(operators):
            raise ConfigurationError(f"{FILE}: {problem}")
        return policy

    def without(self, operators: Collection[str]) -> Policy:
        """Return the table without the calls of some operators."""

        def remaining(calls: Sequence[PlannedCall]) -> tuple[PlannedCall, ...]:
            return tuple(call for call in calls if call.operator not in operators)

        kinds = tuple(
            QueryKind(kind.name, kind.conditions, tuple(map(remaining, kind.turns)), remaining(kind.before_last))
            for kind in self.kinds
        )
        return Policy(kinds, {name: worth for name, worth in self.worths.items() if name not in operators})

    def kind(self, query: Query, uncovered: float = 0.0) -> QueryKind | None:
        """Return the kind of a query with its uncovered share; None where none fits."""
        return next((kind for kind in self.kinds if kind.conditions.fit(query, uncovered)), None)

    def actions(self, state: LoopState, coverage: Coverage, turns: int) -> list[Action]:
        """Return the calls that the table has for a state of the loop, strongest first."""
        kind = self.kind(state.query, state.uncovered)
        if kind is None:
            return []
        planned = [*(kind.before_last if turns == 2 else ()), *kind.turns[min(state.turns, len(kind.turns) - 1)]]
        actions = [action for call in planned for action in self._actions(call, state, coverage)]
        return sorted(actions, key=lambda action: -action.strength)

    def _actions(self, planned: PlannedCall, state: LoopState, coverage: Coverage) -> Iterator[Action]:
        """Yield a call for each combination of values of its sources."""
        values = [SOURCES[source](state, coverage) for source in planned.args.values()]
        carries = self.worths[planned.operator].carries
        for chosen in product(*values):
            args: dict[str, Argument] = dict(zip(planned.args, (value for value, _ in chosen), strict=True))
            yield Action(planned.operator, args, prod(strength for _, strength in chosen), carries)

    def _problems(self, operators: Mapping[str, Operator]) -> Iterator[str]:
        yield from (f"there is no operator {name!r}" for name in self.worths if name not in operators)
        for kind in self.kinds:
            if not kind.turns:
                yield f"kind {kind.name!r} has no turns"
            for planned in (*kind.before_last, *(call for turn in kind.turns for call in turn)):
                yield from (f"kind {kind.name!r}: {problem}" for problem in self._wrong(planned, operators))

    def _wrong(self, planned: PlannedCall, operators: Mapping[str, Operator]) -> Iterator[str]:
        operator = operators.get(planned.operator)
        if operator is None:
            yield f"there is no operator {planned.operator!r}"
            return
        if planned.operator not in self.worths:
            yield f"nothing is said under [operators.{planned.operator}]"
        for name, source in planned.args.items():
            if name not in operator.uses:
                yield f"{planned.operator} does not take {name!r}"
            if source not in SOURCES:
                yield f"{planned.operator}: there is no source {source!r}; there are {', '.join(SOURCES)}"
        for needed in operator.needs:
            if not set(needed.split(" or ")) & planned.args.keys():
                yield f"{planned.operator} cannot do without {needed}"


def _kind(table: dict[str, Any]) -> QueryKind:
    """Return a kind of query as its table in ``policy.toml`` says."""
    name = table.pop("name")
    if odd := [asked for asked in table.get("asked", ()) if asked not in get_args(AnswerType)]:
        raise ValueError(f"kind {name!r}: no question asks for {odd[0]!r}")
    conditions = Conditions(
        frozenset(table.pop("asked", ())),
        re.compile("|".join(table.pop("words")), re.IGNORECASE) if "words" in table else None,
        table.pop("dated", False),
        table.pop("names", 0),
        table.pop("speakers", 0),
        table.pop("lost", 0.0),
    )
    turns = tuple(_planned(turn) for turn in table.pop("turns"))
    before = _planned(table.pop("before_last", ()))
    if table:
        raise ValueError(f"kind {name!r}: there is no use for {', '.join(table)}")
    return QueryKind(name, conditions, turns, before)


def _planned(calls: Sequence[dict[str, str]]) -> tuple[PlannedCall, ...]:
    return tuple(PlannedCall(call["operator"], {k: v for k, v in call.items() if k != "operator"}) for call in calls)


def _question(state: LoopState, _: Coverage) -> Values:
    return [(state.query.text, 1.0)]


def _reason(_: LoopState, coverage: Coverage) -> Values:
    return [(coverage.reason, 1.0)] if coverage.reason else []


def _missing(_: LoopState, coverage: Coverage) -> Values:
    """The words that nothing covers, one by one."""
    return [(word, 1.0) for word in coverage.missing]


def _roots(state: LoopState, _: Coverage) -> Values:
    return [(name, 1.0) for name in state.roots]


def _best(state: LoopState, _: Coverage) -> Values:
    """The ids of the strongest segments, together."""
    best = state.strongest(BEST)
    return [(tuple(state.space.segments[item.row].id for item in best), best[0].strength)] if best else []


def _new(state: LoopState, _: Coverage) -> Values:
    """The ids of what the last turn brought, together."""
    new = state.frontier[:BEST]
    return [(tuple(state.space.segments[item.row].id for item in new), new[0].strength)] if new else []


def _cues(state: LoopState, _: Coverage) -> Values:
    """Names and things in what the last turn brought that lead to other texts."""
    return find_pointers(state)


def _topics(state: LoopState, _: Coverage) -> Values:
    """The topics of what the last turn brought, by their ids."""
    topics = Topics.of(state.space)
    values: dict[Argument, float] = {}
    for item in state.frontier[:BEST]:
        if topic := topics.topic_of(state.space, item.row):
            values.setdefault(topic.id, item.strength)
    return list(values.items())


def _points(state: LoopState, _: Coverage) -> Values:
    """The ids of the memory points related to the query, one by one."""
    return [((point.id,), 1.0) for point in state.points[:BEST]]


def _since(state: LoopState, _: Coverage) -> Values:
    return _day(state, since=True)


def _until(state: LoopState, _: Coverage) -> Values:
    return _day(state, since=False)


def _day(state: LoopState, *, since: bool) -> Values:
    """The first or last day of the time in the query, where it has both ends."""
    time = state.query.time
    if time is None or time.since <= BEGINNING or time.until >= FOREVER:
        return []
    moment = time.since if since else time.until - 1
    shown = iso.show(moment - moment % iso.DAY)
    return [] if shown is None else [(shown, 1.0)]


SOURCES: Mapping[str, Source] = {
    "question": _question,
    "reason": _reason,
    "missing": _missing,
    "roots": _roots,
    "best": _best,
    "new": _new,
    "cues": _cues,
    "topics": _topics,
    "points": _points,
    "since": _since,
    "until": _until,
}
"""The sources of arguments, by the names that the policy file uses."""
