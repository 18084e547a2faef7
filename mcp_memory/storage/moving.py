"""Put a whole store somewhere: restore one from a backup, and move one to another folder.

Everything is written and checked beside its place first. Only a complete store takes the place of another one, in one
step (``arrival.py``), and only while no other process has either of them open.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from anyio import to_thread

from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreBusy, StoreError, StoreUnwritable
from mcp_memory.storage.arrival import arriving, set_aside, settle, settled, take_place
from mcp_memory.storage.backups import RESTORE, Backups, read_header, still, unpack
from mcp_memory.storage.damage import problem_of_log
from mcp_memory.storage.forgotten import Book, read_book, write_book
from mcp_memory.storage.lock import Holders, WriteLock
from mcp_memory.storage.noted import ID_FILE
from mcp_memory.storage.own_files import LEAVINGS, others_in, own_files, refuse_in_the_way
from mcp_memory.storage.place import Place
from mcp_memory.storage.places import carry_places, note_place
from mcp_memory.storage.tables import Tables

ForgetAgain = Callable[[Path, str, int, Book], Awaitable[int]]
"""Forgets in the store of a folder, with the embedder and dimension of its vectors, what a book holds; returns how many
texts that were."""


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


async def restore(
    file: Path,
    uri: str,
    forget_again: ForgetAgain | None,
    *,
    replace: bool,
    keep: int,
    now: Millis,
    noted_in: str = "",
) -> tuple[int, int, Path | None]:
    """Put the store of a backup in the place that a uri names, and note that it is there.

    The write lock of that place is held from the backup of what was there until the new store has its place, so a write
    of another process goes into the new one, or is refused.

    Args:
        file: the backup.
        uri: the URI of the place.
        forget_again: leaves out what was forgotten in the store that is replaced; None lets it come back.
        replace: whether a store that is there may go; a backup of it is made first. Its other backups stay, and so do
            what may be taken back after a forget and whatever somebody else put into its folder.
        keep: how many backups a store keeps of those that it makes by itself, see `Backups`.
        now: the moment.
        noted_in: the folder of the notes of places; "" for none.

    Returns:
        The number of its last commit, how many texts were left out, and the backup of what was there, or its folder,
        if it could not be read.

    Raises:
        InvalidInput: it is no whole backup, or there is a store already.
        StoreBusy: another process has that store open.
        StoreUnwritable: the place cannot be written to, or there is too little room. Nothing was changed.
    """
    tables = Tables(uri)
    folder = tables.folder
    if folder is None:
        raise StoreUnwritable(f"storage.uri {uri!r} is no local folder. Nothing was changed. Import an export there.")
    header = await to_thread.run_sync(read_header, file)
    damaged = False
    try:
        damaged = bool(await to_thread.run_sync(problem_of_log, tables))
        there = None if damaged else tables.log.last
    except StoreError:
        there, damaged = None, True  # no whole backup can be made of it: it is set aside
    if damaged and not replace:
        problem = f"the memory in {str(folder)!r} cannot be read"
        raise InvalidInput("storage.uri", problem, "Say --replace; it is set aside then, in a folder in its own.")
    if there is not None and not replace:
        problem = f"there is a memory in {str(folder)!r} already, of {there.tx:,} commits"
        raise InvalidInput("storage.uri", problem, "Set it to another folder, or say --replace; it is backed up then.")
    others = [*await to_thread.run_sync(others_in, folder), *sorted(folder.glob("*.lance"))]  # tables without a commit
    if there is None and not damaged and others:
        problem = f"{str(folder)!r} holds other things ({others[0].relative_to(folder)})"
        raise InvalidInput("storage.uri", problem, "Set it to an empty or new folder.")
    _refuse_others(folder, "restored over")
    saved, left_out, lock = None, 0, WriteLock(folder, 30.0)
    async with AsyncExitStack() as held:
        made = held.enter_context(arriving(folder))
        await to_thread.run_sync(unpack, file, made)
        tx = await to_thread.run_sync(check_readable, made)
        book: Book | None = None
        await held.enter_async_context(still(tables, lock) if there is not None else lock.hold())
        if there is not None:
            saved = await to_thread.run_sync(Backups(tables, max(keep, 1), lambda: now).make, RESTORE)
            book = await to_thread.run_sync(read_book, tables)
        elif not damaged and tables.log.newest():
            raise StoreBusy(f"Another process began a memory in {str(folder)!r}. Nothing was changed.")
        elif damaged:
            with suppress(StoreError):
                book = await to_thread.run_sync(read_book, tables)
        if forget_again is not None and book is not None and book.records:
            left_out = await forget_again(made, header["embedder"], header["dimension"], book)
            await to_thread.run_sync(_join_books, Tables(str(made)), book)
        await to_thread.run_sync(carry_places, folder, made)
        note_place(made, "copy", file, now)
        _refuse_others(folder, "restored over")
        refuse_in_the_way(folder)
        aside = folder / f"damaged-{now}" if damaged else None
        if aside is not None:
            note_place(made, "copy", aside, now)
            await to_thread.run_sync(set_aside, folder, made, aside.name)
        (made / ID_FILE).unlink(missing_ok=True)  # the place keeps its own
        await to_thread.run_sync(take_place, folder)
        Place(uri, noted_in=noted_in).note.keep(folder)
    tables.forget()
    return tx, left_out, aside or saved


def _join_books(tables: Tables, book: Book) -> None:
    """Add what was forgotten in another store to the book of one."""
    own = read_book(tables)
    records = sorted({(one.at, one.by, one.space, one.hashes): one for one in (*book.records, *own.records)}.items(),
                     key=lambda entry: entry[0][:3])  # fmt: skip
    write_book(tables, [one for _, one in records], None)


async def move(uri: str, to: Path, lock_timeout_s: float, noted_in: str = "") -> Path:
    """Move the store that a uri names to another folder, note that it is there, and return where it was.

    The old place keeps a note that leads every program to the new one, so no configuration needs to change. It stays
    noted, too: whoever is still configured for it once it is deleted is told so, and begins no second memory.

    Args:
        uri: the URI of the place.
        to: the new folder.
        lock_timeout_s: how long to wait for writes under way, in seconds.
        noted_in: the folder of the notes of places; "" for none.

    Raises:
        InvalidInput: nothing is stored, or the target is in use or lies in the store.
        StoreBusy: another process has the store open.
        StoreUnwritable: the target cannot be written to; the store is where it was.
    """
    tables, named = Tables(uri), to
    folder, to = await to_thread.run_sync(_places, tables, to)
    _refuse_others(folder, "moved")
    new = not to.exists()
    async with still(tables, WriteLock(folder, lock_timeout_s)):
        if settled(folder) != folder:
            raise StoreBusy(f"Another process has moved the memory in {str(folder)!r}. Nothing was changed. Try again.")
        note_place(folder, "home", to, 0)  # before it is: a forget looks for what is left there if this is killed
        with arriving(to, folder) as made:
            try:
                await to_thread.run_sync(_copy, folder, made)
                await to_thread.run_sync(check_readable, made)
                note_place(made, "home", folder, 0)
                _refuse_others(folder, "moved")
                async with WriteLock(to, lock_timeout_s).hold():
                    await to_thread.run_sync(_refuse_filled, to)
                    refuse_in_the_way(to)
                    if new:
                        to.chmod(folder.stat().st_mode & 0o777)
                    await to_thread.run_sync(take_place, to, folder)
                for name in dict.fromkeys(map(str, (to, named))):  # it may be configured by a path with a link in it
                    Place(name, noted_in=noted_in).note.keep(to)
            except OSError as error:
                raise StoreUnwritable(
                    f"the memory cannot be moved to {str(to)!r} ({error.strerror or error}). It is where it was. Make "
                    "room, or name another folder."
                ) from None
    return folder


def _places(tables: Tables, to: Path) -> tuple[Path, Path]:
    """Return from where to where a store is moved."""
    folder, to = tables.folder, to.expanduser().resolve()
    if folder is None or not tables.log.newest():
        problem = f"nothing is stored in {tables.uri!r}, or not in a folder"
        raise InvalidInput("storage.uri", problem, "Nothing was moved.")
    real = folder.resolve()
    if to == real or real in to.parents or to in real.parents:
        problem = f"{str(to)!r} and the store in {str(folder)!r} lie in each other"
        raise InvalidInput("TO", problem, "Name another folder.")
    settle(to)  # what a process left there that died
    _refuse_filled(to, others_in(to))
    refuse_in_the_way(folder)
    return folder, to


def _refuse_filled(to: Path, others: Sequence[Path] = ()) -> None:
    """Refuse a folder with a store, which another process may have begun just now, or with other things."""
    others = [*others, *(path for path in own_files(to) if path.relative_to(to).parts[0] not in LEAVINGS)]
    if others or (to.exists() and not to.is_dir()):
        problem = f"{str(to)!r} is not empty" + (f": it has {others[0].relative_to(to)}" if others else "")
        raise InvalidInput("TO", problem, "Name a new or an empty folder.")


def _copy(folder: Path, to: Path) -> None:
    """Copy all that is a store's own with its permissions, and compare the sums of all files."""
    for source in own_files(folder):
        inside = source.relative_to(folder)
        if inside.parts[0] not in LEAVINGS:
            copied = to / inside
            copied.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(source, copied)
            if _sum(source) != _flushed_sum(copied):
                raise OSError(f"{copied} is not what was copied")


def _sum(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _flushed_sum(path: Path) -> bytes:
    with path.open("r+b") as file:  # Windows flushes no file that is open for reading alone
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").digest()


def _refuse_others(folder: Path, done: str) -> None:
    with suppress(OSError):
        others = [pid for pid in Holders(folder).alive() if pid != os.getpid()]
        if others:
            raise StoreBusy(
                f"The memory in {str(folder)!r} is open in {len(others)} other process{'es' * (len(others) > 1)} "
                f"({', '.join(map(str, others))}), so it cannot be {done}. Close the clients and try again."
            )
