"""What an import reads: one file, a folder, or a zip archive, as a list of files."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput

OpenSource = Callable[[], IO[bytes]]
NESTED = 2
"""Archives in each other that are opened."""
READABLE = (".json", ".jsonl", ".csv", ".tsv", ".md", ".markdown", ".txt")
"""What a file is called that is read beside others."""
DENSEST, UNPACKED = 100, 16 << 20
"""Bytes that a byte of an archive may unpack to, beside so many; exports of text have 5 to 20."""


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

    Archives in it are opened, too: an export may be a folder of them. One that is damaged or encrypted, and a damaged
    file in one, is a file that is not to be read, beside the others.

    Raises:
        InvalidInput: there is nothing, or nothing of it can be read.
    """
    with ExitStack() as opened:
        if path.is_dir():
            found = list(_unpacked(_in_folder(path), opened))
        else:
            _opener(path)().close()  # a path that is none is refused in words
            only = SourceFile(path.name, _opener(path), _modified(path))
            found = list(_unpacked([only], opened))
            found = [replace(file, name=file.name.removeprefix(f"{path.name}/")) for file in found]
        if found and all(file.unread for file in found):
            remedy = "Download it again; if you trust it, unpack it, and name the folder."
            raise InvalidInput("FILE", f"{found[0].name} {found[0].unread}", remedy)
        yield found


def _unpacked(files: list[SourceFile], opened: ExitStack, depth: int = 0) -> Iterator[SourceFile]:
    """Yield files, and in place of each archive what is in it; archives beside more texts are no exports."""
    archives = [file for file in files if (file.suffix == ".zip" or len(files) == 1) and not file.unread]
    texts = sum(file.suffix in (".md", ".markdown", ".txt") for file in files)
    for file in files:
        inside = None
        try:
            if file in archives and texts <= len(archives) and depth < NESTED:
                inside = _inside(file, opened, packed=depth > 0)
            if inside is None and depth and (file.suffix in READABLE or len(files) == 1):
                _read_through(file)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
            yield replace(file, unread=f"cannot be read ({error})")
            continue
        if inside is None:
            yield file
        else:
            yield from _unpacked(inside, opened, depth + 1)


def _inside(file: SourceFile, opened: ExitStack, *, packed: bool) -> list[SourceFile] | None:
    """Return the files in an archive, which may be in another one; None if the file is no archive.

    Raises:
        BadZipFile, error, NotImplementedError, EOFError: it is damaged, or not to be unpacked.
    """
    stream = opened.enter_context(file.open())
    whole = zipfile.is_zipfile(stream)
    stream.seek(0)
    if not whole:
        if stream.read(4) == b"PK\x03\x04":
            raise zipfile.BadZipFile("it is an archive that is cut short")
        return None
    if packed:  # in an archive each step back would unpack it again from its beginning
        stream = opened.enter_context(_copied(stream))
    archive = opened.enter_context(zipfile.ZipFile(stream))
    if any(member.flag_bits & 1 for member in archive.infolist()):
        raise zipfile.BadZipFile("it is encrypted")
    held, size = sum(member.file_size for member in archive.infolist()), stream.seek(0, io.SEEK_END)
    if held > UNPACKED + DENSEST * size:
        raise zipfile.BadZipFile(f"it holds {held:,} bytes in {size:,}, as no export does")
    return [replace(one, name=f"{file.name}/{one.name}") for one in _in_archive(archive)]


def _read_through(file: SourceFile) -> None:
    """Read a file in an archive to its end: its damage shows only there.

    Raises:
        BadZipFile, error, EOFError: it is damaged.
    """
    with file.open() as stream:
        while stream.read(1 << 20):
            pass


def _in_folder(folder: Path) -> list[SourceFile]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in names if not name.startswith(".")]
    inside = folder.resolve()
    return [
        SourceFile(
            path.relative_to(folder).as_posix(),
            _opener(path),
            _modified(path),
            unread="" if path.resolve().is_relative_to(inside) else "is a link out of the folder",
        )
        for path in sorted(found)
        if path.is_file()
    ]


def _copied(stream: IO[bytes]) -> IO[bytes]:
    """Return a copy in a temporary file."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - its caller closes it
    shutil.copyfileobj(stream, copy)
    copy.seek(0)
    return copy


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
        def opened() -> IO[bytes]:
            try:
                return archive.open(member)
            except (OSError, ValueError, RuntimeError) as error:  # its directory names a place that is none
                raise zipfile.BadZipFile(str(error)) from None

        return opened

    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in archive.infolist()):
        raise NotImplementedError("it is packed in a way that exports are not")
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
