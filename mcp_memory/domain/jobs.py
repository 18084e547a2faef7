"""How far each text has been read for facts by a language model, and which process is reading it.

The state of a text is stored as revisions, of which the last counts. A *lease* says that a process is reading the text;
it is taken under the store's lock, so no two processes pay for the same text, and it ends by itself, so that the work
of a process that died continues. A text without a revision has not been read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.times import Millis

State = Literal["leased", "waiting", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """One revision of the state of reading one turn.

    Attributes:
        space: of the turn.
        turn_id: of a message or document.
        state: ``leased`` by ``holder`` until ``until``; ``waiting`` until then, after a failure or between the parts of
            a long text; ``done``; or ``failed`` too often.
        parts: of the text, read so far; most messages have one part.
        tries: that failed in a row.
        until: see ``state``; 0 if it does not apply.
        holder: a word that no other process has; empty without a lease.
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
        """Return whether a process may lease it."""
        return self.state in ("leased", "waiting") and self.until <= now
