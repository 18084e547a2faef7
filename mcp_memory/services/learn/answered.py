"""Grow the graph by what a language model answered: QRMeM's questions with their entities and relations (§2.1).

The question joins the pool of the segments that the answer cites, and the relations that the model names between names
in these segments join the facts, each with the sentence that states it. So what is asked about becomes a graph,
question by question, and the next question of its kind finds a path.

A relation is kept only where no other fact of its sentence counts: of one sentence the facts of one extractor count,
and a model that answers a question reads less of it than one that reads it for facts (``assertions.py`` of the view).
It has to be written there like every fact (``temporal/assertions.py``).

**Departures.** The paper writes questions to each segment while it builds (DESIGN D23), before anything is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.evidence import Citation, NamedRelation, Source
from mcp_memory.domain.facts import Assertion, kind_of, new_assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import PooledQuestion, Turn, speaker
from mcp_memory.language.tokens import words
from mcp_memory.ports import Embedder, Store
from mcp_memory.reflection.questions import admit
from mcp_memory.temporal.assertions import guard_assertions
from mcp_memory.view.space import Space

CONFIDENCE = 0.9
"""Of a relation that a model named beside an answer; it was not asked how surely the text states it."""
SEGMENTS = 3
"""Segments to whose pool one question is added, those that are cited first."""
_FIRST_PERSON = frozenset(("i", "me", "my", "myself"))


async def grow_graph(
    store: Store,
    embedder: Embedder,
    space: str,
    question: str,
    citations: Sequence[Citation],
    named: Sequence[NamedRelation],
    *,
    now: Millis,
) -> int:
    """Record an answered question and the relations that were named with it; return how many relations were kept.

    Args:
        store: of the space.
        embedder: of the question.
        space: its name.
        question: that a language model answered.
        citations: of its answer.
        named: the relations that it named.
        now: the moment of recording.

    Raises:
        StoreError: nothing is recorded.
    """
    vector = await embedder.embed([question])
    async with store.writing() as transaction:
        current = transaction.view.space(space)
        assertions = _assertions(current, named, now)
        entities = frozenset(current.facts.key(name) for one in named for name in (one.head, one.tail))
        pooled = [PooledQuestion(question, one, entities) for one in _segments(current, citations)]
        known = [question for one in pooled for question in current.questions.of_segment(one.segment_id)]
        new = admit(known, pooled) if entities else []
        if assertions or new:
            vectors = np.repeat(vector, len(new), axis=0).astype(np.float32)
            questions = tuple((space, question) for question in new)
            await transaction.commit(Batch(assertions=tuple(assertions), questions=questions, question_vectors=vectors))
    return len(assertions)


def _segments(space: Space, citations: Iterable[Citation]) -> list[str]:
    """Return the ids of the first segments that citations quote."""
    rows: dict[int, None] = {}
    for citation in citations:
        for row in space.sentences_of(citation.source.turn.id):
            piece = space.sentences[row]
            if piece.start < citation.source.end and citation.source.start < piece.end:
                rows |= dict.fromkeys(space.segments_with(piece.turn_id, piece.index)[:1])
    return [space.segments[row].id for row in list(rows)[:SEGMENTS]]


def _assertions(space: Space, named: Iterable[NamedRelation], now: Millis) -> list[Assertion]:
    """Return the relations that their sentences state, of sentences without facts, each once."""
    found: dict[str, Assertion] = {}
    for one in named:
        for source in (citation.source for citation in one.citations):
            turn = space.turns.get(source.turn.id)
            stated = None if turn is None else _assertion(space, one, turn, source, now)
            if stated is not None:
                found[stated.id] = stated
                break
    return list(found.values())


def _assertion(space: Space, one: NamedRelation, turn: Turn, source: Source, now: Millis) -> Assertion | None:
    """Return a relation as an assertion of the sentence of a span that names most of it; None if none does."""
    head, tail = (_name(name, speaker(turn)) for name in (one.head, one.tail))
    relation = relations().name(one.relation)
    if not head or not tail or head.casefold() == tail.casefold() or not words(relation):
        return None
    spans = [(space.sentences[row].start, space.sentences[row].end) for row in space.sentences_of(turn.id)]
    read = {assertion.sentence for assertion in space.facts.assertions_in(turn.id)}
    best: tuple[int, int] | None = None
    for index, (start, end) in enumerate(spans):
        if index not in read and start < source.end and source.start < end:
            text = f" {' '.join(words(turn.text[start:end]))} "
            count = sum(f" {' '.join(words(name))} " in text for name in (head, tail))
            best = max((count, -index), best or (0, 0))
    if best is None or best[0] == 0:
        return None
    index = -best[1]
    since = BEGINNING if turn.kind == "document" else turn.time
    stated = new_assertion(
        turn, index, spans[index], (head, relation, tail), since=since, until=FOREVER, stated=False, negated=False,
        change=False, confidence=CONFIDENCE, intent="FACT", extractor="anthropic", recorded_at=now,
        kind=kind_of(relation),
    )  # fmt: skip
    return next(iter(guard_assertions(turn, None, spans, [stated])), None)


def _name(name: str, who: str | None) -> str | None:
    text = " ".join(name.split())
    return who if text.casefold() in _FIRST_PERSON else text
