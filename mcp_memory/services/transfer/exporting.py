"""The log of a store as the lines of an export, in the order of recording."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.services.transfer.records import FORMAT, VERSION, Value, record_of, space_of, stamp, to_line
from mcp_memory.services.transfer.renaming import Leaving
from mcp_memory.view.view import View


def export_lines(
    log: Sequence[Batch], spaces: Collection[str] | None, *, view: View | None = None, program: str, now: Millis
) -> Iterator[tuple[str, bytes]]:
    """Yield what each line of an export holds, and the line.

    Args:
        log: the log of the store, without vectors (`storage.commits.read_log`).
        spaces: the spaces to export; None for all.
        view: the view of the store; None for lines that stay in it, with its own ids.
        program: name and version of this program.
        now: the moment of the export.
    """
    turns = {turn.id: turn for batch in log for turn in batch.turns}
    values = [value for batch in log for value in values_of(batch) if spaces is None or space_of(value) in spaces]
    names = sorted({space_of(value) for value in values})
    header = {"format": FORMAT, "version": VERSION, "program": program, "exported": stamp(now), "spaces": names}
    yield "header", to_line(header)
    count = 0
    leaving = {name: Leaving(view.space(name)) for name in names} if view is not None else {}
    for value in values:
        record = record_of(value, turns, leaving.get(space_of(value)))
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
