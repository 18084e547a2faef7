"""Sums tell a changed file, and the copy of the log brings back what LanceDB's files lose."""

import threading
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from batches import batch
from damaging import (
    COMMITS,
    changed_in_place,
    data_files,
    embed,
    everything,
    held,
    log_of,
    make_anew,
    newest,
    oldest,
    refs,
    repaired,
)
from lance_at import NOW, commit_to, open_at

from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.errors import StoreDamaged, StoreError
from mcp_memory.storage.compaction import compact
from mcp_memory.storage.copies import LOG_COPY, LogCopy
from mcp_memory.storage.data_files import SUMS
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio


async def test_a_byte_that_was_changed_in_place_is_noticed_and_nothing_merges_it(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    hurt = await changed_in_place(folder)
    store = open_at(str(folder))
    async with store.reading() as view:
        assert any("Xnd" in turn.text for turn in view.space("default").turns.values())
    assert "changed after" in " ".join(store.damage)
    assert f"turns.lance/data/{hurt.name}" in " ".join((await store.about()).problems)
    assert "changed after" in " ".join((await store.about()).problems)
    with pytest.raises(StoreDamaged, match="doctor --repair"):
        await commit_to(store, batch("new"))
    with pytest.raises(StoreDamaged):
        compact(Tables(str(folder)), 1, now=NOW, stop=threading.Event())
    await store.aclose()


async def test_rows_that_only_a_changed_file_has_are_kept_with_a_word(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    await changed_in_place(folder)
    store = open_at(str(folder))
    told: list[str] = []
    await store.repair(lambda texts: not told.extend(texts))
    async with store.reading() as view:
        assert sum("Xnd" in turn.text for turn in view.space("default").turns.values()) == 1
    assert "was changed after it was written" in " ".join(told)
    await commit_to(store, batch("new"))
    assert store.damage == ()


@pytest.mark.parametrize("table", ["turns", "points", "episodes", "segments_0", "assertions_0"])
async def test_a_column_that_got_another_name_in_a_manifest_is_noticed(tmp_path: Path, table: str) -> None:
    folder = tmp_path / "store"
    log = await everything(folder)
    hurt = newest(folder, f"{table}.lance/_versions/*.manifest")
    content = hurt.read_bytes()
    place = content.index(b"space" if b"space" in content else b"tx")
    hurt.write_bytes(content[:place] + b"S" + content[place + 1 :])
    store = open_at(str(folder), derive=lambda: make_anew, embed=embed)
    with suppress(StoreError):  # of a table of the log, where a column is needed that has another name
        await held(store)
        assert table in " ".join(store.damage)
    await store.aclose()
    await repaired(folder, lambda texts: pytest.fail(str(texts)))
    store = open_at(str(folder), derive=lambda: make_anew, embed=embed)
    await held(store)
    await store.reread()
    assert await log_of(store) == log
    await commit_to(store, batch("new"))
    assert store.damage == ()


async def test_a_changed_file_of_a_derived_table_is_made_anew(folder: Path) -> None:
    hurt = newest(folder, "segments_0.lance/data/*.lance")
    content = hurt.read_bytes()
    hurt.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    store = open_at(str(folder), derive=lambda: make_anew)
    await held(store)
    assert "segments_0" in " ".join(store.damage)
    assert "segments_0" in " ".join((await store.about()).problems)
    await store.reread()
    await held(store)
    assert store.damage == ()


async def test_a_table_that_is_made_again_under_its_name_is_not_held_against_the_sums_of_the_first(
    tmp_path: Path,
) -> None:
    tables = Tables(str(tmp_path / "store"))
    rows = pa.table({"id": ["one", "two"], "number": [1, 2]})
    for _ in range(3):
        tables.append("sentences_1", rows)
    tables.drop("sentences_1")
    tables.append("sentences_1", rows)
    tables.delete("sentences_1", "number = 1")  # version 2, which has no sum of its own
    assert tables.sums.wrong(["sentences_1"]) == {}


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
    lines = sums.read_bytes().splitlines(keepends=True)
    assert sum(line.endswith(b".lance\n") for line in lines) == len(data_files(folder))


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
