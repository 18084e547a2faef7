"""How the records of another program are divided into requests, and these into commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mcp_memory.domain.requests import WriteRequest
from mcp_memory.services.transfer.foreign.reading import ForeignRecord


def of_different_sessions(requests: Iterable[WriteRequest]) -> list[list[WriteRequest]]:
    """Return requests in groups that have one of each session at most, in their order."""
    groups: list[list[WriteRequest]] = []
    seen: Counter[str] = Counter()
    for request in requests:
        if seen[request.session] == len(groups):
            groups.append([])
        groups[seen[request.session]].append(request)
        seen[request.session] += 1
    return groups


def in_batches(records: Iterable[ForeignRecord], most: int) -> Iterator[ForeignRecord]:
    """Yield records joined with their neighbours of the same session and kind, in at most so many items each."""
    held: ForeignRecord | None = None
    for record in records:
        for part in _cut(record, most):
            joined = held is not None and (held.session, held.kind) == (part.session, part.kind)
            if held is not None and joined and size(held) + size(part) <= most:
                held = replace(held, items=(*held.items, *part.items), facts=(*held.facts, *part.facts))
            else:
                if held is not None:
                    yield held
                held = part
    if held is not None:
        yield held


def _cut(record: ForeignRecord, most: int) -> Iterator[ForeignRecord]:
    """Yield a record in parts of at most so many items; its facts come with the last one."""
    for start in range(0, len(record.items), most):
        last = start + most >= len(record.items)
        items = record.items[start : start + most]
        yield replace(record, items=items, facts=record.facts if last else ())
    if record.facts and not record.items:
        yield record


def size(record: ForeignRecord | WriteRequest) -> int:
    """Return how many items and facts there are."""
    return len(record.items) + len(record.facts)


def parts_of(request: WriteRequest) -> list[WriteRequest]:
    """Return a request as one for each item with the facts of it, and one for each other fact."""
    own = {item.ref: tuple(fact for fact in request.facts if fact.source == item.ref) for item in request.items}
    parts = [replace(request, items=(item,), facts=own[item.ref]) for item in request.items]
    others = [fact for fact in request.facts if fact.source is None or fact.source not in own]
    return parts + [replace(request, kind="statement", items=(), facts=(fact,)) for fact in others]
