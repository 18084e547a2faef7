"""Who talks with whom: whom "I" and "you" mean in a message.

The partner of a speaker is whoever else spoke last in the session. That is a function of the log alone, so a rebuilt
memory reads the same facts out of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.domain.turns import Turn

USER = "user"
"""Who speaks where nobody is told."""


def speaker(turn: Turn) -> str | None:
    """Return whom "I" means in a turn; None in a document, and where a role without a name speaks but the user's."""
    if turn.kind == "document":
        return None
    return turn.speaker or (USER if turn.role in (None, USER) else None)


@dataclass(frozen=True, slots=True)
class Talkers:
    """The last two who spoke in a session.

    Attributes:
        last: who spoke last, by name, or by role where no name was told; None before anybody did.
        other: who spoke last of all others.
    """

    last: str | None = None
    other: str | None = None

    def after(self, turn: Turn) -> Talkers:
        """Return them after a turn; documents and statements change nothing."""
        who = turn.speaker or turn.role
        if who is None or who == self.last or turn.kind != "message":
            return self
        return Talkers(who, self.last)

    def partner(self, turn: Turn) -> str | None:
        """Return whom a turn that follows is said to, or None."""
        if turn.kind != "message":
            return None
        return self.other if (turn.speaker or turn.role) == self.last else self.last
