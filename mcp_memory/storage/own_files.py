"""Which files of a store's folder the program wrote itself: by their place in it, and by what is in them.

Only these are ever removed or written over, and a folder only when nothing is left in it. So whatever somebody else put
there stays, under whatever name. A link is never the program's own, and no link to a folder is followed.

The files of a table are known by LanceDB's layout and by their names, which are random numbers: what is in a damaged
one tells nothing any more. Every other file is known by its beginning; one with nothing in it is nobody else's.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.schema import TABLE_KINDS

FIRST = 4096
"""Bytes at the beginning of a file by which it is known."""


def _has(*marks: bytes) -> Callable[[bytes], bool]:
    """Return what knows a beginning by any of some marks: more than one, so that one damaged byte hides no file."""
    return lambda first: any(mark in first for mark in marks)


def _has_numbers(first: bytes) -> bool:
    """Return whether a file begins with vectors of length 1 and 3,072 numbers at most, of 32 bits each."""
    import numpy as np

    values = np.frombuffer(first[: len(first) // 4 * 4], dtype="<f4")[:-1]  # the last one of a small file is its sum
    return bool((np.abs(values) <= 1.01).all() and np.square(values).sum() >= 0.3)


_SPARE = r"#\d+"
"""Ending of a file of a table that no version of it needs, of a write that was killed."""
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAMES = "|".join(rf"{kind}_\d+(?:_\d+)?" for kind in TABLE_KINDS)
_TABLE = (
    rf"(?:{_NAMES})\.lance/(?:(?:data/(?:[01]{{24}}[0-9a-f]{{26}}|{_UUID})\.lance|_versions/(?:\d+\.manifest|"
    rf"latest_version_hint\.json)|_transactions/\d+-{_UUID}\.txn|_deletions/\d+-\d+-\d+\.(?:arrow|bin))"
    rf"(?:{_SPARE})?|(?:data|_\w+)/\.tmp\w+)"
)
_HEX = "[0-9a-f]{32}"
_LOG = r"journal/\d{20}|log/\d{20}/\d{20}-\d{20}"
_FORMS: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    (_TABLE, lambda _first: True),
    (_LOG, _has(b' {"tx":', b'"embedder":')),
    (r"journal/~forgetting", _has(b"1")),
    (r"forgotten\.json", _has(b'"records": ', b'"hashes"', b'"counts"')),
    (r"store\.id", lambda first: re.fullmatch(rb"[0-9a-f]{32}\n?", first) is not None),
    (r"places\.jsonl", _has(b'{"kind": "', b'"path": "')),
    (r"(?:next|write|compact|rebuild|index|view)\.lock|holders/\d+-[0-9a-f]{8}\.lock", _has()),
    (rf"view/{_HEX}\.view(?:\.\d+)?", _has(b"\x80\x05\x95", b"mcp_memory.view")),
    (rf"vectors/\d+/{_HEX}\.f32(?:\.\d+)?", _has_numbers),
)
"""Where a file may lie, as a pattern of its path in the store's folder, and what is in the first bytes of it."""
_KNOWN = tuple((re.compile(pattern), has) for pattern, has in _FORMS)
_PART = re.compile(r"(.*/)?\.([^/]+)\.\w+\.part")
"""A file that was being written (`mcp_memory.files.whole_file`), with the name of what it should become."""
_NEEDLESS = re.compile(rf".*(?:{_SPARE}|\.part)")
_FOLDERS = re.compile(rf"(?:{_NAMES})\.lance|log|journal|view|vectors|holders")
_PARTS_OF_TABLES = ("data", "_versions", "_transactions", "_deletions")


def is_own(path: Path, place: str) -> bool:
    """Return whether a file is one that the program wrote itself.

    Args:
        path: the file.
        place: its path in the folder of a store, with slashes.
    """
    if part := _PART.fullmatch(place):
        place = f"{part[1] or ''}{part[2]}"
    for known, has in _KNOWN:
        if known.fullmatch(place):
            return path.is_file() and not path.is_symlink() and (not (first := _first_bytes(path)) or has(first))
    return False


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


def needless_files(folder: Path) -> list[Path]:
    """Return those of a store's own files that processes left which were killed."""
    return [path for path in own_files(folder) if _NEEDLESS.fullmatch(path.name)]


def remove_own(folder: Path, place: str = "", keep: Callable[[str], bool] = lambda _: False) -> None:
    """Remove the program's own files in a folder and below it, and the folders in which nothing is left then.

    Args:
        folder: a store's folder, which stays, or one in it.
        place: the path of the folder in the store's, with slashes.
        keep: whether what has this name in the folder stays.

    Raises:
        OSError: some could not be removed; all others were.
    """
    failure: OSError | None = None
    emptied: set[Path] = set()
    for path in list(own_files(folder, place)):
        if keep(path.relative_to(folder).parts[0]):
            continue
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            failure = error
        emptied |= {one for one in path.parents if folder in one.parents or (one == folder and place)}
    remove_empty(emptied if emptied or not place else (folder,))
    if failure is not None:
        raise failure


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove those folders in which nothing is, and the empty folders that LanceDB made in them."""
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        inside = [folder / part for part in _PARTS_OF_TABLES] if folder.suffix == ".lance" else []
        for path in (*inside, folder):
            with suppress(OSError):  # there is something in it
                path.rmdir()


UNFINISHED_S = 3600.0
"""Age of a file from which on nobody is writing it any more."""


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


def ensure_own(path: Path, place: str = "") -> None:
    """Make sure that a file of a store's folder, if it is there, may be written over.

    Args:
        path: the file.
        place: its path in the folder of the store, with slashes; "" for its name.

    Raises:
        OSError: somebody else has written it.
    """
    if os.path.lexists(path) and not is_own(path, place or path.name):
        raise OSError(errno.EEXIST, "it is in the way: this program did not write it. Move it elsewhere", str(path))


def in_the_way(folder: Path) -> list[Path]:
    """Return what somebody else put in a store's folder under a name that the store needs itself."""
    if not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.iterdir()):
        if _FOLDERS.fullmatch(path.name):
            wrong = path.is_symlink() or not path.is_dir()
        else:
            wrong = any(known.fullmatch(path.name) for known, _ in _KNOWN) and not is_own(path, path.name)
        found += [path] if wrong else []
    return found


def others_in(folder: Path) -> list[Path]:
    """Return what in a folder, and below it, the program did not write itself, but for empty folders of its names."""
    own = set(own_files(folder))
    found = []
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        foreign = [name for name in folders if Path(parent) == folder and not _FOLDERS.fullmatch(name)]
        found += [path for name in dict.fromkeys((*names, *links, *foreign)) if (path := Path(parent, name)) not in own]
    return sorted(found)


def refuse_in_the_way(folder: Path | None, name: str = "") -> None:
    """Refuse to change a store in whose folder something else has a name that the store needs.

    Args:
        folder: the folder; None for a store that is no local folder.
        name: the only name to look for; "" for all.

    Raises:
        StoreUnwritable: something has.
    """
    if found := [one for one in in_the_way(folder) if name in ("", one.name)] if folder is not None else []:
        named = ", ".join(path.name for path in found[:3])
        raise StoreUnwritable(
            f"{str(folder)!r} holds what this program did not write, under names that it needs: {named}. Nothing was "
            "changed. Move it elsewhere and try again."
        )


_CLEANED = ("data/**/*.lance", "_transactions/**/*.txn", "_deletions/**/*.arrow", "_deletions/**/*.bin",
            "_versions/**/.tmp*", "_indices/**/*")  # fmt: skip


def refuse_in_tables(folder: Path | None, name: str = "*") -> None:
    """Refuse to clean up tables with a file that LanceDB would remove as its own, and is not.

    Args:
        folder: the folder of the store; None for a store that is no local folder.
        name: the name of the table; "*" for all.

    Raises:
        StoreUnwritable: there is one.
    """
    tables = folder.glob(f"{name}.lance") if folder is not None else ()
    for path in (one for table in tables for form in _CLEANED for one in table.glob(form) if not one.is_dir()):
        if not is_own(path, path.relative_to(folder or path).as_posix()):
            raise StoreUnwritable(
                f"{str(path)!r} lies in a table, was not written by this program, and would be removed when that is "
                "cleaned up. Nothing was changed. Move it elsewhere and try again."
            )


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb", buffering=0) as file:
            return file.read(FIRST)
    except OSError:  # not for us, then
        return b"?"
