"""The anchor: the newest commit, noted beside the tables, so that the loss of commits is noticed (``damage.py``).

It is a checksummed file, written over after each commit. Two such files are written in turn, so one of them is always
whole. No commit is older than the anchor unless it was lost.
"""

from __future__ import annotations

import json
import logging
import os
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mcp_memory.storage.schema import Commit
from mcp_memory.storage.sums import SUMS

_ANCHORS = ("anchor-0.json", "anchor-1.json")
_log = logging.getLogger(__name__)


def write_anchor(folder: Path | None, commit: Commit) -> None:
    """Note the newest commit beside the tables; the write lock must be held. A failure is only logged."""
    if folder is None:
        return
    text = json.dumps(asdict(commit), sort_keys=True)
    path = folder / _ANCHORS[commit.tx % 2]
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            os.ftruncate(
                file, os.write(file, json.dumps({"crc32": zlib.crc32(text.encode()), "commit": text}).encode())
            )
        finally:
            os.close(file)
    except OSError as error:  # the commit is stored; only its loss would not be noticed
        _log.warning("%s cannot be written: %s", path, error)


def read_anchor(folder: Path | None) -> Commit | None:
    """Return the newest commit that was noted, or None; a note that is damaged counts as none."""
    found = [commit for name in _ANCHORS if folder is not None and (commit := _noted(folder / name))]
    return max(found, key=lambda commit: commit.tx, default=None)


def _noted(path: Path) -> Commit | None:
    try:
        noted = json.loads(path.read_bytes())
        if zlib.crc32(noted["commit"].encode()) != noted["crc32"]:
            return None
        known: dict[str, Any] = json.loads(noted["commit"])
        return Commit(**{name: value for name, value in known.items() if name in Commit.__dataclass_fields__})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def forget_notes(folder: Path | None) -> None:
    """Remove the anchor and the sums: the store has moved."""
    for name in (*_ANCHORS, SUMS) if folder is not None else ():
        (folder / name).unlink(missing_ok=True)  # type: ignore[operator]
