"""Which documents are about something that a text names.

The head of a document is its title or the subject of its first sentence (``language/names.py``). It stands in a
question when its words do, in a row, and so it does in another document, which then mentions this one.
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from mcp_memory.language.names import head, short
from mcp_memory.language.tokens import words
from mcp_memory.view.columns import Column
from mcp_memory.view.space import Space

LONGEST_QUESTION = 200
"""Words of a question that are searched for heads; a pasted page is not a question."""

TALK = -1
"""Stands for what talk is about: nothing in particular."""
Head = tuple[str, ...]
"""The words of what a document is about, as `language.names.head` gives them."""


class HeadIndex:
    """The segments of the documents with each head, and the head of each segment."""

    def __init__(self) -> None:
        self._rows: dict[Head, array[int]] = {}
        self._heads: list[Head] = []  # of each segment; empty for talk
        self._subjects: Column[np.int32] = Column(np.int32)
        self._numbers: dict[Head | str, int] = {}  # of the subjects, by head, or by turn where there is none
        self._longest: dict[str, int] = {}  # first word → words of the longest head that begins with it

    def extend(self, space: Space, since: int) -> None:
        """Take in the segments of ``space`` from row ``since`` on."""
        last = ""  # the segments of a document follow one another
        about: Head = ()
        shorter: Head = ()
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            if turn.kind != "document":
                self._heads.append(())
                self._subjects.append(TALK)
                continue
            if turn.id != last:
                last, about = turn.id, head(turn.title, turn.text)
                shorter = short(turn.title, about)
            self._heads.append(about)
            self._subjects.append(self._numbers.setdefault(about or turn.id, len(self._numbers)))
            for name in (about, shorter):
                if name:
                    self._rows.setdefault(name, array("q")).append(row)
                    self._longest[name[0]] = max(self._longest.get(name[0], 0), len(name))

    def of(self, row: int) -> Head:
        """Return the head of the document that a segment is of; empty for talk and where nothing tells."""
        return self._heads[row]

    @property
    def subjects(self) -> NDArray[np.int32]:
        """What each segment is about, by number, shape ``(segments,)``: documents with one head share it."""
        return self._subjects.values

    def rows(self, about: Head) -> NDArray[np.int64]:
        """Return the segments of the documents with a head, ascending, old revisions among them."""
        return np.frombuffer(self._rows[about], dtype=np.int64)

    def named(self, text: str) -> list[Head]:
        """Return the heads that a text mentions, each once, in order; of heads within one another the longest.

        A head counts where its first word does not begin in lower case somewhere in the text: "Red Mill" is the name
        of something and "a red mill" is not. Scripts without capitals are not held to it.
        """
        spelt = " ".join(word for word in text.split() if not word[0].islower())
        openings = self._longest.keys() & words(spelt)
        if not openings:
            return []
        said = words(text)
        found: dict[Head, None] = {}
        end = 0
        for place in [place for place, word in enumerate(said) if word in openings]:
            if place < end:
                continue  # within the one before
            for length in range(min(self._longest[said[place]], len(said) - place), 0, -1):
                about = tuple(said[place : place + length])
                if about in self._rows:
                    found[about] = None
                    end = place + length
                    break
        return list(found)

    def in_question(self, space: Space, question: str) -> NDArray[np.bool_]:
        """Return which segments are of documents whose head stands in the question, shape ``(segments,)``."""
        found = np.zeros(len(space.segments), dtype=np.bool_)
        asked = words(question)[:LONGEST_QUESTION]
        for start, word in enumerate(asked):
            for end in range(start + 1, min(start + self._longest.get(word, 0), len(asked)) + 1):
                if rows := self._rows.get(tuple(asked[start:end])):
                    found[np.frombuffer(rows, dtype=np.int64)] = True
        return found
