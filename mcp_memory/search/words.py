"""BM25 over the stems of the segments, kept up as segments arrive.

In talk a turn is often understood only from the turns around it ("Yes, last summer!"), so the counts of the turns
before and after in the same session count for a turn too: half for the next ones, a quarter for those beyond. Nothing
of that is stored; counts are spread when they are read, so a turn that arrives changes its neighbours' score by itself.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), §3.2; the idf is Lucene's, which
is never negative. Talk and documents are counted apart: they differ in length and wording, and neither shall change
what the other finds. Old revisions of documents stay in the counts, since they were what the space was made of; they
are left out where segments are ranked.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mcp_memory.language.tokens import stems
from mcp_memory.search.indexed import words_text
from mcp_memory.vectors import Scores
from mcp_memory.view.columns import Column
from mcp_memory.view.space import NONE, Space

K1 = 0.9
"""How fast a count saturates. Anserini's default for passages; on three of four sets better than 1.2, 1.5 and 2."""
B = 0.4
"""How much a long text is held against it. Anserini's default for passages; on three of four sets better than .75."""
NEIGHBOURS = (0.5, 0.25)
"""What the counts of the turn one away, and of the turn two away, weigh (measured; +6 to +8 points of recall)."""


class WordIndex:
    """Which segment says which stem how often."""

    def __init__(self) -> None:
        self._postings: dict[bool, dict[str, _Postings]] = {True: {}, False: {}}  # of talk, of documents
        self._segments = {True: 0, False: 0}
        self._lengths: Column[np.float32] = Column(np.float32)
        self._spread_lengths: Scores | None = None
        self._means: dict[tuple[bool, bool], float] = {}  # of the lengths of talk or documents, spread or not

    def extend(self, space: Space, since: int) -> None:
        """Take in the segments of ``space`` from row ``since`` on."""
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            counts = Counter(stems(words_text(turn, space.text(space.segments[row]))))
            talk = turn.kind != "document"
            postings = self._postings[talk]
            for stem, count in counts.items():
                posting = postings.get(stem)
                if posting is None:
                    posting = postings[stem] = _Postings()
                posting.append(row, count)
            self._segments[talk] += 1
            self._lengths.append(counts.total())
        self._spread_lengths = None
        self._means.clear()

    def score(self, space: Space, asked: Iterable[str], *, talk: bool, neighbours: bool = True) -> Scores:
        """Return BM25 of each segment of one kind for the stems asked, each taken once.

        Args:
            space: the one that this index belongs to.
            asked: stems.
            talk: score messages, else documents.
            neighbours: let the turns around a turn count for it.

        Returns:
            Shape ``(len(space.segments),)``; 0 for the other kind and where no stem occurs.
        """
        scores = np.zeros(len(self._lengths), dtype=np.float32)
        postings, many = self._postings[talk], self._segments[talk]
        around = talk and neighbours
        lengths = self._around(space) if around else self._lengths.values
        if (talk, around) not in self._means:
            self._means[talk, around] = float(lengths[space.talk == talk].mean()) if many else 0.0
        mean = self._means[talk, around]
        if not mean:
            return scores
        for stem in sorted(set(asked)):  # in one order, so that sums of floats are the same each time
            posting = postings.get(stem)
            if posting is None:
                continue
            rows, counts = posting.arrays()
            idf = np.float32(np.log1p((many - len(rows) + 0.5) / (len(rows) + 0.5)))
            if around:
                spread = _spread(space, rows, counts, len(scores))
                rows = np.flatnonzero(spread)
                counts = spread[rows]
            norm = K1 * (1 - B + B / mean * lengths[rows])
            scores[rows] += idf * (K1 + 1) * counts / (counts + norm)
        return scores

    def says(self, rows: NDArray[np.intp], stem: str) -> NDArray[np.bool_]:
        """Return which of the segments say a stem, themselves, not their neighbours; shape ``(len(rows),)``."""
        said = np.zeros(len(rows), dtype=np.bool_)
        for postings in self._postings.values():
            if stem in postings:
                there = postings[stem].arrays()[0]
                said |= there[np.minimum(np.searchsorted(there, rows), len(there) - 1)] == rows
        return said

    def rarity(self, stem: str) -> float:
        """Return the idf of a stem in the whole space, at least 0; highest for one that is nowhere."""
        found = sum(len(postings[stem]) for postings in self._postings.values() if stem in postings)
        return float(np.log1p((len(self._lengths) - found + 0.5) / (found + 0.5)))

    def _around(self, space: Space) -> Scores:
        if self._spread_lengths is None:
            every = np.arange(len(self._lengths))
            self._spread_lengths = _spread(space, every, self._lengths.values, len(every))
        return self._spread_lengths


class _Postings:
    """The rows that say one stem, ascending, and how often each says it."""

    __slots__ = ("_counts", "_rows")

    def __init__(self) -> None:
        self._rows = array("q")
        self._counts = array("f")

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, row: int, count: int) -> None:
        self._rows.append(row)
        self._counts.append(count)

    def arrays(self) -> tuple[NDArray[np.int64], Scores]:
        """Return windows on both; they must be let go before the next append."""
        return np.frombuffer(self._rows, dtype=np.int64), np.frombuffer(self._counts, dtype=np.float32)


def _spread(space: Space, rows: NDArray[np.int64], counts: Scores, length: int) -> Scores:
    """Return what each of ``length`` segments gets when counts are spread over the turns around."""
    spread = np.zeros(length, dtype=np.float32)
    spread[rows] = counts
    for link in (space.previous, space.next):
        at, given = rows, counts
        for weight in NEIGHBOURS:
            at = link[at]
            there = at != NONE
            at, given = at[there], given[there]
            spread[at] += np.float32(weight) * given  # no row twice: a turn has one neighbour on a side
    return spread
