"""Places: where the program wrote something of a store outside of its folder, so that a forget can look there.

Each is a line of ``places.jsonl`` in the store's folder, written before the thing itself, so a process that dies
meanwhile leaves nothing that nobody knows of. The list goes along when the store is moved or another one is restored in
its place; it holds no texts, only paths.
"""

from __future__ import annotations

import json
import logging
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcp_memory.domain.times import Millis
from mcp_memory.storage.own_files import ensure_own, open_unlinked

PLACES = "places.jsonl"
PlaceKind = Literal["home", "copy"]
"""A folder where the store lay before, or was to be moved; and a file or folder that a command wrote for its user, or a
backup that was restored: an export, a page of the viewer."""
_UNFINISHED = re.compile(r"\.(?P<name>.+)\.\w+\.part")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A place where something of a store was written.

    Attributes:
        kind: what it is.
        path: the file or folder.
        at: when something was written there last.
    """

    kind: PlaceKind
    path: Path
    at: Millis


def note_place(folder: Path | None, kind: PlaceKind, path: Path, at: Millis) -> None:
    """Note that something of the store in a folder is about to be written to a place; a failure is only logged.

    Args:
        folder: the folder of the store; None for a store on object storage, which keeps no list.
        kind: what it is.
        path: the file or folder.
        at: the moment.
    """
    if folder is None or not folder.is_dir():
        return
    line = json.dumps({"kind": kind, "path": str(path.resolve() if kind == "copy" else path.absolute()), "at": at})
    try:
        _append(folder, f"\n{line}".encode())  # the break comes first: the line before may be half a one
    except OSError as error:
        _log.warning("%s cannot be written, so a forget will not look in %s: %s", folder / PLACES, path, error)


def known_places(folder: Path | None) -> list[KnownPlace]:
    """Return the places of the store in a folder, each once with the last moment."""
    found: dict[tuple[PlaceKind, Path], KnownPlace] = {}
    for one in map(_place, _lines(folder)):
        if one is not None:
            found[one.kind, one.path] = one
    return list(found.values())


def lost_places(folder: Path | None) -> tuple[str, ...]:
    """Return in words that the list of the store in a folder has lines that cannot be read, if it has."""
    if folder is None or None not in map(_place, _lines(folder)):
        return ()
    return (
        f"{folder / PLACES} has lines that cannot be read, so a forget may miss exports and pages of this memory. Look "
        "for them yourself, then remove those lines.",
    )


def _place(line: bytes) -> KnownPlace | None:
    with suppress(ValueError, TypeError, KeyError):  # it is damaged, or half of one
        noted = json.loads(line)
        return KnownPlace(noted["kind"], Path(noted["path"]), int(noted["at"]))
    return None


def carry_places(of: Path, to: Path) -> None:
    """Add the places of the store in one folder to those of the store in another, which takes its place.

    Raises:
        OSError: they could not be written.
    """
    if lines := _lines(of):
        _append(to, b"".join(b"\n" + line for line in lines))


def unfinished_near(path: Path) -> list[Path]:
    """Return the files and folders that an export to a path leaves beside it while it lasts, or when it is killed."""
    try:
        matches = ((one, _UNFINISHED.fullmatch(one.name)) for one in sorted(path.parent.iterdir()))
        return [one for one, found in matches if found and found["name"] == path.name and not one.is_symlink()]
    except OSError:
        return []


def _lines(folder: Path | None) -> list[bytes]:
    try:
        return [line for line in (folder / PLACES).read_bytes().splitlines() if line] if folder is not None else []
    except FileNotFoundError:
        return []
    except OSError as error:
        _log.warning("%s cannot be read: %s", PLACES, error)
        return []


def _append(folder: Path, content: bytes) -> None:
    ensure_own(folder / PLACES)
    file = open_unlinked(folder / PLACES, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, content)
        os.fsync(file)
    finally:
        os.close(file)
