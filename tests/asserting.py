"""Assertions as tests write them: what matters is said, the rest is plain."""

from collections.abc import Iterable
from itertools import combinations

from mcp_memory.domain.facts import Assertion, ExtractorName, FactKind, Intent, Precision, Version
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import assertion_id


def asserted(
    tail: str,
    since: int = 0,
    until: int = FOREVER,
    *,
    head: str = "Ann",
    relation: str = "lives_in",
    turn: str | None = None,
    sentence: int = 0,
    negated: bool = False,
    confidence: float = 0.95,
    intent: Intent = "FACT",
    change: bool = False,
    extractor: ExtractorName = "caller",
    said_at: int | None = None,
    recorded_at: int = 0,
    stated: bool = True,
    kind: FactKind = "state",
    precision: Precision | None = None,
) -> Assertion:
    """Return an assertion; one in a turn of its own, said when it begins, unless told otherwise."""
    said = since if said_at is None else said_at
    words = head, relation, tail
    turn = turn or f"t_{'-' if negated else ''}{words}{since}-{until}@{said}{confidence}{extractor}"
    return Assertion(
        id=assertion_id(turn, sentence, 9, *words, str(negated), str(since), str(until), str(confidence), extractor),
        space="default",
        turn_id=turn,
        sentence=sentence,
        start=0,
        end=9,
        head=head,
        relation=relation,
        tail=tail,
        negated=negated,
        since=since,
        until=until,
        stated=stated,
        confidence=confidence,
        intent=intent,
        change=change,
        extractor=extractor,
        said_at=said,
        recorded_at=recorded_at,
        kind=kind,
        precision=precision,
    )


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
