"""From rows back to revisions of memory points, in the order of recording, each with the vector of its description.

The revisions are part of the log; the vectors are derived, so each generation has its own. A revision whose vector is
missing, or wrong, has zeros for one: it is like nothing, and still says what it says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

import numpy as np

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.points import LEAST, Point, Status
from mcp_memory.storage.pieces import LENGTH_TOLERANCE, vectors_of
from mcp_memory.storage.rows import left_out
from mcp_memory.storage.schemas import Rows
from mcp_memory.vectors import Matrix, Vector

LISTS = ("entities", "parents", "sentences", "facts")
"""What of a row is JSON."""


def points_of(rows: Rows | None) -> list[tuple[int, int, Point]]:
    """Return the revisions of some rows with their commits' numbers and their places there, in the order of recording.

    Bad ones are left out.
    """
    kept: list[tuple[int, int, Point]] = []
    for row in rows.to_pylist() if rows is not None else ():
        point = point_of(row)
        if isinstance(point, Point):
            kept.append((row["tx"], row["place"], point))
        else:
            left_out("points", row["id"], row["tx"], iter([point]))
    return sorted(kept, key=lambda entry: entry[:2])


def point_of(row: Mapping[str, Any]) -> Point | str:
    """Return the revision that a row of ``points`` holds, or in words what cannot be right about it."""
    if any(value is None for name, value in row.items() if name != "merged_into"):
        return "a required column is empty"
    lists = {name: _texts(row[name]) for name in LISTS}
    if unread := next((name for name, texts in lists.items() if texts is None), None):
        return f"its {unread} cannot be read"
    if row["source"] not in get_args(Engine):
        return f"its source is {row['source']!r}"
    if row["status"] not in get_args(Status) or (row["status"] == "merged") != bool(row["merged_into"]):
        return f"its status is {row['status']!r}, and it was merged into {row['merged_into']!r}"
    if len({entity_key(name) for name in lists["entities"] or ()}) < LEAST:
        return f"it joins fewer than {LEAST} entities"
    return Point(**{f.name: row[f.name] for f in fields(Point)} | lists)


def point_vectors_of(points: Sequence[tuple[int, int, Point]], rows: Rows | None, dimension: int) -> Matrix:
    """Return the vectors of revisions, shape ``(len(points), dimension)``, zeros where there is none.

    Args:
        points: as `points_of` returns them.
        rows: of ``point_vectors_<generation>``, in any order, or None.
        dimension: that their vectors should have.
    """
    found: dict[tuple[int, int], Vector] = {}
    if rows is not None and len(rows):
        numbers = zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), strict=True)
        good = (next(point_vector_faults(vector, dimension), None) is None for vector in vectors_of(rows))
        found = {number: vector for number, vector, fine in zip(numbers, vectors_of(rows), good, strict=True) if fine}
    none = np.zeros(dimension, dtype=np.float32)
    given = [found.get((tx, place), none) for tx, place, _ in points]
    return np.array(given, dtype=np.float32).reshape(len(points), dimension)


def point_vector_faults(vector: Vector, dimension: int) -> Iterator[str]:
    """Say what cannot be right about the vector of a description."""
    if len(vector) != dimension:
        yield f"it has {len(vector)} numbers, not {dimension}"
        return
    length = float(np.linalg.norm(vector))
    if not abs(length - 1) <= LENGTH_TOLERANCE:  # a number that is none is no length either
        yield f"it has the length {length:.3f}"


def _texts(text: str) -> tuple[str, ...] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else None
