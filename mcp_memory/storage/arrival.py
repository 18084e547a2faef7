"""Where a store that is restored is unpacked and checked: in the folder ``arriving`` of the place that it comes to.

What a process leaves there that dies is moved in, or removed, by the next one that opens the place (`settle`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mcp_memory.errors import StoreBusy, StoreUnwritable
from mcp_memory.storage.lock import LOCKS, lock_file, try_lock
from mcp_memory.storage.noted import holds_store

ARRIVING = "arriving"
_LOCK = "arriving.lock"
_WHOLE = "whole"
"""The file beside a store that was checked: from then on it is moved, whoever ends that."""


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


def move_in(made: Path, folder: Path) -> None:
    """Move a store that was unpacked and checked to where it belongs, its journal after its tables.

    Raises:
        OSError: it could not be moved.
    """
    (made / _WHOLE).touch()
    for path in sorted(made.iterdir(), key=lambda path: (path.suffix != ".lance", path.name != "journal")):
        if path.name not in (_LOCK, _WHOLE):
            path.rename(folder / path.name)


def settle(folder: Path | None) -> Path | None:
    """End what a process was restoring into a folder when it died, or remove what was not whole; return the folder."""
    if folder is not None and (folder / ARRIVING / _LOCK).is_file():
        made = folder / ARRIVING
        with suppress(OSError, NotImplementedError):
            if try_lock(lock := lock_file(made / _LOCK)):
                lock.release()
                begun_by_others = (made / "journal").exists() and holds_store(folder)
                if (made / _WHOLE).exists() and not begun_by_others:
                    move_in(made, folder)
                shutil.rmtree(made)
    return folder
