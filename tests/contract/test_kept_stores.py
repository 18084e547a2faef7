"""A store of an older format opens and can be written to, and nothing in it is lost.

There is a kept store of each format that is read, written by a program of its time (``written_stores.py``), and an
export of the last one that is not: it brings such a memory over.
"""

import json
from collections import Counter

import pytest
from rows_checked import row_problems
from written_stores import FACTS, MESSAGES, NOW, STORES, held, memory_of, unpacked, was_held, write

from mcp_memory.codec import fields_of
from mcp_memory.configurable import LimitSettings
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.services.indexing import deriver, silent
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.services.transfer.importing import import_files
from mcp_memory.services.transfer.kinds import READERS, recognise
from mcp_memory.storage.rows import FORMAT, LAYOUTS, LOG_KINDS
from mcp_memory.storage.tables import Tables

FORMATS = sorted(int(path.name.partition("_")[2].partition(".")[0]) for path in STORES.glob("format_*.tar.xz"))
LOG = ("turns", "lessons", "aliases", "jobs", "spent")
"""What no rebuild may change, beside the text of points and the assertions of callers and of Claude."""
TODO = (
    "The tables of the store are not what users of format {format} have. If that is meant, raise FORMAT and do what "
    'CONTRIBUTING.md says under "The store\'s format"; else put the columns back.'
)


async def _held(memory):
    async with memory.store.reading() as view:
        return held(view)


def _agree(now, then):
    """Return whether rows contain what they contained; a later program may add to each."""
    return len(now) == len(then) and all(row.items() >= was.items() for row, was in zip(now, then, strict=True))


@pytest.mark.parametrize("number", FORMATS)
async def test_a_store_of_an_older_format_is_read_as_it_was_and_found_in(number, tmp_path):
    memory = memory_of(unpacked(number, tmp_path))
    now, then = await _held(memory), was_held(number)
    assert [kind for kind, rows in then.items() if not _agree(now[kind], rows)] == []
    assert [kind for kind, rows in now.items() if rows and not then.get(kind)] == []
    assert (await memory.store.about()).format == number
    assert await row_problems(memory.store) == []
    found = await memory.reconstruct(Query("Where did Rufus and Bella meet?", "default", 3))
    assert "Rufus and Bella met in Hyde Park." in found.evidence[0].text
    assert (await memory.answer(Query("Where does Bob live?", "default", 3))).text == "Lisbon"
    assert (await memory.reconstruct(Query("Who has a boat?", "elsewhere", 3))).evidence


@pytest.mark.parametrize("number", FORMATS)
async def test_a_store_of_an_older_format_can_be_written_to(number, tmp_path):
    folder = unpacked(number, tmp_path)
    request = WriteRequest("default", "later", "message", (NewItem("Rufus found a frog.", "m9", "Ann"),))
    await memory_of(folder).write(request)
    other = memory_of(folder)
    now, then = await _held(other), was_held(number)
    assert (await other.store.about()).format == FORMAT
    for kind, rows in then.items():
        kept = [row for row in now[kind] if any(row.items() >= was.items() for was in rows)]
        assert _agree(kept, rows), kind
    assert len(now["turns"]) == len(then["turns"]) + 1
    assert await row_problems(other.store) == []


@pytest.mark.parametrize("number", FORMATS)
async def test_what_a_store_of_an_older_format_contains_is_not_stored_again(number, tmp_path):
    memory = memory_of(unpacked(number, tmp_path))
    again = await memory.write(WriteRequest("default", "talk", "message", MESSAGES, FACTS))
    assert [item.stored for item in again.items] == [False] * len(MESSAGES)
    assert {fact.op for fact in again.facts} == {"unchanged"}
    now, then = await _held(memory), was_held(number)
    assert {kind: len(rows) for kind, rows in now.items() if rows} == {
        kind: len(rows) for kind, rows in then.items() if rows
    }
    assert {one["id"] for one in now["sentences"]} >= {name for one in now["lessons"] for name in one["labels"]}


@pytest.mark.parametrize("number", FORMATS)
async def test_a_rebuild_of_a_store_of_an_older_format_keeps_the_log(number, tmp_path):
    folder = unpacked(number, tmp_path)
    memory = memory_of(folder)
    then = was_held(number)
    assert await memory.store.rebuild(deriver(memory.reading, progress=silent)) == len(then["turns"])
    now = await _held(memory_of(folder))
    for kind in LOG:
        assert _agree(now[kind], then.get(kind, [])), kind
    for kind in ("points", "assertions"):
        kept = [row for row in now[kind] if row.get("extractor") != "embedded"]
        was = [row for row in then[kind] if row.get("extractor") != "embedded"]
        assert [row["id"] for row in kept] == [row["id"] for row in was]
    indexed = {one["turn_id"] for one in then["sentences"]}  # one text of format 8 waited for it
    assert len([one for one in now["sentences"] if one["turn_id"] in indexed]) == len(then["sentences"])


async def test_there_is_a_store_of_every_format_that_is_read():
    assert list(range(12, FORMAT + 1)) == FORMATS, TODO.format(format=FORMAT)


async def test_what_was_said_and_stated_in_an_export_of_an_older_program_is_stored(tmp_path):
    """Of its documents the newest wording; what it had learnt is left out, and counted."""
    memory = memory_of(tmp_path / "store", writing=True)
    path = STORES / "exported_11.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with source_files(path) as files:
        limits = LimitSettings(message_bytes=10_000, document_bytes=10_000, name_chars=256)
        how = {"space": None, "default": "default", "limits": limits, "now": NOW}
        result = await import_files(memory.store, memory.reading, READERS[recognise(files)], files, **how)
    assert result.stored == result.found
    wanted = Counter(f"{row.get('record')}s" for row in rows[1:-1] if row.get("by", "caller") == "caller")
    assert result.stored["messages"] == wanted["messages"] > 2
    assert result.stored["facts"] == wanted["facts"] > 2
    assert {what for what, _ in result.unread} >= {"lesson", "point", "alias", "reading"}
    found = await memory.reconstruct(Query("Where did Rufus and Bella meet?", "default", 3))
    assert "Rufus and Bella met in Hyde Park." in found.evidence[0].text


async def test_no_column_of_any_table_changes_unless_the_format_does(tmp_path):
    """Compares ``columns.json``, the tables as they are written now, and the kept store of this format."""
    await write(tmp_path / "store")
    said = json.loads((STORES / "columns.json").read_text(encoding="utf-8"))
    todo = TODO.format(format=FORMAT)
    assert said["format"] == FORMAT, todo
    assert _columns(tmp_path / "store") == said["tables"], todo
    assert {kind: _fields(LAYOUTS[kind]) for kind in LOG_KINDS} == said["log"], todo
    assert _columns(unpacked(FORMAT, tmp_path / "then")) == said["tables"], todo


def _columns(folder):
    """Return the columns of every table of a store with their types; `n` numbers a vector has, and `g` a generation."""
    tables = Tables(str(folder))
    return {name.replace("_0", "_g"): dict(_types(tables.latest(name).schema)) for name in sorted(tables.names())}


def _types(columns):
    for column in columns:
        yield column.name, str(column.type).replace("[32]", "[n]") + ("" if column.nullable else " not null")


def _fields(kind):
    """Return the fields of a kind of the log with their types; `?` where one may be missing."""
    return {one.name: one.kind.__name__ + "?" * one.optional for one in fields_of(kind)}
