"""Sums tell a changed file of a table."""

import threading
from pathlib import Path

import pyarrow as pa
import pytest
from batches import batch
from damaging import (
    COMMITS,
    data_files,
    embed,
    everything,
    held,
    log_of,
    make_anew,
    newest,
    refs,
)
from lance_at import NOW, commit_to, open_at

from mcp_memory.storage.compaction import compact
from mcp_memory.storage.sums import SUMS
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("table", ["segments_0", "assertions_0", "point_vectors_0"])
async def test_a_column_that_got_another_name_in_a_manifest_is_noticed(tmp_path: Path, table: str) -> None:
    folder = tmp_path / "store"
    log = await everything(folder)
    hurt = newest(folder, f"{table}.lance/_versions/*.manifest")
    content = hurt.read_bytes()
    place = content.index(b"space" if b"space" in content else b"tx")
    hurt.write_bytes(content[:place] + b"S" + content[place + 1 :])
    store = open_at(str(folder), derive=lambda: make_anew, embed=embed)
    await held(store)
    assert table in " ".join(store.damage)
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
    assert tables.sums.wrong(["sentences_1"]) == set()


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
