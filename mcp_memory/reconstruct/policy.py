"""The policy: which operators the loop calls next, without a model that chooses (f_select; MRAgent eq. 10, DESIGN 3.4).

- A question for a time, or with a date, has the best segments placed on the timeline (the paper's
  ``query_conversation_time``); the times are shown with the evidence.
- Where nothing covers most of a question's content words, only names lead anywhere, from text to text: the pointers of
  what the last turn brought are followed.

**Departures.** The paper's model may choose any operator in each turn. Measured on dialogues and on questions of
several hops to documents, operator by operator, the others add nothing to the ranking of the search, so they are not
called here; ``memory_explore`` offers them all.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_memory.reconstruct.frontier import find_pointers
from mcp_memory.reconstruct.loop import Action, LoopState

BEST = 3
"""Segments that are placed on the timeline."""
LOST = 0.5
"""Share of a question's content words, names aside, that no candidate covers: from here on pointers are followed."""
WORTH: Mapping[str, float] = {"tag_events": 2.0}
"""What a segment gains that an operator found, as a share of the best score, for each unit of strength."""


def select_calls(state: LoopState, *, tags: bool) -> list[Action]:
    """Return the calls for a state of the loop, strongest first; none where none leads anywhere.

    Args:
        state: the state of the loop.
        tags: whether cues may be followed.
    """
    query = state.query
    if query.answer_type in ("when", "how_long") or (query.time is not None and query.time.dated):
        best = state.strongest(BEST)
        ids = tuple(state.space.segments[item.row].id for item in best)
        return [Action("event_time", {"ids": ids}, best[0].strength)] if best else []
    if tags and state.uncovered >= LOST:
        return [Action("tag_events", {"entity": name}, strength) for name, strength in find_pointers(state)]
    return []
