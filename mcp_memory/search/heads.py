"""Which documents are about something that the question names.

The head of a document is its title or the subject of its first sentence (``language/names.py``). It stands in a
question when its words do, in a row.
"""

from __future__ import annotations

from array import array

import numpy as np

from mcp_memory.language.names import HEAD_LENGTH, head
from mcp_memory.language.tokens import words
from mcp_memory.vectors import Scores
from mcp_memory.view.space import Space

LONGEST_QUESTION = 200
"""Words of a question that are searched for heads; a pasted page is not a question."""


class HeadIndex:
    """The segments of the documents with each head."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, ...], array[int]] = {}

    def extend(self, space: Space, since: int) -> None:
        """Take in the segments of ``space`` from row ``since`` on."""
        last = ""  # the segments of a document follow one another
        about: tuple[str, ...] = ()
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            if turn.kind != "document":
                continue
            if turn.id != last:
                last, about = turn.id, head(turn.title, turn.text)
            if about:
                self._rows.setdefault(about, array("q")).append(row)

    def in_question(self, space: Space, question: str) -> Scores:
        """Return 1 for the segments of documents whose head stands in the question, else 0; shape ``(segments,)``."""
        found = np.zeros(len(space.segments), dtype=np.float32)
        asked = words(question)[:LONGEST_QUESTION]
        for start in range(len(asked)):
            for end in range(start + 1, min(start + HEAD_LENGTH, len(asked)) + 1):
                if rows := self._rows.get(tuple(asked[start:end])):
                    found[np.frombuffer(rows, dtype=np.int64)] = 1.0
        return found
