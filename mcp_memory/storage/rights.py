"""Who may read and change the files of a store: their owner alone, unless the owner has allowed more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE, S_IWOTH

from mcp_memory.storage.own_files import own_files

PRIVATE = 0o077
"""The umask for new files: their owner alone may read and write them."""


def keep_private() -> None:
    """Let the files that this process makes be for their owner alone; LanceDB gives them the process's rights."""
    if os.name == "posix":
        os.umask(PRIVATE)


@contextmanager
def rights_kept(folder: Path | None) -> Iterator[None]:
    """Give the files of a store the owner and the rights of the folder of its log, also those that the body makes.

    So a store stays that of its user when root repairs it, and that of a group when one of the group does. Another
    owner is set where this process may.
    """
    keep_private()
    state = None
    if folder is not None and os.name == "posix":
        with suppress(OSError):
            state = (folder / "journal").stat()
    try:
        yield
    finally:
        if folder is not None and state is not None:
            files = {*own_files(folder)}
            inside = {above for file in files for above in file.parents if folder in above.parents}
            for path in (*files, *inside):
                with suppress(OSError):  # removed meanwhile, or another user's
                    found, rights = path.lstat(), S_IMODE(state.st_mode) & 0o666
                    rights |= 0 if path in files else (rights & 0o444) >> 2  # to enter a folder
                    if (found.st_uid, found.st_gid) != (state.st_uid, state.st_gid):
                        os.chown(path, state.st_uid, state.st_gid, follow_symlinks=False)
                    if S_IMODE(found.st_mode) != rights:
                        path.chmod(rights)


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
