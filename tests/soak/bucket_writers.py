"""Several servers write to one store on object storage, and some of them are killed: is anything acknowledged lost?

``python tests/soak/bucket_writers.py --writes 100 --delay-ms 0 30``. The servers are processes of
``tests/contract/bucket_writer.py``, the object store is the emulator of the tests, in a process of its own. One server
alone, four, and four of which two are killed: printed are the times and requests of a write, the acknowledged writes
that are missing, commits that are there twice, and what ``doctor`` finds. ``--recalls N`` compares recalls of the whole
program there with those of a local store.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[1]))

from batches import DIMENSION
from object_store import ObjectStore
from rows_checked import row_problems

from mcp_memory.domain.access import CALL_BEGAN
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.settings import Settings, StorageSettings
from mcp_memory.storage.place import Place
from mcp_memory.storage.store import LanceStore
from mcp_memory.wiring import open_memory

WRITER = Path(__file__).parents[1] / "contract" / "bucket_writer.py"
URI = "s3://bucket/store"


class Served:
    """The emulator in another process, which answers on stdout how many requests there were."""

    def __init__(self, process):
        self.process = process
        self.options = process.stdout.readline().strip()

    def requests(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["all"]


def serve(delay_s):
    """Serve until stdin ends; print the options, and at each line the requests so far."""
    with ObjectStore(delay_s=delay_s).serving() as objects:
        print(objects.options, flush=True)
        for _ in sys.stdin:
            print(json.dumps({"all": objects.requests["all"]}), flush=True)


@contextmanager
def served(delay_ms):
    command = [sys.executable, __file__, "--serve", str(delay_ms)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield Served(process)
        process.stdin.close()


async def stored(options):
    """Return the ids of the stored messages, the numbers of the commits, and what a check finds."""
    store = LanceStore(Place(URI, options), embedder="fake", dimension=DIMENSION)
    async with store.reading() as view:
        refs = [turn.ref for turn in view.space("default").turns.values()]
        commits = view.tx
    findings = await row_problems(store)
    await store.aclose()
    return refs, commits, findings


def round_of(servers, writes, killed, delay_ms):
    """Run one round, print it, and return whether all is well."""
    with served(delay_ms) as objects:
        said, took = {number: [] for number in range(servers)}, []
        writers = [
            subprocess.Popen(
                [sys.executable, WRITER, objects.options, f"w{number}", str(writes)], stdout=subprocess.PIPE, text=True
            )
            for number in range(servers)
        ]

        def listen(number):
            for line in writers[number].stdout:
                ref, milliseconds = line.split()
                said[number].append(ref)
                took.append(float(milliseconds))
                if number < killed and len(said[number]) == writes // 2:
                    writers[number].kill()

        threads = [threading.Thread(target=listen, args=(number,)) for number in range(servers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for writer in writers:
            writer.wait()
        requests, acknowledged = objects.requests(), [ref for refs in said.values() for ref in refs]
        refs, commits, findings = anyio.run(stored, objects.options)
    lost, doubled = set(acknowledged) - set(refs), len(refs) - len(set(refs)) + commits - len(refs)
    print(
        f"{delay_ms:g} ms a request, {servers} servers, {killed} killed: {len(acknowledged)} acknowledged, {len(lost)} "
        f"lost, {doubled} doubled; a write: {spread(took)}, {requests / len(acknowledged):.1f} requests (all that is "
        f"asked meanwhile counted); check: {[str(one) for one in findings] or 'clean'}",
        flush=True,
    )
    return not (lost or doubled or findings) and all(len(said[number]) == writes for number in range(killed, servers))


def spread(milliseconds):
    ordered = sorted(milliseconds)
    return f"median {statistics.median(ordered):.0f} ms, p95 {ordered[len(ordered) * 95 // 100]:.0f} ms"


async def recalls(uri, options, count, name, requests=lambda: 0):
    """Print how long recalls of the whole program take."""
    memory = await open_memory(replace(Settings(), storage=StorageSettings(uri=uri, options=options)))
    items = tuple(NewItem(f"The pump number {number} in hall {number % 7} leaks.") for number in range(200))
    await memory.write(WriteRequest("default", "talk", "message", items))
    await memory.reconstruct(Query("Which pump leaks?", "default", 10))
    took, before = [], requests()
    for number in range(count):
        began = time.perf_counter()
        CALL_BEGAN.set(time.monotonic())  # as the server does
        await memory.reconstruct(Query(f"What about pump number {number}?", "default", 10))
        took.append((time.perf_counter() - began) * 1e3)
    asked = requests() - before
    await memory.aclose()
    print(f"a recall, {name}: {spread(took)}, {asked / count:.1f} requests", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, default=100)
    parser.add_argument("--delay-ms", type=float, nargs="+", default=[0, 30])
    parser.add_argument("--recalls", type=int, default=0)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve is not None:
        serve(chosen.serve / 1e3)
        sys.exit()
    well = []
    for delay in chosen.delay_ms:
        well += [round_of(servers, chosen.writes, killed, delay) for servers, killed in ((1, 0), (4, 0), (4, 2))]
    if chosen.recalls:
        with tempfile.TemporaryDirectory() as place:
            anyio.run(recalls, place, "", chosen.recalls, "local")
        for delay in chosen.delay_ms:
            with served(delay) as there:
                anyio.run(recalls, URI, there.options, chosen.recalls, f"{delay:g} ms a request", there.requests)
    sys.exit(0 if all(well) else 1)
