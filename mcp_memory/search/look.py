"""The first look at a space: every segment scored by what it means, what it says, who said it and what it is about.

Talk and documents are found by different things, so each kind has its own formula. For a segment of talk::

    (cos⁺/max cos⁺ + .7·BM25/max BM25 + .4·[said by the one speaker named] + .1·[a statement] + .05·length) · max cos⁺

with the cosine to the question's first-person form and BM25 over the words of the turns around. For one of a document::

    cos + .015·BM25 + .2·[its head stands in the question]

**One scale.** Both are in units of the cosine: the sum over talk, whose parts are relative to the best of this
question, is multiplied by the best cosine that talk has for it. So what one kind scores means the same beside the
other, and a kind that has nothing to do with the question stays below. Nothing else is done to merge them. The score
that is returned is this number over the best one's, cut at 0: best = 1. (Measured in spaces with three dialogues and
4,000 to 9,000 passages: at most 1 point below each kind alone, where z-scores for each kind lose 17.)

Maxima are taken over the segments that may be returned: live, and within the window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.requests import Window
from mcp_memory.language.questions import Question
from mcp_memory.search.heads import HeadIndex
from mcp_memory.search.speakers import SpeakerIndex
from mcp_memory.search.weights import Switches, Weights
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.space import Space

__all__ = ["INDEXES", "Hit", "Switches", "Weights", "look", "newest", "queries"]

INDEXES = (WordIndex, SpeakerIndex, HeadIndex)
"""What a view must keep for its spaces so that they can be looked at."""
CHANNELS = ("meaning", "words", "speaker", "head")
"""What ``via`` may name; in this order where two count the same."""
MOST = 200
"""Hits that are returned unless more are asked for."""

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Hit:
    """A segment that was found.

    Attributes:
        row: of the segment.
        score: in [0, 1], best = 1.
        via: the channels that found it, strongest first.
        parts: what each channel gave, and ``form`` for statements and length, in units of the cosine.
    """

    row: int
    score: float
    via: tuple[str, ...]
    parts: Mapping[str, float]


def queries(question: Question) -> list[str]:
    """Return the one or two texts to embed for a question: as it is, and its first-person form if it has one."""
    return [question.text] if question.first_person is None else [question.text, question.first_person]


def look(
    space: Space,
    question: Question,
    cosines: Matrix,
    window: Window,
    weights: Weights,
    switches: Switches,
    limit: int = MOST,
) -> list[Hit]:
    """Return the segments that bear on a question, best first, ties by id; a message once, by its best segment.

    Args:
        space: where; its view keeps `INDEXES`.
        question: understood with the speakers of this space.
        cosines: shape ``(len(queries(question)), len(space.segments))``; 0 for what the store did not name.
        window: since (inclusive) and until (exclusive) by the time of the turn.
        weights: of the formulas above.
        switches: a channel that is off gives nothing.
        limit: at most so many.
    """
    open_ = space.live & (space.times >= window.since) & (space.times < window.until)
    found: list[tuple[Rows, dict[str, Scores]]] = []
    for rows, channels in (
        (np.flatnonzero(open_ & space.talk), _talk),
        (np.flatnonzero(open_ & ~space.talk), _documents),
    ):
        if len(rows):
            found.append((rows, channels(space, question, cosines, rows, weights, switches)))
    if not found:
        return []
    rows = np.concatenate([rows for rows, _ in found])
    parts = {
        name: np.concatenate([part.get(name, np.zeros(len(rows), np.float32)) for rows, part in found])
        for name in (*CHANNELS, "form")
    }
    found_by_any = np.any([parts[name] > 0 for name in CHANNELS], axis=0)
    total = np.where(found_by_any, np.sum(list(parts.values()), axis=0), 0)
    best = float(total.max())
    if best <= 0:
        return []
    hits: list[Hit] = []
    for place in _distinct(space, rows, total, limit):
        given = {name: float(part[place]) for name, part in parts.items() if part[place]}
        via = sorted((name for name in CHANNELS if given.get(name, 0.0) > 0), key=given.__getitem__, reverse=True)
        hits.append(Hit(int(rows[place]), float(total[place]) / best, tuple(via), given))
    return hits


def newest(space: Space, window: Window, limit: int) -> list[Hit]:
    """Return the beginnings of the newest turns within the window, newest first; the later arrival first in a tie."""
    times = space.times
    rows = np.flatnonzero(space.live & (times >= window.since) & (times < window.until))
    hits: list[Hit] = []
    for row in rows[np.lexsort((-rows, -times[rows]))]:
        if len(hits) == limit:
            break
        if space.segments[row].index == 0:
            hits.append(Hit(int(row), 1.0 - len(hits) / limit, ("newest",), {}))
    return hits


def _talk(
    space: Space, question: Question, cosines: Matrix, rows: Rows, weights: Weights, switches: Switches
) -> dict[str, Scores]:
    parts: dict[str, Scores] = {}
    unit = weights.typical_cosine
    if switches.meaning:
        asked = -1 if switches.first_person else 0  # the first-person form stands last, and is all there is without one
        meaning = np.maximum(cosines[asked, rows], 0)
        unit = float(meaning.max()) or unit
        parts["meaning"] = meaning
    if switches.words:
        index = space.index(WordIndex)
        words = index.score(space, question.stems, talk=True, neighbours=switches.neighbours)[rows]
        parts["words"] = words * (weights.talk_words * unit / (float(words.max()) or 1.0))
    speakers = space.index(SpeakerIndex)
    if switches.speaker and len(question.speakers) == 1:
        parts["speaker"] = speakers.by(question.speakers)[rows] * np.float32(weights.talk_speaker * unit)
    stated = weights.talk_statement * speakers.statements[rows]
    parts["form"] = (unit * (stated + weights.talk_length * speakers.fullness(weights.full_length)[rows])).astype(
        np.float32
    )
    return parts


def _documents(
    space: Space, question: Question, cosines: Matrix, rows: Rows, weights: Weights, switches: Switches
) -> dict[str, Scores]:
    parts: dict[str, Scores] = {}
    if switches.meaning:
        parts["meaning"] = cosines[0, rows]
    if switches.words:
        words = space.index(WordIndex).score(space, question.stems, talk=False)[rows]
        parts["words"] = words * np.float32(weights.document_words)
    if switches.heads:
        parts["head"] = space.index(HeadIndex).in_question(space, question.text)[rows] * np.float32(
            weights.document_head
        )
    return parts


def _distinct(space: Space, rows: Rows, total: Scores, limit: int) -> list[int]:
    """Return the places of the best segments above 0, best first, ties by id, a message only once."""
    wanted = limit
    while True:
        pool = np.flatnonzero(total > 0) if wanted >= len(total) else _best(total, wanted)
        order = sorted(pool.tolist(), key=lambda place: (-total[place], space.segments[rows[place]].id))
        chosen: list[int] = []
        seen: set[str] = set()
        for place in order:
            segment = space.segments[rows[place]]
            leads = segment.turn_id if space.talk[rows[place]] else segment.id
            if leads not in seen:
                seen.add(leads)
                chosen.append(place)
        if len(chosen) >= limit or wanted >= len(total):
            return chosen[:limit]
        wanted *= 4  # long messages took up the pool with several segments each


def _best(total: Scores, wanted: int) -> Rows:
    """Return the places of the ``wanted`` best above 0, with all that tie with the last of them."""
    last = np.partition(total, len(total) - wanted)[len(total) - wanted]
    return np.flatnonzero((total >= last) & (total > 0))
