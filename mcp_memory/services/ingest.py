"""What follows from a text alone: its sentences, segments, the times it states, the facts it asserts, and vectors.

Writing and rebuilding both come here, so a rebuilt memory is the memory that was written.

Rebuild: everything that is derived, made anew from the log of what was said.

It is what `doctor` does after damage, after a change of the embedder, and what a store of an older format needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.ids import segment_id, sentence_id
from mcp_memory.domain.talkers import Talkers
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.language.dates import stated_times
from mcp_memory.language.sentences import pack_segments, split
from mcp_memory.ports import Embedder, Extractor, Progress
from mcp_memory.search.words import embedded_text
from mcp_memory.vectors import Matrix

SLICE = 64
"""Texts embedded between two reports of progress, and so between two chances to cancel."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A turn's text taken apart.

    Attributes:
        spans: of its sentences, in characters.
        runs: its segments, as the first and the last (inclusive) of their sentences.
        times: what each sentence states.
        assertions: what is asserted, in the order of the words.
        segment_vectors: shape ``(len(runs), d)``.
        sentence_vectors: shape ``(len(spans), d)``.
    """

    spans: Sequence[tuple[int, int]]
    runs: Sequence[tuple[int, int]]
    times: Sequence[tuple[StatedTime, ...]]
    assertions: Sequence[Assertion]
    segment_vectors: Matrix
    sentence_vectors: Matrix


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text is read with; the same for writing and for rebuilding.

    Attributes:
        embedder: for the vectors.
        extractor: for the facts; None reads none.
        segment_tokens: about how long a segment is.
    """

    embedder: Embedder
    extractor: Extractor | None
    segment_tokens: int


async def derive(
    reading: Reading, turns: Sequence[Turn], partners: Sequence[str | None], *, progress: Progress
) -> list[Derived]:
    """Return what follows from each turn's text, in the order of the turns.

    Args:
        reading: what to read with.
        turns: the texts.
        partners: whom each of them is said to (``domain/talkers.py``).
        progress: told of the embedding, which is what takes time.

    Cutting is our own arithmetic, yet five megabytes of it take a second: it runs in a thread, so that the server
    answers other calls meanwhile.
    """
    cuts = [
        await to_thread.run_sync(_cut, reading, turn, partner) for turn, partner in zip(turns, partners, strict=True)
    ]
    texts = [_texts(turn, spans, runs) for turn, (spans, runs, *_) in zip(turns, cuts, strict=True)]
    distinct = dict.fromkeys(text for of_runs, of_spans in texts for text in (*of_runs, *of_spans))
    row = {text: number for number, text in enumerate(distinct)}
    vectors = await _embed(reading.embedder, list(row), progress)
    return [
        Derived(*cut, vectors[[row[t] for t in of_runs]], vectors[[row[t] for t in of_spans]])
        for cut, (of_runs, of_spans) in zip(cuts, texts, strict=True)
    ]


def batch_of(turns: Sequence[Turn], derived: Sequence[Derived]) -> Batch:
    """Return the rows of the turns and of all that was derived from them."""
    segments: list[Segment] = []
    sentences: list[Sentence] = []
    for turn, part in zip(turns, derived, strict=True):
        for index, (start, end) in enumerate(part.spans):
            name = sentence_id(turn.id, index, turn.text[start:end])
            sentences.append(Sentence(name, turn.space, turn.id, index, start, end, tuple(part.times[index])))
        for index, (first, last) in enumerate(part.runs):
            start, end = part.spans[first][0], part.spans[last][1]
            name = segment_id(turn.id, index, turn.text[start:end])
            segments.append(Segment(name, turn.space, turn.id, index, start, end, first, last))
    return Batch(
        turns=tuple(turns),
        segments=tuple(segments),
        sentences=tuple(sentences),
        segment_vectors=np.concatenate([part.segment_vectors for part in derived]) if derived else _NONE,
        sentence_vectors=np.concatenate([part.sentence_vectors for part in derived]) if derived else _NONE,
        assertions=tuple(assertion for part in derived for assertion in part.assertions),
    )


_NONE: Matrix = np.empty((0, 0), dtype=np.float32)
_Cut = tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[StatedTime, ...]], list[Assertion]]


def _cut(reading: Reading, turn: Turn, partner: str | None) -> _Cut:
    spans = split(turn.text)
    times = [stated_times(turn.text, turn.said_at, start, end) for start, end in spans]
    facts: list[Assertion] = []
    if reading.extractor is not None and turn.kind != "statement":  # a statement is a fact already
        facts = reading.extractor.extract(turn, partner, spans, times)
    return spans, pack_segments(turn.text, spans, reading.segment_tokens), times, facts


def _texts(
    turn: Turn, spans: Sequence[tuple[int, int]], runs: Sequence[tuple[int, int]]
) -> tuple[list[str], list[str]]:
    """Return what is embedded of a turn: a text for each segment, and one for each sentence."""
    of_runs = [embedded_text(turn, turn.text[spans[first][0] : spans[last][1]]) for first, last in runs]
    return of_runs, [turn.text[start:end] for start, end in spans]


async def _embed(embedder: Embedder, texts: Sequence[str], progress: Progress) -> Matrix:
    vectors = np.empty((len(texts), embedder.dimension), dtype=np.float32)
    for start in range(0, len(texts), SLICE):
        await progress(start, len(texts), "embedding")
        vectors[start : start + SLICE] = await embedder.embed(texts[start : start + SLICE])
    return vectors


def deriver(reading: Reading, *, progress: Progress) -> Callable[[list[Turn]], Awaitable[Batch]]:
    """Return what makes batches of turns anew, the way `write` first made them; they must come in order, and once."""
    talking: dict[tuple[str, str], Talkers] = defaultdict(Talkers)

    async def make(turns: list[Turn]) -> Batch:
        partners = []
        for turn in turns:
            place = turn.space, turn.session
            partners.append(talking[place].partner(turn))
            talking[place] = talking[place].after(turn)
        return batch_of(turns, await derive(reading, turns, partners, progress=progress))

    return make
