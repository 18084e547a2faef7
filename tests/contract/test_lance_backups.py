"""Backups of a LanceDB store while others write, where one is restored to, and those that somebody made to do harm."""

import os
import shutil
import struct
import zipfile

import anyio
import pytest
from anyio import from_thread
from batches import batch
from lance_at import commit_to, fold_all
from remembering import space_in
from rows_checked import row_problems
from test_lance_forget import fill, opened

from mcp_memory.errors import InvalidInput, StoreBusy, StoreUnwritable
from mcp_memory.storage import backups
from mcp_memory.storage.backups import arriving, back_up, check_readable, restore, unpack
from mcp_memory.storage.tables import Tables

NOW = 1_714_903_200_000


def names(folder):
    return {path.name for path in folder.iterdir()}


async def refs(folder):
    return {one.ref for one in (await space_in(opened(folder))).turns.values()}


async def saved(folder, file):
    return await back_up(Tables(str(folder)), 5.0, file, NOW)


async def restored(file, folder):
    return await restore(file, str(folder))


@pytest.fixture
async def backup(tmp_path):
    """A backup, ``file``, of the folder ``store`` with one message, which is in the tables."""
    await commit_to(opened(tmp_path / "store"), batch("alpha"))
    fold_all(str(tmp_path / "store"))
    await saved(tmp_path / "store", tmp_path / "file")
    return tmp_path / "file"


async def test_a_backup_is_one_commit_of_a_store_in_use_and_comes_back_as_it_was(tmp_path):
    store = opened(tmp_path / "store")
    await fill(store)
    done = anyio.Event()

    async def writing():
        for number in range(12):
            await commit_to(store, batch(f"more{number}"))
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writing)
        tx = await saved(tmp_path / "store", tmp_path / "file")
    assert done.is_set()
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600 or os.name != "posix"
    assert await restored(tmp_path / "file", tmp_path / "copy") == tx
    written = {ref for ref in await refs(tmp_path / "store") if ref.startswith("more")}
    there = await refs(tmp_path / "copy")
    number = len([ref for ref in there if ref.startswith("more")])
    assert there == await refs(tmp_path / "store") - written | {f"more{one}" for one in range(number)}
    assert await row_problems(opened(tmp_path / "copy")) == []


@pytest.mark.parametrize("damage", ["half", "flipped", "foreign", "empty", "other archive", "without its end"])
async def test_what_is_no_whole_backup_is_refused_and_nothing_is_changed(backup, tmp_path, damage):
    content = backup.read_bytes()
    place = content.index(b"LANC") - 300
    flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    cut = {"half": content[: len(content) // 2], "without its end": content[: content.rindex(b"PK\x05\x06")]}
    backup.write_bytes((cut | {"flipped": flipped, "foreign": b"PK\x03\x04 not ours"}).get(damage, b""))
    if damage == "other archive":
        with zipfile.ZipFile(backup, "w") as other:
            other.write(__file__, "../evil")
    with pytest.raises(InvalidInput, match=r"no backup|no whole backup"):
        await restored(backup, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert names(tmp_path) == {"store", "file"}


async def test_a_folder_with_a_store_or_other_things_is_left_alone(backup, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match=r"other things \(letter.txt\).*replaces nothing"):
        await restored(backup, tmp_path / "other")
    await commit_to(opened(tmp_path / "two"), batch("bravo"))
    with pytest.raises(InvalidInput, match=r"a memory in .* already, of 1 commits.*replaces nothing"):
        await restored(backup, tmp_path / "two")
    assert await refs(tmp_path / "two") == {"bravo"}
    (tmp_path / "two" / "journal").rename(tmp_path / "two" / "journal.away")
    with pytest.raises(InvalidInput, match="replaces nothing"):
        await restored(backup, tmp_path / "two")


async def test_a_server_that_looks_at_the_empty_place_finds_the_restored_memory(backup, tmp_path):
    """Also where the place is the root of a volume, in which there is a folder of the system."""
    (tmp_path / "volume" / "lost+found").mkdir(parents=True)
    server = opened(tmp_path / "volume")
    async with server.reading() as view:
        assert not view.spaces
    await restored(backup, tmp_path / "volume")
    await commit_to(server, batch("bravo"))
    assert await refs(tmp_path / "volume") == {"alpha", "bravo"}


async def test_a_restore_that_died_is_ended_or_undone_by_the_next_to_open_the_place(backup, tmp_path):
    for checked, left in ((True, {"alpha"}), (False, set[str]())):
        place = tmp_path / f"place {checked}"
        with arriving(place) as made:
            unpack(backup, made)
            (made / "whole").touch() if checked else None
            shutil.copytree(made, died := tmp_path / f"died {checked}")
        shutil.move(died, place / "arriving") if place.exists() else shutil.copytree(died, place / "arriving")
        assert await refs(place) == left
        assert "arriving" not in names(place)


async def test_a_full_disk_leaves_everything_as_it_was(backup, tmp_path, monkeypatch):
    before = backup.read_bytes()
    before_names = names(tmp_path)

    def full(*_arguments, **_named):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(backups.os, "fsync", full)
        with pytest.raises(StoreUnwritable, match=r"No space left.*Make room"):
            await saved(tmp_path / "store", backup)
        with pytest.raises(StoreUnwritable, match=r"No space left.*Make room"):
            await restored(backup, tmp_path / "copy")
    assert backup.read_bytes() == before
    assert names(tmp_path) == before_names
    assert await refs(tmp_path / "store") == {"alpha"}


async def test_a_write_to_the_new_place_during_a_restore_is_not_lost(backup, tmp_path, monkeypatch):
    def checked(made):
        from_thread.run(lambda: commit_to(opened(made.parent), batch("bravo")))
        return check_readable(made)

    monkeypatch.setattr(backups, "check_readable", checked)
    with pytest.raises(StoreBusy, match="Another process began"):
        await restored(backup, tmp_path / "restored")
    assert await refs(tmp_path / "store") == {"alpha"}
    assert await refs(tmp_path / "restored") == {"bravo"}


DATA = f"segments_0.lance/data/{'01' * 12}{'9f' * 13}.lance"
HOSTILE = {
    "up the tree": "segments_0.lance/../../evil",
    "from the root": "/tmp/evil.lance/x",
    "a backslash": "segments_0.lance\\..\\..\\evil",
    "no table": "moved.json",
    "a lock": "write.lock",
    "a long name": "segments_0.lance/" + "x" * 5_000,
    "a folder": "segments_0.lance/data/",
    "a file in the place of a folder": f"{DATA}/x",
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_backup_with_a_member_that_is_no_file_of_a_table_is_refused_and_leaves_nothing(backup, tmp_path, kind):
    with zipfile.ZipFile(backup, "a") as archive:
        archive.writestr(HOSTILE[kind], "evil")
    with pytest.raises((InvalidInput, StoreUnwritable)):
        await restored(backup, tmp_path / "copy")
    assert names(tmp_path) == {"store", "file"}
    assert await refs(tmp_path / "store") == {"alpha"}


async def test_a_backup_that_grows_when_it_is_unpacked_is_refused(backup, tmp_path):
    with zipfile.ZipFile(backup, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DATA, bytes(50 << 20))
    content = backup.read_bytes()
    assert len(content) < 20 << 20
    assert struct.pack("<I", 50 << 20) in content
    with pytest.raises(InvalidInput, match="more than it does"):
        await restored(backup, tmp_path / "copy")
    assert names(tmp_path) == {"store", "file"}
