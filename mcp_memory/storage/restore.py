"""Restore a whole store from a backup.

It is unpacked beside what is there, checked, and what was forgotten since is left out of it. Then its tables get the
names of a new generation, and its log becomes a new edition of the log that is there. That is one step, until which
nothing is changed; a process that has the memory open loads it again. What was there before is *set aside*: its files
are linked into a folder beside the store's, ``….replaced-…``, which is a store itself, and its user's to remove.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from itertools import chain
from pathlib import Path

from anyio import to_thread

from mcp_memory.domain.forgetting import ForgottenRecord
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreBusy, StoreError, StoreUnwritable
from mcp_memory.storage.arrival import arriving, set_aside
from mcp_memory.storage.backups import fold, still, unpack
from mcp_memory.storage.copies import note_copy
from mcp_memory.storage.damage import problem_of_log
from mcp_memory.storage.forget import remove_former, sizes_of
from mcp_memory.storage.forgotten import NOTHING_FORGOTTEN, Book, read_book, write_book
from mcp_memory.storage.lock import WriteLock
from mcp_memory.storage.log import Entry
from mcp_memory.storage.own_files import others_in
from mcp_memory.storage.place import Place
from mcp_memory.storage.schema import TABLE_KINDS, generation_of, table_name
from mcp_memory.storage.tables import Tables

ForgetAgain = Callable[[Path, str, int, Book], Awaitable[int]]
"""Forgets in the store of a folder, with the embedder and dimension of its vectors, what a book holds; returns how many
texts that were."""


async def restore(
    file: Path, uri: str, forget_again: ForgetAgain | None, *, replace: bool, now: Millis, noted_in: str = ""
) -> tuple[int, int, Path | None]:
    """Put the store of a backup in the place that a uri names, and note that it is there.

    The write lock of that place is held from a last look at what is there until the new store has its place, so a write
    of another process goes into the new one, or is refused.

    Args:
        file: the backup.
        uri: the URI of the place.
        forget_again: leaves out what was forgotten in the store that is replaced; None lets it come back.
        replace: whether a store that is there may go; it is set aside. What somebody else put into its folder stays.
        now: the moment.
        noted_in: the folder of the notes of places; "" for none.

    Returns:
        The number of its last commit, how many texts were left out, and the folder with what was there.

    Raises:
        InvalidInput: it is no whole backup, or there is a store already.
        StoreBusy: another process restores or begins one there.
        StoreUnwritable: the place cannot be written to, or there is too little room. Nothing was changed.
    """
    tables = Tables(uri)
    folder = tables.folder
    if folder is None:
        raise StoreUnwritable(f"storage.uri {uri!r} is no local folder. Nothing was changed. Import an export there.")
    try:
        damaged = bool(await to_thread.run_sync(problem_of_log, tables))
        there = None if damaged else tables.log.last
    except StoreError:
        there, damaged = None, True
    if damaged and not replace:
        problem = f"the memory in {str(folder)!r} cannot be read"
        raise InvalidInput("storage.uri", problem, "Say --replace; it is set aside then, in a folder beside its own.")
    if there is not None and not replace:
        problem = f"there is a memory in {str(folder)!r} already, of {there.tx:,} commits"
        raise InvalidInput("storage.uri", problem, "Set it to another folder, or say --replace; it is set aside then.")
    others = [*await to_thread.run_sync(others_in, folder), *sorted(folder.glob("*.lance"))]  # tables without a commit
    if there is None and not damaged and others:
        problem = f"{str(folder)!r} holds other things ({others[0].relative_to(folder)})"
        raise InvalidInput("storage.uri", problem, "Set it to an empty or new folder.")
    aside, left_out, lock = folder.with_name(f"{folder.name}.replaced-{now}"), 0, WriteLock(folder, 30.0)
    async with AsyncExitStack() as held:
        made = held.enter_context(arriving(folder))
        header = await to_thread.run_sync(unpack, file, made)
        tx = await to_thread.run_sync(check_readable, made)
        await held.enter_async_context(still(tables, lock) if there is not None else lock.hold())
        if there is None and not damaged and tables.log.newest():
            raise StoreBusy(f"Another process began a memory in {str(folder)!r}. Nothing was changed.")
        book: Book | None = None
        with suppress(StoreError):
            book = await to_thread.run_sync(read_book, tables)
        if forget_again is not None and book is not None and book.records:
            left_out = await forget_again(made, header["embedder"], header["dimension"], book)
        note_copy(folder, file, now)
        if there is not None or damaged:
            note_copy(folder, aside, now)
            await to_thread.run_sync(set_aside, folder, aside)
        former = book if forget_again is not None and book is not None else NOTHING_FORGOTTEN
        await to_thread.run_sync(_take_place, tables, Tables(str(made)), former, now)
        Place(uri, noted_in=noted_in).note.keep(folder)
    tables.forget()
    return tx, left_out, aside if there is not None or damaged else None


def _take_place(tables: Tables, made: Tables, former: Book, now: Millis) -> None:
    """Let the tables and the log of another store take the place of those that are there.

    Args:
        tables: of the store that is there.
        made: of the other one.
        former: what was forgotten in the store that is there, as far as it stays so.
        now: the moment.
    """
    fold(made)
    last = made.log.last
    assert last is not None
    assert made.folder is not None
    assert tables.folder is not None
    numbers = [number for name in tables.names() if (number := generation_of(name)) is not None]
    generation = max((last.generation, *numbers)) + 1
    for kind in TABLE_KINDS:
        if (table := made.folder / f"{last.table(kind)}.lance").exists():
            table.rename(tables.folder / f"{table_name(kind, generation, last.reader)}.lance")
    records = _joined(former, read_book(made))
    newest = max(last.tx, tables.log.newest())
    switch = last.next(now, tx=newest + 1, generation=generation, forgets=len(records),
                       **sizes_of(tables, generation, last.reader))  # fmt: skip
    empty = (Entry(last.next(now, tx=number), {}) for number in range(last.tx + 1, newest + 1))
    with tables.write_errors():
        write_book(tables, _joined(read_book(tables), Book(tuple(records))))  # until the switch both may count
        tables.log.replace(chain(made.log.entries(), empty), Entry(switch, {}))
        write_book(tables, records)
        remove_former(tables, generation)


def check_readable(folder: Path) -> int:
    """Return the number of the last commit of a store, after reading every row of it once. Blocking.

    Raises:
        InvalidInput: it holds none.
        StoreError: a table cannot be read.
    """
    tables = Tables(str(folder))
    last = tables.log.last
    if last is None:
        raise InvalidInput("FILE", "it holds no store", "Nothing was changed. Take another backup.")
    for _ in tables.log.entries():
        pass
    for name in last.tables:
        tables.rows(name)
    return last.tx


def _joined(one: Book, other: Book) -> list[ForgottenRecord]:
    """Return what was forgotten in either of two stores."""
    every = {(record.at, record.by, record.space, record.hashes): record for record in (*one.records, *other.records)}
    return [record for _, record in sorted(every.items(), key=lambda entry: entry[0][:3])]
