"""Vectors of a large store in files that its processes map into memory, and share there.

Beyond ``search.vector_limit`` sentences, vectors would take most of a process's memory: 1,536 bytes each with 384
dimensions. They are the same for all processes, and never change once they are made. So each block of 4,096 vectors
lies in a file of its own, which the system keeps in memory as long as there is room, once for all.

A file is named by what is in it: a digest of the embedder and of the ids of its rows, in a folder for each generation
of the derived tables. So no file can be out of date, and whatever else is in the view, a block that is there is right.
It ends with its CRC-32, which is compared when it is mapped. What is missing or damaged is read from the tables and
written anew.

Every forget makes a new generation, and removes all of these files once its commit is written. A process that has not
seen that commit yet may be about to write a block. So it looks after the writing whether the view is still as of the
last commit, and otherwise removes what it wrote. On Windows a file that another process maps stays until the store is
opened next.
"""

from __future__ import annotations

import logging
import mmap
import os
import shutil
import zlib
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path

import numpy as np

from mcp_memory.vectors import GrowingMatrix, Matrix

VECTORS = "vectors"
_SUM = 4  # bytes

_log = logging.getLogger(__name__)


class VectorFiles:
    """The blocks of one store.

    Args:
        folder: of the store.
        embedder: that made the vectors.
        dimension: of the vectors.
        is_current: whether nothing was committed since the view was brought up to date.
    """

    def __init__(self, folder: Path, embedder: str, dimension: int, is_current: Callable[[], bool]) -> None:
        self._folder = folder / VECTORS
        self._begin = f"{embedder}\0{dimension}\0"
        self._dimension = dimension
        self._is_current = is_current
        self._writable = True

    def name(self, generation: int, digits: str) -> str:
        """Return the name of the block of the rows with these ids (`Pieces.digits`)."""
        content = self._begin + digits
        return f"{generation}/{blake2b(content.encode(), digest_size=16).hexdigest()}.f32"

    def find(self, name: str) -> Matrix | None:
        """Return a block, mapped; None if there is none, or if it is damaged."""
        size = GrowingMatrix.BLOCK * self._dimension * 4
        try:
            with (self._folder / name).open("rb") as file:
                if os.fstat(file.fileno()).st_size != size + _SUM:
                    return None
                mapped = _Block(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return None
        mapped.name = name
        content = memoryview(mapped)
        if zlib.crc32(content[:size]).to_bytes(_SUM, "little") != content[size:]:
            _log.warning("%s is not what was written: it is made anew from the table", self._folder / name)
            return None
        rows: Matrix = np.frombuffer(mapped, dtype=np.float32, count=size // 4).reshape(-1, self._dimension)
        return rows

    def put(self, name: str, block: Matrix) -> Matrix | None:
        """Write a block and return it mapped; None if it cannot be written, or if the store has changed meanwhile."""
        if not (self._writable and self._is_current()):
            return None
        path = self._folder / name
        made = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            for folder in (self._folder, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            content = np.ascontiguousarray(block)
            file = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(file, "wb") as out:
                out.write(content.data)
                out.write(zlib.crc32(content.data).to_bytes(_SUM, "little"))
            made.replace(path)
        except OSError as error:  # it stays in memory
            _log.warning("%s cannot be written: %s", path, error)
            _remove(made)
            self._writable = False
            return None
        if not self._is_current():  # perhaps something was forgotten
            _remove(path)
            return None
        return self.find(name)

    def tidy(self, used: Iterable[str]) -> None:
        """Remove every file but these; others may map them, and keep what they have mapped."""
        wanted = set(used)
        for path in self._folder.glob("*/*"):
            if path.relative_to(self._folder).as_posix() not in wanted:
                _remove(path)
        for folder in self._folder.glob("*"):
            if not any(name.startswith(f"{folder.name}/") for name in wanted):
                shutil.rmtree(folder, ignore_errors=True)


class _Block(mmap.mmap):
    name: str


def name_of(block: Matrix) -> str | None:
    """Return the name of a block that is mapped from its file; None for any other array."""
    base: object = block
    while isinstance(base, np.ndarray):
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    return base.name if isinstance(base, _Block) else None


def remove_vectors(folder: Path) -> None:
    """Remove all blocks of the store in a folder."""
    shutil.rmtree(folder / VECTORS, ignore_errors=True)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:  # on Windows, while somebody maps it
        _log.info("%s stays for now: %s", path, error)
