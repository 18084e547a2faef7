"""Decide which messages are certain to be meant as they stand.

What is said before a message may make it material, a game or words of somebody else ("translate my next two messages",
"you are a waiter and I am a guest", "what would Anna say?"). What is said after it may take it back ("just kidding",
"that was Anna's, not mine"). No list of such words would be whole. So a message is certain to be meant only behind
messages of the same talk of which **each is understood to its last word**: it states certain facts or standing wishes,
greets, or asks a plain question. And the next message of its speaker has to be understood, too, or to have a matter of
its own. After a break of `PAUSE` another talk begins, in which nothing is open any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mcp_memory.domain.times import MINUTE
from mcp_memory.domain.turns import Turn, by_assistant
from mcp_memory.language.own_words import asks_for_words, is_plain_question, points_back
from mcp_memory.language.segments import split
from mcp_memory.language.wishes import find_wishes, is_greeting

if TYPE_CHECKING:
    from mcp_memory.view.space import Space

PAUSE = 60 * MINUTE
"""The break between two messages of a session after which they belong to different talks."""


READ = 300
"""Characters of a message that are looked at, from its end; a longer one of a person leaves something open."""


class Frames:
    """Which messages of a space are meant as they stand, found out when it is asked."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._framed: dict[str, bool] = {}

    def clear(self) -> None:
        """Forget what was found out, since messages or facts have arrived."""
        self._framed.clear()

    def is_meant(self, turn_id: str) -> bool:
        """Return whether a message is in no frame and not taken back; other texts are always meant."""
        turn = self._space.turns.get(turn_id)
        return turn is None or turn.kind != "message" or not (self._is_framed(turn) or self._is_taken_back(turn))

    def around(self, turn: Turn) -> Iterator[Turn]:
        """Yield the messages of which it may have changed whether they are meant, by a message or by facts in it."""
        if (before := self._by_speaker(turn, -1)) is not None:
            yield before
        after = self._beside(turn, 1)
        while after is not None:
            yield after
            after = self._beside(after, 1) if self._is_understood(after) else None

    def _is_framed(self, turn: Turn) -> bool:
        """Return whether something in the talk before a message may say that it is not meant."""
        talk, framed, now = [turn.id], False, turn
        while (before := self._beside(now, -1)) is not None and now.time - before.time <= PAUSE:
            known = self._framed.get(before.id)
            framed = bool(known) or not self._is_understood(before)
            if framed or known is not None:
                break
            talk.append(before.id)
            now = before
        self._framed.update(dict.fromkeys(talk, framed))
        return framed

    def _is_taken_back(self, turn: Turn) -> bool:
        """Return whether the speaker's next message may judge a message, or ask to do something with it."""
        after = self._by_speaker(turn, 1)
        return after is not None and points_back(after.text) and not self._is_understood(after)

    def _is_understood(self, turn: Turn) -> bool:
        """Return whether a message leaves nothing open; an assistant's does if it asks for words of somebody else."""
        text = turn.text[-READ:]
        spans = split(text)
        sentences = [text[start:end] for start, end in spans]
        if by_assistant(turn):
            return not any(map(asks_for_words, sentences[-1:]))
        if self._space.facts.states_certain(turn.id):
            return True
        whole = len(turn.text) <= READ
        return whole and (
            any(find_wishes(text, spans)) or all(is_greeting(one) or is_plain_question(one) for one in sentences)
        )

    def _by_speaker(self, turn: Turn, step: int) -> Turn | None:
        """Return the nearest message of the same speaker before or after another one in its session."""
        beside = self._beside(turn, step)
        while beside is not None and beside.speaker != turn.speaker:
            beside = self._beside(beside, step)
        return beside

    def _beside(self, turn: Turn, step: int) -> Turn | None:
        """Return the message before or after another one in its session."""
        space = self._space
        rows, beside = space.segments.of_turn(turn.id), space.previous_rows if step < 0 else space.next_rows
        row = int(beside[rows[0 if step < 0 else -1]]) if rows else -1
        while row >= 0 and space.segment_turn[row].kind != "message":
            row = int(beside[row])
        return space.segment_turn[row] if row >= 0 else None
