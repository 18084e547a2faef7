"""The book of what was forgotten, without any content, and of what is being forgotten just now.

A record says when, by which client or command, in which space and how many of each kind, and has keyed hashes of the
ids that went, so that nothing made of them before is stored after (`Book.holds`), and an import can leave them out.
While a forget is not finished, the book also says what was chosen, by ids. The key is that of the store
(``domain/ids.py``); records that came with a restored backup have other keys.

It is one file beside the log, with a sum, or one object, and is replaced whole. Each commit says how many records it
had, so that its loss is noticed.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.forgetting import ForgetTargets, ForgottenRecord
from mcp_memory.domain.ids import keyed_digest
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreUnwritable
from mcp_memory.files import size_in_bytes
from mcp_memory.storage.own_files import refuse_in_tables
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
