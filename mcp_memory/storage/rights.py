"""Who may read and change the files of a store: their owner alone."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_IWOTH

PRIVATE = 0o077
"""The umask for new files: their owner alone may read and write them."""


def keep_private() -> None:
    """Let the files that this process makes be for their owner alone; LanceDB gives them the process's rights."""
    if os.name == "posix":
        os.umask(PRIVATE)


def open_to_others(folder: Path) -> tuple[str, ...]:
    """Return in words who but this user may change a store; nothing where nobody else may, or there is no folder."""
    try:
        found = folder.stat()
    except OSError:
        return ()
    if is_of_another(found):
        said = "belongs to another user, who can read and replace the memory. Keep it in a folder of your own."
    elif found.st_mode & S_IWOTH and os.name == "posix":
        said = "can be written to by every user of this machine, who can replace the memory: chmod o-w."
    else:
        return ()
    return (f"The store's folder {said}",)


def is_of_another(found: os.stat_result) -> bool:
    """Return whether a file belongs to another user than this one and root."""
    return os.name == "posix" and found.st_uid not in (0, os.geteuid())
