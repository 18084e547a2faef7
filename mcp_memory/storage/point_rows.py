"""Convert memory points, pooled questions, lessons and beliefs to rows and back, with their vectors.

The revisions of points are part of the log. The vectors of their descriptions are derived, so each generation has its
own table, in which a vector has the commit number and place of its revision. A revision whose vector is missing or
wrong gets zeros: it is similar to nothing, and its description remains.

Questions are derived from segments and facts, so a bad row costs one question, which ``memory_evolve`` makes again. A
rebuild copies the others as they are: the ids of segments follow from the texts, so most questions name the same
segments as before. If a segment was split differently, its questions stay and lead nowhere.

Lessons are judgements of episodes, beliefs the state that they add up to. A row of ``episodes`` is a lesson. Searched
values are columns; the labels and the rest of the episode, which are not searched, are JSON, so that a later program
that records more of an episode needs no other table. The labels are checked when they are read. The trace is not: no
belief depends on it, so a lesson with a damaged trace counts as any other, and doctor reports it (``check.py``).

For each sentence the belief recorded last counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from sys import intern
from typing import Any, get_args

import numpy as np

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.episodes import Belief, Lesson, Target
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.points import MIN_ENTITIES, Point, Status
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.storage.columns import has_fault, int_column, texts_from_json, valid_values, vector_faults, vectors_of
from mcp_memory.storage.schema import TableRows, to_json, tx_columns, vector_column
from mcp_memory.vectors import Matrix, Vector

LISTS = ("entities", "parents", "sentences", "facts")
"""Columns of a point that hold JSON lists."""

PlacedQuestion = tuple[str, PooledQuestion]
"""The space of a question, and the question."""


# Memory points


def point_rows(points: Sequence[Point], places: Sequence[int], txs: Sequence[int]) -> TableRows:
    """Return revisions of points as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    columns = tx_columns(txs, places)
    for name in (f.name for f in fields(Point)):
        values = [getattr(point, name) for point in points]
        texts = [to_json(value) if isinstance(value, tuple) else value for value in values]
        columns[name] = pa.array(texts, pa.int64() if name in {"revision", "at"} else pa.string())
    return pa.table(columns)


def point_vector_rows(vectors: Matrix, places: Sequence[int], txs: Sequence[int]) -> TableRows:
    """Return the vectors of descriptions as rows, with the places and commit numbers of their revisions."""
    import pyarrow as pa

    return pa.table({**tx_columns(txs, places), "vector": vector_column(vectors)})


def points_of(rows: TableRows | None) -> list[tuple[int, int, Point]]:
    """Return the revisions of some rows with commit numbers and places, in the order of recording, without bad ones."""
    return valid_values("points", "id", rows.to_pylist() if rows is not None else (), point_of)


def point_of(row: Mapping[str, Any]) -> Point | str:
    """Return the revision that a row of ``points`` holds, or its fault in words."""
    if any(value is None for name, value in row.items() if name != "merged_into"):
        return "a required column is empty"
    lists = {name: texts_from_json(row[name]) for name in LISTS}
    if unread := next((name for name, texts in lists.items() if texts is None), None):
        return f"its {unread} cannot be read"
    if row["source"] not in get_args(Engine):
        return f"its source is {row['source']!r}"
    if row["status"] not in get_args(Status) or (row["status"] == "merged") != bool(row["merged_into"]):
        return f"its status is {row['status']!r}, and it was merged into {row['merged_into']!r}"
    if len({entity_key(name) for name in lists["entities"] or ()}) < MIN_ENTITIES:
        return f"it joins fewer than {MIN_ENTITIES} entities"
    return Point(**{f.name: row[f.name] for f in fields(Point)} | lists)


def point_vectors_of(points: Sequence[tuple[int, int, Point]], rows: TableRows | None, dimension: int) -> Matrix:
    """Return the vectors of revisions, shape ``(len(points), dimension)``, zeros for a missing one.

    Args:
        points: as `points_of` returns them.
        rows: the rows of ``point_vectors_<generation>``, in any order, or None.
        dimension: the dimension that their vectors should have.
    """
    valid: dict[tuple[int, int], Vector] = {}
    if rows is not None and len(rows):
        for tx, place, vector in zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), vectors_of(rows), strict=True):
            if next(vector_faults(vector, dimension), None) is None:
                valid[tx, place] = vector
    zeros = np.zeros(dimension, dtype=np.float32)
    vectors = [valid.get((tx, place), zeros) for tx, place, _ in points]
    return np.array(vectors, dtype=np.float32).reshape(len(points), dimension)


# Questions


def question_rows(
    questions: Sequence[PlacedQuestion], vectors: Matrix, places: Sequence[int], txs: Sequence[int]
) -> TableRows:
    """Return questions as rows, each with its vector, its place within its commit and its commit's number."""
    import pyarrow as pa

    return pa.table(
        {
            **tx_columns(txs, places),
            "space": pa.array([space for space, _ in questions], pa.string()),
            "segment_id": pa.array([question.segment_id for _, question in questions], pa.string()),
            "text": pa.array([question.text for _, question in questions], pa.string()),
            "entities": pa.array([to_json(sorted(question.entities)) for _, question in questions], pa.string()),
            "vector": vector_column(vectors),
        }
    )


def questions_with_vectors(rows: TableRows | None, dimension: int) -> tuple[tuple[PlacedQuestion, ...], Matrix]:
    """Return the questions of some rows in the order of recording, with their vectors; bad ones are left out.

    Args:
        rows: the rows of ``questions_<generation>``, in any order, or None.
        dimension: the dimension that their vectors should have.
    """
    if rows is None or not len(rows):
        return (), np.empty((0, dimension), dtype=np.float32)
    valid: dict[tuple[int, int], Vector] = {}
    for tx, place, vector in zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), vectors_of(rows), strict=True):
        if not has_fault("questions", str(place), tx, vector_faults(vector, dimension)):
            valid[tx, place] = vector
    questions = [
        (valid[tx, place], question) for tx, place, question in rows_to_questions(rows) if (tx, place) in valid
    ]
    vectors = np.array([vector for vector, _ in questions], dtype=np.float32).reshape(len(questions), dimension)
    return tuple(question for _, question in questions), vectors


def rows_to_questions(rows: TableRows | None) -> list[tuple[int, int, PlacedQuestion]]:
    """Return the questions of some rows with commit numbers and places, in the order of recording, without bad ones."""
    records = rows.drop_columns(["vector"]).to_pylist() if rows is not None else ()
    return valid_values("questions", "text", records, question_of)


def question_of(row: Mapping[str, Any]) -> PlacedQuestion | str:
    """Return the question that a row holds, or its fault in words."""
    if any(value is None for value in row.values()):
        return "a required column is empty"
    entities = texts_from_json(row["entities"])
    if entities is None:
        return "its entities cannot be read"
    return row["space"], PooledQuestion(row["text"], row["segment_id"], frozenset(entities))


def question_faults(rows: TableRows, dimension: int) -> Iterator[tuple[str, str]]:
    """Yield the faulty questions of some rows, with the reasons."""
    for row, vector in zip(rows.drop_columns(["vector"]).to_pylist(), vectors_of(rows), strict=True):
        question = question_of(row)
        faults = iter([question]) if isinstance(question, str) else vector_faults(vector, dimension)
        yield from ((str(row["text"]), fault) for fault in faults)


# Lessons


def lesson_rows(lessons: Sequence[Lesson], places: Sequence[int], txs: Sequence[int]) -> TableRows:
    """Return lessons as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    return pa.table(
        {
            **tx_columns(txs, places),
            "episode_id": pa.array([lesson.episode_id for lesson in lessons], pa.string()),
            "space": pa.array([lesson.space for lesson in lessons], pa.string()),
            "query": pa.array([lesson.query for lesson in lessons], pa.string()),
            "asked_at": pa.array([lesson.asked_at for lesson in lessons], pa.int64()),
            "source": pa.array([lesson.source for lesson in lessons], pa.string()),
            "at": pa.array([lesson.at for lesson in lessons], pa.int64()),
            "labels": pa.array([to_json(dict(lesson.labels)) for lesson in lessons], pa.string()),
            "trace": pa.array([lesson.trace for lesson in lessons], pa.string()),
        }
    )


def lessons_of(rows: TableRows | None) -> list[tuple[int, Lesson]]:
    """Return the lessons of some rows with their commits' numbers, in the order of recording; bad ones are left out."""
    return [(tx, lesson) for tx, _, lesson in valid_values("episodes", "episode_id", lesson_records(rows), lesson_of)]


def lesson_records(rows: TableRows | None) -> Iterator[Mapping[str, Any]]:
    """Return the rows of ``episodes`` one by one, right or not; the trace as UTF-8, which takes the least memory."""
    import pyarrow as pa

    if rows is None:
        return
    names = rows.column_names
    trace = names.index("trace")
    columns = rows.set_column(trace, "trace", rows["trace"].cast(pa.binary())).columns
    for values in zip(*(column.to_pylist() for column in columns), strict=True):
        yield dict(zip(names, values, strict=True))


def lesson_of(row: Mapping[str, Any]) -> Lesson | str:
    """Return the lesson that a row of ``episodes`` holds, or its fault in words."""
    if any(value is None for name, value in row.items() if name != "trace"):
        return "a required column is empty"
    if row["source"] not in get_args(Engine):
        return f"its source is {row['source']!r}"
    try:
        labels = json.loads(row["labels"])
    except (ValueError, RecursionError):
        labels = None
    if not isinstance(labels, dict):
        return "its labels cannot be read"
    for label in labels.values():
        if type(label) is not int or label not in get_args(Target):
            return f"it has the label {label!r}"
    return Lesson(
        row["episode_id"],
        intern(row["space"]),  # many lessons share a space, and many are about the same sentence
        row["query"],
        row["asked_at"],
        row["source"],
        row["at"],
        {intern(name): label for name, label in labels.items()},
        row["trace"] or b"",
    )


# Beliefs


def belief_rows(beliefs: Sequence[Belief], places: Sequence[int], txs: Sequence[int]) -> TableRows:
    """Return beliefs as rows, each with its place within its commit and with its commit's number.

    A sentence without a time has zeros for its time vector: LanceDB takes no column of vectors with gaps in it.
    """
    import pyarrow as pa

    kinds = {"sentence_id": pa.string(), "space": pa.string(), "supported": pa.int64(), "unsupported": pa.int64()}
    columns = tx_columns(txs, places)
    for name in (f.name for f in fields(Belief)):
        values = [getattr(belief, name) for belief in beliefs]
        if name == "task":
            columns[name] = vector_column(np.array(values, dtype=np.float32))
        elif name == "time":
            times = [np.zeros_like(belief.task) if belief.time is None else belief.time for belief in beliefs]
            columns[name] = vector_column(np.array(times, dtype=np.float32))
        else:
            columns[name] = pa.array(values, kinds.get(name, pa.float64()))
    return pa.table(columns)


def latest_beliefs(rows: TableRows | None, dimension: int) -> tuple[Belief, ...]:
    """Return the last belief about each sentence, in the order of recording; bad rows are left out.

    Args:
        rows: the rows of ``beliefs_<generation>``, in any order, or None.
        dimension: the dimension that their vectors should have.
    """
    if rows is None or not len(rows):
        return ()
    names = rows["sentence_id"].to_pylist()
    order: list[int] = np.lexsort((int_column(rows, "place"), int_column(rows, "tx"))).tolist()
    valid: dict[int, Belief] = {}
    left = order
    while left:  # once, and again for those sentences of which the last row is bad
        last = {names[row]: row for row in left}
        for row, (tx, belief) in zip(last.values(), beliefs_of(rows.take(list(last.values()))), strict=True):
            if not has_fault("beliefs", belief.sentence_id, tx, belief_faults(belief, dimension)):
                valid[row] = belief
        left = [row for row in left if last[names[row]] not in valid and last[names[row]] != row]
    return tuple(valid[row] for row in order if row in valid)


def beliefs_of(rows: TableRows) -> Iterator[tuple[int, Belief]]:
    """Return the beliefs of some rows with their commits' numbers, in the order of the rows, right or not."""
    times = vectors_of(rows, "time")
    columns = (
        rows["sentence_id"].to_pylist(),
        rows["space"].to_pylist(),
        vectors_of(rows, "task"),
        rows["task_doubt"].to_pylist(),
        [time if time.any() else None for time in times],
        rows["time_doubt"].to_pylist(),
        rows["supported"].to_pylist(),
        rows["unsupported"].to_pylist(),
    )
    return zip(rows["tx"].to_pylist(), map(Belief, *columns), strict=True)


def belief_faults(belief: Belief, dimension: int) -> Iterator[str]:
    """Yield the faults of a belief, in words.

    Args:
        belief: as read.
        dimension: the dimension that its vectors should have.
    """
    numbers = belief.task_doubt, belief.time_doubt, belief.supported, belief.unsupported
    if None in (belief.sentence_id, belief.space, *numbers):
        yield "a required column is empty"
        return
    for name, vector, doubt in (
        ("task", belief.task, belief.task_doubt),
        ("time", belief.time, belief.time_doubt),
    ):
        if vector is not None:
            yield from vector_faults(vector, dimension, f"its {name} vector")
        if not 0 < doubt <= 1:
            yield f"its {name} doubt is {doubt}"
    if min(belief.supported, belief.unsupported) < 0:
        yield "it was judged less than never"
