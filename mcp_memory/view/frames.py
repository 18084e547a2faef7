"""Decide which messages are certain to be meant as they stand.

What is said before a message may make it material, a game or words of somebody else ("translate my next two messages",
"you are a waiter and I am a guest", "is my daughter's essay okay?"). What is said after it may take it back ("just
kidding", "I only copied that"). No list of such words would be whole. So the talk around a message has to be
**understood to its last word**: each message states certain facts or standing wishes, or is nothing but thanks and
greetings. Facts are certain only if that holds for all that stands before them and all that their speaker says after
them. A wish is told at the beginning and outlasts the talk: it counts if that holds for all that stands before it, and
unless the speaker's next message points back. After a break of `PAUSE` another talk begins, in which nothing is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mcp_memory.domain.times import MINUTE
from mcp_memory.domain.turns import Turn
from mcp_memory.language.own_words import points_back
from mcp_memory.language.segments import split
from mcp_memory.language.wishes import LONGEST, find_wishes, is_small_talk

if TYPE_CHECKING:
    from mcp_memory.view.space import Space

PAUSE = 60 * MINUTE
"""The break between two messages of a session after which they belong to different talks."""


class Frames:
    """Which messages of a space are meant as they stand, found out when it is asked."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._framed: dict[str, bool] = {}

    def clear(self) -> None:
        """Forget what was found out, since messages or facts have arrived."""
        self._framed.clear()

    def is_meant(self, turn_id: str) -> bool:
        """Return whether the facts of a message are in no frame and not taken back; other texts are always meant."""
        turn = self._space.turns.get(turn_id)
        if turn is None or turn.kind != "message":
            return True
        after = (one for one in self._talk(turn, 1) if one.speaker == turn.speaker)
        return not self._is_framed(turn) and all(map(self._is_understood, after))

    def stands(self, turn: Turn) -> bool:
        """Return whether the wishes of a message are in no frame and not taken back at once."""
        after = next((one for one in self._talk(turn, 1) if one.speaker == turn.speaker), None)
        taken_back = after is not None and points_back(after.text) and not self._is_understood(after)
        return not self._is_framed(turn) and not taken_back

    def around(self, turn: Turn) -> Iterator[Turn]:
        """Yield the messages of which it may have changed whether they are meant, by a message or by facts in it."""
        for step in (-1, 1):
            for beside in self._talk(turn, step):
                yield beside
                if beside.speaker == turn.speaker and not self._is_understood(beside):
                    break

    def _is_framed(self, turn: Turn) -> bool:
        """Return whether something in the talk before a message may say that it is not meant."""
        talk, framed = [turn.id], False
        for before in self._talk(turn, -1):
            known = self._framed.get(before.id)
            framed = bool(known) or not self._is_understood(before)
            if framed or known is not None:
                break
            talk.append(before.id)
        self._framed.update(dict.fromkeys(talk, framed))
        return framed

    def _is_understood(self, turn: Turn) -> bool:
        """Return whether a message leaves nothing open."""
        if self._space.facts.states_certain(turn.id) or is_small_talk(turn.text):
            return True
        return len(turn.text) <= LONGEST and any(find_wishes(turn.text, split(turn.text)))

    def _talk(self, turn: Turn, step: int) -> Iterator[Turn]:
        """Yield the messages before or after one in its talk, the nearest first."""
        now, beside = turn, self._beside(turn, step)
        while beside is not None and abs(beside.time - now.time) <= PAUSE:
            yield beside
            now, beside = beside, self._beside(beside, step)

    def _beside(self, turn: Turn, step: int) -> Turn | None:
        """Return the message before or after another one in its session."""
        space = self._space
        rows, beside = space.segments.of_turn(turn.id), space.previous_rows if step < 0 else space.next_rows
        row = int(beside[rows[0 if step < 0 else -1]]) if rows else -1
        while row >= 0 and space.segment_turn[row].kind != "message":
            row = int(beside[row])
        return space.segment_turn[row] if row >= 0 else None
