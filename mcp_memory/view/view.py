"""All spaces of the store as of one commit, held in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mcp_memory.domain.batch import ROWS, Batch
from mcp_memory.domain.facts import STABLE
from mcp_memory.domain.ids import Ids
from mcp_memory.domain.language_model import Spending
from mcp_memory.view.space import Index, Space


class View:
    """A snapshot of the store in memory.

    Attributes:
        tx: the last commit that it contains; 0 for an empty store.
        generation: the generation of the derived rows; a rebuild raises it.
        spaces: by name; only spaces that have rows.
        stable: the confidence below which a fact is only suspected (REAL's θ_stable).
        ids: makes the ids of the store.

    With the ``dimension`` of vectors to come, turns that are stored without segments are cut when everything is to be
    read (`extend_indexes`).
    """

    def __init__(self, indexes: Sequence[Callable[[], Index]] = (), stable: float = STABLE, dimension: int = 0) -> None:
        self.tx = 0
        self.generation = 0
        self.spaces: dict[str, Space] = {}
        self.stable = stable
        self.ids = Ids()
        self._indexes = tuple(indexes)
        self._dimension = dimension
        self._grown: set[str] = set()  # spaces whose indexes are not up to date
        self._spent: dict[int, Spending] = {}

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("_indexes", "ids")}

    def set_functions(self, like: View) -> None:
        """Make a saved view whole again: it is saved without the functions that another one was made with."""
        self._indexes = like._indexes
        self.ids = like.ids
        for space in self.spaces.values():
            space.set_functions(self._indexes, self.ids)

    @property
    def sentences(self) -> int:
        """How many sentences all spaces have."""
        return sum(len(space.sentences) for space in self.spaces.values())

    @property
    def size(self) -> int:
        """How much it holds: sentences, and entries of the indexes that can count theirs, as the graph of cues."""
        return self.sentences + sum(space.index_entries for space in self.spaces.values())

    def space(self, name: str) -> Space:
        """Return a space; if nothing was written to it yet, an empty one that is not stored."""
        return self.spaces.get(name) or Space(name, self._indexes, self.stable, self._dimension, self.ids)

    def spent(self, day: int) -> Spending:
        """Return what requests to a language model have cost on a day, in all processes; see `Reservation`."""
        return self._spent.get(day, Spending())

    def add(self, batch: Batch, tx: int) -> None:
        """Add rows of the commits up to ``tx``."""
        names = dict.fromkeys(row.space for kind in ROWS for row in getattr(batch, kind))
        for name in names:
            space = self.spaces[name] = self.space(name)
            self._grown.add(name)
            space.add(batch if len(names) == 1 else batch.only(partial(_is_in, name)))
        for outlay in batch.outlays:
            self._spent[outlay.day] = self.spent(outlay.day) + outlay.what
        self.tx = tx

    def extend_indexes(self) -> None:
        """Cut what is not indexed yet, and bring the indexes of every space up to date; see `Space.index`."""
        for name in self._grown:
            self.spaces[name].cut_unseen()
        while self._grown:
            self.spaces[self._grown.pop()].extend_indexes()


def _is_in(space: str, _kind: str, row: Any) -> bool:
    return bool(row.space == space)
