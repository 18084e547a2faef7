"""A forget goes through every place where the program wrote, and names what is not its own or out of reach."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from batches import batch
from contract.test_lance_forget import GONE, TARGETS, fill, opened, write
from store_contents import holding_anywhere

from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.errors import StoreBusy, StoreUnwritable
from mcp_memory.storage import forgetter, moving
from mcp_memory.storage.arrival import leave
from mcp_memory.storage.backups import Backups
from mcp_memory.storage.moving import move
from mcp_memory.storage.places import note_place
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio
NOW = 1_800_000_000_000


def back_up(folder: Path, at: int = NOW) -> Path:
    made = Backups(Tables(str(folder)), 3, lambda: at).make("rebuild")
    assert made is not None
    return made


async def test_nothing_is_left_in_any_place_where_the_store_wrote(tmp_path: Path) -> None:
    """A move behind it, backups from before and after, a killed move and export, a link to the store."""
    old, new = tmp_path / "old", tmp_path / "real"
    await fill(opened(old))
    back_up(old)
    shutil.copytree(old, tmp_path / "copy")
    await move(str(old), new, 5.0)
    back_up(new, NOW + 1)
    for name in ("view", "segments_0.lance"):  # as a move leaves it that is killed
        shutil.rmtree(old / name, ignore_errors=True)
    shutil.copytree(tmp_path / "copy" / "segments_0.lance", old / "segments_0.lance")
    (old / "view").mkdir()
    (old / "view" / f"{'0a' * 16}.view").write_bytes(b"\x80\x05\x95 mcp_memory.view " + GONE[0].encode())
    (old / "moved.json").touch()  # which is newer than what the move left
    (old / "mine.txt").write_text("mine")
    shutil.rmtree(tmp_path / "copy")
    (new / "places.jsonl").unlink()  # an older program moved it, and noted nothing but the way
    note_place(new, "copy", tmp_path / "out.jsonl", NOW)
    (tmp_path / ".out.jsonl.77.part").write_text(f"mcp-memory export {GONE[1]}")
    (tmp_path / ".out.jsonl.mine.part").write_text("mine")
    (tmp_path / "link").symlink_to(old)
    assert holding_anywhere(tmp_path, (*GONE, "bravo")) == {*GONE, "bravo"}

    found = await opened(tmp_path / "link").forget(lambda _: TARGETS, "a test")
    assert found.left == ()
    assert holding_anywhere(tmp_path, (*GONE, *found.ids, "bravo")) == {"bravo"}
    assert len(list((new / "backups").iterdir())) == 2
    assert (old / "mine.txt").exists()
    assert (old / "moved.json").exists()
    assert (tmp_path / ".out.jsonl.mine.part").exists()
    async with opened(old).reading() as view:
        assert [one.ref for one in view.space("default").turns.values()] == ["bravo", "charlie"]


async def test_what_is_the_users_own_or_out_of_reach_is_named_and_left_alone(tmp_path: Path) -> None:
    """A file that a command wrote, unless it is older than the text; a disk that is not there."""
    store, folder = opened(tmp_path / "store"), tmp_path / "store"
    await fill(store)
    for name, at in (("old.jsonl", 1), ("new.jsonl", NOW), ("gone.jsonl", NOW)):
        note_place(folder, "copy", tmp_path / name, at)
    note_place(folder, "copy", tmp_path / "away" / "export.jsonl", NOW)
    (tmp_path / "old.jsonl").write_text("mine")
    (tmp_path / "new.jsonl").write_text(GONE[0])
    found = await store.forget(lambda _: TARGETS, "a test")
    named = [text.partition(",")[0].partition(" could")[0] for text in found.left]
    assert named == [str(tmp_path / one) for one in ("away/export.jsonl", "new.jsonl")]
    assert "2027-01-15" in found.left[-1]
    assert (tmp_path / "new.jsonl").read_text() == GONE[0]


@pytest.mark.parametrize(("told", "stored", "copied", "forgotten"), [(NOW * 2, 1, 2, NOW * 3), (NOW, NOW, 2, 3)])
async def test_what_holds_a_text_is_named_whatever_the_clocks_said(
    tmp_path: Path, told: int, stored: int, copied: int, forgotten: int
) -> None:
    """It was imported from a machine whose clock was ahead; the clock of this one was ahead, and was set."""
    moment = stored
    store = opened(tmp_path / "store", clock=lambda: moment)
    (gone,) = (text := batch(GONE[0])).turns
    await write(store, replace(text, turns=(replace(gone, written_at=told),)))
    note_place(tmp_path / "store", "copy", tmp_path / "copy.jsonl", copied)
    (tmp_path / "copy.jsonl").write_text(GONE[0])
    moment = forgotten
    found = await store.forget(lambda _: ForgetTargets("default", turns=frozenset([gone.id])), "a test")
    assert [text.partition(",")[0] for text in found.left] == [str(tmp_path / "copy.jsonl")]


async def test_no_other_memory_is_emptied_behind_a_link_or_under_a_name_that_looks_like_ours(tmp_path: Path) -> None:
    """Only what has the form of the program's own work is removed."""
    folder, other = tmp_path / "s", tmp_path / "other"
    await fill(opened(folder))
    await fill(opened(other))
    made = back_up(folder)
    copies = [tmp_path / ".s.move-1", made.parent / ".mine"]
    for copy in copies:
        shutil.copytree(other, copy)
    links = [
        made.parent / ".latest",
        made.with_name(f".{made.name}.0a1b2c3d"),
        tmp_path / "h",
    ]
    for link in links:
        link.symlink_to(other)
    note_place(folder, "home", tmp_path / "h", 0)
    kept = [files(one) for one in (other, *copies)]
    found = await opened(folder).forget(lambda _: TARGETS, "a test")
    assert [files(one) for one in (other, *copies)] == kept
    assert all(link.is_symlink() for link in links)
    named = [text.partition(",")[0] for text in found.left]
    assert named == [str(links[2])]


def files(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


async def test_a_forget_removes_no_file_that_somebody_put_into_a_table(tmp_path: Path) -> None:
    await fill(opened(tmp_path))
    mine = tmp_path / "segments_0.lance" / "data" / "holiday.lance"
    mine.write_text("mine")
    with pytest.raises(StoreUnwritable, match=r"holiday\.lance.*Nothing was changed\. Move it"):
        await opened(tmp_path).forget(lambda _: TARGETS, "a test")
    assert mine.read_text() == "mine"
    mine.rename(tmp_path / "holiday.mine")
    await opened(tmp_path).forget(lambda _: TARGETS, "a test")
    assert holding_anywhere(tmp_path, GONE) == set()


async def test_a_memory_in_an_earlier_home_is_named_only_if_it_has_some_of_it(tmp_path: Path) -> None:
    """It is somebody's: a backup that was restored there, perhaps."""
    store = opened(tmp_path / "store")
    await fill(store)
    for name, refs in (("same", (GONE[0],)), ("other", ("delta",))):
        await write(opened(tmp_path / name), batch(*refs))
        note_place(tmp_path / "store", "home", tmp_path / name, 0)
    found = await store.forget(lambda _: TARGETS, "a test")
    (text,) = found.left
    assert text.startswith(f"{tmp_path / 'same'}, where this memory lay before, holds a memory again")
    assert holding_anywhere(tmp_path / "same", GONE) == {GONE[0]}


async def test_a_copy_of_ones_own_in_an_earlier_home_is_only_named_though_the_note_of_the_move_lies_there(
    tmp_path: Path,
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    await fill(opened(old))
    await move(str(old), new, 5.0)
    for table in new.glob("*.lance"):
        shutil.copytree(table, old / table.name)
    before = {path: path.read_bytes() for path in old.glob("*.lance/*/*")}
    found = await opened(new).forget(lambda _: TARGETS, "a test")
    assert [text.partition(",")[0] for text in found.left] == [str(old)]
    assert {path: path.read_bytes() for path in old.glob("*.lance/*/*")} == before


async def test_a_process_that_dies_at_another_place_leaves_it_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts are gone by then; the note of the forget goes last."""
    folder = tmp_path / "store"
    await fill(opened(folder))
    back_up(folder)

    async def broken(*_: object) -> tuple[str, ...]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(forgetter, "forget_elsewhere", broken)
        with pytest.raises(BaseException):  # noqa: B017, PT011 - the process ends
            await opened(folder).forget(lambda _: TARGETS, "a test")
    assert holding_anywhere(folder / "backups", GONE) == set(GONE)
    async with opened(folder).reading() as view:
        assert len(view.space("default").turns) == 2
    assert holding_anywhere(tmp_path, GONE) == set()


async def test_what_a_killed_move_left_in_its_new_place_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody opens that place again, so the old one, which the memory never left, knows of it."""
    folder, to = tmp_path / "store", tmp_path / "new"
    await fill(opened(folder))

    def killed(made: Path) -> int:
        shutil.copytree(made, tmp_path / "left")
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(moving, "check_readable", killed)
        with pytest.raises(StoreUnwritable):
            await move(str(folder), to, 5.0)
    to.mkdir(exist_ok=True)
    (tmp_path / "left").rename(to / "arriving")
    assert holding_anywhere(to, GONE) == set(GONE)
    found = await opened(folder).forget(lambda _: TARGETS, "a test")
    assert found.left == ()
    assert list(to.iterdir()) == []


async def test_of_two_moves_at_once_the_second_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "store"
    await fill(opened(folder))
    find = moving._places

    def late(tables: Tables, to: Path) -> tuple[Path, Path]:
        found = find(tables, to)
        leave(folder, tmp_path / "first")  # the other one is done
        (tmp_path / "first").mkdir()
        (tmp_path / "first" / "memory.log").touch()
        return found

    monkeypatch.setattr(moving, "_places", late)
    with pytest.raises(StoreBusy, match="Another process has moved"):
        await move(str(folder), tmp_path / "second", 5.0)
    assert not (tmp_path / "second").exists()
