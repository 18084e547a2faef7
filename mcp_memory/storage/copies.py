"""Copies: what commands wrote for their user, and restored backups, for a forget to name.

They are the user's, so a forget changes none of them: it says where what went may still be. Each is a line of
``places.jsonl`` in the store's folder, written before the copy itself, so a process that dies meanwhile leaves nothing
that nobody knows of. It holds no texts, only paths.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from mcp_memory.domain.times import Millis
from mcp_memory.storage.own_files import open_unlinked

COPIES = "places.jsonl"
_OF_OLDER_PROGRAMS = ("backups/*.backup", "forgotten/*.jsonl", "replaced-*")
"""What older programs kept in the folder of a store."""
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
    try:
        lines = (folder / COPIES).read_bytes().splitlines() if folder is not None else []
    except FileNotFoundError:
        lines = []
    except OSError as error:
        _log.warning("%s cannot be read: %s", COPIES, error)
        lines = []
    copies: dict[Path, Millis] = {}
    for line in filter(None, lines):
        with suppress(ValueError, TypeError, KeyError):  # half a line, of a process that died before it wrote the copy
            noted = json.loads(line)
            copies[Path(noted["path"])] = int(noted["at"])
    return copies


def copies_since(folder: Path | None, since: Millis) -> tuple[str, ...]:
    """Return in words where outside of a store something may still be which it has forgotten.

    Args:
        folder: the folder of the store; None on object storage, which keeps no list.
        since: when the first of it was stored; what was written before does not hold it.
    """
    left = list(_places_since(folder, since)) if folder is not None else []
    for text in left:
        _log.warning("After a forget: %s", text)
    return tuple(left)


def _places_since(folder: Path, since: Millis) -> Iterator[str]:
    for place in (one for form in _OF_OLDER_PROGRAMS for one in sorted(folder.glob(form))):
        yield f"{place}, which an older program made, may hold it; delete it."
    for path, at in known_copies(folder).items():
        if not path.parent.is_dir():
            yield f"{path} could not be reached, and may hold it. Is its disk mounted? The next forget looks again."
        for beside in unfinished_near(path):
            yield f"{beside}, left by a command that was stopped, may hold it; delete it."
        if path.exists() and at >= since:
            day = datetime.fromtimestamp(at / 1000, UTC)
            yield f"{path}, written on {day:%Y-%m-%d}, may hold it, and is yours; delete it, or write it again."


def unfinished_near(path: Path) -> list[Path]:
    """Return the files and folders that an export to a path leaves beside it while it lasts, or when it is killed."""
    try:
        matches = ((one, _UNFINISHED.fullmatch(one.name)) for one in sorted(path.parent.iterdir()))
        return [one for one, found in matches if found and found["name"] == path.name and not one.is_symlink()]
    except OSError:
        return []
