"""Read commits: the last one, those after a number, the rows of some as one batch, and the log.

**The log** is what each commit recorded that nothing else yields, for an export. The log tables hold what was said and
asserted, and judgements of it. The question pool is derived, but made by calls and not by a rebuild, so it belongs here
as well. Rows that cannot be right are left out with a warning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from mcp_memory.domain.batch import Batch, Masking, masked
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreBusy, StoreMismatch
from mcp_memory.storage.journal import Entry, newer, rows_of
from mcp_memory.storage.rows import StoredRow, assertions_in_order, latest, point_vectors_of, right_rows
from mcp_memory.storage.schema import COMMITS, FORMAT, READABLE, Commit, LogTable, TableKind, TableRows, commits_of
from mcp_memory.storage.tables import Tables
from mcp_memory.view.view import View


def last_commit(tables: Tables) -> Commit | None:
    """Return the commit with the highest number, or None for an empty store."""
    for after in (tables.count(COMMITS) - 1, 0):  # if rows were doubled, none has the number that the count suggests
        rows = commits_after(tables, after)
        if rows is not None:
            return commits_of(rows)[-1]
    return None


def commits_after(tables: Tables, after: int) -> TableRows | None:
    """Return the commits with higher numbers, by number; None if there are none."""
    count = tables.count(COMMITS)
    if not count:
        return None
    after = max(after, 0)
    rows = tables.tail(COMMITS, count - after) if count > after else None
    if rows is None or rows["tx"].to_pylist() != list(range(after + 1, count + 1)):
        rows = tables.rows(COMMITS, f"tx > {after}")  # numbers should have no gaps and come in order; these do not
    return rows.sort_by("tx") if rows is not None and len(rows) else None


class OutdatedFormat(Exception):
    """The store has a format that is not read as it is; it must be rebuilt from its log before it can be used."""


def usable_last(rows: TableRows, uri: str, embedder: str, dimension: int) -> Commit:
    """Return the last of some commits of a store, by number.

    Raises:
        StoreMismatch: the store has another embedder than this one, or a newer format.
        OutdatedFormat: it has an older format.
    """
    last = commits_of(rows.slice(len(rows) - 1))[0]
    if last.format > FORMAT:
        raise StoreMismatch(
            f"storage.uri {uri!r} was written by a newer mcp-memory (format {last.format}, this "
            f"program knows {FORMAT}). Nothing was changed. Update this program, or set storage.uri."
        )
    if (last.embedder, last.dimension) != (embedder, dimension):
        raise StoreMismatch(
            f"storage.uri {uri!r} holds vectors of {last.embedder!r} ({last.dimension} numbers each), "
            f"configured is {embedder!r} ({dimension}): the two cannot be compared. Nothing was "
            "changed. Run `mcp-memory doctor --re-embed` to make all vectors again, or set the former embedder."
        )
    if last.format < READABLE:
        raise OutdatedFormat
    return last


def newest(tables: Tables) -> Commit | None:
    """Return the last commit of a store: that of its journal, otherwise the one that the tables have."""
    entries, _ = tables.journal.read()  # first, see there
    last = last_commit(tables)
    entries = newer(entries, last.tx if last else 0)
    return entries[-1].commit if entries else last


def log_batch(
    view: View,
    commits: Sequence[Commit],
    read: Callable[[TableKind], TableRows | None],
    dimension: int,
    masking: Masking,
) -> tuple[list[tuple[int, Turn]], Batch]:
    """Return what a view takes in of some commits at once: everything but segments and sentences.

    Args:
        view: the view to which it is added.
        commits: new ones.
        read: returns their rows in a table.
        dimension: the dimension of the vectors.
        masking: the masking of secrets.

    Returns:
        The turns that the view does not have yet, with the numbers of their commits, and all of it, with these turns.
    """
    new = [
        (row.tx, row.value)
        for row in right_rows("turns", read("turns"))
        if stored_turn(view, row.value.space, row.value.id) is None
    ]
    arrived = {turn.id: turn for _, turn in new}

    def find(space: str, turn_id: str) -> Turn | None:
        return arrived.get(turn_id) or stored_turn(view, space, turn_id)

    def right(kind: TableKind) -> list[StoredRow]:
        return right_rows(kind, read(kind), dimension)

    points, questions = right("points"), right("questions")
    batch = Batch(
        tuple(turn for _, turn in new),
        assertions=values(assertions_in_order(read("facts"), read("assertions"), find)),
        lessons=values(right("episodes")),
        beliefs=values(latest(right("beliefs"), "sentence_id")),
        points=values(points),
        point_vectors=point_vectors_of(points, read("point_vectors"), dimension),
        aliases=values(right("aliases")),
        questions=values(questions),
        question_vectors=np.array([row.vector for row in questions], dtype=np.float32).reshape(-1, dimension),
        outlays=tuple(commit.outlay for commit in commits if commit.outlay),
        jobs=values(latest(right("jobs"), "turn_id")),
    )
    batch = masked(batch, masking, find)  # from here on nothing of the log is seen as it was said
    return [(tx, turn) for (tx, _), turn in zip(new, batch.turns, strict=True)], batch


def values(rows: Sequence[StoredRow]) -> tuple[Any, ...]:
    """Return what rows hold."""
    return tuple(row.value for row in rows)


def stored_turn(view: View, space: str, turn_id: str) -> Turn | None:
    """Return a turn that a view has."""
    stored = view.spaces.get(space)
    return stored.turns.get(turn_id) if stored else None


def commit_switch(tables: Tables, commit: Commit) -> Commit:
    """Make a commit that switches over to other derived tables visible, and return it.

    In a store on object storage the journal is first. If the same switch stands there already, somebody died between
    the two, and it is that one.

    Raises:
        StoreBusy: another server made a commit of this number.
        StoreUnwritable: the row is not there.
    """
    if tables.journal.shared:
        entries, _ = tables.journal.read(commit.tx - 1)
        there = next((entry.commit for entry in entries if entry.commit.tx == commit.tx), None)
        if there is not None and (there.generation, there.reader) == (commit.generation, commit.reader):
            return there
        tables.journal.append(commit, {}, 0)
    return commit


def newest_rows(
    tables: Tables, swept: dict[str, int], name: str, after: int, until: int, expected: int, columns: list[str] | None
) -> TableRows | None:
    """Return the rows of the commits after one number up to the last commit.

    The commits say how many rows there are (``expected``), and these were appended last, so they are read from the
    end. If it holds other rows too, since uncommitted ones follow or a rebuild is among the commits, all rows
    are searched.
    """
    import pyarrow.compute as pc

    version = tables.version(name)
    rows = tables.tail(name, expected + 1, columns) if expected else None
    numbers = rows["tx"].to_numpy() if rows is not None else np.empty(0, dtype=np.int64)
    if rows is not None and len(numbers) > expected and numbers[0] <= after:  # the row before them is an older one
        rows, numbers = rows.slice(1), numbers[1:]
    if not (len(numbers) == expected > 0 and after < numbers.min() and numbers.max() <= until):
        rows = tables.rows(name, f"tx > {after}", columns)
    if rows is None:
        return None
    visible = rows.filter(pc.less_equal(rows["tx"], until))
    if len(visible) == len(rows):
        if version is not None and name not in tables.broken:
            swept[name] = version
        return rows
    return visible


ATTEMPTS = 3
"""How often the log is read where a rebuild drops the table of questions meanwhile."""


def read_log(tables: Tables) -> list[Batch]:
    """Return the log as one batch for each commit that has rows in it, in the order of recording. Blocking.

    The batches have turns, assertions of callers and of Claude, lessons (of each judge and episode the first),
    revisions of points, aliases, questions, and of each text the last state of its reading. They have no vectors.

    Raises:
        StoreBusy: the store is rebuilt again and again.
        StoreMismatch: the store has a newer format.
        StoreError: a table cannot be read.
    """
    for _ in range(ATTEMPTS):
        entries = tables.journal.whole_lines()  # before the tables, see there
        last = last_commit(tables)
        if last is None:
            return []
        if last.format > FORMAT:
            raise StoreMismatch(
                f"storage.uri {tables.uri!r} was written by a newer mcp-memory (format {last.format}, this program "
                f"knows {FORMAT}). Nothing was read. Update this program."
            )
        questions = last.table("questions")
        batches = _Log(tables, last.tx, newer(entries, last.tx), questions).batches()
        now = last_commit(tables)
        if now is not None and now.table("questions") == questions:
            return batches
    raise StoreBusy(f"storage.uri {tables.uri!r} is being rebuilt. Nothing was read. Try again.")


class _Log:
    """The rows of the log up to one commit in the tables, and of those in the journal, by commit."""

    def __init__(self, tables: Tables, until: int, entries: Sequence[Entry], questions: str) -> None:
        self._tables = tables
        self._entries = entries
        self._until = until
        self._questions = questions

    def batches(self) -> list[Batch]:
        parts: dict[int, dict[str, Any]] = defaultdict(dict)
        turns = [*self._right("turns"), *right_rows("turns", rows_of(self._entries, "turns"))]
        by_id = {row.value.id: row.value for row in turns}

        def find(_space: str, turn_id: str) -> Turn | None:
            return by_id.get(turn_id)

        found = self._rows("facts"), rows_of(self._entries, "facts")
        facts = [row for rows in found for row in assertions_in_order(rows, None, find)]
        lessons = {(row.value.space, *row.value.key): row for row in reversed(self._right("episodes"))}  # the first
        kinds: dict[str, Sequence[StoredRow]] = {
            "turns": turns,
            "assertions": sorted(facts, key=lambda row: row[:2]),
            "lessons": [*reversed(lessons.values())],
            "points": self._right("points"),
            "aliases": self._right("aliases"),
            "questions": right_rows("questions", self._rows(self._questions)),
            "jobs": latest(self._right("jobs"), "turn_id"),
        }
        for kind, rows in kinds.items():
            for tx, those in groupby(rows, key=lambda row: row.tx):
                parts[tx][kind] = (*parts[tx].get(kind, ()), *(row.value for row in those))
        return [Batch(**part) for _, part in sorted(parts.items())]

    def _right(self, kind: LogTable) -> list[StoredRow]:
        return right_rows(kind, self._rows(kind))

    def _rows(self, name: LogTable | str) -> TableRows | None:
        return self._tables.rows(name, f"tx <= {self._until}")
