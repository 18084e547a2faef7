"""Make the beliefs again from the lessons in the log, in the order of learning.

The room that learns decides how a lesson changes a belief (`Relearn`). It gets the parts of the space that it needs:
the turns, the sentences that lessons are about, and the beliefs of the earlier lessons.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import groupby

import numpy as np
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.turns import Sentence
from mcp_memory.storage.log import Entry, logged_rows
from mcp_memory.storage.rows import OWN, rows_of, values_of, vectors_of
from mcp_memory.storage.schema import TableKind, TableRows, table_name
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

LESSONS = 200
"""Lessons learnt in one call."""
SENTENCES = 5000
"""Sentences looked up with one condition."""

Relearn = Callable[[Space, Sequence[Lesson]], Awaitable[Sequence[Belief]]]
"""Returns what lessons teach, in the order of recording; of several beliefs about a sentence the last counts.

The space is that of the lessons: ``space.beliefs`` has what earlier ones taught. It has every turn, but only those
sentences that lessons are about, with vectors whatever the limit of other views, and neither segments nor facts. A
label of a sentence that ``space.sentence`` does not know teaches nothing: the text is split differently by now."""


async def learn_nothing(_space: Space, _lessons: Sequence[Lesson]) -> Sequence[Belief]:
    """Learn nothing; used if no room that learns is configured."""
    return ()


class Relearning:
    """The progress of relearning the lessons of a store.

    Args:
        tables: the tables of the store.
        generation: the generation of the sentences to look up.
        relearn: makes beliefs of lessons.
        left: returns what a forget leaves of some commits of the log; by default all of it.
    """

    def __init__(
        self,
        tables: Tables,
        generation: int,
        relearn: Relearn,
        left: Callable[[Iterable[Entry]], Iterable[Entry]] = iter,
    ) -> None:
        self._tables = tables
        self._left = left
        self._generation = generation
        self._relearn = relearn
        self._view = View()
        self._looked_up: set[str] = set()
        self._beliefs: dict[str, tuple[int, Belief]] = {}

    async def catch_up(self, until: int) -> None:
        """Learn from the lessons of the commits up to a number; their sentences must be in the tables."""
        lessons = await to_thread.run_sync(self._read, until)
        for space, run in groupby(lessons, key=lambda entry: entry[1].space):
            part = list(run)
            for start in range(0, len(part), LESSONS):
                await self._learn(space, part[start : start + LESSONS])

    def rows(self) -> TableRows | None:
        """Return the beliefs as rows with the numbers of the commits that they are as of; None if there are none."""
        if not self._beliefs:
            return None
        txs, beliefs = zip(*self._beliefs.values(), strict=True)
        return rows_of("beliefs", beliefs, txs)

    async def _learn(self, space: str, part: Sequence[tuple[int, Lesson]]) -> None:
        lessons = tuple(lesson for _, lesson in part)
        beliefs = tuple(await self._relearn(self._view.space(space), lessons))
        for belief in beliefs:
            self._beliefs.pop(belief.sentence_id, None)
            self._beliefs[belief.sentence_id] = part[-1][0], belief
        self._view.add(Batch(lessons=lessons, beliefs=beliefs), self._view.tx)

    def _read(self, until: int) -> list[tuple[int, Lesson]]:
        """Return the new lessons with their commits' numbers, in order; the view has the sentences that they are about.

        A judge's first lesson counts, should there be a second in the log.
        """
        entries = list(self._left(self._tables.log.entries(self._view.tx, until)))
        new: dict[tuple[str, ...], tuple[int, Lesson]] = {}
        for tx, _, lesson, _ in logged_rows(entries, "episodes"):
            if not self._view.has_lesson(lesson):
                new.setdefault((lesson.space, *lesson.key), (tx, lesson))
        if new:
            turns = tuple(row.value for row in logged_rows(entries, "turns"))
            self._view.add(Batch(turns), until)
            names = dict.fromkeys(name for _, one in new.values() for name in one.labels if name not in self._looked_up)
            self._looked_up.update(names)
            for start in range(0, len(names), SENTENCES):
                self._look_up(list(names)[start : start + SENTENCES])
        return list(new.values())

    def _look_up(self, names: Sequence[str]) -> None:
        """Add the named sentences with their vectors to the view, if their turn is in it."""
        quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
        rows = self._tables.rows(self._table("sentences"), f"id IN ({quoted})")
        if rows is None:
            return
        sentences = values_of("sentences", rows)
        chosen = [row for row, one in enumerate(sentences) if one.turn_id in self._view.space(one.space).turns]
        found = tuple(sentences[row] for row in chosen)
        turns = ", ".join(sorted({f"'{one.turn_id}'" for one in found}))
        segments = self._tables.rows(self._table("segments"), f"turn_id IN ({turns})") if found else None
        if segments is not None:
            vectors = _vectors_of(found, rows.take(chosen), segments)
            self._view.add(Batch(sentences=found, sentence_vectors=vectors), self._view.tx)

    def _table(self, kind: TableKind) -> str:
        return table_name(kind, self._generation, reader=0)  # no assertions: the reader does not matter


def _vectors_of(sentences: Sequence[Sentence], rows: TableRows, segments: TableRows) -> Matrix:
    """Return the vectors of sentences, those of their segments where they have these."""
    of_segments = vectors_of(segments)
    vectors = vectors_of(rows, OWN, of_segments.shape[1])
    spans = list(zip(values_of("segments", segments), of_segments, strict=True))
    for row in np.flatnonzero(~vectors.any(axis=1)).tolist():
        one = sentences[row]
        holding = (vector for of, vector in spans if of.turn_id == one.turn_id and of.first <= one.index <= of.last)
        vectors[row] = next(holding, 0)
    return vectors
