"""Read commits: the last one, those after a number, the rows of some as one batch, and the newest rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcp_memory.domain.batch import Batch, Masking, masked
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreMismatch
from mcp_memory.storage.fact_rows import aliases_of, assertions_in_order, latest_jobs
from mcp_memory.storage.journal import newer
from mcp_memory.storage.point_rows import (
    latest_beliefs,
    lessons_of,
    point_vectors_of,
    points_of,
    questions_with_vectors,
)
from mcp_memory.storage.schema import COMMITS, FORMAT, READABLE, Commit, TableKind, TableRows, commits_of
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.text_rows import turns_of
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
            "changed. Run `mcp-memory doctor --re-embed` to make all vectors anew, or set the former embedder."
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
        view: to which it is added.
        commits: new ones.
        read: returns their rows in a table.
        dimension: of the vectors.
        masking: of secrets.

    Returns:
        The turns that the view does not have yet, with the numbers of their commits, and all of it, with these turns.
    """
    new = [(tx, turn) for tx, turn in turns_of(read("turns")) if stored_turn(view, turn.space, turn.id) is None]
    arrived = {turn.id: turn for _, turn in new}

    def find(space: str, turn_id: str) -> Turn | None:
        return arrived.get(turn_id) or stored_turn(view, space, turn_id)

    points = points_of(read("points"))
    questions, question_vectors = questions_with_vectors(read("questions"), dimension)
    batch = Batch(
        tuple(turn for _, turn in new),
        assertions=assertions_in_order(read("facts"), read("assertions"), find),
        lessons=tuple(lesson for _, lesson in lessons_of(read("episodes"))),
        beliefs=latest_beliefs(read("beliefs"), dimension),
        points=tuple(point for _, _, point in points),
        point_vectors=point_vectors_of(points, read("point_vectors"), dimension),
        aliases=aliases_of(read("aliases")),
        questions=questions,
        question_vectors=question_vectors,
        outlays=tuple(commit.outlay for commit in commits if commit.outlay),
        jobs=latest_jobs(read("jobs")),
    )
    batch = masked(batch, masking)  # from here on nothing of the log is seen as it was said
    return [(tx, turn) for (tx, _), turn in zip(new, batch.turns, strict=True)], batch


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
    end. If the end holds others (uncommitted rows after them, or a rebuild among the commits), all rows are
    searched.
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
