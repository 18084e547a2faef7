"""Above the limit the vectors of a local store are mapped from files, which hold no more than the store does."""

from __future__ import annotations

import stat
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from batches import DIMENSION, batch, derive, turn, unit_vectors

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.storage import schema
from mcp_memory.storage.mapped import VECTORS, VectorFiles
from mcp_memory.storage.store import LanceStore
from mcp_memory.vectors import GrowingMatrix
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio
LONG = "A sentence that goes on. " * 200


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GrowingMatrix, "BLOCK", 4)


def store_at(uri: str, limit: int = 3) -> LanceStore:
    return LanceStore(uri, embedder="fake", dimension=DIMENSION, make_view=lambda: View(vector_limit=limit))


async def write(store: LanceStore, rows: Batch) -> None:
    async with store.writing(rows) as transaction:
        await transaction.commit(rows)


async def vectors(store: LanceStore) -> dict[str, list[list[float]]]:
    """Return the vectors of all pieces by id."""
    async with store.reading() as view:
        return {name: rows for space in view.spaces.values() for name, rows in held(space).items()}


def held(space: Space) -> dict[str, list[list[float]]]:
    found = {}
    for pieces, matrix in ((space.segments, space.segment_vectors), (space.sentences, space.sentence_vectors)):
        assert matrix is not None
        rows = matrix.take(np.arange(len(pieces))).tolist()
        found |= dict(zip([piece.id for piece in pieces], rows, strict=True))
    return found


def files(uri: str) -> list[Path]:
    return sorted(Path(uri, VECTORS).glob("*/*"))


def in_the_way(uri: str) -> None:
    Path(uri).mkdir(mode=0o700)
    Path(uri, VECTORS).write_text("a file")


def modes(uri: str) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in (Path(uri, VECTORS), *Path(uri, VECTORS).rglob("*"))}


async def test_what_is_mapped_is_what_is_held_below_the_limit(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two spaces, with a text so long that its sentences share vectors; while it grows, and loaded again."""
    grown = store_at(uri)
    long = replace(turn("long", "other"), kind="document", text=LONG)
    for rows in (batch("a", "b", "c"), batch("d", "e", "f", "g", "h", space="other"), derive([long]), batch("i", "j")):
        await write(grown, rows)
    known = await vectors(store_at(uri, limit=100))
    assert await vectors(grown) == known
    async with grown.reading() as view:
        assert all(space.segment_vectors.is_mapped for space in view.spaces.values() if space.segment_vectors)
    assert await vectors(store_at(uri)) == known
    written = files(uri)
    assert len(written) == 1 + 1 + 2 + 2
    monkeypatch.setattr(schema, "PART", 4)
    assert await vectors(store_at(uri)) == known  # loaded in parts
    assert files(uri) == written
    if sys.platform != "win32":
        assert modes(uri) == {0o600, 0o700}


@pytest.mark.parametrize("damage", [lambda old: b"\1" + old[1:], lambda old: old[:-5], lambda old: b""])
async def test_a_damaged_file_is_made_anew_from_the_table(uri: str, damage) -> None:
    await write(store_at(uri), batch(*"abcdefgh"))
    known = await vectors(store_at(uri))
    right = {file: file.read_bytes() for file in files(uri)}
    for file in files(uri):
        file.write_bytes(damage(right[file]))
    assert await vectors(store_at(uri)) == known
    assert {file: file.read_bytes() for file in files(uri)} == right


async def test_a_forget_leaves_nothing_in_the_files(uri: str) -> None:
    """Nor does a process that was just about to write a block when another one forgot."""
    store, late = store_at(uri), store_at(uri)
    rows = batch(*"abcdefgh")
    await write(store, rows)
    gone = [rows.segments[2].id, *(rows.sentences[row].id for row in (4, 5))]
    traces = [vector.tobytes() for vector in unit_vectors(gone)]
    before = await vectors(late)
    content = b"".join(file.read_bytes() for file in files(uri))
    assert all(trace in content for trace in traces)
    async with late.reading() as view:
        refresher, old = late._refresher, view
    await store.forget(lambda _: ForgetTargets("default", turns=frozenset([rows.turns[2].id])), "a test")
    content = b"".join(file.read_bytes() for file in files(uri))
    assert not any(trace in content for trace in traces)
    left = files(uri)
    blocks = VectorFiles(Path(uri), "fake", DIMENSION, refresher.is_current)
    assert blocks.put(blocks.name(old.generation, "late"), np.zeros((4, DIMENSION), np.float32)) is None
    assert files(uri) == left
    kept = {name: vector for name, vector in before.items() if name not in gone}
    for each in (store, late, store_at(uri)):
        assert await vectors(each) == kept
    content = b"".join(file.read_bytes() for file in files(uri))
    assert content
    assert not any(trace in content for trace in traces)


class Cut:
    """Cuts a turn as `derive` does."""

    dimension = DIMENSION

    def __call__(self, turn: Turn) -> tuple[tuple[Segment, ...], tuple[Sentence, ...]]:
        """See `pieces.Cut`."""
        rows = derive([turn])
        return rows.segments, rows.sentences


async def test_a_block_waits_for_the_vectors_of_texts_that_are_not_indexed_yet(uri: str) -> None:
    rows = derive([turn(name, place=place) for place, name in enumerate("abcdefgh")])
    make_view = lambda: View(vector_limit=3, cut=Cut())  # noqa: E731
    store = LanceStore(uri, embedder="fake", dimension=DIMENSION, make_view=make_view)
    await write(store, Batch(rows.turns))
    async with store.reading() as view:
        assert len(view.space("default").unindexed) == 8
    assert files(uri) == []
    other = LanceStore(uri, embedder="fake", dimension=DIMENSION, make_view=make_view)
    assert set(map(tuple, (await vectors(other)).values())) == {(0.0,) * DIMENSION}
    await write(other, replace(rows, turns=(), assertions=()))
    expected = dict(
        zip(
            [piece.id for piece in (*rows.segments, *rows.sentences)],
            np.concatenate([rows.segment_vectors, rows.sentence_vectors]).tolist(),
            strict=True,
        )
    )
    for each in (other, store, store_at(uri)):
        assert await vectors(each) == expected
    assert len(files(uri)) == 2 + 4


async def test_where_no_file_can_be_written_vectors_stay_in_memory(uri: str) -> None:
    in_the_way(uri)
    store = store_at(uri)
    await write(store, batch(*"abcdefgh"))
    known = await vectors(store_at(uri, limit=100))
    assert await vectors(store) == await vectors(store_at(uri)) == known
