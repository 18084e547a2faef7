"""Let a store that is restored take its place in a folder, in a step that nothing can cut in two.

It is written into ``arriving`` in the folder, beside what is there, with a note of how far it is (`_STATE`). Once that
note says that it is whole, the former store's own files are removed and the new ones renamed into their place, by this
process or, if it dies, by the next one that opens the place (`settle`). What was not whole yet is removed instead, so
there is always one store: the former one before the note is written over, the new one after.

What stood there before is *set aside*: its files are linked into a folder ``replaced-…`` of the store, which is a store
itself, and stays until its user removes it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mcp_memory.errors import StoreBusy, StoreUnwritable
from mcp_memory.files import files_below, whole_file
from mcp_memory.storage.copies import COPIES
from mcp_memory.storage.lock import LOCKS, lock_file, try_lock
from mcp_memory.storage.noted import ID_FILE
from mcp_memory.storage.own_files import is_aside, own_files, remove_own

ARRIVING = "arriving"
WRITING, WHOLE, PLACING = "writing", "whole", "placing"
WAIT_S = 30.0
"""How long to wait for another process that lets a store take its place."""
_STATE, _LOCK = "arriving.json", "arriving.lock"
_OF_PLACE = (*LOCKS, "holders", ARRIVING, ID_FILE, COPIES, "forgotten")
"""What belongs to a place, whoever's store is there, but for ``holders``: who has opened what is gone sees that."""


@contextmanager
def arriving(folder: Path) -> Iterator[Path]:
    """Yield a new folder in that of a store; what is in it takes its place by `take_place`, or goes.

    Raises:
        StoreBusy: another process does the same.
        StoreUnwritable: it cannot be made, or something else is called like that.
    """
    made, new = folder / ARRIVING, not folder.exists()
    lock = lock_file(made / _LOCK)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        settle(folder)
        if made.exists() and any(not path.name.startswith((_LOCK, f".{_STATE}.")) for path in made.iterdir()):
            raise StoreBusy(
                f"{str(made)!r} is in the way, or another process restores a memory there. Nothing was changed. Wait "
                "for it, or move that folder elsewhere, and try again."
            )
        made.mkdir(mode=0o700, exist_ok=True)
        lock.acquire()
        _note(made, WRITING)
    except OSError as error:
        lock.release(force=True)
        _tidy(folder, made, new=new)
        raise StoreUnwritable(
            f"storage.uri {str(folder)!r} cannot be written to ({error.strerror or error}). Nothing was changed. Make "
            "room, give the right to write, or name another folder."
        ) from None
    try:
        yield made
    finally:
        lock.release()
        settle(folder)
        _tidy(folder, made, new=new)


def _tidy(folder: Path, made: Path, *, new: bool) -> None:
    """Remove the folders that were made for what arrives, if nothing is in them."""
    with suppress(OSError):  # it has a store now, or cannot be written to
        (made / _LOCK).unlink(missing_ok=True)
        if made.is_dir():
            made.rmdir()
        if new and {path.name for path in folder.iterdir()} <= {*LOCKS}:
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()


def set_aside(folder: Path, made: Path, name: str) -> None:
    """Link the files of the store that is there into a folder of the one that arrives."""
    for path in list(own_files(folder)):
        place = path.relative_to(folder)
        if place.parts[0] not in _OF_PLACE and not is_aside(place.parts[0]):
            (aside := made / name / place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                os.link(path, aside)
            except OSError:  # a file system without links
                shutil.copy2(path, aside)


def take_place(folder: Path) -> None:
    """Let the store that is arriving in a folder take its place; from here on it will.

    The write lock of the folder must be held: whoever waits for it finds the new store, and no write goes into the one
    that is replaced.

    Raises:
        OSError: it is whole and will take its place, but could not yet; or nothing is changed.
    """
    _note(folder / ARRIVING, WHOLE)
    _finish(folder)


def settle(folder: Path | None) -> Path | None:
    """Finish what arrives in a folder, if it is whole, remove it if nobody writes it any more, and return the folder.

    Raises:
        StoreBusy: another process is at it for too long.
        StoreUnwritable: it cannot be finished here.
    """
    if folder is None or (state := _state(made := folder / ARRIVING)) is None:
        return folder
    from filelock import Timeout

    try:
        if state == WRITING and try_lock(lock := lock_file(made / _LOCK)):
            if _state(made) == WRITING:
                _remove(made)
            lock.release()
        elif state != WRITING:
            with lock_file(folder / "write.lock").acquire(timeout=WAIT_S):
                _finish(folder)
    except Timeout:
        raise StoreBusy(f"Another process restores the memory in {str(folder)!r}. Try again.") from None
    except (OSError, NotImplementedError) as error:
        raise StoreUnwritable(
            f"A memory that was being restored to {str(folder)!r} cannot take its place ({error}). It is whole in "
            f"{str(made)!r}. Give the right to write there, or make room, and try again."
        ) from None
    return folder


def _finish(folder: Path) -> None:
    """Let what arrives take its place, if it is whole; the write lock must be held."""
    made = folder / ARRIVING
    state = _state(made)  # another process may have been sooner
    if state == WHOLE:
        with suppress(OSError):  # Windows removes no file that is open
            remove_own(folder / "holders", "holders")
        remove_own(folder, keep=lambda name: name in _OF_PLACE or is_aside(name))
        _note(made, PLACING)
    if state in (WHOLE, PLACING):
        for path in list(files_below(made)):
            place = path.relative_to(made)
            if _STATE not in place.parts[0] and place.parts[0] not in (_LOCK, *LOCKS, "holders"):  # nor half a note
                (folder / place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.replace(folder / place)
        _remove(made)


def _remove(made: Path) -> None:
    """Remove the folder of what arrives with all that is left in it, its note last."""
    for path in made.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in (_STATE, _LOCK):
            path.unlink(missing_ok=True)
    with suppress(OSError):  # Windows removes no file that is open, as this process may have it; `_tidy` does
        (made / _LOCK).unlink(missing_ok=True)
    (made / _STATE).unlink(missing_ok=True)
    with suppress(OSError):
        made.rmdir()


def _note(made: Path, state: str) -> None:
    with whole_file(made / _STATE) as file:
        file.write(json.dumps({"state": state}).encode())


def _state(made: Path) -> str | None:
    """Return how far a store is that arrives; None for none."""
    try:
        return str(json.loads((made / _STATE).read_bytes())["state"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
