"""Copies: files and folders that commands wrote for their user, and restored backups, for a forget to name.

Each is a line of ``places.jsonl`` in the store's folder, written before the copy itself, so a process that dies
meanwhile leaves nothing that nobody knows of. The list stays when another store is restored in its place; it holds no
texts, only paths.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

from mcp_memory.domain.times import Millis
from mcp_memory.storage.own_files import ensure_own, open_unlinked

COPIES = "places.jsonl"
_UNFINISHED = re.compile(r"\.(?P<name>.+)\.\w+\.part")
_log = logging.getLogger(__name__)


def note_copy(folder: Path | None, path: Path, at: Millis) -> None:
    """Note that something of the store in a folder is about to be written to a place; a failure is only logged.

    Args:
        folder: the folder of the store; None for a store on object storage, which keeps no list.
        path: the file or folder.
        at: the moment.
    """
    if folder is None or not folder.is_dir():
        return
    line = json.dumps({"kind": "copy", "path": str(path.resolve()), "at": at})
    try:
        ensure_own(folder / COPIES)
        file = open_unlinked(folder / COPIES, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(file, f"\n{line}".encode())  # the break comes first: the line before may be half a one
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        _log.warning("%s cannot be written, so a forget will not look in %s: %s", folder / COPIES, path, error)


def known_copies(folder: Path | None) -> dict[Path, Millis]:
    """Return the copies of the store in a folder, each with the last moment at which it was written."""
    return dict(one for one in _lines(folder) if one is not None)


def lost_copies(folder: Path | None) -> tuple[str, ...]:
    """Return in words that the list of the store in a folder has lines that cannot be read, if it has."""
    if folder is None or None not in _lines(folder):
        return ()
    return (
        f"{folder / COPIES} has lines that cannot be read, so a forget may miss exports and pages of this memory. Look "
        "for them yourself, then remove those lines.",
    )


def unfinished_near(path: Path) -> list[Path]:
    """Return the files and folders that an export to a path leaves beside it while it lasts, or when it is killed."""
    try:
        matches = ((one, _UNFINISHED.fullmatch(one.name)) for one in sorted(path.parent.iterdir()))
        return [one for one, found in matches if found and found["name"] == path.name and not one.is_symlink()]
    except OSError:
        return []


def _lines(folder: Path | None) -> Iterator[tuple[Path, Millis] | None]:
    """Yield the copies, and None for a line that is damaged, or half of one."""
    try:
        lines = (folder / COPIES).read_bytes().splitlines() if folder is not None else []
    except FileNotFoundError:
        return
    except OSError as error:
        _log.warning("%s cannot be read: %s", COPIES, error)
        return
    for line in filter(None, lines):
        try:
            noted = json.loads(line)
            yield Path(noted["path"]), int(noted["at"])
        except (ValueError, TypeError, KeyError):
            yield None
