"""The first look at a space: every segment scored by what it means, says and is about, who said it, and when.

Talk and documents are found by different things, so each kind has its own formula. For a segment of talk::

    (cos⁺/max cos⁺ + .7·BM25/max BM25 + .4·[said by the one speaker named] + .1·[a statement] + .05·length) · max cos⁺
    + .2·[it replies to a question]·cos⁺ of that question

with the cosine to the question's first-person form and BM25 over the words of the turns around. For one of a document::

    cos + .015·BM25 + .3·[its head stands in the question]

Where the question gives dates, ``times.py`` adds to both what the times say. What facts say comes in as ``facts``, what
was learnt and where it leads as ``experience`` and ``propagation``.

**One scale.** Both are in units of the cosine: the sum over talk, whose parts are relative to the best of this
question, is multiplied by the best cosine that talk has for it. So what one kind scores means the same beside the
other, and a kind that has nothing to do with the question stays below. Nothing else is done to merge them. The score
that is returned is this number over the best one's, cut at 0: best = 1. (Measured in spaces with three dialogues and
4,000 to 9,000 passages: at most 1 point below each kind alone, where z-scores for each kind lose 17.)

From the best segments it goes on to what they mention and name (``links.py``), which adds ``links`` and ``entities``,
and, for who can embed texts, to what the question still asks after them (``residual.py``), which adds ``residual``.
Where a reader told the parts of a question, each is looked for by itself, which adds ``parts``.

Maxima are taken over the segments that may be returned: live, and within the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.times import Constraint
from mcp_memory.language.names import mentions
from mcp_memory.search.heads import HeadIndex
from mcp_memory.search.links import PlaceIndex, Seed, bridges, seeds, upheld
from mcp_memory.search.spans import Rows
from mcp_memory.search.speakers import SpeakerIndex
from mcp_memory.search.times import TimeIndex, in_documents, in_talk
from mcp_memory.search.weights import Switches, Weights
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import Space

__all__ = [
    "INDEXES",
    "Hit",
    "Survey",
    "Switches",
    "Weights",
    "deepened",
    "look",
    "newest",
    "parted",
    "queries",
    "ranked",
    "survey",
    "widened",
]

INDEXES = (WordIndex, SpeakerIndex, HeadIndex, TimeIndex, partial(EntityIndex, mentions), PlaceIndex)
"""What a view must keep for its spaces so that they can be looked at."""
CHANNELS = (
    "meaning",
    "words",
    "reply",
    "speaker",
    "head",
    "time",
    "facts",
    "points",
    "experience",
    "propagation",
    "links",
    "entities",
    "residual",
    "questions",
    "parts",
)
"""What ``via`` may name; in this order where two count the same."""
ASIDE = frozenset(("form", "siblings"))
"""Parts that order what the channels found, and find nothing by themselves."""
_GAP = 0.01  # of the score below what keeps its place: there stands what would be better (`widened`)
PARTED = 3
"""How fast what the look for a part gives falls with its score: its best is what was meant, the rest is noise."""
MOST = 200
"""Hits that are returned unless more are asked for."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A segment that was found.

    Attributes:
        row: of the segment.
        score: in [0, 1], best = 1.
        via: the channels that found it, strongest first.
        parts: what each channel gave, ``form`` for statements and length, and ``siblings`` for the best of the same
            document, in units of the cosine.
    """

    row: int
    score: float
    via: tuple[str, ...]
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `look` was asked; its docstring says what each of these is."""

    space: Space
    question: Query
    cosines: Matrix
    weights: Weights
    switches: Switches
    extra: Mapping[str, Scores]
    vectors: Matrix | None
    named: NDArray[np.bool_]

    @property
    def time(self) -> Constraint | None:
        """When the question asks about, if it gives dates and time takes part."""
        time = self.question.time
        return time if self.switches.time and time is not None and time.dated else None


@dataclass(frozen=True, slots=True)
class Survey:
    """Segments with their scores, before they are ranked.

    Attributes:
        rows: of those that may be returned.
        parts: of each score, by channel, each of shape ``(len(rows),)``, in units of the cosine.
        named: which segments are of documents whose head stands in the question, shape ``(len(space.segments),)``.
        seeds: those from which it went on, best first.
        total: the sum of the parts where a channel found anything, else 0; shape ``(len(rows),)``.
        further: what was added to that by channels from elsewhere (`widened`), by name, of the same shape.
    """

    rows: Rows
    parts: Mapping[str, Scores]
    named: NDArray[np.bool_]
    seeds: tuple[Seed, ...]
    total: Scores
    further: Mapping[str, Scores] = field(default_factory=dict)


def queries(question: Query) -> list[str]:
    """Return the one or two texts to embed for a question: as it is, and its first-person form if it has one."""
    return [question.text] if question.first_person is None else [question.text, question.first_person]


def look(
    space: Space,
    question: Query,
    cosines: Matrix,
    window: Window,
    weights: Weights,
    switches: Switches,
    limit: int = MOST,
    extra: Mapping[str, Scores] | None = None,
    vectors: Matrix | None = None,
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
        extra: channels of `CHANNELS` that other rooms worked out, by name, each of shape ``(len(space.segments),)`` and
            in [-1, 1], below 0 for what speaks against a segment; their weights are ``talk_<name>`` and
            ``document_<name>``, and a switch of that name, where there is one, turns them off.
        vectors: of ``queries(question)``, shape ``(len(queries(question)), d)``; None where nobody has them, and then
            no single sentence is compared with the question.
    """
    seen = survey(space, question, cosines, window, weights, switches, extra, vectors)
    return [] if seen is None else ranked(space, seen, limit)


def survey(
    space: Space,
    question: Query,
    cosines: Matrix,
    window: Window,
    weights: Weights,
    switches: Switches,
    extra: Mapping[str, Scores] | None = None,
    vectors: Matrix | None = None,
) -> Survey | None:
    """Score the segments as `look` does, and go on from the best; None where nothing bears on the question."""
    named = space.index(HeadIndex).in_question(space, question.text)
    asked = _Asked(space, question, cosines, weights, switches, extra or {}, vectors, named)
    open_ = space.live & (space.times >= window.since) & (space.times < window.until)
    found: list[tuple[Rows, dict[str, Scores]]] = []
    for rows, channels in (
        (np.flatnonzero(open_ & space.talk), _talk),
        (np.flatnonzero(open_ & ~space.talk), _documents),
    ):
        if len(rows):
            found.append((rows, channels(asked, rows)))
    if not found:
        return None
    rows = np.concatenate([rows for rows, _ in found])
    parts = {
        name: np.concatenate([part.get(name, np.zeros(len(rows), np.float32)) for rows, part in found])
        for name in (*CHANNELS, *sorted(ASIDE))
        if any(name in part for _, part in found)
    }
    total = _total(parts, len(rows))
    if not len(total) or total.max() <= 0:
        return None
    start = seeds(space, rows, total, weights, vectors) if switches.onward else []
    given = bridges(space, question, named, rows, total, start, weights, switches)
    parts |= given
    if "head" in parts:
        parts["head"] = parts["head"] + upheld(space, question, rows, start, given)
    return Survey(rows, parts, named, tuple(start), _total(parts, len(rows)))


def deepened(space: Space, seen: Survey, given: Scores, weights: Weights) -> Survey:
    """Return a survey with what its residual questions gave, as `residual.compared` returns it."""
    worth = np.where(space.talk, weights.talk_residual, weights.document_residual).astype(np.float32)
    worth[seen.named] = 0
    parts = {**seen.parts, "residual": (given * worth)[seen.rows]}
    return replace(seen, parts=parts, total=_total(parts, len(seen.rows)))


def parted(space: Space, seen: Survey, looks: Sequence[Survey], weights: Weights) -> Survey:
    """Return a survey with what was found for the parts of its question: the most that any part gives a segment.

    Args:
        space: where.
        seen: what was found for the question.
        looks: one for each part, through the same window; the best of each counts like the best of ``seen``.
        weights: what that counts, in talk and in documents.
    """
    best = np.float32(seen.total.max())
    given = np.zeros(len(seen.rows), dtype=np.float32)
    for one in looks:
        given = np.maximum(given, best * (one.total / one.total.max()) ** np.float32(PARTED))
    worth = np.where(space.talk[seen.rows], weights.talk_parts, weights.document_parts).astype(np.float32)
    parts = {**seen.parts, "parts": given * worth}
    return replace(seen, parts=parts, total=_total(parts, len(seen.rows)))


def widened(space: Space, seen: Survey, given: Mapping[str, Scores], first: int) -> Survey:
    """Return a survey with what further channels gave, the first turns of it staying where they are.

    Args:
        space: where.
        seen: what was found so far.
        given: by channel, each of shape ``(len(space.segments),)``, in units of the cosine; the channels may have any
            name, and stand behind those of the first look in ``via``.
        first: how many of the best keep their places; what is lifted above them comes right behind.
    """
    further = {name: part[seen.rows] for name, part in given.items()}
    total = seen.total + _sum(further, len(seen.rows))
    best = _distinct(space, seen.rows, seen.total, first) if first else []
    if best:
        bar = seen.total[best[-1]]
        above = total > bar * np.float32(1 - _GAP)
        total[above] = bar * (1 - np.float32(_GAP) * bar / (bar + total[above]))  # in their order, and below the bar
        total[best] = seen.total[best]
    return replace(seen, total=total, further=further)


def ranked(space: Space, seen: Survey, limit: int = MOST) -> list[Hit]:
    """Return the segments of a survey, best first, ties by id; a message once, by its best segment."""
    best = float(seen.total.max())
    hits: list[Hit] = []
    for place in _distinct(space, seen.rows, seen.total, limit):
        given = {name: float(part[place]) for name, part in seen.parts.items() if part[place]}
        via = sorted((name for name in CHANNELS if given.get(name, 0) > 0), key=given.__getitem__, reverse=True)
        via += [name for name, part in seen.further.items() if part[place] > 0]
        hits.append(Hit(int(seen.rows[place]), float(seen.total[place]) / best, tuple(via), given))
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


def _talk(asked: _Asked, rows: Rows) -> dict[str, Scores]:
    """Return the parts of segments of talk, each of shape ``(len(rows),)``."""
    space, question, weights, switches = asked.space, asked.question, asked.weights, asked.switches
    parts: dict[str, Scores] = {}
    unit = weights.typical_cosine
    if switches.meaning:
        which = -1 if switches.first_person else 0  # the first-person form stands last, and is all there is without one
        meaning = np.maximum(asked.cosines[which, rows], 0)
        unit = float(meaning.max()) or unit
        parts["meaning"] = meaning
    if switches.words:
        index = space.index(WordIndex)
        words = index.score(space, question.stems, talk=True, neighbours=switches.neighbours)[rows]
        parts["words"] = words * (weights.talk_words * unit / (float(words.max()) or 1.0))
    speakers = space.index(SpeakerIndex)
    if switches.replies and switches.meaning:
        before = np.maximum(asked.cosines[which], 0)[space.previous[rows]]
        parts["reply"] = np.float32(weights.talk_reply) * before * speakers.replies(space.previous)[rows]
    if switches.speaker and len(question.speakers) == 1:
        parts["speaker"] = speakers.by(question.speakers)[rows] * np.float32(weights.talk_speaker * unit)
    for name, given in asked.extra.items():
        if getattr(switches, name, True):
            parts[name] = given[rows] * np.float32(getattr(weights, f"talk_{name}") * unit)
    stated = weights.talk_statement * speakers.statements[rows]
    parts["form"] = (unit * (stated + weights.talk_length * speakers.fullness(weights.full_length)[rows])).astype(
        np.float32
    )
    if (time := asked.time) is None:
        return parts
    added = {"time": np.float32(unit) * in_talk(space, time, rows, weights)}
    return _to_scale(parts | added, _sum(parts, len(rows)))


def _documents(asked: _Asked, rows: Rows) -> dict[str, Scores]:
    """Return the parts of segments of documents, each of shape ``(len(rows),)``."""
    space, question, weights, switches = asked.space, asked.question, asked.weights, asked.switches
    parts: dict[str, Scores] = {}
    if switches.meaning:
        parts["meaning"] = asked.cosines[0, rows]
    if switches.words:
        words = space.index(WordIndex).score(space, question.stems, talk=False)[rows]
        parts["words"] = words * np.float32(weights.document_words)
    if switches.heads:
        parts["head"] = asked.named[rows] * np.float32(weights.document_head)
    for name, given in asked.extra.items():
        if getattr(switches, name, True):
            parts[name] = given[rows] * np.float32(getattr(weights, f"document_{name}"))
    if (time := asked.time) is None:
        return parts
    vector = asked.vectors[0] if asked.vectors is not None and switches.meaning else None
    scores = _sum(parts, len(rows))
    return _to_scale(parts | in_documents(space, time, rows, scores, weights, vector), scores)


def _to_scale(parts: dict[str, Scores], before: Scores) -> dict[str, Scores]:
    """Return the parts, time among them, scaled so that the best scores what the best did before time."""
    best, now = float(before.max()), float(_sum(parts, len(before)).max())
    return {name: part * np.float32(best / now) for name, part in parts.items()} if min(best, now) > 0 else parts


def _total(parts: Mapping[str, Scores], length: int) -> Scores:
    """Return the sum of the parts where some channel found something, 0 elsewhere."""
    found = np.zeros(length, dtype=np.bool_)
    for name in parts.keys() - ASIDE:
        found |= parts[name] > 0
    return np.where(found, _sum(parts, length), np.float32(0))


def _sum(parts: Mapping[str, Scores], length: int) -> Scores:
    total = np.zeros(length, dtype=np.float32)
    for part in parts.values():
        total += part
    return total


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
