"""What lies within the times that a caller asks for: what was said then, and what is told of then.

"I flew home last Sunday", said on 2 September, tells of 27 August. So a segment is within a window if it was said
within it, or states a time of which at least half lies within it. Of an open time ("since May") the end that is stated
counts. Half, since "in August" does not tell of the 27th, and "last week" does tell of the week in which it lies.

Source: GAM-RAG keeps for each sentence the time that it states (§3.1) and MRAgent asks for the time of an event (§3.1,
Table 4). **Departures.** Both compare times by the similarity of their words; here they are resolved when a text is
written, and compared as intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Evidence
from mcp_memory.domain.query import ANY_TIME, Window
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Role
from mcp_memory.language.stated import stated_times
from mcp_memory.search.channels import SpeakerIndex
from mcp_memory.search.times import FAR, YEAR, TimeIndex
from mcp_memory.view.space import Space

SHARE = 0.5
"""The least share of a stated time that lies within a window."""
MOMENT: Millis = 60_000
"""A time is at least so long when shares are compared."""


def recallable(space: Space, window: Window, role: Role | None = None) -> NDArray[np.bool_]:
    """Return which segments may be recalled: live, within a window and, of a role, said by such a speaker.

    Args:
        space: its view keeps a `TimeIndex` and a `SpeakerIndex`.
        window: the window of what was said or is told of.
        role: None for anybody, documents among them.
    """
    open_: NDArray[np.bool_] = space.live
    if window != ANY_TIME:
        first, last = (
            space.times if instant else space.local_times.values
            for instant in (window.since_instant, window.until_instant)
        )
        said = (first >= window.since) & (last < window.until)
        open_ = open_ & (said | segments_telling_within(space, window))
    return open_ if role is None else open_ & space.index(SpeakerIndex).in_role(space, role)


def tells_of(window: Window, since: Millis, until: Millis) -> bool:
    """Return whether a stated time lies mostly within a window."""
    if since <= BEGINNING:
        since = until - MOMENT
    length = MOMENT if until >= FOREVER else max(until - since, MOMENT)
    return min(since + length, window.until) - max(since, window.since) >= SHARE * length


def segments_telling_within(space: Space, window: Window) -> NDArray[np.bool_]:
    """Return which segments state a time that lies mostly within a window, shape ``(len(space.segments),)``.

    Args:
        space: its view keeps a `TimeIndex`.
        window: the window of what is told of.
    """
    index = space.index(TimeIndex)
    found = np.zeros(len(space.segments), dtype=np.bool_)
    first, last = (max(-FAR, min(FAR, bound / YEAR)) for bound in (window.since, window.until))
    for columns in (index.talk, index.documents):
        spans = columns.all()
        if not len(spans.segments):
            continue
        moment = MOMENT / YEAR
        begins, ends = spans.since.astype(np.float64), spans.until.astype(np.float64)  # float32 cannot add a minute
        since = np.where(begins == -FAR, ends - moment, begins)
        until = np.where(ends == FAR, since + moment, ends)
        length = np.maximum(until - since, moment)
        inside = np.minimum(since + length, last) - np.maximum(since, first) >= SHARE * length
        stated = inside & (spans.sentences >= 0)
        owner = np.repeat(spans.segments, np.diff(np.append(spans.starts, len(spans.since))))
        found[owner[stated]] = True
    return found


def with_event_times(evidence: Sequence[Evidence], window: Window) -> tuple[Evidence, ...]:
    """Return evidence in which sentences and passages from outside a window have the time within it that they state.

    What was recalled for a time was said then, or only tells of then.
    """
    if window == ANY_TIME:
        return tuple(evidence)
    return tuple(_with_time(item, window) for item in evidence)


def _with_time(item: Evidence, window: Window) -> Evidence:
    if item.kind not in ("sentence", "segment") or not item.sources:
        return item
    turn = item.sources[0].turn
    if window.holds(turn):
        return item
    for time in stated_times(turn.text[item.sources[0].start : item.sources[0].end], turn.local_time):
        if tells_of(window, time.since, time.until):
            return replace(item, valid_from=time.since, valid_to=time.until, told_then=True)
    return item
