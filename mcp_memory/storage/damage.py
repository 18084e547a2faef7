"""Notice that committed rows are gone: the anchor, and the rows that commits count held against those that are there.

Files can be lost or changed below the program: by a disk, a sync tool, a person. LanceDB then reads an earlier version
of a table, if it can, and the rows above it look as if nobody had committed them; a writer would sweep them away.

- **The anchor** is the newest commit in a checksummed file beside the tables, replaced atomically after each commit. It
  is kept twice, in turn, so one of the two is always whole. No commit is older than the anchor unless it was lost.
- **Counts**: each commit says how many rows of the log it has. Fewer than that in a table are a loss.

While something is missing, nothing is swept, compacted or written, so that a file put back makes everything whole again
and `repair` (``repair.py``) finds whatever is left.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mcp_memory.errors import StoreDamaged
from mcp_memory.storage.data_files import is_complete
from mcp_memory.storage.schema import COMMITS, Commit, LogTable, TableKind, commits_of
from mcp_memory.storage.tables import Tables

COUNTED: tuple[LogTable, ...] = ("turns", "facts", "episodes", "points", "aliases")
"""Tables of which every committed row is still there; compaction removes superseded rows from the others."""
REMEDY = (
    "Recall goes on with what is left, and nothing is written, so that nothing more is lost. Put the files back "
    "(a backup, the sync tool's trash), or run `mcp-memory doctor --repair`."
)
_ANCHORS = ("anchor-0.json", "anchor-1.json")
_CALLED = {"turns": "messages and documents", "facts": "stated facts", "episodes": "lessons"}
_log = logging.getLogger(__name__)


# The anchor


def write_anchor(folder: Path | None, commit: Commit) -> None:
    """Note the newest commit beside the tables; the write lock must be held. A failure is only logged."""
    if folder is None:
        return
    text = json.dumps(asdict(commit), sort_keys=True)
    path = folder / _ANCHORS[commit.tx % 2]
    try:
        made = path.with_suffix(".new")
        made.write_text(json.dumps({"crc32": zlib.crc32(text.encode()), "commit": text}), encoding="utf-8")
        made.replace(path)
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


def forget_anchor(folder: Path | None) -> None:
    """Remove the anchor: another commit than the newest is about to become the last."""
    for name in _ANCHORS if folder is not None else ():
        (folder / name).unlink(missing_ok=True)  # type: ignore[operator]


# What is missing


def commits_missing(last: Commit | None, anchor: Commit | None) -> str | None:
    """Return in words that commits were lost, or None."""
    known = last.tx if last else 0
    if anchor is None or anchor.tx <= known:
        return None
    return f"{anchor.tx - known} of {anchor.tx} commits are gone: the table 'commits' ends with number {known}."


def shortfalls(tables: Tables, missing: Mapping[TableKind, int]) -> dict[TableKind, str]:
    """Return in words, by table of the log, how many committed rows are missing, where some are."""
    if not any(count > 0 for count in missing.values()):
        return {}
    rows = tables.rows(COMMITS)
    totals = totals_of(commits_of(rows) if rows is not None else [])
    return {
        kind: rows_missing(tables, kind, kind, total - missing[kind], total)
        for kind, total in totals.items()
        if missing.get(kind, 0) > 0
    }


def rows_missing(tables: Tables, kind: TableKind, name: str, found: int, expected: int) -> str:
    """Return in words that rows of a table are gone, with the files that are damaged."""
    called = _CALLED.get(kind, name)
    files = damaged_files(tables.folder, name)
    named = f" Damaged: {', '.join(files)}." if files else ""
    return f"{expected - found} of {expected} {called} (table {name!r}) are gone or cannot be read.{named}"


def damaged_files(folder: Path | None, name: str, most: int = 3) -> list[str]:
    """Return the data files of a table that do not end as they should, relative to the store's folder."""
    place = folder / f"{name}.lance" / "data" if folder is not None else None
    try:
        files = sorted(place.glob("*.lance")) if place is not None else []
    except OSError:
        return []
    return [f"{name}.lance/data/{file.name}" for file in files if not is_complete(file)][:most]


def damage_of(tables: Tables, last: Commit | None) -> list[str]:
    """Return in words what committed rows are gone, by counts alone: no row of the log is read. Some milliseconds.

    Args:
        tables: of the store.
        last: the last commit that is there.
    """
    anchor = read_anchor(tables.folder)
    found = [text] if (text := commits_missing(last, anchor)) else []
    if last is None:
        return found
    rows = tables.rows(COMMITS)
    commits = commits_of(rows) if rows is not None else []
    for kind, expected in totals_of(commits).items():
        there = tables.count(kind, f"tx <= {last.tx}") if expected else 0
        if there < expected:
            found.append(rows_missing(tables, kind, kind, there, expected))
    return found


def totals_of(commits: Sequence[Commit]) -> dict[LogTable, int]:
    """Return how many rows commits say that the tables of `COUNTED` have."""
    return {kind: sum(commit.count(kind) for commit in commits) for kind in COUNTED}


def refuse(tables: Tables, damage: Sequence[str] | Mapping[str, str]) -> None:
    """Refuse to change a store that is damaged.

    Raises:
        StoreDamaged: something is missing.
    """
    texts = list(damage.values()) if isinstance(damage, Mapping) else list(damage)
    if texts:
        raise StoreDamaged(f"storage.uri {tables.uri!r} is damaged: {' '.join(texts)} {REMEDY}")
