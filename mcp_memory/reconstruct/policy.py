"""What to do next, as a table: f_select without a language model (MRAgent eq. 10, DESIGN 3.4).

``resources/policy.toml`` tells kinds of question apart and says for each which operators are called in which turn, and
with what. It is read once, and checked against the operators that there are: the walk itself knows none by name.

A kind is that of a question that has one of its signs: the kind of answer that is asked for, a date, how many names or
speakers it names, or words, as regular expressions. The first kind in the file whose sign a question has is its kind;
one without signs takes every question. Where a walk has more turns than its kind lists, the last is repeated, with what
was found meanwhile; and before its last turn come the calls that are listed for then.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, get_args

from mcp_memory.domain.query import AnswerType as Wanted
from mcp_memory.errors import ConfigurationError
from mcp_memory.ports import Operator
from mcp_memory.reconstruct.assess import Assessment
from mcp_memory.reconstruct.sources import SOURCES
from mcp_memory.reconstruct.state import Action, Argument, Asked, State

FILE = "policy.toml"


@dataclass(frozen=True, slots=True)
class Worth:
    """What it counts that an operator found something.

    Attributes:
        talk: what a segment of talk gains, as a share of the best score, for each unit of strength.
        document: the same for one of a document.
        steepness: how fast that falls with strength: the exponent.
        carries: share of its strength that a call passes on to what it finds.
    """

    talk: float = 0.0
    document: float = 0.0
    steepness: float = 1.0
    carries: float = 1.0


@dataclass(frozen=True, slots=True)
class Signs:
    """By what questions of a kind are told; one without any takes all.

    Attributes:
        asked: kinds of answer (`domain.query.AnswerType`).
        words: expressions, one of which stands in it, whatever the case.
        dated: it gives a date.
        names: it calls at least so many things by name; 0 where that is no sign.
        speakers: it names so many speakers; 0 likewise.
        lost: so much of what it says beside names, or more, is covered by nothing in the first look; 0 likewise.
    """

    asked: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None
    dated: bool = False
    names: int = 0
    speakers: int = 0
    lost: float = 0.0

    def fit(self, asked: Asked) -> bool:
        """Return whether a question has one of the signs, or there is none to have."""
        question = asked.question
        return (
            self == Signs()
            or question.answer_type in self.asked
            or (self.dated and question.time is not None and question.time.dated)
            or (0 < self.names <= len(question.names))
            or (0 < self.speakers == len(question.speakers))
            or (0 < self.lost <= asked.lost)
            or (self.words is not None and self.words.search(question.text) is not None)
        )


@dataclass(frozen=True, slots=True)
class Planned:
    """A call as the table has it.

    Attributes:
        operator: its name.
        args: the source of each argument, by the argument's name.
    """

    operator: str
    args: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question.

    Attributes:
        name: of the kind.
        signs: by which it is told.
        turns: the calls of each turn.
        before_last: further calls of the turn before the last.
    """

    name: str
    signs: Signs
    turns: tuple[tuple[Planned, ...], ...]
    before_last: tuple[Planned, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """The table.

    Attributes:
        kinds: in the order in which they are tried.
        worths: of operators, by name.
    """

    kinds: tuple[Kind, ...]
    worths: Mapping[str, Worth]

    @classmethod
    def read(cls, text: str, operators: Mapping[str, Operator]) -> Policy:
        """Return the table that a text in TOML holds.

        Raises:
            ConfigurationError: it is no such table, or names an operator, an argument or a source that there is not.
        """
        try:
            content = tomllib.loads(text)
            worths = {name: Worth(**table) for name, table in content.pop("operators").items()}
            policy = cls(tuple(map(_kind, content.pop("kinds"))), worths)
        except (tomllib.TOMLDecodeError, re.error, TypeError, KeyError, AttributeError, ValueError) as error:
            raise ConfigurationError(f"{FILE}: {error if str(error) else 'it is no table of calls'}") from error
        if content:
            raise ConfigurationError(f"{FILE}: there is no use for {', '.join(content)}")
        for problem in policy._problems(operators):
            raise ConfigurationError(f"{FILE}: {problem}")
        return policy

    def without(self, operators: Collection[str]) -> Policy:
        """Return the table without the calls of some operators."""
        kinds = tuple(
            Kind(
                kind.name,
                kind.signs,
                tuple(tuple(one for one in turn if one.operator not in operators) for turn in kind.turns),
                tuple(one for one in kind.before_last if one.operator not in operators),
            )
            for kind in self.kinds
        )
        return Policy(kinds, {name: worth for name, worth in self.worths.items() if name not in operators})

    def kind(self, asked: Asked) -> Kind | None:
        """Return the kind of a question; None where it is of none."""
        return next((kind for kind in self.kinds if kind.signs.fit(asked)), None)

    def actions(self, state: State, assessment: Assessment, turns: int) -> list[Action]:
        """Return the calls that the table has for the state of a walk, strongest first.

        Args:
            state: of the walk.
            assessment: of the state.
            turns: how many are left, the next one included.
        """
        kind = self.kind(state.asked)
        if kind is None:
            return []
        planned = [*(kind.before_last if turns == 2 else ()), *kind.turns[min(state.turns, len(kind.turns) - 1)]]
        found = [action for one in planned for action in self._calls(one, state, assessment)]
        return sorted(found, key=lambda action: -action.strength)

    def _calls(self, planned: Planned, state: State, assessment: Assessment) -> Iterator[Action]:
        """Yield a call for each value of its sources."""
        values = [SOURCES[source](state, assessment) for source in planned.args.values()]
        carries = self.worths[planned.operator].carries
        for chosen in product(*values):
            args: dict[str, Argument] = dict(zip(planned.args, (value for value, _ in chosen), strict=True))
            yield Action(planned.operator, args, prod(strength for _, strength in chosen), carries)

    def _problems(self, operators: Mapping[str, Operator]) -> Iterator[str]:
        yield from (f"there is no operator {name!r}" for name in self.worths if name not in operators)
        for kind in self.kinds:
            if not kind.turns:
                yield f"kind {kind.name!r} has no turns"
            for planned in (*kind.before_last, *(one for turn in kind.turns for one in turn)):
                yield from (f"kind {kind.name!r}: {problem}" for problem in self._wrong(planned, operators))

    def _wrong(self, planned: Planned, operators: Mapping[str, Operator]) -> Iterator[str]:
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


def _kind(table: dict[str, Any]) -> Kind:
    name = table.pop("name")
    if odd := [one for one in table.get("asked", ()) if one not in get_args(Wanted)]:
        raise ValueError(f"kind {name!r}: no question asks for {odd[0]!r}")
    signs = Signs(
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
    return Kind(name, signs, turns, before)


def _planned(calls: Sequence[dict[str, str]]) -> tuple[Planned, ...]:
    return tuple(Planned(call["operator"], {k: v for k, v in call.items() if k != "operator"}) for call in calls)
