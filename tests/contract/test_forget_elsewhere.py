"""A forget names the places outside of a store where what went may still be, and leaves them alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from batches import batch
from contract.test_lance_forget import GONE, TARGETS, fill, opened
from lance_at import commit_to
from store_contents import holding_anywhere

from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.storage.backups import back_up
from mcp_memory.storage.copies import note_copy
from mcp_memory.storage.restore import restore
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio
NOW = 1_800_000_000_000


async def test_what_is_the_users_own_or_out_of_reach_is_named_and_left_alone(tmp_path: Path) -> None:
    """A file that a command wrote, unless it is older than the text; half a file; a disk that is not there."""
    store, folder = opened(tmp_path / "store"), tmp_path / "store"
    await fill(store)
    for name, at in (("old.jsonl", 1), ("new.jsonl", NOW), ("gone.jsonl", NOW)):
        note_copy(folder, tmp_path / name, at)
    note_copy(folder, tmp_path / "away" / "export.jsonl", NOW)
    (tmp_path / "old.jsonl").write_text("mine")
    mine = ("new.jsonl", ".gone.jsonl.77.part", "store/forgotten/1-2-3.jsonl")
    (folder / "forgotten").mkdir()
    for name in mine:
        (tmp_path / name).write_text(GONE[0])
    found = await store.forget(lambda _: TARGETS, "a test")
    named = [text.partition(",")[0].partition(" could")[0] for text in found.left]
    assert sorted(named) == sorted(str(tmp_path / one) for one in (*mine, "away/export.jsonl"))
    assert any("2027-01-15" in text for text in found.left)
    assert {(tmp_path / name).read_text() for name in mine} == {GONE[0]}


@pytest.mark.parametrize(("told", "stored", "copied", "forgotten"), [(NOW * 2, 1, 2, NOW * 3), (NOW, NOW, 2, 3)])
async def test_what_holds_a_text_is_named_whatever_the_clocks_said(
    tmp_path: Path, told: int, stored: int, copied: int, forgotten: int
) -> None:
    """It was imported from a machine whose clock was ahead; the clock of this one was ahead, and was set."""
    moment = stored
    store = opened(tmp_path / "store", clock=lambda: moment)
    (gone,) = (text := batch(GONE[0])).turns
    await commit_to(store, replace(text, turns=(replace(gone, written_at=told),)))
    note_copy(tmp_path / "store", tmp_path / "copy.jsonl", copied)
    (tmp_path / "copy.jsonl").write_text(GONE[0])
    moment = forgotten
    found = await store.forget(lambda _: ForgetTargets("default", turns=frozenset([gone.id])), "a test")
    assert [text.partition(",")[0] for text in found.left] == [str(tmp_path / "copy.jsonl")]


async def test_a_backup_that_was_restored_is_named_and_nothing_is_left_behind_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    await fill(opened(tmp_path / "store"))
    await back_up(Tables(str(tmp_path / "store")), 5.0, tmp_path / "file", NOW)
    await restore(tmp_path / "file", str(folder), now=NOW)
    (tmp_path / "link").symlink_to(folder)
    found = await opened(tmp_path / "link").forget(lambda _: TARGETS, "a test")
    assert [text.partition(",")[0] for text in found.left] == [str(tmp_path / "file")]
    assert holding_anywhere(folder, (*GONE, *found.ids, "bravo")) == {"bravo"}
