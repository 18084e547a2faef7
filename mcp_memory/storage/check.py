"""Check a store: quickly, from its last commit alone, and thoroughly, by reading every row (`mcp-memory doctor`).

Both read as any reader does and change nothing. The thorough check looks for commits that are missing or not what they
say, and for rows that a reader leaves out. It reads rows a few thousand at a time, so that it needs little memory even
for a large store. Segments, sentences and assertions may be of any earlier turn, so the lengths of all turns are kept.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.status import Remedy, StoreStatus
from mcp_memory.errors import StoreError
from mcp_memory.files import size_in_bytes
from mcp_memory.storage.columns import vectors_of
from mcp_memory.storage.damage import Damage
from mcp_memory.storage.log import rows_of
from mcp_memory.storage.rows import name_of, row_faults, values_of, vector_faults
from mcp_memory.storage.schema import (
    FORMAT,
    LOG_KINDS,
    TABLE_KINDS,
    Commit,
    RowKind,
    TableRows,
    split_commits,
)
from mcp_memory.storage.tables import Tables

_LOSSES = {*LOG_KINDS} - {"questions", "jobs"}
"""Kinds of which a row that cannot be read is lost for good."""
SHOWN = 3
"""How many rows with the same fault are named."""

Severity = Literal["error", "warning"]
ORDER: tuple[Severity, ...] = ("error", "warning")


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that the thorough check found.

    Attributes:
        severity: an error means lost or unreadable data; a warning means worse recall.
        text: the text for a person.
    """

    severity: Severity
    text: str


def check(tables: Tables) -> list[Finding]:
    """Check every row and return the problems, worst first."""
    faults: dict[tuple[Severity, str], list[str]] = defaultdict(list)
    try:
        for severity, problem, row in _faults(tables):
            faults[severity, problem].append(row)
    except StoreError as error:
        faults["error", str(error)] = []
    findings = [Finding(severity, problem + _row_names(rows)) for (severity, problem), rows in faults.items()]
    return sorted(findings, key=lambda finding: ORDER.index(finding.severity))


Fault = tuple[Severity, str, str]
"""Severity, problem, and the row that has it."""


def _faults(tables: Tables) -> Iterator[Fault]:
    last = tables.log.last
    if last is None:
        return
    if last.format != FORMAT:
        yield "error", f"the store has another format than this program's {FORMAT}", str(last.format)
        return
    commits = list(tables.log.commits(until=last.tx))
    rebuilt = min(commit.tx for commit in commits if commit.generation == last.generation) if last.generation else 0
    others = [commit.tx for commit in commits if (commit.generation, commit.reader) != (last.generation, last.reader)]
    reread = max(others, default=-1) + 1  # the commit since which the assertions are in their table
    last_beliefs = max((commit.tx for commit in commits if commit.beliefs), default=0)
    after, known = 0, dict[str, tuple[str, int]]()
    for part in split_commits(commits, lambda commit: commit):
        until = part[-1].tx
        entries = list(tables.log.entries(after, until))
        read: dict[RowKind, TableRows | None] = {kind: rows_of(entries, kind) for kind in LOG_KINDS}
        read |= {kind: tables.rows(last.table(kind), f"tx > {after} AND tx <= {until}") for kind in TABLE_KINDS}
        for turn in values_of("turns", read["turns"]) if read["turns"] is not None else ():
            for fault in row_faults("turns", turn):
                yield "error", f"turns: {fault}", turn.id
            if turn.id in known:
                yield "error", "turns: the id stands twice", turn.id
            known[turn.id] = turn.space, len(turn.text or "")
        for kind, fault, row in _row_faults(read, known, last.dimension):
            yield "error" if kind in _LOSSES else "warning", f"{kind}: {fault}", row
        yield from _count_faults(part, rebuilt, reread, last_beliefs, read)
        after = until


def _row_faults(
    read: Mapping[RowKind, TableRows | None], known: Mapping[str, tuple[str, int]], dimension: int
) -> Iterator[tuple[RowKind, str, str]]:
    """Yield the table, the fault and the name of each row that readers leave out, of all tables but that of the turns.

    Args:
        read: the rows of some commits.
        known: space and length of each turn until then.
        dimension: of the vectors.
    """
    for kind, rows in read.items():
        if rows is None or kind == "turns":
            continue
        vectors = vectors_of(rows) if "vector" in rows.column_names else [None] * len(rows)
        if kind == "point_vectors":
            for tx, vector in zip(rows["tx"].to_pylist(), vectors, strict=True):
                yield from ((kind, fault, f"commit {tx}") for fault in vector_faults(vector, dimension))
            continue
        for value, vector in zip(values_of(kind, rows), vectors, strict=True):
            found = list(row_faults(kind, value, known.get(getattr(value, "turn_id", "")), vector, dimension))
            if isinstance(value, Lesson) and not found and isinstance(episode := value.episode(), str):
                found = [f"{episode} (what it taught counts all the same)"]
            yield from ((kind, fault, name_of(kind, value)) for fault in found)


def _count_faults(
    commits: list[Commit],
    rebuilt: int,
    reread: int,
    last_beliefs: int,
    read: Mapping[RowKind, TableRows | None],
) -> Iterator[Fault]:
    """Compare the rows of each commit with the counts in it; those of tables only if no rebuild replaced them.

    Args:
        commits: in order.
        rebuilt: the number of the last rebuild's commit, 0 without one; no derived row carries it or counts before it.
        reread: likewise for the assertions, which are read again without a rebuild too.
        last_beliefs: the last commit with beliefs; of those before it compaction may have removed some.
        read: the rows of these commits, in the order of the tables.
    """
    for kind, rows in read.items():
        stored = Counter(rows["tx"].to_pylist()) if rows is not None else Counter()
        for commit in commits:
            count, expected = stored[commit.tx], commit.count(kind)
            compacted = kind == "beliefs" and commit.tx < last_beliefs and count < expected
            since = reread if kind == "assertions" else rebuilt
            if (kind in LOG_KINDS or commit.tx > since) and count != expected and not compacted:
                yield "error", f"{kind}: a commit has other rows than it says", f"commit {commit.tx}"


def _row_names(rows: list[str]) -> str:
    if not rows:
        return ""
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return ": " + ", ".join(map(str, rows[:SHOWN])) + more


# Status


def store_status(tables: Tables, embedder: str, dimension: int, examine: Callable[[], Damage]) -> StoreStatus:
    """Return the state of a store without reading its rows; who holds it and what it does just now are left open.

    Args:
        tables: the tables of the store.
        embedder: the configured model.
        dimension: the dimension of its vectors.
        examine: takes one look.
    """
    last, damage = None, examine()
    problems, notes = [*damage.problems], tuple[str, ...]()
    remedy: Remedy = "--repair" if damage.log else ""
    try:
        last = tables.log.last
        notes = tables.place.notes
    except StoreError as error:
        problems = problems or [str(error)]
    if last and last.format > FORMAT:
        problems.append(f"The store has format {last.format}, this program knows {FORMAT}. Update this program.")
    if last and (last.embedder, last.dimension) != (embedder, dimension):
        problems.append(
            f"The store's vectors were made by {last.embedder!r}, configured is {embedder!r}: "
            "run `mcp-memory doctor --re-embed`."
        )
        remedy = remedy or "--re-embed"
    if tables.folder and not _can_be_written_to(tables.folder):
        problems.append(f"storage.uri {tables.uri!r} cannot be written to.")
    return StoreStatus(
        uri=tables.uri if tables.folder is None else str(tables.folder),  # where it was moved to
        bytes=None if tables.folder is None else size_in_bytes(tables.folder),
        tx=last.tx if last else 0,
        generation=last.generation if last else 0,
        format=last.format if last else FORMAT,
        embedder=last.embedder if last else None,
        holders=(),
        queue=0,
        problems=tuple(problems),
        remedy=remedy or ("--rebuild" if damage.tables else ""),
        notes=notes,
    )


def _can_be_written_to(folder: Path) -> bool:
    """Return whether files can be added to a folder, or the folder can be created if it does not exist yet."""
    try:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
    except OSError:  # it lies behind a folder without access, or behind a file
        return False
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
