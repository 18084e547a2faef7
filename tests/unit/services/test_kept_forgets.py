"""What is forgotten with ``forget.keep_days``: hidden at once, taken back within the days, and gone after them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from exported_store import MAY, content, fill, imported, open_at, store_of
from store_contents import decoded, holding

from mcp_memory.domain.forgetting import ForgetRequest
from mcp_memory.domain.query import Query
from mcp_memory.errors import InvalidInput
from mcp_memory.memory import Memory
from mcp_memory.storage.forgotten import DAY_MS, FOLDER, KeptFiles

pytestmark = pytest.mark.anyio


def keeping(memory: Memory, folder: Path, days: int, now: int = MAY) -> KeptFiles:
    kept = KeptFiles(str(folder), days, lambda: now, lambda: store_of(memory).log(secrets=True))
    memory.kept = kept
    return kept


async def forgotten(folder: Path, days: int = 7) -> tuple[Memory, str, object]:
    """Return a memory in which a message was forgotten, the name to take it back by, and what it knew before."""
    memory = open_at(folder)
    await fill(memory)
    keeping(memory, folder, days)
    before = await content(memory)
    found = await memory.forget(ForgetRequest("default", query="Braga"))
    result = await memory.forget(ForgetRequest("default", query="Braga", dry_run=False, token=found.token))
    return memory, result.warnings[0], before


async def test_it_is_hidden_at_once_and_comes_back_with_its_facts(tmp_path: Path) -> None:
    memory, told, before = await forgotten(tmp_path / "store")
    assert "Kept for 7 days" in told
    recall = await memory.reconstruct(Query("What about Braga?"))
    assert not [item for item in recall.evidence if "Braga" in item.text]
    assert "Braga" not in decoded(tmp_path / "store")  # of all tables
    name = told.split("--undo ")[1].split("`")[0]
    kept = keeping(memory, tmp_path / "store", 7, MAY + 6 * DAY_MS)
    with pytest.raises(InvalidInput, match=f"kept as 'nonsense'.*{name}"):
        kept.find("nonsense")
    assert kept.find("last") == kept.find(name)
    await imported(memory, kept.find(name).read_bytes(), again=True)
    after = await content(memory)
    assert isinstance(before, dict)
    assert {one.id: replace(one, place=0) for one in after["texts"]} == {one.id: one for one in before["texts"]}
    assert {one.id for one in after["assertions"]} == {one.id for one in before["assertions"]}
    assert {one.key for one in after["lessons"]} == {one.key for one in before["lessons"]}
    await memory.aclose()


async def test_it_is_gone_when_its_days_are_over_or_no_days_are_set(tmp_path: Path) -> None:
    memory, _, _ = await forgotten(tmp_path / "store")
    assert holding(tmp_path / "store", ["Braga"]) == {"Braga"}
    assert keeping(memory, tmp_path / "store", 7, MAY + 7 * DAY_MS - 1).purge() == 0
    kept = keeping(memory, tmp_path / "store", 7, MAY + 7 * DAY_MS)
    with pytest.raises(InvalidInput, match="Kept is: nothing"):
        kept.find("last")
    assert holding(tmp_path / "store", ["Braga"]) == set()
    keeping(memory, tmp_path / "store", 7)
    await memory.forget(ForgetRequest("default", ids=("tank",), dry_run=False))
    assert len(list((tmp_path / "store" / FOLDER).iterdir())) == 1
    assert keeping(memory, tmp_path / "store", 0).purge() == 1
    await memory.aclose()


async def test_what_cannot_be_kept_is_not_forgotten(tmp_path: Path) -> None:
    memory = open_at(tmp_path / "store")
    await fill(memory)
    keeping(memory, tmp_path / "store", 7)
    (tmp_path / "store" / FOLDER).write_text("no folder")
    with pytest.raises(Exception, match="Nothing was forgotten"):
        await memory.forget(ForgetRequest("default", ids=("m1",), session="letters", dry_run=False))
    async with memory.store.reading() as view:
        assert view.space("default").current("letters", "m1") is not None
    await memory.aclose()
