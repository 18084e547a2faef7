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
DENSEST, UNPACKED = 100, 16 << 20
"""Bytes that a byte of an archive may unpack to, beside so many; exports of text have 5 to 20."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import.

    Attributes:
        name: below the folder or archive, with slashes.
        open: opens it, from its beginning.
        modified: when it was changed last; None if that is unknown.
        outside: whether it lies elsewhere, and is not to be read: a link in the folder leads out of it.
    """

    name: str
    open: OpenSource
    modified: Millis | None = None
    outside: bool = False

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

    Archives in it are opened, too: an export may be a folder of them.

    Raises:
        InvalidInput: there is nothing, it cannot be read, or an archive is damaged or encrypted.
    """
    with ExitStack() as opened:
        try:
            if path.is_dir():
                yield list(_unpacked(_in_folder(path), opened))
            else:
                _opener(path)().close()  # a path that is none is refused in words
                only = SourceFile(path.name, _opener(path), _modified(path))
                found = list(_unpacked([only], opened))
                yield [replace(file, name=file.name.removeprefix(f"{path.name}/")) for file in found]
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
            problem = f"{path} is an archive that cannot be read ({error})"
            raise InvalidInput("FILE", problem, "Download it again, or unpack it and name the folder.") from None


def _unpacked(files: list[SourceFile], opened: ExitStack, depth: int = 0) -> Iterator[SourceFile]:
    """Yield files, and in place of each archive what is in it; archives beside more texts are no exports."""
    archives = [file for file in files if (file.suffix == ".zip" or len(files) == 1) and not file.outside]
    texts = sum(file.suffix in (".md", ".markdown", ".txt") for file in files)
    for file in files:
        if file not in archives or texts > len(archives) or depth == NESTED:
            yield file
            continue
        stream = opened.enter_context(file.open())
        if not zipfile.is_zipfile(stream):
            yield file
            continue
        if depth:  # in an archive each step back would unpack it again from its beginning
            stream = opened.enter_context(_copied(stream))
        archive = opened.enter_context(zipfile.ZipFile(stream))
        if any(member.flag_bits & 1 for member in archive.infolist()):
            raise InvalidInput("FILE", f"{file.name} is encrypted", "Unpack it, and name the folder.")
        packed, whole = stream.seek(0, io.SEEK_END), sum(member.file_size for member in archive.infolist())
        if whole > UNPACKED + DENSEST * packed:
            problem = f"{file.name} holds {whole:,} bytes in {packed:,}, as no export does"
            raise InvalidInput("FILE", problem, "If you trust it, unpack it, and name the folder.")
        inside = [replace(one, name=f"{file.name}/{one.name}") for one in _in_archive(archive)]
        yield from _unpacked(inside, opened, depth + 1)


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
            outside=path.is_symlink() and not path.resolve().is_relative_to(inside),
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
