"""Where a store is: a folder of this machine, or objects under a URI, with the options to reach them.

**A memory that is away** is told from one that was never there: a disk is not mounted, a sync tool moved it. So a place
that holds something is noted beside the configuration (``config.places``), and one that is noted and has no store now
is an error in words. Not noted is a place in the system's folder of temporary files, unless the configuration is there,
too, nor object storage: several machines may use it, of which one may remove what others have noted.

**The files of a folder.** Only what is the program's own, by its name, is backed up or removed, so whatever else
somebody put beside it stays. A link is never its own, and none is followed. What it writes is for its owner alone.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from stat import S_IWOTH
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp_memory.errors import StoreMismatch, StoreUnwritable
from mcp_memory.files import files_below, whole_file
from mcp_memory.storage.log import Log
from mcp_memory.storage.objects import KEEPS_VERSIONS, Bucket, Folder, Objects, storage_options
from mcp_memory.storage.rows import TABLE_KINDS, older_format

if TYPE_CHECKING:
    from mcp_memory.storage.lock import BucketLock

_FORMER = ("commits.lance", "memory.log")
"""What the folder of a store of an older program has, one of them."""
FOLDERS = ("/tmp", "/var/tmp")
"""Of temporary files, beside those that the environment names."""
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
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """Where a store is.

    Attributes:
        uri: a folder, or any URI that LanceDB opens.
        text: ``storage.options``.
        noted_in: the folder of the notes of places; "" for none.
    """

    uri: str
    text: str = ""
    noted_in: str = ""

    @cached_property
    def folder(self) -> Path | None:
        """The folder of the store; None for a store that is no local folder.

        Raises:
            StoreUnwritable: the memory is not where it was.
            StoreMismatch: it is that of an older program.
        """
        folder = local_folder(self.uri)
        self.check_noted()
        if folder is not None and any((folder / name).exists() for name in _FORMER) and not holds_store(folder):
            raise StoreMismatch(older_format(str(folder)))
        return folder

    @cached_property
    def note(self) -> Path | None:
        """The file of the note that this place holds a store; None where none is kept."""
        folder, notes = local_folder(self.uri), self.noted_in
        if not notes or folder is None or (_is_temporary(folder) and not _is_temporary(Path(notes))):
            return None
        return Path(notes) / f"{sha256(os.fsencode(folder)).hexdigest()[:16]}.json"

    def check_noted(self) -> None:
        """Make sure that the place holds a memory, if it held one.

        Raises:
            StoreUnwritable: it holds none.
        """
        folder = local_folder(self.uri)
        if folder is None or self.note is None or not self.note.exists() or holds_store(folder):
            return
        raise StoreUnwritable(
            f"{str(folder)!r} held a memory, and none is there now. Nothing was changed. Is its disk mounted? If the "
            "memory is elsewhere by now, set storage.uri (MCP_MEMORY_STORAGE_URI) to that folder; if it is lost, "
            "restore a backup: mcp-memory restore FILE. To begin a new memory there, remove the note "
            f"{str(self.note)!r}."
        )

    def keep_note(self) -> None:
        """Note that the place holds a store, if that is not noted; a failure is only logged."""
        if self.note is None or self.note.exists():
            return
        try:
            self.note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with whole_file(self.note) as note:
                note.write(json.dumps({"place": str(local_folder(self.uri))}).encode())
        except OSError as error:
            _log.info("%s is not noted: %s", self.uri, error)

    @cached_property
    def options(self) -> Mapping[str, str]:
        """The options of an object store."""
        return storage_options(self.text)

    @cached_property
    def bucket(self) -> Bucket:
        """The objects of a store on object storage; nothing is asked of them yet."""
        return Bucket(self.uri, dict(self.options))

    @cached_property
    def keeps_versions(self) -> bool:
        """Whether the object store keeps earlier versions of objects, by a few requests at the first write.

        Raises:
            StoreUnwritable: it cannot be written to, or not by several writers.
        """
        return self.bucket.probe()

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known of the place, in words.

        Raises:
            StoreUnwritable: see `keeps_versions`.
        """
        if self.folder is not None:
            return open_to_others(self.folder)
        return (KEEPS_VERSIONS,) if self.keeps_versions else ()

    @cached_property
    def objects(self) -> Objects:
        """The objects of the store: of its log, and the book of what was forgotten."""
        return Folder(self.folder) if self.folder is not None else self.bucket

    @cached_property
    def log(self) -> Log:
        """The log of the store."""
        return Log(self.objects)

    @cached_property
    def locks(self) -> dict[str, BucketLock]:
        """The locks of a store on object storage by name: each remembers since when another holder gave no sign."""
        return {}


def local_folder(uri: str) -> Path | None:
    """Return the folder that a uri names, or None if it names no local one; of a link to a folder, the folder.

    So a store is replaced, and forgotten in, where it is, not where a link leads there.
    """
    if uri.startswith("file:"):
        from urllib.request import url2pathname

        return Path(url2pathname(urlsplit(uri).path))
    if "://" in uri:
        return None
    path = Path(uri).expanduser().absolute()
    return path.resolve() if path.is_symlink() else path


def _is_temporary(path: Path) -> bool:
    """Return whether a path lies in a folder of the system for temporary files."""
    folders = (*FOLDERS, *(os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")))
    real = Path(os.path.realpath(path))
    return any(folder and Path(os.path.realpath(folder)) in (real, *real.parents) for folder in folders)


# The files of a folder


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
