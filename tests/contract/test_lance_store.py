"""LanceDB's store beyond the port: it survives dead writers, full disks and rebuilds."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint
from batches import asserted, batch, derive, turn
from hypothesis import given, settings
from hypothesis import strategies as st
from lance_at import NOW, commit_to, fold_all, next_commit, open_at
from rows_checked import row_problems

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreError, StoreMismatch, StoreUnwritable
from mcp_memory.storage.compaction import FOLDED, OLD_GENERATION_MS, compact
from mcp_memory.storage.rebuild import CHUNK
from mcp_memory.storage.rows import rows_of
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio


async def _refs(store: LanceStore, space: str = "default") -> list[str]:
    async with store.reading() as view:
        return [one.ref for one in view.space(space).turns.values()]


async def _asserted(store: LanceStore, space: str = "default") -> list[Assertion]:
    async with store.reading() as view:
        return view.space(space).facts.rows


async def _wait_for_compaction(store: LanceStore) -> None:
    while store._compaction.running:  # only one runs at a time
        await checkpoint()


def _everything(uri: str) -> list[Path]:
    return [Path(uri), *Path(uri).rglob("*")]


async def _derive(turns: Sequence[Turn]) -> Batch:
    return derive(turns)


async def test_an_unfinished_rebuild_changes_nothing_and_leaves_no_table_or_the_next_one_drops_them(uri: str) -> None:
    """No commit names the generation of its tables."""
    store = open_at(uri)
    await commit_to(store, batch("a"))
    made = derive(batch("a").turns)

    def begin() -> None:
        Tables(uri).append("sentences_1", rows_of("sentences", made.sentences, [1, 1], None, made.sentence_vectors))

    async def fails(_: Sequence[Turn]) -> Batch:
        begin()
        raise LookupError

    with pytest.raises(LookupError):
        await store.rebuild(fails)
    assert await _refs(open_at(uri)) == ["a"]
    assert "sentences_1" not in Tables(uri).names()
    begin()  # and its process dies
    await store.rebuild(_derive)
    derived = {f"{table}_{generation}" for table in ("assertions", "segments", "sentences") for generation in (0, 2)}
    assert set(Tables(uri).names()) == derived
    async with open_at(uri).reading() as view:
        assert len(view.space("default").sentences) == 2


async def test_a_rebuild_replaces_derived_assertions_and_keeps_those_of_the_caller(uri: str) -> None:
    """Twice, with different facts each time, in chunks that end within a commit, the caller's assertions first."""
    store, other = open_at(uri), open_at(uri)
    refs = [f"r{number}" for number in range(CHUNK + 5)]
    rows = batch(*refs)
    told = rows.assertions[: len(refs)]
    await commit_to(store, rows)
    await commit_to(store, Batch(assertions=(later := asserted(rows.turns[0], 2, "caller"),)))
    assert await _asserted(other) == [*rows.assertions, later]
    for number in (3, 4):

        async def make(turns: Sequence[Turn], number: int = number) -> Batch:
            return replace(derive(turns), assertions=tuple(asserted(one, number) for one in turns))

        assert await store.rebuild(make) == len(refs)
        made = [asserted(one, number) for one in rows.turns]
        for opened in (other, store, open_at(uri)):
            assert await _asserted(opened) == [*told, *made, later]
    await commit_to(other, batch("after"))
    assert await _asserted(store) == [*told, *made, later, *batch("after").assertions]
    assert await row_problems(store) == []


async def test_compaction_drops_replaced_tables_after_ten_minutes(uri: str) -> None:
    """Not earlier: another process may not have refreshed yet."""
    store = open_at(uri)
    await commit_to(store, batch("a"))
    await store.rebuild(_derive)
    await _wait_for_compaction(store)
    for later, there in ((OLD_GENERATION_MS, True), (OLD_GENERATION_MS + 1, False)):
        compact(Tables(uri), 64, now=NOW + later, stop=threading.Event())
        assert ({"segments_0", "assertions_0"} <= set(Tables(uri).names())) is there
    assert await _refs(open_at(uri)) == ["a"]


@pytest.mark.filterwarnings("ignore:optimize:UserWarning")
async def test_a_compaction_changes_nothing_for_readers_and_writers(uri: str) -> None:
    """Neither for a store that has an older version of every table open nor for a new one."""
    store, other = open_at(uri), open_at(uri)
    for number in range(12):
        await commit_to(store, batch(f"r{number}"))
        await _refs(other)
        fold_all(uri)
    names = "segments_0", "sentences_0", "assertions_0"
    assert [Tables(uri).fragments(name) for name in names] == [12] * len(names)
    assert compact(Tables(uri), 2, now=NOW, stop=threading.Event(), keep=timedelta(0))
    assert [Tables(uri).fragments(name) for name in names] == [1] * len(names)
    await commit_to(store, batch("after"))
    expected = [*(f"r{number}" for number in range(12)), "after"]
    assert await _refs(other) == await _refs(store) == await _refs(open_at(uri)) == expected
    assert await row_problems(store) == []


async def test_a_view_that_fails_to_take_in_a_commit_is_loaded_again(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are stored, so the call succeeds."""
    store = open_at(uri)
    await commit_to(store, batch("a"))
    with monkeypatch.context() as broken:
        broken.setattr(View, "add", _fail)
        assert await commit_to(store, batch("b")) == 2
    async with store.reading() as view:
        assert len(view.space("default").turns) == len(view.space("default").segments) == 2


async def test_a_reader_that_fails_does_not_disturb_a_concurrent_writer(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader resets the view and the last commit; the writer goes on with those that it started with."""
    store = open_at(uri)
    await commit_to(store, batch("a"))
    async with store.writing() as transaction:
        with monkeypatch.context() as broken:
            broken.setattr(View, "extend_indexes", _fail)
            with pytest.raises(MemoryError):
                await _refs(store)
        assert len(transaction.view.space("default").turns) == 1
        assert await transaction.commit(batch("b")) == 2
    assert await _refs(store) == await _refs(open_at(uri)) == ["a", "b"]
    assert await row_problems(store) == []


def _fail(*_: object) -> None:
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


async def test_a_process_that_ends_during_a_compaction_loses_nothing(uri: str) -> None:
    """As the server does when its shutdown time is over: at once, whatever LanceDB is doing."""
    store = open_at(uri)
    refs = [f"r{number}" for number in range(16)]
    for ref in refs:
        await commit_to(store, batch(ref))
        fold_all(uri)
    for moment in (0.0, 0.005, 0.015, 0.03):
        await anyio.run_process([sys.executable, "-c", LEAVES, uri, str(moment)])
        assert await _refs(open_at(uri)) == refs
        refs.append(f"after {moment}")
        await commit_to(store, batch(refs[-1]))
        fold_all(uri)
    assert await _refs(store) == refs
    assert await row_problems(store) == []


async def test_commits_of_this_process_start_compactions_in_the_background(uri: str) -> None:
    """Closing waits for it, briefly."""
    store = open_at(uri, compact_after=4)
    for number in range(FOLDED + 4):
        await _wait_for_compaction(store)  # on a slow disk, the first may still be running when the next is due
        await commit_to(store, batch(f"r{number}"))
    await store.aclose()
    assert not store._compaction.running
    assert Tables(uri).log.unfolded() < FOLDED
    assert len(await _refs(open_at(uri))) == FOLDED + 4


async def test_a_newer_format_is_refused_and_nothing_is_changed(uri: str) -> None:
    """For reading, writing and rebuilding."""
    await commit_to(open_at(uri), batch("a"))
    next_commit(uri, format=99)
    for call in (_refs(open_at(uri)), commit_to(open_at(uri), batch("b")), open_at(uri).rebuild(_derive)):
        with pytest.raises(StoreMismatch, match="newer"):
            await call
    assert Tables(uri).log.newest() == 2


async def test_a_memory_of_an_older_program_is_refused_with_what_brings_it_over(uri: str) -> None:
    """Its log was in tables; they stay as they are."""
    (Path(uri) / "commits.lance" / "data").mkdir(parents=True)
    (Path(uri) / "anchor-0.json").write_text("{}")
    before = _everything(uri)
    with pytest.raises(StoreMismatch, match=r"older mcp-memory.*export FILE.*import FILE"):
        open_at(uri)
    assert _everything(uri) == before


async def test_status_lists_living_processes_and_removes_dead_ones(uri: str) -> None:
    """The lock file of a dead process exists, but is not locked."""
    store = open_at(uri)
    await commit_to(store, batch("a"))
    (Path(uri) / "holders" / "1-00c0ffee.lock").touch()
    assert (await store.about()).holders == (os.getpid(),)
    assert not (Path(uri) / "holders" / "1-00c0ffee.lock").exists()
    await store.aclose()
    assert list((Path(uri) / "holders").iterdir()) == []


async def test_a_place_that_cannot_be_written_to_reads_as_empty(tmp_path: Path) -> None:
    """Nobody can create anything below a regular file."""
    (tmp_path / "file").touch()
    store = open_at(str(tmp_path / "file" / "store"))
    assert await _refs(store) == []
    with pytest.raises(StoreUnwritable, match=r"storage\.uri"):
        await commit_to(store, batch("a"))
    assert "cannot be written to" in (await store.about()).problems[0]
    assert "cannot be written to" in (await open_at(str(tmp_path / "file")).about()).problems[0]
    assert (await open_at(str(tmp_path / "some" / "day")).about()).problems == ()  # the first write creates it


async def test_a_uri_of_an_unknown_kind_is_refused_with_a_reason() -> None:
    """When reading and writing as well as in the status."""
    store = open_at("bogus://somewhere")
    with pytest.raises(StoreError, match=r"storage\.uri 'bogus://somewhere' cannot be opened"):
        await _refs(store)
    with pytest.raises(StoreError, match=r"storage\.uri"):
        await commit_to(store, batch("a"))
    assert len((await store.about()).problems) == 1


async def test_a_store_that_replaces_a_deleted_one_is_loaded_again_though_its_numbers_are_the_same(
    uri: str, tmp_path: Path
) -> None:
    """One process deletes it and starts again; the other's view has the same last commit and version."""
    store, other = open_at(uri), open_at(uri)
    await commit_to(store, batch("a"))
    assert await _refs(other) == ["a"]
    os.rename(uri, tmp_path / "elsewhere")  # noqa: PTH104 (anyio's Path for one line)
    assert await _refs(store) == []
    await commit_to(store, batch("b"))
    assert await _refs(other) == ["b"]
    assert await commit_to(other, batch("c")) == 2
    assert await _refs(store) == await _refs(open_at(uri)) == ["b", "c"]


LIMITED = """
import json, logging, os, resource, sys, anyio
sys.path[:0] = {path}
from batches import DIMENSION, batch
from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.store import LanceStore

async def write(store, ref):
    try:
        async with store.writing() as transaction:
            await transaction.commit(batch(ref))
    except StoreUnwritable as error:
        return str(error)

async def refs(store):
    async with store.reading() as view:
        return [turn.ref for turn in view.space("default").turns.values()]

async def main(folder):
    store = LanceStore(folder, embedder="fake", dimension=DIMENSION)
    said = {{}}
{body}
    print(json.dumps(said))

anyio.run(main, sys.argv[1])
"""


def _in_a_process(uri: str, body: str) -> dict[str, object]:
    script = LIMITED.format(path=[str(Path(__file__).parent.parent)], body=body)
    done = subprocess.run([sys.executable, "-c", script, uri], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said: dict[str, object] = json.loads(done.stdout)
    return said


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for the full disk")
@pytest.mark.parametrize("limit", [0, 2700])
async def test_on_a_full_disk_reads_go_on_and_later_writes_work_again(uri: str, limit: int) -> None:
    """The limit allows none or most of a write's files."""
    await commit_to(open_at(uri), batch("a"))
    said = _in_a_process(
        uri,
        f"""
    said["before"] = await refs(store)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
    said["full"] = await write(store, "b")
    said["during"] = await refs(store)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    said["later"] = await write(store, "c")
    said["after"] = await refs(store)
""",
    )
    assert said["before"] == said["during"] == ["a"]
    assert "storage.uri" in str(said["full"])
    assert (said["later"], said["after"]) == (None, ["a", "c"])
    assert await _refs(open_at(uri)) == ["a", "c"]


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for the full disk")
async def test_a_compaction_that_a_full_disk_cuts_short_loses_nothing(uri: str) -> None:
    """The version before it still exists, however old it is."""
    store = open_at(uri)
    refs = [f"r{number}" for number in range(20)]
    for ref in refs:
        await commit_to(store, batch(ref))
        fold_all(uri)
    said = _in_a_process(
        uri,
        """
    import datetime, threading
    from mcp_memory.storage.compaction import compact
    from mcp_memory.storage.tables import Tables
    await refs(store)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2500, resource.RLIM_INFINITY))
    try:
        compact(Tables(folder), 2, now=0, stop=threading.Event(), keep=datetime.timedelta(milliseconds=1))
    except (OSError, RuntimeError, ValueError) as error:
        said["failed"] = str(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    said["later"] = await write(store, "later")
""",
    )
    assert "failed" in said
    assert said["later"] is None
    assert await _refs(open_at(uri)) == [*refs, "later"]
    assert await row_problems(store) == []


WRITES = st.lists(
    st.tuples(
        st.sampled_from(["left", "right", "o'dd \u202e"]),
        st.lists(st.integers(0, 30), min_size=1, max_size=5, unique=True),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=8, deadline=None)
@given(writes=WRITES)
def test_rows_are_never_lost_duplicated_or_visible_in_another_space(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[str, list[int]]]
) -> None:
    """DESIGN I1, DESIGN I8 and DESIGN I39, with a writer that checks under the lock what is stored already."""
    uri = str(tmp_path_factory.mktemp("property") / "store")

    async def run() -> None:
        stores = [open_at(uri), open_at(uri)]
        expected: dict[str, set[str]] = {}
        counts = [0, 0, 0]
        for number, (space, refs) in enumerate(writes + writes):
            async with stores[number % 2].writing() as transaction:
                known = transaction.view.space(space).turns
                made = [turn(str(ref), space, place) for place, ref in enumerate(refs)]
                before = transaction.view.tx
                after = await transaction.commit(derive([one for one in made if one.id not in known]))
            expected.setdefault(space, set()).update(map(str, refs))
            assert number < len(writes) or after == before
            now = [Tables(uri).count(name) for name in ("segments_0", "sentences_0", "assertions_0")]
            assert all(later >= earlier for later, earlier in zip(now, counts, strict=True))
            counts = now
            async with stores[(number + 1) % 2].reading() as view:
                _same(view, expected)
        async with open_at(uri).reading() as view:
            _same(view, expected)
        assert await row_problems(open_at(uri)) == []

    anyio.run(run)


def _same(view: View, expected: dict[str, set[str]]) -> None:
    assert {name: {one.ref for one in space.turns.values()} for name, space in view.spaces.items()} == expected
    for name, space in view.spaces.items():
        pieces = [*space.turns.values(), *space.segments, *space.sentences, *space.facts.rows]
        assert {piece.space for piece in pieces} == {name}
        assert [one.turn_id for one in space.facts.rows] == list(space.turns)
        assert len(space.turns) == len(space.segments) == len(expected[name])


async def test_lancedb_writes_nothing_to_stdout(uri: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Stdout belongs to the protocol."""
    logging.getLogger(__name__).debug("writing to %s", uri)
    await commit_to(open_at(uri), batch("a"))
    await _refs(open_at(uri))
    assert capfd.readouterr().out == ""
