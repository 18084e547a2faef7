"""From the best candidates to what they lead to, the second hop: the channels ``links``, ``entities``, ``residual``.

"Where was the founder of the Red Mill born?" finds the text about the Red Mill. It says who founded the mill, and the
text that says where that person was born shares no word with the query. Two channels lead to it, both by spelling:

- *links*: a text that mentions the title of a document (``words.py``) leads to that document. So documents are linked
  by titles alone, and by the subjects of first sentences where there are no titles. Mentions are looked up when a query
  arrives, so a new document is linked at once;
- *entities*: a text that names something rare leads to the other documents that name it. Names in the query or in the
  title are not followed: the other channels have used them. (Messages too would be reached if they had a weight.)

Both start from the best candidates of the other channels, the seeds. A seed passes on the best score of all, times
(score of the seed / best score)³, so that one of many equal seeds passes on almost nothing; times, for a link,
1/√(documents that share the title) · (1 + how far the sentence of the mention exceeds a usual similarity to the query);
for an entity 1/ln(1 + segments that name it). A segment gets the most that any seed passes on, for links and for
entities separately.

A document whose title stands in the query gets nothing: its title found it. Of a long document only the best segment
gets something, by the score of the other channels. Where the query names the subjects of several seeds, k different
ones, it compares them rather than starts from them: all that is passed on is divided by √k.

**Measured** on sets of questions of several hops over 4,000 to 8,000 passages of an encyclopedia, R@5 without, with
links, and with both: 83.5, 97.7, 98.5; 61.6, 72.4, 76.4; 79.0, 94.5, 95.5; without titles 78.3, 89.3, 91.4 and 80.0,
89.5, 92.0. The three in one space: 73.7, 87.4, 89.4. On long dated articles and on dialogues it changes nothing. The
numbers lie on plateaus: 4 to 10 seeds, powers from 2 to 4, entities in up to 30 or 120 segments, and 5 to 16 names
of a seed are all within about a point. 1 ms at 14,000 sentences.

Of two things that are compared, the second would rank behind what the first mentions. So where the query names several
of the seeds' titles, these documents get the most that any document gets (`raise_compared`; measured: R@2 of
comparisons 94.1 and 98.1, 86.4 and 100; R@5 of all -.2 to 0; √k matters little beside it).

When all three data sets share one space, R@5 changes by -2.5, -.9 and +.5 points. The loss comes from the number
of passages, not from statistics over them: with the others hidden but still counted, .1 of it remains.

**Tried without success** (R@5): the distance of a mention from the query's words (-1 to -3; the similarity of its
sentence +.5), texts that mention the subject of the seed (0), BM25 of what the query still asks (0), how many names two
texts share (0), entities among texts with one subject (-3 on long dated articles), entities among messages (-.3 to +.4,
-.7 of R@2), links that count less the more often a title is mentioned (-1 to +.6).

Gutiérrez et al., "HippoRAG" (2024) do this by personalised PageRank over entities that a language model reads out of
the texts; GAM-RAG by propagation over entities and sentences (§3.2), which is in ``gain/``. Here nothing is iterated:
one hop from the candidates makes the two hops of a question.

**The channel** ``residual`` asks what a query still asks once a part of it is answered: the second hop by meaning.

"Where was the founder of the Red Mill born?" finds the text about the Red Mill, which names several people. The query
without the words that this text explains ("Where was the founder of the born?") plus one of those names is similar to
the text that says where that person was born, and dissimilar to the texts about the others. So the texts similar to one
of these *residual queries* get what its seed passes on, times their similarity beyond `THRESHOLD`.

At most `MOST_ASKED` are embedded for one query: those of the best seeds first, and of a seed those whose names stand in
the sentences most similar to the query. Embedding takes longer than the rest of the search, so it is done only where
the query is not answered yet: where no seed contains most of what the query says, and the query neither gives a date
nor names the subjects of two seeds (`_is_open`).

**Measured** on three sets of questions of several hops, beside links and entities: +1.9, 0 and -1 points of R@5, with
1.6, .4 and .6 texts embedded for a question; with residual queries for every question +2.5, -.3 and -1.5, with 3 texts.
Questions with dates: -.9 of R@2, 0 of R@5. Comparing a residual query only with the texts that contain its name gives
+.5 in place of +1.9; two to six texts are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.search.channels import Channel, Rows
from mcp_memory.search.settings import SearchSettings
from mcp_memory.search.words import TALK, Title, TitleIndex, WordIndex
from mcp_memory.vectors import Column, Matrix, Scores, Vector
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import NONE, Space

LINKS = Channel("links", document=0.4, switch=lambda on: on.links)
"""What a seed passes on to a document that it mentions.

Measured on three sets of questions of several hops over passages of an encyclopedia: +11 to +15 points of R@5, without
titles +10 and +11; values from .3 to .5 lie within 1.3 points.
"""
ENTITIES = Channel("entities", document=0.3, switch=lambda on: on.rare_entities)
"""What a seed passes on to a text that names the same rare thing.

Off for talk: measured on dialogues, .1 costs .7 points of R@2 and gives nothing. Documents (measured, beside links): +4
points of R@5 where the second text often does not stand under the name that the first mentions, +1 to +2.5 elsewhere;
-1 to +2 of R@2; values from .2 to .3 lie within 1.6 points.
"""
SEEDS = 5
"""The most seeds (measured: 4 to 10 are alike)."""
STEEPNESS = 3.0
"""How fast what seeds pass on falls with their score: the power above (measured: 2 to 4 are alike)."""
MOST_TITLED = 30
"""Documents that may share a title; one that more share is too general to link to any of them."""
MOST_FOLLOWED = 3_000
"""Segments with one title that are looked through; more would take longer than the rest of the search."""
RARE = 30
"""Segments that may name an entity; one that more name is not rare and is not followed."""
SENTENCES_PER_SEGMENT = 8
"""Sentences of one segment that may name an entity."""
LEAST = 0.05
"""Of the best score: a candidate that would pass on less is no seed."""
NAMES = 8
"""Entities followed from each seed, those in the sentences most similar to the query first."""
USUAL = 0.4
"""The similarity of a sentence to the query at which a mention in it counts unchanged."""


class SegmentIndex:
    """The segments of each sentence: mostly one; two where one segment ends and the next begins with it."""

    def __init__(self) -> None:
        self._first: Column[np.int64] = Column(np.int64)
        self._second: Column[np.int64] = Column(np.int64)

    def extend(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""
        missing = [NONE] * (len(space.sentences) - len(self._first))
        self._first.extend(missing)
        self._second.extend(missing)
        first = self._first.values
        for row in range(since, len(space.segments)):
            for sentence in space.sentences_within(space.segments[row]):
                column = self._first if first[sentence] == NONE else self._second
                column[sentence] = row

    def segments(self, sentences: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the segments that contain some of these sentences, ascending, each once.

        Args:
            sentences: rows, ascending; their segments then ascend too, except for sentences in two segments.
        """
        second = self._second.values[sentences]
        segments = self._first.values[sentences]
        if (second != NONE).any():
            segments = np.sort(np.concatenate((segments, second)))
            segments = segments[np.searchsorted(segments, NONE, side="right") :]
        fresh = segments != NONE
        fresh[1:] &= segments[1:] != segments[:-1]
        distinct: NDArray[np.int64] = segments[fresh]
        return distinct


@dataclass(frozen=True, slots=True)
class Seed:
    """A candidate from which links and entities are followed.

    Attributes:
        row: the row of the segment.
        passes: what it passes on, in units of the cosine.
        sentences: its sentences' rows, those most similar to the query first.
        similarity: the similarity of each of them to the query; `USUAL` where no vectors are held.
    """

    row: int
    passes: float
    sentences: Sequence[int]
    similarity: Sequence[float]


def find_seeds(space: Space, query: Query, rows: Rows, total: Scores) -> list[Seed]:
    """Return the seeds, best first, ties by id.

    Args:
        space: the space that they are in.
        query: the query with or without a vector.
        rows: the rows of the candidates.
        total: their scores by the other channels, shape ``(len(rows),)``.
    """
    best = float(total.max(initial=0.0))
    if best <= 0:
        return []
    pool = np.flatnonzero(total > 0)
    if len(pool) > SEEDS:
        least = np.partition(total, len(total) - SEEDS)[len(total) - SEEDS]
        pool = np.flatnonzero((total > 0) & (total >= least))
    order = sorted(pool.tolist(), key=lambda place: (-total[place], space.segments[rows[place]].id))
    seeds: list[Seed] = []
    for place in order[:SEEDS]:
        row = int(rows[place])
        share = (float(total[place]) / best) ** STEEPNESS
        if share < LEAST:
            break
        seeds.append(Seed(row, best * share, *_by_similarity(space, row, query.vector)))
    return seeds


def _by_similarity(space: Space, row: int, vector: Vector | None) -> tuple[list[int], list[float]]:
    sentences = space.sentences_within(space.segments[row])
    if vector is None or space.sentence_vectors is None or not sentences:
        return sentences, [USUAL] * len(sentences)
    similarity = (space.sentence_vectors.take(np.array(sentences, dtype=np.intp)) @ vector).tolist()
    order = sorted(range(len(sentences)), key=lambda place: (-similarity[place], place))
    return [sentences[place] for place in order], [similarity[place] for place in order]


def follow_seeds(
    space: Space,
    query: Query,
    title_in_query: NDArray[np.bool_],
    rows: Rows,
    total: Scores,
    seeds: Sequence[Seed],
    settings: SearchSettings,
) -> dict[str, Scores]:
    """Return the scores of ``links`` and ``entities``, each of shape ``(len(rows),)``.

    Args:
        space: its view keeps a `TitleIndex`, an `EntityIndex` and a `SegmentIndex`.
        query: the query; its own words lead to no document.
        title_in_query: which segments are of documents whose title stands in it, shape ``(len(space.segments),)``.
        rows: the rows of the candidates.
        total: the sum of their scores by the other channels.
        seeds: the seeds from `find_seeds`.
        settings: the switches of the two channels.
    """
    passed: dict[Channel, Scores] = {}
    if not seeds:
        return {}
    documents = not space.talk[rows].all()
    titles = space.index(TitleIndex)
    scores = np.full(len(space.segments), -np.inf, dtype=np.float32)
    scores[rows] = total
    closed = scores == -np.inf
    closed |= title_in_query
    share = 1 / max(1, count_compared(space, title_in_query, seeds)) ** 0.5
    if LINKS.switch(settings) and documents:
        passed[LINKS] = np.zeros(len(space.segments), dtype=np.float32)
        for seed in seeds:
            _pass_links(space, titles, seed, scores, passed[LINKS])
    if ENTITIES.switch(settings) and (documents or ENTITIES.talk):
        passed[ENTITIES] = np.zeros(len(space.segments), dtype=np.float32)
        query_words = set(words(query.text))
        for seed in seeds:
            _pass_entities(space, seed, query_words, passed[ENTITIES])
    for part in passed.values():
        part[closed] = 0
    return {
        channel.name: (part * (share * channel.weights(space.talk)).astype(np.float32))[rows]
        for channel, part in passed.items()
    }


def raise_compared(
    space: Space, query: Query, rows: Rows, seeds: Sequence[Seed], passed: Mapping[str, Scores]
) -> Scores:
    """Return what the documents that a query compares gain, so that what one of them mentions does not precede another.

    A query that compares things names them, and so leads to them as surely as any text leads to what it mentions: each
    gets the most that any channel of ``passed`` gives.

    Args:
        space: its view keeps a `TitleIndex`.
        query: the query that may compare.
        rows: the rows of the candidates.
        seeds: those whose titles the query names gain, if they have several subjects.
        passed: the result of `follow_seeds`.

    Returns:
        Shape ``(len(rows),)``; 0 everywhere for a query that names fewer than two of the subjects.
    """
    titles = space.index(TitleIndex)
    gained = np.zeros(len(space.segments), dtype=np.float32)
    seed_rows = np.array([seed.row for seed in seeds], dtype=np.intp)
    named = [titles.rows(title) for title in titles.mentioned(query.text)]
    compared = seed_rows[np.isin(seed_rows, np.concatenate(named))] if named else seed_rows[:0]
    if len(np.unique(titles.subjects[compared])) > 1:
        gained[compared] = max((float(part.max()) for part in passed.values()), default=0.0)
    return gained[rows]


def count_compared(space: Space, title_in_query: NDArray[np.bool_], seeds: Sequence[Seed]) -> int:
    """Return how many different subjects of seeds the query names.

    Args:
        space: its view keeps a `TitleIndex`.
        title_in_query: which segments are of documents whose title stands in it, shape ``(len(space.segments),)``.
        seeds: the seeds from `find_seeds`.
    """
    subjects = space.index(TitleIndex).subjects
    return len({int(subjects[seed.row]) for seed in seeds if title_in_query[seed.row]})


def _pass_links(space: Space, titles: TitleIndex, seed: Seed, scores: Scores, into: Scores) -> None:
    """Pass the score of a seed on to the documents that it mentions."""
    done = {titles.title(seed.row)}
    for sentence, similarity in zip(seed.sentences, seed.similarity, strict=True):
        for title in titles.mentioned(space.text(space.sentences[sentence])):
            if title in done:
                continue
            done.add(title)
            rows = titles.rows(title)
            targets, documents = _best_of_each(space, rows[other_subjects(space, seed, rows)], scores)
            if 0 < documents <= MOST_TITLED:
                passed = seed.passes / documents**0.5 * max(0.0, 1 + similarity - USUAL)
                into[targets] = np.maximum(into[targets], np.float32(passed))


def _best_of_each(space: Space, rows: NDArray[np.int64], scores: Scores) -> tuple[list[int], int]:
    """Return the best segment of each current document among these, and how many documents they are; 0 for too many."""
    if len(rows) > MOST_FOLLOWED:
        return [], 0
    best: dict[str, int] = {}
    for row in rows.tolist():
        if not space.live[row]:
            continue
        turn = space.segments[row].turn_id
        if turn not in best or scores[row] > scores[best[turn]]:
            best[turn] = row
    return list(best.values()), len(best)


def _pass_entities(space: Space, seed: Seed, query_words: set[str], into: Scores) -> None:
    """Pass the score of a seed on to the segments that name the same rare entities."""
    for _, rows in rare_entities(space, seed, query_words):
        others = rows[other_subjects(space, seed, rows)]
        into[others] = np.maximum(into[others], np.float32(seed.passes / np.log1p(len(rows))))


def other_subjects(space: Space, seed: Seed, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of these segments are not of documents with the seed's title, and not the seed itself."""
    subjects = space.index(TitleIndex).subjects
    about = subjects[rows]
    others: NDArray[np.bool_] = (about != subjects[seed.row]) | ((about == TALK) & (rows != seed.row))
    return others


def rare_entities(space: Space, seed: Seed, query_words: set[str]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the rare entities that a seed names and the query does not: the key of each, and the segments that name it.

    Args:
        space: its view keeps an `EntityIndex` and a `SegmentIndex`.
        seed: the words of its own title are left out too.
        query_words: the words of the query.
    """
    entities, segments = space.index(EntityIndex), space.index(SegmentIndex)
    known = query_words.union(space.index(TitleIndex).title(seed.row))
    turn = space.segment_turn[seed.row]
    speaker = entities.find(turn.speaker or turn.role or "") if turn.kind != "document" else None
    done: set[int] = set()
    count = 0
    for sentence in seed.sentences:
        for entity in entities.entities(sentence):
            if entity in done or entity == speaker:
                continue
            done.add(entity)
            degree = entities.degree(entity)
            if not 1 < degree <= RARE * SENTENCES_PER_SEGMENT or known.issuperset(entities.key(entity).split()):
                continue
            rows = segments.segments(entities.sentences(entity))
            if 1 < len(rows) <= RARE:
                yield entities.key(entity), rows
                count += 1
                if count == NAMES:
                    return


RESIDUAL = Channel("residual", document=0.6, switch=lambda on: on.residual)
"""Not measured for talk, so it is off there. Documents: +1.9 points of R@5 where the second text is hard to find, -1 to
0 elsewhere."""
MOST_ASKED = 3
"""Residual queries of one query; two to six find as much."""
THRESHOLD = 0.3
"""The similarity of a text to a residual query from which on it counts."""
COVERED = 0.65
"""The share of a query's content, weighted by rarity, that answers it: a segment that contains as much leaves nothing
open."""


@dataclass(frozen=True, slots=True)
class ResidualQuery:
    """One residual query.

    Attributes:
        text: the text to be embedded.
        passes: what its seed passes on, in units of the cosine.
    """

    text: str
    passes: float


def residual_queries(
    space: Space, query: Query, seeds: Sequence[Seed], title_in_query: NDArray[np.bool_]
) -> list[ResidualQuery]:
    """Return what a query still asks after each of the seeds, at most `MOST_ASKED`; none after talk without titles.

    Args:
        space: its view keeps a `TitleIndex`, a `WordIndex` and what `rare_entities` needs.
        query: the query that was searched for.
        seeds: its best candidates (`find_seeds`).
        title_in_query: which segments are of documents whose title stands in it, shape ``(len(space.segments),)``.
    """
    if not seeds or space.talk[seeds[0].row] or not _is_open(space, query, seeds, title_in_query):
        return []
    titles = space.index(TitleIndex)
    query_words = set(words(query.text))
    residuals: dict[str, ResidualQuery] = {}
    for seed in seeds:
        if space.talk[seed.row]:
            continue
        rest = remove_title(query.text, titles.title(seed.row))
        for name, rows in rare_entities(space, seed, query_words):
            if other_subjects(space, seed, rows).any():
                residuals.setdefault(name, ResidualQuery(f"{rest} {name}", seed.passes))
            if len(residuals) == MOST_ASKED:
                return list(residuals.values())
    return list(residuals.values())


def remove_title(query: str, title: Title) -> str:
    """Return a query without the content words of a title; stop words stay."""
    explained = set(title) - STOP_WORDS
    return " ".join(word for word in query.split() if not (parts := words(word)) or not explained.issuperset(parts))


def residual_scores(residuals: Sequence[ResidualQuery], similarity: Matrix) -> Scores:
    """Return the most that any residual query gives each segment, unweighted, shape ``(segments,)``.

    Args:
        residuals: at least one.
        similarity: cosine of each with each segment, shape ``(len(residuals), segments)``.
    """
    passes = np.array([[one.passes] for one in residuals], dtype=np.float32)
    scores: Scores = (passes * np.maximum(similarity - np.float32(THRESHOLD), 0)).max(axis=0)
    return scores


def _is_open(space: Space, query: Query, seeds: Sequence[Seed], title_in_query: NDArray[np.bool_]) -> bool:
    """Return whether no seed contains most of what the query says.

    False for a query with dates, which asks for another time of what was found, and for one that names the subjects of
    two seeds, which compares them.
    """
    if query.time is not None and query.time.dated:
        return False
    if count_compared(space, title_in_query, seeds) > 1:
        return False
    index = space.index(WordIndex)
    rarity = np.array([index.rarity(stem) for stem in query.stems])
    rows = np.array([seed.row for seed in seeds], dtype=np.intp)
    contained = np.array([index.contains(rows, stem) for stem in query.stems], dtype=np.float64)
    return bool(rarity.size) and float((rarity @ contained).max()) < COVERED * float(rarity.sum())
