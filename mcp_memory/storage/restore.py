"""Restore a whole store from a backup into an empty or new place.

It is unpacked in a folder of that place and checked, row by row. Then its files are moved to where they belong; where a
process dies meanwhile, the next one ends that (``arrival.py``). So a restore is done or not begun.

Nothing is ever replaced: where something is, the error says so.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from anyio import to_thread

from mcp_memory.errors import InvalidInput, StoreBusy, StoreError, StoreUnwritable
from mcp_memory.storage.arrival import arriving, move_in
from mcp_memory.storage.backups import unpack
from mcp_memory.storage.lock import WriteLock
from mcp_memory.storage.own_files import others_in
from mcp_memory.storage.place import Place
from mcp_memory.storage.tables import Tables

_ELSEWHERE = (
    "A restore replaces nothing. Set storage.uri (MCP_MEMORY_STORAGE_URI) to an empty or new folder; or stop what uses "
    "this one, and move what is in it elsewhere."
)


async def restore(file: Path, uri: str, *, noted_in: str = "") -> int:
    """Put the store of a backup in the place that a uri names, and note that it is there.

    Args:
        file: the backup.
        uri: the URI of the place.
        noted_in: the folder of the notes of places; "" for none.

    Returns:
        The number of its last commit.

    Raises:
        InvalidInput: it is no whole backup, or something is in that place.
        StoreBusy: another process restores or begins a store there.
        StoreUnwritable: the place cannot be written to, or there is too little room. Nothing was changed.
    """
    tables = Tables(uri)
    folder = tables.folder
    if folder is None:
        raise StoreUnwritable(f"storage.uri {uri!r} is no local folder. Nothing was changed. Import an export there.")
    await to_thread.run_sync(_refuse_unless_empty, tables, folder)
    async with AsyncExitStack() as held:
        made = held.enter_context(arriving(folder))
        await to_thread.run_sync(unpack, file, made)
        tx = await to_thread.run_sync(check_readable, made)
        await held.enter_async_context(WriteLock(folder, 30.0).hold())
        if tables.log.newest():
            raise StoreBusy(f"Another process began a memory in {str(folder)!r}. Nothing was changed.")
        await to_thread.run_sync(move_in, made, folder)
        Place(uri, noted_in=noted_in).note.keep(folder)
    tables.reopen()
    return tx


def _refuse_unless_empty(tables: Tables, folder: Path) -> None:
    """Refuse a place with a store, whole or not, or with files of others; what processes left there may stay."""
    try:
        there = tables.log.last
    except StoreError:
        there = None
    if there is not None:
        problem = f"there is a memory in {str(folder)!r} already, of {there.tx:,} commits"
        raise InvalidInput("storage.uri", problem, _ELSEWHERE)
    others = [*others_in(folder), *sorted(folder.glob("*.lance")), *(folder / name for name in ("journal", "log"))]
    if found := next((path for path in others if path.exists()), None):
        problem = f"{str(folder)!r} holds other things ({found.relative_to(folder)})"
        raise InvalidInput("storage.uri", problem, _ELSEWHERE)


def check_readable(folder: Path) -> int:
    """Return the number of the last commit of a store, after reading every row of it once. Blocking.

    Raises:
        InvalidInput: it holds none.
        StoreError: a table cannot be read.
    """
    tables = Tables(str(folder))
    last = tables.log.last
    if last is None:
        raise InvalidInput("", "the backup holds no store", "Nothing was changed. Take another backup.")
    for _ in tables.log.entries():
        pass
    for name in last.tables:
        tables.rows(name)
    return last.tx
