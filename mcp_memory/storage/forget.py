"""Forget: replace log and tables by others without some rows, and leave no file that holds them.

What was chosen is written down first, by ids, in the book (`begin`). From then on the forget is finished by whoever
comes next, whatever happens to this process: no process reads or writes before that (`Forgetting.finish`).

1. The tables are copied without what goes into a new generation; beliefs are learnt again where lessons went, and the
   points that are made again get vectors.
2. The log is replaced by one without what goes, and with a commit of the new generation at its end. That is one step;
   until then nothing is changed, and it begins anew after a crash. Every other process loads the memory again then.
3. Stores that were set aside lose it, too, and what lies in other places is removed or named (``elsewhere.py``).
4. The tables of other generations are removed, and the note of what was chosen with them. What remains in the book is
   when, by whom, how many, and keyed hashes of the ids.

The number of the new generation is never used by a rebuild that runs meanwhile: that one sees the new generation, drops
its own tables and gives up (``rebuild.py``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from anyio import to_thread

from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.times import Millis
from mcp_memory.storage.backups import without_compaction
from mcp_memory.storage.forgotten import Work, read_book, write_book
from mcp_memory.storage.log import Entry, table_of
from mcp_memory.storage.mapped import remove_vectors
from mcp_memory.storage.own_files import needless_files
from mcp_memory.storage.rebuild import Embed
from mcp_memory.storage.relearning import Relearn, Relearning
from mcp_memory.storage.rows import rows_of, values_of
from mcp_memory.storage.saved_view import remove_views
from mcp_memory.storage.schema import (
    LOG_KINDS,
    TABLE_KINDS,
    Commit,
    RowKind,
    TableKind,
    TableRows,
    generation_of,
    table_name,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.view.erasure import Erasure
from mcp_memory.view.resting import erasure_of
from mcp_memory.view.view import View

Elsewhere = Callable[[ForgetTargets], Awaitable[tuple[str, ...]]]
"""Forgets the targets in all places outside of the store's folder, and returns in words where they may still be."""


class Forgetting:
    """Carries out the work that `begin` has written down; the write lock must be held all the time.

    Args:
        tables: the tables of the store.
        embed: of the descriptions of points that are made again; None leaves them without vectors.
        relearn: makes beliefs of lessons.
        elsewhere: forgets wherever else something was written.
        clock: milliseconds since 1970, UTC.
    """

    def __init__(
        self,
        tables: Tables,
        embed: Embed | None,
        relearn: Relearn,
        elsewhere: Elsewhere,
        clock: Callable[[], Millis],
    ) -> None:
        self._elsewhere = elsewhere
        self._tables = tables
        self._embed = embed
        self._relearn = relearn
        self._clock = clock

    async def finish(self, work: Work, last: Commit, load: Callable[[], View]) -> tuple[str, ...]:
        """Do what is left to do, and return in words where outside of the store it may still be.

        Args:
            work: what was begun.
            last: the last commit.
            load: returns a view as of that commit, with all segments and sentences. Blocking.

        Raises:
            StoreUnwritable: it could not be finished now; the next call goes on.
        """
        async with without_compaction(self._tables):
            if last.generation != work.generation:
                view = await to_thread.run_sync(load)
                found = await to_thread.run_sync(erasure_of, view.space(work.targets.space), work.targets)
                left = partial(_left, found)
                await to_thread.run_sync(self._drop_generation, work.generation)
                beliefs = await self._relearnt(last, left) if work.relearn else None
                await to_thread.run_sync(self._copy_tables, last, found, work, beliefs)
                await self._embed_points(last, found, work)
                await to_thread.run_sync(self._switch, last, found, work, left)
            left_elsewhere = await self._elsewhere(work.targets)
            await to_thread.run_sync(self._clean, work)
        return left_elsewhere

    def _drop_generation(self, generation: int) -> None:
        """Drop what an earlier attempt has made."""
        for name in self._tables.names():
            if generation_of(name) == generation:
                self._tables.drop(name)

    def _copy_tables(self, last: Commit, found: Erasure, work: Work, beliefs: TableRows | None) -> None:
        here, whole = found.targets.space, found.targets.everything
        points = {
            (entry.commit.tx, row["place"])
            for entry in _left(found, self._tables.log.entries(until=last.tx))
            for row in _listed(entry.rows.get("points", ()))
        }
        goes: dict[TableKind, Callable[[dict[str, Any]], bool]] = {
            "segments": lambda row: whole or row["turn_id"] in found.turns,
            "sentences": lambda row: whole or row["turn_id"] in found.turns,
            "assertions": lambda row: not found.keeps_assertion(row["turn_id"], row["id"]),
            "questions": lambda row: not found.keeps_question(row["segment_id"], row["text"]),
            "beliefs": lambda row: whole or row["sentence_id"] in found.sentences,
        }
        for kind in TABLE_KINDS:
            rows = self._tables.rows(last.table(kind)) if kind != "beliefs" or not work.relearn else None
            if rows is not None and kind == "point_vectors":
                pairs = zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), strict=True)
                rows = _chosen(rows, [pair in points for pair in pairs])
            elif rows is not None:
                rows = _chosen(rows, [row["space"] != here or not goes[kind](row) for row in _keys(rows)])
            if kind == "beliefs" and beliefs is not None:
                rows = beliefs
            if rows is not None:
                self._tables.append(table_name(kind, work.generation, last.reader), _in_order(rows))

    async def _relearnt(self, last: Commit, left: Left) -> TableRows | None:
        """Return the beliefs made again, of the lessons that are left and the sentences of before."""
        learning = Relearning(self._tables, last.generation, self._relearn, left)
        await learning.catch_up(last.tx)
        return learning.rows()

    async def _embed_points(self, last: Commit, found: Erasure, work: Work) -> None:
        """Make the vectors of the points that are made again; they belong to the commit that is to come."""
        if found.remade and self._embed is not None:
            vectors = await self._embed([point.description for point in found.remade])
            rows = rows_of("point_vectors", found.remade, [last.tx + 1] * len(found.remade), None, vectors)
            name = table_name("point_vectors", work.generation, last.reader)
            await to_thread.run_sync(self._tables.append, name, rows)

    def _switch(self, last: Commit, found: Erasure, work: Work, left: Left) -> None:
        """Replace the log."""
        kinds: tuple[TableKind, ...] = ("segments", "sentences", "assertions", "beliefs")
        sizes = {kind: self._tables.count(table_name(kind, work.generation, last.reader)) for kind in kinds}
        forgets = len(read_book(self._tables).records)
        commit = last.next(
            self._clock(), generation=work.generation, forgets=forgets, points=len(found.remade), **sizes
        )
        rows: dict[RowKind, TableRows] = {"points": rows_of("points", found.remade)} if found.remade else {}
        with self._tables.write_errors():
            self._tables.log.replace(left(self._tables.log.entries(until=last.tx)), Entry(commit, rows))

    def _clean(self, work: Work) -> None:
        """Remove every file that may hold something of it, and then the note of what was chosen."""
        tables = self._tables
        remove_views(tables)
        with tables.write_errors():
            tables.log.clear()
        left = {path.stem for path in tables.folder.glob("*.lance")} if tables.folder is not None else set()
        for name in sorted({*tables.names(), *left}):
            generation = generation_of(name)
            if generation is not None and generation != work.generation:
                tables.drop(name)
        if tables.folder is not None:
            remove_vectors(tables.folder)
            for path in needless_files(tables.folder):
                path.unlink(missing_ok=True)
        write_book(tables, read_book(tables).records, None)  # from here on nobody would look for anything of it
        tables.sums.tidy(tables.names())
        tables.log.end_forgetting()


# What is left

Left = Callable[[Iterable[Entry]], Iterator[Entry]]
"""Yields what is left of commits."""


def _left(found: Erasure, entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield what is left of commits of the log, with the counts of it."""
    here, whole = found.targets.space, found.targets.everything
    keeps: dict[RowKind, Callable[[dict[str, Any]], bool]] = {
        "turns": lambda row: not (whole or row["id"] in found.turns),
        "facts": lambda row: found.keeps_assertion(row["turn_id"], row["id"]),
        "jobs": lambda row: not (whole or row["turn_id"] in found.turns),
        "questions": lambda row: found.keeps_question(row["segment_id"], row["text"]),
    }
    for entry in entries:
        rows: dict[RowKind, list[dict[str, Any]]] = {}
        for kind in LOG_KINDS:
            listed = _listed(entry.rows.get(kind, ()))
            if kind in keeps:
                kept = [row for row in listed if row["space"] != here or keeps[kind](row)]
            else:
                kept = [made for row in listed if (made := _changed(found, kind, row)) is not None]
            if kept:
                rows[kind] = kept
        counts: dict[str, Any] = {kind: len(rows.get(kind, ())) for kind in LOG_KINDS}
        yield Entry(replace(entry.commit, **counts), rows)


def _changed(found: Erasure, kind: RowKind, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return what is left of a point, an alias or a lesson; None for nothing."""
    if row["space"] != found.targets.space:
        return row
    [value] = values_of(kind, table_of(kind, [row]))
    if kind == "episodes":
        left = None if found.targets.everything else found.lessons.get((value.episode_id, value.source), value)
    else:
        left = found.point(value) if kind == "points" else value if found.keeps_alias(value) else None
    if left is None or left is value:
        return row if left is value else None
    [made] = rows_of(kind, [left], None, [row["place"]]).to_pylist()
    return dict(made)


def _listed(rows: Any) -> list[dict[str, Any]]:
    return rows if isinstance(rows, list) else list(rows.to_pylist()) if rows else []


def _keys(rows: TableRows) -> list[dict[str, Any]]:
    """Return of rows what says whether they go."""
    names = {"space", "turn_id", "id", "segment_id", "text", "sentence_id"}
    return list(rows.select([name for name in rows.column_names if name in names]).to_pylist())


def _chosen(rows: TableRows, kept: list[bool]) -> TableRows:
    import pyarrow as pa

    return rows.filter(pa.array(kept, pa.bool_()))


def _in_order(rows: TableRows) -> TableRows:
    """Return rows in the order of their commits, in which refreshes look for the newest."""
    import numpy as np

    return rows.take(np.argsort(rows["tx"].to_numpy(), kind="stable"))
