"""Synthetic histories: a relation with one value at a time, statements about it, and its true value at each time.

Everything comes from one seed. The statements determine the history in any order: each value's start, ends where there
is a gap, wrong values together with their corrections, and mentions in between.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from asserting import asserted

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import FOREVER

DAY = 86_400_000
"""Milliseconds."""
CITIES = ("Bergen", "Cork", "Dakar", "Hanoi", "Lima", "Lyon", "Osaka", "Porto", "Quito", "Turin", "Utrecht", "Vienna")


@dataclass(frozen=True, slots=True)
class Stay:
    """A value and the interval in which it was true, ``[since, until)``."""

    tail: str
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, with the fields of `mcp_memory.domain.facts.Assertion`."""

    tail: str
    since: int
    until: int
    said_at: int
    confidence: float = 0.95
    negated: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """A history.

    Attributes:
        stays: what was true, in order, with gaps where nothing was.
        statements: about it, in the order of arrival.
    """

    stays: Sequence[Stay]
    statements: Sequence[Statement]

    def value_at(self, instant: int) -> str | None:
        """Return the true value at an instant."""
        return next((stay.tail for stay in self.stays if stay.since <= instant < stay.until), None)

    def overwritten(self, instant: int) -> str | None:
        """Return the value at an instant in a memory that keeps only the last statement."""
        last = self.statements[-1]
        return None if last.negated or not last.since <= instant < last.until else last.tail

    def instants(self, rng: random.Random, count: int) -> list[int]:
        """Return moments between a year before the first stay and a year after the last has begun."""
        return [rng.randrange(self.stays[0].since - 365 * DAY, self.stays[-1].since + 365 * DAY) for _ in range(count)]

    def assertions(self, head: str, relation: str = "lives_in") -> list[Assertion]:
        """Return the statements as assertions, each in a turn of its own."""
        return [
            asserted(
                statement.tail,
                statement.since,
                statement.until,
                head=head,
                relation=relation,
                turn=f"t_{head}{number}",
                negated=statement.negated,
                confidence=statement.confidence,
                said_at=statement.said_at,
                recorded_at=number,
            )
            for number, statement in enumerate(self.statements)
        ]


def history(rng: random.Random, *, dated: bool = True) -> History:
    """Return a history with two to five changes.

    Args:
        rng: its seed decides everything.
        dated: whether the memory learns the time of each statement; else corrections have a higher confidence.
    """
    stays = _stays(rng)
    statements: list[Statement] = []
    for number, stay in enumerate(stays):
        follows = number + 1 < len(stays) and stays[number + 1].since == stay.until
        stated = stay.until < FOREVER and rng.random() < (0.2 if follows else 0.6)
        until = stay.until if stated else FOREVER
        later = stay.since + rng.randrange(2000) * DAY  # when it is stated
        statements.append(Statement(stay.tail, stay.since, until, later))
        if stay.until < FOREVER and not stated and (not follows or rng.random() < 0.3):
            statements.append(Statement(stay.tail, stay.until, FOREVER, stay.until, negated=True))
        if rng.random() < 0.25:  # a wrong statement
            wrong = rng.choice([city for city in CITIES if city != stay.tail])
            if dated and rng.random() < 0.5:
                statements.append(Statement(wrong, stay.since, FOREVER, later - DAY))
            else:
                statements.append(Statement(wrong, stay.since, FOREVER, later + DAY, confidence=0.85))
        if rng.random() < 0.4:  # mentioned again
            last = min(stay.until, stay.since + 1000 * DAY) // DAY
            statements += _mention(rng, stay, stay.since // DAY + 1, last, until)
    rng.shuffle(statements)
    return History(tuple(stays), tuple(statements))


def _stays(rng: random.Random) -> list[Stay]:
    stays: list[Stay] = []
    since = rng.randrange(7000, 11_000)  # in days
    for _ in range(rng.randint(3, 6)):
        before = stays[-1].tail if stays else None
        earlier = [stay.tail for stay in stays if stay.tail != before]
        others = [city for city in CITIES if city != before]
        tail = rng.choice(earlier) if earlier and rng.random() < 0.35 else rng.choice(others)
        length, gap = rng.randrange(30, 1500), rng.choice((0, 0, 0, rng.randrange(1, 300)))
        stays.append(Stay(tail, since * DAY, (since + length) * DAY))
        since += length + gap
    if rng.random() < 0.8:
        last = stays.pop()
        stays.append(Stay(last.tail, last.since, FOREVER))
    return stays


def _mention(rng: random.Random, stay: Stay, first: int, last: int, until: int) -> list[Statement]:
    if first >= last:
        return []
    day = rng.randrange(first, last) * DAY
    return [Statement(stay.tail, day, until, day)]
