"""A corpus: the same rows as of single writes, once, in few commits, whatever is wrong with some of it."""

from __future__ import annotations

import itertools
from functools import partial

import lancedb
import pytest
from exported_store import open_at, store_of
from foreign_files import chatgpt_chat, write_json

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.errors import EmbedderError
from mcp_memory.services.ingest import derive, silent
from mcp_memory.services.transfer.foreign import importing
from mcp_memory.services.transfer.foreign.importing import ItemLimits, import_foreign
from mcp_memory.services.transfer.foreign.kinds import READERS, recognise
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.services.write import write, write_many
from mcp_memory.storage.tables import Tables

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_key")]
LIMITS = ItemLimits(message_bytes=1_000, document_bytes=2_000, name_chars=256)
NOW = 1_720_000_000_000


async def ingested(memory, path, **how):
    with source_files(path) as files:
        how = {"space": "default", "limits": LIMITS, "now": NOW} | how
        return await import_foreign(store_of(memory), memory.reading, READERS[recognise(files)], files, **how)


def talk(session, count):
    items = tuple(
        NewItem(f"{session}: Ines moved to Porto on 3 May {2000 + n}. She likes it.", f"{session}-{n}", speaker="Ines")
        for n in range(count)
    )
    return WriteRequest("default", session, "message", items, (), wait=True)


def tables(folder):
    """Return every row of every table and of the texts of the log in its order, without the number of its commit."""
    database = lancedb.connect(folder)
    found = {path.stem: database.open_table(path.stem).to_arrow() for path in sorted(folder.glob("*.lance"))}
    found["turns"] = Tables(str(folder)).log.rows("turns")
    return {name: rows.drop_columns(["tx"] if "tx" in rows.column_names else []) for name, rows in found.items()}


async def test_a_corpus_becomes_the_rows_that_single_writes_make_in_one_commit(tmp_path):
    one, other = open_at(tmp_path / "one"), open_at(tmp_path / "other")
    requests = [talk(f"talk {number}", 3) for number in range(4)]
    for request in requests:
        await write(one.store, one.reading, request, now=NOW, progress=silent)
    derived = partial(derive, other.reading, progress=silent)
    for stored in (12, 0):
        batch, secrets = await write_many(other.store, requests, reading=other.reading, derive=derived, now=NOW)
        assert (len(batch.turns), secrets) == (stored, False)
    assert len(await store_of(other).log()) == 1
    for memory in (one, other):
        await memory.aclose()
    single, many = tables(tmp_path / "one"), tables(tmp_path / "other")
    assert single.keys() == many.keys() >= {"turns", "sentences_0"}
    assert sum(rows.num_rows for rows in many.values()) >= 4 * 3 * 4
    for name, rows in single.items():
        assert rows.combine_chunks().equals(many[name].combine_chunks()), name


async def test_a_corpus_that_was_stopped_goes_on_where_it_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "AT_ONCE", 4)
    memory = open_at(tmp_path / "store")
    chats = [chatgpt_chat(number) for number in range(6)]
    path = write_json(tmp_path / "conversations.json", chats)
    calls = itertools.count()

    async def two_calls(*given, **how):
        if next(calls) == 2:
            raise EmbedderError("The process ended.")
        return await derive(*given, **how)

    with monkeypatch.context() as stopped:
        stopped.setattr(importing, "derive", two_calls)
        with pytest.raises(EmbedderError):
            await ingested(memory, path)
    async with memory.store.reading() as view:
        before = len(view.space("default").turns)
    assert before
    left = await ingested(memory, path)
    async with memory.store.reading() as view:
        space = view.space("default")
        assert len(space.turns) == before + left.stored.total()
        assert left.stored.total() < left.found.total()
        assert not space.unindexed
    assert not (await ingested(memory, path)).stored.total()
    await memory.aclose()
