"""The log of a store as the lines of an export, in the order of recording."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.services.transfer.format import FORMAT, VERSION, stamp, to_line
from mcp_memory.services.transfer.records import Value, record_of


def export_lines(
    log: Sequence[Batch], spaces: Collection[str] | None, *, program: str, now: Millis
) -> Iterator[tuple[str, bytes]]:
    """Yield what each line of an export holds, and the line.

    Args:
        log: of the store, without vectors (`storage.log.read_log`).
        spaces: the spaces to export; None for all.
        program: name and version of this program.
        now: the moment of the export.
    """
    turns = {turn.id: turn for batch in log for turn in batch.turns}
    values = [value for batch in log for value in values_of(batch) if spaces is None or space_of(value) in spaces]
    names = sorted({space_of(value) for value in values})
    header = {"format": FORMAT, "version": VERSION, "program": program, "exported": stamp(now), "spaces": names}
    yield "header", to_line(header)
    count = 0
    for value in values:
        record = record_of(value, turns)
        if record is not None:
            yield str(record["record"]), to_line(record)
            count += 1
    yield "end", to_line({"record": "end", "records": count})


def values_of(batch: Batch) -> Iterator[Value]:
    """Yield what one commit recorded; an import keeps this order of sorts within a commit."""
    yield from batch.turns
    yield from batch.assertions
    yield from batch.lessons
    yield from batch.points
    yield from batch.aliases
    yield from batch.questions
    yield from batch.jobs


def space_of(value: Value) -> str:
    """Return the space of a value."""
    return value[0] if isinstance(value, tuple) else value.space
