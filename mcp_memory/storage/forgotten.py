"""The book of what was forgotten, without any content.

A record says when, by which client or command, in which space and how many of each kind, and has keyed hashes of the
ids that went, so that nothing made of them before is stored after (`Book.holds`), and an import can leave them out. The
key is that of the store (``domain/ids.py``); records that came with a restored backup have other keys.

It is one file beside the log, with a sum, or one object, and is replaced whole. Each commit says how many records it
had, so that its loss is noticed. A record is written before its forget takes place, with the generation of the tables
that this makes: it counts once the log is of that generation.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.forgetting import ForgottenRecord
from mcp_memory.domain.ids import keyed_digest
from mcp_memory.domain.times import Millis
from mcp_memory.storage.tables import Tables

BOOK = "forgotten.json"


@dataclass(frozen=True, slots=True)
class Book:
    """What was forgotten.

    Attributes:
        records: what was forgotten, oldest first.
        begun: the generation of a forget that was begun and did not end; None mostly.
        damage: what is wrong with the book, in words; mostly empty.
        hashes: the hashes of all ids that were forgotten, by their key.
    """

    records: tuple[ForgottenRecord, ...] = ()
    begun: int | None = None
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


def read_book(tables: Tables) -> Book:
    """Return what was forgotten in a store."""
    last = tables.log.last
    try:
        content = tables.place.objects.get(BOOK)
    except OSError:
        content = None
    sum_, _, text = (content or b"").partition(b" ")
    try:
        found = json.loads(text) if content and sum_ == b"%08x" % zlib.crc32(text) else None
    except ValueError:
        found = None
    rows, begun = (found["records"], found.get("begun")) if found is not None else ([], None)
    if begun is not None and last is not None and last.generation < begun:
        rows = rows[:-1]
    records = tuple(
        ForgottenRecord(
            row["at"], row["by"], row["space"], row["counts"], frozenset(row["hashes"]), bytes.fromhex(row["key"])
        )
        for row in rows
    )
    hashes = {one.key: frozenset[str]() for one in records}
    for one in records:
        hashes[one.key] |= one.hashes
    expected = last.forgets if last is not None else 0
    lost = (found is None and content is not None) or len(records) < expected
    damage = f"The book of what was forgotten ({BOOK}) is damaged: an import may bring it back." if lost else ""
    return Book(records, begun, damage, hashes)


def write_book(tables: Tables, records: Collection[ForgottenRecord], begun: int | None = None) -> None:
    """Replace what was forgotten.

    Args:
        tables: of the store.
        records: oldest first.
        begun: the generation of the tables that the forget of the last record makes; None where all are done.

    Raises:
        StoreUnwritable: nothing is changed.
    """
    rows = [
        {"at": one.at, "by": one.by, "space": one.space, "counts": dict(one.counts), "hashes": sorted(one.hashes),
         "key": one.key.hex()}
        for one in records
    ]  # fmt: skip
    text = json.dumps({"records": rows, "begun": begun}).encode()
    content = b"%08x %s" % (zlib.crc32(text), text)
    with tables.write_errors():
        tables.place.objects.put(BOOK, content)


def repair_book(tables: Tables, give_up: Callable[[Sequence[str]], bool], at: Millis) -> list[str]:
    """Give up what a damaged book has lost, if told to, and say what was done. The write lock must be held."""
    last, book = tables.log.last, read_book(tables)
    if last is None or not book.damage:
        return []
    if not give_up(["what was forgotten: an import may bring it back"]):
        return ["Nothing was given up: the memory stays as it is."]
    write_book(tables, book.records)
    tables.log.append(last.next(at, forgets=len(book.records)), {})
    return ["Given up: what was forgotten."]
