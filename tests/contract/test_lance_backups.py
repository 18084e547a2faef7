"""Backups of a LanceDB store while others write, and what becomes of the store that one is restored over."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import anyio
import pytest
from anyio import from_thread
from batches import DIMENSION, batch
from lance_at import commit_to, fold_all
from rows_checked import row_problems
from test_lance_forget import fill, opened

from mcp_memory.errors import InvalidInput, StoreBusy, StoreUnwritable
from mcp_memory.storage import backups
from mcp_memory.storage import restore as restoring
from mcp_memory.storage.backups import back_up
from mcp_memory.storage.restore import check_readable, restore, set_aside
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio

NOW = 1_714_903_200_000


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def refs(folder: Path) -> set[str]:
    async with opened(folder).reading() as view:
        return {one.ref for one in view.space("default").turns.values()}


async def saved(folder: Path, file: Path) -> int:
    tables = Tables(str(folder))
    return await back_up(tables, 5.0, file, NOW)


async def restored(file: Path, folder: Path, *, replace: bool = False, now: int = NOW) -> tuple[int, int, Path | None]:
    return await restore(file, str(folder), None, replace=replace, now=now)


async def test_a_backup_is_one_commit_of_a_store_in_use_and_comes_back_as_it_was(tmp_path: Path) -> None:
    store = opened(tmp_path / "store")
    await fill(store)
    done = anyio.Event()

    async def writing() -> None:
        for number in range(12):
            await commit_to(store, batch(f"more{number}"))
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writing)
        tx = await saved(tmp_path / "store", tmp_path / "file")
    assert done.is_set()
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600 or os.name != "posix"
    assert (await restored(tmp_path / "file", tmp_path / "copy"))[0] == tx
    written = {ref for ref in await refs(tmp_path / "store") if ref.startswith("more")}
    there = await refs(tmp_path / "copy")
    number = len([ref for ref in there if ref.startswith("more")])
    assert there == await refs(tmp_path / "store") - written | {f"more{one}" for one in range(number)}
    assert await row_problems(opened(tmp_path / "copy")) == []


@pytest.mark.parametrize("damage", ["half", "flipped", "foreign", "empty", "other archive", "without its end"])
async def test_what_is_no_whole_backup_is_refused_and_nothing_is_changed(tmp_path: Path, damage: str) -> None:
    await fill(opened(tmp_path / "store"))
    fold_all(str(tmp_path / "store"))
    file = tmp_path / "file"
    await saved(tmp_path / "store", file)
    content = file.read_bytes()
    place = content.index(b"LANC") - 300
    file.write_bytes(
        {
            "half": content[: len(content) // 2],
            "flipped": content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :],
            "foreign": b"PK\x03\x04 not ours",
            "empty": b"",
            "other archive": b"",
            "without its end": content[: content.rindex(b"PK\x05\x06")],
        }[damage]
    )
    if damage == "other archive":
        with zipfile.ZipFile(file, "w") as other:
            other.write(__file__, "../evil")
    with pytest.raises(InvalidInput, match=r"no backup|no whole backup"):
        await restored(file, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert names(tmp_path) == {"store", "file"}


async def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await commit_to(opened(tmp_path / "store"), batch("alpha"))
    await saved(tmp_path / "store", tmp_path / "file")
    before = (tmp_path / "file").read_bytes()
    before_names = names(tmp_path)

    def full(*_arguments: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(backups.os, "fsync", full)
        with pytest.raises(StoreUnwritable, match=r"No space left.*Make room"):
            await saved(tmp_path / "store", tmp_path / "file")
        with pytest.raises(StoreUnwritable, match=r"No space left.*Make room"):
            await restored(tmp_path / "file", tmp_path / "copy")
    assert (tmp_path / "file").read_bytes() == before
    assert names(tmp_path) == before_names
    assert await refs(tmp_path / "store") == {"alpha"}


async def test_a_write_during_a_restore_is_refused_or_goes_into_the_restored_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await commit_to(opened(tmp_path / "store"), batch("alpha"))
    await saved(tmp_path / "store", tmp_path / "file")
    await commit_to(opened(tmp_path / "store"), batch("bravo"))
    hasty = LanceStore(str(tmp_path / "store"), embedder="fake", dimension=DIMENSION, lock_timeout_s=0.1)
    other = opened(tmp_path / "store")

    async def meanwhile() -> None:
        async with other.reading() as view:
            assert len(view.space("default").turns) == 2
        with pytest.raises(StoreBusy):
            await commit_to(hasty, batch("lost"))

    def aside(*arguments: object) -> None:
        from_thread.run(meanwhile)
        set_aside(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(restoring, "set_aside", aside)
    await restored(tmp_path / "file", tmp_path / "store", replace=True)
    await commit_to(other, batch("charlie"))
    await commit_to(hasty, batch("delta"))
    assert await refs(tmp_path / "store") == {"alpha", "charlie", "delta"}


async def test_a_write_to_the_new_place_during_a_restore_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await commit_to(opened(tmp_path / "store"), batch("alpha"))
    await saved(tmp_path / "store", tmp_path / "file")

    def checked(made: Path) -> int:
        from_thread.run(lambda: commit_to(opened(made.parent), batch("bravo")))
        return check_readable(made)

    monkeypatch.setattr(restoring, "check_readable", checked)
    with pytest.raises(StoreBusy, match="Another process began"):
        await restored(tmp_path / "file", tmp_path / "restored")
    assert await refs(tmp_path / "store") == {"alpha"}
    assert await refs(tmp_path / "restored") == {"bravo"}
