"""From what was found to what it mentions: the second hop of a question.

"Where was the founder of the Red Mill born?" finds the text about the Red Mill. Who founded it stands there, and where
that person was born stands in a text that shares no word with the question. Two things lead on, both by spelling:

- *links*: a text that mentions the head of a document (``heads.py``) leads to that document. So documents are tied
  together by titles alone, and by the subjects of first sentences where there are no titles; a document that arrives
  later is tied in at once, since mentions are looked up when a question is asked;
- *entities*: a text that names something rare leads to the other documents that name it. What the question names, or
  the head says, leads nowhere: the first look has been there. (To messages as well, if they are given a weight.)

They start from the best segments of the first look, the seeds. What a seed passes on is the best score of all, times
(score of the seed / best score)³, so that a seed which is only one of many passes on almost nothing; times, for a
link, 1/√(documents that share the head) · (1 + how much likelier than usual the sentence of the mention is); for an
entity 1/ln(1 + segments that name it). A segment gets the most that any seed passes on, for links and for entities.

Nothing is passed on to a document whose head stands in the question: it was found by that. Of a long document only the
best segment gets something, by the first look. Where the question names what several seeds are about, k different
things, it compares them rather than goes on from them: all that is passed on is divided by √k.

**Measured** on sets of questions of several hops over 4,000 to 8,000 passages of an encyclopedia, R@5 without, with
links, and with both: 83.5, 97.7, 98.5; 61.6, 72.4, 76.4; 79.0, 94.5, 95.5; without titles 78.3, 89.3, 91.4 and 80.0,
89.5, 92.0. The three in one space: 73.7, 87.4, 89.4. On long dated articles and on dialogues it changes nothing. The
numbers lie on plateaus: seeds from 4 to 10, the power from 2 to 4, entities in up to 30 or 120 segments, 5 to 16 names
of a seed are all within about a point. 1 ms at 14,000 sentences.

Of two things that are compared the second would come behind what the first mentions. So where the question calls
several of the seeds' heads by name, these get the most that any document does (`upheld`; measured: R@2 of comparisons
94.1 and 98.1, 86.4 and 100; R@5 of all -.2 to 0; the √k matters little beside it).

In one space with the two others a set loses 2.5 points of R@5, one .9, and one gains .5. It is lost to more passages,
not to what is counted over them: with the others hidden, and still counted, .1 is left of it.

**Tried without success** (R@5): how near a mention stands to the question's words (-1 to -3, the likeness of its
sentence +.5), texts that mention what the seed is about (0), BM25 of what the question still asks (0), how many names
two texts share (0), entities among texts about the same (-3 on long dated articles), entities among messages (-.3 to
+.4, -.7 of R@2), links that count less the more often a head is mentioned (-1 to +.6).

Gutiérrez et al., "HippoRAG" (2024) do this by personalised PageRank over entities that a language model reads out of
the texts; GAM-RAG by propagation over entities and sentences (§3.2), which ``gain/`` holds. Here nothing is iterated:
one hop beyond what was found, and the two hops of a question are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import words
from mcp_memory.search.heads import TALK, HeadIndex
from mcp_memory.search.spans import Rows
from mcp_memory.search.weights import Switches, Weights
from mcp_memory.vectors import Matrix, Scores, Vector
from mcp_memory.view.columns import Column
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import NONE, Space

SHARED = 30
"""Documents that share a head from which on it links to none of them: it tells too little."""
FOLLOWED = 3_000
"""Segments with one head above which it links to none of them: looking through them would take longer than the rest."""
RARE = 30
"""Segments that name an entity from which on it is none that leads anywhere."""
OFTEN = 8
"""Sentences of one segment that may name an entity."""
LEAST = 0.05
"""Of the best score; a seed that would pass on less is none."""
NAMES = 8
"""Entities that each seed leads on by, those in the sentences most like the question first."""
USUAL = 0.4
"""The likeness of a sentence to the question at which a mention in it counts as it is."""


class PlaceIndex:
    """The segments of each sentence: mostly one, two where one segment ends and the next begins with it."""

    def __init__(self) -> None:
        self._first: Column[np.int64] = Column(np.int64)
        self._second: Column[np.int64] = Column(np.int64)

    def extend(self, space: Space, since: int) -> None:
        """Take in the segments of ``space`` from row ``since`` on."""
        missing = [NONE] * (len(space.sentences) - len(self._first))
        self._first.extend(missing)
        self._second.extend(missing)
        first = self._first.values
        for row in range(since, len(space.segments)):
            for sentence in space.sentences_within(space.segments[row]):
                held = self._first if first[sentence] == NONE else self._second
                held[sentence] = row

    def segments(self, sentences: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the segments that hold some of these sentences, ascending, each once.

        Args:
            sentences: rows, ascending; so their segments are, but for those that two segments share.
        """
        second = self._second.values[sentences]
        found = self._first.values[sentences]
        if (second != NONE).any():
            found = np.sort(np.concatenate((found, second)))
            found = found[np.searchsorted(found, NONE, side="right") :]
        fresh = found != NONE
        fresh[1:] &= found[1:] != found[:-1]
        each: NDArray[np.int64] = found[fresh]
        return each


@dataclass(frozen=True, slots=True)
class Seed:
    """A segment from which it goes on.

    Attributes:
        row: of the segment.
        passes: what it passes on, in units of the cosine.
        sentences: its sentences' rows, those most like the question first.
        likeness: of each of these to the question; `USUAL` where no vectors are held.
    """

    row: int
    passes: float
    sentences: Sequence[int]
    likeness: Sequence[float]


def seeds(space: Space, rows: Rows, total: Scores, weights: Weights, vectors: Matrix | None) -> list[Seed]:
    """Return the segments to go on from, best first, ties by id.

    Args:
        space: where.
        rows: of the segments that were looked at.
        total: what the first look gave each of them, shape ``(len(rows),)``.
        weights: how many seeds, and how steeply what they pass on falls.
        vectors: of the question, as `look` has them.
    """
    best = float(total.max(initial=0.0))
    if best <= 0:
        return []
    pool = np.flatnonzero(total > 0)
    if len(pool) > weights.seeds:
        least = np.partition(total, len(total) - weights.seeds)[len(total) - weights.seeds]
        pool = np.flatnonzero((total > 0) & (total >= least))
    order = sorted(pool.tolist(), key=lambda place: (-total[place], space.segments[rows[place]].id))
    found: list[Seed] = []
    for place in order[: weights.seeds]:
        row = int(rows[place])
        if (float(total[place]) / best) ** weights.seed_steepness < LEAST:
            break
        passes = best * (float(total[place]) / best) ** weights.seed_steepness
        asked = None if vectors is None else vectors[-1 if space.talk[row] else 0]
        found.append(Seed(row, passes, *_by_likeness(space, row, asked)))
    return found


def _by_likeness(space: Space, row: int, question: Vector | None) -> tuple[list[int], list[float]]:
    sentences = space.sentences_within(space.segments[row])
    if question is None or space.sentence_vectors is None or not sentences:
        return sentences, [USUAL] * len(sentences)
    likeness = (space.sentence_vectors.take(np.array(sentences, dtype=np.intp)) @ question).tolist()
    order = sorted(range(len(sentences)), key=lambda place: (-likeness[place], place))
    return [sentences[place] for place in order], [likeness[place] for place in order]


def bridges(
    space: Space,
    question: Query,
    named: NDArray[np.bool_],
    rows: Rows,
    total: Scores,
    found: Sequence[Seed],
    weights: Weights,
    on: Switches,
) -> dict[str, Scores]:
    """Return what the seeds pass on by ``links`` and by ``entities``, each of shape ``(len(rows),)``.

    Args:
        space: its view keeps a `HeadIndex`, an `EntityIndex` and a `PlaceIndex`.
        question: what is asked.
        named: what its words are the heads of, shape ``(len(space.segments),)`` (`HeadIndex.in_question`).
        rows: the segments that may be found.
        total: what the first look gave them.
        found: the seeds.
        weights: by kind of what is found.
        on: the switches ``links`` and ``rare_entities``.
    """
    given: dict[str, Scores] = {}
    if not found:
        return given
    documents = not space.talk[rows].all()
    heads = space.index(HeadIndex)
    scores = np.full(len(space.segments), -np.inf, dtype=np.float32)
    scores[rows] = total
    closed = scores == -np.inf
    closed |= named
    share = 1 / max(1, compared_things(space, named, found)) ** 0.5
    if on.links and documents:
        given["links"] = np.zeros(len(space.segments), dtype=np.float32)
        for seed in found:
            _link(space, heads, seed, scores, given["links"])
    if on.rare_entities and (documents or weights.talk_entities):
        given["entities"] = np.zeros(len(space.segments), dtype=np.float32)
        asked = set(words(question.text))
        for seed in found:
            _share(space, seed, asked, given["entities"])
    for name, part in given.items():
        part[closed] = 0
        worth = np.where(space.talk, getattr(weights, f"talk_{name}", 0), getattr(weights, f"document_{name}"))
        given[name] = (part * (share * worth).astype(np.float32))[rows]
    return given


def upheld(space: Space, question: Query, rows: Rows, found: Sequence[Seed], given: Mapping[str, Scores]) -> Scores:
    """Return what things that are compared get, so that what one of them mentions does not come before another.

    A question that compares calls its things by name, and so leads to them as surely as any text leads to what it
    mentions: each gets the most that any channel of ``given`` gives.

    Args:
        space: its view keeps a `HeadIndex`.
        question: what is asked.
        rows: the segments that may be found.
        found: the seeds; those that the question calls by name are upheld, if they are about several things.
        given: what `bridges` returned.

    Returns:
        Shape ``(len(rows),)``; 0 everywhere for a question that calls fewer than two of the things by name.
    """
    heads = space.index(HeadIndex)
    held = np.zeros(len(space.segments), dtype=np.float32)
    best = np.array([seed.row for seed in found], dtype=np.intp)
    called = [heads.rows(about) for about in heads.named(question.text)]
    those = best[np.isin(best, np.concatenate(called))] if called else best[:0]
    if len(np.unique(heads.subjects[those])) > 1:
        held[those] = max((float(part.max()) for part in given.values()), default=0.0)
    return held[rows]


def compared_things(space: Space, named: NDArray[np.bool_], found: Sequence[Seed]) -> int:
    """Return how many different things that the question names the seeds are about.

    Args:
        space: its view keeps a `HeadIndex`.
        named: whether the head of each segment's document stands in the question, shape ``(len(space.segments),)``.
        found: the seeds.
    """
    subjects = space.index(HeadIndex).subjects
    return len({int(subjects[seed.row]) for seed in found if named[seed.row]})


def _link(space: Space, heads: HeadIndex, seed: Seed, scores: Scores, into: Scores) -> None:
    """Pass on from a seed to the documents that it mentions."""
    own = heads.of(seed.row)
    met = {own}
    for sentence, likeness in zip(seed.sentences, seed.likeness, strict=True):
        for about in heads.named(space.text(space.sentences[sentence])):
            if about in met:
                continue
            met.add(about)
            rows = heads.rows(about)
            targets, shared = _best_of_each(space, rows[apart(space, seed, rows)], scores)
            if 0 < shared <= SHARED:
                worth = seed.passes / shared**0.5 * max(0.0, 1 + likeness - USUAL)
                into[targets] = np.maximum(into[targets], np.float32(worth))


def _best_of_each(space: Space, rows: NDArray[np.int64], scores: Scores) -> tuple[list[int], int]:
    """Return the best segment of each current document among these, and how many documents they are; 0 for too many."""
    if len(rows) > FOLLOWED:
        return [], 0
    best: dict[str, int] = {}
    for row in rows.tolist():
        if not space.live[row]:
            continue
        turn = space.segments[row].turn_id
        if turn not in best or scores[row] > scores[best[turn]]:
            best[turn] = row
    return list(best.values()), len(best)


def _share(space: Space, seed: Seed, asked: set[str], into: Scores) -> None:
    """Pass on from a seed to the segments that name the rare things that it names."""
    for _, rows in rare(space, seed, asked):
        others = rows[apart(space, seed, rows)]
        into[others] = np.maximum(into[others], np.float32(seed.passes / np.log1p(len(rows))))


def apart(space: Space, seed: Seed, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of these segments are about something else than a seed: not of documents with the same head."""
    subjects = space.index(HeadIndex).subjects
    about = subjects[rows]
    others: NDArray[np.bool_] = (about != subjects[seed.row]) | ((about == TALK) & (rows != seed.row))
    return others


def rare(space: Space, seed: Seed, asked: set[str]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the rare things that a seed names and the question does not: the key of each, and the segments that do.

    Args:
        space: its view keeps an `EntityIndex` and a `PlaceIndex`.
        seed: what it is about itself is left out.
        asked: the words of the question.
    """
    entities, places = space.index(EntityIndex), space.index(PlaceIndex)
    known = asked.union(space.index(HeadIndex).of(seed.row))
    turn = space.segment_turn[seed.row]
    said_by = entities.find(turn.speaker or turn.role or "") if turn.kind != "document" else None
    met: set[int] = set()
    led = 0
    for sentence in seed.sentences:
        for entity in entities.entities(sentence):
            if entity in met or entity == said_by:
                continue
            met.add(entity)
            degree = entities.degree(entity)
            if not 1 < degree <= RARE * OFTEN or known.issuperset(entities.key(entity).split()):
                continue
            rows = places.segments(entities.sentences(entity))
            if 1 < len(rows) <= RARE:
                yield entities.key(entity), rows
                led += 1
                if led == NAMES:
                    return
