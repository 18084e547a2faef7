"""The log: each commit is an object, and putting it is the commit. It is the truth; all tables follow from it.

The object of commit 17 is ``journal/00000000000000000017``: a file in the store's folder, or an object of a bucket. It
is put only if it does not exist yet, so of several writers exactly one makes commit 17. A commit is whole or absent,
numbers have no gaps, and an acknowledged commit is there. The first line of an object, which begins with its own sum,
holds the commit and its rows of every kind that nothing else yields (`LOG_KINDS`); after it come the rows of tables.

From time to time whoever holds the write lock appends these rows to the tables, and puts the lines into one object, a
*segment* (`fold`); the objects of these commits are removed, but for the newest, by which readers notice that there is
something new. A forget puts all that is left into one segment of a new *edition*, named by the generation of the
tables; it counts once the commit of that generation is put. Sums, and gaps in the numbers, show what was changed or
removed below the program (`Log.missing`). As a table of LanceDB a write would cost five requests on object storage.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from mcp_memory.errors import StoreBusy, StoreError
from mcp_memory.storage.objects import Objects
from mcp_memory.storage.rows import (
    LOG_KINDS,
    TABLE_KINDS,
    Commit,
    LogKind,
    Row,
    StoredRow,
    TableKind,
    TableRows,
    value_of,
    with_tx,
)

JOURNAL, SEGMENTS = "journal/", "log/"
DIGITS = 20
FORGETTING = f"{JOURNAL}~forgetting"
"""An object that is there while something is being forgotten. Its name comes after all others, so every look at the
newest commits shows it, and nobody reads or writes before that is finished."""
AT_ONCE = 16
"""Objects that are read at the same time."""
READ_ATTEMPTS = 5
"""How often to read on, or look again, where objects went into a segment meanwhile."""
_DEFAULTS = frozenset(one.name for one in fields(Commit) if one.default is not MISSING)
"""Fields of a commit that a line lacks where they say nothing."""
_NUMBER = re.compile(rb'\{"tx":(\d+),')
_NAMES = re.compile(rf"{JOURNAL}(?:\d{{{DIGITS}}}|~forgetting)|{SEGMENTS}\d{{{DIGITS}}}/\d{{{DIGITS}}}-\d{{{DIGITS}}}")
PART_BYTES = 32 << 20
"""Rows of tables that are taken over at once."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit of the log.

    Attributes:
        logged: the rows of the log that it has, by kind.
        tables: its rows of tables, if all of them stand here: they may not be in the tables yet; None otherwise.
    """

    commit: Commit
    logged: Mapping[LogKind, Sequence[Row]]
    tables: Mapping[TableKind, TableRows] | None = None


class Log:
    """The log of one store. Any thread may use it.

    Attributes:
        shared: whether servers on several machines write to it.
        forgetting: whether something was being forgotten at the last look.
        edition: how often the log was found to be another one: after a forget, or since another store is in its place.
    """

    def __init__(self, objects: Objects) -> None:
        self.shared = objects.shared
        self.forgetting = False
        self.edition = 0
        self._objects = objects
        self._seen = 0, ""  # the newest commit at the last look, with the tag of its object
        self._noting = threading.Lock()  # held while what a look found is noted: of two looks, the later one stays
        self._last: Commit | None = None
        self._sound: dict[tuple[str, str], array[int]] = {}  # by name and tag of an object: the commits in it

    # Which commits there are

    def newest(self) -> int:
        """Look for new commits, and return the number of the newest; 0 for none. Some microseconds in a folder."""
        if not self._is_known():
            self._names(self.seen)
        return self.seen

    @property
    def seen(self) -> int:
        """The number of the newest commit as of the last look."""
        return self._seen[0]

    @property
    def last(self) -> Commit | None:
        """The newest commit that can be read."""
        if not (newest := self.newest()):
            return None
        edition, last = self.edition, self._last
        if last is None or last.tx != newest:
            last = next(self.commits(newest - 1), None)
        if last is None:  # it is damaged
            for commit in self.commits():
                last = commit
        with self._noting:
            if self.edition == edition:  # else it is of a log that is gone
                self._last = last
        return last

    def _is_known(self) -> bool:
        """Return whether nothing has changed since the last look, if that can be seen without a request."""
        number, tag = self._seen
        if self.shared or not tag:
            return False
        has = self._objects.tag
        same = has(_name(number)) == tag and has(_name(number + 1)) is None
        return same and (has(FORGETTING) is not None) == self.forgetting

    def _names(self, after: int) -> list[str]:
        """Return the names of the commits after a number; look as well whether the newest known one is still there."""
        edition, (seen, tag) = self.edition, self._seen
        start = min(after, seen - 1) if seen else after
        tags = self._tags(JOURNAL, _name(start) if start > 0 else "")
        self.forgetting = tags.pop(FORGETTING, None) is not None
        there = tags.get(_name(seen), tag) if tags else None  # the newest one is never removed
        replaced = bool(tag) and there != tag
        if replaced:  # what was left out of this look may be new as well
            after, tags = 0, self._tags(JOURNAL)
            self.forgetting = tags.pop(FORGETTING, None) is not None
        newest = next(((_number(name), tags[name]) for name in reversed(tags)), None) or (self._folded_to(), "")
        with self._noting:
            if replaced and self._seen == (seen, tag):
                self.edition, self._seen, self._last = edition + 1, newest, None
            elif not replaced and self.edition == edition:  # else another thread has noted more
                self._seen = max(self._seen, newest)
        return [name for name in tags if _number(name) > after]

    def _tags(self, prefix: str, after: str = "") -> dict[str, str]:
        """Return the objects under a prefix with their tags, but for what somebody else has put there."""
        return {name: tag for name, tag in self._objects.tags(prefix, after).items() if _NAMES.fullmatch(name)}

    def _segments(self) -> list[str]:
        """Return the names of the segments of this edition, in order."""
        names = list(self._tags(SEGMENTS))
        editions = {_edition(name) for name in names}
        if len(editions) > 1:  # of one that is just made, or of one that was replaced
            newest = self._head(_name(self._seen[0]))
            editions = {one for one in editions if newest is None or one <= newest.generation}
        return [name for name in names if _edition(name) == max(editions, default=0)]

    def _head(self, name: str) -> Commit | None:
        """Return the commit of an object."""
        if (content := self._objects.get(name)) is None:
            return None
        return _commit(content) if number_of(content[: content.find(b"\n") + 1]) else None

    def _folded_to(self) -> int:
        return max((_span(name)[1] for name in self._segments()), default=0)

    # Reading

    def entries(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """Yield the commits after a number, up to another, that can be read, in order.

        Raises:
            StoreBusy: the log was replaced meanwhile.
            StoreError: one of them, on object storage, cannot be read.
        """
        return (decode(line, rest) for line, rest in self._lines(after, until))

    def commits(self, after: int = 0, until: int | None = None) -> Iterator[Commit]:
        """Yield the same without their rows."""
        return (_commit(line) for line, _ in self._lines(after, until))

    def _lines(self, after: int, until: int | None) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield the lines of these commits, each with what its object holds of tables; None in a segment."""
        edition = None
        for _ in range(READ_ATTEMPTS):
            names = self._names(after)
            edition = self.edition if edition is None else edition
            if edition != self.edition:
                break
            if self.seen <= after:
                return
            for line, rest in self._stored(names, after):
                if line is None:  # it went into a segment meanwhile
                    break
                number = number_of(line)
                if number is None and self.shared:
                    raise StoreError(f"An object of the memory after commit {after} cannot be read (its sum is wrong).")
                if number is not None and number > after:
                    if until is not None and number > until:
                        return
                    after = number
                    yield line, rest
            else:
                return
        raise StoreBusy("The memory was changed while it was read. Try again.")

    def _stored(self, names: Sequence[str], after: int) -> Iterator[tuple[bytes | None, bytes | None]]:
        """Yield the lines of segments that end after a number, then of objects; no line where one is gone by now."""
        if not names or _number(names[0]) != after + 1:
            for name in [one for one in self._segments() if _span(one)[1] > after]:
                if (opened := self._objects.open(name)) is None:
                    yield None, None
                    return
                with opened:
                    yield from ((line, None) for line in opened)
        for content in self._contents(names):
            if content is None:
                yield None, None
                return
            end = content.find(b"\n") + 1
            yield content[:end], content[end:]

    def _contents(self, names: Sequence[str]) -> Iterator[bytes | None]:
        if len(names) < 2 or not self.shared:
            yield from map(self._objects.get, names)
            return
        with ThreadPoolExecutor(min(AT_ONCE, len(names)), thread_name_prefix="mcp-memory log") as threads:
            yield from threads.map(self._objects.get, names)

    def missing(self) -> list[int]:
        """Return the numbers of the commits that are gone or damaged; on object storage nobody looks.

        One that goes into a segment during a look may be missed by it, and is there at the next.
        """
        if self.shared:
            return []
        gone = {*range(1, self.newest() + 1)}
        for _ in range(READ_ATTEMPTS):
            if not gone:
                break
            current = {*self._segments()}
            tags = {name: tag for name, tag in self._tags(SEGMENTS).items() if name in current}
            tags |= {name: tag for name, tag in self._tags(JOURNAL).items() if name != FORGETTING}
            self._sound = {key: self._sound.get(key) or self._numbers_in(key[0]) for key in tags.items()}
            gone.difference_update(*self._sound.values())
        return sorted(gone)

    def _numbers_in(self, name: str) -> array[int]:
        if (opened := self._objects.open(name)) is None:
            return array("q")
        with opened:
            lines = opened if name.startswith(SEGMENTS) else [opened.readline()]
            return array("q", (number for line in lines if (number := number_of(line)) is not None))

    # Writing

    def append(self, made: Entry, *, lasting: bool = False) -> None:
        """Make a commit with its rows.

        Raises:
            StoreBusy: another writer made one of this number.
            OSError, StoreUnwritable: it is not there, now or later.
        """
        commit, name, content = made.commit, _name(made.commit.tx), encode(made)
        tag = self._objects.put_new(name, content, lasting=lasting)
        if tag is None and self._objects.get(name) != content:
            # Equal content is ours: the first attempt of a request that was repeated because its reply was lost.
            raise StoreBusy("Another server wrote to the memory at the same moment. Nothing was stored. Try again.")
        with self._noting:
            self._seen, self._last = max(self._seen, (commit.tx, tag or "")), commit

    def unfolded(self) -> int:
        """Return how many commits have rows here that are in no table yet."""
        return self.newest() - self._folded_to()

    def fold(self, append: Callable[[str, TableRows], object]) -> None:
        """Append these rows to their tables, and put the lines into segments. The write lock must be held."""
        while self._fold_some(append):
            pass

    def _fold_some(self, append: Callable[[str, TableRows], object]) -> bool:
        """Take over the next commits, and return whether there were any.

        The new segment takes in those before it that are not longer, so there are few.
        """
        to, last = self._folded_to(), self.last
        if last is None or last.tx <= to:
            return False
        lines, new, size = list[bytes](), list[Entry](), 0
        for line, rest in self._lines(to, last.tx):
            lines.append(line)
            new.append(decode(line, rest))
            size += len(rest or b"")
            if size > PART_BYTES:
                break
        if not new:
            return False
        for kind in TABLE_KINDS:
            used = [one for one in new if one.commit.table(kind) == last.table(kind)]
            if (rows := table_rows(used, kind)) is not None:
                append(last.table(kind), rows)
        segments, first, until, content = self._segments(), to + 1, new[-1].commit.tx, b"".join(lines)
        taken: list[str] = []
        for name in reversed(segments):
            begin, end = _span(name)
            if end - begin <= until - first:
                taken.append(name)
                first, content = min(first, begin), (self._objects.get(name) or b"") + content
        edition = _edition(segments[0]) if segments else 0
        self._objects.put(_segment(edition, first, until), content)
        self._objects.remove(taken)
        self._remove_commits(until)
        return True

    def _remove_commits(self, until: int) -> None:
        """Remove the objects of the commits up to a number, but for the newest."""
        self._objects.remove([name for name in self._names(0)[:-1] if _number(name) <= until])

    # Replacing

    def replace(self, entries: Iterable[Entry], switch: Entry) -> None:
        """Put other entries, and a last one of a new generation after them, in the place of all; that is one step.

        What there was before is removed by `clear`.
        """
        content = b"".join(map(line_of, entries))
        self._objects.put(_segment(switch.commit.generation, 1, switch.commit.tx - 1), content)
        self.append(switch, lasting=True)

    def clear(self) -> None:
        """Remove what `replace` left of the former log, or made before its process died."""
        self._remove_commits(self._folded_to())
        current = self._segments()
        self._objects.remove([name for name in self._tags(SEGMENTS) if name not in current])

    def begin_forgetting(self) -> None:
        """Tell others to wait."""
        self._objects.put(FORGETTING, b"1")
        self.forgetting = True

    def end_forgetting(self) -> None:
        """Let the others go on."""
        self._objects.remove([FORGETTING])
        self.forgetting = False


# Names


def _name(number: int) -> str:
    return f"{JOURNAL}{number:0{DIGITS}d}"


def _number(name: str) -> int:
    return int(name.removeprefix(JOURNAL))


def _segment(edition: int, first: int, last: int) -> str:
    return f"{SEGMENTS}{edition:0{DIGITS}d}/{first:0{DIGITS}d}-{last:0{DIGITS}d}"


def _edition(name: str) -> int:
    return int(name.removeprefix(SEGMENTS).partition("/")[0])


def _span(name: str) -> Sequence[int]:
    return [*map(int, name.rpartition("/")[2].split("-"))]


# Objects


def encode(made: Entry) -> bytes:
    """Return a commit with its rows as the content of an object: a line, and after it each table as a stream."""
    line = line_of(made)
    if not made.tables:
        return line
    import pyarrow as pa

    streams: dict[str, bytes] = {}
    for kind in (kind for kind in TABLE_KINDS if kind in made.tables):
        sink, rows = pa.BufferOutputStream(), made.tables[kind]
        with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as out:
            out.write_table(rows)
        streams[kind] = sink.getvalue().to_pybytes()
    sizes = json.dumps({kind: len(stream) for kind, stream in streams.items()})
    content = b"".join((sizes.encode(), b"\n", *streams.values()))
    return line + b"%08x " % zlib.crc32(content) + content


def decode(line: bytes, rest: bytes | None) -> Entry:
    """Return the commit of a line, with the rows of tables beside it, if it stands in an object of its own.

    Damaged rows of tables count as not there.
    """
    commit = _commit(line)
    logged: dict[LogKind, list[Row]] = json.loads(line[line.index(b"\t") + 1 :].decode("utf-8", "surrogatepass"))
    if rest is None:
        return Entry(commit, logged)
    tables: dict[TableKind, TableRows] = {}
    sum_, content = rest[:8], rest[9:]
    if rest and sum_ == b"%08x" % zlib.crc32(content):
        import pyarrow as pa

        sizes, _, streams = content.partition(b"\n")
        start = 0
        for kind, size in json.loads(sizes).items():
            tables[kind] = pa.ipc.open_stream(streams[start : start + size]).read_all()
            start += size
    whole = all(kind in tables for kind in TABLE_KINDS if commit.count(kind))
    return Entry(commit, logged, tables if whole else None)


def line_of(made: Entry) -> bytes:
    """Return a commit with its rows of the log as one line that begins with its own sum."""
    told = {name: value for name, value in asdict(made.commit).items() if value or name not in _DEFAULTS}
    listed = {kind: made.logged[kind] for kind in LOG_KINDS if kind in made.logged}
    parts = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in (told, listed))
    text = "\t".join(parts).encode("utf-8", "surrogatepass")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def number_of(line: bytes) -> int | None:
    """Return the number of the commit that a line holds, without reading the rest; None if it is not what was written.

    A sum shows that.
    """
    sum_, _, text = line.removesuffix(b"\n").partition(b" ")
    found = _NUMBER.match(text)
    return int(found[1]) if found and line.endswith(b"\n") and sum_ == b"%08x" % zlib.crc32(text) else None


def _commit(line: bytes) -> Commit:
    known: dict[str, Any] = json.loads(line[9 : line.index(b"\t")])
    return Commit(**{name: value for name, value in known.items() if name in Commit.__dataclass_fields__})


# Rows


def logged_rows(entries: Iterable[Entry], kind: LogKind) -> list[StoredRow]:
    """Return the rows of the log of a kind that some commits have, in the order of recording."""
    found: list[StoredRow] = []
    same: dict[str, str] = {}  # equal texts as one object: most are of a few spaces, sessions and names
    for entry in entries:
        for row in entry.logged.get(kind, ()):
            shared = {name: same.setdefault(one, one) if isinstance(one, str) else one for name, one in row.items()}
            found.append(StoredRow(entry.commit.tx, row["place"], value_of(kind, shared)))
    return sorted(found, key=lambda one: one[:2])


def table_rows(entries: Iterable[Entry], kind: TableKind) -> TableRows | None:
    """Return the rows of a table that stand with some commits, each with its commit's number; None for none."""
    import pyarrow as pa

    held = ((entry.commit.tx, (entry.tables or {}).get(kind)) for entry in entries)
    tables = [with_tx(rows, tx) for tx, rows in held if rows is not None]
    return pa.concat_tables(tables, promote_options="default") if tables else None
