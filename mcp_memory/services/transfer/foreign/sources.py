"""What an import reads: one file, a folder, or a zip archive, as a list of files.

The shape of a JSON file is which names stand at its beginning. It tells what a file is, and where its records are.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput

OpenSource = Callable[[], IO[bytes]]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import.

    Attributes:
        name: below the folder or archive, with slashes.
        open: opens it, from its beginning.
        modified: when it was changed last; None if that is unknown.
    """

    name: str
    open: OpenSource
    modified: Millis | None = None

    @property
    def suffix(self) -> str:
        """The end of its name in lower case: ``.json``."""
        return Path(self.name).suffix.lower()

    @property
    def stem(self) -> str:
        """Its name without folder and suffix."""
        return Path(self.name).stem


@contextmanager
def source_files(path: Path) -> Iterator[list[SourceFile]]:
    """Yield the files at a path, by name: of a folder and of a zip archive all but hidden ones.

    Raises:
        InvalidInput: there is nothing, it cannot be read, or an archive is damaged or encrypted.
    """
    if path.is_dir():
        yield _in_folder(path)
        return
    opener = _opener(path)
    opener().close()
    if not zipfile.is_zipfile(path):
        yield [SourceFile(path.name, opener, _modified(path))]
        return
    try:
        with zipfile.ZipFile(path) as archive:
            if any(member.flag_bits & 1 for member in archive.infolist()):
                raise InvalidInput("FILE", f"{path} is encrypted", "Unpack it, and name the folder.")
            yield _in_archive(archive)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        problem = f"{path} is an archive that cannot be read ({error})"
        raise InvalidInput("FILE", problem, "Download it again, or unpack it and name the folder.") from None


def _in_folder(folder: Path) -> list[SourceFile]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in names if not name.startswith(".")]
    return [
        SourceFile(path.relative_to(folder).as_posix(), _opener(path), _modified(path))
        for path in sorted(found)
        if path.is_file()
    ]


def _opener(path: Path) -> OpenSource:
    def opened() -> IO[bytes]:
        try:
            return path.open("rb")
        except OSError as error:
            raise InvalidInput("FILE", f"{path} cannot be read ({error.strerror})", "Name a file.") from None

    return opened


def _modified(path: Path) -> Millis:
    return path.stat().st_mtime_ns // 1_000_000


def _in_archive(archive: zipfile.ZipFile) -> list[SourceFile]:
    def opener(member: zipfile.ZipInfo) -> OpenSource:
        return lambda: archive.open(member)

    members = (member for member in archive.infolist() if not member.is_dir())
    shown = (member for member in members if not any(part.startswith((".", "__MACOSX")) for part in _parts(member)))
    return sorted((SourceFile(one.filename, opener(one), _packed(one)) for one in shown), key=lambda file: file.name)


def _parts(member: zipfile.ZipInfo) -> tuple[str, ...]:
    return Path(member.filename).parts


def _packed(member: zipfile.ZipInfo) -> Millis | None:
    try:
        return int(datetime(*member.date_time, tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None


LOOKED_AT = 1 << 20
"""Bytes at the beginning of a JSON file that are looked at."""


@dataclass(frozen=True, slots=True)
class JsonKeys:
    """The names at the beginning of a JSON file.

    Attributes:
        root: the root of the object that the file is; empty if it is an array.
        first: of the first object in the file's array.
        broken: whether it is no JSON.
    """

    root: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    broken: bool = False


def keys_of(file: SourceFile) -> JsonKeys:
    """Return the names at the beginning of a JSON file; of a file that is none, none."""
    import ijson

    root: set[str] = set()
    first: set[str] = set()
    array = False
    with file.open() as stream:
        head = stream.read(LOOKED_AT).removeprefix(b"\xef\xbb\xbf")
    events: Any = ijson.sendable_list()
    parser = ijson.parse_coro(events)
    try:
        for start in range(0, len(head), 4096):
            parser.send(head[start : start + 4096])
            for prefix, event, value in events:
                if event == "start_array" and prefix == "":
                    array = True
                elif event == "map_key":
                    if prefix == "" and not array:
                        root.add(value)
                    elif prefix == "item" and array:
                        first.add(value)
                elif event == "end_map" and prefix == "item" and array:
                    return JsonKeys(frozenset(), frozenset(first))
            del events[:]
    except ijson.JSONError:
        return JsonKeys(frozenset(root), frozenset(first), broken=True)
    return JsonKeys(frozenset(root), frozenset(first))
