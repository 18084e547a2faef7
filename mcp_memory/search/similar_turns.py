"""The similar-turn boost, ``alike`` in ``via``: messages similar to the best one gain.

A question of several parts finds the message that says most of it. The messages that say the rest mostly share with
that one what they do not share with the question. So a message gains by the cosine of its most similar sentence with
the best message, less what all messages around have in common: the mean of those ranked 21st to 100th.

It stands in for the step of QRMeM's reflection (§2.2) that takes what is nearest to question, reason and entities
together. It uses vectors that are there: nothing is embedded.

A query that asks for several things (``language/question_form.py``) also gains a message by the cosine of its most
similar sentence with the query, since the answer may stand there among other things.

**Measured** on long dialogues, with the first five messages in their places (`CandidateSet.boost`): +1.8 points of
R@10, +2.5 on one half of the questions and +1.1 on the other; on those that need several messages +3.8, of which .7 are
the part for several things. Weights from .2 to .3 are alike. Without the five in their places it costs one to two
points of R@2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.language.question_form import asks_for_several
from mcp_memory.search.candidates import CandidateSet
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.space import Space

NAME = "alike"
"""In ``via``."""
WEIGHT = 0.2
"""Of the cosine with the best message."""
SEVERAL_WEIGHT = 0.15
"""Of the cosine with a query that asks for several things."""
MOST = 200
"""The best candidates, of which those that are messages may gain."""
BACKGROUND = slice(20, 100)
"""Ranks of the candidates whose mean is subtracted."""


def similar_turn_scores(space: Space, candidates: CandidateSet, query: str, vector: Vector) -> Scores | None:
    """Return what messages gain, shape ``(len(space.segments),)``; None where the best candidate is no message.

    Args:
        space: None is returned where it holds no vectors.
        candidates: of the query.
        query: its text.
        vector: of the query's first-person form, shape ``(d,)``.
    """
    if space.segment_vectors is None or space.sentence_vectors is None or not len(candidates.rows):
        return None
    if not space.talk[candidates.rows[int(candidates.total.argmax())]]:
        return None
    rows = _best_messages(space, candidates)
    best = space.segment_vectors.take(rows[:1])[0]
    if len(background := rows[BACKGROUND]):
        best = best - space.segment_vectors.take(background).mean(axis=0)
    sentences = [space.sentences_within(space.segments[row]) for row in rows.tolist()]
    vectors = space.sentence_vectors.take(np.array([row for each in sentences for row in each], dtype=np.intp))
    gains = np.float32(WEIGHT) * _greatest(vectors @ best, sentences)
    if asks_for_several(query):
        gains += np.float32(SEVERAL_WEIGHT) * _greatest(vectors @ vector, sentences)
    scores = np.zeros(len(space.segments), dtype=np.float32)
    scores[rows] = gains
    return scores


def _best_messages(space: Space, candidates: CandidateSet) -> NDArray[np.intp]:
    """Return the rows of those of the best candidates that are messages, best first."""
    total = candidates.total
    pool = np.flatnonzero(total > 0)
    if len(pool) > MOST:
        pool = np.sort(np.argpartition(-total, MOST)[:MOST])
    rows = candidates.rows[pool[np.argsort(-total[pool], kind="stable")]]
    return rows[space.talk[rows]]


def _greatest(cosines: Scores, sentences: Sequence[Sequence[int]]) -> Scores:
    """Return the greatest cosine of each segment's sentences, at least 0; ``cosines`` runs segment by segment."""
    owner = np.repeat(np.arange(len(sentences)), [len(each) for each in sentences])
    greatest = np.zeros(len(sentences), dtype=np.float32)
    np.maximum.at(greatest, owner, cosines)
    return greatest
