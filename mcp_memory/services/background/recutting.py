"""Bring along stores whose long texts an older program cut without regard to their structure.

Texts in Markdown are cut by their headings, code and tables (``language/segments.py``). What was stored before has
other segments. Once in the life of a process, between calls, the first structured texts are cut again; where any
differs from what is stored, all derived tables are rebuilt beside the old ones, and one commit switches over. So
vectors of old and of new segments are never compared with one query.

A store above `MOST` sentences is left to ``mcp-memory doctor --rebuild``: its rebuild takes long, and one that its
process does not live to finish begins anew. So is a store whose plain texts differ too: there the length of segments
was set otherwise, perhaps for another process that uses it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice

from anyio import to_thread

from mcp_memory.domain.turns import Turn
from mcp_memory.language.segments import outline
from mcp_memory.ports import Store
from mcp_memory.view.pieces import Cut
from mcp_memory.view.space import Space

LOOKED_AT = 20
"""Long texts with structure, and without, that are cut again to see whether they are stored so."""
LONG = 1_000
"""Characters of a long text: one segment holds fewer."""
MOST = 20_000
"""Sentences of a store that is rebuilt without being asked: some ten minutes of work between calls."""

_log = logging.getLogger(__name__)


async def recut(store: Store, cut: Cut, rebuild: Callable[[], Awaitable[object]]) -> bool:
    """Rebuild a store whose structured texts are cut as they no longer are; return whether it was.

    Args:
        store: is not held while it is rebuilt.
        cut: as texts are cut today.
        rebuild: makes every derived table anew.
    """
    async with store.reading() as view:
        spaces = list(view.spaces.values())
        small = sum(len(space.sentences) for space in spaces) <= MOST
        if not small or not await to_thread.run_sync(lambda: cut_otherwise(spaces, cut)):
            return False
    _log.info("Long texts were cut by an older program; all derived tables are made anew.")
    await rebuild()
    return True


def cut_otherwise(spaces: list[Space], cut: Cut) -> bool:
    """Return whether structured texts of some spaces are stored in other segments, and plain ones are not."""

    def differs(space: Space, turn: Turn) -> bool:
        stored = [(space.segments[row].start, space.segments[row].end) for row in space.segments_with(turn.id, -1)]
        return bool(stored) and sorted(stored) != sorted((one.start, one.end) for one in cut(turn)[0])

    structured = islice(_long(spaces, structured=True), LOOKED_AT)
    if not any(differs(space, turn) for space, turn in structured):
        return False
    return not any(differs(space, turn) for space, turn in islice(_long(spaces, structured=False), LOOKED_AT))


def _long(spaces: list[Space], *, structured: bool) -> Iterator[tuple[Space, Turn]]:
    """Yield the long texts that have headings, code or tables, or that have none."""
    for space in spaces:
        for turn in space.turns.values():
            if len(turn.text) > LONG:
                shape = outline(turn.text)
                if bool(shape.headings or shape.blocks) == structured:
                    yield space, turn
