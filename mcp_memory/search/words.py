"""The words of segments and the titles of documents, indexed as segments arrive; and the text that is embedded.

**Words** are scored by BM25 over stems (`WordIndex`).
A message is often understood only from the messages around it ("Yes, last summer!"), so the counts of the messages
before and after in the same session count for it too: half for direct neighbours, a quarter for the next ones. This is
not stored; counts are spread when they are read, so a message that arrives changes the scores of its neighbours.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), §3.2; the idf is Lucene's, which
is never negative. Talk and documents have separate statistics: they differ in length and wording, and neither should
change what the other finds. Old revisions of documents stay in the counts, but are not ranked.

**What is embedded and what is indexed.** A message is embedded with its speaker in front, as the embedder was trained
to read it. The indexed text has the day as well, written as questions write it ("8 May 2023"). A document's title
belongs to each of its segments in both texts: often the title alone says what "it" or "she" is. Measured on titled
passages, R@5 rises by 2 to 9 points with the title in the embedded text. The headings above a segment stand before it
in both, too (``language/segments.py``).

**Titles** (`TitleIndex`). The title of a document is its given title without additions in brackets, or the subject of
its first sentence where it has none (``language/tokens.py``). A text mentions a document when the words of its title
stand in the text in a row.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Turn
from mcp_memory.language.segments import Outline, outline
from mcp_memory.language.stated import day_in_words
from mcp_memory.language.tokens import head, short, stems, words
from mcp_memory.vectors import Column, Rows, Scores
from mcp_memory.view.space import NONE, Space

K1 = 0.9
"""How fast a count saturates. Anserini's default for passages; on three of four sets better than 1.2, 1.5 and 2."""
B = 0.4
"""How much length lowers the score. Anserini's default for passages; on three of four sets better than .75."""
NEIGHBOURS = (0.5, 0.25)
"""Weights of the counts of the message one away and of the one two away (measured: +6 to +8 points of recall)."""

BEFORE_CHARS = 60
"""Characters of what was said before, from its end: a reply such as "the second one" means nothing without it."""
READ_CHARS = 420
"""Characters of a record that are read; time grows with them, and most messages are shorter."""


def embedded_text(turn: Turn, text: str, headings: Sequence[str] = ()) -> str:
    """Return what is embedded of a segment of ``turn`` that says ``text`` under these ``headings``, outermost first."""
    title = turn.title if turn.kind == "document" else None
    above = [one for one in headings if one != title]
    text = f"{' > '.join(above)}. {text}" if above else text
    if turn.kind != "document":
        who = turn.speaker or turn.role
        return message_text(who, text) if who else text
    return f"{title}. {text}" if title else text


def message_text(speaker: str, text: str, before: str = "") -> str:
    """Return a message as the models see it: who said it, the words, and the end of what was said before.

    The embedder sees nothing of what was said before: that may be forgotten, and must not stay in a vector.
    """
    shown = f"{speaker}: {text}"
    return f"{shown} [before: {before[-BEFORE_CHARS:]}]" if before and len(text) < READ_CHARS else shown


def indexed_text(turn: Turn, text: str, headings: Sequence[str] = ()) -> str:
    """Return what is indexed for its words of a segment of ``turn`` that says ``text`` under these ``headings``."""
    text = embedded_text(turn, text, headings)
    return text if turn.kind == "document" else f"({day_in_words(turn.local_time)}) {text}"


class WordIndex:
    """How often each segment contains each stem."""

    def __init__(self) -> None:
        self._postings: dict[bool, dict[str, array[int]]] = {True: {}, False: {}}  # by stem, of talk and of documents
        self._segments = {True: 0, False: 0}
        self._lengths: Column[np.float32] = Column(np.float32)
        self._spread_lengths: Scores | None = None
        self._means: dict[tuple[bool, bool], float] = {}  # of the lengths of talk or documents, spread or not

    def add_segments(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""
        last, shape = "", Outline()  # the segments of a turn follow one another
        for row in range(since, len(space.segments)):
            turn, segment = space.segment_turn[row], space.segments[row]
            if turn.id != last:
                last, shape = turn.id, outline(turn.text)
            counts = Counter(stems(indexed_text(turn, space.text(segment), shape.path(segment.start))))
            talk = turn.kind != "document"
            postings = self._postings[talk]
            for stem, count in counts.items():
                if stem not in postings:
                    postings[stem] = array("q")
                postings[stem].append(row * _COUNTS + min(count, _COUNTS - 1))
            self._segments[talk] += 1
            self._lengths.append(counts.total())
        self._spread_lengths = None
        self._means.clear()

    def score(self, space: Space, query_stems: Iterable[str], *, talk: bool, neighbours: bool = True) -> Scores:
        """Return BM25 of each segment of one kind for the stems of a query, each counted once.

        Args:
            space: the one that this index belongs to.
            query_stems: in any order.
            talk: score messages, else documents.
            neighbours: let the messages around a message count for it.

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
        for stem in sorted(set(query_stems)):  # a fixed order, so that sums of floats are the same each time
            if stem not in postings:
                continue
            rows, counts = _rows_and_counts(postings[stem])
            idf = np.float32(np.log1p((many - len(rows) + 0.5) / (len(rows) + 0.5)))
            if around:
                spread = _spread(space, rows, counts, len(scores))
                rows = np.flatnonzero(spread)
                counts = spread[rows]
            norm = K1 * (1 - B + B / mean * lengths[rows])
            scores[rows] += idf * (K1 + 1) * counts / (counts + norm)
        return scores

    def contains(self, rows: Rows, stem: str) -> NDArray[np.bool_]:
        """Return which of the segments contain a stem, not counting their neighbours; shape ``(len(rows),)``."""
        contained = np.zeros(len(rows), dtype=np.bool_)
        for postings in self._postings.values():
            if stem in postings:
                holders, _ = _rows_and_counts(postings[stem])
                contained |= holders[np.minimum(np.searchsorted(holders, rows), len(holders) - 1)] == rows
        return contained

    def holds(self, word: str) -> bool:
        """Return whether any segment contains the stems of a word; accents do not count."""
        return all(any(stem in postings for postings in self._postings.values()) for stem in stems(word))

    def rows_with(self, stem: str) -> Sequence[int]:
        """Return the rows of the messages that contain a stem, ascending."""
        postings = self._postings[True]
        return _rows_and_counts(postings[stem])[0].tolist() if stem in postings else ()

    def rarity(self, stem: str) -> float:
        """Return the idf of a stem in the whole space, at least 0; highest for one that does not occur."""
        holders = sum(len(one.get(stem, ())) for one in self._postings.values())
        return float(np.log1p((len(self._lengths) - holders + 0.5) / (holders + 0.5)))

    def rarities(self, stems: Iterable[str]) -> dict[str, float]:
        """Return the idf of each of some stems, in their order."""
        return {stem: self.rarity(stem) for stem in stems}

    def _around(self, space: Space) -> Scores:
        if self._spread_lengths is None:
            every = np.arange(len(self._lengths))
            self._spread_lengths = _spread(space, every, self._lengths.values, len(every))
        return self._spread_lengths


_COUNTS = 1 << 16
"""A posting is the row of a segment times this, and how often the segment contains the stem."""


def _rows_and_counts(posting: array[int]) -> tuple[NDArray[np.int64], Scores]:
    """Return the segments that contain a stem, ascending, and how often each does."""
    packed = np.frombuffer(posting, dtype=np.int64)
    return packed // _COUNTS, (packed % _COUNTS).astype(np.float32)


def _spread(space: Space, rows: NDArray[np.int64], counts: Scores, length: int) -> Scores:
    """Return the counts of ``length`` segments after each is spread over the messages around it."""
    spread = np.zeros(length, dtype=np.float32)
    spread[rows] = counts
    for link in (space.rows_before, space.rows_after):
        targets, passed = rows, counts
        for weight in NEIGHBOURS:
            targets = link[targets]
            exists = targets != NONE
            targets, passed = targets[exists], passed[exists]
            spread[targets] += np.float32(weight) * passed  # no row twice: a message has one neighbour on a side
    return spread


LONGEST_QUERY = 200
"""Words of a query that are searched for titles; a pasted page is not a question."""
TALK = -1
"""The subject of messages, which have none in particular."""
Title = tuple[str, ...]
"""The words of a title, as `language.tokens.head` returns them."""


class TitleIndex:
    """The segments of the documents with each title, and the title of each segment."""

    def __init__(self) -> None:
        self._rows: dict[Title, array[int]] = {}
        self._titles: list[Title] = []  # of each segment; empty for talk
        self._subjects: Column[np.int32] = Column(np.int32)
        self._numbers: dict[Title | str, int] = {}  # of the subjects, by title, or by turn where there is none
        self._longest: dict[str, int] = {}  # first word → words of the longest title that begins with it

    def add_segments(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""
        last = ""  # the segments of a document follow one another
        title: Title = ()
        shorter: Title = ()
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            if turn.kind != "document":
                self._titles.append(())
                self._subjects.append(TALK)
                continue
            if turn.id != last:
                last, title = turn.id, head(turn.title, turn.text)
                shorter = short(turn.title, title)
            self._titles.append(title)
            self._subjects.append(self._numbers.setdefault(title or turn.id, len(self._numbers)))
            for name in (title, shorter):
                if name:
                    self._rows.setdefault(name, array("q")).append(row)
                    self._longest[name[0]] = max(self._longest.get(name[0], 0), len(name))

    def title(self, row: int) -> Title:
        """Return the title of a segment's document; empty for talk and where none is known."""
        return self._titles[row]

    @property
    def subjects(self) -> NDArray[np.int32]:
        """The subject of each segment, by number, shape ``(segments,)``: documents with one title share it."""
        return self._subjects.values

    def rows(self, title: Title) -> NDArray[np.int64]:
        """Return the segments of the documents with a title, ascending, old revisions among them."""
        return np.frombuffer(self._rows[title], dtype=np.int64)

    def mentioned(self, text: str) -> list[Title]:
        """Return the titles that a text mentions, each once, in order; where titles overlap, the longest.

        A title counts only where its first word does not begin in lower case somewhere in the text: "Red Mill" is a
        name and "a red mill" is not. Scripts without capitals are exempt.
        """
        capitalised = " ".join(word for word in text.split() if not word[0].islower())
        openings = self._longest.keys() & words(capitalised)
        if not openings:
            return []
        tokens = words(text)
        titles: dict[Title, None] = {}
        end = 0
        for place in [place for place, word in enumerate(tokens) if word in openings]:
            if place < end:
                continue  # within the title before
            for length in range(min(self._longest[tokens[place]], len(tokens) - place), 0, -1):
                title = tuple(tokens[place : place + length])
                if title in self._rows:
                    titles[title] = None
                    end = place + length
                    break
        return list(titles)

    def in_query(self, space: Space, query: str) -> NDArray[np.bool_]:
        """Return which segments are of documents whose title stands in the query, shape ``(segments,)``."""
        titled = np.zeros(len(space.segments), dtype=np.bool_)
        tokens = words(query)[:LONGEST_QUERY]
        for start, word in enumerate(tokens):
            for end in range(start + 1, min(start + self._longest.get(word, 0), len(tokens)) + 1):
                if rows := self._rows.get(tuple(tokens[start:end])):
                    titled[np.frombuffer(rows, dtype=np.int64)] = True
        return titled
