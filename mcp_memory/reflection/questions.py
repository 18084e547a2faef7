"""The question pool: questions that the facts of a segment answer (QRMeM §2.1, 𝒬_k).

In the paper a language model writes questions to each segment, and a new one is kept only if its ROUGE-L with every
question of the pool is below 0.6. Here the questions are made of facts: each asks for the tail, by the template of the
relation ("Where does Ann live?").

**Departures.** A question is compared only with those of the *same segment* that are about one of the same entities
(DESIGN D24): "when did alice move to paris" and "when did bob move to rome" share two thirds of their words and ask for
different things. Which of two similar questions is kept depends on which came first; in either order, no two
pooled questions are similar (DESIGN I30).

The paper adds the entities and relations of its questions to the graph. Here the pool is a further cue to its segments:
a segment scores as high as its nearest question (`pool_similarity`). **Measured**: +.4 to +.8 points of recall on
dialogues, within the noise; on long dated articles -1.3 of R@2, on questions of two hops 0. So the pool counts for
nothing unless it is switched on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.language.tokens import rouge_l, words
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.space import NONE, Space

SIMILAR = 0.6
"""ROUGE-L from which on two questions ask the same (§2.1, note 3: chosen by trial)."""
UNRELATED = 0.4
"""Typical cosine of two unrelated questions."""


def admit(pool: Iterable[PooledQuestion], candidates: Iterable[PooledQuestion]) -> list[PooledQuestion]:
    """Return the candidates that join the pool, in order; each is compared with those admitted before it, too."""
    known: dict[str, list[tuple[frozenset[str], Sequence[str]]]] = defaultdict(list)
    for question in pool:
        known[question.segment_id].append((question.entities, words(question.text)))
    admitted = []
    for question in candidates:
        asked = words(question.text)
        others = (other for entities, other in known[question.segment_id] if not question.entities.isdisjoint(entities))
        if asked and all(rouge_l(asked, other) < SIMILAR for other in others):
            known[question.segment_id].append((question.entities, asked))
            admitted.append(question)
    return admitted


def pool_similarity(space: Space, question: Vector) -> Scores:
    """Return the similarity of a question to the nearest pooled question of each segment, by row.

    Returns:
        In [0, 1], shape ``(len(space.segments),)``: 0 up to a cosine of `UNRELATED`, and for a segment without
        questions; 1 for the same question. All 0 if the pool holds no vectors.
    """
    scores = np.zeros(len(space.segments), dtype=np.float32)
    if space.questions.vectors is None:
        return scores
    near = np.clip((space.questions.vectors.dot(question[np.newaxis])[0] - UNRELATED) / (1 - UNRELATED), 0, 1)
    rows = np.array([space.segments.row(pooled.segment_id) for pooled in space.questions.rows], dtype=np.intp)
    np.maximum.at(scores, rows[rows != NONE], near[rows != NONE])
    return scores


def questions_of(space: Space, assertions: Iterable[Assertion]) -> list[PooledQuestion]:
    """Return the questions that facts answer, one of each, in order.

    A negated fact answers none, and neither does one of a relation outside the registry, which has no template. An
    assertion that lies in two segments counts for the first; one that lies in none is left out.
    """
    questions = []
    for assertion in assertions:
        template = relations().get(assertion.relation).question
        rows = space.segments_with(assertion.turn_id, assertion.sentence)
        if template and rows and not assertion.negated:
            head, tail = space.facts.key(assertion.head), space.facts.key(assertion.tail)
            text = template.replace("{head}", space.facts.name(head))
            questions.append(PooledQuestion(space.name, text, space.segments[rows[0]].id, frozenset((head, tail))))
    return questions
