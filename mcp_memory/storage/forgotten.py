"""The table ``forgotten``: what was forgotten, without any content, and what is being forgotten just now.

A row says when, by which client or command, in which space and how many of each kind, and has keyed hashes of the ids
that went, so that nothing made of them before is stored after (`Book.holds`), and an import can leave them out. While a
forget is not finished, its row also says what was chosen, by ids. Their key is that
of the store (``domain/ids.py``); the records of an older program have another one.

Nothing else can tell what was forgotten, so a file beside the tables, ``forgotten.json``, has the same rows once more,
with a sum. It is replaced after the table, and read where the table is damaged.

**Kept files** (`KeptFiles`) have what was forgotten and may still be taken back. With ``forget.keep_days`` above 0,
what goes is written into such a file, as an export, before it goes from every table. So it is hidden at once, and
taking it back is an import. Its name says until when it is kept, whatever is set later; whoever opens the store, and
every server that runs, removes what is over.

**Purging** removes the earlier versions of a table, where what they hold is to be gone for good.
"""

from __future__ import annotations

import errno
import json
import logging
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.forgetting import ForgetTargets, ForgottenRecord
from mcp_memory.domain.ids import keyed_digest
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreError, StoreUnwritable
from mcp_memory.files import whole_file
from mcp_memory.storage.data_files import flush, size_in_bytes
from mcp_memory.storage.own_files import ensure_own, is_own, own_files, refuse_in_tables
from mcp_memory.storage.schema import FORGOTTEN, KEY_BYTES, Commit, TableRows, generation_of
from mcp_memory.storage.tables import SPARE, Tables
from mcp_memory.view.erasure import Erasure

BOOK_COPY = "forgotten.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """A forget that was begun and is not finished.

    Attributes:
        targets: what was chosen.
        generation: the generation of the tables that it makes.
        relearn: whether beliefs are learnt again.
    """

    targets: ForgetTargets
    generation: int
    relearn: bool


@dataclass(frozen=True, slots=True)
class Book:
    """The table ``forgotten``, read.

    Attributes:
        version: the version of the table; None if nothing was ever forgotten, or the table is damaged.
        key: the key of the hashes of the next record.
        records: what was forgotten, oldest first; records that came with a restored backup have other keys.
        hashes: the hashes of all ids that were forgotten, by their key.
        work: what is not finished; None mostly.
        damage: what is wrong with the table, in words; mostly empty.
    """

    version: int | None = None
    key: bytes = b""
    records: tuple[ForgottenRecord, ...] = ()
    hashes: Mapping[bytes, frozenset[str]] = field(default_factory=dict)
    work: Work | None = None
    damage: str = ""

    def holds(self, name: str) -> bool:
        """Return whether something with this id was forgotten."""
        return any(keyed_digest(key, name) in hashes for key, hashes in self.hashes.items())

    def holds_since(self, name: str, stored_at: Millis) -> bool:
        """Return whether something with this id was forgotten after it was stored.

        What somebody wrote again after a forget has the id of what went, and is not forgotten.
        """
        return any(record.at >= stored_at and record.holds(name) for record in self.records)


NOTHING_FORGOTTEN = Book()


def read_book(tables: Tables) -> Book:
    """Return what was forgotten, and what is not finished; from the copy, where the table is damaged."""
    stored, copied = _stored(tables), _copied(tables.folder)
    damaged = stored is None or len(stored) < len(copied)
    found = copied if damaged else stored or []
    damage = ""
    if damaged:
        known = f"is taken from its copy, which has {len(copied)} records" if copied else "is not known, nor in a copy"
        damage = f"The table {FORGOTTEN!r} is damaged. What was forgotten {known}."
    records = tuple(map(_record_of, found))
    begun = next((json.loads(row["work"]) for row in found if row["work"]), None)
    work = Work(ForgetTargets.from_json(begun["targets"]), begun["generation"], begun["relearn"]) if begun else None
    key = bytes.fromhex(found[0]["key"]) if found else b""
    hashes = {one.key: frozenset[str]() for one in records}
    for one in records:
        hashes[one.key] |= one.hashes
    return Book(None if damaged or not found else tables.version(FORGOTTEN), key, records, hashes, work, damage)


def _stored(tables: Tables) -> list[dict[str, Any]] | None:
    """Return the rows of the table, oldest first; None if they cannot be read as they were written."""
    try:
        rows = tables.rows(FORGOTTEN)
    except StoreError:
        if tables.folder is None:  # there is no copy, and the place may only be out of reach
            raise
        return None
    if rows is None:
        return []
    if FORGOTTEN in tables.broken or tables.sums.wrong((FORGOTTEN,)):
        return None
    return sorted(rows.to_pylist(), key=lambda row: row["tx"])


def _copied(folder: Path | None) -> list[dict[str, Any]]:
    try:
        sum_, _, text = (folder / BOOK_COPY).read_bytes().partition(b" ") if folder is not None else (b"", b"", b"")
        return list(json.loads(text)) if sum_ == b"%08x" % zlib.crc32(text) else []
    except (OSError, ValueError):
        return []


def _record_of(row: Mapping[str, Any]) -> ForgottenRecord:
    hashes = frozenset(json.loads(row["hashes"]))
    return ForgottenRecord(
        row["at"], row["by"], row["space"], json.loads(row["counts"]), hashes, bytes.fromhex(row["key"])
    )


def write_book(tables: Tables, records: Collection[ForgottenRecord], work: Work | None) -> None:
    """Replace what was forgotten, and the copy of it; the last record is the one that is worked on, if any is.

    Raises:
        StoreUnwritable: nothing is changed.
    """
    rows = _book_rows(records, work)
    if tables.version(FORGOTTEN) is None:
        tables.append(FORGOTTEN, rows)
    else:
        tables.replace(FORGOTTEN, rows)
    copy_book(tables, rows)


def copy_book(tables: Tables, rows: TableRows | None = None) -> None:
    """Bring the copy up to date with the table, whose rows may be given; a failure is only logged."""
    stored = rows.to_pylist() if rows is not None else _stored(tables)
    if tables.folder is None or not stored or stored == _copied(tables.folder):
        return
    path = tables.folder / BOOK_COPY
    text = json.dumps(stored).encode()
    try:
        ensure_own(path)
        with whole_file(path) as out:
            out.write(b"%08x %s" % (zlib.crc32(text), text))
    except OSError as error:  # the table has them; the next compaction tries again
        _log.warning("%s cannot be written: %s", path, error)


def _book_rows(records: Collection[ForgottenRecord], work: Work | None) -> TableRows:
    """Return the table of these records; the last one is the one that is worked on, if any is."""
    import pyarrow as pa

    begun = ""
    if work is not None:
        begun = json.dumps({"targets": work.targets.to_json(), "generation": work.generation, "relearn": work.relearn})
    texts = ("by", "space", "counts", "hashes", "key", "work")
    schema = pa.schema([("tx", pa.int64()), ("at", pa.int64()), *((name, pa.string()) for name in texts)])
    rows = [
        {
            "tx": number,
            "at": one.at,
            "by": one.by,
            "space": one.space,
            "counts": json.dumps(dict(one.counts)),
            "hashes": json.dumps(sorted(one.hashes)),
            "key": one.key.hex(),
            "work": begun if number == len(records) else "",
        }
        for number, one in enumerate(records, 1)
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def refuse_to_begin(tables: Tables) -> None:
    """Refuse to forget where that would fail.

    Raises:
        StoreUnwritable: there is too little room to write the tables again, or another's file in a table.
    """
    if tables.folder is not None:
        refuse_in_tables(tables.folder)
        if shutil.disk_usage(tables.folder).free < (size := size_in_bytes(tables.folder)) + SPARE:
            raise StoreUnwritable(
                f"storage.uri {tables.uri!r}: too little room to write the memory again, which takes {size:,} bytes. "
                "Nothing was forgotten. Make room and try again."
            )


def begin(tables: Tables, last: Commit, found: Erasure, counts: Mapping[str, int], by: str, at: Millis) -> None:
    """Write down what is to be forgotten; from here on it will be. The write lock must be held.

    Raises:
        StoreUnwritable: it would fail, or there is no write access; nothing is begun.
    """
    refuse_to_begin(tables)
    book = read_book(tables)
    key = bytes.fromhex(last.key) or book.key or secrets.token_bytes(KEY_BYTES)
    generations = [number for name in tables.names() if (number := generation_of(name)) is not None]
    # A rebuild that has begun and made no table yet takes the next number, so this takes the one after it.
    work = Work(found.targets, max(last.generation, *generations, 0) + 2, found.relearn)
    hashes = frozenset(keyed_digest(key, name) for name in found.ids)
    record = ForgottenRecord(at, by, found.targets.space, counts, hashes, key)
    tables.journal.begin_forgetting()
    write_book(tables, (*book.records, record), work)
    if tables.folder is not None:
        flush(tables.folder / f"{FORGOTTEN}.lance")


FOLDER = "forgotten"
DAY_MS = 24 * 60 * 60 * 1000
_NAME = re.compile(r"(\d{13})-(?:(\d{13,})-)?([0-9a-f]{8})\.jsonl")
"""The moment of the forget, the moment until which it is kept, which older programs did not write, and a name."""


class KeptFiles:
    """The files of one store; see `ports.Kept`.

    Args:
        uri: the URI of the store.
        days: how long a new file is kept, from the forget on.
        clock: milliseconds since 1970, UTC.
        log: returns the log of the store, as it was said.
    """

    def __init__(
        self, uri: str, days: int, clock: Callable[[], Millis], log: Callable[[], Awaitable[Sequence[Batch]]]
    ) -> None:
        self._log = log
        folder = Tables(uri).folder
        self._folder = folder / FOLDER if folder is not None else None
        self._days = days
        self._clock = clock

    @property
    def days(self) -> int:  # noqa: D102
        return self._days

    async def log(self) -> Sequence[Batch]:
        """Return the log of the store, as it was said."""
        return await self._log()

    async def put(self, lines: Sequence[bytes]) -> str:
        """Keep the lines of an export, and return the name to take them back by."""
        return await to_thread.run_sync(self._put, lines)

    def holding(self, lines: Sequence[bytes]) -> list[str]:
        """Return in words which files say what these lines say, told again since, or may do so. Blocking."""
        found, told = [], {*map(_said, lines)} - {_said(b"{}")}
        for path, until in self.files():
            what = "Kept since it was forgotten before"
            try:
                with path.open("rb") as kept:
                    if told.isdisjoint(map(_said, kept)):
                        continue
            except (OSError, ValueError, TypeError, AttributeError):
                what = "Kept of an earlier forget, damaged, may hold it"
            day = datetime.fromtimestamp(until / 1000, UTC)
            found.append(f"{what}, until {day:%Y-%m-%d}: {path}; delete it, too.")
        return found

    def remove_expired(self) -> int:
        """Remove what is over, by the date that it bears, and return how many files. Blocking."""
        over = [path for path, until in self.files() if until <= self._clock()]
        for path in over:
            path.unlink(missing_ok=True)
        return len(over)

    def find(self, name: str) -> Path:
        """Return the file of a name; "last" for the newest. Blocking.

        Raises:
            InvalidInput: there is none.
        """
        self.remove_expired()
        files = [path for path, _ in self.files()]
        found = files[-1:] if name == "last" else [path for path in files if path.stem.endswith(f"-{name}")]
        if not found:
            names = ", ".join(path.stem.rpartition("-")[2] for path in files) or "nothing"
            problem = f"nothing that was forgotten is kept as {name[:40]!r}"
            raise InvalidInput("--undo", problem, f"Kept is: {names}; forget.keep_days says how long.")
        return found[0]

    def files(self) -> list[tuple[Path, Millis]]:
        """Return the files with the moments until which they are kept, the oldest first.

        Of one without such a moment the days count that are set now.
        """
        paths = sorted(self._folder.glob("*.jsonl")) if self._folder is not None else ()
        matches = [(path, _NAME.fullmatch(path.name)) for path in paths if is_own(path, f"{FOLDER}/{path.name}")]
        return [(path, int(match[2] or int(match[1]) + self._days * DAY_MS)) for path, match in matches if match]

    def _put(self, lines: Sequence[bytes]) -> str:
        if self._folder is None:
            raise StoreUnwritable(
                "forget.keep_days needs a store in a local folder. Nothing was forgotten. Set it to 0."
            )
        name = secrets.token_hex(4)
        now = self._clock()
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with whole_file(self._folder / f"{now:013}-{now + self._days * DAY_MS:013}-{name}.jsonl") as out:
                out.writelines(lines)
        except OSError as error:
            raise StoreUnwritable(
                f"what is to be forgotten cannot be kept in {str(self._folder)!r} ({error.strerror or error}). Nothing "
                "was forgotten. Make room, or set forget.keep_days to 0 to forget for good."
            ) from None
        return name


def _said(line: bytes) -> tuple[object, ...]:
    """Return what a line of an export says, whatever its ids and times."""
    names = "text", "description", "query", "head", "relation", "tail", "name", "alias"
    return tuple(map(json.loads(line).get, names))


PATIENCE_S = 10.0
"""Seconds for which it is tried again: a version may look younger than it is."""


def purge(tables: Tables, name: str) -> None:
    """Remove every version of a table but the latest, with all files that only they need.

    Without an earlier version LanceDB looks for no files to remove, so the rows are written once more if there are
    some: a process died after it had removed the version, and not the files. Nor does it ever remove what a process
    was killed in the middle of: each file is written under another name first, ``.tmp…``, with the rows in it. The
    write lock must be held, so nobody else is writing now.

    Raises:
        StoreUnwritable: some of them may be there still.
    """
    refuse_in_tables(tables.folder, name)
    pause, until = 0.0, time.monotonic() + PATIENCE_S
    with tables.write_errors():
        while True:
            time.sleep(pause)  # what is younger than a millisecond stays
            if (table := tables.latest(name)) is None:
                return
            for path in unfinished_files(tables, name):
                path.unlink(missing_ok=True)
            table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)
            versions, files, fragments = len(table.list_versions()), len(tables.files(name)), tables.fragments(name)
            if versions == 1 and files <= fragments:
                return
            if time.monotonic() > until:
                left = f"{versions - 1} versions and {max(0, files - fragments)} files"
                raise OSError(errno.EBUSY, f"of earlier rows of {name} {left} are still there; is the clock right?")
            tables.replace(name, tables.rows(name))
            pause = min(0.2, 2 * pause + 0.01)


def has_leftovers(tables: Tables, name: str) -> bool:
    """Return whether a process that died while it wrote or purged a table in a folder left a file there."""
    return len(tables.files(name)) > tables.fragments(name) or bool(unfinished_files(tables, name))


def unfinished_files(tables: Tables, name: str) -> list[Path]:
    """Return the files of a table that LanceDB has not finished writing; none of a table on object storage."""
    files = own_files(tables.folder / f"{name}.lance", f"{name}.lance") if tables.folder is not None else ()
    return [path for path in files if path.name.startswith(".tmp")]
