"""LanceDB's store beyond the port: it survives dead writers, full disks and rebuilds."""

import json
import os
import sys
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint
from batches import asserted, batch, derive
from lance_at import NOW, commit_to, fold_all, make_rows, next_commit, open_at, refs
from remembering import space_in
from rows_checked import row_problems

from mcp_memory.domain.batch import Batch
from mcp_memory.errors import StoreMismatch, StoreUnwritable
from mcp_memory.storage.compaction import FOLDED_COMMITS, OLD_GENERATION_MS, compact
from mcp_memory.storage.rebuild import CHUNK_TEXTS
from mcp_memory.storage.rows import rows_of
from mcp_memory.storage.tables import Tables
from mcp_memory.view.space import View


async def _asserted(store):
    return (await space_in(store)).facts.rows


async def _wait_for_compaction(store):
    while store._compaction.running:  # only one runs at a time
        await checkpoint()


def _everything(uri):
    return [Path(uri), *Path(uri).rglob("*")]


async def test_an_unfinished_rebuild_changes_nothing_and_leaves_no_table_or_the_next_one_drops_them(uri):
    store = open_at(uri)
    await commit_to(store, batch("a"))
    made = derive(batch("a").turns)

    def begin():
        Tables(uri).append("sentences_1", rows_of("sentences", made.sentences, [1, 1], None, made.sentence_vectors))

    async def fails(_):
        begin()
        raise LookupError

    with pytest.raises(LookupError):
        await store.rebuild(fails)
    assert await refs(open_at(uri)) == ["a"]
    assert "sentences_1" not in Tables(uri).names()
    begin()  # and its process dies
    await store.rebuild(make_rows)
    derived = {f"{table}_{generation}" for table in ("assertions", "segments", "sentences") for generation in (0, 2)}
    assert set(Tables(uri).names()) == derived
    assert len((await space_in(open_at(uri))).sentences) == 2


async def test_a_rebuild_replaces_derived_assertions_and_keeps_those_of_the_caller(uri):
    store, other = open_at(uri), open_at(uri)
    refs = [f"r{number}" for number in range(CHUNK_TEXTS + 5)]
    rows = batch(*refs)
    told = rows.assertions[: len(refs)]
    await commit_to(store, rows)
    await commit_to(store, Batch(assertions=(later := asserted(rows.turns[0], 2, "caller"),)))
    assert await _asserted(other) == [*rows.assertions, later]
    for number in (3, 4):

        async def make(turns, number=number):
            return replace(derive(turns), assertions=tuple(asserted(one, number) for one in turns))

        assert await store.rebuild(make) == len(refs)
        made = [asserted(one, number) for one in rows.turns]
        for opened in (other, store, open_at(uri)):
            assert await _asserted(opened) == [*told, *made, later]
    await commit_to(other, batch("after"))
    assert await _asserted(store) == [*told, *made, later, *batch("after").assertions]
    assert await row_problems(store) == []


async def test_compaction_drops_replaced_tables_after_ten_minutes(uri):
    """Not earlier: another process may not have refreshed yet."""
    store = open_at(uri)
    await commit_to(store, batch("a"))
    await store.rebuild(make_rows)
    await _wait_for_compaction(store)
    for later, there in ((OLD_GENERATION_MS, True), (OLD_GENERATION_MS + 1, False)):
        compact(Tables(uri), 64, now=NOW + later, stop=threading.Event())
        assert ({"segments_0", "assertions_0"} <= set(Tables(uri).names())) is there
    assert await refs(open_at(uri)) == ["a"]


@pytest.mark.filterwarnings("ignore:optimize:UserWarning")
async def test_a_compaction_changes_nothing_for_readers_and_writers(uri):
    store, other = open_at(uri), open_at(uri)
    for number in range(12):
        await commit_to(store, batch(f"r{number}"))
        await refs(other)
        fold_all(uri)
    names = "segments_0", "sentences_0", "assertions_0"
    assert [Tables(uri).fragments(name) for name in names] == [12] * len(names)
    compact(Tables(uri), 2, now=NOW, stop=threading.Event(), keep=timedelta(0))
    assert [Tables(uri).fragments(name) for name in names] == [1] * len(names)
    await commit_to(store, batch("after"))
    expected = [*(f"r{number}" for number in range(12)), "after"]
    assert await refs(other) == await refs(store) == await refs(open_at(uri)) == expected
    assert await row_problems(store) == []


async def test_a_view_that_fails_to_take_in_a_commit_is_loaded_again(uri, monkeypatch):
    store = open_at(uri)
    await commit_to(store, batch("a"))
    with monkeypatch.context() as broken:
        broken.setattr(View, "add", _fail)
        assert await commit_to(store, batch("b")) == 2
    async with store.reading() as view:
        assert len(view.space("default").turns) == len(view.space("default").segments) == 2


def _fail(*_):
    raise MemoryError


LEAVES = """
import datetime, logging, os, sys, threading
from mcp_memory.storage.compaction import compact
from mcp_memory.storage.tables import Tables
tables = Tables(sys.argv[1])
tables.names()  # loads LanceDB
threading.Timer(float(sys.argv[2]), os._exit, [0]).start()
compact(tables, 2, now=0, stop=threading.Event(), keep=datetime.timedelta(milliseconds=1))
"""


async def test_a_process_that_ends_during_a_compaction_loses_nothing(uri):
    """As the server does when its shutdown time is over: at once, whatever LanceDB is doing."""
    store = open_at(uri)
    names = [f"r{number}" for number in range(16)]
    for ref in names:
        await commit_to(store, batch(ref))
        fold_all(uri)
    for moment in (0.0, 0.005, 0.015, 0.03):
        await anyio.run_process([sys.executable, "-c", LEAVES, uri, str(moment)])
        assert await refs(open_at(uri)) == names
        names.append(f"after {moment}")
        await commit_to(store, batch(names[-1]))
        fold_all(uri)
    assert await refs(store) == names
    assert await row_problems(store) == []


async def test_commits_of_this_process_start_compactions_in_the_background(uri):
    store = open_at(uri, compact_after=4)
    for number in range(FOLDED_COMMITS + 4):
        await _wait_for_compaction(store)  # on a slow disk, the first may still be running when the next is due
        await commit_to(store, batch(f"r{number}"))
    await store.aclose()
    assert not store._compaction.running
    assert Tables(uri).log.unfolded() < FOLDED_COMMITS
    assert len(await refs(open_at(uri))) == FOLDED_COMMITS + 4


async def test_a_newer_format_is_refused_and_nothing_is_changed(uri):
    await commit_to(open_at(uri), batch("a"))
    next_commit(uri, format=99)
    for call in (refs(open_at(uri)), commit_to(open_at(uri), batch("b")), open_at(uri).rebuild(make_rows)):
        with pytest.raises(StoreMismatch, match="newer"):
            await call
    assert Tables(uri).log.newest() == 2


async def test_a_memory_of_an_older_program_is_refused_with_what_brings_it_over(uri):
    (Path(uri) / "commits.lance" / "data").mkdir(parents=True)
    (Path(uri) / "anchor-0.json").write_text("{}")
    before = _everything(uri)
    with pytest.raises(StoreMismatch, match=r"older mcp-memory.*export FILE.*import FILE"):
        open_at(uri)
    assert _everything(uri) == before


async def test_status_lists_living_processes_and_removes_dead_ones(uri):
    """The lock file of a dead process exists, but is not locked."""
    store = open_at(uri)
    await commit_to(store, batch("a"))
    (Path(uri) / "holders" / "1-00c0ffee.lock").touch()
    assert (await store.about()).holders == (os.getpid(),)
    assert not (Path(uri) / "holders" / "1-00c0ffee.lock").exists()
    await store.aclose()
    assert list((Path(uri) / "holders").iterdir()) == []


async def test_a_place_that_cannot_be_written_to_reads_as_empty(tmp_path):
    """Nobody can create anything below a regular file."""
    (tmp_path / "file").touch()
    store = open_at(str(tmp_path / "file" / "store"))
    assert await refs(store) == []
    with pytest.raises(StoreUnwritable, match=r"storage\.uri"):
        await commit_to(store, batch("a"))
    assert "cannot be written to" in (await store.about()).problems[0]
    assert "cannot be written to" in (await open_at(str(tmp_path / "file")).about()).problems[0]
    assert (await open_at(str(tmp_path / "some" / "day")).about()).problems == ()  # the first write creates it


async def test_a_store_that_replaces_a_deleted_one_is_loaded_again_though_its_numbers_are_the_same(uri, tmp_path):
    """One process deletes it and starts again; the other's view has the same last commit and version."""
    store, other = open_at(uri), open_at(uri)
    await commit_to(store, batch("a"))
    assert await refs(other) == ["a"]
    os.rename(uri, tmp_path / "elsewhere")  # noqa: PTH104 (anyio's Path for one line)
    assert await refs(store) == []
    await commit_to(store, batch("b"))
    assert await refs(other) == ["b"]
    assert await commit_to(other, batch("c")) == 2
    assert await refs(store) == await refs(open_at(uri)) == ["b", "c"]


FULL = """
import json, resource, sys, anyio
folder, limit, *sys.path[:0] = sys.argv[1:]
from batches import batch
from lance_at import commit_to, open_at, refs
from mcp_memory.errors import StoreUnwritable

def allow(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def main():
    store = open_at(folder)
    said = [await refs(store)]
    allow(int(limit))
    try:
        await commit_to(store, batch("b"))
    except StoreUnwritable as error:
        said.append(str(error))
    said.append(await refs(store))
    allow(resource.RLIM_INFINITY)
    await commit_to(store, batch("c"))
    print(json.dumps([*said, await refs(store)]))

anyio.run(main)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for the full disk")
@pytest.mark.parametrize("limit", [0, 2700])
async def test_on_a_full_disk_reads_go_on_and_later_writes_work_again(uri, limit):
    await commit_to(open_at(uri), batch("a"))
    here = Path(__file__).parent
    command = [sys.executable, "-c", FULL, uri, str(limit), str(here), str(here.parent)]
    before, refusal, during, after = json.loads((await anyio.run_process(command)).stdout)
    assert before == during == ["a"]
    assert "storage.uri" in refusal
    assert after == await refs(open_at(uri)) == ["a", "c"]


async def test_a_table_that_is_gone_under_two_threads_is_no_table_for_either(uri):
    class Dropped:
        def checkout_latest(self):
            del tables._open[name]  # as the other thread does, which is sooner
            raise ValueError("dropped")

    await commit_to(open_at(uri), batch("a"))
    tables, name = fold_all(uri), "segments_0"
    tables._open[name] = Dropped()
    assert tables.count(name) == 1
