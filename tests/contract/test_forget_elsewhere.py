"""A forget goes through every place where the program wrote, and names what is not its own or out of reach."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from batches import batch
from contract.lance_at import fold_all
from contract.test_lance_forget import GONE, TARGETS, fill, opened, write
from store_contents import holding_anywhere

from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage import forget as forgetter
from mcp_memory.storage.backups import back_up
from mcp_memory.storage.copies import note_copy
from mcp_memory.storage.restore import restore
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio
NOW = 1_800_000_000_000


async def test_what_is_the_users_own_or_out_of_reach_is_named_and_left_alone(tmp_path: Path) -> None:
    """A file that a command wrote, unless it is older than the text; a disk that is not there."""
    store, folder = opened(tmp_path / "store"), tmp_path / "store"
    await fill(store)
    for name, at in (("old.jsonl", 1), ("new.jsonl", NOW), ("gone.jsonl", NOW)):
        note_copy(folder, tmp_path / name, at)
    note_copy(folder, tmp_path / "away" / "export.jsonl", NOW)
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
    note_copy(tmp_path / "store", tmp_path / "copy.jsonl", copied)
    (tmp_path / "copy.jsonl").write_text(GONE[0])
    moment = forgotten
    found = await store.forget(lambda _: ForgetTargets("default", turns=frozenset([gone.id])), "a test")
    assert [text.partition(",")[0] for text in found.left] == [str(tmp_path / "copy.jsonl")]


def files(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


async def test_a_forget_removes_no_file_that_somebody_put_into_a_table(tmp_path: Path) -> None:
    await fill(opened(tmp_path))
    fold_all(str(tmp_path))
    mine = tmp_path / "segments_0.lance" / "data" / "holiday.lance"
    mine.write_text("mine")
    with pytest.raises(StoreUnwritable, match=r"holiday\.lance.*Nothing was changed\. Move it"):
        await opened(tmp_path).forget(lambda _: TARGETS, "a test")
    assert mine.read_text() == "mine"
    mine.rename(tmp_path / "holiday.mine")
    await opened(tmp_path).forget(lambda _: TARGETS, "a test")
    assert holding_anywhere(tmp_path, GONE) == set()


async def set_aside(folder: Path, file: Path) -> Path:
    """Restore a backup of a store over it, and return the folder with what was there."""
    await back_up(Tables(str(folder)), 5.0, file, NOW)
    _, _, aside = await restore(file, str(folder), None, replace=True, now=NOW)
    file.unlink()  # noqa: ASYNC240
    assert aside is not None
    return aside


async def test_nothing_is_left_in_any_place_where_the_store_wrote(tmp_path: Path) -> None:
    """A store set aside, a killed export, a link to the store, and what only looks like the program's own."""
    folder, other = tmp_path / "real", tmp_path / "other"
    await fill(opened(folder))
    await write(opened(other), batch("delta"))
    await set_aside(folder, tmp_path / "file")
    note_copy(folder, tmp_path / "out.jsonl", NOW)
    (tmp_path / ".out.jsonl.77.part").write_text(f"mcp-memory export {GONE[1]}")
    (tmp_path / ".out.jsonl.mine.part").write_text("mine")
    (tmp_path / "link").symlink_to(folder)
    (folder / "replaced-7").symlink_to(other)
    shutil.copytree(other, folder / "replaced-mine")
    kept = [files(one) for one in (other, folder / "replaced-mine")]
    found = await opened(tmp_path / "link").forget(lambda _: TARGETS, "a test")
    assert found.left == ()
    assert holding_anywhere(tmp_path, (*GONE, *found.ids, "bravo")) == {"bravo"}
    assert (tmp_path / ".out.jsonl.mine.part").exists()
    assert [files(one) for one in (other, folder / "replaced-mine")] == kept
    assert (folder / "replaced-7").is_symlink()


async def test_a_process_that_dies_at_another_place_leaves_it_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts are gone by then; the note of the forget goes last."""
    folder = tmp_path / "store"
    await fill(opened(folder))
    aside = await set_aside(folder, tmp_path / "file")

    async def broken(*_: object) -> tuple[str, ...]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(forgetter, "forget_elsewhere", broken)
        with pytest.raises(BaseException):  # noqa: B017, PT011 - the process ends
            await opened(folder).forget(lambda _: TARGETS, "a test")
    assert holding_anywhere(aside, GONE) == set(GONE)
    async with opened(folder).reading() as view:
        assert len(view.space("default").turns) == 2
    assert holding_anywhere(tmp_path, GONE) == set()
