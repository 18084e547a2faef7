"""Answer: what the evidence says to a question, or that it does not say.

Recall first; then a judge proposes the best that the evidence's sentences can say, with a confidence. Below the bar
nothing is said: the caller gets the evidence and can make up its own mind. Every answer cites the sentences that it
stands on, as spans of the stored turns (I-38).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcp_memory.domain.answers import Candidate, Proposal
from mcp_memory.domain.evidence import Answer, Recall, Source
from mcp_memory.domain.requests import AnswerRequest, RecallRequest
from mcp_memory.ports import Answerer, Embedder, Store
from mcp_memory.search.look import Hit, Switches, Weights
from mcp_memory.search.words import WordIndex
from mcp_memory.services.reconstruct import ask, find, recalled
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space


@dataclass(frozen=True, slots=True)
class Bar:
    """How sure an answer has to be; confidences are roughly the share that is right.

    Lower says more and errs more. Measured on long dialogues: a third of the questions are answered, three of five of
    these rightly, and 4 in 100 of those that the dialogue cannot answer. In documents, where many sentences have the
    form that is asked for, the same bar lets more errors through, so it is higher there: a third of the questions to
    long dated articles are answered, half of these rightly.

    Attributes:
        talk: below this it abstains, where the answer would stand in a message.
        document: below this it abstains, where the answer would stand in a document.
        plain: below this it is said with a hedge.
    """

    talk: float = 0.29
    document: float = 0.33
    plain: float = 0.5

    def passes(self, proposal: Proposal) -> bool:
        """Return whether a proposal is sure enough to be said."""
        kind = proposal.citations[0].source.turn.kind
        return proposal.confidence >= (self.talk if kind == "message" else self.document)


async def answer(
    store: Store,
    embedder: Embedder,
    answerer: Answerer,
    request: AnswerRequest,
    *,
    weights: Weights,
    switches: Switches,
    bar: Bar,
) -> Answer:
    """Return the answer, or an abstention (``text`` is None) with the evidence and how near it came."""
    question, vectors = await ask(store, embedder, request.space, request.question)
    wanted = RecallRequest(request.space, request.question, request.limit)
    async with store.reading() as view:
        space = view.space(request.space)
        hits = await find(store, space, question, vectors, wanted, weights, switches)
        recall = recalled(space, question, hits)
        candidates = sentences(space, hits, recall, vectors)
        words = space.index(WordIndex)
        rarity = {stem: words.rarity(stem) for stem in question.stems}
    proposal = await answerer.propose(question, candidates, rarity)
    if proposal is None:
        return Answer(None, 0.0, False, (), recall)
    if not bar.passes(proposal):
        return Answer(None, proposal.confidence, False, (), recall)
    hedged = proposal.hedged or proposal.confidence < bar.plain
    return Answer(proposal.text, proposal.confidence, hedged, proposal.citations, recall)


def sentences(space: Space, hits: Sequence[Hit], recall: Recall, vectors: Matrix) -> list[Candidate]:
    """Return the sentences of the hits, best hit first, each sentence once.

    Args:
        space: of a view that is held still.
        hits: best first.
        recall: the same hits as evidence.
        vectors: of the question as it is and, if it has one, of its first-person form, which is what talk is like.
    """
    found: list[Candidate] = []
    seen: set[str] = set()
    for hit, evidence in zip(hits, recall.evidence, strict=True):
        segment, turn = space.segments[hit.row], space.segment_turn[hit.row]
        rows = [row for row in space.sentences_within(segment) if space.sentences[row].id not in seen]  # some overlap
        cosines: list[float] | list[None] = [None] * len(rows)
        if space.sentence_vectors is not None:
            own = space.sentence_vectors.take(np.array(rows, dtype=np.intp))
            cosines = (own @ vectors[-1 if turn.kind == "message" else 0]).tolist()
        for row, cosine in zip(rows, cosines, strict=True):
            sentence = space.sentences[row]
            seen.add(sentence.id)
            source = Source(turn, sentence.start, sentence.end)
            found.append(Candidate(evidence.id, source, sentence.times, hit.score, cosine))
    return found
