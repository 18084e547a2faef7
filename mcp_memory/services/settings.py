"""Settings of the services: thresholds of answers, and what the memory does on its own."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import CONFIDENCE, key


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How confident an answer must be: 0 to 1, roughly the share of such answers that is right.

    Lower thresholds answer more and err more. Chosen on one half of the questions and measured on the other. On long
    dialogues 17 of 100 questions are answered, 88 of 100 of these rightly, with an F1 of 79, and 13 of 100 without a
    hedge, 92 of 100 of these rightly; of 58 questions that the dialogue cannot answer, one is answered, with a hedge.
    Of questions to passages that compare two things nearly all are answered, and all rightly (26 of 100 questions of a
    mixed set). Of questions for a time in long articles 11 of 100 are answered, 78 of 100 rightly, and 7 of 100 without
    a hedge, 88 of 100 rightly.
    """

    talk: float = key(0.5, "below this memory_answer abstains, if the answer is in a message", CONFIDENCE)
    document: float = key(0.5, "the same if the answer is in a document", CONFIDENCE)
    plain: float = key(0.7, "below this an answer is hedged", CONFIDENCE)


@dataclass(frozen=True, slots=True)
class EvolveSettings:
    """What the memory does on its own to improve.

    Measured on dialogues and passages: what is recalled stays the same, question by question, and so does the time that
    a write takes after an answer; replies get a sixth longer by the points that they list.
    """

    auto: bool = key(True, "after an answer, points are made of its evidence while no call runs")
