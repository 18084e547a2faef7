"""The log of a LanceDB store, as an export reads it."""

from __future__ import annotations

import io
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from batches import asserted, batch, turn
from lance_at import NOW, change_column, commit_to, open_at
from test_kept_stores import FORMATS
from written_stores import memory_of, unpacked

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.language_model import Job
from mcp_memory.errors import StoreMismatch
from mcp_memory.gain.kalman import Teacher
from mcp_memory.memory import Memory
from mcp_memory.services.learn.update import relearner
from mcp_memory.services.transfer.exporting import export_lines, values_of
from mcp_memory.services.transfer.importing import import_file
from mcp_memory.storage.commits import last_commit
from mcp_memory.storage.rows import rows_of
from mcp_memory.storage.schema import commit_rows
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.anyio


async def test_an_empty_store_has_an_empty_log(tmp_path: Path) -> None:
    store = open_at(str(tmp_path / "store"))
    assert await store.log() == []
    assert not (tmp_path / "store").exists()


async def test_the_log_has_a_batch_for_each_commit_without_derived_rows(tmp_path: Path) -> None:
    store = open_at(str(tmp_path / "store"))
    await commit_to(store, batch("a", "b"))
    alias = Alias("default", "Ann", "Annie", "said so", "embedded", NOW)
    await commit_to(store, Batch(aliases=(alias,)))
    jobs = [Job("default", turn("a").id, state, 1, 0, 0, "", NOW) for state in ("waiting", "done")]
    for job in jobs:
        await commit_to(store, Batch(jobs=(job,)))
    told = tuple(asserted(turn(ref, place=place), extractor="caller") for place, ref in enumerate("ab"))
    turns = turn("a"), turn("b", place=1)
    logged = await store.log()
    assert [list(values_of(one)) for one in logged] == [[*turns, *told], [alias], [jobs[1]]]
    assert not any(len(one.sentences) or len(one.segments) or len(one.sentence_vectors) for one in logged)


async def test_rows_without_a_commit_and_bad_rows_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    uri = str(tmp_path / "store")
    store = open_at(uri)
    await commit_to(store, batch("a", "b"))
    Tables(uri).append("turns", rows_of("turns", [turn("dead")], [2]))
    change_column(uri, "facts", "confidence", lambda values: [values[0], 7.0])
    with caplog.at_level(logging.WARNING):
        [logged] = await store.log()
    assert [one.ref for one in logged.turns] == ["a", "b"]
    assert [one.turn_id for one in logged.assertions] == [turn("a").id]
    assert "its confidence is 7.0" in caplog.text


async def test_a_store_of_a_newer_format_is_not_read(tmp_path: Path) -> None:
    uri = str(tmp_path / "store")
    await commit_to(open_at(uri), batch("a"))
    last = last_commit(Tables(uri))
    assert last is not None
    Tables(uri).append("commits", commit_rows(replace(last, tx=2, format=last.format + 1)))
    with pytest.raises(StoreMismatch, match="newer mcp-memory"):
        await open_at(uri).log()


async def _exported(memory: Memory) -> bytes:
    assert isinstance(memory.store, LanceStore)
    async with memory.store.reading() as view:
        log = await memory.store.log()
        return b"".join(line for _, line in export_lines(log, None, view=view, program="test", now=NOW))


@pytest.mark.parametrize("number", FORMATS)
async def test_a_store_of_an_older_format_is_moved_without_loss(number: int, tmp_path: Path) -> None:
    file = await _exported(memory_of(unpacked(number, tmp_path)))
    copy = memory_of(tmp_path / "copy")
    assert isinstance(copy.store, LanceStore)
    relearn = relearner(copy.embedder, Teacher(copy.settings.gain))
    result = await import_file(copy.store, copy.reading, relearn, lambda: io.BytesIO(file))
    assert sum(result.stored.values()) == result.records > 10
    assert await _exported(copy) == file
