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
from mcp_memory.storage.moving import move, restore
from mcp_memory.storage.places import note_place
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio
NOW = 1_800_000_000_000


def back_up(folder: Path, place: str, at: int = NOW) -> Path:
    made = Backups(Tables(str(folder)), 3, place, lambda: at).make("rebuild")
    assert made is not None
    return made


async def test_nothing_is_left_in_any_place_where_the_store_wrote(tmp_path: Path) -> None:
    """A move behind it, backups in three folders, a killed move and export, a link to the store."""
    old, new = tmp_path / "old", tmp_path / "real"
    await fill(opened(old))
    back_up(old, "")
    before = back_up(old, str(tmp_path / "first"), NOW + 1)
    shutil.copytree(old, tmp_path / "copy")
    await move(str(old), new, 5.0)
    back_up(new, str(tmp_path / "second"), NOW + 2)
    for name in ("view", "turns.lance"):  # as a move leaves it that is killed
        shutil.rmtree(old / name, ignore_errors=True)
    shutil.copytree(tmp_path / "copy" / "turns.lance", old / "turns.lance")
    (old / "view").mkdir()
    (old / "view" / f"{'0a' * 16}.view").write_bytes(b"\x80\x05\x95 mcp_memory.view " + GONE[0].encode())
    (old / "moved.json").touch()  # which is newer than what the move left
    (old / "mine.txt").write_text("mine")
    shutil.rmtree(tmp_path / "copy")
    (new / "places.jsonl").unlink()  # an older program moved it, and noted nothing but the way
    note_place(new, "backups", before.parent, NOW)
    note_place(new, "backups", next((tmp_path / "second").iterdir()), NOW)
    note_place(new, "copy", tmp_path / "out.jsonl", NOW)
    (tmp_path / ".out.jsonl.77.part").write_text(f"mcp-memory export {GONE[1]}")
    (tmp_path / ".out.jsonl.mine.part").write_text("mine")
    (tmp_path / "link").symlink_to(old)
    assert holding_anywhere(tmp_path, (*GONE, "bravo")) == {*GONE, "bravo"}

    found = await opened(tmp_path / "link").forget(lambda _: TARGETS, "a test")
    assert found.left == ()
    assert holding_anywhere(tmp_path, (*GONE, *found.ids, "bravo")) == {"bravo"}
    assert before.exists()
    assert (old / "mine.txt").exists()
    assert (old / "moved.json").exists()
    assert (tmp_path / ".out.jsonl.mine.part").exists()
    async with opened(old).reading() as view:
        assert [one.ref for one in view.space("default").turns.values()] == ["bravo", "charlie"]


async def test_what_is_the_users_own_or_out_of_reach_is_named_and_left_alone(tmp_path: Path) -> None:
    """A file that a command wrote, unless it is older than the text; a disk that is not there; a memory set aside."""
    store, folder = opened(tmp_path / "store"), tmp_path / "store"
    await fill(store)
    for name, at in (("old.jsonl", 1), ("new.jsonl", NOW), ("gone.jsonl", NOW)):
        note_place(folder, "copy", tmp_path / name, at)
    note_place(folder, "backups", tmp_path / "away" / "place" / "backups", NOW)
    (tmp_path / "old.jsonl").write_text("mine")
    (tmp_path / "new.jsonl").write_text(GONE[0])
    (tmp_path / "store.damaged-7").mkdir()
    found = await store.forget(lambda _: TARGETS, "a test")
    named = [text.partition(",")[0].partition(" could")[0] for text in found.left]
    assert named == [str(tmp_path / one) for one in ("store.damaged-7", "away/place/backups", "new.jsonl")]
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
    """Only what has the form of the program's own work is removed, and a folder beside the store is named."""
    folder, other = tmp_path / "s", tmp_path / "other"
    await fill(opened(folder))
    await fill(opened(other))
    made = back_up(folder, "")
    copies = [tmp_path / ".s.before-20261101", tmp_path / ".s.move-1", made.parent / ".mine"]
    for copy in copies:
        shutil.copytree(other, copy)
    links = [
        tmp_path / ".s.before-1",
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
    assert named == [str(one) for one in (links[0], copies[0], copies[1], links[3])]


def files(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


async def test_a_store_at_the_place_of_an_earlier_one_leaves_its_backups_alone(tmp_path: Path) -> None:
    """They lie in a folder by the id of the store; one by its path alone, as before, stays in use where it was."""
    folder, place, expected = tmp_path / "store", str(tmp_path / "saved"), list[str]()
    for number, ref in enumerate(("first", "second")):
        store = opened(folder)
        await write(store, batch(ref))
        await store.aclose()
        (folder / "store.id").write_text(f"{number:032}\n")
        for at in range(4):
            expected[number:] = [back_up(folder, place, NOW + at).parent.name]
        shutil.rmtree(folder)
    assert sorted(Path(name).parent.name for name in files(tmp_path / "saved")) == sorted(expected * 3)
    assert len(set(expected)) == 2

    await fill(opened(folder))
    (folder / "store.id").write_text(f"{2:032}\n")
    backups = Backups(Tables(str(folder)), 3, place, lambda: NOW)
    assert backups.by_path is not None
    shutil.copytree(back_up(folder, place).parent, backups.by_path)
    assert backups.folder != backups.by_path
    note_place(folder, "backups", backups.by_path, NOW)
    assert backups.folder == backups.by_path


async def test_the_backups_of_a_memory_of_which_this_one_is_a_copy_or_whose_place_it_had_are_only_named(
    tmp_path: Path,
) -> None:
    """The copy knows the places of the first one; where that is gone, the copy is the memory and they are its own."""
    folder, copy, place = tmp_path / "store", tmp_path / "copy", str(tmp_path / "saved")
    await fill(opened(folder))
    made = [back_up(folder, ""), back_up(folder, place)]
    shutil.copytree(folder, copy)
    found = await opened(copy).forget(lambda _: TARGETS, "a test")
    assert [text.partition(" has backups of another")[0] for text in found.left] == sorted(str(p.parent) for p in made)
    assert holding_anywhere(copy, GONE) == set()
    assert all(holding_anywhere(one.parent, GONE) == set(GONE) for one in made)

    (folder / "commits.lance").rename(tmp_path / "commits.lance")
    (folder / "journal.jsonl").unlink(missing_ok=True)
    await write(opened(copy), batch("delta"))
    await opened(copy).forget(lambda _: ForgetTargets("default", everything=True), "a test")
    assert all(holding_anywhere(one.parent, GONE) == set() for one in made)
    await move(str(copy), tmp_path / "new", 5.0)
    (copy / "moved.json").unlink()
    await fill(opened(copy))
    kept = back_up(copy, "").read_bytes()
    found = await opened(tmp_path / "new").forget(lambda _: ForgetTargets("default", everything=True), "a test")
    assert [text.partition(" has")[0] for text in found.left] == [str(copy / "backups")]
    assert next((copy / "backups").iterdir()).read_bytes() == kept


async def test_a_forget_removes_no_file_that_somebody_put_into_a_table(tmp_path: Path) -> None:
    await fill(opened(tmp_path))
    mine = tmp_path / "turns.lance" / "data" / "holiday.lance"
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


async def test_a_backup_that_was_out_of_reach_loses_at_the_next_forget_what_went_before(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = opened(folder)
    await fill(store)
    made = back_up(folder, str(tmp_path / "disk" / "backups"))
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    found = await store.forget(lambda _: TARGETS, "a test")
    assert [text.partition(" could")[0] for text in found.left] == [str(made.parent)]
    (tmp_path / "unplugged").rename(tmp_path / "disk")
    await write(store, batch("delta"))
    delta = batch("delta").turns[0].id
    found = await store.forget(lambda _: type(TARGETS)("default", turns=frozenset([delta])), "a test")
    assert found.left == ()
    assert holding_anywhere(tmp_path, (*GONE, "delta", "bravo")) == {"bravo"}


async def test_a_process_that_dies_at_another_place_leaves_it_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts are gone by then; the note of the forget goes last."""
    folder = tmp_path / "store"
    await fill(opened(folder))
    back_up(folder, str(tmp_path / "backups"))

    async def broken(*_: object) -> tuple[str, ...]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(forgetter, "forget_elsewhere", broken)
        with pytest.raises(BaseException):  # noqa: B017, PT011 - the process ends
            await opened(folder).forget(lambda _: TARGETS, "a test")
    assert holding_anywhere(tmp_path / "backups", GONE) == set(GONE)
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
        (tmp_path / "first" / "commits.lance").mkdir(parents=True)
        return found

    monkeypatch.setattr(moving, "_places", late)
    with pytest.raises(StoreBusy, match="Another process has moved"):
        await move(str(folder), tmp_path / "second", 5.0)
    assert not (tmp_path / "second").exists()


async def test_a_memory_that_comes_back_from_a_backup_knows_where_its_exports_are(tmp_path: Path) -> None:
    """The folder was lost, and a forget had been at the backup."""
    folder, export = tmp_path / "store", tmp_path / "out.jsonl"
    store = opened(folder)
    await fill(store)
    note_place(folder, "copy", export, NOW)
    made = back_up(folder, str(tmp_path / "saved"))
    await store.forget(lambda _: ForgetTargets("default", turns=frozenset([batch("charlie").turns[0].id])), "a test")
    await store.aclose()
    shutil.rmtree(folder)
    export.write_text(GONE[0])
    await restore(made, str(folder), None, replace=False, keep=3, place="", now=NOW)
    found = await opened(folder).forget(lambda _: TARGETS, "a test")
    assert [text.partition(",")[0] for text in found.left] == [str(export), str(made)]
