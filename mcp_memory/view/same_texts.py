"""Texts by their content, of which the ref says nothing here: another store made it.

Whether a text is known follows from its ref in most cases: the same text gets the same one (``domain/ids.py``). But
each store makes others, so what came from another store is found by what it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from zlib import crc32

from mcp_memory.domain.ids import Ids, mark_of
from mcp_memory.domain.turns import Turn
from mcp_memory.visible import with_masks


class SameTexts:
    """Finds texts of one space by who said what, where and when; of a masked one also by what is shown."""

    def __init__(self) -> None:
        self._ids: dict[int, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._ids)

    def add(self, turn: Turn) -> None:
        """Add a text."""
        for text in {with_masks(turn.text), turn.said}:
            self._ids.setdefault(_key(turn, text), []).append(turn.id)

    def add_foreign(self, turn: Turn, ids: Ids) -> None:
        """Add a text if another store made its ref."""
        if mark_of(turn.ref) not in (None, "", ids.mark):
            self.add(turn)

    def find(self, turn: Turn, turns: Mapping[str, Turn]) -> Iterator[str]:
        """Yield the refs of the texts that say the same.

        Args:
            turn: the text to find.
            turns: the texts of the space, by their ids.
        """
        for name in self._ids.get(_key(turn, turn.said), ()) if self._ids else ():
            if _is_same(turns[name], turn):
                yield turns[name].ref


def _is_same(known: Turn, turn: Turn) -> bool:
    places, others = (
        (one.session, one.kind, one.speaker, one.role, one.said_at, one.title and with_masks(one.title))
        for one in (known, turn)
    )
    return places == others and turn.said in (known.said, with_masks(known.text))


def _key(turn: Turn, text: str) -> int:
    return crc32(f"{turn.session}\0{turn.said_at}\0{text}".encode("utf-8", "surrogatepass"))
