"""Reading what was written once more, with a language model: for each text how far that got, and whose turn it is.

What is known of a text is kept as revisions, of which the last counts. A *lease* says that some process is reading it
now; it is taken under the store's lock, so no two pay for the same, and it ends by itself, so that the work of a
process that died goes on. A text that no revision speaks of has not been read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.times import Millis

State = Literal["leased", "waiting", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """One revision of the reading of one turn.

    Attributes:
        space: of the turn.
        turn_id: of a message or document.
        state: ``leased`` by ``holder`` until ``until``; ``waiting`` until then, after a failure or between the parts of
            a long text; ``done``; or ``failed`` too often.
        parts: of the text, read so far; a message mostly has one.
        tries: that failed, one after the other.
        until: see ``state``; 0 where it means nothing.
        holder: who leased it, a word that no other process has; empty else.
        at: when this revision was made.
    """

    space: str
    turn_id: str
    state: State
    parts: int
    tries: int
    until: Millis
    holder: str
    at: Millis

    def free(self, now: Millis) -> bool:
        """Return whether anybody may take it up."""
        return self.state in ("leased", "waiting") and self.until <= now
