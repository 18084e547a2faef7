"""Forget: replace log and tables by others without some rows, and leave no file that holds them.

1. A mark beside the log stops the other processes (`Log.begin_forgetting`), and the book says what is begun.
2. The tables are copied without what goes into a new generation; beliefs are learnt again where lessons went, and the
   points that are made again get vectors.
3. The log is replaced by one without what goes, and with a commit of the new generation at its end. That is one step,
   until which nothing is changed. Every other process loads the memory again then.
4. What does not belong to the last commit is removed, and then the mark (`finish`), by the next process if this one
   dies: so a forget is done or not begun.

**The book** of what was forgotten has no content. A record has keyed hashes of the ids that one forget took, so that
nothing made of them before is stored after (`Book.holds`), and an import can leave them out. It is one object beside
the log, with a sum, and is replaced whole; each commit says how many records it had, so that its loss is noticed. A
record is written before its forget takes place, and counts once the log is of the generation that this makes.

A rebuild that runs meanwhile sees the new generation, drops its own tables and gives up (``rebuild.py``).
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import anyio
import numpy as np
from anyio import to_thread

from mcp_memory.domain.ids import keyed_digest
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreUnwritable
from mcp_memory.files import size_in_bytes
from mcp_memory.storage.lock import without_compaction
from mcp_memory.storage.log import Entry
from mcp_memory.storage.place import needless_files
from mcp_memory.storage.rebuild import Embed, Relearn, Relearning
from mcp_memory.storage.rows import (
    LOG_KINDS,
    TABLE_KINDS,
    Commit,
    LogKind,
    Row,
    RowKind,
    TableKind,
    TableRows,
    generation_of,
    row_of,
    rows_of,
    table_name,
    value_of,
)
from mcp_memory.storage.saved_view import remove_views
from mcp_memory.storage.tables import SPARE_BYTES, Tables
from mcp_memory.view.erasure import Erasure

BOOK = "forgotten.json"
"""The object with the book of what was forgotten."""


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Forgets in one store, whose ``tables`` nobody else uses; the others are those of the store (`LanceStore`)."""

    tables: Tables
    embed: Embed | None
    relearn: Relearn
    clock: Callable[[], Millis]

    async def forget(self, found: Erasure, last: Commit) -> None:
        """Forget what an erasure says.

        The write lock must be held, with every row in its table.

        Raises:
            StoreUnwritable: nothing is forgotten, or what was forgotten is removed by the next call.
        """
        await to_thread.run_sync(_refuse_without_room, self.tables)
        with anyio.CancelScope(shield=True):
            async with without_compaction(self.tables.place):
                records = await to_thread.run_sync(self._begin, found, last)
                generations = [generation_of(name) or 0 for name in self.tables.names()]
                generation = max(last.generation, *generations) + 2  # a rebuild without a table yet takes the next one
                await to_thread.run_sync(write_book, self.tables, records, generation)
                beliefs = await self._relearnt(last, found) if found.relearn else None
                await to_thread.run_sync(self._copy_tables, last, found, generation, beliefs)
                await self._embed_points(last, found, generation)
                await to_thread.run_sync(self._switch, last, found, generation, len(records))
                await to_thread.run_sync(self._finish)

    def _finish(self) -> None:
        """Remove what was replaced."""
        try:
            finish(self.tables)
        except (StoreUnwritable, OSError) as error:
            raise StoreUnwritable(
                f"storage.uri {self.tables.uri!r}: it is forgotten, but not all files that held it could be removed "
                f"({error.__cause__ or error}). The next call goes on with that; it needs the right to write there."
            ) from error

    def _begin(self, found: Erasure, last: Commit) -> list[frozenset[str]]:
        """Stop the others, and return the records of the book with a new one."""
        self.tables.log.begin_forgetting()
        key = bytes.fromhex(last.key)
        return [*read_book(self.tables).records, frozenset(keyed_digest(key, name) for name in found.ids)]

    def _copy_tables(self, last: Commit, found: Erasure, generation: int, beliefs: TableRows | None) -> None:
        points = {
            (entry.commit.tx, row["place"])
            for entry in left_of(found, self.tables.log.entries(until=last.tx))
            for row in entry.logged.get("points", ())
        }
        for kind in TABLE_KINDS:
            rows = beliefs if kind == "beliefs" and found.relearn else self.tables.rows(last.table(kind))
            if rows is None:
                continue
            if kind == "point_vectors":
                pairs = zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), strict=True)
                rows = _chosen(rows, [pair in points for pair in pairs])
            elif kind != "beliefs" or not found.relearn:
                rows = _chosen(rows, [not _goes(found, kind, row) for row in _keys(rows)])
            order = np.argsort(rows["tx"].to_numpy(), kind="stable")  # refreshes look for the newest
            self.tables.append(table_name(kind, generation, last.reader), rows.take(order))

    async def _relearnt(self, last: Commit, found: Erasure) -> TableRows | None:
        """Return the beliefs made again, of the lessons that are left and the sentences of before."""
        learning = Relearning(self.tables, last.generation, self.relearn, partial(left_of, found))
        await learning.catch_up(last.tx)
        return learning.rows()

    async def _embed_points(self, last: Commit, found: Erasure, generation: int) -> None:
        """Make the vectors of the points that are made again; they belong to the commit that is to come."""
        if found.remade and self.embed is not None:
            vectors = await self.embed([point.description for point in found.remade])
            rows = rows_of("point_vectors", found.remade, [last.tx + 1] * len(found.remade), None, vectors)
            name = table_name("point_vectors", generation, last.reader)
            await to_thread.run_sync(self.tables.append, name, rows)

    def _switch(self, last: Commit, found: Erasure, generation: int, forgets: int) -> None:
        """Replace the log."""
        kinds: tuple[TableKind, ...] = ("segments", "sentences", "assertions", "beliefs")
        sizes = {kind: self.tables.count(table_name(kind, generation, last.reader)) for kind in kinds}
        commit = last.next(self.clock(), generation=generation, forgets=forgets, points=len(found.remade), **sizes)
        points = list(map(row_of, found.remade, count()))
        with self.tables.write_errors():
            left = left_of(found, self.tables.log.entries(until=last.tx))
            self.tables.log.replace(left, Entry(commit, {"points": points} if points else {}))


def _refuse_without_room(tables: Tables) -> None:
    if tables.folder is None:
        return
    size = size_in_bytes(tables.folder)
    if shutil.disk_usage(tables.folder).free < size + SPARE_BYTES:
        raise StoreUnwritable(
            f"storage.uri {tables.uri!r}: too little room to write the memory again, which takes {size:,} bytes. "
            "Nothing was forgotten. Make room and try again."
        )


def finish(tables: Tables) -> None:
    """Remove what a forget has replaced, or made before its process died; the write lock must be held.

    Raises:
        StoreUnwritable: it could not be removed now; the next call goes on.
    """
    last, book = tables.log.last, read_book(tables)
    if last is not None:
        _remove_former(tables, last.generation, book.begun)
        if tables.folder is not None:
            for path in needless_files(tables.folder):
                path.unlink(missing_ok=True)
    if book.begun is not None:
        write_book(tables, book.records)
    tables.log.end_forgetting()


def _remove_former(tables: Tables, generation: int, begun: int | None) -> None:
    """Remove what is left of the store before the generation of the last commit: its log, tables and views.

    If the forget that was ``begun`` has not taken place, the tables of its generation go as well.
    """
    remove_views(tables)
    with tables.write_errors():
        tables.log.clear()
    left = {path.stem for path in tables.folder.glob("*.lance")} if tables.folder is not None else set()
    for name in sorted({*tables.names(), *left}):
        number = generation_of(name)
        if number is not None and (number < generation or (number == begun and number != generation)):
            tables.drop(name)


# The book


@dataclass(frozen=True, slots=True)
class Book:
    """What was forgotten.

    Attributes:
        records: the hashes of each forget, oldest first.
        begun: the generation of a forget that was begun and did not end; None mostly.
        damage: what is wrong with the book, in words; mostly empty.
        hashes: the hashes of all ids that were forgotten.
        key: their key.
    """

    records: tuple[frozenset[str], ...] = ()
    begun: int | None = None
    damage: str = ""
    hashes: frozenset[str] = frozenset()
    key: bytes = b""

    def holds(self, name: str) -> bool:
        """Return whether something with this id was forgotten."""
        return bool(self.hashes) and keyed_digest(self.key, name) in self.hashes


NOTHING_FORGOTTEN = Book()


def read_book(tables: Tables) -> Book:
    """Return what was forgotten in a store."""
    last = tables.log.last
    try:
        content = tables.place.objects.get(BOOK)
    except OSError:
        content = None
    sum_, _, text = (content or b"").partition(b" ")
    try:
        found = json.loads(text) if content and sum_ == b"%08x" % zlib.crc32(text) else None
    except ValueError:
        found = None
    rows, begun = (found["records"], found.get("begun")) if found is not None else ([], None)
    if begun is not None and last is not None and last.generation < begun:
        rows = rows[:-1]
    records = tuple(frozenset(row["hashes"]) for row in rows)
    expected = last.forgets if last is not None else 0
    lost = (found is None and content is not None) or len(records) < expected
    damage = f"The book of what was forgotten ({BOOK}) is damaged: an import may bring it back." if lost else ""
    hashes = frozenset[str]().union(*records)
    return Book(records, begun, damage, hashes, bytes.fromhex(last.key) if last is not None else b"")


def write_book(tables: Tables, records: Collection[frozenset[str]], begun: int | None = None) -> None:
    """Replace what was forgotten; ``begun`` is the generation that the forget of the last record makes, see `Book`.

    Raises:
        StoreUnwritable: nothing is changed.
    """
    rows = [{"hashes": sorted(one)} for one in records]
    text = json.dumps({"records": rows, "begun": begun}).encode()
    content = b"%08x %s" % (zlib.crc32(text), text)
    with tables.write_errors():
        tables.place.objects.put(BOOK, content)


# What is left


def left_of(found: Erasure, entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield what is left of commits of the log, with the counts of it."""
    for entry in entries:
        rows: dict[LogKind, list[Row]] = {}
        for kind in LOG_KINDS:
            listed = entry.logged.get(kind, ())
            if kind in ("points", "aliases", "episodes"):
                kept = [made for row in listed if (made := _changed(found, kind, row)) is not None]
            else:
                kept = [row for row in listed if not _goes(found, kind, row)]
            if kept:
                rows[kind] = kept
        counts: dict[str, Any] = {kind: len(rows.get(kind, ())) for kind in LOG_KINDS}
        yield Entry(replace(entry.commit, **counts), rows)


def _goes(found: Erasure, kind: RowKind, row: Row) -> bool:
    """Return whether a row goes that is not `_changed`."""
    if row["space"] != found.targets.space:
        return False
    if kind in ("facts", "assertions"):
        return not found.keeps_assertion(row["turn_id"], row["id"])
    if kind == "questions":
        return not found.keeps_question(row["segment_id"], row["text"])
    named: dict[RowKind, tuple[str, frozenset[str]]] = {
        "turns": ("id", found.turns),
        "beliefs": ("sentence_id", found.sentences),
    }
    name, gone = named.get(kind, ("turn_id", found.turns))
    return found.targets.everything or row[name] in gone


def _changed(found: Erasure, kind: LogKind, row: Row) -> Row | None:
    """Return what is left of a point, an alias or a lesson; None for nothing."""
    if row["space"] != found.targets.space:
        return row
    value = value_of(kind, row)
    if kind == "episodes":
        left = None if found.targets.everything else found.lessons.get((value.episode_id, value.source), value)
    else:
        left = found.point(value) if kind == "points" else value if found.keeps_alias(value) else None
    if left is None or left is value:
        return row if left is value else None
    return row_of(left, row["place"])


def _keys(rows: TableRows) -> list[Row]:
    """Return of rows what says whether they go."""
    names = {"space", "turn_id", "id", "segment_id", "text", "sentence_id"}
    return list(rows.select([name for name in rows.column_names if name in names]).to_pylist())


def _chosen(rows: TableRows, kept: list[bool]) -> TableRows:
    import pyarrow as pa

    return rows.filter(pa.array(kept, pa.bool_()))
