"""From the best candidates to what they lead to, the second hop: the channels ``links`` and ``entities``.

"Where was the founder of the Red Mill born?" finds the text about the Red Mill. It says who founded the mill, and the
text that says where that person was born shares no word with the query. Two channels lead to it, both by spelling:

- *links*: a text that mentions the title of a document (``words.py``) leads to that document. So documents are linked
  by titles alone, and by the subjects of first sentences where there are no titles. Mentions are looked up when a query
  arrives, so a new document is linked at once;
- *entities*: a text that names something rare leads to the other documents that name it. Names in the query or in the
  title are not followed: the other channels have used them.

Both start from the best candidates of the other channels, the seeds. A seed passes on the best score of all, times
(score of the seed / best score)³, so that one of many equal seeds passes on almost nothing; times, for a link,
1/√(documents that share the title) · (1 + how far the sentence of the mention exceeds a usual similarity to the query);
for an entity 1/ln(1 + segments that name it). A segment gets the most that any seed passes on, for links and for
entities separately.

A document whose title stands in the query gets nothing: its title found it. Of a long document only the best segment
gets something, by the score of the other channels. Where the query names the subjects of several seeds, k different
ones, it compares them rather than starts from them: all that is passed on is divided by √k.

Of two things that are compared, the second would rank behind what the first mentions. So where the query names several
of the seeds' titles, these documents get the most that any document gets.

**Measured** on three sets of questions of several hops over 4,000 to 8,000 passages of an encyclopedia, R@5 without,
with links, and with both: 83.5, 97.7, 98.5; 61.6, 72.4, 76.4; 79.0, 94.5, 95.5. On long dated articles and on dialogues
it changes nothing. All numbers lie on plateaus. Without success were tried: the distance of a mention from the query's
words, what the query still asks (by words or meaning), entities among messages, PageRank-like repetition.

Gutiérrez et al., "HippoRAG" (2024) do this by personalised PageRank over entities that a language model reads out of
the texts; GAM-RAG by propagation over entities and sentences (§3.2), which is in ``gain/``. Here nothing is iterated:
one hop from the candidates makes the two hops of a question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import words
from mcp_memory.search.channels import TITLE, Channel, best_first
from mcp_memory.search.words import TitleIndex
from mcp_memory.vectors import Rows, Scores, Vector
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import Space

LINKS = Channel("links", document=0.4)
"""What a seed passes on to a document that it mentions.

Measured on three sets of questions of several hops over passages of an encyclopedia: +11 to +15 points of R@5, without
titles +10 and +11; values from .3 to .5 lie within 1.3 points.
"""
ENTITIES = Channel("entities", document=0.3)
"""What a seed passes on to a text that names the same rare thing.

Off for talk: measured on dialogues, .1 costs .7 points of R@2 and gives nothing. Documents (measured, beside links): +4
points of R@5 where the second text often does not stand under the name that the first mentions, +1 to +2.5 elsewhere;
-1 to +2 of R@2; values from .2 to .3 lie within 1.6 points.
"""
MOST_SEEDS = 5
"""The most seeds (measured: 4 to 10 are alike)."""
SEED_EXPONENT = 3.0
"""How fast what seeds pass on falls with their score: the power above (measured: 2 to 4 are alike)."""
MOST_TITLED = 30
"""Documents that may share a title; one that more share is too general to link to any of them."""
MOST_FOLLOWED = 3_000
"""Segments with one title that are looked through; more would take longer than the rest of the search."""
RARE_SENTENCES = 60
"""Sentences that may name an entity; one that more name is not rare and is not followed."""
LEAST_SHARE = 0.05
"""Of the best score: a candidate that would pass on less is no seed."""
NAMES_A_SEED = 8
"""Entities followed from each seed, those in the sentences most similar to the query first."""
USUAL_SIMILARITY = 0.4
"""The similarity of a sentence to the query at which a mention in it counts unchanged."""


def lead_on(
    space: Space, query: Query, title_in_query: NDArray[np.bool_], rows: Rows, total: Scores
) -> dict[str, Scores]:
    """Return what candidates gain as the best of them lead to them, by channel, each of shape ``(len(rows),)``.

    These are ``links`` and ``entities``, and what the documents that a query compares gain by their titles.

    Args:
        space: its view keeps a `TitleIndex` and an `EntityIndex`.
        query: the query, with or without a vector; its own words lead to no document.
        title_in_query: which segments are of documents whose title stands in it, shape ``(len(space.segments),)``.
        rows: the rows of the candidates.
        total: the sum of their scores by the other channels.
    """
    seeds = find_seeds(space, query, rows, total)
    if not seeds or space.talk[rows].all():
        return {}
    scores = np.full(len(space.segments), -np.inf, dtype=np.float32)
    scores[rows] = total
    links, entities, gained = (np.zeros(len(space.segments), dtype=np.float32) for _ in range(3))
    query_words = set(words(query.text))
    for seed in seeds:
        _pass_links(space, seed, scores, links)
        _pass_entities(space, seed, query_words, entities)
    compared = _compared(space, query, seeds)
    share = np.float32(1 / max(1, len(compared)) ** 0.5)
    open_ = np.where(title_in_query | space.talk, np.float32(0), share)
    linked = (links * open_ * np.float32(LINKS.document))[rows]
    named = (entities * open_ * np.float32(ENTITIES.document))[rows]
    if len(compared) > 1:
        gained[list(compared.values())] = (linked + named).max()
    return {LINKS.name: linked, ENTITIES.name: named, TITLE.name: gained[rows]}


@dataclass(frozen=True, slots=True)
class Seed:
    """A candidate from which links and entities are followed.

    Attributes:
        row: the row of the segment.
        passes: what it passes on, in units of the cosine.
        sentences: its sentences' rows, those most similar to the query first.
        similarity: the similarity of each of them to the query; `USUAL_SIMILARITY` where no vectors are held.
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
    seeds: list[Seed] = []
    for place in best_first(space, rows, total, MOST_SEEDS)[:MOST_SEEDS]:
        row, best = int(rows[place]), float(total.max())
        share = (float(total[place]) / best) ** SEED_EXPONENT
        if share < LEAST_SHARE:
            break
        seeds.append(Seed(row, best * share, *_by_similarity(space, row, query.vector)))
    return seeds


def _by_similarity(space: Space, row: int, vector: Vector | None) -> tuple[list[int], list[float]]:
    sentences = space.sentences_within(space.segments[row])
    if vector is None or space.sentence_vectors is None or not sentences:
        return sentences, [USUAL_SIMILARITY] * len(sentences)
    similarity = (space.sentence_vectors.take(np.array(sentences, dtype=np.intp)) @ vector).tolist()
    order = sorted(range(len(sentences)), key=lambda place: (-similarity[place], place))
    return [sentences[place] for place in order], [similarity[place] for place in order]


def _compared(space: Space, query: Query, seeds: Sequence[Seed]) -> dict[int, int]:
    """Return the seeds whose subjects a query names, by subject the row of the best one: a query compares several."""
    titles = space.index(TitleIndex)
    named = {int(titles.subjects[titles.rows(title)[0]]) for title in titles.mentioned(query.text)}
    found: dict[int, int] = {}
    for seed in seeds:
        if (subject := int(titles.subjects[seed.row])) in named:
            found.setdefault(subject, seed.row)
    return found


def _pass_links(space: Space, seed: Seed, scores: Scores, into: Scores) -> None:
    """Pass the score of a seed on to the documents that it mentions."""
    titles = space.index(TitleIndex)
    done = {titles.title(seed.row)}
    for sentence, similarity in zip(seed.sentences, seed.similarity, strict=True):
        for title in titles.mentioned(space.text(space.sentences[sentence])):
            if title in done:
                continue
            done.add(title)
            rows = titles.rows(title)
            targets = _best_of_each(space, rows[titles.subjects[rows] != titles.subjects[seed.row]], scores)
            if 0 < len(targets) <= MOST_TITLED:
                passed = seed.passes / len(targets) ** 0.5 * max(0.0, 1 + similarity - USUAL_SIMILARITY)
                into[targets] = np.maximum(into[targets], np.float32(passed))


def _best_of_each(space: Space, rows: NDArray[np.int64], scores: Scores) -> list[int]:
    """Return the best segment of each current document among these; of too many none."""
    if len(rows) > MOST_FOLLOWED:
        return []
    best: dict[str, int] = {}
    for row in rows[space.live[rows]].tolist():
        turn = space.segments[row].turn_id
        if turn not in best or scores[row] > scores[best[turn]]:
            best[turn] = row
    return list(best.values())


def _pass_entities(space: Space, seed: Seed, query_words: set[str], into: Scores) -> None:
    """Pass the score of a seed on to the segments that name the same rare entities."""
    subjects = space.index(TitleIndex).subjects
    for rows in islice(_naming_the_same(space, seed, query_words), NAMES_A_SEED):
        others = rows[subjects[rows] != subjects[seed.row]]
        into[others] = np.maximum(into[others], np.float32(seed.passes / np.log1p(len(rows))))


def _naming_the_same(space: Space, seed: Seed, query_words: set[str]) -> Iterator[Rows]:
    """Yield the segments that name each rare entity which a seed names, and neither its title nor the query."""
    entities = space.index(EntityIndex)
    known = query_words.union(space.index(TitleIndex).title(seed.row))
    turn = space.segment_turn[seed.row]
    speaker = entities.find(turn.speaker or turn.role or "") if turn.kind != "document" else None
    for entity in dict.fromkeys(one for sentence in seed.sentences for one in entities.entities(sentence)):
        if entity == speaker or not 1 < entities.degree(entity) <= RARE_SENTENCES:
            continue
        if not known.issuperset(entities.key(entity).split()):
            rows = {row for one in entities.sentences(entity).tolist() for row in space.segments_of(one)}
            if len(rows) > 1:
                yield np.array(sorted(rows), dtype=np.intp)
