"""Mode ``overview``: how something went, broad and even over time, for summaries.

The units that bear on the question (``units.py``) are ordered by time and divided into equal parts. The best
`FIRST` come first whatever their time; then each part gives its best unit in turn, so that no stretch is left out. Of
an exchange with an assistant both sides are listed: what the person wanted, and by its headings what the assistant
advised.

**Measured** on long chats with an assistant, of the messages that a summary rests on: 20 at R@20 by the search alone,
26 here and 48 at R@40, which one reply shows. What begins a new topic or tells of a change counted more for a while: 3
points less.

Source: MRAgent's topics τ over the timeline of episodes (§3.1), HGMem's global view (§3.3.2), whose aim is to cover
what no point covers yet. **Departures.** The papers have a language model write and refresh summaries; here an overview
is chosen from the words themselves when it is asked for, and each line has its source.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.domain.points import Point
from mcp_memory.services.recall.units import Listed, Unit, callers_points, distinct, messages
from mcp_memory.view.space import Space

FIRST = 10
"""Units that come first by their score alone."""


def outline(space: Space, units: Sequence[Unit], points: Sequence[Point], parts: int) -> list[Point | Listed]:
    """Return what covers a question broadly, the most telling first; points that a caller made lead.

    Args:
        space: of the units.
        units: that bear on the question, best first.
        points: memory points related to it.
        parts: into how many equal ones the time is divided.
    """
    said = (
        Listed(turn, tuple(rows), unit.score) for unit in _spread(units, parts) for turn, rows in messages(space, unit)
    )
    return [*callers_points(points), *distinct(space, said)]


def _spread(units: Sequence[Unit], parts: int) -> list[Unit]:
    """Return the best units first, then the best of each part of the time in turn."""
    first, rest = units[:FIRST], sorted(units[FIRST:], key=lambda unit: unit.place)
    if not rest:
        return list(first)
    each = -(-len(rest) // parts)
    groups = [
        sorted(rest[start : start + each], key=lambda one: (-one.score, one.place))
        for start in range(0, len(rest), each)
    ]
    order = list(first)
    for round_ in range(each):
        here = [group[round_] for group in groups if round_ < len(group)]
        order += sorted(here, key=lambda unit: (-unit.score, unit.place))
    return order
