"""Columns: what of the domain's dataclasses stands in a table, and how it gets there (``rows.py`` is the way back).

The columns are the fields of the dataclasses, and more: ``tx``, the commit that a row belongs to; for segments and
sentences their ``vector``; for assertions their ``place`` within the commit, since those of one commit lie in two
tables and the order of recording runs through both; and for lessons and beliefs likewise, since a later one counts and
an earlier one does not, or the other way round. So it is with the revisions of points, and their vectors, which are
derived and stand in a table of their own, have the numbers and places of theirs.

A row of ``episodes`` is a lesson. What is asked of it by column stands in columns; the labels and the rest of the
episode, which nobody searches, are JSON: what a later program knows more of an episode needs no other table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from mcp_memory.domain.aliases import Alias
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.jobs import Job
from mcp_memory.domain.points import Point
from mcp_memory.domain.questions import PooledQuestion
from mcp_memory.domain.spending import Reservation, Spending
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.vectors import Matrix, Vector

Rows = Any
"""A pyarrow table, which comes without types."""

FORMAT = 6
"""Of the tables. Raised whenever an older program could not read, or would spoil, what a newer one wrote; 1 knew of no
assertions, 2 of no lessons, 3 of no memory points, 4 of no aliases and no questions, nor of what was spent, 5 of no
jobs, and that what Claude read stands in ``facts``. CONTRIBUTING.md, "The store's format", says how to change it."""
READABLE = 2
"""The oldest format that is read as it is. A store of it is of the present one from the next commit on; an older one is
rebuilt from its log."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The row that makes a transaction's rows visible.

    Attributes:
        tx: its number; 1, 2, … without gaps.
        at: when it was written.
        format: of the tables, see `FORMAT`.
        embedder: what made the vectors.
        dimension: of the vectors.
        generation: of the derived tables.
        pid: the process that wrote it.
        turns: rows in ``turns``.
        segments: rows in ``segments_<generation>``; of a rebuild, all of them.
        sentences: rows in ``sentences_<generation>``; of a rebuild, all of them.
        facts: rows in ``facts``, whose assertions are of callers and of Claude.
        assertions: rows in ``assertions_<generation>``; of a rebuild, all of them.
        episodes: rows in ``episodes``.
        beliefs: rows in ``beliefs_<generation>``; of a rebuild, all of them. Those that a later one of the same
            sentence takes the place of may be gone (``compaction.py``).
        points: rows in ``points``, and in ``point_vectors_<generation>``.
        aliases: rows in ``aliases``.
        questions: rows in ``questions_<generation>``; a rebuild takes them over with their numbers.
        day: that what follows counts for, see `Reservation`, whose one table this is; 0 where nothing does.
        calls: that asking a language model has cost; this and what follows is below 0 where it corrects an earlier row.
        input_tokens: likewise.
        cached_tokens: likewise.
        output_tokens: likewise.
        jobs: rows in ``jobs``. Those that a later one of the same turn takes the place of may be gone, as of beliefs.
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

    @property
    def outlay(self) -> Reservation | None:
        """What asking a language model has cost; None for most commits."""
        what = Spending(self.calls, self.input_tokens, self.cached_tokens, self.output_tokens)
        return Reservation(self.day, what) if self.day else None


def commit_rows(commit: Commit) -> Rows:
    """Return a commit as a table of one row."""
    import pyarrow as pa

    schema = pa.schema(
        [pa.field(f.name, pa.string() if f.name == "embedder" else pa.int64(), nullable=False) for f in fields(Commit)]
    )
    return pa.Table.from_pylist([asdict(commit)], schema=schema)


def turn_rows(turns: Sequence[Turn], txs: Sequence[int]) -> Rows:
    """Return turns as rows, each with its commit's number."""
    import pyarrow as pa

    optional = {"speaker", "role", "title", "said_at"}
    numbers = {"said_at", "written_at", "revision", "place"}
    columns = {"tx": pa.array(txs, pa.int64())}
    for name in (f.name for f in fields(Turn)):
        columns[name] = pa.array(
            [getattr(turn, name) for turn in turns], pa.int64() if name in numbers else pa.string()
        )
    schema = pa.schema([pa.field(name, col.type, nullable=name in optional) for name, col in columns.items()])
    return pa.table(columns, schema=schema)


def segment_rows(segments: Sequence[Segment], vectors: Matrix, txs: Sequence[int]) -> Rows:
    """Return segments as rows, each with its vector and its commit's number."""
    return _piece_rows(Segment, segments, vectors, txs)


def sentence_rows(sentences: Sequence[Sentence], vectors: Matrix, txs: Sequence[int]) -> Rows:
    """Return sentences as rows, each with its vector and its commit's number."""
    return _piece_rows(Sentence, sentences, vectors, txs)


def assertion_rows(assertions: Sequence[Assertion], places: Sequence[int], txs: Sequence[int]) -> Rows:
    """Return assertions as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    kinds = {"str": pa.string(), "int": pa.int64(), "Millis": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    columns = {"tx": pa.array(txs, pa.int64()), "place": pa.array(places, pa.int64())}
    for field in fields(Assertion):
        kind = kinds.get(str(field.type), pa.string())  # a Literal is a text
        columns[field.name] = pa.array([getattr(assertion, field.name) for assertion in assertions], kind)
    return pa.table(columns)


def lesson_rows(lessons: Sequence[Lesson], places: Sequence[int], txs: Sequence[int]) -> Rows:
    """Return lessons as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    return pa.table(
        {
            "tx": pa.array(txs, pa.int64()),
            "place": pa.array(places, pa.int64()),
            "episode_id": pa.array([lesson.episode_id for lesson in lessons], pa.string()),
            "space": pa.array([lesson.space for lesson in lessons], pa.string()),
            "query": pa.array([lesson.query for lesson in lessons], pa.string()),
            "asked_at": pa.array([lesson.asked_at for lesson in lessons], pa.int64()),
            "source": pa.array([lesson.source for lesson in lessons], pa.string()),
            "at": pa.array([lesson.at for lesson in lessons], pa.int64()),
            "labels": pa.array([_json(dict(lesson.labels)) for lesson in lessons], pa.string()),
            "trace": pa.array([lesson.trace for lesson in lessons], pa.string()),
        }
    )


def belief_rows(beliefs: Sequence[Belief], places: Sequence[int], txs: Sequence[int]) -> Rows:
    """Return beliefs as rows, each with its place within its commit and with its commit's number.

    A sentence without a time has zeros for its time vector: LanceDB takes no column of vectors with gaps in it.
    """
    import pyarrow as pa

    def vectors(of: Sequence[Vector]) -> Any:
        matrix = np.array(of, dtype=np.float32)
        return pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), matrix.shape[1])

    kinds = {"sentence_id": pa.string(), "space": pa.string(), "supported": pa.int64(), "unsupported": pa.int64()}
    columns = {"tx": pa.array(txs, pa.int64()), "place": pa.array(places, pa.int64())}
    for name in (f.name for f in fields(Belief)):
        values = [getattr(belief, name) for belief in beliefs]
        if name == "task":
            columns[name] = vectors(values)
        elif name == "time":
            columns[name] = vectors([np.zeros_like(b.task) if b.time is None else b.time for b in beliefs])
        else:
            columns[name] = pa.array(values, kinds.get(name, pa.float64()))
    return pa.table(columns)


def point_rows(points: Sequence[Point], places: Sequence[int], txs: Sequence[int]) -> Rows:
    """Return revisions of points as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    kinds = {"tx": pa.int64(), "place": pa.int64(), "revision": pa.int64(), "at": pa.int64()}
    columns: dict[str, Sequence[Any]] = {"tx": txs, "place": places}
    for name in (f.name for f in fields(Point)):
        values = [getattr(point, name) for point in points]
        columns[name] = [_json(value) if isinstance(value, tuple) else value for value in values]
    return pa.table({name: pa.array(values, kinds.get(name, pa.string())) for name, values in columns.items()})


def point_vector_rows(vectors: Matrix, places: Sequence[int], txs: Sequence[int]) -> Rows:
    """Return the vectors of what points say as rows, with the places and numbers of the revisions that they are of."""
    import pyarrow as pa

    flat = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1)
    return pa.table(
        {
            "tx": pa.array(txs, pa.int64()),
            "place": pa.array(places, pa.int64()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(flat), vectors.shape[1]),
        }
    )


def alias_rows(aliases: Sequence[Alias], places: Sequence[int], txs: Sequence[int]) -> Rows:
    """Return aliases as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    columns = {"tx": pa.array(txs, pa.int64()), "place": pa.array(places, pa.int64())}
    for name in (f.name for f in fields(Alias)):
        kind = pa.int64() if name == "at" else pa.string()
        columns[name] = pa.array([getattr(one, name) for one in aliases], kind)
    return pa.table(columns)


def job_rows(jobs: Sequence[Job], places: Sequence[int], txs: Sequence[int]) -> Rows:
    """Return jobs as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    texts = {"space", "turn_id", "state", "holder"}
    columns = {"tx": pa.array(txs, pa.int64()), "place": pa.array(places, pa.int64())}
    for name in (f.name for f in fields(Job)):
        columns[name] = pa.array([getattr(job, name) for job in jobs], pa.string() if name in texts else pa.int64())
    return pa.table(columns)


def question_rows(
    questions: Sequence[tuple[str, PooledQuestion]], vectors: Matrix, places: Sequence[int], txs: Sequence[int]
) -> Rows:
    """Return questions as rows, each with its vector, its place within its commit and its commit's number."""
    import pyarrow as pa

    flat = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1)
    return pa.table(
        {
            "tx": pa.array(txs, pa.int64()),
            "place": pa.array(places, pa.int64()),
            "space": pa.array([space for space, _ in questions], pa.string()),
            "segment_id": pa.array([one.segment_id for _, one in questions], pa.string()),
            "text": pa.array([one.text for _, one in questions], pa.string()),
            "entities": pa.array([_json(sorted(one.entities)) for _, one in questions], pa.string()),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(flat), vectors.shape[1]),
        }
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _piece_rows(kind: type, pieces: Sequence[Segment | Sentence], vectors: Matrix, txs: Sequence[int]) -> Rows:
    import pyarrow as pa

    time = pa.struct(
        [(name, pa.int64()) for name in ("start", "end", "since", "until")]
        + [("grain", pa.string()), ("relative", pa.bool_())]
    )
    columns = {"tx": pa.array(txs, pa.int64())}
    for name in (f.name for f in fields(kind)):
        if name == "times":
            values = [[asdict(time) for time in piece.times] for piece in pieces if isinstance(piece, Sentence)]
            columns[name] = pa.array(values, pa.list_(time))
        else:
            kept = pa.string() if name in {"id", "space", "turn_id"} else pa.int64()
            columns[name] = pa.array([getattr(piece, name) for piece in pieces], kept)
    flat = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(flat), vectors.shape[1])
    return pa.table(columns)


def numbered(rows: Rows, tx: int) -> Rows:
    """Return rows of any table with this as their commit's number."""
    import pyarrow as pa

    place = rows.schema.get_field_index("tx")
    return rows.set_column(place, rows.schema.field(place), pa.array(np.full(len(rows), tx, dtype=np.int64)))
