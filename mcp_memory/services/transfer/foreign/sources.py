"""What an import reads: one file, a folder, or a zip archive, as a list of files."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO

from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput

OpenSource = Callable[[], IO[bytes]]
DENSEST, UNPACKED = 100, 16 << 20
"""Bytes that a byte of an archive may unpack to, beside so many; exports of text have 5 to 20."""
NOTES = (".md", ".markdown", ".txt")
"""Ends of the names of notes."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError)
_REMEDY = "Download it again; if you trust it, unpack it, and name the folder. Nothing was stored."


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import.

    Attributes:
        name: below the folder or archive, with slashes.
        folder: the name of that folder or archive, which tells equal names below two of them apart.
        open: opens it, from its beginning.
        modified: when it was changed last; None if that is unknown.
        unread: why it is not to be read, in words after its name: "is encrypted"; empty for a file that is.
    """

    name: str
    folder: str
    open: OpenSource
    modified: Millis | None = None
    unread: str = ""

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

    Archives in a folder are opened, too: an export may be a folder of them. One that is cut short or encrypted is a
    file that is not to be read, beside the others.

    Raises:
        InvalidInput: there is nothing, nothing of it can be read, or what is read of an archive is damaged.
    """
    with ExitStack() as opened:
        if path.is_dir():
            there = list(_in_folder(path))
        else:
            _open(path).close()  # a path that is none is refused in words
            there = [SourceFile(path.name, path.resolve().parent.name, partial(_open, path), _modified(path))]
        archives = [file for file in there if (file.suffix == ".zip" or len(there) == 1) and not file.unread]
        notes = sum(file.suffix in NOTES for file in there)
        found: list[SourceFile] = []
        for file in there:
            is_part = file in archives and notes <= len(archives)  # archives beside more notes are no exports
            found += _unpacked(file, opened, alone=not path.is_dir()) if is_part else [file]
        if found and all(file.unread for file in found):
            raise InvalidInput("", f"{found[0].name} {found[0].unread}", _REMEDY)
        try:
            yield found
        except _DAMAGED as error:
            raise InvalidInput("", f"something in {path.name} cannot be read ({error})", _REMEDY) from None


def _unpacked(file: SourceFile, opened: ExitStack, *, alone: bool) -> list[SourceFile]:
    """Return the files in an archive, or the file itself if it is none; ``alone`` if nothing is beside it."""
    try:
        stream = opened.enter_context(file.open())
        if not zipfile.is_zipfile(stream):
            stream.seek(0)
            if stream.read(4) == b"PK\x03\x04":
                raise zipfile.BadZipFile("it is an archive that is cut short")
            return [file]
        archive = opened.enter_context(zipfile.ZipFile(stream))
        members = [one for one in archive.infolist() if not one.is_dir()]
        if any(one.flag_bits & 1 for one in members):
            raise zipfile.BadZipFile("it is encrypted")
        held, size = sum(one.file_size for one in members), stream.seek(0, io.SEEK_END)
        if held > UNPACKED + DENSEST * size:
            raise zipfile.BadZipFile(f"it holds {held:,} bytes in {size:,}, as no export does")
    except _DAMAGED as error:
        return [replace(file, unread=f"cannot be read ({error})")]
    shown = [one for one in members if not any(part.startswith((".", "__MACOSX")) for part in Path(one.filename).parts)]
    files = [
        SourceFile(
            one.filename if alone else f"{file.name}/{one.filename}",
            file.stem if alone else file.folder,
            partial(_open_member, archive, one),
            _day(one),
        )
        for one in shown
    ]
    return sorted(files, key=lambda one: one.name)


def _in_folder(folder: Path) -> Iterator[SourceFile]:
    inside = folder.resolve()
    found = (path for path in folder.rglob("*") if path.is_file())
    for path in sorted(found):
        name = path.relative_to(folder)
        if not any(part.startswith(".") for part in name.parts):
            unread = "" if path.resolve().is_relative_to(inside) else "is a link out of the folder"
            yield SourceFile(name.as_posix(), inside.name, partial(_open, path), _modified(path), unread)


def _open(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput("", f"{path} cannot be read ({error.strerror})", "Name a file.") from None


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    try:
        return archive.open(member)
    except (OSError, ValueError, RuntimeError) as error:  # its directory names a place that is none
        raise zipfile.BadZipFile(str(error)) from None


def _modified(path: Path) -> Millis:
    return path.stat().st_mtime_ns // 1_000_000


def _day(member: zipfile.ZipInfo) -> Millis | None:
    try:
        return int(datetime(*member.date_time, tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None
