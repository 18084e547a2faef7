"""Resolve the people that "I" and "you" in a message refer to.

The addressee of a message is the other person who spoke last in the session. This depends on the log alone, so a
rebuild extracts the same facts.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.domain.turns import Turn

USER = "user"
"""The speaker of a message without one."""


def speaker(turn: Turn) -> str | None:
    """Return whom "I" means in a turn; None in a document, and for a nameless speaker whose role is not the user's."""
    if turn.kind == "document":
        return None
    return turn.speaker or (USER if turn.role in (None, USER) else None)


@dataclass(frozen=True, slots=True)
class Talkers:
    """The last two speakers of a session.

    Attributes:
        last: the last speaker, by name, or by role without a name; None at the start.
        other: the last speaker before them who is somebody else.
    """

    last: str | None = None
    other: str | None = None

    def after(self, turn: Turn) -> Talkers:
        """Return the speakers after a turn; documents and statements change nothing."""
        who = turn.speaker or turn.role
        if who is None or who == self.last or turn.kind != "message":
            return self
        return Talkers(who, self.last)

    def partner(self, turn: Turn) -> str | None:
        """Return the addressee of a turn that follows, or None."""
        if turn.kind != "message":
            return None
        return self.other if (turn.speaker or turn.role) == self.last else self.last
