"""Several servers on one store on object storage: a commit number is taken once, and what was acknowledged is kept."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from batches import DIMENSION, batch, erasing
from lance_at import refs as in_order
from lance_at import write
from object_store import ObjectStore
from remembering import space_in

from mcp_memory.domain.access import CALL_BEGAN
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.errors import ConfigurationError, StoreBusy, StoreError, StoreUnwritable
from mcp_memory.storage.lock import BucketLock
from mcp_memory.storage.log import Entry, decode, encode, table_rows
from mcp_memory.storage.objects import Bucket, storage_options
from mcp_memory.storage.place import Place
from mcp_memory.storage.rows import FORMAT, TABLE_KINDS, Commit, rows_by_kind
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables

URI = "s3://bucket/store"


@pytest.fixture
def objects():
    """An object store that honours conditional writes."""
    with ObjectStore().serving() as served:
        yield served


def open_at(objects):
    """Return another server's store over the same objects, which never compacts by itself."""
    return LanceStore(Place(URI, objects.options), embedder="fake", dimension=DIMENSION, compact_after=1_000_000)


def bucket_of(objects):
    return Bucket(URI, storage_options(objects.options))


async def refs(store):
    return set(await in_order(store))


async def closed(*stores):
    for store in stores:
        await store.aclose()


async def test_a_store_that_ignores_conditions_is_refused_and_one_that_keeps_versions_is_named():
    with ObjectStore(conditions=False).serving() as served:
        store = open_at(served)
        with pytest.raises(StoreUnwritable, match="ignores"):
            await write(store, "a")
        assert not served.objects
        await closed(store)
    for versions in (True, False):
        with ObjectStore(versions=versions).serving() as served:
            store = open_at(served)
            about = await store.about()
            assert not about.problems
            assert ("earlier versions" in " ".join(about.notes)) == versions
            await closed(store)


async def test_a_write_takes_five_requests_and_a_call_looks_once_for_what_others_wrote(objects):
    one, other = open_at(objects), open_at(objects)
    await write(one, "a")
    await write(one, "b")
    one._compaction.stop(10)
    objects.requests.clear()
    await write(one, "c")
    assert objects.requests["all"] <= 5, objects.requests
    await refs(other)
    CALL_BEGAN.set(began := time.monotonic())
    objects.requests.clear()
    assert [await refs(other) for _ in range(3)] == [{"a", "b", "c"}] * 3
    assert objects.requests["all"] == 1, objects.requests
    await write(one, "d")
    CALL_BEGAN.set(began)
    assert "d" not in await refs(other)
    CALL_BEGAN.set(time.monotonic())
    assert "d" in await refs(other)
    assert await write(other, "e") == 5
    assert await refs(other) == {*"abcde"}
    await closed(one, other)


async def test_of_two_commits_with_one_number_one_is_refused_and_nothing_of_it_is_stored(objects):
    """As if the second server had been stopped for so long that its lock was taken away."""
    one, other = open_at(objects), open_at(objects)
    await write(one, "a")
    await refs(other)
    async with other.writing() as late:
        bucket_of(objects).remove(["write.lock"])
        await write(one, "b")
        with pytest.raises(StoreBusy, match="same moment"):
            await late.commit(batch("c"))
    assert await refs(one) == await refs(other) == {"a", "b"}
    assert await write(other, "c") == 3
    await closed(one, other)


async def test_rows_that_were_taken_into_the_tables_twice_count_once(objects):
    """A server that is stopped while it does so goes on later, when another one has done it."""
    store = open_at(objects)
    for ref in "abc":
        await write(store, ref)
    store._compaction.stop(10)
    place = Place(URI, objects.options)
    entries = list(place.log.entries())
    Tables(place).fold()
    late = Tables(place)
    for entry in entries:
        for kind in TABLE_KINDS:
            if (rows := table_rows([entry], kind)) is not None:
                late.append(entry.commit.table(kind), rows)
    fresh = open_at(objects)
    assert await refs(fresh) == {"a", "b", "c"}
    space = await space_in(fresh)
    assert len(space.segments) == len({one.id for one in space.segments}) == 3
    assert await write(fresh, "d") == 4
    await closed(store, fresh)


async def test_a_server_that_lags_behind_reads_the_tables(objects):
    """What it lacks has no object of its own any more, but for the newest commit."""
    slow, busy = open_at(objects), open_at(objects)
    await write(slow, "a")
    for ref in "bcdef":
        await write(busy, ref)
    busy._compaction.stop(10)
    tables = Tables(Place(URI, objects.options))
    tables.fold()
    assert sum("journal/" in name for name in objects.objects) == 1
    assert tables.log.unfolded() == 0
    assert await refs(slow) == set("abcdef")
    assert await write(slow, "g") == 7
    await closed(slow, busy)


async def test_a_lock_is_taken_over_when_its_holder_died_and_not_while_it_is_renewed(objects):
    bucket = bucket_of(objects)
    bucket.put_new("write.lock", b"somebody, in the year 2100")
    async with BucketLock(bucket, "write.lock", timeout_s=10, ttl_s=0.3).hold():
        assert bucket.get("write.lock") != b"somebody, in the year 2100"
    assert bucket.get("write.lock") is None
    held, waiting = (BucketLock(bucket, "write.lock", timeout_s=1.0, ttl_s=0.3) for _ in range(2))
    async with held.hold():
        with pytest.raises(StoreBusy, match="another server"):
            async with waiting.hold():
                pass


async def test_servers_that_write_all_the_time_take_turns(objects):
    stores = [open_at(objects) for _ in range(3)]
    await write(stores[0], "first")
    order = []

    async def write_often(number):
        for count in range(8):
            await write(stores[number], f"s{number}-{count}")
            order.append(number)

    async with anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(write_often, number)
    others_between = [order[place : place + 6] for place in range(3, len(order) - 6)]
    assert all(len(set(some)) > 1 for some in others_between), order
    await closed(*stores)


async def test_what_one_server_forgets_is_gone_from_every_object_and_from_the_other_server(objects):
    one, other = open_at(objects), open_at(objects)
    for ref in ("kept", "secretword"):
        await write(one, ref)
    place = Place(URI, objects.options)
    place.log.begin_forgetting()  # of a server that died before it wrote down what: it blocks nobody
    assert await refs(other) == {"kept", "secretword"}
    assert any("journal/" in name for name in objects.objects)
    turn = next(one for one in (await space_in(one)).turns.values() if one.ref == "secretword")
    await one.forget(erasing(ForgetTargets("default", turns=frozenset((turn.id,)))))
    assert await refs(other) == await refs(one) == {"kept"}
    assert "~forgetting" not in "".join(objects.objects)
    tables = Tables(place)
    for name in tables.names():
        rows = tables.rows(name)
        assert rows is None or turn.id not in str(rows.to_pylist()), name
    assert turn.id not in str(list(Place(URI, objects.options).log.entries()))
    assert not any(turn.id.encode() in content or b"secretword" in content for content, _ in objects.objects.values())
    assert await write(other, "new") == 4
    await closed(one, other)


def first_commit(*refs):
    """Return the first commit of a store, with all rows of some texts."""
    logged, tables = rows_by_kind(batch(*refs))
    counts = {kind: len(rows) for kind, rows in (logged | tables).items()}
    return Entry(replace(Commit(1, 0, FORMAT, "fake", DIMENSION, 0, 1), **counts), logged, tables)


def test_a_commit_comes_back_as_it_was_put_and_damaged_rows_of_tables_count_as_not_there():
    made = first_commit("a", "b")
    line, _, rest = encode(made).partition(b"\n")
    assert decode(line + b"\n", rest) == made
    assert decode(line + b"\n", rest[:-1]) == replace(made, tables=None)


def test_a_commit_whose_reply_was_lost_is_ours_and_one_that_is_damaged_stops_whoever_reads(objects):
    made, log = first_commit("a"), Place(URI, objects.options).log
    for _ in range(2):
        log.append(made)
    with pytest.raises(StoreBusy, match="same moment"):
        log.append(replace(made, commit=replace(made.commit, at=1)))
    (name,) = (name for name in objects.objects if "journal/" in name)
    content, changed = objects.objects[name]
    objects.objects[name] = content.replace(b"fake", b"sham", 1), changed
    with pytest.raises(StoreError, match="sum is wrong"):
        list(Place(URI, objects.options).log.entries())


def test_options_are_names_and_values():
    found = storage_options(" region=x, endpoint=http://h:1\nALLOW_HTTP=true ")
    assert found == {"region": "x", "endpoint": "http://h:1", "allow_http": "true"}
    with pytest.raises(ConfigurationError, match="name=value"):
        storage_options("region x")


def test_four_processes_write_while_two_of_them_are_killed_and_nothing_acknowledged_is_lost(objects):
    script = Path(__file__).with_name("bucket_writer.py")

    def written(number):
        """Return what a process acknowledged; the first two are killed after three writes."""
        said = []
        command = [sys.executable, script, objects.options, f"w{number}", "8"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            for line in writer.stdout or ():
                said.append(line.split()[0])
                if number < 2 and len(said) == 3:
                    writer.kill()
        return said

    with ThreadPoolExecutor(4) as threads:
        said = list(threads.map(written, range(4)))
    assert [len(refs) for refs in said[2:]] == [8, 8]
    found = anyio.run(refs, open_at(objects))
    assert {ref for refs in said for ref in refs} <= found
    numbers = [entry.commit.tx for entry in Place(URI, objects.options).log.entries()]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
