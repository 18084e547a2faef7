"""Whether somebody else on this machine could have written a file, or could change what is in a folder."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from mcp_memory.errors import StoreUnwritable


def open_to_others(folder: Path) -> tuple[str, ...]:
    """Return in words who but this user may change a store; nothing where nobody else may, or there is no folder."""
    try:
        found = folder.stat()
    except OSError:
        return ()
    said = []
    if _of_another(found):
        said.append("belongs to another user, who can read and replace the memory. Keep it in a folder of your own.")
    elif found.st_mode & stat.S_IWOTH and os.name == "posix":
        said.append("can be written to by every user of this machine, who can replace the memory: chmod o-w.")
    return tuple(f"The store's folder {one}" for one in said)


def read_note(note: Path) -> Path | None:
    """Return the folder to which a store was moved, as a note says; None if there is no note.

    Raises:
        StoreUnwritable: the note is damaged, or somebody else may have written it.
    """
    try:
        leads_to = json.loads(note.read_text("utf-8"))["to"]
        folder = Path(leads_to)
    except OSError:
        return None
    except (ValueError, TypeError, KeyError):
        raise StoreUnwritable(
            f"the memory was moved away from {str(note.parent)!r}, and the note that says where to ({note.name}) is "
            "damaged. Nothing was changed. Set storage.uri (MCP_MEMORY_STORAGE_URI) to the folder where it is now; if "
            "it was never moved, that file is somebody else's: move it elsewhere."
        ) from None
    _check_note(note, leads_to)
    return folder


def _check_note(note: Path, leads_to: object) -> None:
    """Check that a note by which a store is found was written by this user or root, and can be changed by nobody else.

    Args:
        note: the file.
        leads_to: the place that it names.

    Raises:
        StoreUnwritable: somebody else may have written it, to be handed the memory.
    """
    found = note.lstat()
    if os.name == "posix" and (_of_another(found) or _loose(found) or not stat.S_ISREG(found.st_mode)):
        raise StoreUnwritable(
            f"{str(note)!r} says that the memory was moved to {str(leads_to)[:300]!r}, but others may have written "
            "that file. Nothing was read or written there. If you moved the memory, set storage.uri "
            "(MCP_MEMORY_STORAGE_URI) to that folder; if not, remove the file."
        )


def _loose(found: os.stat_result) -> bool:
    """Return whether others may write; a user's own group has no other members where it may write by default."""
    by_group = found.st_mode & stat.S_IWGRP and found.st_gid != os.getegid()
    return bool(found.st_mode & stat.S_IWOTH or by_group)


def _of_another(found: os.stat_result) -> bool:
    return os.name == "posix" and found.st_uid not in (os.geteuid(), 0)
