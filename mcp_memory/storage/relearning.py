"""What a rebuild makes of the lessons: the beliefs, anew, in the order in which they were learnt.

How a lesson changes a belief is the business of the room that learns. It is handed a space as it was when the lesson
was recorded, as far as that room looks: with the turns that had been written by then, the sentences that lessons are
about, and what the lessons before had taught.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby

from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.lessons import lessons_of
from mcp_memory.storage.names import EPISODES, TURNS, sentences_table
from mcp_memory.storage.pieces import sentences_of, vectors_of
from mcp_memory.storage.rows import turns_of
from mcp_memory.storage.schemas import Rows, belief_rows
from mcp_memory.storage.tables import Tables
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

CHUNK = 200
"""Lessons handed on at once."""
SENTENCES = 5000
"""Looked up at once."""

Relearn = Callable[[Space, Sequence[Lesson]], Awaitable[Sequence[Belief]]]
"""Returns what lessons teach, in the order of recording; of several beliefs about a sentence the last counts.

The space is theirs, as of the first of them: ``space.beliefs`` has what the lessons before have taught. It has every
turn, but only those sentences that lessons are about, with vectors whatever other views hold, and neither segments nor
facts. A label of a sentence that ``space.sentence`` does not know teaches nothing: the text is cut otherwise by now."""


async def learn_nothing(_space: Space, _lessons: Sequence[Lesson]) -> Sequence[Belief]:
    """Let nothing be learnt, where no room is there that could."""
    return ()


class Relearning:
    """How far the lessons of a store have been learnt anew.

    Args:
        tables: of the store.
        generation: in which the sentences are looked up.
        relearn: makes beliefs of lessons.
    """

    def __init__(self, tables: Tables, generation: int, relearn: Relearn) -> None:
        self._tables = tables
        self._generation = generation
        self._relearn = relearn
        self._view = View(vector_limit=2**62)
        self._looked_up: set[str] = set()
        self._beliefs: dict[str, tuple[int, Belief]] = {}

    async def catch_up(self, until: int) -> None:
        """Learn from the lessons of the commits up to a number, whose turns are derived by now."""
        lessons, turns = await to_thread.run_sync(self._read, until)
        written = [tx for tx, _ in turns]
        met = 0
        for (upto, space), run in groupby(lessons, key=lambda entry: (bisect_right(written, entry[0]), entry[1].space)):
            self._view.add(Batch(tuple(turn for _, turn in turns[met:upto])), self._view.tx)
            met = upto
            part = list(run)
            for start in range(0, len(part), CHUNK):
                await self._learn(space, part[start : start + CHUNK])

    def rows(self) -> Rows | None:
        """Return the beliefs as rows with the numbers of the commits that they are as of; None if there are none."""
        if not self._beliefs:
            return None
        txs, beliefs = zip(*self._beliefs.values(), strict=True)
        return belief_rows(beliefs, range(len(beliefs)), txs)

    async def _learn(self, space: str, part: Sequence[tuple[int, Lesson]]) -> None:
        tx = part[-1][0]
        lessons = tuple(lesson for _, lesson in part)
        beliefs = tuple(await self._relearn(self._view.space(space), lessons))
        for belief in beliefs:
            self._beliefs.pop(belief.sentence_id, None)
            self._beliefs[belief.sentence_id] = tx, belief
        self._view.add(Batch(lessons=lessons, beliefs=beliefs), tx)

    def _read(self, until: int) -> tuple[list[tuple[int, Lesson]], list[tuple[int, Turn]]]:
        """Return the lessons that are new and the turns that had come by then, with their commits' numbers, in order.

        The sentences that these lessons are about are in the view when this has returned.
        """
        after = self._view.tx
        rows = self._tables.rows(EPISODES, f"tx > {after} AND tx <= {until}")
        new: dict[tuple[str, ...], tuple[int, Lesson]] = {}
        for tx, lesson in lessons_of(rows):
            if not self._view.has_lesson(lesson):  # a judge's first word counts, should there be a second in the log
                new.setdefault((lesson.space, *lesson.key), (tx, lesson))
        lessons = list(new.values())
        if not lessons:
            return [], []
        rows = self._tables.rows(TURNS, f"tx > {after} AND tx <= {lessons[-1][0]}")
        turns = turns_of(rows)
        written = {turn.id for _, turn in turns}
        names = dict.fromkeys(name for _, lesson in lessons for name in lesson.labels if name not in self._looked_up)
        self._looked_up.update(names)
        for start in range(0, len(names), SENTENCES):
            self._look_up(list(names)[start : start + SENTENCES], written)
        return lessons, turns

    def _look_up(self, names: Sequence[str], written: set[str]) -> None:
        """Add the named sentences to the view, with their vectors; of turns that are ``written``, or in it already."""
        quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
        rows = self._tables.rows(sentences_table(self._generation), f"id IN ({quoted})")
        if rows is None:
            return
        sentences = list(sentences_of(rows))
        kept = [
            row
            for row, one in enumerate(sentences)
            if one.turn_id in written or one.turn_id in self._view.space(one.space).turns
        ]
        found = Batch(sentences=tuple(sentences[row] for row in kept), sentence_vectors=vectors_of(rows)[kept])
        self._view.add(found, self._view.tx)
