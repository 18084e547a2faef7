"""A store's texts and stated facts as the lines of an export: JSON in UTF-8, as ``docs/MANUAL.md`` describes it.

An export holds what people and callers said: each text in its newest wording, then the facts that callers stated by it.
What this program made of that is made again when the file is imported (``own.py``), and what it learnt is in a backup.

The first line names format and version, the last one says how many records stand between them, so that a file that was
cut short is noticed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language import iso
from mcp_memory.view.space import Space
from mcp_memory.view.view import View
from mcp_memory.visible import with_masks

FORMAT = "mcp-memory export"
VERSION = 1
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def export_lines(view: View, spaces: Iterable[str], *, program: str, now: Millis) -> Iterator[tuple[str, bytes]]:
    """Yield what each line of an export holds, and the line."""
    names = sorted(spaces)
    header = {"format": FORMAT, "version": VERSION, "program": program, "exported": iso.show(now), "spaces": names}
    yield "header", _line(header)
    count = 0
    for name in names:
        for record in _records(view.space(name)):
            yield str(record["record"]), _line(record)
            count += 1
    yield "end", _line({"record": "end", "records": count})


def _records(space: Space) -> Iterator[Mapping[str, object]]:
    """Yield each text of a space in its newest wording, and then the facts that callers stated by it."""
    stated: dict[str, list[Assertion]] = defaultdict(list)
    for fact in space.facts.rows:
        if fact.extractor == "caller":
            stated[fact.turn_id].append(fact)
    for turn in space.turns.values():
        if space.is_newest(turn):
            place = {"space": space.name, "session": turn.session, "id": turn.ref}
            yield {"record": turn.kind, **place, **_text_fields(turn)}
            for fact in stated[turn.id]:
                yield {"record": "fact", **place, **_fact_fields(fact)}


def _text_fields(turn: Turn) -> dict[str, object]:
    return {
        "speaker": turn.speaker,
        "role": turn.role,
        "title": turn.title,
        "time": None if turn.said_at is None else iso.show(turn.said_at),
        "offset": turn.offset or None,
        "written": iso.show(turn.written_at),
        "text": turn.text,
    }


def _fact_fields(fact: Assertion) -> dict[str, object]:
    return {
        "by": fact.extractor,
        "head": fact.head,
        "relation": fact.relation,
        "tail": fact.tail,
        "negated": fact.negated or None,
        "since": None if fact.since == BEGINNING else iso.show(fact.since),
        "until": None if fact.until == FOREVER else iso.show(fact.until),
        "stated": fact.stated or None,
        "confidence": fact.confidence,
        "intent": fact.intent,
        "recorded": iso.show(fact.recorded_at),
    }


def _line(record: Mapping[str, object]) -> bytes:
    """Return a record as a line; values that are None are left out."""
    kept = {name: value for name, value in record.items() if value is not None}
    return with_masks(_ENCODER.encode(kept)).encode() + b"\n"
