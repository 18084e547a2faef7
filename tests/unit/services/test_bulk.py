"""A corpus: the same rows as of single writes, once, its texts in one commit."""

import lancedb
import pytest
from exported_store import open_at

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.services.indexing import silent
from mcp_memory.services.write import write, write_many
from mcp_memory.storage.tables import Tables

pytestmark = pytest.mark.usefixtures("one_key")
NOW = 1_720_000_000_000


def talk(session, count):
    items = tuple(
        NewItem(f"{session}: Ines moved to Porto on 3 May {2000 + n}. She likes it.", f"{session}-{n}", speaker="Ines")
        for n in range(count)
    )
    return WriteRequest("default", session, "message", items, (), wait=True)


def tables(folder):
    """Return every row of every table and of the texts of the log in its order, without its commit and place there."""
    Tables(str(folder)).fold()
    database = lancedb.connect(folder)
    found = {path.stem: database.open_table(path.stem).to_arrow() for path in sorted(folder.glob("*.lance"))}
    entries = Tables(str(folder)).log.entries()
    said = [{**row, "place": 0} for entry in entries for row in entry.logged.get("turns", ())]
    return said, {name: rows.drop_columns([*{"tx", "place"} & {*rows.column_names}]) for name, rows in found.items()}


async def test_a_corpus_becomes_the_rows_that_single_writes_make(tmp_path):
    one, other = open_at(tmp_path / "one"), open_at(tmp_path / "other")
    requests = [talk(f"talk {number}", 3) for number in range(4)]
    for request in requests:
        await write(one.store, one.reading, request, now=NOW, progress=silent)
    for stored in (12, 0):
        batch = await write_many(other.store, requests, reading=other.reading, now=NOW)
        assert len(batch.turns) == stored
    assert (await other.store.about()).tx == 2
    for memory in (one, other):
        await memory.aclose()
    (said, single), (also_said, many) = tables(tmp_path / "one"), tables(tmp_path / "other")
    assert said == also_said
    assert single.keys() == many.keys() >= {"sentences_0"}
    assert sum(rows.num_rows for rows in many.values()) >= 3 * 3 * 4
    for name, rows in single.items():
        assert rows.combine_chunks().equals(many[name].combine_chunks()), name
