"""The store's format: the kinds of rows, the commit, and the number that every row carries.

The log (``log.py``) holds what nothing else yields, one line for each commit. Everything in LanceDB is derived from it
and has one table for each *generation*, since a rebuild makes new tables next to the old ones. The columns of a table
are the fields of the domain's dataclass and more: ``tx``, the number of the commit that a row belongs to; ``place``,
its position within that commit, where the order of recording matters; and ``vector``. ``rows.py`` converts both ways.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from mcp_memory.domain.language_model import Reservation, Spending
from mcp_memory.domain.times import Millis
from mcp_memory.vectors import Matrix

TableRows = Any
"""A pyarrow table; pyarrow comes without types."""

FORMAT = 12
"""The format of log and tables. It is raised whenever an older program could not read, or would damage, what a newer
one wrote. Up to format 10 the log was in tables of LanceDB, in 11 in one file; neither is read by this program: an
export of the older program brings such a memory over. CONTRIBUTING.md, "A change of the store's format", says how."""

KEY_BYTES = 16
"""Length of the key of a store."""

PART = 8192
"""Sentences read at once: 12 MB of vectors; or beliefs, which have two each."""

LogKind = Literal["turns", "facts", "episodes", "points", "aliases", "jobs", "questions"]
"""What no rebuild can make again: what was said, what callers asserted or a language model was paid to read, what
judges said of episodes, memory points, aliases, how far a language model has read each text, and the question pool."""
TableKind = Literal["segments", "sentences", "assertions", "beliefs", "point_vectors", "questions"]
"""What has tables in LanceDB, which a rebuild makes again: pieces of texts, what the embedded engine read in them, what
the lessons in ``episodes`` taught, the vectors of the descriptions in ``points``, and the questions with theirs."""
LOG_KINDS: tuple[LogKind, ...] = get_args(LogKind)
TABLE_KINDS: tuple[TableKind, ...] = get_args(TableKind)
RowKind = LogKind | TableKind


def table_name(kind: TableKind, generation: int, reader: int) -> str:
    """Return the name of the table of a kind.

    Args:
        kind: the kind of the table.
        generation: the generation of the tables.
        reader: the reader of the assertions (`Commit.reader`); other tables do not depend on it.
    """
    return f"{kind}_{reader}_{generation}" if kind == "assertions" and reader else f"{kind}_{generation}"


def generation_of(table: str) -> int | None:
    """Return the generation that a table belongs to; None for a table of another program."""
    number = table.rpartition("_")[2]
    return int(number) if number.isdigit() else None


@dataclass(frozen=True, slots=True)
class Commit:
    """The end of a transaction: with its line in the log its rows become visible.

    Attributes:
        tx: its number; 1, 2, … without gaps.
        at: when it was written.
        format: the format, see `FORMAT`.
        embedder: the model that made the vectors.
        dimension: the dimension of the vectors.
        generation: the generation of the tables.
        pid: the process that wrote it.
        turns, facts, episodes, points, aliases, jobs, questions: how many rows of this kind it has in the log; of
            points and questions as many in their tables.
        segments, sentences, assertions, beliefs: how many rows it has in the table of this kind; the commit of a
            rebuild, or of a forget, counts all of them. Compaction may have removed beliefs that a later row about the
            same sentence replaces.
        day: the day that the amounts below count for, see `Reservation`, which has no other table; 0 for none.
        calls: requests to a language model; this and the amounts below are negative if they correct an earlier row.
        input_tokens: the input tokens of these requests.
        cached_tokens: the cached tokens of these requests.
        output_tokens: the output tokens of these requests.
        reader: the version of the extractor that read the assertions of the embedded engine in this store, which are in
            ``assertions_<reader>_<generation>``; 0 for none, in ``assertions_<generation>``. A commit has that of the
            commit before it; a rebuild has its own.
        forgets: how many records the book of what was forgotten has (``forgotten.py``).
        key: the key of the store's ids (``domain/ids.py``), in hex digits: a random one in the first commit, in each
            later one that of the commit before it.
    """

    tx: int
    at: Millis
    format: int
    embedder: str
    dimension: int
    generation: int
    pid: int
    turns: int = 0
    segments: int = 0
    sentences: int = 0
    facts: int = 0
    assertions: int = 0
    episodes: int = 0
    beliefs: int = 0
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
    forgets: int = 0
    key: str = field(default="", repr=False)

    def count(self, kind: RowKind) -> int:
        """Return how many rows of a kind it has."""
        return self.points if kind == "point_vectors" else int(getattr(self, kind))

    def table(self, kind: TableKind) -> str:
        """Return the name of the table of a kind that it has rows in."""
        return table_name(kind, self.generation, self.reader)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables that it has rows in."""
        return tuple(map(self.table, TABLE_KINDS))

    def next(self, at: Millis, **changes: Any) -> Commit:
        """Return the commit after this one: without rows of its own, but for what ``changes`` say.

        Args:
            at: the moment.
            changes: the fields that differ: counts of rows, and what else is new.
        """
        kept = {"embedder": self.embedder, "dimension": self.dimension, "generation": self.generation}
        kept |= {"reader": self.reader, "forgets": self.forgets, "key": self.key or secrets.token_hex(KEY_BYTES)}
        return Commit(**{**kept, "tx": self.tx + 1, "at": at, "format": FORMAT, "pid": os.getpid(), **changes})

    @property
    def outlay(self) -> Reservation | None:
        """The costs of requests to a language model; None for most commits."""
        if not self.day:
            return None
        return Reservation(self.day, Spending(self.calls, self.input_tokens, self.cached_tokens, self.output_tokens))


def older_format(uri: str) -> str:
    """Return in words what to do with a memory of an older program."""
    return (
        f"storage.uri {uri!r} holds a memory of an older mcp-memory, whose format this program does not read. Nothing "
        "was changed. Bring it over: with the program that wrote it `mcp-memory export FILE`; then set storage.uri to "
        "a new place, and with this one `mcp-memory import FILE`."
    )


def with_tx(rows: TableRows, tx: int) -> TableRows:
    """Return rows of any table with ``tx`` as their commit's number."""
    import pyarrow as pa

    column = rows.schema.get_field_index("tx")
    return rows.set_column(column, rows.schema.field(column), pa.array(np.full(len(rows), tx, dtype=np.int64)))


ItemT = TypeVar("ItemT")


def split_commits(items: Iterable[ItemT], commit_of: Callable[[ItemT], Commit]) -> Iterator[list[ItemT]]:
    """Group items, each of a commit, into parts of some thousand large rows, each to be read at once."""
    part: list[ItemT] = []
    size = 0
    for item in items:
        part.append(item)
        commit = commit_of(item)
        size += 1 + commit.sentences + commit.beliefs + commit.points + commit.questions + commit.jobs
        if size >= PART:
            yield part
            part, size = [], 0
    if part:
        yield part


def without_repeats(rows: TableRows | None, *, local: bool) -> TableRows | None:
    """Return rows each once: on object storage a server that was stopped may append rows twice (``tables.py``)."""
    keys = [key for key in ("tx", "place", "id") if rows is not None and key in rows.column_names]
    if local or rows is None or keys == ["tx"]:
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


OWN = "own"
"""The column of the vectors that sentences have of their own. LanceDB takes no gaps in one that is named a vector."""


def gap_column(vectors: Matrix) -> Any:
    """Return vectors, shape ``(n, d)``, as a column with a gap for each of zeros.

    In a column of fixed length, which LanceDB could search, a gap takes as much room as a vector.
    """
    import pyarrow as pa

    held = vectors.any(axis=1)
    ends = np.concatenate([[0], np.cumsum(held) * vectors.shape[1]])
    offsets = pa.array(ends, pa.int32(), mask=np.append(~held, False))  # a gap at an offset is one in the column
    return pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(vectors[held]).reshape(-1)))


def to_json(value: object) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
