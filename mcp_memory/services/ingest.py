"""Ingest: derive sentences, segments, stated times, asserted facts and vectors from a text alone.

Indexing and rebuilding both derive rows here, so a rebuilt memory equals the one that was indexed. A rebuild derives
everything again from the log of turns: `doctor` does it after damage or after a change of the embedder.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from itertools import chain

import numpy as np
from anyio import to_thread

from mcp_memory.domain.batch import KEEP, Batch, Masking, masked_turn
from mcp_memory.domain.facts import Assertion
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
from mcp_memory.services.assertions import at_no_time
from mcp_memory.vectors import Matrix

_log = logging.getLogger(__name__)

SHORT = 500
"""Characters of a message up to which its sentences are embedded with it: see `_sentence_texts`."""
SLICE = 64
"""Texts embedded between two reports of progress, and so between two chances to cancel."""
_Text = str | tuple[str, int, int] | None
"""What is embedded: a text, or a part of one, as the text with the first and the last character (exclusive).

None for a sentence that has no vector of its own."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The tools that read texts; the same for writing and for rebuilding.

    Attributes:
        embedder: the embedder for the vectors.
        extractor: the extractor for the facts; None reads none.
        masking: the masking of secrets in these texts.
        zone: the zone of times that say no offset; None for that of this machine.
    """

    embedder: Embedder
    extractor: Extractor | None
    masking: Masking = KEEP
    zone: tzinfo | None = UTC


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts a text into what will be stored of it, before it is indexed or after (``view.pieces.Cut``).

    Attributes:
        dimension: the dimension of the vectors to come.
    """

    dimension: int

    def __call__(self, turn: Turn) -> tuple[list[Segment], list[Sentence]]:
        """Return the segments and sentences of a turn."""
        text, spans = turn.text, split(turn.text)
        sentences = []
        for index, (start, end) in enumerate(spans):
            times = tuple(stated_times(text, turn.local_said_at, start, end))
            name = sentence_id(turn.id, index, text[start:end])
            sentences.append(Sentence(name, turn.space, turn.id, index, start, end, times))
        segments = []
        for index, (first, last) in enumerate(pack_segments(text, spans)):
            start, end = spans[first][0], spans[last][1]
            name = segment_id(turn.id, index, text[start:end])
            segments.append(Segment(name, turn.space, turn.id, index, start, end, first, last))
        return segments, sentences


@dataclass(frozen=True, slots=True)
class TextPart:
    """Consecutive segments of a turn; mostly all of them.

    Attributes:
        turn: the text.
        talkers: who spoke before it (``domain/turns.py``).
        segments: in order. The facts of a turn are read with its first one.
        sentences: those that begin in these segments, in order.
    """

    turn: Turn
    talkers: Talkers
    segments: Sequence[Segment]
    sentences: Sequence[Sentence]


def deriver(reading: Reading, *, progress: Progress) -> Callable[[list[Turn]], Awaitable[Batch]]:
    """Return a function that derives the rows of turns again as indexing did; it gets every turn once, in order.

    Cutting is plain computation, yet five megabytes of it take a second: it runs in a thread, so that the server
    answers other calls meanwhile.
    """
    cut = Cutter(reading.embedder.dimension)
    talking: dict[tuple[str, str], Talkers] = defaultdict(Talkers)

    async def derive_again(turns: list[Turn]) -> Batch:
        turns = await to_thread.run_sync(lambda: [masked_turn(turn, reading.masking) for turn in turns])
        parts = []
        for turn in turns:
            place = turn.space, turn.session
            parts.append(TextPart(turn, talking[place], *await to_thread.run_sync(cut, turn)))
            talking[place] = talking[place].after(turn)
        return replace(await index_parts(reading, parts, progress), turns=tuple(turns))

    return derive_again


async def silent(_done: float, _total: float, _what: str) -> None:
    """Ignore a report of progress."""


async def index_parts(reading: Reading, parts: Sequence[TextPart], progress: Progress = silent) -> Batch:
    """Return the pieces of parts of texts with their vectors, and the facts of the texts that begin in them."""
    facts: list[Assertion] = []
    for part in parts:
        if part.segments and part.segments[0].index == 0:
            facts += await to_thread.run_sync(_facts_of, reading, part)
    of_segments: list[str] = []
    of_sentences: list[_Text] = []
    for part in parts:
        segment_texts = _segment_texts(part)
        of_segments += segment_texts
        of_sentences += _sentence_texts(part, segment_texts)
    vectors, row = await _vectors_of(reading, [*of_segments, *of_sentences], progress)
    return Batch(
        segments=tuple(segment for part in parts for segment in part.segments),
        sentences=tuple(sentence for part in parts for sentence in part.sentences),
        segment_vectors=vectors[[row[text] for text in of_segments]],
        sentence_vectors=vectors[[row[text] for text in of_sentences]],
        assertions=tuple(facts),
    )


def _segment_texts(part: TextPart) -> list[str]:
    """Return what is embedded of each segment of a part."""
    turn, shape = part.turn, outline(part.turn.text)
    return [embedded_text(turn, turn.text[one.start : one.end], shape.path(one.start)) for one in part.segments]


def _sentence_texts(part: TextPart, of_segments: list[str]) -> list[_Text]:
    """Return what is embedded of each sentence of a part.

    In a long text it has no vector but that of its segment (`shares_vectors`). The segment's text is embedded if the
    sentence is all of a message's segment; in a short message its part of the segment, which is made with the segment's
    own; and otherwise its own words.
    """
    turn, lasts = part.turn, [segment.last for segment in part.segments]
    places = [bisect_left(lasts, one.index) for one in part.sentences]
    if shares_vectors(turn):
        return [None] * len(places)
    held = Counter(places)
    found: list[_Text] = []
    for place, one in zip(places, part.sentences, strict=True):
        whole = of_segments[place]
        before = len(whole) - part.segments[place].end  # speaker and headings, less what comes before the segment
        if turn.kind == "message" and held[place] == 1:
            found.append(whole)
        elif turn.kind == "message" and len(turn.text) <= SHORT:
            found.append((whole, one.start + before, one.end + before))
        else:
            found.append(turn.text[one.start : one.end])
    return found


async def _vectors_of(reading: Reading, wanted: Sequence[_Text], progress: Progress) -> tuple[Matrix, dict[_Text, int]]:
    """Return the vectors of texts and parts, zeros for None, and in which row each is."""
    parts: dict[str, list[tuple[str, int, int]]] = {}
    for one in dict.fromkeys(wanted):
        if isinstance(one, str):
            parts.setdefault(one, [])
        elif one is not None:
            parts.setdefault(one[0], []).append(one)
    order = sorted(parts, key=len)
    row: dict[_Text, int] = {None: 0}
    made: list[Matrix] = [np.zeros((1, reading.embedder.dimension), dtype=np.float32)]
    for start in range(0, len(order), SLICE):
        await progress(start, len(order), "embedding")
        texts = order[start : start + SLICE]
        spans = [[(first, last) for _, first, last in parts[text]] for text in texts]
        made += await reading.embedder.embed_parts(texts, spans)
        row |= {text: len(row) + place for place, text in enumerate(texts)}
        row |= {part: len(row) + place for place, part in enumerate(chain.from_iterable(parts[text] for text in texts))}
    return np.concatenate(made), row


def _facts_of(reading: Reading, part: TextPart) -> list[Assertion]:
    """Return the facts of the text that begins in a part."""
    turn, talkers, sentences = part.turn, part.talkers, part.sentences
    if reading.extractor is None or turn.kind == "statement" or not sentences:  # a statement is a fact already
        return []
    if turn.text[sentences[-1].end :].strip():  # it goes on in other parts
        _, sentences = Cutter(0)(turn)
    spans, times = [(one.start, one.end) for one in sentences], [one.times for one in sentences]
    try:
        facts = reading.extractor.extract(turn, talkers.partner(turn), spans, times)
    except Exception:  # a fault of the rules: the text is found without its facts, and what follows it, too
        _log.exception(
            "No facts were read out of %s of session %r, which is found as text alone", turn.id, turn.session
        )
        return []
    return [at_no_time(fact) for fact in facts] if is_undated_import(turn) else list(facts)
