"""The store's format: the kinds of rows, the commit, and values as rows and back.

The log (``log.py``) holds what nothing else yields; a row of it is a JSON object with the fields of its dataclass
(`LAYOUTS`) and its place within the commit. What is derived has a table in LanceDB for each kind and *generation*,
since a rebuild makes new tables next to the old ones. A table has a column for each field, and more: ``tx``, the number
of the commit; ``place``, where the order of recording matters; and ``vector``. Collections of texts are JSON in a text.

The assertions of callers and of Claude stand in ``facts``, part of the log, those of the embedded engine in
``assertions_<reader>_<generation>``; ``place`` orders both together. Points and questions are in the log, too: their
tables have the vectors, and one that is missing is zeros, similar to nothing.

A field that an older program did not have is read as empty. The log and the files of the tables have sums, so a row
that is read is what was written. Only its text may be gone, with a line of the log: its pieces and assertions are left
out then.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count, islice
from sys import intern
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from mcp_memory.codec import Field, fields_of, read
from mcp_memory.domain.batch import Batch, FindTurn
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.facts import Assertion, ExtractorName
from mcp_memory.domain.language_model import Job, Reservation, Spending
from mcp_memory.domain.points import Point
from mcp_memory.domain.times import Millis, StatedTime
from mcp_memory.domain.turns import PooledQuestion, Segment, Sentence, Turn
from mcp_memory.vectors import Matrix, Vector

TableRows = Any
"""A pyarrow table; pyarrow comes without types."""

FORMAT = 12
"""The format of log and tables. It is raised whenever an older program could not read, or would damage, what a newer
one wrote. Up to format 10 the log was in tables of LanceDB, in 11 in one file; neither is read by this program: an
export of the older program brings such a memory over. CONTRIBUTING.md, "A change of the store's format", says how."""

KEY_BYTES = 16
"""Length of the key of a store."""

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
    """Return the name of the table of a kind; that of assertions alone depends on their reader (`Commit.reader`)."""
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
        turns, facts, episodes, points, aliases, jobs, questions: how many rows of this kind it has in the log; of
            points and questions as many in their tables.
        segments, sentences, assertions, beliefs: how many rows it has in the table of this kind; the commit of a
            rebuild, or of a forget, counts all of them.
        day: the day that the amounts below count for, see `Reservation`, which has no other table; 0 for none.
        calls: requests to a language model; this and the amounts below are negative if they correct an earlier row.
        input_tokens: the input tokens of these requests.
        cached_tokens: the cached tokens of these requests.
        output_tokens: the output tokens of these requests.
        reader: the version of the extractor that read the assertions of the embedded engine in this store, which are in
            ``assertions_<reader>_<generation>``; 0 for none, in ``assertions_<generation>``. A commit has that of the
            commit before it; a rebuild has its own.
        forgets: how many records the book of what was forgotten has (``forget.py``).
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
        """Return the commit after this one: without rows of its own, but for what ``changes`` say."""
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


def costs_of(outlays: Sequence[Reservation]) -> dict[str, int]:
    """Return the costs of requests, all of one day, as fields of a commit; none for no requests."""
    if not outlays:
        return {}
    [day] = {outlay.day for outlay in outlays}
    cost = sum((outlay.what for outlay in outlays), Spending())
    amounts = {name: int(getattr(cost, name)) for name in ("calls", "input_tokens", "cached_tokens", "output_tokens")}
    return {"day": day, **amounts}


LOGGED: frozenset[ExtractorName] = frozenset({"caller", "anthropic"})
"""Extractors whose assertions are in ``facts``: what callers stated or what was paid for. No rebuild changes it."""
DERIVED: frozenset[ExtractorName] = frozenset(get_args(ExtractorName)) - LOGGED
"""Extractors whose assertions stand in ``assertions_<generation>_<reader>`` and are made again by a rebuild."""
EARLIER, MISSING = -1, -2
"""Places in the order of arrival: of a turn that arrived before, and of one that is not there."""
LAYOUTS: dict[RowKind, type] = {
    "turns": Turn,
    "facts": Assertion,
    "episodes": Lesson,
    "points": Point,
    "aliases": Alias,
    "jobs": Job,
    "segments": Segment,
    "sentences": Sentence,
    "assertions": Assertion,
    "beliefs": Belief,
    "questions": PooledQuestion,
}
"""Of each kind the values in its rows."""
OWN = "own"
"""The column of the vectors that sentences have of their own. LanceDB takes no gaps in one that is named a vector."""
Row = dict[str, Any]
"""A row of the log, as JSON has it."""
_PLAIN = (str, int, float, bool)
"""What JSON and a column of its own type hold as it is."""

# Values as rows


def row_of(value: Any, place: int | None = None) -> Row:
    """Return a value as a row of the log, as it was said where it is masked; without what is None.

    Its place is that in its commit; a turn has one of its own.
    """
    value = _as_stored(value)
    row: Row = {} if place is None else {"place": place}
    kind: type = type(value)
    for one in fields_of(kind):
        if (held := getattr(value, one.name)) is not None:
            if one.kind in _PLAIN:
                row[one.name] = one.kind(held)
            else:
                row[one.name] = held.decode() if one.kind is bytes else _as_json(held)
    return row


def rows_of(
    kind: TableKind,
    values: Sequence[Any],
    txs: Sequence[int] | None = None,
    places: Sequence[int] | None = None,
    vectors: Matrix | None = None,
) -> TableRows:
    """Return values as rows of a table, as they were said where they are masked.

    Args:
        kind: the table.
        values: its values; of ``point_vectors`` the points.
        txs: the numbers of their commits; None where they are not known yet.
        places: their places in their commits; None for 0, 1, ….
        vectors: their vectors, shape ``(len(values), d)``, in a table that has a column of them.
    """
    import pyarrow as pa

    columns = {"tx": pa.array([0] * len(values) if txs is None else txs, pa.int64())}
    if kind not in ("segments", "sentences"):
        columns["place"] = pa.array(range(len(values)) if places is None else places, pa.int64())
    fields = fields_of(LAYOUTS[kind]) if kind in LAYOUTS else ()
    kept = list(map(_as_stored, values))
    columns |= {field.name: column_of(field, [getattr(value, field.name) for value in kept]) for field in fields}
    if vectors is not None:
        columns |= {OWN: gap_column(vectors)} if kind == "sentences" else {"vector": vector_column(vectors)}
    return pa.table(columns)


def _as_stored(value: Any) -> Any:
    """Return a value as a table keeps it: of what is masked what was said, and zeros for a time vector that is missing.

    LanceDB takes no column of vectors with gaps in it.
    """
    if isinstance(value, Turn) and value.original is not None:
        return replace(value, text=value.said, title=value.original[1])
    if isinstance(value, Assertion) and value.original is not None:
        return replace(value, head=value.original[0], tail=value.original[1])
    if isinstance(value, Belief) and value.time is None:
        return replace(value, time=np.zeros_like(value.task))
    return value


def rows_by_kind(batch: Batch) -> tuple[dict[LogKind, list[Row]], dict[TableKind, TableRows]]:
    """Return the rows of a batch for the log, and for tables, where they lack only their commit's number, by kind.

    Kinds without rows are absent.
    """

    def assertions_by(extractors: Container[ExtractorName]) -> tuple[Sequence[object], Sequence[int]]:
        places = [place for place, made in enumerate(batch.assertions) if made.extractor in extractors]
        return [batch.assertions[place] for place in places], places

    stated, derived = assertions_by(LOGGED), assertions_by(DERIVED)
    logged: dict[LogKind, list[Row]] = {
        "turns": list(map(row_of, batch.turns)),
        "facts": list(map(row_of, *stated)),
        "episodes": list(map(row_of, batch.lessons, count())),
        "points": list(map(row_of, batch.points, count())),
        "aliases": list(map(row_of, batch.aliases, count())),
        "jobs": list(map(row_of, batch.jobs, count())),
        "questions": list(map(row_of, batch.questions, count())),
    }
    tables: dict[TableKind, tuple[Sequence[object], Sequence[int] | None, Matrix | None]] = {
        "questions": (batch.questions, None, batch.question_vectors),
        "point_vectors": (batch.points, None, batch.point_vectors),
        "beliefs": (batch.beliefs, None, None),
        "assertions": (*derived, None),
        "segments": (batch.segments, None, batch.segment_vectors),
        "sentences": (batch.sentences, None, batch.sentence_vectors),
    }
    made = {
        kind: rows_of(kind, values, places=places, vectors=vectors)
        for kind, (values, places, vectors) in tables.items()
        if values
    }
    return {kind: rows for kind, rows in logged.items() if rows}, made


# Rows as values


def value_of(kind: LogKind, row: Row) -> Any:
    """Return the value of a row of the log."""
    class_ = LAYOUTS[kind]
    return class_(*[_from_row(field, row.get(field.name)) for field in fields_of(class_)])


def _from_row(field: Field, held: Any) -> Any:
    if field.kind is bytes:  # as UTF-8 it takes the least memory
        return (held or "").encode()
    if field.kind in _PLAIN:
        return float(held) if field.kind is float and held is not None else held
    return _from_json(field, held)


def values_of(kind: TableKind, rows: TableRows) -> list[Any]:
    """Return the values of some rows of a table, in their order."""
    class_ = LAYOUTS[kind]
    return list(map(class_, *[values_in(field, rows) for field in fields_of(class_)]))


class StoredRow(NamedTuple):
    """A row that was read: the number of its commit, its place in it, and its value."""

    tx: int
    place: int
    value: Any


def stored_rows(kind: Literal["assertions", "beliefs"], rows: TableRows | None) -> list[StoredRow]:
    """Return the rows of a table in the order of recording."""
    if rows is None:
        return []
    columns = rows["tx"].to_pylist(), rows["place"].to_pylist(), values_of(kind, rows)
    return sorted(map(StoredRow, *columns), key=lambda row: row[:2])


def vectors_for(logged: Sequence[StoredRow], rows: TableRows | None, dimension: int) -> Matrix:
    """Return the vectors of points or questions of the log, shape ``(len(logged), dimension)``, zeros for missing ones.

    They stand in the rows of a table, in any order.
    """
    known: dict[tuple[int, int], Vector] = {}
    if rows is not None:
        keys = zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), strict=True)
        known = dict(zip(keys, vectors_of(rows), strict=True))
    zeros = np.zeros(dimension, dtype=np.float32)
    vectors = [known.get((row.tx, row.place), zeros) for row in logged]
    return np.array(vectors, dtype=np.float32).reshape(len(logged), dimension)


# Pieces of texts, and assertions: only of texts that are there, since a line of the log may be lost


def assertions_in_order(facts: Sequence[StoredRow], derived: TableRows | None, find: FindTurn) -> list[StoredRow]:
    """Return the assertions of some rows in the order of recording.

    Returns:
        By commit and by place within it; at the same place, derived ones come first.
    """
    rows = [*stored_rows("assertions", derived), *facts]
    return sorted((row for row in rows if find(row.value.space, row.value.turn_id)), key=lambda row: row[:2])


def with_pieces(batch: Batch, segments: TableRows, sentences: TableRows, find_earlier: FindTurn) -> Batch:
    """Return a batch, with its turns in order of arrival, with the pieces in some rows, by turn and then by index.

    The rows are in any order, with or without vectors. ``find_earlier`` returns a turn that arrived before these.
    """
    ranks = {turn.id: number for number, turn in enumerate(batch.turns)}

    def in_order(kind: TableKind, rows: TableRows, vectors: Matrix) -> tuple[tuple[Any, ...], Matrix]:
        pieces = values_of(kind, rows)
        for piece in pieces:
            if piece.turn_id not in ranks:
                ranks[piece.turn_id] = EARLIER if find_earlier(piece.space, piece.turn_id) else MISSING
        by_turn = np.array([ranks[piece.turn_id] for piece in pieces], dtype=np.int64)
        order = np.lexsort((rows["index"].to_numpy(), by_turn))
        order = order[by_turn[order] != MISSING]
        if np.array_equal(order, np.arange(len(pieces))):
            return tuple(pieces), vectors
        return tuple(pieces[row] for row in order.tolist()), vectors[order]

    of_segments = vectors_of(segments)
    found, segment_vectors = in_order("segments", segments, of_segments)
    said, sentence_vectors = in_order("sentences", sentences, vectors_of(sentences, OWN, of_segments.shape[1]))
    return replace(
        batch, segments=found, sentences=said, segment_vectors=segment_vectors, sentence_vectors=sentence_vectors
    )


# Values as columns


def column_of(field: Field, values: Sequence[Any]) -> Any:
    """Return the values of a field as a column."""
    import pyarrow as pa

    if field.kind is object:
        return vector_column(np.array(values, dtype=np.float32))
    if field.name == "times":
        time = pa.struct([(one.name, _types()[one.kind]) for one in fields_of(StatedTime)])
        return pa.array([[asdict(one) for one in times] for times in values], pa.list_(time))
    if field.kind not in _types():
        values = list(map(_as_json, values))
    return pa.array(values, _types().get(field.kind, pa.string()))


def _as_json(value: Any) -> str:
    """Return a collection of texts, or a mapping of them, as JSON; a set in the order of its texts."""
    plain = dict(value) if isinstance(value, Mapping) else sorted(value) if isinstance(value, frozenset) else value
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def vector_column(vectors: Matrix) -> Any:
    """Return vectors, shape ``(n, d)``, as a column."""
    import pyarrow as pa

    flat = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), vectors.shape[1])


def gap_column(vectors: Matrix) -> Any:
    """Return vectors, shape ``(n, d)``, as a column with a gap for each of zeros.

    In a column of fixed length, which LanceDB could search, a gap takes as much room as a vector.
    """
    import pyarrow as pa

    held = vectors.any(axis=1)
    ends = np.concatenate([[0], np.cumsum(held) * vectors.shape[1]])
    offsets = pa.array(ends, pa.int32(), mask=np.append(~held, False))  # a gap at an offset is one in the column
    return pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(vectors[held]).reshape(-1)))


def with_tx(rows: TableRows, tx: int) -> TableRows:
    """Return rows of any table with ``tx`` as their commit's number."""
    import pyarrow as pa

    column = rows.schema.get_field_index("tx")
    return rows.set_column(column, rows.schema.field(column), pa.array(np.full(len(rows), tx, dtype=np.int64)))


def _types() -> dict[type, Any]:
    import pyarrow as pa

    return {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


# Columns as values


def values_in(field: Field, rows: TableRows) -> Sequence[Any]:
    """Return what a column holds of a field; of a column that is missing, None."""
    if field.name not in rows.column_names:  # an older format did not have it
        return [None] * len(rows)
    if field.kind is object:
        vectors = vectors_of(rows, field.name)
        return [vector if vector.any() else None for vector in vectors] if field.optional else list(vectors)
    if field.name == "times":
        return _times(rows["times"])
    values = shared_values(rows, field.name)
    return values if field.kind in _types() else [_from_json(field, text) for text in values]


def _times(column: Any) -> list[tuple[StatedTime, ...]]:
    import pyarrow.compute as pc

    flat = pc.list_flatten(column).to_pylist()  # nearly always empty
    stated = iter([StatedTime(**time) for time in flat])
    return [tuple(islice(stated, count)) for count in pc.list_value_length(column).to_pylist()]


def _from_json(field: Field, text: str | None) -> Any:
    value = read(field.hint, json.loads(text)) if text is not None else None
    return {intern(name): one for name, one in value.items()} if isinstance(value, dict) else value  # often the same


def shared_values(rows: TableRows, name: str) -> list[Any]:
    """Return the values of a column, equal ones as one object: most are of a few spaces, sessions, names or moments."""
    encoded = rows[name].combine_chunks().dictionary_encode()
    values = [*encoded.dictionary.to_pylist(), None]
    places: list[int] = encoded.indices.fill_null(len(values) - 1).to_numpy().tolist()
    return [values[place] for place in places]


def vectors_of(rows: TableRows, name: str = "vector", dimension: int = 0) -> Matrix:
    """Return a column of vectors, shape ``(len(rows), d)``, zeros for a missing one; d is 0 if it was not read."""
    if name not in rows.column_names:
        return np.empty((len(rows), 0), dtype=np.float32)
    column = rows[name].combine_chunks()
    flat: NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False)
    dimension = getattr(column.type, "list_size", dimension)
    if not column.null_count:
        return flat.reshape(-1, dimension)
    out: Matrix = np.zeros((len(rows), dimension), dtype=np.float32)
    out[column.is_valid().to_numpy(zero_copy_only=False)] = flat.reshape(-1, dimension)
    return out
