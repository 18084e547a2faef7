"""Merging the small files that appending leaves, in the background.

Every append adds a file to a table and a version to its list. Both are cheap one by one, and both make the next read
and the next append slower: at 64 files a refresh with news takes 14 ms a table, at 1,024 it takes 140; at 2,500
versions an append takes twice its time. So now and then the files are merged and old versions removed.

Of beliefs the last about a sentence counts, and with their vectors they are large; of jobs the last about a turn, and
each turn that is read has two at least. Those that a later one has taken the place of are removed on the occasion. A
reader that refreshes looks for rows of the commits that it lacks: it may find fewer than these commits say, and finds
the last about each sentence or turn. It would miss one if the later one was committed after it looked which commits
there are, so only what was replaced `SETTLED_MS` ago goes.

**Departures.** The design compacts under the write lock. LanceDB's appends and merges do not conflict, and a merge of
100,000 vectors takes up to a second, so it runs beside the writers; a lock of its own keeps two processes from doing
it at once, and a sweep, the one thing that changes rows, takes that lock too. The design keeps old versions for ten
minutes. No reader of ours needs one for longer than one read (``tables.py``), and in ten minutes of steady writing
they would pile up to thousands, which is what compaction is there to prevent: they live for `KEPT`.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from mcp_memory.domain.times import Millis
from mcp_memory.storage.lock import lock_file, taken
from mcp_memory.storage.names import COMMITS, JOBS, beliefs_table, generation_of, tables_of
from mcp_memory.storage.refresh import last_commit
from mcp_memory.storage.schemas import Commit
from mcp_memory.storage.tables import Tables

KEPT = timedelta(seconds=15)
"""How long a version of a table outlives its successor: many times one read."""
ROWS_PER_FILE = 2000
"""A merge writes the whole table, so a table of this many rows may gather one file more before it is merged."""
SETTLED_MS: Millis = 10 * 60 * 1000
"""How long a belief or a job is kept after a later one has taken its place: many times one refresh."""
ROWS_AT_ONCE = 20_000
"""Deleted by one condition."""
PLACES = 2**20
"""More than any commit has beliefs, or jobs."""
OLD_GENERATION_MS: Millis = 10 * 60 * 1000
"""How long derived tables that a rebuild has replaced are kept for readers that have not noticed yet."""

_log = logging.getLogger(__name__)


class Compaction:
    """Compacts a store in a thread, about every ``after`` commits of this process, and after its first.

    The first, because many a process lives for a few commits only, and somebody has to do it.
    """

    def __init__(self, uri: str, after: int, clock: Callable[[], Millis]) -> None:
        self._uri = uri
        self._after = after
        self._clock = clock
        self._commits = 0
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def running(self) -> bool:
        """Whether it is at work."""
        return self._thread is not None and self._thread.is_alive()

    def committed(self) -> None:
        """Count a commit, and begin when it is time."""
        due = self._commits % self._after == 0
        self._commits += 1
        if due and not self.running and not self._stop.is_set():
            # No daemon: LanceDB calling back into an interpreter that is shutting down aborts the process.
            self._thread = threading.Thread(target=self._run, name="mcp-memory compaction")
            self._thread.start()

    def stop(self, wait_s: float) -> None:
        """Begin no further table, and wait for the present one for a while; what is left half done does no harm."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(wait_s)

    def _run(self) -> None:
        try:
            compact(Tables(self._uri), self._after, now=self._clock(), stop=self._stop)
        except Exception:  # the store is as good as before, only slower
            _log.warning("storage.uri %r could not be compacted", self._uri, exc_info=True)


def compact(tables: Tables, files: int, *, now: Millis, stop: threading.Event, kept: timedelta = KEPT) -> bool:
    """Merge the files of the tables that have many, and drop the tables that a rebuild replaced.

    Args:
        tables: not shared with another thread.
        files: how many a small table may lie in.
        now: milliseconds since 1970, UTC.
        stop: no further table is begun once it is set.
        kept: how long old versions are kept.

    Returns:
        False if another process is at it, and nothing was done.

    Raises:
        StoreError: a table cannot be read.
        OSError, RuntimeError, ValueError: LanceDB could not do it.
    """
    last = last_commit(tables)
    if last is None:
        return True
    lock = lock_file(tables.folder / "compact.lock") if tables.folder else None
    if lock and not taken(lock):
        return False
    try:
        if tables.folder:
            flush(tables.folder)
        if not stop.is_set():
            _drop_superseded(tables, beliefs_table(last.generation), "sentence_id", now)
            _drop_superseded(tables, JOBS, "turn_id", now)
        for name in (COMMITS, *tables_of(last.generation)):
            if not stop.is_set() and tables.fragments(name) >= files + tables.count(name) // ROWS_PER_FILE:
                began = time.perf_counter()
                tables.optimize(name, kept)
                _log.debug("%s compacted in %.0f ms", name, (time.perf_counter() - began) * 1e3)
        if not stop.is_set():
            _drop_replaced(tables, last, now)
    finally:
        if lock:
            lock.release()
    return True


def flush(folder: Path) -> None:
    """Wait until all that was written to a store is on the disk, so that what it replaces may go.

    LanceDB hands its files to the system, which puts them on the disk within half a minute or so. Compaction removes
    what the merge before last has replaced; were the merged files still on their way, a power loss then could take
    old rows with it. Costs nothing for files that are there already. Windows has no way to ask for it by a file that
    is open for reading.
    """
    if os.name != "posix":
        return
    for parent, _, names in os.walk(folder):
        for name in (".", *names):
            try:
                descriptor = os.open(Path(parent, name), os.O_RDONLY)
            except FileNotFoundError:  # removed while we went through
                continue
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _drop_superseded(tables: Tables, name: str, about: str, now: Millis) -> None:
    """Delete the rows of a table that others have taken the place of, as soon as they are more than those that count.

    Args:
        tables: of the store.
        name: of the table.
        about: its column that says what a row is about; of each thing the last row counts.
        now: milliseconds since 1970, UTC.
    """
    if tables.version(name) is None:
        return
    commits = tables.rows(COMMITS, f"at < {now - SETTLED_MS}", ["tx"])
    settled = max(commits["tx"].to_pylist(), default=0) if commits is not None else 0
    rows = tables.rows(name, f"tx <= {settled}", ["tx", "place", about])
    if rows is None:
        return
    keys = [tx * PLACES + place for tx, place in zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), strict=True)]
    order = sorted(zip(keys, rows[about].to_pylist(), strict=True))
    count = {thing: key for key, thing in order}
    gone = [key for key, thing in order if key != count[thing]]
    if len(gone) > len(count):
        for start in range(0, len(gone), ROWS_AT_ONCE):
            chosen = ", ".join(map(str, gone[start : start + ROWS_AT_ONCE]))
            tables.delete(name, f"tx * {PLACES} + place IN ({chosen})")


def _drop_replaced(tables: Tables, last: Commit, now: Millis) -> None:
    old = [
        name
        for name in tables.names()
        if (generation := generation_of(name)) is not None and generation < last.generation
    ]
    if not old:
        return
    rows = tables.rows(COMMITS, f"generation = {last.generation}", ["at"])
    if rows is not None and min(rows["at"].to_pylist()) < now - OLD_GENERATION_MS:
        for name in old:
            tables.drop(name)
