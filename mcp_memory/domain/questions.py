"""The question pool: questions that a segment answers (QRMeM §2.1, 𝒬_k); ``reflection/questions.py`` makes them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PooledQuestion:
    """A question of the pool.

    Attributes:
        text: of the question.
        segment_id: of the segment that answers it.
        entities: keys of what it is about, by `view.facts.Facts.key`: head and tail of its fact.
    """

    text: str
    segment_id: str
    entities: frozenset[str]
