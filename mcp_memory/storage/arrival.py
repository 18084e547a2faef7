"""Where a store that is restored is unpacked and checked: in the folder ``arriving`` of the place that it comes to.

What a process leaves there that dies is removed by the next one that opens the place (`settle`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mcp_memory.errors import StoreBusy, StoreUnwritable
from mcp_memory.storage.copies import COPIES
from mcp_memory.storage.lock import LOCKS, lock_file, try_lock
from mcp_memory.storage.noted import ID_FILE, STORED
from mcp_memory.storage.own_files import own_files, remove_own

ARRIVING = "arriving"
_LOCK = "arriving.lock"
_OF_PLACE = (*LOCKS, "holders", ARRIVING, ID_FILE, COPIES)
"""What belongs to a place, whoever's store is there."""


@contextmanager
def arriving(folder: Path) -> Iterator[Path]:
    """Yield a new folder in that of a store, which is removed in the end.

    Raises:
        StoreBusy: another process does the same.
        StoreUnwritable: it cannot be made.
    """
    made, new = folder / ARRIVING, not folder.exists()
    lock = lock_file(made / _LOCK)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        settle(folder)
        if made.exists() and any(made.iterdir()):
            raise StoreBusy(
                f"{str(made)!r} is in the way, or another process restores a memory there. Nothing was changed. Wait "
                "for it, or move that folder elsewhere, and try again."
            )
        made.mkdir(mode=0o700, exist_ok=True)
        lock.acquire()
        yield made
    except OSError as error:
        raise StoreUnwritable(
            f"storage.uri {str(folder)!r} cannot be written to ({error.strerror or error}). Nothing was changed. Make "
            "room, give the right to write, or name another folder."
        ) from None
    finally:
        if lock.is_locked:
            lock.release()
            shutil.rmtree(made, ignore_errors=True)
        if new and folder.exists() and {path.name for path in folder.iterdir()} <= {*LOCKS}:
            with suppress(OSError):
                shutil.rmtree(folder)


def settle(folder: Path | None) -> Path | None:
    """Remove what a process was restoring into a folder when it died, and return the folder."""
    if folder is not None and (folder / ARRIVING / _LOCK).is_file():
        with suppress(OSError, NotImplementedError):
            if try_lock(lock := lock_file(folder / ARRIVING / _LOCK)):
                lock.release()
                if not any((folder / name).exists() for name in STORED):  # its tables came, and its log did not
                    for table in folder.glob("*.lance"):
                        remove_own(table, table.name)
                shutil.rmtree(folder / ARRIVING)
    return folder


def set_aside(folder: Path, aside: Path) -> None:
    """Link the files of the store that is there into another folder.

    Raises:
        StoreUnwritable: it cannot be written to.
    """
    try:
        aside.mkdir(mode=0o700)
        for path in list(own_files(folder)):
            place = path.relative_to(folder)
            if place.parts[0] not in _OF_PLACE and path.suffix != ".part":
                (aside / place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                try:
                    os.link(path, aside / place)
                except OSError:  # a file system without links, or another one
                    shutil.copy2(path, aside / place)
    except OSError as error:
        raise StoreUnwritable(
            f"what is there cannot be set aside in {str(aside)!r} ({error.strerror or error}). Nothing was changed. "
            "Take a backup of it, remove it yourself, and restore into the empty place."
        ) from None
