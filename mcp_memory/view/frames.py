"""Decide which messages are certain to be meant as they stand.

What is said before a message may make it material, a game or words of somebody else ("translate my next two messages"),
and what is said after it may take it back ("just kidding"). No list of such words would be whole. So the talk around a
message has to be **understood to its last word**: facts are certain only if all that stands before them, and all that
their speaker says after them, states certain facts or is nothing but thanks and greetings. A wish stands by the same
rule, and further wishes of the user may stand around it. They leave facts open, though: "whenever I send you a quote,
name the film". After a break of `PAUSE` another talk begins, in which nothing is open.

**Since a telling** whatever was read may have ended, or been denied, in any words: "first night in Lunenburg". So it is
certain only as long as nothing was said since, in any talk or document, that is not understood so; after that it is
certain as of its last telling. Questions and wishes in the session for wishes take nothing back, nor does what an
assistant says. Who states facts as a caller, or reads all texts as Claude does, states their ends, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mcp_memory.domain.facts import CERTAIN, Version
from mcp_memory.domain.times import BEGINNING, MINUTE, Millis
from mcp_memory.domain.turns import WISHES, Turn, by_assistant, by_user, label
from mcp_memory.language.segments import split
from mcp_memory.language.wishes import WISH_CHARS, is_small_talk, wishes_of

if TYPE_CHECKING:
    from mcp_memory.view.space import Space

PAUSE = 60 * MINUTE
"""The break between two messages of a session after which they belong to different talks."""


class Frames:
    """Which messages of a space are meant as they stand, found out for a whole talk when it is asked of one of it."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._certain: dict[str, bool] = {}  # message → whether the talk around it leaves its facts certain
        self._standing: dict[str, bool] = {}  # and its wishes standing
        self._wishes: dict[str, bool] = {}  # message → whether it is nothing but wishes of the user
        self._last_open: Millis | None = None

    def clear(self) -> None:
        """Forget what was found out, since messages or facts have arrived."""
        self._last_open = None
        self._certain.clear()
        self._standing.clear()

    def is_meant(self, turn_id: str) -> bool:
        """Return whether the facts of a message are in no frame and not taken back; other texts are always meant."""
        turn = self._space.turns.get(turn_id)
        if turn is None or turn.kind != "message":
            return True
        self._read_talk(turn)
        return self._certain[turn_id]

    def as_of(self, version: Version) -> Millis | None:
        """Return when a certain fact was told last, if something was said since that may take it back; else None."""
        told = [one for one in version.assertions if one.confidence >= CERTAIN]
        if version.confidence < CERTAIN or any(one.extractor != "embedded" for one in told):
            return None
        said_at = max(one.said_at for one in told)
        if self._last_open is None:
            self._last_open = next((turn.told_order for turn in self._newest_first() if self._is_open(turn)), BEGINNING)
        return said_at if self._last_open > said_at else None

    def _newest_first(self) -> Iterator[Turn]:
        """Yield the turns of live segments, those said last first: mostly the first is what is looked for."""
        space = self._space
        rows = np.flatnonzero(space.live)
        for most in (64, len(rows)):
            newest = rows[np.argpartition(-space.times[rows], most)[:most]] if most < len(rows) else rows
            yield from (space.segment_turn[row] for row in newest[np.lexsort((-newest, -space.times[newest]))])

    def _is_open(self, turn: Turn) -> bool:
        """Return whether a text may say that something has ended or is not so."""
        space = self._space
        wish = turn.session == WISHES  # a caller has understood it
        if by_assistant(turn) or wish or is_small_talk(turn.text) or space.facts.states_certain(turn.id):
            return False
        said = (space.text(space.sentences[row]).strip() for row in space.sentences.of_turn(turn.id))
        return any(not sentence.endswith("?") for sentence in said)

    def stands(self, turn: Turn) -> bool:
        """Return whether the wishes of a message are in no frame and not taken back; a caller's always stand."""
        if turn.session == WISHES:
            return True
        self._read_talk(turn)
        return self._standing[turn.id]

    def talks(self, turns: Iterable[Turn]) -> set[str]:
        """Return the ids of all messages in the talks of some: it may have changed whether they are meant."""
        found: set[str] = set()
        for turn in turns:
            if turn.id not in found:
                found.update(one.id for one in self._talk(turn))
        return found

    def _read_talk(self, turn: Turn) -> None:
        """Find out which messages of a talk are meant, unless that is known."""
        if turn.id in self._certain:
            return
        talk = self._talk(turn)
        understood = [is_small_talk(one.text) or self._space.facts.states_certain(one.id) for one in talk]
        closed = [known or self._states_wishes(one) for one, known in zip(talk, understood, strict=True)]
        ids = [one.id for one in talk]
        self._certain.update(zip(ids, _meant(talk, understood), strict=True))
        self._standing.update(zip(ids, _meant(talk, closed), strict=True))

    def _states_wishes(self, turn: Turn) -> bool:
        """Return whether a message is nothing but wishes of the user."""
        if turn.id not in self._wishes:
            short = by_user(turn) and len(turn.text) <= WISH_CHARS
            self._wishes[turn.id] = short and bool(wishes_of(turn, split(turn.text)))
        return self._wishes[turn.id]

    def _talk(self, turn: Turn) -> list[Turn]:
        """Return the messages of the talk that a message belongs to, in order."""
        talk = deque([turn])
        while (before := self._beside(talk[0], -1)) is not None and talk[0].time - before.time <= PAUSE:
            talk.appendleft(before)
        while (after := self._beside(talk[-1], 1)) is not None and after.time - talk[-1].time <= PAUSE:
            talk.append(after)
        return list(talk)

    def _beside(self, turn: Turn, step: int) -> Turn | None:
        """Return the message before or after another one in its session."""
        space = self._space
        rows, beside = space.segments.of_turn(turn.id), space.rows_before if step < 0 else space.rows_after
        row = int(beside[rows[0 if step < 0 else -1]]) if rows else -1
        while row >= 0 and space.segment_turn[row].kind != "message":
            row = int(beside[row])
        return space.segment_turn[row] if row >= 0 else None


def _meant(talk: Sequence[Turn], closed: Sequence[bool]) -> list[bool]:
    """Return for each message whether all before it, and all that its speaker says after it, leave nothing open."""
    end = closed.index(False) if False in closed else len(talk)
    meant: list[bool] = []
    open_: set[str | None] = set()  # who says something later that does
    for place in reversed(range(len(talk))):
        who = label(talk[place])
        meant.append(place <= end and who not in open_)
        if not closed[place]:
            open_.add(who)
    return meant[::-1]
