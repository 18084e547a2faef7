"""Say of what was recalled for a time whether it was said then, or only tells of then.

Source: MRAgent's operator for the time of an event (§3.1, Table 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.evidence import Evidence
from mcp_memory.domain.query import ANY_TIME, Window
from mcp_memory.language.stated import stated_times
from mcp_memory.search.windows import tells_of


def with_event_times(evidence: Sequence[Evidence], window: Window) -> tuple[Evidence, ...]:
    """Return evidence in which sentences and passages from outside a window have the time within it that they state.

    Args:
        evidence: recalled for this window.
        window: of what was said or is told of.
    """
    if window == ANY_TIME:
        return tuple(evidence)
    return tuple(_dated(item, window) for item in evidence)


def _dated(item: Evidence, window: Window) -> Evidence:
    if item.kind not in ("sentence", "segment") or not item.sources:
        return item
    turn = item.sources[0].turn
    if window.since <= turn.time < window.until:
        return item
    for time in stated_times(turn.text[item.sources[0].start : item.sources[0].end], turn.time):
        if tells_of(window, time.since, time.until):
            return replace(item, valid_from=time.since, valid_to=time.until, told_then=True)
    return item
