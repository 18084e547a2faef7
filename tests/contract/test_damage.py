"""A damaged table is noticed, and made anew of the log."""

from dataclasses import replace

import pytest
from batches import batch, taught, unit_vectors
from lance_at import (
    COMMITS,
    commit_to,
    data_files,
    embed,
    fold_all,
    held,
    make,
    make_rows,
    newest,
    oldest,
    open_at,
    refs,
    relearn,
)
from remembering import space_in

from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.tables import no_panics


@pytest.fixture
async def folder(tmp_path):
    """Return the folder of a store of which every row is in its table."""
    return await make(tmp_path / "store", folded=True)


async def renewed(store):
    """Make again what is broken."""
    while await store.renew():
        pass


@pytest.mark.parametrize("content", [None, b"half"])
async def test_no_word_is_lost_with_any_table(folder, content):
    for path in data_files(folder):
        path.unlink()
        if content is not None:
            path.write_bytes(content)
    store = open_at(str(folder), derive=lambda: make_rows)
    assert await refs(store) == [f"m{number}" for number in range(COMMITS)]
    assert store.damage
    await renewed(store)
    assert await held(store) == (2 * COMMITS, COMMITS, COMMITS)
    await commit_to(store, batch("new"))
    assert store.damage == ()


def test_a_panic_of_the_library_becomes_an_error():
    class PanicException(BaseException):
        """As the libraries of Rust raise it."""

    with pytest.raises(RuntimeError, match="damaged file"), no_panics():
        raise PanicException("range end index out of range")
    with pytest.raises(KeyboardInterrupt), no_panics():
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("table", "part", "content"),
    [
        ("sentences_0", "_versions/*.manifest", None),
        ("segments_0", "_versions/*.manifest", b""),
        ("assertions_0", "_versions/*.manifest", bytes(2000)),
        ("sentences_0", "data/*.lance", bytes(2000)),
        ("segments_0", "data/*.lance", None),
    ],
)
async def test_a_broken_derived_table_is_told_and_made_anew(folder, table, part, content):
    damaged = newest(folder, f"{table}.lance/{part}")
    damaged.unlink()
    if content is not None:
        damaged.write_bytes(content)
    store = open_at(str(folder), derive=lambda: make_rows)
    assert sum(await held(store)) < 4 * COMMITS
    assert "makes them again" in " ".join(store.damage) + " ".join((await store.about()).problems)
    assert store.outdated
    await renewed(store)
    assert await held(store) == (2 * COMMITS, COMMITS, COMMITS)
    assert (store.damage, store.outdated) == ((), False)
    await commit_to(store, batch("new"))
    await store.aclose()
    assert await held(open_at(str(folder))) == (2 * COMMITS + 2, COMMITS + 1, COMMITS + 1)


async def test_a_derived_table_that_cannot_be_made_anew_is_not_tried_at_every_call(folder):
    async def fail(_):
        raise StoreUnwritable("no room")

    newest(folder, "sentences_0.lance/data/*.lance").unlink()
    store = open_at(str(folder), derive=lambda: fail)
    await held(store)
    with pytest.raises(StoreUnwritable, match="no room"):
        await renewed(store)
    await held(store)
    assert not store.outdated
    assert store.damage


async def test_questions_of_the_pool_are_made_anew_with_their_vectors(tmp_path):
    folder = tmp_path / "store"
    options = {"derive": lambda: make_rows, "embed": embed}
    store = open_at(str(folder), **options)
    rows = batch("m0")
    asked = PooledQuestion("default", "What came?", rows.segments[0].id, frozenset(("ann",)))
    await commit_to(store, replace(rows, questions=(asked,), question_vectors=unit_vectors(["What came?"])))
    await commit_to(store, batch("later"))
    await store.aclose()
    fold_all(str(folder))
    oldest(folder, "questions_0.lance/data/*.lance").unlink()
    store = open_at(str(folder), **options)
    await refs(store)
    assert "'questions_0'" in " ".join(store.damage)
    await renewed(store)
    assert [one.text for one in (await space_in(store)).questions.rows] == ["What came?"]
    await commit_to(store, batch("m1"))
    assert store.damage == ()


async def test_beliefs_that_a_rebuild_made_are_missed_when_their_table_is_lost(tmp_path):
    folder = tmp_path / "store"
    rows, options = batch("m0"), {"derive": lambda: make_rows, "relearn": relearn}
    told = taught("e0", sentence=rows.sentences[0].id)
    store = open_at(str(folder), **options)
    await commit_to(store, replace(rows, lessons=told.lessons, beliefs=told.beliefs))
    await store.rebuild(make_rows)
    await store.aclose()
    newest(folder, "beliefs_1.lance/_versions/*.manifest").unlink()
    store = open_at(str(folder), **options)
    await refs(store)
    assert "'beliefs_1'" in " ".join(store.damage)
    await renewed(store)
    assert len((await space_in(store)).beliefs) == 1
    assert store.damage == ()
