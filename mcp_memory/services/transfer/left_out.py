"""What an import leaves out: texts that were forgotten here, and what rests on them; and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.points import Point
from mcp_memory.domain.turns import Turn
from mcp_memory.services.ingest import Cutter
from mcp_memory.services.transfer.records import Value
from mcp_memory.services.transfer.renaming import Renaming
from mcp_memory.view.erasure import sentences_in
from mcp_memory.view.view import View


class Forgotten:
    """Which records of a file are of what was forgotten here, or rest on it.

    Args:
        forgotten: returns whether something with this id was forgotten.
        renaming: the ids of the file.
        cut: cuts a text as it was, since what rests on it names its pieces.
    """

    def __init__(self, forgotten: Callable[[str], bool], renaming: Renaming, cut: Cutter) -> None:
        self._forgotten = forgotten
        self._renaming = renaming
        self._cut = cut
        self._gone: set[str] = set()

    def holds(self, value: Value) -> bool:
        """Return whether a value is a text that was forgotten here, or rests on one."""
        if isinstance(value, Turn):
            gone = any(map(self._forgotten, self._renaming.names(value)))
            if gone:
                pieces = self._cut(replace(value, id=self._renaming.former[value.id]))
                self._gone |= {value.id, *(piece.id for part in pieces for piece in part)}
            return gone
        if isinstance(value, (Assertion, Job)):
            names: Iterable[str] = (value.turn_id,)
        elif isinstance(value, Point):
            names = value.id, *value.sentences
        elif isinstance(value, Lesson):
            names = value.episode_id, *sentences_in(value)
        else:
            names = (value[1].segment_id,) if isinstance(value, tuple) else ()
        return any(name in self._gone or self._forgotten(name) for name in names)


def new_revision(view: View, point: Point, *, again: bool) -> Point | None:
    """Return a revision of a point that a view does not have, or None.

    Args:
        view: the view of the store.
        point: the revision, with the ids of the store.
        again: whether the last one, if a forget has changed it, comes back as another revision, as it was before.
    """
    revisions = view.space(point.space).hypergraph.revisions(point.id)
    there = next((one for one in revisions if one.revision == point.revision), None)
    if there is None:
        return point
    last = there is revisions[-1] and there.status == point.status
    changed = (bool(point.scope) and not there.scope) or there.merged_into != point.merged_into
    return replace(point, revision=point.revision + 1) if again and last and changed else None
