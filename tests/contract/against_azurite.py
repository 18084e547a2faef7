"""Two servers on one store of Azure Blob Storage: azurite, the emulator from npm.

``python tests/contract/against_azurite.py FOLDER`` with azurite in ``FOLDER/node_modules``; ``.ci/extra`` runs it. What
must hold: commits have no gaps, each server sees the other's, the tables take the journal in, nothing is damaged, and
what is forgotten is in no blob.
"""

import base64
import hashlib
import hmac
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import anyio
import httpx2

sys.path.insert(0, str(Path(__file__).parents[1]))

from batches import DIMENSION, erasing
from lance_at import refs, write
from remembering import space_in
from rows_checked import row_problems

from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.storage.objects import Bucket, storage_options
from mcp_memory.storage.place import Place
from mcp_memory.storage.store import LanceStore

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # azurite's, for all
ROOT = "az://memory/stores"


@contextmanager
def azurite(folder: str) -> Iterator[str]:
    """Run azurite with an empty container, and yield ``storage.options`` for it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = Path(folder, "node_modules", ".bin", "azurite-blob").absolute()
    arguments = ["--inMemoryPersistence", "--disableTelemetry", "--silent", "--blobPort", str(port)]
    with tempfile.TemporaryDirectory() as place, subprocess.Popen([program, *arguments], cwd=place) as process:
        try:
            endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
            make_container(endpoint)
            yield f"account_name={ACCOUNT} account_key={KEY} endpoint={endpoint} allow_http=true"
        finally:
            process.terminate()


def make_container(endpoint: str) -> None:
    """Make the container once azurite listens; the signature is that of a request without anything optional."""
    date, version = format_datetime(datetime.now(UTC), usegmt=True), "2021-08-06"
    lines = ["PUT", *[""] * 11, f"x-ms-date:{date}", f"x-ms-version:{version}"]
    text = "\n".join([*lines, f"/{ACCOUNT}/{ACCOUNT}/memory", "restype:container"])
    mac = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()
    headers = {"x-ms-date": date, "x-ms-version": version, "Authorization": f"SharedKey {ACCOUNT}:{mac}"}
    for _ in range(100):
        with suppress(httpx2.TransportError):
            httpx2.put(f"{endpoint}/memory?restype=container", headers=headers).raise_for_status()
            return
        time.sleep(0.1)
    raise TimeoutError("azurite does not listen")


def contents(bucket: Bucket) -> bytes:
    """Return what all blobs hold, and their names; a server may remove one, a lease for example, meanwhile."""
    import obstore

    found = b""
    for path in [one["path"] for page in obstore.list(bucket._store) for one in page]:
        with suppress(FileNotFoundError):
            found += path.encode() + bytes(obstore.get(bucket._store, path).bytes())
    return found


async def check(options: str) -> None:
    """Use a store in every way, and check what must hold."""
    place = Place(f"{ROOT}/acme", options)
    one, other = (LanceStore(place, embedder="fake", dimension=DIMENSION, compact_after=8) for _ in range(2))
    bucket = Bucket(f"{ROOT}/acme", storage_options(options))
    names = [f"message{number}" for number in range(40)]
    assert [await write(one if number % 2 else other, name) for number, name in enumerate(names)] == [*range(1, 41)]
    assert await refs(one) == await refs(other) == names
    with anyio.fail_after(300):  # in which a server takes the journal into the tables
        while b"segments_0.lance" not in contents(bucket):
            await write(one, f"more{time.monotonic()}")
            await anyio.sleep(0.05)
    assert b"message7" in contents(bucket)
    turn = next(turn for turn in (await space_in(one)).turns.values() if turn.ref == "message7")
    await one.forget(erasing(ForgetTargets("default", turns=frozenset((turn.id,)))))
    assert "message7" not in [*await refs(one), *await refs(other)]
    assert b"message7" not in contents(bucket)
    assert turn.id.encode() not in contents(bucket)
    assert not await row_problems(one)
    await one.aclose()
    await other.aclose()


if __name__ == "__main__":
    with azurite(sys.argv[1]) as given:
        anyio.run(check, given)
    sys.stdout.write("azurite: commits without gaps, forgotten without a trace\n")
