"""What is like the best that was found: talk that tells of the same thing in other words, or of another such thing.

A question of several parts finds the message that says most of it; the others say the rest, and mostly share with that
message what they do not share with the question. So a message gains by the cosine of its likest sentence with the best
message found, less what is common to all messages around: the mean of those that the first look ranks 21st to 100th.

It stands for the step of QRMeM's reflection (§2.2) that takes what is nearest to question, reason and entities
together, done with vectors that are there: nothing is embedded.

A question that asks for several things (``language/several.py``) looks further into each message: it also gains by the
cosine of its likest sentence with the question, since what is asked for may stand there among other things.

**Measured** on long dialogues, with the first five turns in their places (`look.widened`): +1.8 points of R@10, +2.5 on
one half of the questions and +1.1 on the other; on those that need several messages +3.8, of which .7 are the part for
several things. Weights from .2 to .3 are alike. Without the five in their places it costs one to two points of R@2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.language.question_form import asks_for_several
from mcp_memory.search.look import Survey
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.space import Space

WEIGHT = 0.2
"""Of the cosine with the best that was found."""
OF_SEVERAL = 0.15
"""Of the cosine with a question that asks for several things."""
LOOKED_AT = 200
"""Segments that may gain, the best of the first look: what stands below is not brought up by this alone."""
AROUND = slice(20, 100)
"""Places of the first look that show what all messages around have in common."""


def alike(space: Space, seen: Survey, question: str, vector: Vector) -> Scores | None:
    """Return what segments of talk gain, shape ``(len(space.segments),)``; None where the best found is no message.

    Args:
        space: of a view that is held still; without vectors nothing is alike.
        seen: what the first look found.
        question: as given.
        vector: of the question as a speaker would say it, shape ``(d,)``.
    """
    if space.segment_vectors is None or space.sentence_vectors is None or not len(seen.rows):
        return None
    if not space.talk[seen.rows[int(seen.total.argmax())]]:
        return None
    rows = _best_of_talk(space, seen)
    best = space.segment_vectors.take(rows[:1])[0]
    if len(around := rows[AROUND]):
        best = best - space.segment_vectors.take(around).mean(axis=0)
    sentences = [space.sentences_within(space.segments[row]) for row in rows.tolist()]
    found = space.sentence_vectors.take(np.array([one for each in sentences for one in each], dtype=np.intp))
    given = np.float32(WEIGHT) * _likest(found @ best, sentences)
    if asks_for_several(question):
        given += np.float32(OF_SEVERAL) * _likest(found @ vector, sentences)
    gained = np.zeros(len(space.segments), dtype=np.float32)
    gained[rows] = given
    return gained


def _best_of_talk(space: Space, seen: Survey) -> NDArray[np.intp]:
    """Return the rows of the best segments of the first look that are talk, best first."""
    pool = np.flatnonzero(seen.total > 0)
    if len(pool) > LOOKED_AT:
        pool = np.sort(np.argpartition(-seen.total, LOOKED_AT)[:LOOKED_AT])
    rows = seen.rows[pool[np.argsort(-seen.total[pool], kind="stable")]]
    return rows[space.talk[rows]]


def _likest(cosines: Scores, sentences: Sequence[Sequence[int]]) -> Scores:
    """Return the greatest cosine of each segment's sentences, at least 0; they stand one segment after the other."""
    owner = np.repeat(np.arange(len(sentences)), [len(each) for each in sentences])
    likest = np.zeros(len(sentences), dtype=np.float32)
    np.maximum.at(likest, owner, cosines)
    return likest
