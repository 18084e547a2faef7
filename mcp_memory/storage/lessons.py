"""From rows back to what judges said of episodes, in the order in which it was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from mcp_memory.domain.episodes import Episode, Lesson, Shown, Target
from mcp_memory.domain.evidence import Engine
from mcp_memory.storage.rows import left_out
from mcp_memory.storage.schemas import TRACE, Rows


def lessons_of(rows: Rows | None) -> list[tuple[int, Lesson]]:
    """Return the lessons of some rows with their commits' numbers, in the order of recording; bad ones are left out."""
    kept: list[tuple[int, int, Lesson]] = []
    for row in rows.to_pylist() if rows is not None else ():
        lesson = lesson_of(row)
        if isinstance(lesson, Lesson):
            kept.append((row["tx"], row["place"], lesson))
        else:
            left_out("episodes", row["episode_id"], row["tx"], iter([lesson]))
    kept.sort(key=lambda entry: entry[:2])
    return [(tx, lesson) for tx, _, lesson in kept]


def lesson_of(row: Mapping[str, Any]) -> Lesson | str:
    """Return the lesson that a row of ``episodes`` holds, or in words what cannot be right about it."""
    if None in row.values():
        return "a required column is empty"
    if row["source"] not in get_args(Engine):
        return f"its source is {row['source']!r}"
    labels, trace = _parsed(row["labels"]), _parsed(row["trace"])
    if labels is None:
        return "its labels cannot be read"
    if trace is None or (odd := next(_oddities(trace), None)):
        return "its trace cannot be read" if trace is None else f"its trace has no {odd} that can be right"
    for label in labels.values():
        if type(label) is not int or label not in get_args(Target):
            return f"it has the label {label!r}"
    episode = Episode(row["episode_id"], row["space"], row["query"], row["asked_at"], **_fields(trace))
    return Lesson(episode, row["source"], labels, row["at"])


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_TRACE: dict[str, Any] = {
    **dict.fromkeys(("shown", "activated", "cited", "roots", "paths"), list),
    **dict.fromkeys(("time", "answer"), (str, type(None))),
    "abstained": bool,
    "rounds": int,
}
_SHOWN: dict[str, Any] = {"id": str, "score": (int, float), "via": list, "sentences": list, "text": str}


def _oddities(trace: Mapping[str, Any]) -> Iterator[str]:
    """Name the fields of an episode that a trace has and that are of another kind than they should be."""
    for name, kind in _TRACE.items():
        if name in trace and not isinstance(trace[name], kind):
            yield name
    if trace.get("engine", "embedded") not in get_args(Engine):
        yield "engine"
    if isinstance(shown := trace.get("shown", []), list) and not all(map(_shows, shown)):
        yield "shown"


def _shows(item: object) -> bool:
    """Return whether something is an item as an episode shows it."""
    return isinstance(item, dict) and all(isinstance(item.get(name), kind) for name, kind in _SHOWN.items())


def _fields(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an `Episode` takes of a trace; what an older program did not know of is left to its default."""
    known = {name: trace[name] for name in TRACE if name in trace}
    shown = [
        Shown(one["id"], one["score"], tuple(one["via"]), tuple(one["sentences"]), one["text"])
        for one in known.get("shown", ())
    ]
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in (known | {"shown": shown}).items()
    }
