"""From rows back to what judges said of episodes, in the order in which it was recorded.

The labels are looked at. The trace is not: nothing that was learnt depends on it, so a lesson whose trace is damaged
counts as any other, and doctor tells of it (``check.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from sys import intern
from typing import Any, get_args

from mcp_memory.domain.episodes import Lesson, Target
from mcp_memory.domain.evidence import Engine
from mcp_memory.storage.rows import left_out
from mcp_memory.storage.schemas import Rows


def lessons_of(rows: Rows | None) -> list[tuple[int, Lesson]]:
    """Return the lessons of some rows with their commits' numbers, in the order of recording; bad ones are left out."""
    kept: list[tuple[int, int, Lesson]] = []
    for row in records_of(rows):
        lesson = lesson_of(row)
        if isinstance(lesson, Lesson):
            kept.append((row["tx"], row["place"], lesson))
        else:
            left_out("episodes", row["episode_id"], row["tx"], iter([lesson]))
    kept.sort(key=lambda entry: entry[:2])
    return [(tx, lesson) for tx, _, lesson in kept]


def records_of(rows: Rows | None) -> Iterator[Mapping[str, Any]]:
    """Return the rows of ``episodes`` one by one, right or not; the trace in UTF-8, in which it takes least room."""
    import pyarrow as pa

    if rows is None:
        return
    names = rows.column_names
    place = names.index("trace")
    columns = rows.set_column(place, "trace", rows["trace"].cast(pa.binary())).columns
    for values in zip(*(column.to_pylist() for column in columns), strict=True):
        yield dict(zip(names, values, strict=True))


def lesson_of(row: Mapping[str, Any]) -> Lesson | str:
    """Return the lesson that a row of ``episodes`` holds, or in words what cannot be right about it."""
    if any(value is None for name, value in row.items() if name != "trace"):
        return "a required column is empty"
    if row["source"] not in get_args(Engine):
        return f"its source is {row['source']!r}"
    labels = _parsed(row["labels"])
    if labels is None:
        return "its labels cannot be read"
    for label in labels.values():
        if type(label) is not int or label not in get_args(Target):
            return f"it has the label {label!r}"
    return Lesson(
        row["episode_id"],
        intern(row["space"]),  # many lessons have one space, and many are about one sentence
        row["query"],
        row["asked_at"],
        row["source"],
        row["at"],
        {intern(name): label for name, label in labels.items()},
        row["trace"] or b"",
    )


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
