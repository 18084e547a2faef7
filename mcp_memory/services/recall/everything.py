"""Mode ``all``: everything that bears on a question, for lists, orders, and how many.

What bears on it, and how each line is worded, is decided in ``units.py``. The lines are ranked by relevance; the reply
shows those of a page in the order of time, and says how many there are. So the first page has the most relevant ones of
every session, not the earliest, and the next pages (``skip``) go on with what bears on it less.

Of an exchange with an assistant the person's messages are listed, since such a question is about what the person did
and said, and the assistant's where the question asks what it said (`language.addressed.asks_for_advice`).

Source: MRAgent's topic layer leads from a topic to all of its episodes (§3.1, eq. 5), HGMem's points to all of their
texts (§3.3.4). **Departures.** Both bound what they return by the budget of a language model's loop and cannot say that
a list is complete. Here the whole set is counted first, as far as memory can tell, and paged.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import by_assistant
from mcp_memory.language.addressed import asks_for_advice
from mcp_memory.services.recall.units import LONG, Listed, Unit, callers_points, distinct, messages
from mcp_memory.view.space import Space


def list_all(space: Space, query: Query, units: Sequence[Unit], points: Sequence[Point]) -> list[Point | Listed]:
    """Return everything that bears on a question, best first; points that a caller made lead.

    Args:
        space: of the units.
        query: with its topic embedded.
        units: that bear on it, best first.
        points: memory points related to it.
    """
    wants_replies = asks_for_advice(query.text)
    found: list[Listed] = []
    for rank, unit in enumerate(units):
        said = messages(space, unit)
        meant = [one for one in said if by_assistant(one[0]) == wants_replies] or said
        found += (Listed(turn, tuple(rows), unit.score, rank < LONG) for turn, rows in meant)
    return [*callers_points(points), *distinct(space, found)]
