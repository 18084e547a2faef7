"""Make the beliefs again from the lessons in the log, in the order of learning.

The room that learns decides how a lesson changes a belief (`Relearn`). It gets a view with the texts, their pieces and
the beliefs of the earlier lessons.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import groupby

from anyio import to_thread

from mcp_memory.domain.batch import Batch, joined
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.storage.log import Entry, logged_rows
from mcp_memory.storage.refresh import stored_turn
from mcp_memory.storage.rows import pieces_of, rows_of
from mcp_memory.storage.schema import TableKind, TableRows, table_name
from mcp_memory.storage.tables import Tables
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

LESSONS = 200
"""Lessons learnt in one call."""
PIECES: tuple[TableKind, ...] = ("segments", "sentences")

Relearn = Callable[[Space, Sequence[Lesson]], Awaitable[Sequence[Belief]]]
"""Returns what lessons teach, in the order of recording; of several beliefs about a sentence the last counts.

The space is that of the lessons: ``space.beliefs`` has what earlier ones taught. It has no facts. A label of a sentence
that ``space.sentence`` does not know teaches nothing: the text is split differently by now."""


async def learn_nothing(_space: Space, _lessons: Sequence[Lesson]) -> Sequence[Belief]:
    """Learn nothing; used if no room that learns is configured."""
    return ()


class Relearning:
    """The progress of relearning the lessons of a store.

    Args:
        tables: the tables of the store.
        generation: the generation of the tables with the pieces of texts.
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
        """Return the new lessons with their commits' numbers, in order, and add the texts so far to the view.

        A judge's first lesson counts, should there be a second in the log.
        """
        entries = list(self._left(self._tables.log.entries(self._view.tx, until)))
        new: dict[tuple[str, ...], tuple[int, Lesson]] = {}
        for tx, _, lesson, _ in logged_rows(entries, "episodes"):
            if not self._view.has_lesson(lesson):
                new.setdefault((lesson.space, *lesson.key), (tx, lesson))
        if new:
            self._view.add(self._texts_of(entries, until), until)
        return list(new.values())

    def _texts_of(self, entries: Sequence[Entry], until: int) -> Batch:
        """Return the texts of the next commits with their pieces."""
        turns = tuple(row.value for row in logged_rows(entries, "turns"))
        added = f"tx > {self._view.tx} AND tx <= {until}"
        segments, sentences = (
            self._tables.rows(table_name(kind, self._generation, reader=0), added)  # no assertions, which have a reader
            for kind in PIECES
        )
        return joined([Batch(turns), pieces_of(turns, segments, sentences, partial(stored_turn, self._view))])
