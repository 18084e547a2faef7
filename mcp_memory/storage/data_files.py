"""LanceDB's data files: notice that a full disk has cut one short (``tables.py`` says why that has to be noticed)."""

from __future__ import annotations

import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any

Table = Any
"""A table of LanceDB, which comes without types."""

FAILURES = (OSError, RuntimeError, ValueError)
"""What LanceDB raises when a file cannot be read or written."""
FOOTER = struct.Struct("<QQQIIHH4s")
"""Lance's file format 2, "Footer": where columns, their offsets and the offsets of the global buffers begin; how many
buffers and columns there are; the format's version; and a magic number."""
MAGIC = b"LANC"
BUFFER_OFFSET = 16
"""Bytes for the position and size of one global buffer; this list is the last thing before the footer."""


def ensure_complete(table: Table, files: Collection[Path]) -> None:
    """Make sure that the rows just appended to a table can be read.

    A data file ends with its index, and the last forty bytes state where that begins: if they exist and agree with the
    file's length, nothing was cut off. Reading them takes 0.03 ms, but reading a row through LanceDB takes 3, or 10 on
    a busy machine, while the store's lock is held.

    Args:
        table: at the version that the append made.
        files: new in its folder. A concurrent compaction may have put unfinished files there: when any file does not
            look complete, or there is none, LanceDB reads the last row that was appended.

    Raises:
        OSError, RuntimeError, ValueError: the file was cut short.
    """
    if not files or not all(map(is_complete, files)):
        table.search().offset(max(0, table.count_rows() - 1)).limit(1).select(["tx"]).to_arrow()


def is_complete(file: Path) -> bool:
    """Return whether a data file ends with a footer that agrees with the file's length."""
    try:
        with file.open("rb") as opened:
            opened.seek(-FOOTER.size, 2)
            *_, offsets, buffers, _, _, _, magic = FOOTER.unpack(opened.read())
            return bool(magic == MAGIC and offsets + buffers * BUFFER_OFFSET + FOOTER.size == opened.tell())
    except (OSError, struct.error):  # shorter than a footer
        return False
