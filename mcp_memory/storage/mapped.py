"""Give the view of a large store its vectors: mapped from files, and read from the tables where there is no file yet.

A view is first loaded without vectors. Then each full block is looked for by the ids of its rows.
Only rows of blocks that are missing, and of the last block, which is not full, are read from the tables, the newest
commits first. Blocks that fill up later are written and mapped, too.

**The files** are mapped by all processes, which share them in memory. Beyond ``search.vector_limit`` sentences, vectors
would take most of a process's memory: 1,536 bytes each with 384 dimensions. They are the same for all processes, and
never change once they are made. So each block of 4,096 vectors lies in a file of its own, which the system keeps in
memory as long as there is room, once for all.

A file is named by what is in it: a digest of the embedder and of the ids of its rows, in a folder for each generation
of the derived tables. So no file can be out of date, and whatever else is in the view, a block that is there is right.
It ends with its CRC-32, which is compared when it is mapped. What is missing or damaged is read from the tables and
written again.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Segment, Sentence, shared_segment, shares_vectors
from mcp_memory.storage.columns import vectors_of
from mcp_memory.storage.own_files import own_files, remove_empty, remove_own
from mcp_memory.storage.schema import TableRows
from mcp_memory.vectors import GrowingMatrix, Matrix, SentenceVectors
from mcp_memory.view.pieces import NONE, Pieces
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

VECTORS = "vectors"
_SUM = 4  # bytes

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
            _log.warning("%s does not hold what was written; it is made again from the table", self._folder / name)
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


PieceKind = Literal["segments", "sentences"]
PIECES: tuple[PieceKind, PieceKind] = ("segments", "sentences")
Read = Callable[[], TableRows | None]
Rows = NDArray[np.intp]
AnyPieces = Pieces[Segment] | Pieces[Sentence]


def attach(view: View, files: VectorFiles, dimension: int, parts: Mapping[PieceKind, Sequence[Read]]) -> None:
    """Give all spaces of a view the vectors of their segments and sentences.

    Args:
        view: whole, without vectors.
        files: the files of the store.
        dimension: the dimension of the vectors.
        parts: for each kind, functions that read some rows with ``space``, ``id`` and ``vector``, the newest first.
    """
    used: list[str] = []
    shared = {space.name: _segments_of_shared_vectors(space) for space in view.spaces.values()}
    for kind in PIECES:
        held = {}
        for space in view.spaces.values():
            pieces, rows = _rows(space, kind, shared[space.name])
            held[space.name] = _Held(space, pieces, rows, view.generation, files, dimension)
            used += held[space.name].names
        for read in parts[kind]:
            if not any(one.missing for one in held.values()):
                break
            if (table := read()) is not None:
                _add_read_vectors(table, held)
        for space in view.spaces.values():
            matrix = held[space.name].matrix()
            if kind == "segments":
                space.segment_vectors = matrix
            else:
                space.sentence_vectors = SentenceVectors.of(matrix, shared[space.name], space.segment_vectors)
    files.tidy(used)


def seal(view: View, files: VectorFiles) -> None:
    """Write the blocks that are full by now, and map them."""
    for space in view.spaces.values():
        of_sentences = space.sentence_vectors
        if space.segment_vectors is None or of_sentences is None:
            continue
        of_kinds: tuple[tuple[GrowingMatrix, AnyPieces], ...] = (
            (space.segment_vectors, space.segments),
            (of_sentences.own, space.sentences),
        )
        for matrix, pieces in of_kinds:
            full = matrix.unmapped()
            rows = of_sentences.own_rows if full and pieces is space.sentences else np.arange(len(pieces))
            for number in full:
                block_rows = rows[number * GrowingMatrix.BLOCK : (number + 1) * GrowingMatrix.BLOCK]
                if _pending(space, pieces, block_rows).any():
                    continue
                name = files.name(view.generation, pieces.digits(block_rows))
                if (block := files.put(name, matrix.block(number))) is None:
                    return
                matrix.map_block(number, block)


def _segments_of_shared_vectors(space: Space) -> Rows:
    """Return for each sentence the row of the segment whose vector it has, `NONE` for its own."""
    shared = np.full(len(space.sentences), NONE, dtype=np.intp)
    for turn in space.turns.values():
        if shares_vectors(turn):
            segments = space.segments.of_turn(turn.id)
            for row in space.sentences_of(turn.id):
                shared[row] = shared_segment(turn, space.sentences[row], segments, space.segments)
    return shared


def _rows(space: Space, kind: PieceKind, shared: Rows) -> tuple[AnyPieces, Rows]:
    """Return the pieces of a kind, and the rows of those that have vectors of their own."""
    if kind == "segments":
        return space.segments, np.arange(len(space.segments))
    return space.sentences, np.flatnonzero(shared == NONE)


def _pending(space: Space, pieces: AnyPieces, rows: Rows) -> NDArray[np.bool_]:
    """Return of which rows a vector is still to be made."""
    if not space.unindexed:
        return np.zeros(len(rows), dtype=np.bool_)
    return np.array([pieces[row].turn_id in space.unindexed for row in rows.tolist()], dtype=np.bool_)


def _add_read_vectors(table: TableRows, held: Mapping[str, _Held]) -> None:
    """Put the vectors of some rows of a table where they belong."""
    vectors = vectors_of(table)
    spaces = np.array(table["space"].to_pylist(), dtype=object)
    ids = table["id"].to_pylist()
    for name, one in held.items():
        own = np.flatnonzero(spaces == name)
        one.add_vectors([ids[place] for place in own.tolist()], vectors[own])


class _Held:
    """The vectors of one kind of pieces in a space, as far as they are known.

    Attributes:
        names: the names of the files of full blocks.
        missing: how many rows are to be read.
    """

    def __init__(
        self,
        space: Space,
        pieces: AnyPieces,
        rows: Rows,
        generation: int,
        files: VectorFiles,
        dimension: int,
    ) -> None:
        self._pieces, self._files, self._dimension, self._length = pieces, files, dimension, len(rows)
        self._place = np.full(len(pieces), NONE, dtype=np.intp)  # in the matrix, of each piece
        self._place[rows] = np.arange(len(rows))
        full = len(rows) // GrowingMatrix.BLOCK
        self.names = [
            files.name(generation, pieces.digits(rows[at * GrowingMatrix.BLOCK : (at + 1) * GrowingMatrix.BLOCK]))
            for at in range(full)
        ]
        found = [files.find(name) for name in self.names]
        self._blocks: list[Matrix | None] = [*found, *([None] if len(rows) % GrowingMatrix.BLOCK else [])]
        self._open = np.ones(len(rows), dtype=np.bool_)  # what was not read yet
        for number, block in enumerate(found):
            if block is not None:
                self._open[number * GrowingMatrix.BLOCK : (number + 1) * GrowingMatrix.BLOCK] = False
        self._pending = _pending(space, pieces, rows)
        self.missing = int((self._open & ~self._pending).sum())

    def add_vectors(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Put the vectors of pieces into their blocks, and write those that are full."""
        rows = self._pieces.rows(ids)
        places = np.where(rows == NONE, NONE, self._place[rows])
        wanted = places != NONE
        wanted[wanted] = self._open[places[wanted]]
        places, vectors = places[wanted], vectors[wanted]
        if vectors.shape[1] == self._dimension:
            for number in np.unique(places // GrowingMatrix.BLOCK).tolist():
                self._fill(number, places, vectors)

    def _fill(self, number: int, places: Rows, vectors: Matrix) -> None:
        block = self._blocks[number]
        if block is None:
            block = self._blocks[number] = self._empty()
        here = np.flatnonzero(places // GrowingMatrix.BLOCK == number)
        block[places[here] % GrowingMatrix.BLOCK] = vectors[here]
        self._open[places[here]] = False
        self.missing = int((self._open & ~self._pending).sum())
        if (
            number < len(self.names)
            and not self._open[number * GrowingMatrix.BLOCK : (number + 1) * GrowingMatrix.BLOCK].any()
        ):
            mapped = self._files.put(self.names[number], block)
            self._blocks[number] = block if mapped is None else mapped

    def matrix(self) -> GrowingMatrix:
        """Return what is known; zeros for the rest."""
        blocks = [self._empty() if block is None else block for block in self._blocks]
        return GrowingMatrix.of_blocks(self._dimension, blocks, self._length)

    def _empty(self) -> Matrix:
        return np.zeros((GrowingMatrix.BLOCK, self._dimension), dtype=np.float32)
