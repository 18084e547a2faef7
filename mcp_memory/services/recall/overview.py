"""Mode ``overview``: how something went, broad and even over time, for summaries.

The units that bear on the question (``units.py``) are ordered by time and divided into equal parts. The best
`FIRST` come first whatever their time; then each part gives its best unit in turn, so that no stretch is left out. An
exchange with an assistant is one line: how the person began, and by its headings what the assistant advised.

Behind the best units stand the turning points: facts that these units state and that are events (what was done, chosen,
decided), plans with a date, or values that another has replaced. They are spread over the time in the same way.

**Measured** on long chats with an assistant, of the messages that a summary rests on: 20 at R@20 by the search alone,
26 here, and 58 in 40 lines, of which a reply of 2,000 tokens shows some 34; with both sides of an exchange in lines of
their own 41 in 40 lines.
What begins a new topic or tells of a change counted more for a while: 3 points less.

Source: MRAgent's topics τ over the timeline of episodes (§3.1), HGMem's global view (§3.3.2), whose aim is to cover
what no point covers yet. **Departures.** The papers have a language model write and refresh summaries; here an overview
is chosen from the words themselves when it is asked for, and each line has its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.facts import Version
from mcp_memory.domain.points import Point
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import by_assistant
from mcp_memory.services.recall.units import Listed, Unit, callers_points, distinct, fact_line, messages
from mcp_memory.view.space import Space

_Placed = TypeVar("_Placed", "Unit", "_StatedFact")

FIRST = 10
"""Units that come first by their score alone."""
TURNING_POINTS = 8
"""Most facts that are listed."""


def outline(
    space: Space, units: Sequence[Unit], points: Sequence[Point], parts: int
) -> list[Point | Listed | Evidence]:
    """Return what covers a question broadly, the most telling first; points that a caller made lead.

    Args:
        space: of the units.
        units: that bear on the question, best first.
        points: memory points related to it.
        parts: into how many equal ones the time is divided.
    """
    said = [one for unit in _spread(units, parts) for one in _listed(space, unit)]
    listed = distinct(space, said)
    return [*callers_points(points), *listed[:FIRST], *_turning_points(space, units, parts), *listed[FIRST:]]


def _listed(space: Space, unit: Unit) -> Iterator[Listed]:
    """Yield the messages of a unit; a person's and the reply to it as one."""
    said = messages(space, unit)
    asked = [one for one in said if not by_assistant(one[0])]
    replies = [one for one in said if by_assistant(one[0])]
    if len(asked) == 1 and replies:
        yield Listed(asked[0][0], tuple(asked[0][1]), unit.score, reply=(replies[0][0], tuple(replies[0][1])))
        asked, replies = [], replies[1:]
    for turn, rows in (*asked, *replies):
        yield Listed(turn, tuple(rows), unit.score)


@dataclass(frozen=True, slots=True)
class _StatedFact:
    """A fact that a unit states.

    Attributes:
        score: of the unit.
        place: of the unit.
        version: the fact.
        source: the words that state it.
    """

    score: float
    place: tuple[int, int]
    version: Version
    source: Source


def _turning_points(space: Space, units: Sequence[Unit], parts: int) -> list[Evidence]:
    stated: dict[str, _StatedFact] = {}
    for unit in units:
        for turn, rows in messages(space, unit):
            within = {space.segments[row].first: space.segments[row].last for row in rows}
            for assertion in space.facts.assertions_in(turn.id):
                version = space.facts.version_of(assertion)
                here = any(first <= assertion.sentence <= last for first, last in within.items())
                if version is None or not here or not _turns(version):
                    continue
                source = Source(turn, assertion.start, assertion.end)
                stated.setdefault(version.id, _StatedFact(unit.score, unit.place, version, source))
    chosen = _spread(list(stated.values()), parts, first=0)[:TURNING_POINTS]
    return [fact_line(one.version, one.source, one.score, "overview") for one in chosen]


def _turns(version: Version) -> bool:
    """Return whether a fact is a turning point: an event, a plan with a date, or a value that another replaced."""
    if version.kind == "planned":
        return version.since > BEGINNING or version.until < FOREVER
    return version.kind == "event" or version.status == "closed"


def _spread(units: Sequence[_Placed], parts: int, first: int = FIRST) -> list[_Placed]:
    """Return the best ``first`` units first, then the best of each part of the time in turn."""
    best, rest = units[:first], sorted(units[first:], key=lambda unit: unit.place)
    if not rest:
        return list(best)
    each = -(-len(rest) // parts)
    groups = [
        sorted(rest[start : start + each], key=lambda one: (-one.score, one.place))
        for start in range(0, len(rest), each)
    ]
    order = list(best)
    for round_ in range(each):
        here = [group[round_] for group in groups if round_ < len(group)]
        order += sorted(here, key=lambda unit: (-unit.score, unit.place))
    return order
