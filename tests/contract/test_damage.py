"""A damaged store says so, is not written to, and takes back what is left."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from batches import batch, belief, taught, unit_vectors
from damaging import (
    COMMITS,
    held,
    is_damaged,
    make_anew,
    newest,
    oldest,
    refs,
    repaired,
    set_aside,
)
from lance_at import commit_to, open_at

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.turns import PooledQuestion, Turn
from mcp_memory.errors import StoreDamaged, StoreError, StoreUnwritable
from mcp_memory.storage.copies import ANCHORS, LOG_COPY, read_anchor, write_anchor
from mcp_memory.storage.damage import damage_of
from mcp_memory.storage.data_files import is_complete_manifest, no_panics
from mcp_memory.storage.journal import JOURNAL
from mcp_memory.storage.schema import Commit, commits_of
from mcp_memory.storage.tables import Tables
from mcp_memory.view.space import Space

pytestmark = pytest.mark.anyio


async def test_each_commit_is_noted_beside_the_store_and_one_damaged_note_does_no_harm(folder: Path) -> None:
    assert (noted := read_anchor(folder)) is not None
    assert noted.tx == COMMITS
    (folder / f"anchor-{COMMITS % 2}.json").write_bytes(b"\0" * 100)
    assert (noted := read_anchor(folder)) is not None
    assert noted.tx == COMMITS - 1
    store = open_at(str(folder))
    assert len(await refs(store)) == COMMITS
    assert store.damage == ()


@pytest.mark.parametrize("table", ["commits", "turns"])
async def test_a_lost_manifest_is_noticed_and_nothing_is_written_until_it_is_back(folder: Path, table: str) -> None:
    lost = newest(folder, f"{table}.lance/_versions/*.manifest")
    content = lost.read_bytes()
    lost.unlink()
    assert len(await is_damaged(folder)) == (COMMITS if table == "commits" else COMMITS - 1)
    lost.write_bytes(content)
    store = open_at(str(folder))
    assert len(await refs(store)) == COMMITS
    await commit_to(store, batch("new"))
    assert len(await refs(store)) == COMMITS + 1


async def test_lost_commits_are_made_anew_from_the_rows_that_carry_their_numbers(folder: Path) -> None:
    (folder / LOG_COPY).unlink()
    for _ in range(3):
        newest(folder, "commits.lance/_versions/*.manifest").unlink()
    assert len(await is_damaged(folder)) == COMMITS - 3
    done = await repaired(folder, lambda _: pytest.fail("nothing is lost"))
    assert "3 commits are made again" in " ".join(done)
    store = open_at(str(folder))
    assert len(await refs(store)) == COMMITS
    await commit_to(store, batch("new"))
    assert store.damage == ()


@pytest.mark.parametrize("content", [None, b"", b"half"])
async def test_rows_of_a_damaged_file_are_given_up_only_if_told_to(folder: Path, content: bytes | None) -> None:
    (folder / LOG_COPY).unlink()
    hurt = oldest(folder, "turns.lance/data/*.lance")
    before = hurt.read_bytes()
    hurt.unlink()
    if content is not None:
        hurt.write_bytes(content)
    await is_damaged(folder)
    assert "Nothing was given up" in (await repaired(folder, lambda _: False))[-1]
    hurt.write_bytes(before)
    store = open_at(str(folder))
    assert len(await refs(store)) == COMMITS
    await store.aclose()
    hurt.unlink()
    told: list[object] = []
    await repaired(folder, lambda texts: not told.append(texts))
    assert "1 rows of 'turns'" in str(told)
    store = open_at(str(folder))
    assert await refs(store) == ["m1", "m2", "m3", "m4"]
    await commit_to(store, batch("new"))
    assert store.damage == ()


async def test_a_forget_is_no_damage(folder: Path) -> None:
    store = open_at(str(folder))
    async with store.reading() as view:
        chosen = frozenset([next(iter(view.space("default").turns))])
    await store.forget(lambda _: ForgetTargets("default", turns=chosen), "a test")
    assert len(await refs(store)) == COMMITS - 1
    await commit_to(store, batch("new"))
    assert store.damage == ()
    again = open_at(str(folder))
    assert len(await refs(again)) == COMMITS
    assert again.damage == ()


def test_a_panic_of_the_library_becomes_an_error() -> None:
    class PanicException(BaseException):
        """As the libraries of Rust raise it."""

    with pytest.raises(RuntimeError, match="damaged file"), no_panics():
        raise PanicException("range end index out of range")
    with pytest.raises(KeyboardInterrupt), no_panics():
        raise KeyboardInterrupt


@pytest.mark.parametrize("table", ["sentences_0", "segments_0", "assertions_0"])
@pytest.mark.parametrize("part", ["_versions/*.manifest", "data/*.lance"])
@pytest.mark.parametrize("content", [None, b"", bytes(2000)])
async def test_a_broken_derived_table_is_told_and_made_anew(
    folder: Path, table: str, part: str, content: bytes | None
) -> None:
    damaged = newest(folder, f"{table}.lance/{part}")
    damaged.unlink()
    if content is not None:
        damaged.write_bytes(content)
    store = open_at(str(folder), derive=lambda: make_anew)
    assert sum(await held(store)) < 4 * COMMITS
    assert "makes them again" in " ".join(store.damage) + " ".join((await store.about()).problems)
    assert store.outdated
    await store.reread()
    assert await held(store) == (2 * COMMITS, COMMITS, COMMITS)
    assert (store.damage, store.outdated) == ((), False)
    await commit_to(store, batch("new"))
    await store.aclose()
    assert await held(open_at(str(folder))) == (2 * COMMITS + 2, COMMITS + 1, COMMITS + 1)


@pytest.mark.parametrize("content", [b"", b"LANC", b"\xff" * 16, b"\xff" * 8 + b"\0" * 4 + b"LANC", bytes(64)])
def test_a_manifest_whose_end_makes_no_sense_is_not_complete(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "1.manifest"
    file.write_bytes(content)
    assert not is_complete_manifest(file)


async def test_a_changed_manifest_is_seen_before_the_library_panics_on_it(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    manifest = newest(folder, "sentences_0.lance/_versions/*.manifest")
    content = manifest.read_bytes()
    manifest.write_bytes(content[:1] + bytes([content[1] ^ 0x10]) + content[2:])
    store = open_at(str(folder), derive=lambda: make_anew)
    assert sum(await held(store)) < 4 * COMMITS
    await store.reread()
    assert await held(store) == (2 * COMMITS, COMMITS, COMMITS)
    await store.aclose()
    assert "panicked" not in capfd.readouterr().err  # it would say so by itself, on standard error


async def test_a_derived_table_that_cannot_be_made_anew_is_not_tried_at_every_call(folder: Path) -> None:
    async def fail(_: Sequence[Turn]) -> Batch:
        raise StoreUnwritable("no room")

    newest(folder, "sentences_0.lance/data/*.lance").unlink()
    store = open_at(str(folder), derive=lambda: fail)
    await held(store)
    with pytest.raises(StoreUnwritable, match="no room"):
        await store.reread()
    await held(store)
    assert not store.outdated
    assert store.damage


async def test_questions_of_the_pool_are_missed(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = open_at(str(folder))
    rows = batch("m0")
    asked = ("default", PooledQuestion("What came?", rows.segments[0].id, frozenset(("ann",))))
    await commit_to(store, replace(rows, questions=(asked,), question_vectors=unit_vectors(["What came?"])))
    await store.aclose()
    oldest(folder, "questions_0.lance/data/*.lance").unlink()
    await is_damaged(folder)
    assert "1 rows of 'questions'" in " ".join(await repaired(folder, lambda _: True))
    store = open_at(str(folder))
    await commit_to(store, batch("m1"))
    assert store.damage == ()


async def test_a_file_put_back_after_its_rows_were_given_up_hides_no_other_row(folder: Path) -> None:
    (folder / LOG_COPY).unlink()
    lost = newest(folder, "turns.lance/_versions/*.manifest")
    content = lost.read_bytes()
    lost.unlink()
    await repaired(folder, lambda _: True)
    lost.write_bytes(content)
    store = open_at(str(folder))
    assert await refs(store) == [f"m{number}" for number in range(COMMITS)]
    await commit_to(store, batch("new"))
    assert store.damage == ()


async def test_a_derived_table_that_breaks_under_a_running_server_refuses_a_write_and_is_made_anew(
    folder: Path,
) -> None:
    store = open_at(str(folder), derive=lambda: make_anew)
    whole = await held(store)
    newest(folder, "assertions_0.lance/_versions/*.manifest").write_bytes(b"")
    with pytest.raises(StoreError, match="assertions_0"):
        await commit_to(store, batch("new"))
    assert await held(store) == whole
    assert store.outdated
    await store.reread()
    assert not store.outdated
    await commit_to(store, batch("new"))
    assert (await held(store))[0] == whole[0] + 2
    assert store.damage == ()


async def test_a_journal_that_changes_under_a_running_server_is_not_written_over(folder: Path) -> None:
    store = open_at(str(folder))
    await commit_to(store, Batch(batch("new").turns))
    content = (folder / JOURNAL).read_bytes()
    for changed in (content.replace(b"new came first", b"new came f1rst"), bytes(len(content))):
        (folder / JOURNAL).write_bytes(changed)
        for rows in (batch("more"), *([Batch(batch("more").turns)] if not any(changed) else [])):
            with pytest.raises(StoreDamaged, match="journal"):
                await commit_to(store, rows)
        assert (await store.about()).problems
        assert (folder / JOURNAL).read_bytes() == changed
    (folder / JOURNAL).write_bytes(content)
    again = open_at(str(folder))
    assert (len(await refs(again)), again.damage) == (COMMITS + 1, ())
    await commit_to(again, batch("more"))
    assert len(await refs(store)) == COMMITS + 2


async def test_a_table_of_the_log_that_breaks_under_a_running_server_is_told_once_a_write_meets_it(
    folder: Path,
) -> None:
    store = open_at(str(folder))
    assert len(await refs(store)) == COMMITS
    newest(folder, "facts.lance/_versions/*.manifest").write_bytes(b"half")
    with pytest.raises(StoreError, match="facts"):
        await commit_to(store, batch("new"))
    assert "'facts'" in " ".join(store.damage)
    assert len(await refs(store)) == COMMITS


async def test_what_was_repaired_can_be_forgotten_and_nothing_of_the_damaged_files_is_left(folder: Path) -> None:
    damaged = newest(folder, "turns.lance/data/*.lance")
    content = damaged.read_bytes()
    damaged.write_bytes(content[:60] + bytes([content[60] ^ 1]) + content[61:])
    await repaired(folder, lambda _: True)
    assert set_aside(folder)
    store = open_at(str(folder))
    async with store.reading() as view:
        chosen = frozenset([next(iter(view.space("default").turns))])
    await store.forget(lambda _: ForgetTargets("default", turns=chosen), "a test")
    assert len(await refs(store)) == COMMITS - 1
    assert not set_aside(folder)


async def test_jobs_from_before_a_rebuild_are_missed_when_their_table_is_lost(folder: Path) -> None:
    store = open_at(str(folder))
    await commit_to(store, Batch(jobs=(Job("default", "t_1", "done", 1, 0, 0, "", 1),)))
    await store.rebuild(make_anew)
    await store.aclose()
    newest(folder, "jobs.lance/_versions/*.manifest").unlink()
    assert len(await is_damaged(folder)) == COMMITS
    await repaired(folder, lambda texts: pytest.fail(str(texts)))
    store = open_at(str(folder))
    async with store.reading() as view:
        assert set(view.space("default").jobs) == {"t_1"}
    assert store.damage == ()


async def test_beliefs_that_a_rebuild_made_are_missed_when_their_table_is_lost(tmp_path: Path) -> None:
    async def relearn(_: Space, lessons: Sequence[Lesson]) -> list[Belief]:
        return [belief(name) for one in lessons for name in one.labels]

    folder = tmp_path / "store"
    rows, options = batch("m0"), {"derive": lambda: make_anew, "relearn": relearn}
    told = taught("e0", sentence=rows.sentences[0].id)
    store = open_at(str(folder), **options)
    await commit_to(store, replace(rows, lessons=told.lessons, beliefs=told.beliefs))
    await store.rebuild(make_anew)
    await store.aclose()
    newest(folder, "beliefs_1.lance/_versions/*.manifest").unlink()
    store = open_at(str(folder), **options)
    await refs(store)
    assert "'beliefs_1'" in " ".join(store.damage)
    await store.reread()
    async with store.reading() as view:
        assert len(view.space("default").beliefs) == 1
    assert store.damage == ()


async def test_what_another_process_commits_during_the_look_is_not_taken_for_damage(folder: Path) -> None:
    tables = Tables(str(folder))
    rows = tables.rows("commits")
    assert rows is not None
    commits = commits_of(rows)
    assert len(commits) > 1
    assert [damage_of(tables, commit) for commit in commits] == [[]] * len(commits)


async def test_a_commit_of_another_thread_during_the_look_is_not_taken_for_damage(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Tables(str(folder))
    rows = tables.rows("commits")
    assert rows is not None
    *_, before, last = commits_of(rows)

    def read_before_it(_: Tables) -> Commit:
        write_anchor(folder, last)
        return before

    (folder / ANCHORS[last.tx % 2]).unlink()
    monkeypatch.setattr("mcp_memory.storage.damage.newest", read_before_it)
    assert damage_of(tables, before) == []
