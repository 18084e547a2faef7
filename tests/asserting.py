"""Assertions as tests write them: what matters is said, the rest is plain."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import assertion_id

PLAIN: dict[str, Any] = {
    "space": "default", "sentence": 0, "start": 0, "end": 9, "head": "Ann", "relation": "lives_in", "negated": False,
    "stated": True, "confidence": 0.95, "intent": "FACT", "change": False, "extractor": "caller", "recorded_at": 0,
}  # fmt: skip


def asserted(
    tail: str, since: int = 0, until: int = FOREVER, *, turn: str | None = None, said_at: int | None = None, **more: Any
) -> Assertion:
    """Return an assertion; one in a turn of its own, said when it begins, unless told otherwise."""
    one = PLAIN | more
    said = since if said_at is None else said_at
    words = one["head"], one["relation"], tail
    how = one["confidence"], one["extractor"]
    turn = turn or f"t_{'-' if one['negated'] else ''}{words}{since}-{until}@{said}{how[0]}{how[1]}"
    own = assertion_id(turn, one["sentence"], 9, *words, *map(str, (one["negated"], since, until, *how)))
    return Assertion(id=own, turn_id=turn, tail=tail, since=since, until=until, said_at=said, **one)


def shown(versions: Iterable[Version]) -> list[tuple[str, int, float]]:
    """Return what versions say, as (tail, since, until) in their order, with infinity for no end."""
    return [(v.tail, v.since, float("inf") if v.until >= FOREVER else v.until) for v in versions]


def at_once(versions: Iterable[Version]) -> list[tuple[Version, Version]]:
    """Return those of a relation with one value at a time that hold at once, against DESIGN I2."""
    return [
        (one, other)
        for one, other in combinations([version for version in versions if version.kind != "planned"], 2)
        if one.holds(other.since, other.until)
        and other.holds(one.since, one.until)
        and not (one.since == other.since == BEGINNING and not (one.current and other.current))
    ]
