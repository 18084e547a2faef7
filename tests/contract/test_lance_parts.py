"""A large store is read in parts, so that it is never in memory twice; the result is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from batches import derive, turn
from lance_at import commit_to, open_at
from written_stores import held, memory_of, write

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Turn
from mcp_memory.services.ingest import deriver, silent
from mcp_memory.storage import schema
from mcp_memory.storage.store import LanceStore

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("rebuilt", [False, True])
async def test_a_store_with_rows_of_all_kinds_reads_the_same_in_parts_as_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rebuilt: bool
) -> None:
    await write(tmp_path / "store")
    memory = memory_of(tmp_path / "store")
    assert isinstance(memory.store, LanceStore)
    if rebuilt:
        await memory.store.rebuild(deriver(memory.reading, progress=silent))
    async with memory.store.reading() as view:
        once = held(view)
    monkeypatch.setattr(schema, "PART", 1)
    async with memory_of(tmp_path / "store").store.reading() as view:
        assert held(view) == once


async def test_assertions_that_only_a_rebuild_derived_are_in_every_part(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commits that wrote the texts do not count these assertions."""

    async def make(turns: list[Turn]) -> Batch:
        return derive(turns)

    for ref in "abc":
        await commit_to(open_at(uri), replace(derive([turn(ref)]), assertions=()))
    await open_at(uri).rebuild(make)
    monkeypatch.setattr(schema, "PART", 1)
    async with open_at(uri).reading() as view:
        facts = view.space("default").facts
        assert [one.turn_id for one in facts.rows] == [turn(ref).id for ref in "abc"]
