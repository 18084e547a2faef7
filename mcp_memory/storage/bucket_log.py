"""The log of a store on object storage: one object for each commit, and putting it is the commit.

The object of commit 17 is ``_mcp_memory/journal/00000000000000000017``; it holds the commit and all its rows, those of
the tables, too. It is put only if it does not exist yet (``bucket.py``), so of several servers that write at once
exactly one makes commit 17, and the others are told that nothing of theirs was stored and may try again. No lock, no
clock and no table is needed for that. A commit is whole or absent, numbers have no gaps, and an acknowledged commit is
there.

A reader lists the names after the last one that it knows: one request, mostly with no result. From time to time whoever
holds the write lock appends the rows of new commits to the tables, and puts their lines of the log (``log.py``) into
one object, a *segment* (`fold`). Then the objects of these commits are removed, except for the newest, by which
readers notice that there is something new. A server that was stopped meanwhile may append rows a second time when it
goes on; they are equal to the first, and readers drop them (``tables.py``).

A forget puts all that is left into one segment of a new *edition*. It counts once the commit of that generation is put.

**Departures.** The design makes the log one table of LanceDB whose manifest is the commit: some five requests a write.
This is one, and it keeps the tables out of the way of writers.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import chain
from typing import Any

from mcp_memory.errors import StoreBusy, StoreError
from mcp_memory.storage.bucket import Bucket
from mcp_memory.storage.log import Entry, Log, entries_of, line_of, rows_of
from mcp_memory.storage.schema import TABLE_KINDS, Commit, RowKind, TableRows

PREFIX = "journal/"
SEGMENTS = "log/"
DIGITS = 20
FORGETTING = f"{PREFIX}~forgetting"
"""An object that is there while something is being forgotten. Its name comes after all others, so every look at the
newest commits shows it, and nobody reads or writes before that is finished."""
WAITING = f"{PREFIX}~waiting"
"""An object that changes while somebody waits for the write lock (``bucket_lock.py``); every look shows it, too."""
WAITS_S = 1.0
"""How long it may stay unchanged before nobody waits any more."""
AT_ONCE = 16
"""Objects that are read at the same time."""
ATTEMPTS = 5
"""How often to read again where objects went into a segment meanwhile."""


class BucketLog(Log):
    """The log of one store on object storage."""

    shared = True

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._waiting = "", 0.0  # the tag of that object, and since when it is unchanged
        self._newest = 0
        self._seen = 0, ""  # the newest commit at the last look, with the tag of its object
        self._last: Commit | None = None

    @property
    def waiting(self) -> bool:
        """Whether somebody waited for the write lock at the last look."""
        return bool(self._waiting[0]) and time.monotonic() - self._waiting[1] < WAITS_S

    def newest(self) -> int:
        """See `Log.newest`; one request."""
        self._names(self._newest)
        return self._newest

    @property
    def seen(self) -> int:
        """See `Log.seen`."""
        return self._newest

    @property
    def last(self) -> Commit | None:
        """See `Log.last`."""
        if not (newest := self.newest()):
            return None
        if self._last is None or self._last.tx != newest:
            entry = self._entry(_name(newest))
            self._last = entry.commit if entry is not None else None
        return self._last

    def _names(self, after: int) -> list[str]:
        """Return the names of the commits after a number; look as well whether the newest known one is still there."""
        seen, tag = self._seen
        start = min(after, seen - 1) if seen else after
        tags = self._bucket.tags(PREFIX, _name(start) if start > 0 else "")
        self.forgetting = tags.pop(FORGETTING, None) is not None
        if (waits := tags.pop(WAITING, "")) != self._waiting[0]:
            self._waiting = waits, time.monotonic()
        there = tags.get(_name(seen), tag) if tags else None  # the newest one is never removed
        if seen and (there is None or (tag and there != tag)):
            self.edition, self._newest, self._seen, self._last = self.edition + 1, 0, (0, ""), None
        newest = next(((_number(name), tags[name]) for name in reversed(tags)), (0, ""))
        self._seen = max(self._seen, newest)  # another thread may just have put one
        self._newest = max(self._newest, newest[0])
        return [name for name in tags if _number(name) > after]

    def begin_forgetting(self) -> None:
        """See `Log.begin_forgetting`."""
        self._bucket.put(FORGETTING, b"")
        self.forgetting = True

    def end_forgetting(self) -> None:
        """See `Log.end_forgetting`."""
        self._bucket.remove([FORGETTING])
        self.forgetting = False

    def entries(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """See `Log.entries`.

        Raises:
            StoreError: one of them cannot be read.
        """
        for _ in range(ATTEMPTS):
            names = self._names(after)
            if not names:
                return
            folded = [] if _number(names[0]) == after + 1 else self._folded(after)
            known = folded[-1].commit.tx if folded else after
            names = [name for name in names if _number(name) > known]
            with ThreadPoolExecutor(min(AT_ONCE, len(names) or 1), thread_name_prefix="mcp-memory log") as threads:
                found = [one for one in threads.map(self._entry, names) if one is not None]
            if [one.commit.tx for one in found] == [*range(known + 1, known + 1 + len(names))]:
                every = chain(folded, found)
                yield from (one for one in every if until is None or one.commit.tx <= until)
                return
        raise StoreBusy("The memory was changed while it was read. Try again.")

    def _entry(self, name: str) -> Entry | None:
        """Return a commit; None if it was removed: a segment has it now."""
        content = self._bucket.get(name)
        return decode(content, name) if content is not None else None

    def _segments(self) -> list[str]:
        """Return the names of the segments of this edition, in order."""
        names = list(self._bucket.tags(SEGMENTS))
        current = self.last.generation if names and self.last else 0
        edition = max((_edition(name) for name in names if _edition(name) <= current), default=0)
        return [name for name in names if _edition(name) == edition]

    def _folded(self, after: int) -> list[Entry]:
        """Return the commits after a number that are in segments."""
        found: list[Entry] = []
        for name in self._segments():
            if _span(name)[1] > max(after, found[-1].commit.tx if found else 0):
                try:
                    entries = entries_of(self._bucket.get(name) or b"\n")
                except ValueError as error:
                    raise StoreError(f"The object {name!r} of the memory cannot be read ({error}).") from error
                known = max(after, found[-1].commit.tx if found else 0)
                found += [one for one in entries if one.commit.tx > known]
        return found

    def unfolded(self) -> int:
        """See `Log.unfolded`."""
        return self.newest() - self._folded_to()

    def _folded_to(self) -> int:
        return max((_span(name)[1] for name in self._segments()), default=0)

    def append(self, commit: Commit, rows: Mapping[RowKind, TableRows]) -> None:
        """See `Log.append`."""
        name, content = _name(commit.tx), encode(commit, rows)
        tag = self._bucket.put_new(name, content)
        if tag is None and self._bucket.get(name) != content:
            # Equal content is ours: the first attempt of a request that was repeated because its reply was lost.
            raise StoreBusy("Another server wrote to the memory at the same moment. Nothing was stored. Try again.")
        self._newest, self._last = max(self._newest, commit.tx), None
        self._seen = commit.tx, tag or ""

    def fold(self, append: Callable[[str, TableRows], object]) -> None:
        """See `Log.fold`; the lines of the commits go into a segment.

        It takes in those before it that are not longer, so there are few.
        """
        to, last = self._folded_to(), self.last
        if last is None or last.tx <= to:
            return
        new = list(self.entries(to, last.tx))
        for kind in TABLE_KINDS:
            used = [one for one in new if one.commit.table(kind) == last.table(kind) and one.whole]
            if (rows := rows_of(used, kind)) is not None:
                append(last.table(kind), rows)
        segments, first, content = self._segments(), new[0].commit.tx, b"".join(map(line_of, new))
        taken: list[str] = []
        for name in reversed(segments):
            begin, end = _span(name)
            if end - begin <= last.tx - first:
                taken.append(name)
                first, content = min(first, begin), (self._bucket.get(name) or b"") + content
        edition = _edition(segments[0]) if segments else 0
        self._bucket.put(_segment(edition, first, last.tx), content)
        self._bucket.remove(taken)
        self._remove_commits(last.tx)

    def _remove_commits(self, until: int) -> None:
        """Remove the objects of the commits up to a number, but for the newest."""
        self._bucket.remove([name for name in self._names(0)[:-1] if _number(name) <= until])

    def replace(self, entries: Iterable[Entry], switch: Entry) -> None:
        """See `Log.replace`; the segments and commits of before are removed by `clear`."""
        content = b"".join(map(line_of, entries))
        self._bucket.put(_segment(switch.commit.generation, 1, switch.commit.tx - 1), content)
        self.append(switch.commit, switch.rows)

    def clear(self) -> None:
        """See `Log.clear`."""
        self._remove_commits(self.newest())
        current = self._segments()
        self._bucket.remove([name for name in self._bucket.tags(SEGMENTS) if name not in current])


def encode(commit: Commit, rows: Mapping[Any, TableRows]) -> bytes:
    """Return a commit with its rows as the content of an object: a sum, a line of JSON, and each table as a stream."""
    import pyarrow as pa

    streams: dict[str, bytes] = {}
    for kind, table in rows.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
        streams[kind] = sink.getvalue().to_pybytes()
    head = json.dumps({"commit": asdict(commit), "sizes": {kind: len(made) for kind, made in streams.items()}})
    content = b"".join((head.encode(), b"\n", *streams.values()))
    return b"%08x " % zlib.crc32(content) + content


def decode(content: bytes, name: str) -> Entry:
    """Return the commit that an object holds.

    Raises:
        StoreError: it is damaged.
    """
    import pyarrow as pa

    try:
        body = content[9:]
        if int(content[:8], 16) != zlib.crc32(body):
            raise ValueError("its sum is wrong")
        line, _, streams = body.partition(b"\n")
        head = json.loads(line)
        rows: dict[RowKind, Any] = {}
        start = 0
        for kind, size in head["sizes"].items():
            rows[kind] = pa.ipc.open_stream(streams[start : start + size]).read_all()
            start += size
        commit = Commit(**head["commit"])
        whole = not any(commit.count(kind) for kind in TABLE_KINDS if kind not in rows)  # else they are in new tables
        return Entry(commit, rows, whole)
    except (ValueError, TypeError, LookupError, pa.ArrowException) as error:
        raise StoreError(f"The object {name!r} of the memory cannot be read ({error}).") from error


def _name(number: int) -> str:
    return f"{PREFIX}{number:0{DIGITS}d}"


def _number(name: str) -> int:
    return int(name.removeprefix(PREFIX))


def _segment(edition: int, first: int, last: int) -> str:
    return f"{SEGMENTS}{edition:0{DIGITS}d}/{first:0{DIGITS}d}-{last:0{DIGITS}d}"


def _edition(name: str) -> int:
    return int(name.removeprefix(SEGMENTS).partition("/")[0])


def _span(name: str) -> Sequence[int]:
    return [*map(int, name.rpartition("/")[2].split("-"))]
