"""What the tools say that change the memory: memory_write and memory_evolve."""

from __future__ import annotations

from collections import Counter

from mcp_memory.domain import requests
from mcp_memory.server import records
from mcp_memory.server.budget import Reply, counted, warned
from mcp_memory.server.results import (
    ChangeResult,
    EvolveResult,
    FactResult,
    ItemResult,
    SkippedResult,
    WriteCounts,
    WriteResult,
)
from mcp_memory.server.status_reply import spent_result

CHANGES_TOLD = 10
"""Changes that the readable part of a reply names; the structured part has all."""


def written(request: requests.WriteRequest, result: requests.WriteResult) -> Reply:
    """Return what memory_write says."""
    stored = sum(item.stored for item in result.items)
    items = [ItemResult(id=item.ref, session=item.session, stored=item.stored) for item in result.items]
    counts = WriteCounts(
        stored=stored, unchanged=len(items) - stored, segments=result.segments, sentences=result.sentences
    )
    lines = []
    if items:
        number = counted(len(items), request.kind)
        lines = [f"Stored {stored} of {number} in session {request.session!r}, space {request.space!r}."]
        if stored < len(items):
            lines[0] += " The others were there already."
    if result.facts:
        ops = Counter(fact.op for fact in result.facts)
        lines.append(f"Facts: {', '.join(f'{ops[op]} {op}' for op in ops)}.")
    elif request.facts:
        lines.append("No fact changed: nothing that was known ends by what was negated.")
    touched = [fact for fact in result.facts if fact.op in ("closed", "contested")]
    lines += [f"- {fact.op}: {records.indented(fact.text)}{_times(fact)}" for fact in touched[:CHANGES_TOLD]]
    structured = WriteResult(
        items=items,
        facts=[
            FactResult(
                id=fact.id,
                text=fact.text,
                op=fact.op,
                valid_from=records.shown(fact.valid_from),
                valid_to=records.shown(fact.valid_to),
            )
            for fact in result.facts
        ],
        entities=list(result.entities),
        counts=counts,
        engine=result.engine,
        warnings=list(result.warnings),
    )
    return Reply(structured, "\n".join([*lines, *warned(result.warnings)]))


def evolved(result: requests.EvolveResult) -> Reply:
    """Return what memory_evolve says."""
    changes = [
        ChangeResult(
            step=one.step,
            kind=one.kind,
            id=one.id,
            text=one.text,
            before=one.before,
            after=one.after,
            valid_from=records.shown(one.valid_from),
            valid_to=records.shown(one.valid_to),
        )
        for one in result.changes
    ]
    lines = [f"{counted(len(changes), 'change')}." if changes else "Nothing changed."]
    for change in result.changes[:CHANGES_TOLD]:
        was = f"{change.before} -> " if change.before else ""
        named = f" ({change.id})" if change.kind == "point" else ""  # by which it is updated, merged, looked around
        text = f"{records.indented(change.text)}{_times(change)}{named}"
        lines.append(f"- {change.step}: {was}{change.after}: {text}")
    if (more := len(changes) - CHANGES_TOLD) > 0:
        lines.append(f"And {more:,} more.")
    lines += [f"Skipped {one.step}: {one.reason}" for one in result.skipped]
    structured = EvolveResult(
        changes=changes,
        skipped=[SkippedResult(step=one.step, reason=one.reason) for one in result.skipped],
        claude=None if result.spent is None else spent_result(result.spent),
        engine=result.engine,
        warnings=list(result.warnings),
    )
    return Reply(structured, "\n".join([*lines, *warned(result.warnings)]))


def _times(fact: requests.WrittenFact | requests.Improved) -> str:
    held = records.holding(fact.valid_from, fact.valid_to)
    return f" ({held})" if held else ""
