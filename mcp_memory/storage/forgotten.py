"""The book of what was forgotten, without any content, and of what is being forgotten just now.

A record says when, by which client or command, in which space and how many of each kind, and has keyed hashes of the
ids that went, so that nothing made of them before is stored after (`Book.holds`), and an import can leave them out.
While a forget is not finished, the book also says what was chosen, by ids. The key is that of the store
(``domain/ids.py``); records that came with a restored backup have other keys.

It is one file beside the log, with a sum, or one object, and is replaced whole. Each commit says how many records it
had, so that its loss is noticed.

**Kept files** (`KeptFiles`) have what was forgotten and may still be taken back. With ``forget.keep_days`` above 0,
what goes is written into such a file, as an export, before it goes from log and tables. So it is hidden at once, and
taking it back is an import. Its name says until when it is kept, whatever is set later; whoever opens the store, and
every server that runs, removes what is over.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.forgetting import ForgetTargets, ForgottenRecord
from mcp_memory.domain.ids import keyed_digest
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreUnwritable
from mcp_memory.files import size_in_bytes, whole_file
from mcp_memory.storage.own_files import is_own, refuse_in_tables
from mcp_memory.storage.schema import Commit, generation_of
from mcp_memory.storage.tables import SPARE, Tables
from mcp_memory.view.erasure import Erasure

BOOK = "forgotten.json"


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
    """What was forgotten.

    Attributes:
        records: what was forgotten, oldest first.
        work: what is not finished; None mostly. The last record is that of it.
        damage: what is wrong with the book, in words; mostly empty.
        hashes: the hashes of all ids that were forgotten, by their key.
    """

    records: tuple[ForgottenRecord, ...] = ()
    work: Work | None = None
    damage: str = ""
    hashes: Mapping[bytes, frozenset[str]] = field(default_factory=dict)

    def holds(self, name: str) -> bool:
        """Return whether something with this id was forgotten."""
        return any(keyed_digest(key, name) in hashes for key, hashes in self.hashes.items())

    def holds_since(self, name: str, stored_at: Millis) -> bool:
        """Return whether something with this id was forgotten after it was stored.

        What somebody wrote again after a forget has the id of what went, and is not forgotten.
        """
        return any(record.at >= stored_at and record.holds(name) for record in self.records)


NOTHING_FORGOTTEN = Book()


def book_state(tables: Tables) -> tuple[int, int]:
    """Return what changes whenever the book of a store in a folder does; some microseconds."""
    try:
        found = os.stat(f"{tables.folder}{os.sep}{BOOK}")  # noqa: PTH116 - a third of the time
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def read_book(tables: Tables, expected: int = 0) -> Book:
    """Return what was forgotten, and what is not finished.

    Args:
        tables: of the store.
        expected: how many records there should be, as the last commit says.
    """
    try:
        content = tables.place.objects.get(BOOK)
    except OSError:
        content = None
    sum_, _, text = (content or b"").partition(b" ")
    try:
        found = json.loads(text) if content and sum_ == b"%08x" % zlib.crc32(text) else None
    except ValueError:
        found = None
    if found is None and content is None and not expected:
        return NOTHING_FORGOTTEN
    rows, begun = (found["records"], found["work"]) if found is not None else ([], None)
    records = tuple(
        ForgottenRecord(
            row["at"], row["by"], row["space"], row["counts"], frozenset(row["hashes"]), bytes.fromhex(row["key"])
        )
        for row in rows
    )
    hashes = {one.key: frozenset[str]() for one in records}
    for one in records:
        hashes[one.key] |= one.hashes
    work = Work(ForgetTargets.from_json(begun["targets"]), begun["generation"], begun["relearn"]) if begun else None
    lost = found is None or len(records) < expected
    damage = f"The book of what was forgotten ({BOOK}) is damaged: an import may bring it back." if lost else ""
    return Book(records, work, damage, hashes)


def write_book(tables: Tables, records: Collection[ForgottenRecord], work: Work | None) -> None:
    """Replace what was forgotten; the last record is the one that is worked on, if any is.

    Raises:
        StoreUnwritable: nothing is changed.
    """
    rows = [
        {"at": one.at, "by": one.by, "space": one.space, "counts": dict(one.counts), "hashes": sorted(one.hashes),
         "key": one.key.hex()}
        for one in records
    ]  # fmt: skip
    begun = None
    if work is not None:
        begun = {"targets": work.targets.to_json(), "generation": work.generation, "relearn": work.relearn}
    text = json.dumps({"records": rows, "work": begun}).encode()
    content = b"%08x %s" % (zlib.crc32(text), text)
    with tables.write_errors():
        tables.place.objects.put(BOOK, content)


def repair_book(tables: Tables, give_up: Callable[[Sequence[str]], bool], at: Millis) -> list[str]:
    """Give up what a damaged book has lost, if told to, and say what was done. The write lock must be held."""
    last = tables.log.last
    book = read_book(tables, last.forgets if last else 0)
    if last is None or not book.damage:
        return []
    if not give_up(["what was forgotten: an import may bring it back"]):
        return ["Nothing was given up: the memory stays as it is."]
    write_book(tables, book.records, None)
    tables.log.append(last.next(at, forgets=len(book.records)), {})
    return ["Given up: what was forgotten."]


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
    key = bytes.fromhex(last.key)
    generations = [number for name in tables.names() if (number := generation_of(name)) is not None]
    # A rebuild that has begun and made no table yet takes the next number, so this takes the one after it.
    work = Work(found.targets, max(last.generation, *generations, 0) + 2, found.relearn)
    hashes = frozenset(keyed_digest(key, name) for name in found.ids)
    record = ForgottenRecord(at, by, found.targets.space, counts, hashes, key)
    tables.log.begin_forgetting()
    write_book(tables, (*read_book(tables).records, record), work)


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
