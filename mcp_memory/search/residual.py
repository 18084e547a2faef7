"""The channel ``residual``: what a query still asks once a part of it is answered, the second hop by meaning.

"Where was the founder of the Red Mill born?" finds the text about the Red Mill, which names several people. The query
without the words that this text explains ("Where was the founder of the born?") plus one of those names is similar to
the text that says where that person was born, and dissimilar to the texts about the others. So the texts similar to one
of these *residual queries* get what its seed passes on (``links.py``), times their similarity beyond `THRESHOLD`.

At most `MOST` are embedded for one query: those of the best seeds first, and of a seed those whose names stand in the
sentences most similar to the query. Embedding takes longer than the rest of the search, so it is done only where the
query is not answered yet: where no seed contains most of what the query says, and the query neither gives a date nor
names the subjects of two seeds (`_is_open`).

**Measured** on three sets of questions of several hops, beside links and entities: +1.9, 0 and -1 points of R@5, with
1.6, .4 and .6 texts embedded for a question; with residual queries for every question +2.5, -.3 and -1.5, with 3 texts.
Questions with dates: -.9 of R@2, 0 of R@5. Comparing a residual query only with the texts that contain its name gives
+.5 in place of +1.9; two to six texts are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.search.channels import Channel
from mcp_memory.search.links import Seed, count_compared, other_subjects, rare_entities
from mcp_memory.search.words import Title, TitleIndex, WordIndex
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.space import Space

RESIDUAL = Channel("residual", document=0.6, switch=lambda on: on.residual)
"""Not measured for talk, so it is off there. Documents: +1.9 points of R@5 where the second text is hard to find, -1 to
0 elsewhere."""
MOST = 3
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
    """Return what a query still asks after each of the seeds, at most `MOST`; none after talk, which has no title.

    Args:
        space: its view keeps a `TitleIndex`, a `WordIndex` and what `links.rare_entities` needs.
        query: the query that was searched for.
        seeds: its best candidates (`links.find_seeds`).
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
            if len(residuals) == MOST:
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
