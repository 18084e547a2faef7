"""The journal of a store on object storage: one object for each commit, and putting it is the commit.

The object of commit 17 is ``_mcp_memory/journal/00000000000000000017``; it holds the commit and all its rows. It is put
only if it does not exist yet (``bucket.py``), so of several servers that write at once exactly one makes commit 17, and
the others are told that nothing of theirs was stored and may try again. No lock, no clock and no table is needed for
that. A commit is whole or absent, numbers have no gaps, and an acknowledged commit is there.

A reader lists the names after the last one that it knows: one request, mostly with no result. The tables of LanceDB
follow: whoever holds the write lock takes the commits of the journal into them from time to time, so that the journal
stays short (`merge_journal` in ``transaction.py``). An object is removed once the tables have its commit, except for
the newest, by which readers notice that there is something new. A server that was stopped while it took commits into
the tables may append rows a second time when it goes on; they are equal to the first, and readers drop them
(``tables.py``).

**Departures.** The design makes the log one table of LanceDB whose manifest is the commit: some five requests a write.
This is one, and it keeps the tables out of the way of writers.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

from mcp_memory.errors import StoreBusy, StoreError
from mcp_memory.storage.bucket import Bucket
from mcp_memory.storage.journal import Entry, Journal
from mcp_memory.storage.schema import FORMAT, Commit, TableKind, TableRows

PREFIX = "journal/"
DIGITS = 20
FORGETTING = f"{PREFIX}~forgetting"
"""An object that is there while something is being forgotten. Its name comes after all others, so every look at the
newest commits shows it, and nobody reads or writes before that is finished."""
WAITING = f"{PREFIX}~waiting/"
"""The objects of processes that wait for the write lock (``bucket_lock.py``), which every such look shows as well."""
AT_ONCE = 16
"""Objects that are read at the same time."""


class BucketJournal(Journal):
    """The journal of one store on object storage; positions are numbers of commits."""

    shared = True

    def __init__(self, bucket: Bucket) -> None:
        super().__init__(None)
        self._bucket = bucket
        self.waiting = False  # whether somebody waited for the write lock at the last look
        self._newest = 0
        self._seen = 0, ""  # the newest commit at the last look, with the tag of its object

    def takes(self, rows: Mapping[TableKind, TableRows], last: Commit | None) -> bool:  # noqa: ARG002 - of any kind
        """Return whether a commit can stand here: every one, unless the store has an older format."""
        return last is None or last.format == FORMAT

    def size(self) -> int:
        """Return the number of the newest commit; one request."""
        names = self._names(self._newest)
        self._newest = max(self._newest, *map(_number, names)) if names else self._newest
        return self._newest

    def _names(self, after: int) -> list[str]:
        """Return the names of the commits after a number; look as well whether the newest known one is still there."""
        seen, tag = self._seen
        start = min(after, seen - 1) if seen else after
        tags = self._bucket.tags(PREFIX, _name(start) if start > 0 else "")
        self.forgetting = tags.pop(FORGETTING, None) is not None
        self.waiting = bool([tags.pop(name) for name in list(tags) if name.startswith(WAITING)])
        there = tags.get(_name(seen), tag) if tags else None  # the newest one is never removed
        if seen and (there is None or (tag and there != tag)):
            self.removals, self._newest, self._seen = self.removals + 1, 0, (0, "")
        newest = next(((_number(name), tags[name]) for name in reversed(tags)), (0, ""))
        self._seen = max(self._seen, newest)  # another thread may just have put one
        return [name for name in tags if _number(name) > after]

    def begin_forgetting(self) -> None:
        """Tell every server to wait until what is being forgotten now is gone."""
        self._bucket.put(FORGETTING, b"")
        self.forgetting = True

    def end_forgetting(self) -> None:
        """Let the others go on."""
        self._bucket.remove([FORGETTING])
        self.forgetting = False

    def count(self) -> int:
        """Return how many commits are here; one request."""
        return len(self._names(0))

    def read(self, start: int = 0) -> tuple[list[Entry], int]:
        """Return the commits that are here after a number, and the number of the last.

        Raises:
            StoreError: one of them cannot be read.
        """
        names = self._names(start)
        with ThreadPoolExecutor(min(AT_ONCE, len(names) or 1), thread_name_prefix="mcp-memory journal") as threads:
            found = [entry for entry in threads.map(self._entry, names) if entry is not None]
        return found, max([start, *(entry.commit.tx for entry in found)])

    def whole_lines(self) -> list[Entry]:
        """Return every commit that is here."""
        return self.read()[0]

    def _entry(self, name: str) -> Entry | None:
        content = self._bucket.get(name)
        return None if content is None else decode(content, name)  # None: it is in the tables since a moment ago

    def has_line_to(self, end: int) -> bool:  # noqa: ARG002 - objects are not changed
        """Return whether what was there is there."""
        return True

    def append(self, commit: Commit, rows: Mapping[TableKind, TableRows], end: int) -> int:  # noqa: ARG002
        """Put a commit and return its number.

        Raises:
            StoreBusy: another server has made a commit of this number.
            StoreUnwritable: it is not there, now or later.
        """
        name, content = _name(commit.tx), encode(commit, rows)
        tag = self._bucket.put_new(name, content)
        if tag is None and self._bucket.get(name) != content:
            # Equal content is ours: the first attempt of a request that was repeated because its reply was lost.
            raise StoreBusy("Another server wrote to the memory at the same moment. Nothing was stored. Try again.")
        self._newest = max(self._newest, commit.tx)
        self._seen = commit.tx, tag or ""
        return commit.tx

    def clear(self, until: int) -> None:
        """Remove the commits up to a number, which are in the tables, but for the newest."""
        names = self._names(0)
        self._bucket.remove([name for name in names[:-1] if _number(name) <= until])


def encode(commit: Commit, rows: Mapping[TableKind, TableRows]) -> bytes:
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
        rows: dict[TableKind, Any] = {}
        start = 0
        for kind, size in head["sizes"].items():
            rows[kind] = pa.ipc.open_stream(streams[start : start + size]).read_all()
            start += size
        return Entry(Commit(**head["commit"]), rows)
    except (ValueError, TypeError, LookupError, pa.ArrowException) as error:
        raise StoreError(f"The object {name!r} of the memory cannot be read ({error}).") from error


def _name(number: int) -> str:
    return f"{PREFIX}{number:0{DIGITS}d}"


def _number(name: str) -> int:
    return int(name.removeprefix(PREFIX))
