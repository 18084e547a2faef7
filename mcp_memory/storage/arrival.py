"""Let a whole store take its place in a folder, in a step that nothing can cut in two: for a restore and for a move.

It is written into ``arriving`` in the folder, beside what is there, with a note of how far it is (`_STATE`). Once that
note says that it is whole, the former store's own files are removed and the new ones renamed into their place, by this
process or, if it dies, by the next one that opens the place (`settle`). What was not whole yet is removed instead, so
there is always one store: the former one before the note is written over, the new one after.

A move is whole when its old place says where the memory is now. What is left there is removed at the end.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mcp_memory.errors import StoreBusy, StoreUnwritable
from mcp_memory.files import whole_file
from mcp_memory.storage.data_files import ARRIVING, MOVED, STORED, files_below
from mcp_memory.storage.lock import lock_file, try_lock
from mcp_memory.storage.noted import ID_FILE
from mcp_memory.storage.own_files import own_files, remove_own
from mcp_memory.storage.rights import is_loose, is_of_another

WRITING, WHOLE, PLACING = "writing", "whole", "placing"
WAIT_S = 30.0
"""How long to wait for another process that lets a store take its place."""
_STATE, _LOCK = "arriving.json", "arriving.lock"
_LOCKS = ("next.lock", "write.lock", "compact.lock", "rebuild.lock", "index.lock", "view.lock", "holders")
"""What stays at a place whoever's store is there; but for the last: who has opened what is gone then sees that."""
_STAYS = (ARRIVING, ID_FILE, "backups", "forgotten", *_LOCKS)
"""What of a store stays when another one takes its place."""


@contextmanager
def arriving(folder: Path, source: Path | None = None) -> Iterator[Path]:
    """Yield a new folder in that of a store; what is in it takes its place by `take_place`, or goes.

    Args:
        folder: of the store; it is made if there is none.
        source: of a move: the old place, whose note says when the store is whole.

    Raises:
        StoreBusy: another process does the same.
        StoreUnwritable: it cannot be made, or something else is called like that.
    """
    made, new = folder / ARRIVING, not folder.exists()
    lock = lock_file(made / _LOCK)
    try:
        if new:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        settle(folder)
        if made.exists() and any(not path.name.startswith((_LOCK, f".{_STATE}.")) for path in made.iterdir()):
            raise StoreBusy(
                f"{str(made)!r} is in the way, or another process restores or moves a memory there. Nothing was "
                "changed. Wait for it, or move that folder elsewhere, and try again."
            )
        made.mkdir(mode=0o700, exist_ok=True)
        lock.acquire()
        _note(made, WRITING, source)
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
        if new and not any((folder / name).exists() for name in STORED):
            for name in ("next.lock", "write.lock"):
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()


def take_place(folder: Path, source: Path | None = None) -> None:
    """Let the store that is arriving in a folder take its place; from here on it will.

    The write lock of the folder must be held: whoever waits for it finds the new store, and no write goes into the one
    that is replaced.

    Args:
        folder: of the store.
        source: of a move: the old place, which leads here from now on.

    Raises:
        OSError: it is whole and will take its place, but could not yet; or nothing is changed.
    """
    if source is not None:
        leave(source, folder)
    else:
        _note(folder / ARRIVING, WHOLE, None)
    _finish(folder, folder / ARRIVING)


def settled(folder: Path | None) -> Path | None:
    """Return where the store of a folder is now, after finishing what a process that died had begun.

    Raises:
        StoreBusy: another process is at it for too long.
        StoreUnwritable: it cannot be finished here; or the store was moved, and is not where it was moved to: its disk
            is not mounted, perhaps. Nobody may take what is there, or what would be made there, for the memory.
    """
    if folder is None:
        return None
    for place in (folder, *[to for _, to in notes_from(folder)]):
        settle(place)
    now = next(reversed([to for _, to in notes_from(folder)]), folder)
    if now != folder and not any((now / name).exists() for name in STORED):
        raise StoreUnwritable(
            f"the memory was moved to {str(now)!r}, which is not there; is the disk mounted? Nothing was changed. If "
            "it is elsewhere by now, set storage.uri (MCP_MEMORY_STORAGE_URI) to that folder; if it is lost, remove "
            f"{str(folder / MOVED)!r} and restore a backup."
        )
    return now


def notes_from(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each folder that a note leads away from, beginning with one, and where the note leads.

    A store that is moved back to where it was takes the note there away last.

    Raises:
        StoreUnwritable: a note is damaged, or may be somebody else's.
    """
    seen: list[Path] = []
    while folder not in seen:
        seen.append(folder)
        if (to := _moved_to(folder / MOVED)) is None:
            return
        if to in seen and (folder / ARRIVING).exists():
            return
        yield folder, to
        folder = to


def _moved_to(note: Path) -> Path | None:
    """Return the folder to which a note says that a store was moved; None if there is no note.

    Raises:
        StoreUnwritable: the note is damaged, or somebody else may have written it, to be handed the memory.
    """
    try:
        leads_to = json.loads(note.read_text("utf-8"))["to"]
        folder, found = Path(leads_to), note.lstat()
    except OSError:
        return None
    except (ValueError, TypeError, KeyError):
        raise StoreUnwritable(
            f"the memory was moved away from {str(note.parent)!r}, and the note that says where to ({note.name}) is "
            "damaged. Nothing was changed. Set storage.uri (MCP_MEMORY_STORAGE_URI) to the folder where it is now; if "
            "it was never moved, that file is somebody else's: move it elsewhere."
        ) from None
    if os.name == "posix" and (is_of_another(found) or is_loose(found) or not stat.S_ISREG(found.st_mode)):
        raise StoreUnwritable(
            f"{str(note)!r} says that the memory was moved to {str(leads_to)[:300]!r}, but others may have written "
            "that file. Nothing was read or written there. If you moved the memory, set storage.uri "
            "(MCP_MEMORY_STORAGE_URI) to that folder; if not, remove the file."
        )
    return folder


def leave(folder: Path, to: Path) -> None:
    """Leave a note in a folder that leads to the new place of its store; from here on the store is there."""
    with whole_file(folder / MOVED) as file:
        file.write(json.dumps({"to": str(to)}).encode())


def settle(folder: Path) -> None:
    """Finish what arrives in a folder, if it is whole, and remove it if nobody writes it any more.

    Raises:
        StoreBusy: another process is at it for too long.
        StoreUnwritable: it cannot be finished here.
    """
    made = folder / ARRIVING
    if (state := _state(made, folder)) is None:
        return
    from filelock import Timeout

    try:
        if state == WRITING:
            if not try_lock(lock := lock_file(made / _LOCK)):
                return
            if (state := _state(made, folder)) == WRITING:
                _remove(made)
            lock.release()
        if state == WRITING:
            return
        with lock_file(folder / "write.lock").acquire(timeout=WAIT_S):
            _finish(folder, made)
    except Timeout:
        raise StoreBusy(f"Another process restores the memory in {str(folder)!r}. Try again.") from None
    except (OSError, NotImplementedError) as error:
        raise StoreUnwritable(
            f"A memory that was being restored or moved to {str(folder)!r} cannot take its place ({error}). It is "
            f"whole in {str(made)!r}. Give the right to write there, or make room, and try again."
        ) from None


def set_aside(folder: Path, made: Path, name: str) -> None:
    """Put the files of a store that cannot be read into a folder of the one that arrives, without moving them."""
    for path in list(own_files(folder)):
        place = path.relative_to(folder)
        if place.parts[0] not in _STAYS:
            (aside := made / name / place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                os.link(path, aside)
            except OSError:  # a file system without links
                shutil.copy2(path, aside)


def _finish(folder: Path, made: Path) -> None:
    """Let what arrives take its place, if it is whole; the write lock must be held."""
    state = _state(made, folder)  # another process may have been sooner
    if state not in (WHOLE, PLACING):
        return
    source = _source(made)
    if state == WHOLE:
        with suppress(OSError):  # Windows removes no file that is open
            remove_own(folder / "holders", "holders")  # who has opened the former store meanwhile sees that it is gone
        remove_own(folder, keep=_STAYS)
        _note(made, PLACING, source)
    for path in list(files_below(made)):
        place = path.relative_to(made)
        if _STATE not in place.parts[0] and place.parts[0] not in (_LOCK, *_LOCKS):  # nor half a note
            (folder / place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.replace(folder / place)
    if source is not None and _leads(source, folder):
        with suppress(OSError):  # its disk is away; a note is all that is read there
            remove_own(source, keep=(MOVED, *_LOCKS[:-1]))
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


def _note(made: Path, state: str, source: Path | None) -> None:
    with whole_file(made / _STATE) as file:
        file.write(json.dumps({"state": state, "from": str(source or "")}).encode())


def _state(made: Path, folder: Path) -> str | None:
    """Return how far a store is that arrives; None for none.

    Raises:
        StoreUnwritable: it comes from a place that is not there, so nobody knows.
    """
    try:
        state = str(json.loads((made / _STATE).read_bytes())["state"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if state != WRITING or (source := _source(made)) is None:
        return state
    if (leads := _leads(source, folder)) is None and not any((source / name).exists() for name in STORED):
        raise StoreUnwritable(
            f"A memory was being moved to {str(folder)!r} from {str(source)!r}, which is not there; is its disk "
            f"mounted? Nothing was changed. If that place is lost, remove {str(made)!r} and restore a backup."
        )
    return WHOLE if leads else WRITING


def _source(made: Path) -> Path | None:
    """Return the old place of a store that arrives, for a move."""
    try:
        named = json.loads((made / _STATE).read_bytes())["from"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return Path(named) if named else None


def _leads(source: Path, folder: Path) -> bool | None:
    """Return whether the note of an old place leads to a folder; None where there is no note."""
    for _, to in notes_from(source):
        return to.exists() and to.samefile(folder)
    return None
