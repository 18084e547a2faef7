"""Check every row of a store: what stands in it is what a program that makes no mistake writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mcp_memory.codec import Misread, fields_of
from mcp_memory.codec import read as read_value
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.episodes import Belief
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.points import MIN_ENTITIES, Point
from mcp_memory.domain.turns import Segment, Sentence
from mcp_memory.storage.backups import fold
from mcp_memory.storage.columns import vectors_of
from mcp_memory.storage.log import rows_of
from mcp_memory.storage.rows import DERIVED, LAYOUTS, LOGGED, values_of
from mcp_memory.storage.schema import FORMAT, LOG_KINDS, OWN, TABLE_KINDS, Commit, RowKind, TableRows, split_commits
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Vector

LENGTH_TOLERANCE = 0.01
"""How far from 1 a vector's length may be; float32 and int8 models stay within 0.001."""


async def row_problems(store: Any) -> list[str]:
    """Return what is wrong with the rows of a store, in words, when all of them are in the tables."""
    return list(dict.fromkeys(f"{problem} ({row})" for problem, row in _faults(Tables(store._place))))


Fault = tuple[str, str]
"""A problem, and the row that has it."""


def _faults(tables: Tables) -> Iterator[Fault]:
    fold(tables)
    last = tables.log.last
    if last is None:
        return
    if last.format != FORMAT:
        yield f"the store has another format than this program's {FORMAT}", str(last.format)
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
                yield f"turns: {fault}", turn.id
            if turn.id in known:
                yield "turns: the id stands twice", turn.id
            known[turn.id] = turn.space, len(turn.text or "")
        for kind, fault, row in _row_faults(read, known, last.dimension):
            yield f"{kind}: {fault}", row
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
        own = [vector if vector.any() else None for vector in vectors_of(rows, OWN, dimension)]  # of sentences
        vectors = vectors_of(rows) if "vector" in rows.column_names else own
        if kind == "point_vectors":
            for tx, vector in zip(rows["tx"].to_pylist(), vectors, strict=True):
                yield from ((kind, fault, f"commit {tx}") for fault in vector_faults(vector, dimension))
            continue
        for value, vector in zip(values_of(kind, rows), vectors, strict=True):
            found = list(row_faults(kind, value, known.get(getattr(value, "turn_id", "")), vector, dimension))
            yield from ((kind, fault, _name(value)) for fault in found)


def _count_faults(
    commits: list[Commit], rebuilt: int, reread: int, last_beliefs: int, read: Mapping[RowKind, TableRows | None]
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
                yield f"{kind}: a commit has other rows than it says", f"commit {commit.tx}"


def _name(value: Any) -> str:
    value = value[1] if isinstance(value, tuple) else value
    return str(getattr(value, "id", getattr(value, "turn_id", value)))


def row_faults(
    kind: RowKind, value: Any, turn: tuple[str, int] | None = None, vector: Vector | None = None, dimension: int = 0
) -> Iterator[str]:
    """Yield the faults of a row, in words.

    Args:
        kind: its table.
        value: as read.
        turn: space and length, in characters, of the text that a piece or an assertion names, if there is one.
        vector: of the row, where it has one and it was read.
        dimension: the dimension that vectors should have; 0 for any.
    """
    if isinstance(value, tuple):
        if value[0] is None:
            yield "a required column is empty"
        value = value[1]
    unread = next((f.name for f in fields_of(LAYOUTS[kind]) if _is_json(f.kind) and _lacks(value, f.name)), None)
    if unread:
        yield f"its {unread} cannot be read"
        return
    found = list(_field_faults(value))
    yield from found or _own_faults(kind, value, turn, dimension)
    if vector is not None:
        yield from vector_faults(vector, dimension, "its vector")


def _field_faults(value: Any) -> Iterator[str]:
    """Yield what the fields of a value hold that they cannot."""
    for field in fields_of(type(value)):
        held = getattr(value, field.name)
        if held is None and not field.optional:
            yield "a required column is empty"
        elif held is not None and field.kind in (str, int, float, bool):
            try:
                read_value(field.hint, held)
            except Misread:
                yield f"its {field.name} is {held!r}"


def _is_json(kind: type) -> bool:
    return kind not in (str, int, float, bool, bytes, object)


def _lacks(value: Any, name: str) -> bool:
    return getattr(value, name) is None


def _own_faults(kind: RowKind, value: Any, turn: tuple[str, int] | None, dimension: int) -> Iterator[str]:
    """Yield what is wrong with a value of which each field can be right."""
    if isinstance(value, (Segment, Sentence, Assertion)):
        if turn is None:
            yield "it belongs to no stored turn"
        elif turn[0] != value.space:
            yield "it lies in another space than its turn"
        elif not value.start <= value.end <= turn[1]:
            yield "its span lies outside its text"
    match value:
        case Assertion():
            if value.extractor not in (LOGGED if kind == "facts" else DERIVED):
                yield f"its extractor is {value.extractor!r}"
            if value.since >= value.until:
                yield "it ends before it begins"
        case Segment():
            if value.first > value.last:
                yield "it names no sentences"
        case Job():
            if bool(value.holder) != (value.state == "leased"):
                yield f"its state is {value.state!r}, and its holder {value.holder!r}"
        case Point():
            if (value.status == "merged") != bool(value.merged_into):
                yield f"its status is {value.status!r}, and it was merged into {value.merged_into!r}"
            if len({entity_key(name) for name in value.entities}) < MIN_ENTITIES:
                yield f"it joins fewer than {MIN_ENTITIES} entities"
        case Belief():
            for name, vector in (("task", value.task), ("time", value.time)):
                if vector is not None:
                    yield from vector_faults(vector, dimension, f"its {name} vector")


def vector_faults(vector: Vector, dimension: int = 0, subject: str = "it") -> Iterator[str]:
    """Yield the faults of a vector, which ``subject`` names: its number of dimensions, or its length."""
    if dimension and len(vector) != dimension:
        yield f"{subject} has {len(vector)} numbers, not {dimension}"
        return
    length = float(np.linalg.norm(vector))
    if not abs(length - 1) <= LENGTH_TOLERANCE:  # true for NaN as well
        yield f"{subject} has the length {length:.3f}"
