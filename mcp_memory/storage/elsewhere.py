"""What a forget does outside of the store's folder: every known place is looked through (``places.py``).

Out of the backups that the store makes by itself it takes what goes. From earlier homes of the store, and from what a
killed export left beside a place, it removes the program's own files, which nobody needs any more. It follows no link,
and changes nothing that belongs to somebody: what a command wrote for its user, and a memory that lies in an earlier
home again. Those it names, and what it could not reach or change.
"""

from __future__ import annotations

import logging
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anyio import to_thread

from mcp_memory.domain.times import Millis
from mcp_memory.errors import McpMemoryError
from mcp_memory.storage.arrival import notes_from, settle
from mcp_memory.storage.backups import PROGRAM, Backups, pack, unpack
from mcp_memory.storage.data_files import MOVED, holds_memory, local_folder
from mcp_memory.storage.own_files import left_in, remove_own
from mcp_memory.storage.places import known_places, unfinished_near
from mcp_memory.storage.tables import Tables

ForgetIn = Callable[[Path, str, int], Awaitable[None]]
"""Forgets in a store in a folder, with the embedder and dimension of its vectors."""
_MARKS = (b"mcp-memory export", b"mcp-memory backup", b"<title>Memory graph</title>")
"""What the files that commands write for users have near their beginning."""
_log = logging.getLogger(__name__)


async def forget_elsewhere(
    tables: Tables, backups: Backups, forget_in: ForgetIn, turns: Collection[str], since: Millis
) -> tuple[str, ...]:
    """Forget in all places of a store outside of its tables, and return in words where it may still be.

    Args:
        tables: the tables of the store.
        backups: the backups that it makes by itself.
        forget_in: forgets in an unpacked backup.
        turns: ids of the texts that go.
        since: when the first of what goes was stored; what was written before does not hold it.
    """
    if (folder := tables.folder) is None or backups.folder is None:
        return ()
    left = [text async for text in _backups_without(backups.files(), backups.folder, forget_in)]
    way = [home for home, _ in notes_from(local_folder(tables.uri) or folder)]
    left += await to_thread.run_sync(lambda: list(_elsewhere(folder, way, turns, since)))
    for text in left:
        _log.warning("After a forget: %s", text)
    return tuple(left)


async def _backups_without(files: Sequence[Path], folder: Path, forget_in: ForgetIn) -> AsyncIterator[str]:
    """Take out of the backups in a folder what is being forgotten; one in which that fails stays as it is.

    Yields:
        In words, what may hold it still because it could not be changed.
    """
    try:
        for left in await to_thread.run_sync(lambda: list(left_in(folder))):  # of a process that died at it
            for text in await to_thread.run_sync(lambda: list(_emptied(left))):  # noqa: B023
                yield text
        for file in files:
            work = folder / f".{file.name}.{secrets.token_hex(4)}"
            try:
                header = await to_thread.run_sync(_unpacked, file, work)
                await forget_in(work, header["embedder"], header["dimension"])
                made = header["made"]
                await to_thread.run_sync(lambda: pack(Tables(str(work)), file, program=PROGRAM, made=made))  # noqa: B023
            except Exception as error:
                yield f"{file} could not be read or changed, and may still hold it ({error}); the next forget tries it."
            finally:
                await to_thread.run_sync(lambda: shutil.rmtree(work, ignore_errors=True))  # noqa: B023
    except OSError as error:
        yield f"{folder} has backups that could not be changed ({error.strerror or error}); they may hold it."


def _unpacked(file: Path, work: Path) -> dict[str, Any]:
    work.mkdir(mode=0o700)
    return dict(unpack(file, work))


def _elsewhere(folder: Path, way: Sequence[Path], turns: Collection[str], since: Millis) -> Iterator[str]:
    places = known_places(folder)
    for one in places:
        if not one.path.parent.is_dir():
            yield f"{one.path} could not be reached, and may hold it. Is its disk mounted? The next forget looks again."
    for home in dict.fromkeys((*way, *(one.path for one in places if one.kind == "home"))):
        if home.is_dir() and not home.samefile(folder):
            if home.is_symlink():
                yield f"{home}, where this memory lay before, is a link; what it leads to may hold it."
            else:
                yield from _former_home(home, turns)
    for one in places:
        if one.kind == "copy":
            for beside in unfinished_near(one.path):
                if beside.is_dir():
                    yield f"{beside}, left by a command that was stopped, may hold it; delete it."
                else:
                    yield from _emptied(beside)
            if one.path.exists() and one.at >= since:
                day = datetime.fromtimestamp(one.at / 1000, UTC)
                yield f"{one.path}, written on {day:%Y-%m-%d}, may hold it, and is yours; delete it, or write it again."


def _former_home(home: Path, turns: Collection[str]) -> Iterator[str]:
    """Remove what the store left where it lay before; say so where a memory lies there again that has some of it."""
    try:
        settle(home)  # what a move to it left that was killed
        if not holds_memory(home):
            moved = (home / MOVED).stat().st_ctime_ns if (home / MOVED).exists() else None
            if moved and any(file.stat().st_ctime_ns > moved for file in home.glob("*.lance/*/*")):
                yield f"{home}, where this memory lay before, got files after it moved, which may hold it; delete them."
            else:
                yield from _emptied(home, keep=(MOVED, "holders", *(path.name for path in home.glob("*.lock"))))
            return
        rows = Tables(str(home)).log.rows("turns")
        there = {*rows["id"].to_pylist()} if rows is not None else set()
    except McpMemoryError as error:
        yield f"{home}, where this memory lay before, cannot be read and may hold it; delete or repair it ({error})."
        return
    if not there.isdisjoint(turns):
        yield (
            f"{home}, where this memory lay before, holds a memory again, with some of it. Forget it there, too: "
            f"MCP_MEMORY_STORAGE_URI={home} mcp-memory forget …"
        )


def _emptied(path: Path, keep: Iterable[str] = ()) -> Iterator[str]:
    """Remove the program's own files of a path that nobody needs any more, and say what could not be removed.

    A link is nobody's own, and is not followed.
    """
    try:
        if path.is_symlink():
            return
        if path.is_dir():
            remove_own(path, keep=tuple(keep))
            if not keep and not any(path.iterdir()):
                path.rmdir()
        elif _is_ours(path):
            path.unlink(missing_ok=True)
    except OSError as error:
        yield f"{path} could not be removed ({error.strerror or error}), and may hold it; delete it."


def _is_ours(file: Path) -> bool:
    with file.open("rb") as opened:
        first = opened.read(4096)
    return any(mark in first for mark in _MARKS)
