"""Which files of a store's folder are the program's own, by their names: only these are removed.

So whatever else somebody put there stays. A link is never the program's own, and no link to a folder is followed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mcp_memory.storage.schema import TABLE_KINDS

_SPARE = r"#\d+"
"""Ending of a file of a table that no version of it needs, of a write that was killed."""
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAMES = "|".join(rf"{kind}_\d+(?:_\d+)?" for kind in TABLE_KINDS)
_TABLE = (
    rf"(?:{_NAMES})\.lance/(?:(?:data/(?:[01]{{24}}[0-9a-f]{{26}}|{_UUID})\.lance|_versions/(?:\d+\.manifest|"
    rf"latest_version_hint\.json)|_transactions/\d+-{_UUID}\.txn|_deletions/\d+-\d+-\d+\.(?:arrow|bin))"
    rf"(?:{_SPARE})?|(?:data|_\w+)/\.tmp\w+)"
)
"""A file of a table, as LanceDB lays it out."""
_LOG = r"journal/\d{20}|log/\d{20}/\d{20}-\d{20}"
_HEX = "[0-9a-f]{32}"
_OWN = re.compile(
    rf"{_TABLE}|{_LOG}|journal/~\w+|forgotten\.json|store\.id|places\.jsonl|"
    r"(?:next|write|compact|rebuild|index|view)\.lock|holders/\d+-[0-9a-f]{8}\.lock|"
    rf"view/{_HEX}\.view(?:\.\d+)?|vectors/\d+/{_HEX}\.f32(?:\.\d+)?"
)
_PART = re.compile(r"(.*/)?\.([^/]+)\.\w+\.part")
"""A file that was being written (`mcp_memory.files.whole_file`), with the name of what it should become."""
_NEEDLESS = re.compile(rf".*(?:{_SPARE}|\.part)")
_PARTS_OF_TABLES = ("data", "_versions", "_transactions", "_deletions")
UNFINISHED_S = 3600.0
"""Age of a file from which on nobody is writing it any more."""


def is_own(path: Path, place: str) -> bool:
    """Return whether a file is one that the program wrote itself.

    Args:
        path: the file.
        place: its path in the folder of a store, with slashes.
    """
    if part := _PART.fullmatch(place):
        place = f"{part[1] or ''}{part[2]}"
    return _OWN.fullmatch(place) is not None and path.is_file() and not path.is_symlink()


def is_of_table(place: str) -> bool:
    """Return whether a path in a store's folder is that of a file of a table."""
    return re.fullmatch(_TABLE, place) is not None


def is_of_log(place: str) -> bool:
    """Return whether a path in a store's folder is that of a file of the log."""
    return re.fullmatch(_LOG, place) is not None


def own_files(folder: Path, place: str = "") -> Iterator[Path]:
    """Return the program's own files in a folder and below it, but for what another process removes meanwhile.

    Args:
        folder: a store's folder, or one in it.
        place: the path of the folder in the store's, with slashes.
    """
    if not folder.is_symlink() or not place:
        for parent, _, names in os.walk(folder):
            inside = Path(place, os.path.relpath(parent, folder))
            for name in sorted(names):
                if is_own(path := Path(parent, name), (inside / name).as_posix()):
                    yield path


def others_in(folder: Path) -> list[Path]:
    """Return the files and links in a folder, and below it, that are not the program's own."""
    own = set(own_files(folder))
    return sorted(one for one in folder.rglob("*") if one not in own and (one.is_symlink() or not one.is_dir()))


def needless_files(folder: Path) -> list[Path]:
    """Return those of a store's own files that processes left which were killed."""
    return [path for path in own_files(folder) if _NEEDLESS.fullmatch(path.name)]


def remove_own(folder: Path, place: str = "") -> None:
    """Remove the program's own files in a folder and below it, and the folders in which nothing is left then.

    Args:
        folder: a store's folder, which stays, or one in it.
        place: the path of the folder in the store's, with slashes.

    Raises:
        OSError: some could not be removed; all others were.
    """
    failure: OSError | None = None
    emptied = {folder} if place else set[Path]()
    for path in list(own_files(folder, place)):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            failure = error
        emptied |= {one for one in path.parents if folder in one.parents}
    remove_empty(emptied)
    if failure is not None:
        raise failure


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove those folders in which nothing is, and the empty folders that LanceDB made in them."""
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        inside = [folder / part for part in _PARTS_OF_TABLES] if folder.suffix == ".lance" else []
        for path in (*inside, folder):
            with suppress(OSError):  # there is something in it
                path.rmdir()


def remove_unfinished(folder: Path) -> None:
    """Remove what processes were writing into a store's folder when they died (`mcp_memory.files.whole_file`)."""
    for inside in ("", "journal", "log/*"):
        for path in folder.glob(f"{inside}/.*.part".lstrip("/")):
            with suppress(OSError):  # another process was sooner
                old = time.time() - path.lstat().st_mtime > UNFINISHED_S
                if old and is_own(path, path.relative_to(folder).as_posix()):
                    path.unlink()


def open_unlinked(path: Path, flags: int) -> int:
    """Open a file of the store's own for bytes, without following a link in its place; return its descriptor."""
    return os.open(path, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0), 0o600)
