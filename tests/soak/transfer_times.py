"""Export a store of many sentences, import it into an empty one, and export that: the times, and what comes out.

Run as ``python tests/soak/transfer_times.py --sentences 100000``. The commands run as a person runs them, on a
terminal, with the real model. What must hold: both exports are the same but for the first line, which has the time; the
import draws its bar; a second import stores nothing.
"""

from __future__ import annotations

import argparse
import os
import pty
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.subjects import QUESTIONS, SEED, requests
from bench.synthetic import corpus

from mcp_memory.settings import load
from mcp_memory.wiring import open_memory


@dataclass(frozen=True, slots=True)
class Run:
    """What a command did.

    Attributes:
        code: its exit code.
        said: its output, of both kinds.
        seconds: by the clock.
        used: seconds of the processor.
        peak: megabytes of memory.
    """

    code: int
    said: str
    seconds: float
    used: float
    peak: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s (CPU {self.used:.1f} s), {self.peak:.0f} MB"


def command(store: Path, *arguments: str) -> Run:
    """Run ``mcp-memory`` on a store, on a terminal of its own."""
    began = time.perf_counter()
    child, terminal = pty.fork()
    if not child:
        os.environ["MCP_MEMORY_STORAGE_URI"] = str(store)
        os.execv(sys.executable, [sys.executable, "-m", "mcp_memory", *arguments])
    said = b""
    while part := _read(terminal):
        said += part
    _, status, usage = os.wait4(child, 0)
    os.close(terminal)
    used, seconds = usage.ru_utime + usage.ru_stime, time.perf_counter() - began
    return Run(os.waitstatus_to_exitcode(status), said.decode(), seconds, used, usage.ru_maxrss / 1024)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # nobody is at its other end any more
        return b""


async def fill(store: Path, sentences: int) -> None:
    """Store texts; an export needs nothing that is derived."""
    settings = load(None, {"MCP_MEMORY_STORAGE_URI": str(store)})
    memory = await open_memory(settings)
    for request in requests(corpus(SEED, sentences, QUESTIONS)):
        await memory.write(replace(request, wait=False))
    await memory.aclose()


def main() -> int:
    """Print the times; return 1 if something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        stores = Path(place) / "store", Path(place) / "copy"
        files = Path(place) / "first.jsonl", Path(place) / "second.jsonl"
        anyio.run(fill, stores[0], options.sentences)
        runs = {
            "export": command(stores[0], "export", str(files[0])),
            "import": command(stores[1], "import", str(files[0])),
            "export of the copy": command(stores[1], "export", str(files[1])),
            "import again": command(stores[1], "import", str(files[0])),
        }
        first, second = (file.read_bytes().partition(b"\n")[2] for file in files)
        sys.stdout.write(f"{options.sentences:,} sentences, {files[0].stat().st_size / 1e6:.1f} MB\n")
    for name, run in runs.items():
        sys.stdout.write(f"{name}: {run}\n{run.said.splitlines()[-1]}\n")
    good = {
        "every command succeeded": not any(run.code for run in runs.values()),
        "the exports are the same": first == second,
        "a bar was drawn": "#--" in runs["import"].said and " left" in runs["import"].said,
        "the second import stored nothing": "nothing was stored" in runs["import again"].said,
    }
    sys.stdout.writelines(f"{'yes' if true else 'NO'}: {name}\n" for name, true in good.items())
    return not all(good.values())


if __name__ == "__main__":
    sys.exit(main())
