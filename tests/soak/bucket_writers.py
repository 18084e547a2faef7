"""Four servers write to one store on object storage, and two of them are killed: is anything acknowledged lost?

``python tests/soak/bucket_writers.py --writes 100 --delay-ms 0 30``. The servers are processes of
``tests/contract/bucket_writer.py``, the object store is the emulator of the tests. Printed are the acknowledged writes
that are missing, those that are there twice, what ``doctor`` finds, and the requests of a write.
"""

import argparse
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[1]))

from batches import DIMENSION
from object_store import ObjectStore

from mcp_memory.storage.store import LanceStore

WRITER = Path(__file__).parents[1] / "contract" / "bucket_writer.py"


async def stored(options):
    """Return the ids of the stored messages, and what a check finds."""
    store = LanceStore("s3://bucket/store", options=options, embedder="fake", dimension=DIMENSION)
    async with store.reading() as view:
        refs = [turn.ref for turn in view.space("default").turns.values()]
    findings = [one for one in await store.check() if one.severity != "note"]
    await store.aclose()
    return refs, findings


def round_of(writes, delay_s):
    """Run one round, print it, and return whether all is well."""
    with ObjectStore(delay_s=delay_s).serving() as objects:
        said, took = {number: [] for number in range(4)}, []
        writers = [
            subprocess.Popen(
                [sys.executable, WRITER, objects.options, f"w{number}", str(writes)], stdout=subprocess.PIPE, text=True
            )
            for number in range(4)
        ]

        def listen(number):
            last = None
            for line in writers[number].stdout:
                now = time.monotonic()
                if last is not None:
                    took.append(now - last)
                last = now
                said[number].append(line.strip())
                if number < 2 and len(said[number]) == writes // 2:
                    writers[number].kill()

        threads = [threading.Thread(target=listen, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for writer in writers:
            writer.wait()
        requests, acknowledged = objects.requests.total(), {ref for refs in said.values() for ref in refs}
        refs, findings = anyio.run(stored, objects.options)
    lost, doubled = acknowledged - set(refs), len(refs) - len(set(refs))
    took.sort()
    sys.stdout.write(
        f"{delay_s * 1e3:.0f} ms: {len(acknowledged)} acknowledged, {len(lost)} lost, {doubled} stored twice; "
        f"a write with four writers: median {took[len(took) // 2] * 1e3:.0f} ms, p95 "
        f"{took[len(took) * 95 // 100] * 1e3:.0f} ms, {requests / max(1, len(acknowledged)):.1f} requests (waits "
        f"for the lock included); check: {[str(one) for one in findings] or 'clean'}\n",
    )
    return not (lost or doubled or findings) and all(len(said[number]) == writes for number in (2, 3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, default=100)
    parser.add_argument("--delay-ms", type=float, nargs="+", default=[0, 30])
    options = parser.parse_args()
    well = [round_of(options.writes, delay / 1e3) for delay in options.delay_ms]
    sys.exit(0 if all(well) else 1)
