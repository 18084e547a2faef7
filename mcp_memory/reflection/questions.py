"""The question pool: what the facts of a segment answer, asked (QRMeM §2.1, 𝒬_k).

The paper has a language model doubt: it writes questions to each segment, and keeps a new one only if its ROUGE-L with
every question of the pool is below 0.6. Here the questions are made of facts. Of each there are at most two: what its
head has, by the template of its relation ("Where does Ann live?"), and whose it is, from its label ("Who lives in
Oslo?").

**Departures.** A question is compared only with those of the *same segment* that are about one of the same entities
(DESIGN D24): "when did alice move to paris" and "when did bob move to rome" share two thirds of their words and ask for
different things. Which of two alike questions is kept depends on which came first; that any two of the pool are unlike
does not (DESIGN I30).

The paper adds the entities and relations of its questions to the graph. Here the pool is a further cue to its segments:
as like a question as the nearest of theirs is (`answering`). **Measured** on dialogues (some 40 facts and 70 questions
each), R@2, 5, 10, 20 of 383 questions: +.4 (±.9), +.6 (±.8), +.1, +.4 with .1 of the best score, likewise with .05; .15
is 0 and .4 loses 2. On long dated articles (a third of their pool) .05 loses 1.3 of R@2 and .1 loses 3.3, R@5 +.3; on
questions of two hops (an eighth of it) 0. So the pool counts for nothing unless it is switched on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.questions import Pooled
from mcp_memory.domain.relations import EntityType, relations
from mcp_memory.domain.verbs import is_finite
from mcp_memory.language.tokens import rouge_l, words
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.space import NONE, Space

ALIKE = 0.6
"""ROUGE-L from which on two questions ask the same (§2.1, note 3: chosen by trial)."""
UNLIKE = 0.4
"""Cosine of questions that have nothing to do with each other, about."""
_THINGS: tuple[EntityType, ...] = ("thing", "organisation", "place")
"""Kinds that "what" asks for."""


def admitted(pool: Iterable[Pooled], candidates: Iterable[Pooled], alike: float = ALIKE) -> list[Pooled]:
    """Return the candidates that join the pool, in their order.

    Args:
        pool: what is in it already, which stays.
        candidates: each is held against the pool and the candidates that were admitted before it.
        alike: ROUGE-L in (0, 1] from which on a question of the same segment and about a common entity keeps it out.
    """
    held: dict[str, list[tuple[frozenset[str], Sequence[str]]]] = defaultdict(list)
    for one in pool:
        held[one.segment_id].append((one.entities, words(one.text)))
    joined = []
    for one in candidates:
        asked = words(one.text)
        others = (said for entities, said in held[one.segment_id] if not one.entities.isdisjoint(entities))
        if asked and all(rouge_l(asked, other) < alike for other in others):
            held[one.segment_id].append((one.entities, asked))
            joined.append(one)
    return joined


def answering(space: Space, question: Vector) -> Scores:
    """Return how like a question the nearest question of each segment in the pool is, shape ``(len(space.segments),)``.

    Args:
        space: of a view that is held still.
        question: its embedding, shape ``(d,)``, length 1.

    Returns:
        In [0, 1]: 0 up to a cosine of `UNLIKE`, and where a segment has no question; 1 where it is this very question.
        All 0 where the pool holds no vectors.
    """
    scores = np.zeros(len(space.segments), dtype=np.float32)
    if space.questions.vectors is None:
        return scores
    near = np.clip((space.questions.vectors.dot(question[np.newaxis])[0] - UNLIKE) / (1 - UNLIKE), 0, 1)
    rows = np.array([space.segment_row(one.segment_id) for one in space.questions.rows], dtype=np.intp)
    np.maximum.at(scores, rows[rows != NONE], near[rows != NONE])
    return scores


def asked_of(space: Space, assertions: Iterable[Assertion]) -> list[Pooled]:
    """Return the questions that facts answer, at most two for each, in their order; a denial answers none.

    Args:
        space: of a view that is held still.
        assertions: of this space. One that lies in two segments belongs to the first; what lies in none is left out.
    """
    found = []
    for said in assertions:
        rows = space.segments_with(said.turn_id, said.sentence)
        if said.negated or not rows:
            continue
        keys = space.facts.key(said.head), space.facts.key(said.tail)
        head, tail = (Named(space.facts.name(key), _kind(space, key)) for key in keys)
        texts = asking(head, said.relation, tail)
        found += [Pooled(text, space.segments[rows[0]].id, frozenset(keys)) for text in texts]
    return found


class Named(NamedTuple):
    """An end of a fact.

    Attributes:
        name: as it is said.
        kind: what it is known to be; None where nobody knows.
    """

    name: str
    kind: EntityType | None


def _kind(space: Space, key: str) -> EntityType | None:
    """Return what an end of a fact is; whoever speaks is a person."""
    if any(space.facts.key(speaker) == key for speaker in space.speakers):
        return "person"
    return space.facts.kind(key)


def asking(head: Named, relation: str, tail: Named) -> list[str]:
    """Return what asks for the tail of a fact, and what asks for its head.

    What would be no English is left out: of a relation that nobody listed, what is no verb; and whose head or tail has
    a name and may be a person or a thing, so that neither "who" nor "what" is sure to be right.
    """
    known = relations().get(relation)
    found = []
    if known.question:
        found.append(known.question.replace("{head}", head.name))
    elif known.told and (asks := _asks(known.tail, tail)) in ("Who", "What"):
        found.append(f"{asks} does {head.name} {known.label}?")
    verbal = bool(known.question or known.told) or is_finite(known.label.split()[0])
    if verbal and known.label != "is" and (asks := _asks(known.head, head)):
        found.append(f"{asks} {known.told or known.label} {tail.name}?")
    return found


def _asks(usual: EntityType | None, end: Named) -> str | None:
    """Return the word that asks for an end of a fact, or None where that is not sure.

    Args:
        usual: what the relation says that it mostly is.
        end: what it is called, and known to be.
    """
    kind = end.kind or usual
    if kind == "person":
        return "Who"
    return "What" if kind in _THINGS or (kind is None and end.name.islower()) else None
