"""Evidence: what a reply shows of the candidates, each thing once, with its sources; and what a judge is shown of it.

A segment is shown as the sentence or passage that it is. If it states a fact that answers the query, the fact leads
the item, with its validity, and the segment is quoted as its first source, so a sentence and its fact never take two
places.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mcp_memory.domain.answers import EvidenceSentence, KnownFacts
from mcp_memory.domain.evidence import Citation, Evidence, Path, RecallResult, Source, Step
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.language.segments import cut_line
from mcp_memory.ports import JudgeInput
from mcp_memory.search.channels import said_in_role
from mcp_memory.search.ranking import Candidate
from mcp_memory.view.evidence import MOST_SOURCES, fact_with_sources, known_sentences, segment_evidence, source_of
from mcp_memory.view.space import NONE, Space

SHOWN_SUPPORTS = 5
"""Sentences of a memory point that a judge is shown (HGMem's program: 5 passages of a point)."""
SHORT_WORDS = 12
"""Words up to which a passage of talk is shown with what it replies to."""
REPLIED_CHARS = 200
"""Characters of what a passage replies to."""
_REPLY = re.compile(
    r"\s*(?:yes|yeah|yep|yup|no|nope|sure|right|exactly|true|same|both|neither|it|that|this|these|those|they|them|he|she"
    r"|him|her|there|then|because|me too|not)\b",
    re.IGNORECASE,
)


def evidence_of(
    space: Space,
    candidates: Sequence[Candidate],
    paths: Sequence[Path],
    query: Query | None = None,
    dated: Mapping[str, tuple[Millis, Millis]] | None = None,
) -> tuple[Evidence, ...]:
    """Return the candidates as evidence, best first.

    Args:
        space: the space of a view that does not change meanwhile.
        candidates: best first, a message once.
        paths: the paths that answer the query (`navigation.beam.SUFFICIENT`), best first.
        query: understood with the speakers of the space; None where the newest items were asked for.
        dated: times that operators found: since and until, by the id of the evidence.
    """
    steps_of = _last_steps(space, paths)
    shown: list[Evidence] = []
    facts: set[str] = set()
    said = said_in_role(space, query.role if query is not None else None)
    used: set[str] = set()  # turns that an item above shows
    texts: list[tuple[int, int]] = []  # places in ``shown`` of what stands for itself, with the row of its segment
    for candidate in candidates:
        row = candidate.row
        segment, turn = space.segments[row], space.segment_turn[row]
        if turn.id in used and turn.kind != "document":  # of a document each segment counts
            continue
        used.add(turn.id)
        step = next((step for step in steps_of.get(row, ()) if step.version.id not in facts), None)
        if step is None:
            texts.append((len(shown), row))
            shown.append(segment_evidence(space, row, candidate.score, candidate.via))
            continue
        facts.add(step.version.id)
        sources = [Source(turn, segment.start, segment.end)]
        for assertion in step.via or step.version.assertions:
            if len(sources) < MOST_SOURCES and assertion.turn_id not in used and said(assertion.turn_id):
                sources.append(source_of(space, assertion))
                used.add(assertion.turn_id)
        version = step.version
        shown.append(
            fact_with_sources(version, candidate.score, candidate.via, sources, step.inferred, step.confidence)
        )
    for place, row in texts:
        shown[place] = replace(shown[place], before=_replied_to(space, row, shown[place].text, used))
    if not dated:
        return tuple(shown)
    return tuple(
        replace(item, valid_from=dated[item.id][0], valid_to=dated[item.id][1])
        if item.id in dated and item.valid_from is None
        else item
        for item in shown
    )


def _last_steps(space: Space, paths: Sequence[Path]) -> dict[int, list[Step]]:
    """Return, for each segment, the last steps of the paths that it states, best first."""
    steps_of: dict[int, list[Step]] = {}
    for path in paths:
        step = path.steps[-1]
        for assertion in step.via or step.version.assertions:
            for row in space.segments_with(assertion.turn_id, assertion.sentence):
                steps_of.setdefault(row, []).append(step)
    return steps_of


def _replied_to(space: Space, row: int, text: str, used: Collection[str]) -> Source | None:
    """Return what was said directly before a passage that is not understood without it, unless it is shown anyway.

    It is the last question of the turn before, or else its last sentence. A passage needs either if it begins with an
    answer or a pronoun ("Yes, in May.", "It was a gift."), and the question if it is short.
    """
    before, refers = int(space.rows_before[row]) if space.talk[row] else NONE, _REPLY.match(text)
    if before == NONE or not (refers or len(text.split()) <= SHORT_WORDS):
        return None
    turn = space.segment_turn[before]
    if turn.id in used or turn.speaker == space.segment_turn[row].speaker:
        return None
    if "statement" in (turn.kind, space.segment_turn[row].kind):  # a caller's fact is no part of the talk
        return None
    sentences = [space.sentences[one] for one in space.sentences.of_turn(turn.id)]
    if not sentences:
        return None
    asked = (one for one in reversed(sentences) if turn.text[one.start : one.end].rstrip().endswith("?"))
    if (said := next(asked, sentences[-1] if refers else None)) is None:
        return None
    return Source(turn, said.start, cut_line(turn.text, said.start, said.end, REPLIED_CHARS))


def judge_input(
    space: Space, query: Query, result: RecallResult, facts: KnownFacts, gates: Mapping[int, float]
) -> JudgeInput:
    """Return what a judge of answers is asked about a query, while the view is held in which its evidence was found."""
    placed: dict[str, list[tuple[int, int, float]]] = {}
    for row, gate in gates.items():
        piece = space.sentences[row]
        placed.setdefault(piece.turn_id, []).append((piece.start, piece.end, gate))
    by_id = {space.sentences[row].id: gate for row, gate in gates.items()}
    return JudgeInput(
        query,
        result,
        _sentences(space, result, gates),
        replace(facts, gates=placed) if gates else facts,
        gates=by_id,
        point_sentences={point.id: point_sentences(space, point, by_id) for point in result.points},
        span=space.span,
    )


def point_sentences(space: Space, point: Point, gates: Mapping[str, float]) -> list[EvidenceSentence]:
    """Return the first sentences that a point rests on, as far as they are current, with their gates by id."""
    pieces = known_sentences(space, point.sentences)[:SHOWN_SUPPORTS]
    return [EvidenceSentence(point.id, source_of(space, piece), gates.get(piece.id, 1.0)) for piece in pieces]


def _sentences(space: Space, result: RecallResult, gates: Mapping[int, float]) -> list[EvidenceSentence]:
    """Return the sentences that the evidence quotes, of the best first, each once; of a broad recall its lines."""
    if result.breadth != "best":
        return [
            EvidenceSentence(item.id, item.sources[0], _gate(space, item, gates))
            for item in result.evidence
            if item.kind in ("sentence", "segment") and item.sources
        ]
    found: dict[int, EvidenceSentence] = {}
    for item in result.evidence:
        for source in item.sources:
            for row in space.sentences.overlapping(source.turn.id, source.start, source.end):
                own = Source(source.turn, space.sentences[row].start, space.sentences[row].end)
                found.setdefault(row, EvidenceSentence(item.id, own, gates.get(row, 1.0)))  # some segments overlap
    return list(found.values())


def _gate(space: Space, item: Evidence, gates: Mapping[int, float]) -> float:
    source = item.sources[0]
    rows = space.sentences.overlapping(source.turn.id, source.start, source.end) if gates else []
    return min((gates.get(row, 1.0) for row in rows), default=1.0)


def with_cited_items(
    evidence: tuple[Evidence, ...], citations: Sequence[Citation], facts: KnownFacts, points: Sequence[Point] = ()
) -> tuple[Evidence, ...]:
    """Return evidence with the facts and memory points that a judge cites; those that were not shown come first."""
    shown = {item.id for item in evidence}
    cited: dict[str, Evidence] = {}
    descriptions = {point.id: point.description for point in points}
    for citation in citations:
        name = citation.evidence_id
        if name in shown or name in cited:
            continue
        sources = tuple(one.source for one in citations if one.evidence_id == name)
        if name in descriptions:
            cited[name] = Evidence(name, "point", descriptions[name], 1.0, ("points",), sources)
        elif found := facts.fact(name):
            version, inferred = found
            cited[name] = fact_with_sources(version, 1.0, ("facts",), sources, inferred)
    return (*cited.values(), *evidence)
