"""Give the view of a large store its vectors: mapped from files, and read from the tables where there is no file yet.

A view is first loaded without vectors. Then each full block is looked for by the ids of its rows (``vector_files.py``).
Only rows of blocks that are missing, and of the last block, which is not full, are read from the tables, the newest
commits first. Blocks that fill up later are written and mapped, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Segment, Sentence, shares_vectors
from mcp_memory.storage.columns import LENGTH_TOLERANCE, vectors_of
from mcp_memory.storage.schema import TableRows
from mcp_memory.storage.vector_files import VectorFiles
from mcp_memory.vectors import GrowingMatrix, Matrix
from mcp_memory.view.pieces import NONE, Pieces
from mcp_memory.view.sentence_vectors import SentenceVectors, shared_segment
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

PieceKind = Literal["segments", "sentences"]
PIECES: tuple[PieceKind, PieceKind] = ("segments", "sentences")
Read = Callable[[], TableRows | None]
Rows = NDArray[np.intp]
AnyPieces = Pieces[Segment] | Pieces[Sentence]


def attach(view: View, files: VectorFiles, dimension: int, parts: Mapping[PieceKind, Sequence[Read]]) -> None:
    """Give all spaces of a view the vectors of their segments and sentences.

    Args:
        view: whole, without vectors.
        files: of the store.
        dimension: of the vectors.
        parts: for each kind, functions that read some rows with ``space``, ``id`` and ``vector``, the newest first.
    """
    used: list[str] = []
    shared = {space.name: _shared(space) for space in view.spaces.values()}
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
                _take_in(table, held)
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


def _shared(space: Space) -> Rows:
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


def _take_in(table: TableRows, held: Mapping[str, _Held]) -> None:
    """Put the vectors of some rows of a table where they belong."""
    vectors = vectors_of(table)
    spaces = np.array(table["space"].to_pylist(), dtype=object)
    ids = table["id"].to_pylist()
    for name, one in held.items():
        own = np.flatnonzero(spaces == name)
        one.take_in([ids[place] for place in own.tolist()], vectors[own])


class _Held:
    """The vectors of one kind of pieces in a space, as far as they are known.

    Attributes:
        names: of the files of full blocks.
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

    def take_in(self, ids: Sequence[str], vectors: Matrix) -> None:
        """Put the vectors of pieces into their blocks, and write those that are full."""
        rows = self._pieces.rows(ids)
        places = np.where(rows == NONE, NONE, self._place[rows])
        wanted = places != NONE
        wanted[wanted] = self._open[places[wanted]]
        places, vectors = places[wanted], vectors[wanted]
        if vectors.shape[1] == self._dimension:
            with np.errstate(over="ignore", invalid="ignore"):
                lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
                # Of a faulty one zeros are held, which are like nothing.
                vectors[~(np.abs(lengths - 1) <= LENGTH_TOLERANCE)] = 0
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
