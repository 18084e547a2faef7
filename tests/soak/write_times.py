"""Measure through a server process how soon what is written is acknowledged, found by its words, and by its meaning.

Run as ``python tests/soak/write_times.py``. What is found by its meaning is indexed: nothing is pending then. Beside
the times stand the seconds of the processor that the server used, since a busy machine only stretches the former.
With ``--drift 5000`` so many messages are written instead, one after the other, while they are indexed: a store that
grows must not make a write slower.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.subjects import messages
from bench.synthetic import prose
from stdio_client import StdioClient, serving

POLL_S = 0.05
"""Between two looks whether everything is indexed."""


class Server:
    """A server, and what its calls cost."""

    def __init__(self, client: StdioClient) -> None:
        self._client = client
        self._process = psutil.Process(client.process.pid)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured result of a tool."""
        return self._client.structured(tool, **arguments)

    def write(self, *texts: str, session: str = "talk") -> dict[str, Any]:
        """Write messages."""
        return self.call("memory_write", session=session, messages=[{"speaker": "Ann", "text": text} for text in texts])

    def wait(self) -> None:
        """Wait until everything is indexed."""
        while self.call("memory_status")["spaces"][0]["pending"]:
            time.sleep(POLL_S)

    def finds(self, word: str) -> bool:
        """Return whether a recall finds a word."""
        found = self.call("memory_reconstruct", query=f"What about {word}?")
        return any(word in one["text"] for one in found["evidence"])

    @contextmanager
    def lap(self) -> Iterator[Callable[[], str]]:
        """Measure the body, or up to each call of what this yields: milliseconds, and of the processor."""
        began, used = time.perf_counter(), self._used()
        yield lambda: f"{1e3 * (time.perf_counter() - began):,.0f} ms (CPU {1e3 * (self._used() - used):,.0f})"

    def _used(self) -> float:
        times = self._process.cpu_times()
        return times.user + times.system


def quantiles(seconds: list[float]) -> str:
    """Return median and 99th percentile in words."""
    ordered = sorted(seconds)
    return f"p50 {1e3 * statistics.median(ordered):.1f} ms, p99 {1e3 * ordered[int(0.99 * len(ordered))]:.1f} ms"


def measure(server: Server) -> Iterator[str]:
    """Yield a line for each figure."""
    talk = [item.text for item in messages(1, 4_000)]
    with server.lap() as since:
        server.write("The first one.")
        yield f"first write of a process: {since()}"
    server.wait()
    alone, together = [], []
    for text in talk[:300]:
        began = time.perf_counter()
        server.write(text)
        alone.append(time.perf_counter() - began)
    server.wait()
    yield f"one message acknowledged: {quantiles(alone)} of {len(alone)}"
    for start in range(300, 1_300, 50):
        began = time.perf_counter()
        server.write(*talk[start : start + 50])
        together.append(time.perf_counter() - began)
    server.wait()
    yield f"50 messages acknowledged: {quantiles(together)} of {len(together)}"
    with server.lap() as since:
        server.write("The zanzibarine lamp stands in the hall.")
        yield f"message with a rare word acknowledged: {since()}"
        assert server.finds("zanzibarine")
        yield f"  and found by it: {since()}"
        server.wait()
        yield f"  and indexed: {since()}"
    text = prose(2, 5_000)[:300_000]
    middle = text.index(" ", 150_000)
    text = text[:middle] + " quokkafarm" + text[middle:]
    with server.lap() as since:
        server.call("memory_write", session="books", documents=[{"id": "book", "text": text}])
        yield f"document of {len(text):,} bytes acknowledged: {since()}"
        assert server.finds("quokkafarm")
        yield f"  and found by a rare word: {since()}"
        server.wait()
        yield f"  and indexed: {since()}"
    with server.lap() as since:
        server.write(*talk[2_000:4_000], session="imported")
        size = sum(map(len, talk[2_000:4_000])) / 1e6
        yield f"2,000 messages ({size:.2f} MB) acknowledged: {since()}"
        server.wait()
        yield f"  and indexed: {since()} for {size:.2f} MB"


def drift(server: Server, number: int) -> Iterator[str]:
    """Yield what the first and the last tenth of many writes took."""
    seconds = []
    for item in messages(1, number):
        began = time.perf_counter()
        server.write(item.text)
        seconds.append(time.perf_counter() - began)
    tenth = number // 10
    yield f"the first {tenth} of {number:,} messages: {quantiles(seconds[:tenth])}"
    yield f"the last {tenth}: {quantiles(seconds[-tenth:])}"
    with server.lap() as since:
        server.wait()
        yield f"all indexed: {since()} later"


def first_write(store: Path) -> Iterator[str]:
    """Yield how long a new process on a filled store takes to its first write."""
    began = time.perf_counter()
    with _serving(store) as client:
        server = Server(client)
        yield f"a new process on that store answers after {1e3 * (time.perf_counter() - began):,.0f} ms"
        with server.lap() as since:
            server.write("The first one of another process.")
            yield f"  its first write acknowledged: {since()}"


def _serving(store: Path) -> AbstractContextManager[StdioClient]:
    return serving(store, MCP_MEMORY_WRITE_WAIT="false")


def figures(store: Path, number: int) -> Iterator[str]:
    """Yield a line for each figure of one server on a new store, and of another one on the same."""
    with _serving(store) as client:
        yield from drift(Server(client), number) if number else measure(Server(client))
    yield from first_write(store)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drift", type=int, default=0, metavar="MESSAGES")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        for line in figures(Path(place) / "store", options.drift):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
