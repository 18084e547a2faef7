"""Texts that wait to be indexed are commits in the journal, until the next other commit takes them into the tables."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from batches import asserted, batch, derive, turn
from lance_at import commit_to, open_at
from store_contents import holding

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.errors import StoreDamaged, StoreUnwritable
from mcp_memory.storage import journal, transaction
from mcp_memory.storage.copies import ANCHORS
from mcp_memory.storage.journal import JOURNAL, Journal
from mcp_memory.storage.rows import rows_of
from mcp_memory.storage.schema import Commit
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio


def waiting(*refs: str) -> Batch:
    """Return texts as a write that does not wait commits them, each with a fact of its caller."""
    turns = tuple(turn(ref, place=place) for place, ref in enumerate(refs))
    return Batch(turns, assertions=tuple(asserted(one, extractor="caller") for one in turns))


def indexed(*refs: str) -> Batch:
    """Return what follows from texts that are stored."""
    made = derive([turn(ref) for ref in refs])
    return Batch(
        segments=made.segments,
        sentences=made.sentences,
        segment_vectors=made.segment_vectors,
        sentence_vectors=made.sentence_vectors,
    )


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    store = open_at(str(tmp_path / "store"))
    await commit_to(store, batch("first"))
    await store.aclose()
    return tmp_path / "store"


async def held(store: LanceStore) -> tuple[list[str], int]:
    """Return the texts of a store in order, and how many facts it has of those after the first."""
    async with store.reading() as view:
        space = view.space("default")
        facts = [one for one in space.facts.rows if space.turns[one.turn_id].ref != "first"]
        return [one.ref for one in space.turns.values()], len(facts)


def in_tables(folder: Path) -> int:
    return Tables(str(folder)).count("turns")


async def faults(store: LanceStore) -> list[str]:
    return [one.text for one in await store.check()]


async def test_a_text_that_waits_is_a_line_in_the_journal_and_every_process_sees_it(folder: Path) -> None:
    reader, writer = open_at(str(folder)), open_at(str(folder))
    assert await held(reader) == (["first"], 0)
    number = await commit_to(writer, waiting("a"))
    assert number == 2
    assert in_tables(folder) == 1
    assert await held(reader) == (["first", "a"], 1)
    await commit_to(writer, waiting("b", "c"))
    assert await held(reader) == await held(writer) == await held(open_at(str(folder))) == (["first", "a", "b", "c"], 3)
    assert (await reader.about()).tx == 3
    assert [len(one.turns) for one in await reader.log()] == [1, 1, 2]
    assert await faults(reader) == []


async def test_the_next_other_commit_takes_the_journal_into_the_tables(folder: Path) -> None:
    reader, writer = open_at(str(folder)), open_at(str(folder))
    await commit_to(writer, waiting("a"))
    await held(reader)
    await commit_to(open_at(str(folder)), waiting("b"))
    await commit_to(writer, indexed("a", "b"))
    assert in_tables(folder) == 3
    assert (folder / JOURNAL).read_bytes() == b""
    for store in (reader, writer, open_at(str(folder))):
        assert await held(store) == (["first", "a", "b"], 2)
        async with store.reading() as view:
            assert len(view.space("default").segments) == 3
    await commit_to(reader, waiting("c"))
    assert await held(writer) == (["first", "a", "b", "c"], 3)
    assert await faults(reader) == []


async def test_a_line_that_was_cut_short_was_never_written_and_is_overwritten(folder: Path) -> None:
    store = open_at(str(folder))
    await commit_to(store, waiting("a"))
    await store.aclose()
    whole = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).write_bytes(whole + b'0badc0de {"commit": {"tx')
    writer = open_at(str(folder))
    assert await held(writer) == (["first", "a"], 1)
    await commit_to(writer, waiting("b"))
    assert (folder / JOURNAL).read_bytes().startswith(whole)
    assert await held(writer) == await held(open_at(str(folder))) == (["first", "a", "b"], 2)


async def test_a_writer_that_dies_before_it_empties_the_journal_leaves_nothing_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, reader = open_at(str(folder)), open_at(str(folder))
    await commit_to(store, waiting("a"))
    await held(reader)
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "clear", lambda *_: None)
        await commit_to(store, indexed("a"))
    assert (folder / JOURNAL).read_bytes()
    assert await held(reader) == await held(open_at(str(folder))) == (["first", "a"], 1)
    other = open_at(str(folder))
    await commit_to(other, waiting("b"))
    await commit_to(other, indexed("b"))
    assert in_tables(folder) == 3
    assert await held(reader) == (["first", "a", "b"], 2)
    assert await faults(other) == []


@pytest.mark.parametrize("longer", ["", " and more"])
async def test_a_journal_that_is_about_to_be_emptied_is_read_from_its_beginning_next_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, longer: str
) -> None:
    """A reader looks between the commit and the emptying; the next line is as long as what it has seen, or longer."""
    reader, writer = open_at(str(folder)), open_at(str(folder))
    await commit_to(writer, waiting("a"))
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "clear", lambda *_: None)
        await commit_to(writer, indexed("a"))
    await held(reader)
    Journal(folder).clear(2)
    other = open_at(str(folder))
    await commit_to(other, waiting(f"b{longer}"))
    assert await held(reader) == (["first", "a", f"b{longer}"], 2)
    assert reader.damage == ()
    await commit_to(reader, waiting("c"))
    assert await held(other) == await held(open_at(str(folder))) == (["first", "a", f"b{longer}", "c"], 3)
    assert await faults(other) == []


async def test_a_writer_that_dies_while_it_takes_the_journal_over_leaves_nothing_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_at(str(folder))
    await commit_to(store, waiting("a"))

    def die(*_: object) -> int:
        raise StoreUnwritable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(transaction, "append_commit", die)
        with pytest.raises(StoreUnwritable):
            await commit_to(store, indexed("a"))
    assert in_tables(folder) == 2  # a row without a commit
    await commit_to(store, waiting("b"))
    await commit_to(store, indexed("a", "b"))
    assert in_tables(folder) == 3
    assert await held(open_at(str(folder))) == (["first", "a", "b"], 2)
    assert await faults(store) == []


async def test_a_line_that_does_not_fit_on_the_disk_is_not_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_at(str(folder))
    await commit_to(store, waiting("a"))
    whole = (folder / JOURNAL).read_bytes()
    real = journal.os.write

    def half(file: int, data: memoryview) -> int:
        if len(data) < 300:
            raise OSError(28, "No space left on device")
        return real(file, data[: len(data) - 200])

    with monkeypatch.context() as patch:
        patch.setattr(journal.os, "write", half)
        with pytest.raises(StoreUnwritable, match="No space left"):
            await commit_to(store, waiting("b"))
    assert (folder / JOURNAL).read_bytes() == whole
    assert await held(store) == (["first", "a"], 1)


async def test_a_long_journal_is_taken_into_the_tables_by_the_next_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MOST", 2_000)
    store = open_at(str(folder))
    for number in range(7):
        await commit_to(store, waiting(f"m{number}"))
    assert 1 < in_tables(folder) < 8
    assert (folder / JOURNAL).stat().st_size < 4_000
    assert await held(store) == await held(open_at(str(folder))) == (["first", *(f"m{n}" for n in range(7))], 7)


async def test_a_forget_leaves_nothing_in_the_journal(folder: Path) -> None:
    store, reader = open_at(str(folder)), open_at(str(folder))
    await commit_to(store, waiting("alpha"))
    await commit_to(store, waiting("beta"))
    await held(reader)
    assert holding(folder, ["alpha came", "beta came"]) == {"alpha came", "beta came"}
    await store.forget(lambda _: ForgetTargets("default", turns=frozenset({turn("alpha").id})), "test")
    assert holding(folder, ["alpha came", "beta came"]) == {"beta came"}
    assert await held(reader) == (["first", "beta"], 1)
    assert await faults(store) == []


@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize(("changed", "left"), [("abc", ""), ("a", "bc"), ("b", "ac"), ("c", "ab"), ("bc", "a")])
async def test_lost_lines_are_noticed_and_a_repair_keeps_the_others_and_asks_for_them(
    folder: Path, changed: str, left: str, noted: bool
) -> None:
    """Whether the newest commit is noted beside the tables or not; an export has what is whole even before."""
    store = open_at(str(folder))
    for ref in "abc":
        await commit_to(store, waiting(ref))
    await store.aclose()
    content = (folder / JOURNAL).read_bytes()
    for ref in changed:
        content = content.replace(f"{ref} came".encode(), b"X came")
    (folder / JOURNAL).write_bytes(content)
    if not noted:
        for name in ANCHORS:
            (folder / name).unlink(missing_ok=True)
    store = open_at(str(folder))
    shown = left[: "abc".index(changed[0])]
    assert await held(store) == (["first", *shown], len(shown))
    assert f"{len(changed)} of 4 commits are gone" in store.damage[0]
    assert store.damage == (await store.about()).problems
    with pytest.raises(StoreDamaged):
        await commit_to(store, waiting("e"))
    with pytest.raises(StoreDamaged):
        await commit_to(store, batch("e"))
    assert [one.ref for part in await store.log() for one in part.turns] == ["first", *left]
    assert (folder / JOURNAL).read_bytes() == content
    told: list[str] = []
    await store.repair(lambda texts: bool(told.extend(texts)))
    assert (folder / JOURNAL).read_bytes() == content
    numbers = ["abc".index(ref) + 2 for ref in changed]
    counted = noted and "c" in changed  # the note says what it held
    unknown = numbers[:-1] if counted else numbers
    assert (told[0] == f"all that {len(unknown)} commits held ({', '.join(map(str, unknown))})") == bool(unknown)
    await store.repair(lambda _: True)
    await store.aclose()
    assert any("rows of 'turns'" in text for text in told) == counted
    store = open_at(str(folder))
    assert store.damage == ()
    assert await held(store) == (["first", *left], len(left))
    await commit_to(store, waiting("e"))
    assert await faults(store) == []


async def test_a_journal_that_is_put_back_makes_the_store_whole_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_memory.storage.damage.LOOK_AGAIN_S", 0)
    store = open_at(str(folder))
    await commit_to(store, waiting("a"))
    await store.aclose()
    content = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).unlink()
    store = open_at(str(folder))
    assert await held(store) == (["first"], 0)
    assert store.damage
    (folder / JOURNAL).write_bytes(content)
    assert await held(store) == (["first", "a"], 1)
    assert store.damage == ()


async def test_a_line_has_just_the_columns_of_its_tables(folder: Path) -> None:
    """What a line looks like belongs to the store's format: see CONTRIBUTING."""
    await commit_to(open_at(str(folder)), waiting("a"))
    _, _, text = (folder / JOURNAL).read_bytes().partition(b" ")
    content = json.loads(text)
    assert set(content) == {"commit", "turns", "facts"}
    assert set(content["commit"]) == {field.name for field in fields(Commit)}
    assert set(content["turns"][0]) == set(rows_of("turns", []).schema.names)
    assert set(content["facts"][0]) == set(rows_of("facts", []).schema.names)
