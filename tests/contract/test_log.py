"""A commit is a line of the log: every process sees it, half of one was never written, and a lost one is noticed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batches import asserted, batch, derive, turn
from damaging import COMMITS, is_damaged, make_anew, refs, repaired
from lance_at import NOW, commit_to, open_at
from rows_checked import row_problems

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.language_model import Job
from mcp_memory.errors import StoreDamaged, StoreUnwritable
from mcp_memory.services.transfer.exporting import values_of
from mcp_memory.storage import log as log_module
from mcp_memory.storage.log import ANCHOR, LOG, LocalLog
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


async def held(store: LanceStore) -> tuple[list[str], int]:
    """Return the texts of a store in order, and how many facts it has of callers."""
    async with store.reading() as view:
        space = view.space("default")
        return [one.ref for one in space.turns.values()], sum(one.extractor == "caller" for one in space.facts.rows)


def lines(folder: Path) -> list[bytes]:
    return (folder / LOG).read_bytes().splitlines(keepends=True)


async def test_the_log_has_a_batch_for_each_commit_without_derived_rows(tmp_path: Path) -> None:
    store = open_at(str(tmp_path / "store"))
    await commit_to(store, batch("a", "b"))
    alias = Alias("default", "Ann", "Annie", "said so", "embedded", NOW)
    await commit_to(store, Batch(aliases=(alias,)))
    jobs = [Job("default", turn("a").id, state, 1, 0, 0, "", NOW) for state in ("waiting", "done")]
    for job in jobs:
        await commit_to(store, Batch(jobs=(job,)))
    told = tuple(asserted(turn(ref, place=place), extractor="caller") for place, ref in enumerate("ab"))
    turns = turn("a"), turn("b", place=1)
    logged = await store.log()
    assert [list(values_of(one)) for one in logged] == [[*turns, *told], [alias], [jobs[1]]]
    assert not any(len(one.sentences) or len(one.segments) or len(one.sentence_vectors) for one in logged)


async def test_a_text_that_waits_is_a_line_alone_and_every_process_sees_it(tmp_path: Path) -> None:
    uri = str(tmp_path / "store")
    reader, writer = open_at(uri), open_at(uri)
    assert await commit_to(writer, waiting("a")) == 1
    assert Tables(uri).names() == []
    assert await held(reader) == (["a"], 1)
    await commit_to(writer, waiting("b", "c"))
    assert await held(reader) == await held(writer) == await held(open_at(uri)) == (["a", "b", "c"], 3)
    assert (await reader.about()).tx == 2
    assert [len(one.turns) for one in await reader.log()] == [1, 2]
    await commit_to(reader, indexed("a", "b"))
    for store in (reader, writer, open_at(uri)):
        async with store.reading() as view:
            assert len(view.space("default").segments) == 2
    assert await row_problems(reader) == []


async def test_a_line_that_was_cut_short_was_never_written_and_is_overwritten(folder: Path) -> None:
    whole = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(whole + b'0badc0de {"tx":6,"emb')
    writer = open_at(str(folder))
    assert len(await refs(writer)) == COMMITS
    assert writer.damage == ()
    await commit_to(writer, waiting("b"))
    assert (folder / LOG).read_bytes().startswith(whole)
    assert len(await refs(writer)) == len(await refs(open_at(str(folder)))) == COMMITS + 1
    assert await row_problems(writer) == []


async def test_a_line_that_does_not_fit_on_the_disk_is_not_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_at(str(folder))
    whole, real = (folder / LOG).read_bytes(), os.write

    def half(file: int, data: memoryview) -> int:
        if len(data) < 300:
            raise OSError(28, "No space left on device")
        return real(file, data[: len(data) - 200])

    with monkeypatch.context() as patch:
        patch.setattr(log_module.os, "write", half)
        with pytest.raises(StoreUnwritable, match="No space left"):
            await commit_to(store, waiting("b"))
    assert (folder / LOG).read_bytes() == whole
    assert len(await refs(store)) == COMMITS
    assert await commit_to(store, waiting("b")) == COMMITS + 1


# Damage


def _cut(folder: Path) -> None:
    (folder / LOG).write_bytes(b"".join(lines(folder)[:-2]))


def _change(folder: Path) -> None:
    (folder / LOG).write_bytes((folder / LOG).read_bytes().replace(b"m1 came", b"X1 came").replace(b"m3 c", b"X3 c"))


def _drop(folder: Path) -> None:
    first, _, _, *rest = lines(folder)
    (folder / LOG).write_bytes(b"".join((first, *rest)))


@pytest.mark.parametrize(
    ("hurt", "left"), [(_cut, ["m0", "m1", "m2"]), (_change, ["m0", "m2", "m4"]), (_drop, ["m0", "m3", "m4"])]
)
async def test_lost_commits_are_noticed_and_a_repair_keeps_the_others_and_asks_for_them(
    folder: Path, hurt: Callable[[Path], None], left: list[str]
) -> None:
    hurt(folder)
    content = (folder / LOG).read_bytes()
    assert await is_damaged(folder) == left
    store = open_at(str(folder))
    await refs(store)
    assert f"2 of {COMMITS} commits are gone" in store.damage[0]
    assert store.damage == (await store.about()).problems
    assert [one.ref for part in await store.log() for one in part.turns] == left
    assert "Nothing was given up" in (await repaired(folder, lambda _: False))[-1]
    assert (folder / LOG).read_bytes() == content
    told: list[str] = []
    await repaired(folder, lambda texts: not told.extend(texts))
    gone = [number for number in range(1, COMMITS + 1) if f"m{number - 1}" not in left]
    assert told == [f"all that 2 commits held ({', '.join(map(str, gone))})"]
    store = open_at(str(folder))
    await store.rebuild(make_anew)  # as doctor does
    assert (await refs(store), store.damage) == (left, ())
    await commit_to(store, batch("new"))
    assert await row_problems(store) == []


@pytest.mark.parametrize("also", [False, True])
async def test_a_log_that_is_gone_is_no_empty_memory_and_makes_it_whole_when_it_is_back(
    folder: Path, also: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without the anchor: the tables tell."""
    content, noted = (folder / LOG).read_bytes(), (folder / ANCHOR).read_bytes()
    (folder / LOG).unlink()
    if also:
        (folder / ANCHOR).unlink()
    assert await is_damaged(folder) == []
    assert "nothing is repaired" in (await repaired(folder, lambda _: pytest.fail("asked")))[0]
    store = open_at(str(folder))
    await refs(store)
    assert store.damage
    (folder / LOG).write_bytes(content)
    (folder / ANCHOR).write_bytes(noted)
    assert len(await refs(store)) == COMMITS
    assert store.damage == ()
    await commit_to(store, batch("new"))


@pytest.mark.parametrize("content", [b"", b"half", b"\0" * 100])
async def test_a_damaged_anchor_does_no_harm(folder: Path, content: bytes) -> None:
    (folder / ANCHOR).write_bytes(content)
    store = open_at(str(folder))
    assert (len(await refs(store)), store.damage) == (COMMITS, ())
    await commit_to(store, batch("new"))
    assert LocalLog(folder)._noted() == COMMITS + 1


async def test_a_log_that_changes_under_a_running_server_is_not_written_over(folder: Path) -> None:
    store = open_at(str(folder))
    content = (folder / LOG).read_bytes()
    for changed in (content.replace(b"m4 came first", b"m4 came f1rst"), bytes(len(content))):
        (folder / LOG).write_bytes(changed)
        with pytest.raises(StoreDamaged, match=r"memory\.log"):
            await commit_to(store, batch("more"))
        assert (await store.about()).problems
        assert (folder / LOG).read_bytes() == changed
    (folder / LOG).write_bytes(content)
    again = open_at(str(folder))
    assert (len(await refs(again)), again.damage) == (COMMITS, ())
    await commit_to(again, batch("more"))
    assert len(await refs(store)) == COMMITS + 1


async def test_a_log_that_cannot_be_read_for_a_moment_is_never_written_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that may open no more files sees no commit; what it appends then replaces none."""
    content, last, opened = (folder / LOG).read_bytes(), LocalLog(folder).last, Path.open
    assert last is not None
    left = [OSError(errno.EMFILE, "Too many open files")]

    def open_later(path: Path, *how: Any, **more: Any) -> Any:
        if left:
            raise left.pop()
        return opened(path, *how, **more)

    monkeypatch.setattr(Path, "open", open_later)
    log = LocalLog(folder)
    with pytest.raises(OSError, match="more than could be read"):
        log.append(last.next(NOW), {})
    assert (folder / LOG).read_bytes() == content
    log.append(last.next(NOW), {})
    assert ((folder / LOG).read_bytes()[: len(content)], log.newest(), log.problem) == (content, COMMITS + 1, "")
