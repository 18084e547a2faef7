"""What the heads of the reader learn besides ranking: sentences and pairs of records with labels.

A row is a pair of texts, as the model reads them, with a head of `HEADS` and whether its label holds. They come from
``data/labels.jsonl`` and ``data/changes.jsonl``, and from what the worlds say of their records. A third of them, by the
number of the group or the id of the world, never trains.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp_memory.search.rendering import message_text
from training.worlds import DATA, World, is_kept, read_worlds

SHORT = 90
"""Characters of a message without a fact that counts as small talk if no question needs it."""
WORD = re.compile(r"\w+")


class Labelled(NamedTuple):
    """A pair of texts, and whether a head's label holds for it."""

    head: str
    first: str
    second: str
    holds: bool
    kept: bool


def of_sentences(file: Path) -> Iterator[Labelled]:
    """Yield what hand-written labels say of a sentence within its message."""
    for line in file.open(encoding="utf-8"):
        row = json.loads(line)
        before = row["before"][-1]["text"] if row["before"] else ""
        shown = message_text(row["message"]["speaker"], row["message"]["text"], before)
        kept = row["group"] % 3 == 0
        yield Labelled("wish", row["sentence"], shown, row["wish"] == "always", kept)
        if row["asserted"] != "none":
            yield Labelled("asserted", row["sentence"], shown, row["asserted"] == "here", kept)
        yield Labelled("small_talk", row["message"]["text"], shown, row["small_talk"], kept)


def of_pairs(file: Path) -> Iterator[Labelled]:
    """Yield whether a later record changes, corrects or ends an earlier one."""
    for line in file.open(encoding="utf-8"):
        row = json.loads(line)
        first = f"{row['earlier']['speaker']}: {row['earlier']['text']}"
        second = f"{row['later']['speaker']}: {row['later']['text']}"
        yield Labelled("change", first, second, row["relation"] in CHANGES, row["group"] % 3 == 0)


CHANGES = ("changed", "corrected", "ended")


def of_world(world: World) -> Iterator[Labelled]:
    """Yield what a world says of its records."""
    kept = is_kept(world["id"])
    needed = {name for asked in world["questions"] for name in asked["gold"]}
    shown: dict[str, str] = {}
    texts: dict[str, str] = {}
    previous: dict[str, Any] = {}
    for record in world["records"]:
        if record["role"] == "document":
            continue
        near = previous.get("session") == record["session"]
        shown[record["id"]] = message_text(record["speaker"], record["text"], previous["text"] if near else "")
        texts[record["id"]] = f"{record['speaker']}: {record['text']}"
        previous = record
    users = [one for one in world["records"] if one["role"] in ("user", "other")]
    for record in users:
        yield from _of_record(record, shown[record["id"]], record["id"] in needed, kept)
    ended = {(record["id"], old) for record in users for old in record.get("changes", ())}
    for late, record in enumerate(users):
        near = sorted(users[:late], key=lambda one: -_shared(one["text"], record["text"]))[:3]
        earlier = {one["id"] for one in near if late % 3 == 0} | set(record.get("changes", ()))
        for name in sorted(earlier & set(texts)):
            yield Labelled("change", texts[name], texts[record["id"]], (record["id"], name) in ended, kept)


def _of_record(record: dict[str, Any], shown: str, needed: bool, kept: bool) -> Iterator[Labelled]:
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+|\n+", record["text"]) if one.strip()]
    wish, facts = record.get("wish"), record.get("facts", [])
    if wish and record["role"] == "user":
        best = max(sentences, key=lambda one: _shared(one, wish["text"]))
        yield Labelled("wish", best, shown, True, kept)
    elif not wish:
        yield Labelled("wish", sentences[len(sentences) // 2], shown, False, kept)
    stated = [one for one in sentences if any(fact.get("span") and fact["span"] in one for fact in facts)]
    holding = [one for one in facts if one.get("polarity", "holds") == "holds"]
    if stated and len(holding) == len(facts):
        yield Labelled("asserted", stated[0], shown, True, kept)
    elif not facts and not needed:
        yield Labelled("asserted", sentences[0], shown, False, kept)
    idle = not facts and not needed and not wish and not record.get("changes")
    if needed or facts or (idle and len(record["text"]) <= SHORT):
        yield Labelled("small_talk", record["text"], shown, idle, kept)


def _shared(one: str, other: str) -> int:
    return len(set(WORD.findall(one.lower())) & set(WORD.findall(other.lower())))


def read_labelled(folders: Sequence[Path], *, kept: bool) -> list[Labelled]:
    """Return all labelled rows that train, or those that are kept."""
    files = [row for file in sorted(DATA.glob("labels*.jsonl")) for row in of_sentences(file)]
    files += [row for file in sorted(DATA.glob("changes*.jsonl")) for row in of_pairs(file)]
    rows = files + [row for world in read_worlds(folders) for row in of_world(world)]
    return [row for row in rows if row.kept == kept and row.first]
