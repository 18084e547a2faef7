"""What a full disk does to LanceDB, and how nothing is lost by it.

When a data file does not fit, LanceDB 0.40 cuts it short and says nothing; and if the few hundred bytes of the table's
new version still fit, the table then has a version that cannot be read. So what was appended is looked at before it
counts (`ensure_whole`); a version that cannot be read is passed over by readers; and the next writer puts the version
before it back (`mend`).

A data file ends with its index, and the last forty bytes say where that stands: when they are there and agree with the
file's length, nothing was cut off. Looking at them takes 0.03 ms, where reading a row through LanceDB takes 3, or
10 on a busy machine, with the store's lock held. They are described in Lance's file format 2, "Footer".
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_memory.storage.tables import Tables

Table = Any
"""One of LanceDB, which comes without types."""

STEPS_BACK = 8
"""How many versions that cannot be read are passed over."""
FAILURES = (OSError, RuntimeError, ValueError)
"""What LanceDB raises when a file cannot be read or written."""
FOOTER = struct.Struct("<QQQIIHH4s")
"""Where columns, their offsets and the offsets of the global buffers begin; how many buffers and columns; the format's
version; and a mark."""
MARK = b"LANC"
BUFFER_OFFSET = 16
"""Bytes for the place and size of a global buffer; that table is the last thing before the footer."""

_log = logging.getLogger(__name__)


def ensure_whole(table: Table, files: Collection[Path]) -> None:
    """Make sure that what was just appended to a table can be read.

    Args:
        table: at the version that the append made.
        files: new in its folder. A compaction that runs beside us may have put its own there, still unfinished: when
            any of them does not look whole, or there is none, LanceDB is asked to read the last row that was appended.

    Raises:
        OSError, RuntimeError, ValueError: the file was cut short.
    """
    if not files or not all(map(whole, files)):
        table.search().offset(max(0, table.count_rows() - 1)).limit(1).select(["tx"]).to_arrow()


def whole(file: Path) -> bool:
    """Return whether a data file ends with a footer that agrees with the file's length."""
    try:
        with file.open("rb") as opened:
            opened.seek(-FOOTER.size, 2)
            *_, offsets, buffers, _, _, _, mark = FOOTER.unpack(opened.read())
            return bool(mark == MARK and offsets + buffers * BUFFER_OFFSET + FOOTER.size == opened.tell())
    except (OSError, struct.error):  # shorter than a footer
        return False


def readable(table: Table) -> bool:
    """Return whether every file of a table has its index."""
    try:
        table.search().select(["tx"]).to_arrow()
    except FAILURES:
        return False
    return True


def mend(tables: Tables, name: str) -> None:
    """Put the last version that can be read back in place of a later one that cannot. Hold the write lock.

    Raises:
        StoreUnwritable: that cannot be written down now.
        StoreError: no version can be read.
    """
    table = tables.latest(name)
    if table is None or readable(table):
        tables.broken.discard(name)
        return
    with tables.changing():
        version = int(table.version)
        for earlier in range(version - 1, max(0, version - STEPS_BACK), -1):
            old = tables.earlier(name, earlier)
            if old is not None and readable(old):
                _log.warning("%s: version %s was cut short by a full disk; %s is put back", name, version, earlier)
                old.restore()
                tables.reopen(name)
                tables.broken.discard(name)
                return
        if version == 1:  # its very first rows were cut short: there is nothing to lose
            tables.drop(name)
            tables.broken.discard(name)
            return
    raise tables.unreadable(name, "no version of it can be read")
