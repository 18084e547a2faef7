"""Restore a whole store from a backup.

Everything is written and checked beside its place first. Only a complete store takes the place of another one, in one
step (``arrival.py``), and only while no other process has that one open.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from anyio import to_thread

from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreBusy, StoreError, StoreUnwritable
from mcp_memory.storage.arrival import arriving, set_aside, take_place
from mcp_memory.storage.backups import still, unpack
from mcp_memory.storage.copies import note_copy
from mcp_memory.storage.damage import problem_of_log
from mcp_memory.storage.forgotten import Book, read_book, write_book
from mcp_memory.storage.lock import Holders, WriteLock
from mcp_memory.storage.noted import ID_FILE
from mcp_memory.storage.own_files import ASIDE, others_in, refuse_in_the_way
from mcp_memory.storage.place import Place
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
        replace: whether a store that is there may go; it is set aside. What may be taken back after a forget stays in
            its place, and so does whatever somebody else put into its folder.
        now: the moment.
        noted_in: the folder of the notes of places; "" for none.

    Returns:
        The number of its last commit, how many texts were left out, and the folder with what was there.

    Raises:
        InvalidInput: it is no whole backup, or there is a store already.
        StoreBusy: another process has that store open.
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
        raise InvalidInput("storage.uri", problem, "Say --replace; it is set aside then, in a folder in its own.")
    if there is not None and not replace:
        problem = f"there is a memory in {str(folder)!r} already, of {there.tx:,} commits"
        raise InvalidInput("storage.uri", problem, "Set it to another folder, or say --replace; it is set aside then.")
    others = [*await to_thread.run_sync(others_in, folder), *sorted(folder.glob("*.lance"))]  # tables without a commit
    if there is None and not damaged and others:
        problem = f"{str(folder)!r} holds other things ({others[0].relative_to(folder)})"
        raise InvalidInput("storage.uri", problem, "Set it to an empty or new folder.")
    _refuse_others(folder)
    aside, left_out, lock = folder / f"{ASIDE}{now}", 0, WriteLock(folder, 30.0)
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
            await to_thread.run_sync(_join_books, Tables(str(made)), book)
        note_copy(folder, file, now)
        _refuse_others(folder)
        refuse_in_the_way(folder)
        if there is not None or damaged:
            await to_thread.run_sync(set_aside, folder, made, aside.name)
        (made / ID_FILE).unlink(missing_ok=True)  # the place keeps its own
        await to_thread.run_sync(take_place, folder)
        Place(uri, noted_in=noted_in).note.keep(folder)
    tables.forget()
    return tx, left_out, aside if there is not None or damaged else None


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


def _join_books(tables: Tables, book: Book) -> None:
    """Add what was forgotten in another store to the book of one."""
    every = {(one.at, one.by, one.space, one.hashes): one for one in (*book.records, *read_book(tables).records)}
    write_book(tables, [one for _, one in sorted(every.items(), key=lambda entry: entry[0][:3])], None)


def _refuse_others(folder: Path) -> None:
    with suppress(OSError):
        if others := [pid for pid in Holders(folder).alive() if pid != os.getpid()]:
            raise StoreBusy(
                f"The memory in {str(folder)!r} is open in {len(others)} other process{'es' * (len(others) > 1)} "
                f"({', '.join(map(str, others))}), so it cannot be restored over. Close the clients and try again."
            )
