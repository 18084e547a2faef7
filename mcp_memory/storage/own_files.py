"""The files of a store's folder: which are the program's own, and who may read and change them.

Only what is its own, by its name, is backed up or removed, so whatever else somebody put beside it stays. A link is
never the program's own, and none is followed. What it writes is for its owner alone.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_IWOTH

from mcp_memory.files import files_below
from mcp_memory.storage.rows import TABLE_KINDS

LOCK_FILES = tuple(f"{name}.lock" for name in ("next", "write", "compact", "rebuild", "index", "enrich", "view"))
"""The files of all locks in a store's folder."""
_SPARE = r"#\d+"
"""Ending of a file of a table that no version of it needs, of a write that was killed."""
_NAME = rf"(?:{'|'.join(TABLE_KINDS)})_\d+(?:_\d+)?\.lance"
_TABLE = re.compile(rf"{_NAME}/(?:data|_versions|_transactions|_deletions)/(?:\.tmp)?\w[\w.#-]{{0,250}}")
"""A file of a table, in one of the folders in which LanceDB lays them out."""
_LOG = re.compile(r"journal/\d{20}|log/\d{20}/\d{20}-\d{20}")
_OWN = re.compile(
    rf"{_NAME}|journal|log|view|holders|\.?forgotten\.json(?:\.\w+\.part)?|{'|'.join(map(re.escape, LOCK_FILES))}"
)
"""What lies in the folder itself: files, and folders with all that is in them."""
_NEEDLESS = re.compile(rf".*(?:{_SPARE}|\.part)")
UNFINISHED_S = 3600.0
"""Age of a file from which on nobody is writing it any more."""


_STORED = ("log", "journal")
"""What the folder of every store has that was written to, one or both."""


def holds_store(folder: Path) -> bool:
    """Return whether a store was written to in a folder."""
    return any(os.path.lexists(folder / name) for name in _STORED)


def is_of_table(place: str) -> bool:
    """Return whether a path in a store's folder is that of a file of a table."""
    return _TABLE.fullmatch(place) is not None


def is_of_log(place: str) -> bool:
    """Return whether a path in a store's folder is that of a file of the log."""
    return _LOG.fullmatch(place) is not None


def own_files(folder: Path) -> Iterator[Path]:
    """Yield the program's own files in a store's folder, but for what another process removes meanwhile."""
    for path in _own(folder):
        inside = files_below(path) if path.is_dir() else iter([path])
        yield from (one for one in inside if not one.is_symlink())


def others_in(folder: Path) -> list[Path]:
    """Return the files and links in a store's folder, and below it, that are not the program's own."""
    own = set(_own(folder))
    others = [path for path in folder.glob("*") if path not in own]
    below = (one for path in others for one in (files_below(path) if _is_folder(path) else [path]))
    return sorted(below)


def needless_files(folder: Path) -> list[Path]:
    """Return the files of a store that killed processes left behind."""
    return [path for path in own_files(folder) if _NEEDLESS.fullmatch(path.name)]


def remove_folder(path: Path) -> None:
    """Remove a folder of the program with what is in it; a link in its place stays.

    Raises:
        OSError: something in it could not be removed.
    """
    if _is_folder(path):
        shutil.rmtree(path)


def remove_unfinished(folder: Path) -> None:
    """Remove what processes were writing into a store's folder when they died (`mcp_memory.files.whole_file`)."""
    for path in needless_files(folder):
        with suppress(OSError):  # another process was sooner
            if path.suffix == ".part" and time.time() - path.lstat().st_mtime > UNFINISHED_S:
                path.unlink()


def keep_private() -> None:
    """Let the files that this process makes be for their owner alone; LanceDB gives them the process's rights."""
    if os.name == "posix":
        os.umask(0o077)


def open_to_others(folder: Path) -> tuple[str, ...]:
    """Return in words who but this user may change a store; nothing where nobody else may, or there is no folder."""
    try:
        found = folder.stat()
    except OSError:
        return ()
    if os.name == "posix" and found.st_uid not in (0, os.geteuid()):
        said = "belongs to another user, who can read and replace the memory. Keep it in a folder of your own."
    elif found.st_mode & S_IWOTH and os.name == "posix":
        said = "can be written to by every user of this machine, who can replace the memory: chmod o-w."
    else:
        return ()
    return (f"The store's folder {said}",)


def _own(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*")) if _OWN.fullmatch(path.name) and not path.is_symlink()]


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
