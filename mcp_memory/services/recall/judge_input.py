"""A question with what was found for it, as a judge needs it: the sentences, what was learnt of them, and the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcp_memory.domain.answers import EvidenceSentence, KnownFacts
from mcp_memory.domain.evidence import Citation, Evidence, RecallResult, Source
from mcp_memory.ports import JudgeInput
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.words import WordIndex
from mcp_memory.services.learn.update import cap_denied
from mcp_memory.services.recall.pipeline import Asked, Findings
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space


@dataclass(frozen=True, slots=True)
class Opened:
    """A case, and the gates that it was opened with.

    Attributes:
        case: for the judge.
        gates: of the question, by row of the sentence; 1 for those that are not there.
        named: the same by id of the sentence, for when rows may mean something else.
    """

    case: JudgeInput
    gates: Mapping[int, float]
    named: Mapping[str, float]


def opened(
    space: Space, asking: Asked, findings: Findings, recall: RecallResult, knowledge: KnownFacts, *, learning: bool
) -> Opened:
    """Return the case of a question.

    Args:
        space: of a view that is held still since the question was looked for.
        asking: the question.
        findings: what was found.
        recall: the same as evidence.
        knowledge: what the facts know of it.
        learning: whether what a caller denied for this very question counts.
    """
    question, gates = asking.question, dict(findings.guidance.gates)
    gates |= cap_denied(space, question.text, gates) if learning else {}
    candidates = sentences(space, findings.hits, recall, asking.vectors, gates)
    knowledge = replace(knowledge, gates=_placed(space, gates)) if gates else knowledge
    words = space.index(WordIndex)
    rarity = {stem: words.rarity(stem) for stem in question.stems}
    named = {space.sentences[row].id: gate for row, gate in gates.items()}
    return Opened(JudgeInput(question, recall, candidates, rarity, knowledge), gates, named)


def _placed(space: Space, gates: Mapping[int, float]) -> dict[str, list[tuple[int, int, float]]]:
    """Return gates by row as `KnownFacts` has them."""
    placed: dict[str, list[tuple[int, int, float]]] = {}
    for row, gate in gates.items():
        piece = space.sentences[row]
        placed.setdefault(piece.turn_id, []).append((piece.start, piece.end, gate))
    return placed


def sentences(
    space: Space, hits: Sequence[Candidate], recall: RecallResult, vectors: Matrix, gates: Mapping[int, float]
) -> list[EvidenceSentence]:
    """Return the sentences of the hits, best hit first, each sentence once.

    Args:
        space: of a view that is held still.
        hits: best first.
        recall: the same hits as evidence.
        vectors: of the question as it is and, if it has one, of its first-person form, which is what talk is like.
        gates: of the question, by row of the sentence.
    """
    found: list[EvidenceSentence] = []
    seen: set[str] = set()
    items = {
        (one.turn.id, one.start): item.id
        for item in reversed(recall.evidence)
        for one in item.sources[: None if item.kind == "point" else 1]  # a point is shown for all of its sources
    }
    of_turn = {one.turn.id: item.id for item in reversed(recall.evidence) for one in item.sources}
    for hit in hits:
        segment, turn = space.segments[hit.row], space.segment_turn[hit.row]
        item = items.get((turn.id, segment.start)) or of_turn[turn.id]  # a hit can stand within a fact shown above it
        rows = [row for row in space.sentences_within(segment) if space.sentences[row].id not in seen]  # some overlap
        cosines: list[float] | list[None] = [None] * len(rows)
        if space.sentence_vectors is not None:
            own = space.sentence_vectors.take(np.array(rows, dtype=np.intp))
            cosines = (own @ vectors[0 if turn.kind == "document" else -1]).tolist()
        for row, cosine in zip(rows, cosines, strict=True):
            sentence = space.sentences[row]
            seen.add(sentence.id)
            source = Source(turn, sentence.start, sentence.end)
            found.append(EvidenceSentence(item, source, sentence.times, hit.score, cosine, gates.get(row, 1.0)))
    return found


def resting(recall: RecallResult, citations: Sequence[Citation], knowledge: KnownFacts) -> RecallResult:
    """Return the recall with the facts that a judge cites among its evidence, first where they were not shown."""
    shown = {item.id for item in recall.evidence}
    facts: dict[str, Evidence] = {}
    for citation in citations:
        found = knowledge.fact(citation.evidence_id)
        if citation.evidence_id in shown or citation.evidence_id in facts or found is None:
            continue
        version, inferred = found
        facts[version.id] = Evidence(
            version.id,
            "fact",
            version.text,
            1.0,
            ("facts",),
            tuple(one.source for one in citations if one.evidence_id == version.id),
            valid_from=version.since,
            valid_to=version.until,
            confidence=version.confidence,
            inferred=inferred,
        )
    return replace(recall, evidence=(*facts.values(), *recall.evidence)) if facts else recall
