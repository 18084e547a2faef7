"""Tell a memory that is away from one that was never there.

A folder without a store is a new place, or one whose disk is not mounted, whose sync tool moved it, which somebody
removed. Only who was there before can know. So each store has an id, made at random, in a file of its folder, and a
place that holds something is noted, with the id, beside the configuration: in ``config.places`` beside ``config.toml``.
A place that is noted and has no store now, or one with another id, is an error in words.

A place in the system's folder of temporary files is not noted, unless the configuration is there, too: what is made
there is thrown away. Where the note cannot be written, there is none. Nor is there one of object storage: it is not
mounted, and several machines may use it, of which one may remove what others have noted.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from mcp_memory.errors import StoreUnwritable
from mcp_memory.files import whole_file

STORED = ("log", "journal")
"""What the folder of every store has that was written to, one or both."""
_FORMER = ("commits.lance", "memory.log")
"""What the folder of a store of an older program has, one of them."""
ID_FILE = "store.id"
FOLDERS = ("/tmp", "/var/tmp")
"""Of temporary files, beside those that the environment names."""
_log = logging.getLogger(__name__)


class PlaceNote:
    """The note of one place.

    Args:
        uri: the place, as it is configured.
        notes: the folder of all notes; "" for none.

    Attributes:
        file: the file of the note; None where no note is kept.
    """

    def __init__(self, uri: str, notes: str) -> None:
        self.file: Path | None = None
        self._place = local_folder(uri)
        self._kept = False
        if notes and self._place is not None and (not _is_temporary(self._place) or _is_temporary(Path(notes))):
            self.file = Path(notes) / f"{sha256(os.fsencode(self._place)).hexdigest()[:16]}.json"

    @property
    def id(self) -> str | None:
        """The id of the store that the place held; None where it is not noted."""
        try:
            noted = json.loads(self.file.read_text("utf-8")) if self.file is not None else None
            return str(noted["id"]) if isinstance(noted, Mapping) else None
        except (OSError, ValueError, KeyError):
            return None

    def check(self, folder: Path | None) -> None:
        """Make sure that the place holds the memory that it held.

        Args:
            folder: of the place.

        Raises:
            StoreUnwritable: it holds none, or another one, which nobody may take for the memory.
        """
        self._kept = False
        if folder is None or (expected := self.id) is None:
            return
        found = id_of(folder)
        if found == expected or (found is None and any(os.path.lexists(folder / name) for name in STORED)):
            return
        now = "none is there now" if found is None else "another one is there now"
        raise StoreUnwritable(
            f"{str(folder)!r} held a memory, and {now}. Nothing was changed. Is its disk mounted? If the memory is "
            "elsewhere by now, set storage.uri (MCP_MEMORY_STORAGE_URI) to that folder; if it is lost, restore a "
            "backup into an empty folder: mcp-memory restore FILE. To use what is there now, or to begin a new memory "
            f"there, remove the note {str(self.file)!r}."
        )

    def keep(self, folder: Path | None) -> None:
        """Give the store an id, if it has none, and note it, once; a failure is only logged."""
        if self._kept or folder is None:
            return
        self._kept = True
        expected = self.id
        try:
            own = id_of(folder) or _give_id(folder, expected or secrets.token_hex(16))
            if self.file is not None and expected != own:
                self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with whole_file(self.file) as note:
                    note.write(json.dumps({"place": str(self._place), "id": own}).encode())
        except OSError as error:
            _log.info("%s is not noted: %s", folder, error)


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
    return any((folder / name).exists() for name in _FORMER) and not any((folder / name).exists() for name in STORED)


def id_of(folder: Path) -> str | None:
    """Return the id of the store in a folder; None if it has none, or a damaged one."""
    try:
        found = (folder / ID_FILE).read_text("ascii").strip()
        return found if re.fullmatch("[0-9a-f]{32}", found) else None
    except (OSError, ValueError):
        return None


def _give_id(folder: Path, own: str) -> str:
    """Write the id of a store, and return the one that it has then: another process may have been sooner."""
    with suppress(FileExistsError):
        file = os.open(folder / ID_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="ascii", newline="") as out:
            out.write(f"{own}\n")
    return id_of(folder) or own


def _is_temporary(path: Path) -> bool:
    """Return whether a path lies in a folder of the system for temporary files."""
    folders = (*FOLDERS, *(os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")))
    real = Path(os.path.realpath(path))
    return any(folder and Path(os.path.realpath(folder)) in (real, *real.parents) for folder in folders)
