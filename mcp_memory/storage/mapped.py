"""Map the vectors of a large store from files, which all processes share in memory.

Beyond ``search.vector_limit`` sentences, vectors would take most of a process's memory: 1,536 bytes each with 384
dimensions. They are the same for all processes, and never change once they are made. So each block of 4,096 vectors, as
soon as it is full, lies in a file of its own, which the system keeps in memory as long as there is room, once for all.

A file is named by what is in it: a digest of the embedder and of the ids of its rows, in a folder for each generation
of the derived tables. So no file can be out of date, and whatever else is in the view, a block that is there is right.
It ends with its CRC-32, which is compared when it is mapped. What is missing or damaged is written again.

Every forget makes a new generation, and removes all of these files once its commit is written. A process that has not
seen that commit yet may be about to write a block. So it looks after the writing whether the view is still as of the
last commit, and otherwise removes what it wrote. On Windows a file that another process maps stays until the store is
opened next.
"""

from __future__ import annotations

import logging
import mmap
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Segment, Sentence
from mcp_memory.storage.own_files import own_files, remove_empty, remove_own
from mcp_memory.vectors import GrowingMatrix, Matrix
from mcp_memory.view.pieces import Pieces
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

VECTORS = "vectors"
_SUM = 4  # bytes

AnyPieces = Pieces[Segment] | Pieces[Sentence]
_log = logging.getLogger(__name__)


class VectorFiles:
    """The blocks of one store.

    Args:
        folder: the folder of the store.
        embedder: the embedder that made the vectors.
        dimension: the dimension of the vectors.
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
        """Return a block as an array mapped from its file; None if there is no file, or if it is damaged."""
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
            _log.warning("%s does not hold what was written; it is written again", self._folder / name)
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
        """Remove every file that is not ``used``; a process that has mapped a removed file keeps what it mapped."""
        wanted = set(used)
        for path in list(own_files(self._folder, VECTORS)):
            if path.relative_to(self._folder).as_posix() not in wanted:
                _remove(path)
        remove_empty(self._folder.glob("[0-9]*"))


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
    with suppress(OSError):  # on Windows, while somebody maps one
        remove_own(folder / VECTORS, VECTORS)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:  # on Windows, while somebody maps it
        _log.info("%s cannot be removed yet: %s", path, error)


def seal(view: View, files: VectorFiles) -> None:
    """Map the blocks that are full by now, from their files, which are written where they are missing."""
    for space in view.spaces.values():
        for matrix, pieces, rows in _matrices(space):
            for number in matrix.unmapped():
                block_rows = rows()[number * GrowingMatrix.BLOCK : (number + 1) * GrowingMatrix.BLOCK]
                if any(pieces[row].turn_id in space.unindexed for row in block_rows.tolist() if space.unindexed):
                    continue  # some vectors are still to be made
                name = files.name(view.generation, pieces.digits(block_rows))
                if (block := files.find(name)) is None and (block := files.put(name, matrix.blocks[number])) is None:
                    return
                matrix.map_block(number, block)


def tidy(view: View, files: VectorFiles) -> None:
    """Remove every file that a view does not map."""
    matrices = (matrix for space in view.spaces.values() for matrix, _, _ in _matrices(space))
    files.tidy(name for matrix in matrices for block in matrix.blocks if (name := name_of(block)) is not None)


def _matrices(space: Space) -> Iterator[tuple[GrowingMatrix, AnyPieces, Callable[[], NDArray[np.intp]]]]:
    """Yield the vectors of a space, the pieces that they are of, and what returns the rows of these."""
    if space.segment_vectors is not None:
        yield space.segment_vectors, space.segments, lambda: np.arange(len(space.segments))
    if (vectors := space.sentence_vectors) is not None:
        yield vectors.own, space.sentences, lambda: vectors.own_rows
