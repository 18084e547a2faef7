"""Backups of a LanceDB store: by command while others write, and those that the store makes by itself."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path

import anyio
import pytest
from anyio import from_thread
from batches import DIMENSION, batch, turn
from store_contents import decoded, holding
from test_lance_forget import GONE, TARGETS, _embed, _relearn, fill, write

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput, StoreBusy, StoreUnwritable
from mcp_memory.storage import backups, moving
from mcp_memory.storage.backups import Backups, back_up
from mcp_memory.storage.data_files import MOVED
from mcp_memory.storage.lock import Holders
from mcp_memory.storage.moving import check_readable, move, restore
from mcp_memory.storage.places import carry_places
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio

NOW = 1_714_903_200_000


def opened(folder: Path, keep: int = 3) -> LanceStore:
    return LanceStore(str(folder), embedder="fake", dimension=DIMENSION, embed=_embed, relearn=_relearn, backups=keep)


async def _make(turns: list[Turn]) -> Batch:
    return batch(*(one.ref for one in turns))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def refs(folder: Path) -> set[str]:
    async with opened(folder).reading() as view:
        return {one.ref for one in view.space("default").turns.values()}


async def saved(folder: Path, file: Path) -> int:
    tables = Tables(str(folder))
    return await back_up(tables, 5.0, file, NOW)


async def restored(file: Path, folder: Path, *, replace: bool = False) -> tuple[int, int, Path | None]:
    return await restore(file, str(folder), None, replace=replace, keep=3, now=NOW)


async def test_a_backup_is_one_commit_of_a_store_in_use_and_comes_back_as_it_was(tmp_path: Path) -> None:
    store = opened(tmp_path / "store")
    await fill(store)
    done = anyio.Event()

    async def writing() -> None:
        for number in range(12):
            await write(store, batch(f"more{number}"))
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
    assert [finding.text for finding in await opened(tmp_path / "copy").check()] == []


@pytest.mark.parametrize("damage", ["half", "flipped", "foreign", "empty", "other tar", "without its end"])
async def test_what_is_no_whole_backup_is_refused_and_nothing_is_changed(tmp_path: Path, damage: str) -> None:
    await fill(opened(tmp_path / "store"))
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
            "other tar": b"",
            "without its end": content[: content.rindex(b"sums.json")],
        }[damage]
    )
    if damage == "other tar":
        with tarfile.open(file, "w") as other:
            other.add(__file__, "../evil")
    with pytest.raises(InvalidInput, match=r"no backup|no whole backup"):
        await restored(file, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert names(tmp_path) == {"store", "file"}


async def test_a_store_is_replaced_only_when_told_and_after_a_backup_of_it(tmp_path: Path) -> None:
    await write(opened(tmp_path / "one"), batch("alpha"))
    await saved(tmp_path / "one", tmp_path / "file")
    await write(opened(tmp_path / "two"), batch("bravo"))
    with pytest.raises(InvalidInput, match="--replace"):
        await restored(tmp_path / "file", tmp_path / "two")
    assert await refs(tmp_path / "two") == {"bravo"}
    _, _, before = await restored(tmp_path / "file", tmp_path / "two", replace=True)
    assert await refs(tmp_path / "two") == {"alpha"}
    assert before is not None
    assert before.parent == tmp_path / "two" / "backups"
    await restored(before, tmp_path / "three")
    assert await refs(tmp_path / "three") == {"bravo"}


async def test_a_folder_with_other_things_or_open_elsewhere_is_left_alone(tmp_path: Path) -> None:
    await write(opened(tmp_path / "store"), batch("alpha"))
    await saved(tmp_path / "store", tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match="other things"):
        await restored(tmp_path / "file", tmp_path / "other")
    with pytest.raises(InvalidInput, match="not empty"):
        await move(str(tmp_path / "store"), tmp_path / "other", 5.0)
    with pytest.raises(InvalidInput, match="lie in each other"):
        await move(str(tmp_path / "store"), tmp_path / "store" / "in", 5.0)


async def test_tables_of_another_program_that_are_called_like_ours_are_left_alone(tmp_path: Path) -> None:
    """Neither restored over nor swept, whether they have numbers of commits or not."""
    await write(opened(tmp_path / "store"), batch("alpha"))
    await saved(tmp_path / "store", tmp_path / "file")
    theirs = {"segments_0": {"id": 1, "text": "theirs"}, "sentences_0": {"id": 1, "text": "theirs"}}
    for name, row in theirs.items():
        folder = tmp_path / name
        Tables(str(folder)).place.connect().create_table(name, [row])
        with pytest.raises(InvalidInput, match=rf"holds other things \({name}\.lance\)"):
            await restored(tmp_path / "file", folder)
        with pytest.raises(StoreUnwritable, match=rf"its table '{name}' was not written by .* Nothing was changed\."):
            await write(opened(folder), batch("bravo"))
        assert Tables(str(folder)).place.connect().open_table(name).to_arrow().to_pylist() == [row]


async def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await write(opened(tmp_path / "store"), batch("alpha"))
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
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copy2", full)
        with pytest.raises(StoreUnwritable, match=r"No space left.*Make room"):
            await move(str(tmp_path / "store"), tmp_path / "elsewhere", 5.0)
    assert (tmp_path / "file").read_bytes() == before
    assert names(tmp_path) == before_names
    assert await refs(tmp_path / "store") == {"alpha"}
    with monkeypatch.context() as patched:
        patched.setattr(backups.shutil, "disk_usage", lambda _place: shutil._ntuple_diskusage(9, 9, 0))  # type: ignore[attr-defined]
        with pytest.raises(StoreUnwritable, match="too little room for a backup"):
            await opened(tmp_path / "store").rebuild(_make)


async def test_a_moved_store_is_found_from_its_old_place(tmp_path: Path) -> None:
    store = opened(tmp_path / "store")
    await write(store, batch("alpha"))
    await store.rebuild(_make)
    await store.aclose()
    await move(str(tmp_path / "store"), tmp_path / "new" / "place", 5.0)
    assert not {name for name in names(tmp_path / "store") if name.endswith(".lance")}
    assert (tmp_path / "store" / MOVED).is_file()
    assert len(names(tmp_path / "new" / "place" / "backups")) == 1
    await write(opened(tmp_path / "store"), batch("bravo"))
    assert await refs(tmp_path / "new" / "place") == {"alpha", "bravo"}
    await move(str(tmp_path / "new" / "place"), tmp_path / "store", 5.0)
    assert await refs(tmp_path / "store") == {"alpha", "bravo"}
    assert await refs(tmp_path / "new" / "place") == {"alpha", "bravo"}


async def test_a_store_that_another_process_has_open_is_not_moved_or_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(opened(tmp_path / "store"), batch("alpha"))
    await saved(tmp_path / "store", tmp_path / "file")
    monkeypatch.setattr(Holders, "alive", lambda _self: [os.getpid(), 4242])
    for attempt in (
        lambda: move(str(tmp_path / "store"), tmp_path / "new", 5.0),
        lambda: restored(tmp_path / "file", tmp_path / "store", replace=True),
    ):
        with pytest.raises(StoreBusy, match=r"4242.*Close the clients"):
            await attempt()
    assert await refs(tmp_path / "store") == {"alpha"}


async def test_a_store_backs_itself_up_before_a_rebuild_three_deep_and_status_names_the_last(tmp_path: Path) -> None:
    store = opened(tmp_path / "store")
    await write(store, batch("alpha"))
    assert (await store.about()).backup is None
    for _ in range(4):
        await store.rebuild(_make)
    made = Backups(Tables(str(tmp_path / "store")), 3, lambda: NOW).files()
    assert len(made) == 3
    assert (await store.about()).backup == str(made[-1])
    assert os.name != "posix" or made[-1].stat().st_mode & 0o777 == 0o600
    await restored(made[-1], tmp_path / "copy")
    assert await refs(tmp_path / "copy") == {"alpha"}
    none = opened(tmp_path / "none", keep=0)
    await write(none, batch("alpha"))
    await none.rebuild(_make)
    assert not (tmp_path / "none" / "backups").exists()


async def test_a_forget_takes_what_goes_out_of_every_backup_and_makes_none(tmp_path: Path) -> None:
    store = opened(tmp_path / "store")
    await fill(store)
    await store.rebuild(_make)
    await write(store, batch("delta"))
    await store.rebuild(_make)
    made = Backups(Tables(str(tmp_path / "store")), 3, lambda: NOW).files()
    assert len(made) == 2
    assert all(word in decoded(tmp_path / "store") for word in GONE)
    found = await store.forget(lambda _: TARGETS, "a test")
    assert holding(tmp_path / "store", (*GONE, *found.ids, "bravo", "charlie")) == {"bravo", "charlie"}
    assert Backups(Tables(str(tmp_path / "store")), 3, lambda: NOW).files() == made
    await restored(made[0], tmp_path / "copy")
    assert await refs(tmp_path / "copy") == {"bravo", "charlie"}
    assert [one.text for one in await opened(tmp_path / "copy").check() if one.severity == "error"] == []


async def test_a_backup_in_which_it_cannot_be_forgotten_stays_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path / "store")
    await fill(store)
    file, half = (Backups(Tables(str(tmp_path / "store")), 3, lambda: NOW).make(one) for one in ("rebuild", "x"))
    assert file is not None
    assert half is not None
    half.write_bytes(half.read_bytes()[:9000])
    before = [file.read_bytes(), half.read_bytes()]
    left = file.with_name(f".{file.name}.work")  # of a process that died at it
    (left / "segments_0.lance" / "data").mkdir(parents=True)
    (left / "segments_0.lance" / "data" / f"{'01' * 12}{'9f' * 13}.lance").write_text(GONE[0])

    def full(*_arguments: object) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(backups, "_extract", full)
        found = await store.forget(lambda _: TARGETS, "a test")
    assert [text.partition(" could")[0] for text in found.left] == [str(file), str(half)]
    assert "No space left" in found.left[0]
    assert names(file.parent) == {file.name, half.name}
    assert [file.read_bytes(), half.read_bytes()] == before
    found = await store.forget(lambda _: ForgetTargets("default", turns=frozenset([turn("bravo").id])), "a test")
    assert [text.partition(" could")[0] for text in found.left] == [str(half)]
    half.unlink()
    assert holding(tmp_path / "store", (*GONE, "bravo", "charlie")) == {"charlie"}


async def test_trying_out_one_backup_after_the_other_removes_none(tmp_path: Path) -> None:
    """Neither the one that is restored, nor those of what was there; of the others as many are kept as are set."""
    folder = tmp_path / "store"
    store = opened(folder)
    for number in range(3):
        await write(store, batch(f"text{number}"))
        await store.rebuild(_make)
    made = Backups(Tables(str(folder)), 3, lambda: NOW).files()
    asides = set()
    for _ in range(4):
        _, _, aside = await restored(made[0], folder, replace=True)
        asides.add(aside)
        await write(opened(folder), batch("more"))
    assert len(asides) == 4
    for _ in range(4):
        await opened(folder).rebuild(_make)
    left = set(Backups(Tables(str(folder)), 3, lambda: NOW).files())
    assert left > {made[0], *asides}
    assert len(left) == 4 + 1 + 3


async def test_a_whole_space_goes_from_backups_too(tmp_path: Path) -> None:
    store = opened(tmp_path / "store")
    await write(store, batch(*GONE))
    await store.rebuild(_make)
    await store.forget(lambda _: ForgetTargets("default", everything=True), "a test")
    assert holding(tmp_path / "store", (*GONE, turn(GONE[0]).id)) == set()


async def test_a_write_during_a_restore_is_refused_or_goes_into_the_restored_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(opened(tmp_path / "store"), batch("alpha"))
    await saved(tmp_path / "store", tmp_path / "file")
    await write(opened(tmp_path / "store"), batch("bravo"))
    hasty = LanceStore(str(tmp_path / "store"), embedder="fake", dimension=DIMENSION, lock_timeout_s=0.1)
    other = opened(tmp_path / "store")

    async def meanwhile() -> None:
        async with other.reading() as view:
            assert len(view.space("default").turns) == 2
        with pytest.raises(StoreBusy):
            await write(hasty, batch("lost"))

    def carried(*folders: Path) -> None:
        from_thread.run(meanwhile)
        carry_places(*folders)

    monkeypatch.setattr(moving, "carry_places", carried)
    await restored(tmp_path / "file", tmp_path / "store", replace=True)
    await write(other, batch("charlie"))
    await write(hasty, batch("delta"))
    assert await refs(tmp_path / "store") == {"alpha", "charlie", "delta"}


async def test_a_write_to_the_new_place_during_a_move_or_a_restore_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(opened(tmp_path / "store"), batch("alpha"))
    await saved(tmp_path / "store", tmp_path / "file")

    def checked(made: Path) -> int:
        from_thread.run(lambda: write(opened(made.parent), batch("bravo")))
        return check_readable(made)

    monkeypatch.setattr(moving, "check_readable", checked)
    with pytest.raises(InvalidInput, match="not empty"):
        await move(str(tmp_path / "store"), tmp_path / "moved", 5.0)
    with pytest.raises(StoreBusy, match="Another process began"):
        await restored(tmp_path / "file", tmp_path / "restored")
    assert await refs(tmp_path / "store") == {"alpha"}
    assert await refs(tmp_path / "moved") == await refs(tmp_path / "restored") == {"bravo"}
