"""Tell a memory that is away from one that was never there.

A folder without a store is a new place, or one whose disk is not mounted, whose sync tool moved it, which somebody
removed. Only who was there before can know. So a place that holds something is noted beside the configuration: in
``config.places`` beside ``config.toml``. A place that is noted and has no store now is an error in words.

A place in the system's folder of temporary files is not noted, unless the configuration is there, too: what is made
there is thrown away. Where the note cannot be written, there is none. Nor is there one of object storage: it is not
mounted, and several machines may use it, of which one may remove what others have noted.
"""

from __future__ import annotations

import json
import logging
import os
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from mcp_memory.errors import StoreUnwritable
from mcp_memory.files import whole_file

STORED = ("log", "journal")
"""What the folder of every store has that was written to, one or both."""
_FORMER = ("commits.lance", "memory.log")
"""What the folder of a store of an older program has, one of them."""
FOLDERS = ("/tmp", "/var/tmp")
"""Of temporary files, beside those that the environment names."""
_log = logging.getLogger(__name__)


class PlaceNote:
    """The note of one place.

    Attributes:
        file: the file of the note; None where no note is kept.
    """

    def __init__(self, uri: str, notes: str) -> None:
        self.file: Path | None = None
        self._place = local_folder(uri)
        if notes and self._place is not None and (not _is_temporary(self._place) or _is_temporary(Path(notes))):
            self.file = Path(notes) / f"{sha256(os.fsencode(self._place)).hexdigest()[:16]}.json"

    def check(self, folder: Path | None) -> None:
        """Make sure that the place holds a memory, if it held one.

        Raises:
            StoreUnwritable: it holds none.
        """
        if folder is None or self.file is None or not self.file.exists() or holds_store(folder):
            return
        raise StoreUnwritable(
            f"{str(folder)!r} held a memory, and none is there now. Nothing was changed. Is its disk mounted? If the "
            "memory is elsewhere by now, set storage.uri (MCP_MEMORY_STORAGE_URI) to that folder; if it is lost, "
            "restore a backup: mcp-memory restore FILE. To begin a new memory there, remove the note "
            f"{str(self.file)!r}."
        )

    def keep(self, folder: Path | None) -> None:
        """Note that the place holds a store, if that is not noted; a failure is only logged."""
        if folder is None or self.file is None or self.file.exists():
            return
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with whole_file(self.file) as note:
                note.write(json.dumps({"place": str(self._place)}).encode())
        except OSError as error:
            _log.info("%s is not noted: %s", folder, error)


def holds_store(folder: Path) -> bool:
    """Return whether a store was written to in a folder."""
    return any(os.path.lexists(folder / name) for name in STORED)


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


def is_of_older_program(folder: Path) -> bool:
    """Return whether a memory lies in a folder that an older program wrote, with another format."""
    return any((folder / name).exists() for name in _FORMER) and not holds_store(folder)


def _is_temporary(path: Path) -> bool:
    """Return whether a path lies in a folder of the system for temporary files."""
    folders = (*FOLDERS, *(os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")))
    real = Path(os.path.realpath(path))
    return any(folder and Path(os.path.realpath(folder)) in (real, *real.parents) for folder in folders)
