"""The verb table, read once: which relation a verb asserts with which of its slots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from mcp_memory.rules.facts.tables import deeds, verbs

Effect = Literal["state", "begin", "end", "event", "lasting", "ended", "present", "past", "been"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the verb table.

    Attributes:
        passive: whether the verb stands in the passive.
        verb: its plain form.
        particles: the words that belong to it, "up", "out of".
        slots: any of these gives the tail.
        relation: its name; one that begins with ``<`` runs from the tail to the subject.
        effect: what the moment does to the fact.
        tail: what the tail must be.
    """

    passive: bool
    verb: str
    particles: tuple[str, ...]
    slots: frozenset[str]
    relation: str
    effect: Effect
    tail: str


@cache
def frames() -> tuple[Frame, ...]:
    """Return the whole table, in its order."""
    rows = []
    for table in (verbs.HOME, verbs.WORK, deeds.PEOPLE, deeds.TASTE, deeds.THINGS, deeds.DOINGS):
        for line in table.strip().splitlines():
            head, slots, relation, effect, tail = (cell.strip() for cell in line.split("|"))
            rows.append(_frame(head, slots, relation, effect, tail))
    written = {row.verb for row in rows if not row.passive and not row.particles and "obj" in row.slots}
    rows += [_frame(verb, "obj", verb, "event", "thing") for verb in deeds.OPEN.split() if verb not in written]
    return tuple(rows)


def _frame(head: str, slots: str, relation: str, effect: str, tail: str) -> Frame:
    passive = head.startswith("be ")
    verb, *particles = _plain(head.removeprefix("be ")) if passive else head.split()
    known: Effect = effect  # type: ignore[assignment]  # the table is ours, and a test reads it whole
    return Frame(passive, verb, tuple(particles), frozenset(slots.split()), relation, known, tail)


_PARTICIPLES = {
    "based": "base", "located": "locate", "situated": "situate", "headquartered": "headquarter", "relocated":
    "relocate", "raised": "raise", "born": "bear", "hired": "hire", "employed": "employ", "recruited": "recruit",
    "signed": "sign", "promoted": "promote", "appointed": "appoint", "elected": "elect", "named": "name", "made":
    "make", "fired": "fire", "laid": "lay", "let": "let", "coached": "coach", "led": "lead", "run": "run", "headed":
    "head", "founded": "found", "established": "establish", "built": "build", "married": "marry", "engaged":
    "engage", "divorced": "divorce", "owned": "own", "bought": "buy", "acquired": "acquire", "diagnosed":
    "diagnose", "awarded": "award", "directed": "direct", "written": "write", "composed": "compose", "designed":
    "design", "invented": "invent", "created": "create", "discovered": "discover", "painted": "paint", "caused":
    "cause", "managed": "manage", "opened": "open",
}  # fmt: skip


def _plain(passive: str) -> list[str]:
    """Return the verb of a passive in its plain form, with its particles; "be friends" and the like have none."""
    first, *rest = passive.split()
    return [_PARTICIPLES[first], *rest] if first in _PARTICIPLES else ["be", first, *rest]


@cache
def by_verb() -> dict[tuple[bool, str], tuple[Frame, ...]]:
    """Return the table by passive and plain form, lines with more particles first."""
    found: dict[tuple[bool, str], list[Frame]] = {}
    for frame in frames():
        passive = frame.passive and frame.verb != "be"
        found.setdefault((passive, frame.verb), []).append(frame)
    return {key: tuple(sorted(rows, key=lambda row: -len(row.particles))) for key, rows in found.items()}
