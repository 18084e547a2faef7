"""Ingest: derive sentences, segments, stated times, asserted facts and vectors from a text alone.

Writing and rebuilding both derive rows here, so a rebuilt memory equals the memory that was written. A rebuild derives
everything again from the log of turns: `doctor` does it after damage or after a change of the embedder, and a store of
an older format needs it.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import chain

import numpy as np
from anyio import to_thread

from mcp_memory.domain.batch import KEEP, Batch, Masking, masked_turn
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import (
    Segment,
    Sentence,
    Talkers,
    Turn,
    is_undated_import,
    segment_id,
    sentence_id,
    shares_vectors,
)
from mcp_memory.language.segments import outline, pack_segments, split
from mcp_memory.language.stated import stated_times
from mcp_memory.ports import Embedder, Extractor, Progress
from mcp_memory.search.words import embedded_text
from mcp_memory.temporal.assertions import at_no_time
from mcp_memory.vectors import Matrix

_log = logging.getLogger(__name__)

SHORT = 500
"""Characters of a message up to which its sentences are embedded with it: see `_of_sentences`."""
SLICE = 64
"""Texts embedded between two reports of progress, and so between two chances to cancel."""
_NONE: Matrix = np.empty((0, 0), dtype=np.float32)
_Text = str | tuple[str, int, int]
"""What is embedded: a text, or a part of one, as the text with the first and the last character (exclusive)."""
_Cut = tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[StatedTime, ...]], list[Assertion]]


@dataclass(frozen=True, slots=True)
class DerivedRows:
    """The rows derived from the text of one turn.

    Attributes:
        spans: the spans of its sentences, in characters.
        runs: its segments, as the first and the last (inclusive) of their sentences.
        times: the times that each sentence states.
        assertions: in the order of the words.
        segment_vectors: shape ``(len(runs), d)``.
        sentence_vectors: shape ``(len(spans), d)``, see `_of_sentences`.
    """

    spans: Sequence[tuple[int, int]]
    runs: Sequence[tuple[int, int]]
    times: Sequence[tuple[StatedTime, ...]]
    assertions: Sequence[Assertion]
    segment_vectors: Matrix
    sentence_vectors: Matrix


@dataclass(frozen=True, slots=True)
class Reading:
    """The tools that read texts; the same for writing and for rebuilding.

    Attributes:
        embedder: the embedder for the vectors.
        extractor: the extractor for the facts; None reads none.
        segment_tokens: approximate length of a segment.
        masking: the masking of secrets in these texts.
        zone: the zone of times that say no offset; None for that of this machine.
    """

    embedder: Embedder
    extractor: Extractor | None
    segment_tokens: int
    masking: Masking = KEEP
    zone: tzinfo | None = UTC


async def derive(
    reading: Reading, turns: Sequence[Turn], talkers: Sequence[Talkers], *, progress: Progress
) -> list[DerivedRows]:
    """Return the rows derived from each turn's text, in the order of the turns.

    Args:
        reading: the embedder and the extractor.
        turns: the texts.
        talkers: who spoke before each turn, and what was said (``domain/turns.py``).
        progress: the progress of the embedding, which takes most of the time.

    Cutting is plain computation, yet five megabytes of it take a second: it runs in a thread, so that the server
    answers other calls meanwhile.
    """
    turns = await to_thread.run_sync(lambda: [masked_turn(turn, reading.masking) for turn in turns])
    cuts = [
        await to_thread.run_sync(_cut, reading, turn, talking) for turn, talking in zip(turns, talkers, strict=True)
    ]
    texts = [_embedded_texts(turn, spans, runs) for turn, (spans, runs, *_) in zip(turns, cuts, strict=True)]
    vectors, row = await _vectors_of(
        reading, [text for of_runs, of_spans in texts for text in (*of_runs, *of_spans)], progress
    )
    return [
        DerivedRows(*cut, vectors[[row[t] for t in of_runs]], vectors[[row[t] for t in of_spans]])
        for cut, (of_runs, of_spans) in zip(cuts, texts, strict=True)
    ]


async def silent(_done: float, _total: float, _what: str) -> None:
    """Ignore a report of progress."""


def batch_of(turns: Sequence[Turn], derived: Sequence[DerivedRows]) -> Batch:
    """Return the rows of the turns and of everything derived from them."""
    segments: list[Segment] = []
    sentences: list[Sentence] = []
    for turn, rows in zip(turns, derived, strict=True):
        of_turn = _pieces(turn, rows.spans, rows.runs, rows.times)
        segments += of_turn[0]
        sentences += of_turn[1]
    return Batch(
        turns=tuple(turns),
        segments=tuple(segments),
        sentences=tuple(sentences),
        segment_vectors=np.concatenate([rows.segment_vectors for rows in derived]) if derived else _NONE,
        sentence_vectors=np.concatenate([rows.sentence_vectors for rows in derived]) if derived else _NONE,
        assertions=tuple(assertion for rows in derived for assertion in rows.assertions),
    )


def _pieces(
    turn: Turn,
    spans: Sequence[tuple[int, int]],
    runs: Sequence[tuple[int, int]],
    times: Sequence[Sequence[StatedTime]],
) -> tuple[list[Segment], list[Sentence]]:
    """Return the segments and sentences of a turn, made of the spans in its text."""
    sentences = [
        Sentence(
            sentence_id(turn.id, index, turn.text[start:end]), turn.space, turn.id, index, start, end, tuple(stated)
        )
        for index, ((start, end), stated) in enumerate(zip(spans, times, strict=True))
    ]
    segments = []
    for index, (first, last) in enumerate(runs):
        start, end = spans[first][0], spans[last][1]
        name = segment_id(turn.id, index, turn.text[start:end])
        segments.append(Segment(name, turn.space, turn.id, index, start, end, first, last))
    return segments, sentences


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts texts that are stored and not indexed yet, just as `derive` will (``view.pieces.Cut``).

    Attributes:
        segment_tokens: as in `Reading`.
        dimension: the dimension of the vectors to come.
    """

    segment_tokens: int
    dimension: int

    def __call__(self, turn: Turn) -> tuple[list[Segment], list[Sentence]]:
        """Return the segments and sentences of a turn."""
        spans = split(turn.text)
        times = [stated_times(turn.text, turn.local_said_at, start, end) for start, end in spans]
        return _pieces(turn, spans, pack_segments(turn.text, spans, self.segment_tokens), times)


@dataclass(frozen=True, slots=True)
class TextPart:
    """Consecutive segments of a turn that is stored without vectors; mostly all of them.

    Attributes:
        turn: the text.
        talkers: who spoke before it, and what was said (``domain/turns.py``).
        segments: in order. The facts of a turn are read with its first one.
        sentences: those that begin in these segments, in order.
    """

    turn: Turn
    talkers: Talkers
    segments: tuple[Segment, ...]
    sentences: tuple[Sentence, ...]


async def index_parts(reading: Reading, parts: Sequence[TextPart]) -> Batch:
    """Return the vectors of parts of texts, and the facts of the texts that begin in them, as `derive` makes them."""
    assertions: list[Assertion] = []
    for part in parts:
        if part.segments[0].index == 0:
            assertions += await to_thread.run_sync(_facts_of, reading, part.turn, part.talkers)
    texts = [_part_texts(part) for part in parts]
    of_segments = [text for of_part, _ in texts for text in of_part]
    of_sentences = [text for _, of_part in texts for text in of_part]
    vectors, row = await _vectors_of(reading, [*of_segments, *of_sentences], silent)
    return Batch(
        segments=tuple(segment for part in parts for segment in part.segments),
        sentences=tuple(sentence for part in parts for sentence in part.sentences),
        segment_vectors=vectors[[row[text] for text in of_segments]],
        sentence_vectors=vectors[[row[text] for text in of_sentences]],
        assertions=tuple(assertions),
    )


def _part_texts(part: TextPart) -> tuple[list[str], list[_Text]]:
    """Return the texts whose vectors the segments and the sentences of a part have, as `_embedded_texts` does."""
    turn, shape = part.turn, outline(part.turn.text)
    of_segments = [embedded_text(turn, turn.text[one.start : one.end], shape.path(one.start)) for one in part.segments]
    ends, lasts = [segment.end for segment in part.segments], [segment.last for segment in part.segments]
    places = [bisect_left(lasts, one.index) for one in part.sentences]
    return of_segments, _of_sentences(turn, of_segments, ends, places, [(one.start, one.end) for one in part.sentences])


def _of_sentences(
    turn: Turn, of_segments: list[str], ends: Sequence[int], places: Sequence[int], spans: Sequence[tuple[int, int]]
) -> list[_Text]:
    """Return what is embedded of each sentence of a turn, where ``places`` says in which of some segments it stands.

    Its vector is that of its segment in a long text (`shares_vectors`), or if it is all of a message's segment; in a
    short message that of its part of the segment, which is made with the segment's own; and otherwise that of its own
    words.
    """
    if shares_vectors(turn):
        return [of_segments[place] for place in places]
    held = Counter(places)
    found: list[_Text] = []
    for place, (start, end) in zip(places, spans, strict=True):
        own, whole = turn.text[start:end], of_segments[place]
        before = len(whole) - ends[place]  # speaker and headings, less what of the turn comes before the segment
        if turn.kind == "message" and held[place] == 1:
            found.append(whole)
        elif turn.kind == "message" and len(turn.text) <= SHORT:
            found.append((whole, start + before, end + before))
        else:
            found.append(own)
    return found


async def _vectors_of(reading: Reading, wanted: Sequence[_Text], progress: Progress) -> tuple[Matrix, dict[_Text, int]]:
    """Return the vectors of texts and parts, and in which row each is."""
    parts: dict[str, list[tuple[str, int, int]]] = {}
    for one in dict.fromkeys(wanted):
        if isinstance(one, str):
            parts.setdefault(one, [])
        else:
            parts.setdefault(one[0], []).append(one)
    order = sorted(parts, key=len)
    row: dict[_Text, int] = {}
    made = [np.empty((0, reading.embedder.dimension), dtype=np.float32)]
    for start in range(0, len(order), SLICE):  # texts of one slice are computed together, each padded to the longest
        await progress(start, len(order), "embedding")
        texts = order[start : start + SLICE]
        spans = [[(first, last) for _, first, last in parts[text]] for text in texts]
        made += await reading.embedder.embed_parts(texts, spans)
        row |= {text: len(row) + place for place, text in enumerate(texts)}
        row |= {part: len(row) + place for place, part in enumerate(chain.from_iterable(parts[text] for text in texts))}
    return np.concatenate(made), row


def deriver(reading: Reading, *, progress: Progress) -> Callable[[list[Turn]], Awaitable[Batch]]:
    """Return a function that derives the batch of turns again as `write` did; it gets every turn once, in order."""
    talking: dict[tuple[str, str], Talkers] = defaultdict(Talkers)

    async def derive_again(turns: list[Turn]) -> Batch:
        turns = await to_thread.run_sync(lambda: [masked_turn(turn, reading.masking) for turn in turns])
        talkers = []
        for turn in turns:
            place = turn.space, turn.session
            talkers.append(talking[place])
            talking[place] = talking[place].after(turn)
        return batch_of(turns, await derive(reading, turns, talkers, progress=progress))

    return derive_again


def read_again(reading: Reading) -> Callable[..., Awaitable[list[Assertion]]]:
    """Return a function that reads the facts of turns as `derive` does; it gets every turn once, in order.

    Turns that are ``known`` are not read: they only say who spoke before the others.
    """
    talking: dict[tuple[str, str], Talkers] = defaultdict(Talkers)

    async def read(turns: list[Turn], *, known: bool) -> list[Assertion]:
        found: list[Assertion] = []
        for turn in turns:
            place = turn.space, turn.session
            talkers = talking[place]
            talking[place] = talkers.after(turn)
            if not known:
                shown = masked_turn(turn, reading.masking)
                found += await to_thread.run_sync(_facts_of, reading, shown, talkers)
        return found

    return read


def _facts_of(reading: Reading, turn: Turn, talkers: Talkers) -> list[Assertion]:
    return _read(reading, turn, talkers)[-1]


def _read(
    reading: Reading, turn: Turn, talkers: Talkers
) -> tuple[list[tuple[int, int]], list[tuple[StatedTime, ...]], list[Assertion]]:
    spans = split(turn.text)
    times = [stated_times(turn.text, turn.local_said_at, start, end) for start, end in spans]
    if reading.extractor is None or turn.kind == "statement":  # a statement is a fact already
        return spans, times, []
    before = [masked_turn(one, reading.masking) for one in talkers.before] if turn.kind == "message" else []
    try:
        facts = reading.extractor.extract(turn, talkers.partner(turn), spans, times, before)
    except Exception:  # a fault of the rules: the text is found without its facts, and what follows it, too
        _log.exception(
            "No facts were read out of %s of session %r, which is found as text alone", turn.id, turn.session
        )
        facts = []
    return spans, times, [at_no_time(fact) for fact in facts] if is_undated_import(turn) else facts


def _cut(reading: Reading, turn: Turn, talkers: Talkers) -> _Cut:
    spans, times, assertions = _read(reading, turn, talkers)
    return spans, pack_segments(turn.text, spans, reading.segment_tokens), times, assertions


def _embedded_texts(
    turn: Turn, spans: Sequence[tuple[int, int]], runs: Sequence[tuple[int, int]]
) -> tuple[list[str], list[_Text]]:
    """Return the texts of a turn whose vectors its segments and its sentences have."""
    shape = outline(turn.text)
    ends = [(spans[first][0], spans[last][1]) for first, last in runs]
    of_runs = [embedded_text(turn, turn.text[start:end], shape.path(start)) for start, end in ends]
    lasts = [last for _, last in runs]
    places = [bisect_left(lasts, index) for index in range(len(spans))]
    return of_runs, _of_sentences(turn, of_runs, [end for _, end in ends], places, spans)
