"""Let what is written again in a store have the owner and the rights that the store has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from operator import and_
from pathlib import Path
from stat import S_IMODE, S_ISDIR

from mcp_memory.storage.own_files import is_own

PRIVATE = 0o077
"""What is taken from the rights of new files, until they have those of the others."""


def keep_private() -> None:
    """Let the files that this process makes be for their owner alone; LanceDB gives them the process's rights."""
    if os.name == "posix":
        os.umask(PRIVATE)


@contextmanager
def rights_kept(folder: Path | None) -> Iterator[None]:
    """Give what the body makes in the tables of a store, or beside them, the owner of the store and its rights.

    Files have the rights that all files there have, folders those of all folders, so none is opened for anybody to
    whom another one is closed. Another owner is set where this process may.
    """
    keep_private()
    before = _states(folder) if folder is not None and os.name == "posix" and folder.is_dir() else {}
    try:
        yield
    finally:
        if folder is not None and before:
            owner = before[folder]
            known = {(path, state.st_ino) for path, state in before.items()}
            rights = [reduce(and_, _rights(folder, before, folders) or [0o700]) for folders in (False, True)]
            for path, state in _states(folder).items():
                is_folder = S_ISDIR(state.st_mode)
                if (path, state.st_ino) not in known and (
                    is_folder or is_own(path, path.relative_to(folder).as_posix())
                ):
                    with suppress(OSError):
                        if (state.st_uid, state.st_gid) != (owner.st_uid, owner.st_gid):
                            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
                        path.chmod(rights[1] | 0o700 if is_folder else rights[0] & 0o666 | 0o600)


def _rights(folder: Path, states: dict[Path, os.stat_result], folders: bool) -> list[int]:
    """Return the rights of all files of the tables, or of all folders of them."""
    return [
        S_IMODE(one.st_mode) & 0o777
        for path, one in states.items()
        if S_ISDIR(one.st_mode) is folders and folder not in (path, path.parent)
    ]


def _states(folder: Path) -> dict[Path, os.stat_result]:
    """Return the state of a store's folder, of its tables, and of its files beside them."""
    found = {folder: folder.stat()}
    for place, folders, files in os.walk(folder):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name.endswith(".lance")]
        for name in (*folders, *files):
            with suppress(OSError):  # removed meanwhile
                found[Path(place, name)] = Path(place, name).lstat()
    return found
