"""The store's format: table names, the commit row, and the number that every row carries.

The log has one permanent table of each kind. Derived tables have one for each *generation*, since a rebuild makes new
tables next to the old ones. The columns of a table are the fields of the domain's dataclass and more: ``tx``, the
number of the commit that a row belongs to; ``place``, its position within that commit, for tables in which the order of
recording matters and rows of one commit are in two tables or replace each other; and ``vector``. ``rows.py``
converts both ways.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from mcp_memory.domain.language_model import Reservation, Spending
from mcp_memory.domain.times import Millis
from mcp_memory.vectors import Matrix

TableRows = Any
"""A pyarrow table; pyarrow comes without types."""

FORMAT = 10
"""The tables' format. It is raised whenever an older program could not read, or would damage, what a newer one wrote:
format 1 had no assertions, 2 no lessons, 3 no memory points, 4 no aliases, no questions and no record of what was
spent, 5 no jobs, and stored what Claude read outside of ``facts``, 6 no kind and no precision of assertions, and no
reader of commits, 7 no journal, 8 no offset of turns, 9 no key of commits. CONTRIBUTING.md, "A change of the store's
format", says how."""
READABLE = 2
"""The oldest format that is read as it is; the next commit raises such a store to `FORMAT`. An older store is rebuilt
from its log."""

KEY_BYTES = 16
"""Length of the key of a store."""

PART = 8192
"""Sentences read at once: 12 MB of vectors; or beliefs, which have two each."""

COMMITS = "commits"
FORGOTTEN = "forgotten"
"""The table of what was forgotten; it belongs to no commit, and no program needs it to read the others."""
LogTable = Literal["turns", "facts", "episodes", "points", "aliases", "jobs"]
"""What no rebuild can make again: what was said, what callers asserted or a language model was paid to read, what
judges said of episodes, memory points, aliases, and how far a language model has read each text."""
DerivedTable = Literal["segments", "sentences", "assertions", "beliefs", "point_vectors", "questions"]
"""What a rebuild makes again: pieces of texts, what the embedded engine read in them, what the lessons in ``episodes``
taught, the vectors of the descriptions in ``points``, and questions, which a rebuild copies with new vectors."""
LOG_TABLES: tuple[LogTable, ...] = get_args(LogTable)
DERIVED_TABLES: tuple[DerivedTable, ...] = get_args(DerivedTable)
TableKind = LogTable | DerivedTable


def table_name(kind: TableKind, generation: int, reader: int) -> str:
    """Return the name of the table of a kind.

    Args:
        kind: the kind of the table.
        generation: the generation of the derived tables.
        reader: the reader of the assertions (`Commit.reader`); other tables do not depend on it.
    """
    if kind == "assertions" and reader:
        return f"{kind}_{reader}_{generation}"
    return kind if kind in LOG_TABLES else f"{kind}_{generation}"


def tables_of(generation: int, reader: int) -> tuple[str, ...]:
    """Return the names of all tables in which a commit has rows: the log, then derived tables."""
    return tuple(table_name(kind, generation, reader) for kind in (*LOG_TABLES, *DERIVED_TABLES))


def generation_of(table: str) -> int | None:
    """Return the generation that a table belongs to; None for commits and the log."""
    number = table.rpartition("_")[2]
    return int(number) if number.isdigit() else None


def reader_of(table: str) -> int:
    """Return the version of the extractor that made a table of assertions; a large number for other tables."""
    kind, *numbers = table.split("_")
    if kind != "assertions":
        return 1 << 30
    return int(numbers[0]) if len(numbers) == 2 and numbers[0].isdigit() else 0


@dataclass(frozen=True, slots=True)
class Commit:
    """The row that makes a transaction's rows visible.

    Attributes:
        tx: its number; 1, 2, … without gaps.
        at: when it was written.
        format: the format of the tables, see `FORMAT`.
        embedder: the model that made the vectors.
        dimension: the dimension of the vectors.
        generation: the generation of the derived tables.
        pid: the process that wrote it.
        turns: rows in ``turns``.
        segments: rows in ``segments_<generation>``; a rebuild's commit counts all of them.
        sentences: rows in ``sentences_<generation>``; a rebuild's commit counts all of them.
        facts: rows in ``facts``, whose assertions come from callers and from Claude.
        assertions: rows in ``assertions_<generation>``; a rebuild's commit counts all of them.
        episodes: rows in ``episodes``.
        beliefs: rows in ``beliefs_<generation>``; a rebuild's commit counts all of them. Compaction may have removed
            rows that a later row about the same sentence replaces.
        points: rows in ``points``, and in ``point_vectors_<generation>``.
        aliases: rows in ``aliases``.
        questions: rows in ``questions_<generation>``; a rebuild copies them with their numbers.
        day: the day that the amounts below count for, see `Reservation`, which has no other table; 0 for none.
        calls: requests to a language model; this and the amounts below are negative if they correct an earlier row.
        input_tokens: the input tokens of these requests.
        cached_tokens: the cached tokens of these requests.
        output_tokens: the output tokens of these requests.
        jobs: rows in ``jobs``. Compaction may have removed rows that a later row about the same turn replaces.
        reader: the version of the extractor that read the assertions of the embedded engine in this store, which are in
            ``assertions_<reader>_<generation>``; 0 for stores that were read before versions were counted, which are in
            ``assertions_<generation>``. A commit has that of the commit before it; a rebuild, and
            reading all texts again, raise it.
        key: the key of the store's ids (``domain/ids.py``), in hex digits: a random one in the first commit, in each
            later one that of the commit before it; "" if an older program wrote it.
    """

    tx: int
    at: Millis
    format: int
    embedder: str
    dimension: int
    generation: int
    pid: int
    turns: int
    segments: int
    sentences: int
    facts: int
    assertions: int
    episodes: int
    beliefs: int
    points: int = 0
    aliases: int = 0
    questions: int = 0
    day: int = 0
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    jobs: int = 0
    reader: int = 0
    key: str = field(default="", repr=False)

    def count(self, kind: TableKind) -> int:
        """Return how many rows it has in the table of a kind."""
        return self.points if kind == "point_vectors" else int(getattr(self, kind))

    def table(self, kind: TableKind) -> str:
        """Return the name of the table of a kind that it has rows in."""
        return table_name(kind, self.generation, self.reader)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables that it has rows in."""
        return tables_of(self.generation, self.reader)

    def switched(self, at: Millis, **changes: Any) -> Commit:
        """Return the commit after this one that switches over to other derived tables, and brings no rows of its own.

        Args:
            at: the moment.
            changes: the fields that differ: the counts of rows in the new tables, and what else is new.
        """
        kept = {"embedder": self.embedder, "dimension": self.dimension, "generation": self.generation}
        zeros = dict.fromkeys((f.name for f in fields(Commit)), 0)
        own = {"tx": self.tx + 1, "at": at, "format": FORMAT, "pid": os.getpid(), "reader": self.reader}
        key = self.key or secrets.token_hex(KEY_BYTES)
        return Commit(**{**zeros, **kept, **own, "key": key, **changes})

    @property
    def outlay(self) -> Reservation | None:
        """The costs of requests to a language model; None for most commits."""
        if not self.day:
            return None
        return Reservation(self.day, Spending(self.calls, self.input_tokens, self.cached_tokens, self.output_tokens))


def commit_rows(*commits: Commit) -> TableRows:
    """Return commits as a table, one row each."""
    import pyarrow as pa

    schema = pa.schema(
        [pa.field(f.name, pa.string() if f.type == "str" else pa.int64(), nullable=False) for f in fields(Commit)]
    )
    return pa.Table.from_pylist([asdict(commit) for commit in commits], schema=schema)


def commits_of(rows: TableRows) -> list[Commit]:
    """Return the commits of some rows, by number; a count that an older format does not have is 0."""
    zeros: dict[str, Any] = {**dict.fromkeys((f.name for f in fields(Commit)), 0), "key": ""}
    counts = ({n: value for n, value in row.items() if n in zeros and value is not None} for row in rows.to_pylist())
    return sorted((Commit(**(zeros | row)) for row in counts), key=lambda commit: commit.tx)


_FIRST_COLUMNS = frozenset(
    ("tx", "at", "format", "embedder", "dimension", "generation", "pid", "turns", "segments", "sentences")
)
"""Of the commits of format 1; each later one has them, too."""


def lacks_columns(name: str, names: Sequence[str]) -> bool:
    """Return whether a table with these columns cannot be what was written: another program's, a manifest of zeros."""
    needed = _FIRST_COLUMNS if name == COMMITS else {"tx", "space"} if name in LOG_TABLES else set()
    return not names or not needed.issubset(names)


def with_tx(rows: TableRows, tx: int) -> TableRows:
    """Return rows of any table with ``tx`` as their commit's number."""
    import pyarrow as pa

    column = rows.schema.get_field_index("tx")
    return rows.set_column(column, rows.schema.field(column), pa.array(np.full(len(rows), tx, dtype=np.int64)))


def split_commits(commits: list[Commit]) -> Iterator[list[Commit]]:
    """Yield the commits in parts of some thousand sentences, beliefs, points, questions or jobs, to be read at once."""
    part: list[Commit] = []
    size = 0
    for commit in commits:
        part.append(commit)
        size += commit.sentences + commit.beliefs + commit.points + commit.questions + commit.jobs
        if size >= PART:
            yield part
            part, size = [], 0
    if part:
        yield part


def without_repeats(rows: TableRows | None, *, local: bool) -> TableRows | None:
    """Return rows each once: on object storage a server that was stopped may append rows twice (``bucket_journal.py``).

    Rows without a place and an id are returned as they are, unless they are commits.
    """
    if local or rows is None:
        return rows
    keys = [key for key in ("tx", "place", "id") if key in rows.column_names]
    if keys == ["tx"] and "generation" not in rows.column_names:
        return rows
    seen = {key: place for place, key in enumerate(zip(*(rows[key].to_pylist() for key in keys), strict=True))}
    return rows if len(seen) == len(rows) else rows.take(sorted(seen.values()))


def sum_outlays(outlays: Sequence[Reservation]) -> dict[str, int]:
    """Return the costs as columns of a commit; none for no costs.

    Raises:
        ValueError: they are of several days, which a commit cannot hold.
    """
    if not outlays:
        return {}
    if len({outlay.day for outlay in outlays}) > 1:
        raise ValueError("a commit holds what was spent on one day")
    cost = sum((outlay.what for outlay in outlays), Spending())
    return {
        "day": outlays[0].day,
        "calls": cost.calls,
        "input_tokens": cost.input_tokens,
        "cached_tokens": cost.cached_tokens,
        "output_tokens": cost.output_tokens,
    }


# Columns of rows that are written


def vector_column(vectors: Matrix) -> Any:
    """Return vectors, shape ``(n, d)``, as a column."""
    import pyarrow as pa

    flat = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), vectors.shape[1])


def to_json(value: object) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
