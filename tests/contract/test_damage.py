"""A damaged store says so, is not written to, and takes back what is left."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from batches import batch, derive, point, pointed, taught, unit_vectors
from lance_at import NOW, commit_to, open_at

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.turns import PooledQuestion, Turn
from mcp_memory.errors import StoreDamaged, StoreUnwritable
from mcp_memory.storage.compaction import compact
from mcp_memory.storage.damage import read_anchor
from mcp_memory.storage.data_files import no_panics
from mcp_memory.storage.log_copy import LOG_COPY, LogCopy
from mcp_memory.storage.repair import LOST
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.sums import SUMS
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix

pytestmark = pytest.mark.anyio
COMMITS = 5


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    store = open_at(str(tmp_path / "store"))
    for number in range(COMMITS):
        await commit_to(store, batch(f"m{number}"))
    await store.aclose()
    return tmp_path / "store"


def newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns)


def data_files(folder: Path) -> list[Path]:
    return list(folder.glob("*.lance/data/*.lance"))


def oldest(folder: Path, pattern: str) -> Path:
    return min(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns)


async def refs(store: LanceStore) -> list[str]:
    async with store.reading() as view:
        return sorted(turn.ref for turn in view.space("default").turns.values())


async def repaired(folder: Path, give_up: Callable[[object], bool]) -> list[str]:
    store = open_at(str(folder))
    done = await store.repair(give_up)
    await store.aclose()
    return done


async def is_damaged(folder: Path) -> list[str]:
    """Return what can still be recalled of a store that says that it is damaged and takes no write."""
    store = open_at(str(folder))
    left = await refs(store)
    assert store.damage
    assert any("doctor --repair" in problem for problem in (await store.about()).problems)
    with pytest.raises(StoreDamaged, match="doctor --repair"):
        await commit_to(store, batch("new"))
    await store.aclose()
    return left


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
    assert len(await is_damaged(folder)) < COMMITS
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
    assert "3 commits are made anew" in " ".join(done)
    store = open_at(str(folder))
    assert len(await refs(store)) == COMMITS
    await commit_to(store, batch("new"))
    assert store.damage == ()


@pytest.mark.parametrize("content", [None, b"", b"half"])
async def test_rows_of_a_damaged_file_are_given_up_only_if_told_to_and_written_down(
    folder: Path, content: bytes | None
) -> None:
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
    assert json.loads((folder / LOST).read_text())[0]["rows_by_commit"]["turns"] == {"1": 1}
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


async def make_anew(turns: Sequence[Turn]) -> Batch:
    return derive(turns)


async def held(store: LanceStore) -> tuple[int, int, int]:
    """Return how many sentences, segments and facts of the rules a store has."""
    async with store.reading() as view:
        space = view.space("default")
        facts = sum(one.extractor == "embedded" for one in space.facts.rows)
        return len(space.sentences), len(space.segments), facts


@pytest.mark.parametrize("table", ["sentences_0", "segments_0", "assertions_0"])
@pytest.mark.parametrize("part", ["_versions/*.manifest", "data/*.lance"])
async def test_a_broken_derived_table_is_told_and_made_anew(folder: Path, table: str, part: str) -> None:
    newest(folder, f"{table}.lance/{part}").unlink()
    store = open_at(str(folder), derive=lambda: make_anew)
    assert sum(await held(store)) < 4 * COMMITS
    assert "makes them anew" in " ".join(store.damage) + " ".join((await store.about()).problems)
    assert store.outdated
    await store.reread()
    assert await held(store) == (2 * COMMITS, COMMITS, COMMITS)
    assert (store.damage, store.outdated) == ((), False)
    await commit_to(store, batch("new"))
    await store.aclose()
    assert await held(open_at(str(folder))) == (2 * COMMITS + 2, COMMITS + 1, COMMITS + 1)


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


async def test_lost_rows_are_taken_from_the_newest_backup_that_has_them(tmp_path: Path, folder: Path) -> None:
    store = open_at(str(folder), backups=(3, ""))
    await store.rebuild(make_anew)  # which makes a backup
    await commit_to(store, batch("m5"))
    await store.aclose()
    (folder / LOG_COPY).unlink()
    for table in ("turns", "facts"):
        oldest(folder, f"{table}.lance/data/*.lance").write_bytes(b"")
    await is_damaged(folder)
    store = open_at(str(folder), backups=(3, ""))
    assert "taken from the backup" in " ".join(await store.repair(lambda texts: pytest.fail(str(texts))))
    assert await refs(store) == [f"m{number}" for number in range(6)]
    assert store.damage == ()
    assert not (folder / LOST).exists()


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


async def changed_in_place(folder: Path, commits: int = 3) -> Path:
    """Write a store with long texts, change one byte of a text on the disk, and return its file."""
    store = open_at(str(folder))
    for number in range(commits):
        long = [replace(one, text=f"{one.text} {'and more ' * 200}") for one in batch(f"m{number}").turns]
        await commit_to(store, Batch(tuple(long)))
    await store.aclose()
    (folder / LOG_COPY).unlink()
    hurt = oldest(folder, "turns.lance/data/*.lance")
    content = hurt.read_bytes()
    place = content.index(b"and more")
    hurt.write_bytes(content[:place] + b"X" + content[place + 1 :])
    return hurt


async def test_a_byte_that_was_changed_in_place_is_noticed_and_nothing_merges_it(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    hurt = await changed_in_place(folder)
    store = open_at(str(folder))
    async with store.reading() as view:
        assert any("Xnd" in turn.text for turn in view.space("default").turns.values())
    assert "changed after" in " ".join(store.damage)
    assert f"turns.lance/data/{hurt.name}" in " ".join((await store.about()).problems)
    assert "changed after" in " ".join(await store.damage_now())
    with pytest.raises(StoreDamaged, match="doctor --repair"):
        await commit_to(store, batch("new"))
    with pytest.raises(StoreDamaged):
        compact(Tables(str(folder)), 1, now=NOW, stop=threading.Event())
    await store.aclose()


@pytest.mark.parametrize("backups", [0, 3])
async def test_rows_of_a_changed_file_come_from_a_backup_or_are_kept_with_a_word(tmp_path: Path, backups: int) -> None:
    folder = tmp_path / "store"
    hurt = await changed_in_place(folder)
    if backups:
        damaged = hurt.read_bytes()
        hurt.write_bytes(damaged.replace(b"Xnd more", b"and more"))
        store = open_at(str(folder), backups=(backups, ""))
        await store.rebuild(make_anew)
        await store.aclose()
        hurt.write_bytes(damaged)
    store = open_at(str(folder), backups=(backups, ""))
    told: list[str] = []
    done = " ".join(await store.repair(lambda texts: not told.extend(texts)))
    async with store.reading() as view:
        changed = sum("Xnd" in turn.text for turn in view.space("default").turns.values())
    assert (changed, "from the backup" in done, bool(told)) == ((0, True, False) if backups else (1, False, True))
    assert (folder / LOST).exists() is bool(told)
    await commit_to(store, batch("new"))
    assert store.damage == ()


async def test_a_changed_file_of_a_derived_table_is_made_anew(folder: Path) -> None:
    hurt = newest(folder, "segments_0.lance/data/*.lance")
    content = hurt.read_bytes()
    hurt.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    store = open_at(str(folder), derive=lambda: make_anew)
    await held(store)
    assert "segments_0" in " ".join(store.damage)
    assert any("changed after" in finding.text for finding in await store.check())
    await store.reread()
    await held(store)
    assert store.damage == ()


async def test_a_damaged_list_of_sums_does_no_harm(folder: Path) -> None:
    sums = folder / SUMS
    lines = sums.read_bytes().splitlines(keepends=True)
    sums.write_bytes(b"".join(line.replace(b"0", b"1") for line in lines[:-1]) + lines[-1][:20])
    store = open_at(str(folder))
    assert len(await refs(store)) == COMMITS
    assert store.damage == ()
    await commit_to(store, batch("new"))
    await store.aclose()
    compact(Tables(str(folder)), 64, now=NOW, stop=threading.Event())
    assert len(sums.read_bytes().splitlines()) == len(data_files(folder))


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


async def embed(texts: Sequence[str]) -> Matrix:
    return unit_vectors(texts)


async def log_of(store: LanceStore) -> list[tuple[object, ...]]:
    """Return what stands in the log, by commit."""
    return [(one.turns, one.assertions, one.lessons, one.points, one.aliases) for one in await store.log()]


async def everything(folder: Path, commits: int = 4) -> list[tuple[object, ...]]:
    """Write every kind of row, and return the log as it is to be."""
    store = open_at(str(folder))
    for number in range(commits):
        made, told = pointed(point(f"p{number}")), taught(f"e{number}")
        alias = Alias("default", f"Bo{number} Oak", f"Bo{number}", "why", "caller", 1)
        rows = replace(batch(f"m{number}"), points=made.points, point_vectors=made.point_vectors, lessons=told.lessons)
        await commit_to(store, replace(rows, aliases=(alias,)))
    log = await log_of(store)
    await store.aclose()
    return log


@pytest.mark.parametrize("pattern", ["data/*", "_versions/*"])
async def test_the_copy_of_the_log_brings_everything_back(tmp_path: Path, pattern: str) -> None:
    folder = tmp_path / "store"
    log = await everything(folder)
    for table in ("commits", "turns", "facts", "episodes", "points", "aliases"):
        for file in folder.glob(f"{table}.lance/{pattern}"):
            file.write_bytes(b"")
    done = await repaired(folder, lambda texts: pytest.fail(str(texts)))
    assert "are taken from the copy of the log" in " ".join(done)
    store = open_at(str(folder), embed=embed)
    assert await log_of(store) == log
    await store.rebuild(make_anew)
    assert len(await refs(store)) == len(log)
    await commit_to(store, batch("new"))
    assert store.damage == ()


async def test_the_copy_of_the_log_is_filled_and_holds_nothing_that_was_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    await everything(folder)
    copy = folder / LOG_COPY
    whole = LogCopy(folder).entries()
    copy.write_bytes(copy.read_bytes()[:100])

    def fill() -> None:
        compact(Tables(str(folder)), 64, now=NOW, stop=threading.Event())

    fill()
    assert LogCopy(folder).entries() == whole
    assert len(whole) == 4
    store = open_at(str(folder))
    async with store.reading() as view:
        chosen = frozenset(turn.id for turn in view.space("default").turns.values() if turn.ref == "m1")
    await store.forget(lambda _: ForgetTargets("default", turns=chosen), "a test")
    await store.aclose()
    assert not copy.exists()
    fill()
    assert b"m0 came" in copy.read_bytes()
    assert b"m1 came" not in copy.read_bytes()


async def test_a_copy_of_another_log_is_not_used_and_begun_anew(tmp_path: Path, folder: Path) -> None:
    other = open_at(str(tmp_path / "other"), clock=lambda: NOW + 1)
    for number in range(COMMITS):
        await commit_to(other, batch(f"other{number}"))
    await other.aclose()
    (folder / LOG_COPY).write_bytes((tmp_path / "other" / LOG_COPY).read_bytes())
    oldest(folder, "turns.lance/data/*.lance").unlink()
    assert "Nothing was given up" in (await repaired(folder, lambda _: False))[-1]
    await repaired(folder, lambda _: True)
    compact(Tables(str(folder)), 64, now=NOW, stop=threading.Event())
    assert b"other" not in (folder / LOG_COPY).read_bytes()
