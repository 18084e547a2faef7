"""The book of what was forgotten, without any content.

A record has keyed hashes of the ids that one forget took, so that nothing made of them before is stored after
(`Book.holds`), and an import can leave them out. The key is that of the store (``domain/ids.py``).

It is one file beside the log, with a sum, or one object, and is replaced whole. Each commit says how many records it
had, so that its loss is noticed. A record is written before its forget takes place, with the generation of the tables
that this makes: it counts once the log is of that generation.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection
from dataclasses import dataclass

from mcp_memory.domain.ids import keyed_digest
from mcp_memory.storage.tables import Tables

BOOK = "forgotten.json"


@dataclass(frozen=True, slots=True)
class Book:
    """What was forgotten.

    Attributes:
        records: the hashes of each forget, oldest first.
        begun: the generation of a forget that was begun and did not end; None mostly.
        damage: what is wrong with the book, in words; mostly empty.
        hashes: the hashes of all ids that were forgotten.
        key: their key.
    """

    records: tuple[frozenset[str], ...] = ()
    begun: int | None = None
    damage: str = ""
    hashes: frozenset[str] = frozenset()
    key: bytes = b""

    def holds(self, name: str) -> bool:
        """Return whether something with this id was forgotten."""
        return bool(self.hashes) and keyed_digest(self.key, name) in self.hashes


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
    records = tuple(frozenset(row["hashes"]) for row in rows)
    expected = last.forgets if last is not None else 0
    lost = (found is None and content is not None) or len(records) < expected
    damage = f"The book of what was forgotten ({BOOK}) is damaged: an import may bring it back." if lost else ""
    hashes = frozenset[str]().union(*records)
    return Book(records, begun, damage, hashes, bytes.fromhex(last.key) if last is not None else b"")


def write_book(tables: Tables, records: Collection[frozenset[str]], begun: int | None = None) -> None:
    """Replace what was forgotten.

    Args:
        tables: of the store.
        records: oldest first.
        begun: the generation of the tables that the forget of the last record makes; None where all are done.

    Raises:
        StoreUnwritable: nothing is changed.
    """
    rows = [{"hashes": sorted(one)} for one in records]
    text = json.dumps({"records": rows, "begun": begun}).encode()
    content = b"%08x %s" % (zlib.crc32(text), text)
    with tables.write_errors():
        tables.place.objects.put(BOOK, content)
