"""Take commits out of the log into the tables, in the background, and keep these small.

Every append adds a file to a table and a version to its list: with 64 files a refresh that finds new rows takes 14 ms a
table, with 1,024 it takes 140; with 2,500 versions an append takes twice as long. So from time to time the files are
merged and old versions removed. A merge of 100,000 vectors takes up to a second, so it runs beside the writers, with
which it does not conflict; a lock of its own keeps two processes from compacting at once, and a forget from meeting
one. No reader needs a version for longer than one read, and in ten minutes of steady writing thousands would pile up:
they are kept for `KEEP`.
"""

from __future__ import annotations

import errno
import logging
import shutil
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from mcp_memory.domain.times import Millis
from mcp_memory.storage.damage import refuse
from mcp_memory.storage.lock import COMPACT_LOCK, WRITE_LOCK, take_if_free
from mcp_memory.storage.place import Place
from mcp_memory.storage.rows import Commit, generation_of
from mcp_memory.storage.tables import SPARE_BYTES, Tables, no_panics

FOLDED_COMMITS = 32
"""Commits in the log from which on the tables take their rows over."""
FOLD_WAIT_S = 30.0
"""How long to wait for the write lock; otherwise the next compaction does it."""
FOLD_POLL_S = 0.05
KEEP = timedelta(seconds=15)
"""How long a version of a table is kept after the next one is there: many times one read."""
KEEP_ELSEWHERE = timedelta(minutes=10)
"""The same on object storage, where a reader may be slow or far away."""
ROWS_PER_FILE = 2000
"""A merge writes the whole table, so a table may have one more file for each of these before it is merged."""
OLD_GENERATION_MS: Millis = 10 * 60 * 1000
"""How long derived tables that a rebuild has replaced are kept for readers that have not refreshed yet."""

_log = logging.getLogger(__name__)


class Compaction:
    """Compacts a store in a thread after this process's first commit, and then about every ``after`` commits.

    After the first as well, because many processes make only a few commits, and one of them has to compact.
    """

    def __init__(self, place: Place, after: int, clock: Callable[[], Millis]) -> None:
        self._place, self._after, self._clock = place, after, clock
        self._commits = 0
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def running(self) -> bool:
        """Whether a compaction is running."""
        return self._thread is not None and self._thread.is_alive()

    def count_commit(self) -> None:
        """Count a commit, and start a compaction when one is due, unless one is running."""
        due = self._commits % self._after == 0
        self._commits += 1
        if due and not self.running and not self._stop.is_set():
            # Not a daemon: LanceDB calling back into an interpreter that is shutting down aborts the process.
            self._thread = threading.Thread(target=self._run, name="mcp-memory compaction")
            self._thread.start()

    def stop(self, wait_s: float) -> None:
        """Start no further table, and wait at most ``wait_s`` for the present one; an unfinished merge does no harm."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(wait_s)

    def _run(self) -> None:
        try:
            tables = Tables(self._place)
            if tables.log.unfolded() < FOLDED_COMMITS:
                return
            self._fold(tables)
            keep = KEEP_ELSEWHERE if tables.folder is None else KEEP
            compact(tables, self._after, now=self._clock(), stop=self._stop, keep=keep)
        except Exception:  # the store works as before, only slower
            _log.warning("storage.uri %r could not be compacted", self._place.uri, exc_info=True)

    def _fold(self, tables: Tables) -> None:
        """Take new commits into the tables, unless somebody else is writing all the time, or the disk is nearly full.

        Not while a forget is unfinished: the tables are being rewritten, and whoever opens the store finishes that.
        """
        if tables.folder is not None and shutil.disk_usage(tables.folder).free < SPARE_BYTES:
            return
        until = time.monotonic() + FOLD_WAIT_S
        while not self._stop.wait(FOLD_POLL_S) and time.monotonic() < until:
            if (release := take_if_free(self._place, WRITE_LOCK)) is not None:
                try:
                    tables.log.newest()
                    if not tables.log.forgetting:
                        refuse(tables)
                        tables.fold()
                finally:
                    release()
                return


def compact(tables: Tables, files: int, *, now: Millis, stop: threading.Event, keep: timedelta = KEEP) -> None:
    """Merge the files of the tables that have many, and drop those that a rebuild replaced, if nobody else is at it.

    A small table may consist of so many ``files``. No further table is started once ``stop`` is set. Old versions are
    kept for ``keep``.

    Raises:
        StoreError: a table cannot be read, or the log is damaged.
        OSError, RuntimeError, ValueError: LanceDB could not do it.
    """
    last = tables.log.last
    if last is None:
        return
    refuse(tables)
    if (release := take_if_free(tables.place, COMPACT_LOCK)) is None:
        return
    try:
        for name in last.tables:
            if not stop.is_set() and tables.fragments(name) >= files + tables.count(name) // ROWS_PER_FILE:
                _merge_files(tables, name, keep)
        if not stop.is_set():
            _drop_old_generations(tables, last, now)
    finally:
        release()


def _merge_files(tables: Tables, name: str, keep: timedelta) -> None:
    """Merge the files of a table, and remove versions older than ``keep``, unless the disk is nearly full.

    Raises:
        OSError, RuntimeError, ValueError: it could not be done; nothing is lost.
    """
    table = tables.latest(name)
    if table is None:
        return
    size = int(table.stats()["total_bytes"]) if tables.folder else 0
    if tables.folder and shutil.disk_usage(tables.folder).free < 2 * size + SPARE_BYTES:
        raise OSError(errno.ENOSPC, f"too little room to compact {name}, which takes {size} bytes")
    with no_panics():
        table.optimize(cleanup_older_than=keep)


def _drop_old_generations(tables: Tables, last: Commit, now: Millis) -> None:
    numbers = {name: generation_of(name) for name in tables.names()}
    old = [name for name, number in numbers.items() if number is not None and number < last.generation]
    if not old:
        return
    since = next(commit for commit in tables.log.commits() if commit.generation == last.generation)
    if since.at < now - OLD_GENERATION_MS:
        for name in old:
            tables.drop(name)
