"""What an import reads: one file, a folder, or a zip archive, as a list of files."""

from __future__ import annotations

import io
import os
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
_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError)
_REMEDY = "Download it again; if you trust it, unpack it, and name the folder. Nothing was stored."


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import.

    Attributes:
        name: below the folder or archive, with slashes.
        open: opens it, from its beginning.
        modified: when it was changed last; None if that is unknown.
        unread: why it is not to be read, in words after its name: "is encrypted"; empty for a file that is.
    """

    name: str
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
            found = list(_unpacked(_in_folder(path), opened))
        else:
            _open(path).close()  # a path that is none is refused in words
            found = list(_unpacked([SourceFile(path.name, partial(_open, path), _modified(path))], opened))
            found = [replace(file, name=file.name.removeprefix(f"{path.name}/")) for file in found]
        if found and all(file.unread for file in found):
            raise InvalidInput("FILE", f"{found[0].name} {found[0].unread}", _REMEDY)
        try:
            yield found
        except _DAMAGED as error:
            raise InvalidInput("FILE", f"something in {path.name} cannot be read ({error})", _REMEDY) from None


def _unpacked(files: list[SourceFile], opened: ExitStack) -> Iterator[SourceFile]:
    """Yield files, and in place of each archive what is in it; archives beside more texts are no exports."""
    archives = [file for file in files if (file.suffix == ".zip" or len(files) == 1) and not file.unread]
    texts = sum(file.suffix in (".md", ".markdown", ".txt") for file in files)
    for file in files:
        inside = None
        if file in archives and texts <= len(archives):
            try:
                inside = _in_archive(file, opened)
            except _DAMAGED as error:
                yield replace(file, unread=f"cannot be read ({error})")
                continue
        yield from [file] if inside is None else inside


def _in_archive(file: SourceFile, opened: ExitStack) -> list[SourceFile] | None:
    """Return the files in an archive; None if the file is no archive.

    Raises:
        BadZipFile, error, NotImplementedError, EOFError: it is damaged, or not to be unpacked.
    """
    stream = opened.enter_context(file.open())
    if not zipfile.is_zipfile(stream):
        stream.seek(0)
        if stream.read(4) == b"PK\x03\x04":
            raise zipfile.BadZipFile("it is an archive that is cut short")
        return None
    archive = opened.enter_context(zipfile.ZipFile(stream))
    members = [one for one in archive.infolist() if not one.is_dir()]
    if any(one.flag_bits & 1 for one in members):
        raise zipfile.BadZipFile("it is encrypted")
    held, size = sum(one.file_size for one in members), stream.seek(0, io.SEEK_END)
    if held > UNPACKED + DENSEST * size:
        raise zipfile.BadZipFile(f"it holds {held:,} bytes in {size:,}, as no export does")
    shown = [one for one in members if not any(part.startswith((".", "__MACOSX")) for part in Path(one.filename).parts)]
    files = [SourceFile(f"{file.name}/{one.filename}", partial(_open_member, archive, one), _day(one)) for one in shown]
    return sorted(files, key=lambda one: one.name)


def _in_folder(folder: Path) -> list[SourceFile]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in names if not name.startswith(".")]
    inside = folder.resolve()
    return [
        SourceFile(
            path.relative_to(folder).as_posix(),
            partial(_open, path),
            _modified(path),
            unread="" if path.resolve().is_relative_to(inside) else "is a link out of the folder",
        )
        for path in sorted(found)
        if path.is_file()
    ]


def _open(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput("FILE", f"{path} cannot be read ({error.strerror})", "Name a file.") from None


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
