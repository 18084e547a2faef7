"""Forget: replace log and tables by others without some rows, and leave no file that holds them.

What was chosen is written down first, by ids, in the book (`begin`). From then on the forget is finished by whoever
comes next, whatever happens to this process: no process reads or writes before that (`Forgetter.settle`).

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

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.backups import fold, without_compaction
from mcp_memory.storage.damage import refuse
from mcp_memory.storage.elsewhere import forget_elsewhere
from mcp_memory.storage.forgotten import (
    NOTHING_FORGOTTEN,
    Book,
    Work,
    begin,
    book_state,
    read_book,
    write_book,
)
from mcp_memory.storage.log import Entry, table_of
from mcp_memory.storage.mapped import remove_vectors
from mcp_memory.storage.own_files import needless_files
from mcp_memory.storage.place import Lock
from mcp_memory.storage.rebuild import Embed
from mcp_memory.storage.refresh import Refresher
from mcp_memory.storage.relearning import Relearn, Relearning
from mcp_memory.storage.rights import rights_kept
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
from mcp_memory.view.erasure import Erasure, counts_of, present
from mcp_memory.view.resting import erasure_of
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

Left = Callable[[Iterable[Entry]], Iterator[Entry]]
"""Yields what is left of commits."""


class Forgetter:
    """Forgets in one store, and finishes what a process that died had begun to forget.

    Args:
        tables: used by nobody else meanwhile.
        lock: the store's write lock.
        refresher: returns a refresher of a store, given its tables, and embedder and dimension of its vectors.
        vectors: embedder and dimension of the store's vectors.
        embed: of the descriptions of points that are made again; None leaves them without vectors.
        relearn: makes beliefs of lessons.
        clock: milliseconds since 1970, UTC.
        elsewhere: whether it forgets wherever else something was written, too.

    Attributes:
        book: what was forgotten, as of the last look.
    """

    def __init__(
        self,
        tables: Tables,
        lock: Lock,
        refresher: Callable[[Tables, str, int], Refresher],
        vectors: tuple[str, int],
        embed: Embed | None,
        relearn: Relearn,
        clock: Callable[[], Millis],
        *,
        elsewhere: bool = True,
    ) -> None:
        self.book = NOTHING_FORGOTTEN
        self._tables = tables
        self._lock = lock
        self._looked: object = None  # the state of the book at the last look
        self._refresher = refresher
        self._vectors = vectors
        self._embed = embed
        self._relearn = relearn
        self._clock = clock
        self._since = 0
        self._elsewhere = elsewhere

    async def settle(self) -> None:
        """Finish what was begun and not finished, if anything; the write lock must not be held.

        While another process is at it this waits for the lock: nothing half forgotten is ever read.
        """
        if self.worth_a_look:
            await to_thread.run_sync(self._look)
        if self.book.work is not None or self._tables.log.forgetting:
            async with self._lock.hold():
                await self.settle_locked()

    async def settle_locked(self) -> None:
        """Do the same while the write lock is held."""
        if not self.worth_a_look:
            return
        await to_thread.run_sync(self._look)
        if self.book.work is None:
            if self._tables.log.forgetting:  # somebody died before anything was written down
                await to_thread.run_sync(self._tables.log.end_forgetting)
            return
        if (last := await to_thread.run_sync(lambda: self._tables.log.last)) is not None:
            load = partial(self._refresher(self._tables, *self._vectors).load)
            with anyio.CancelScope(shield=True):
                await self._finish(self.book.work, last, load)

    async def forget(self, found: Erasure, view: View, last: Commit, by: str) -> tuple[str, ...]:
        """Forget what an erasure says, and return in words where outside of the store it may still be.

        The write lock must be held, with every row in its table.

        Raises:
            StoreUnwritable: nothing is forgotten, or the next call finishes it; the text says which.
        """
        counts = counts_of(view.space(found.targets.space), found)
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(begin, self._tables, last, found, counts, by, self._clock())
            await to_thread.run_sync(self._look)
            assert self.book.work is not None
            turns = view.space(found.targets.space).turns
            self._since = await to_thread.run_sync(self._stored_at, [turns[name] for name in found.turns])
            left = await self._finish(self.book.work, last, lambda: view)
            self._since = 0
        return left

    async def _finish(self, work: Work, last: Commit, load: Callable[[], View]) -> tuple[str, ...]:
        """Do what is left to do, and return in words where outside of the store it may still be.

        Args:
            work: what was begun.
            last: the last commit.
            load: returns a view as of that commit, with all segments and sentences. Blocking.

        Raises:
            StoreUnwritable: it could not be finished now; the next call goes on.
        """
        with rights_kept(self._tables.folder):
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
                left_elsewhere: tuple[str, ...] = ()
                if self._elsewhere:
                    forget_in = partial(self._forget_in, work.targets)
                    left_elsewhere = await forget_elsewhere(self._tables.folder, forget_in, self._since)
                await to_thread.run_sync(self._clean, work)
        await to_thread.run_sync(self._look)
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

    def _switch(
        self, last: Commit, found: Erasure, work: Work, left: Callable[[Iterable[Entry]], Iterator[Entry]]
    ) -> None:
        """Replace the log."""
        sizes = sizes_of(self._tables, work.generation, last.reader)
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
        remove_former(tables, work.generation)
        if tables.folder is not None:
            for path in needless_files(tables.folder):
                path.unlink(missing_ok=True)
        write_book(tables, read_book(tables).records, None)  # from here on nobody would look for anything of it
        tables.log.end_forgetting()

    def _stored_at(self, turns: Collection[Turn]) -> Millis:
        """Return when the first of some texts came into the store; 0 where nobody can tell.

        An imported text bears the moment of another clock, which may have been ahead, as this one may have been.
        """
        names = {turn.id for turn in turns}
        moments = [turn.written_at for turn in turns]
        for entry in self._tables.log.entries():
            stored = entry.rows.get("turns", ())
            listed = stored if isinstance(stored, list) else stored.to_pylist() if stored else []
            if len(moments) > len(turns) or any(row["id"] in names for row in listed):
                moments.append(entry.commit.at)  # of the first of them, and of all after it
        found = min(moments, default=0)
        return found if len(moments) > len(turns) and found <= self._clock() else 0

    async def _forget_in(self, targets: ForgetTargets, folder: Path) -> None:
        """Forget in a store that was set aside what of the targets is there, and what else was forgotten since.

        It may have been out of reach when that went.
        """
        tables = Tables(str(folder))
        refuse(tables)
        if (last := tables.log.last) is None:
            return
        vectors = last.embedder, last.dimension
        there = Forgetter(
            tables, self._lock, self._refresher, vectors, self._embed if vectors == self._vectors else None,
            self._relearn, self._clock, elsewhere=False,
        )  # fmt: skip
        refresher = self._refresher(tables, *vectors)
        view = await to_thread.run_sync(refresher.load)
        for name in list(view.spaces):
            space = view.space(name)
            chosen = forgotten_in(space, self.book)
            if name == targets.space:
                chosen = chosen.joined(present(space, targets))
            if refresher.last is not None and not chosen.empty:
                found = await to_thread.run_sync(erasure_of, space, chosen)
                await to_thread.run_sync(fold, tables)
                await there.forget(found, view, refresher.last, "a forget")
                view = await to_thread.run_sync(refresher.load)

    @property
    def worth_a_look(self) -> bool:
        """Whether another process may have begun or finished a forget."""
        if self._tables.log.forgetting or self.book.work is not None:
            return True
        return self._looked is None or (self._tables.folder is not None and self._looked != book_state(self._tables))

    def look_again(self) -> None:
        """Look at the next call, also on object storage: the log is another one, perhaps by a forget."""
        self._looked = None

    def _look(self) -> None:
        self._looked = book_state(self._tables)
        last = self._tables.log.last
        self.book = read_book(self._tables, last.forgets if last else 0)


def sizes_of(tables: Tables, generation: int, reader: int) -> dict[str, int]:
    """Return how many rows the tables of a generation have that its first commit counts."""
    kinds: tuple[TableKind, ...] = ("segments", "sentences", "assertions", "beliefs")
    return {kind: tables.count(table_name(kind, generation, reader)) for kind in kinds}


def remove_former(tables: Tables, generation: int) -> None:
    """Remove what is left of the store before a generation: its log, tables, vectors and views."""
    remove_views(tables)
    with tables.write_errors():
        tables.log.clear()
    left = {path.stem for path in tables.folder.glob("*.lance")} if tables.folder is not None else set()
    for name in sorted({*tables.names(), *left}):
        if generation_of(name) not in (None, generation):
            tables.drop(name)
    if tables.folder is not None:
        remove_vectors(tables.folder)


def forgotten_in(space: Space, book: Book) -> ForgetTargets:
    """Return what of a space was forgotten according to a book; what was written again afterwards is not among it."""
    turns = frozenset(turn.id for turn in space.turns.values() if book.holds_since(turn.id, turn.written_at))
    facts = (one for one in space.facts.rows if one.turn_id not in turns and one.extractor in ("caller", "anthropic"))
    return ForgetTargets(
        space.name,
        turns=turns,
        assertions=frozenset(one.id for one in facts if book.holds_since(one.id, one.recorded_at)),
        points=frozenset(one.id for one in space.hypergraph.all() if book.holds_since(one.id, one.at)),
        episodes=frozenset(one.episode_id for one in space.beliefs.lessons() if book.holds(one.episode_id)),
    )


# What is left


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
