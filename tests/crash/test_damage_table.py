"""Doctor, status and refused writes say the same of a damaged store, and the named command mends it.

These are a few cells of the table that ``damage_table.py`` goes through.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from damage_table import doctor, make, status_of, strays, table, written
from damaged_store import damage, make_rows, open_store
from lance_at import open_at

from mcp_memory.errors import StoreDamaged
from mcp_memory.storage.log import ANCHOR, LOG
from mcp_memory.vectors import Matrix

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("files", "way", "outcome", "count"),
    [
        ("segments_0.lance/data", "emptied", "mended", 2),
        ("assertions_0.lance/data", "block flipped", "mended", 2),
        ("sentences_0.lance/data", "deleted", "mended", 2),
        ("sums.txt", "emptied", "quiet", 1),
        ("memory.anchor", "halved", "quiet", 1),
        ("memory.log", "byte flipped", "given up", 1),
        ("memory.log", "halved", "given up", 1),
    ],
)
async def test_what_doctor_and_status_say_is_the_same_and_what_they_name_mends_it(
    tmp_path: Path, files: str, way: str, outcome: str, count: int
) -> None:
    found, bad = await table(tmp_path, "loose", ways=(way,), only=files)
    assert not bad
    assert {key[2]: times for key, times in found.items()} == {"cells": count, outcome: count}


async def test_a_rebuild_refuses_a_damaged_log_and_one_that_fails_leaves_no_table(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    await make(folder, "loose")
    tables = sorted(folder.glob("*.lance"))

    async def fail(_: Sequence[str]) -> Matrix:
        assert list(folder.glob("*_1.lance"))
        raise RuntimeError("no power")

    store = open_at(str(folder), embed=fail)
    with pytest.raises(RuntimeError, match="no power"):
        await store.rebuild(make_rows)
    assert sorted(folder.glob("*.lance")) == tables
    damage(folder / LOG, "byte flipped")
    with pytest.raises(StoreDamaged, match="doctor --repair"):
        await store.rebuild(make_rows)
    await store.aclose()
    assert sorted(folder.glob("*.lance")) == tables
    assert "commits are gone" in str((await doctor(folder, "--rebuild")).problems)
    assert (sorted(folder.glob("*.lance")), strays(folder)) == (tables, [])


@pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
@pytest.mark.parametrize("option", ["--rebuild", "--repair"])
@pytest.mark.parametrize("rights", [(0o700, 0o600), (0o750, 0o640)])
async def test_what_doctor_writes_has_the_rights_of_the_store(
    tmp_path: Path, option: str, rights: tuple[int, int]
) -> None:
    folder = tmp_path / "store"
    await make(folder, "loose")
    own = [folder, *(path for path in folder.rglob("*") if "holders" not in path.parts and path.suffix != ".lock")]
    for path in own:
        path.chmod(rights[0] if path.is_dir() else rights[1])
    if option == "--repair":
        damage(folder / LOG, "byte flipped")
        (folder / LOG).chmod(rights[1])
    os.umask(0o022)
    assert (await doctor(folder, option, yes=True)).well
    made = set(folder.rglob("*.lance")) | set(folder.rglob("*.manifest")) | {folder / LOG, folder / ANCHOR}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {rights[0]}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == {rights[1]}


async def test_what_a_repair_cannot_bring_back_is_named_before_with_the_way_to_a_backup(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    await make(folder, "loose")
    damage(folder / LOG, "byte flipped")
    told, before = await doctor(folder), {path: path.stat().st_mtime_ns for path in folder.glob("*.lance/*/*")}
    assert "mcp-memory restore --replace" in told.lines[-1]
    asked = await doctor(folder, "--repair")
    assert "all that 1 commits held" in str(asked.lines)
    assert "Nothing was given up" in str(asked.lines)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*.lance/*/*")} == before


async def test_a_running_server_is_told_what_a_new_one_finds(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    await make(folder, "loose")
    store = open_store(folder)
    async with store.reading():
        pass
    damage(folder / LOG, "halved")
    seen = await status_of(folder)
    assert seen.problems
    assert (await store.about()).problems == seen.problems
    await store.aclose()
    refused = await written(folder)
    assert refused is not None
    assert all(text in refused for text in seen.problems)
