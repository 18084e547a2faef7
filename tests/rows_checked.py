"""Check every row of a store: what stands in it is what a program that makes no mistake writes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.episodes import Belief
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.points import MIN_ENTITIES, Point
from mcp_memory.domain.turns import Segment, Sentence
from mcp_memory.storage.log import logged_rows
from mcp_memory.storage.rows import DERIVED, LOG_KINDS, LOGGED, OWN, TABLE_KINDS, Commit, RowKind, values_of, vectors_of
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Vector

LENGTH_TOLERANCE = 0.01
"""How far from 1 a vector's length may be; float32 and int8 models stay within 0.001."""


async def row_problems(store: Any) -> list[str]:
    """Return what is wrong with the rows of a store, in words, when all of them are in the tables."""
    tables = Tables(store._place)
    tables.fold()
    last = tables.log.last
    if last is None:
        return []
    commits, entries = list(tables.log.commits(until=last.tx)), list(tables.log.entries(0, last.tx))
    logged = {kind: logged_rows(entries, kind) for kind in LOG_KINDS}
    stored = {kind: tables.rows(last.table(kind), f"tx <= {last.tx}") for kind in TABLE_KINDS}
    turns = [row.value for row in logged["turns"]]
    known = {turn.id: (turn.space, len(turn.text)) for turn in turns}
    found = ["an id of a turn stands twice"] if len(known) < len(turns) else []
    for kind, listed in logged.items():
        values = [row.value for row in listed]
        found += [f"{kind}: {fault}" for fault in _value_faults(kind, values, known, last.dimension)]
    for table, rows in stored.items():
        if rows is not None:
            own = [vector for vector in vectors_of(rows, OWN, last.dimension) if vector.any()]  # of sentences
            vectors = vectors_of(rows) if "vector" in rows.column_names else own
            found += [f"{table}: {fault}" for vector in vectors for fault in _vector_faults(vector, last.dimension)]
            values = values_of(table, rows) if table != "point_vectors" else []
            found += [f"{table}: {fault}" for fault in _value_faults(table, values, known, last.dimension)]
    counted = {kind: Counter(rows["tx"].to_pylist() if rows is not None else ()) for kind, rows in stored.items()}
    of_log = {kind: Counter(row.tx for row in listed) for kind, listed in logged.items()}
    return list(dict.fromkeys((*found, *_count_faults(commits, counted), *_count_faults(commits, of_log))))


def _value_faults(
    kind: RowKind, values: Sequence[Any], known: Mapping[str, tuple[str, int]], dimension: int
) -> Iterator[str]:
    """Yield the faults of the values of a kind; ``known`` has space and length of each turn."""
    for value in values:
        if isinstance(value, (Segment, Sentence, Assertion)):
            space, length = known.get(value.turn_id, ("", 0))
            if value.space != space or not value.start <= value.end <= length:
                yield f"{value.id} does not lie within a turn of its space"
        match value:
            case Assertion() if value.extractor not in (LOGGED if kind == "facts" else DERIVED):
                yield f"{value.id} is of {value.extractor}"
            case Assertion() if value.since >= value.until:
                yield f"{value.id} ends before it begins"
            case Point() if len({entity_key(name) for name in value.entities}) < MIN_ENTITIES:
                yield f"{value.id} joins too few entities"
            case Belief():
                for vector in (value.task, *([] if value.time is None else [value.time])):
                    yield from _vector_faults(vector, dimension)


def _vector_faults(vector: Vector, dimension: int) -> Iterator[str]:
    length = float(np.linalg.norm(vector))
    if len(vector) != dimension or not abs(length - 1) <= LENGTH_TOLERANCE:  # true for NaN as well
        yield f"a vector has {len(vector)} numbers and the length {length:.3f}"


def _count_faults(commits: list[Commit], read: Mapping[Any, Counter[int]]) -> Iterator[str]:
    """Compare the rows of each commit with the counts in it; those of tables only if no rebuild replaced them."""
    last = commits[-1]
    rebuilt = min(commit.tx for commit in commits if commit.generation == last.generation) if last.generation else 0
    others = [commit.tx for commit in commits if (commit.generation, commit.reader) != (last.generation, last.reader)]
    reread = max(others, default=-1) + 1  # the commit since which the assertions are in their table
    last_beliefs = max((commit.tx for commit in commits if commit.beliefs), default=0)
    for kind, stored in read.items():
        for commit in commits:
            count, expected = stored[commit.tx], commit.count(kind)
            compacted = kind == "beliefs" and commit.tx < last_beliefs and count < expected
            since = reread if kind == "assertions" else rebuilt
            if (kind in LOG_KINDS or commit.tx > since) and count != expected and not compacted:
                yield f"{kind}: commit {commit.tx} has {count} rows and says {expected}"
