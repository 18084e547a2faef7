"""Make items of evidence from facts, sentences, segments and memory points of a space, with their sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mcp_memory.domain.evidence import Evidence, Rule, Source
from mcp_memory.domain.facts import WHOLE, Assertion, Version
from mcp_memory.domain.points import Point
from mcp_memory.domain.turns import Segment, Sentence

if TYPE_CHECKING:  # resources are listed without numpy, which a space needs
    from mcp_memory.view.space import Space

MOST_SOURCES = 3
"""The most sources that an item names."""
SENTENCES_OF_ID = 8
"""Sentences that one id may stand for: a segment or fact has several."""


def known_sentences(space: Space, ids: Iterable[str]) -> list[Sentence]:
    """Return the sentences with these ids that the space still has, in this order."""
    return [piece for name in ids if (piece := space.sentence(name)) is not None]


def rows_of(space: Space, ids: Iterable[str]) -> list[int]:
    """Return the rows of the sentences that ids of evidence stand for, each once; unknown ids stand for none.

    A segment stands for its sentences, a fact for those that state it, of each at most `SENTENCES_OF_ID`.
    """
    rows: dict[int, None] = {}
    for one in ids:
        if (segment := space.segments.row(one)) >= 0:
            found = list(space.sentences_within(space.segments[segment]))
        elif (sentence := space.sentence(one)) is not None:
            found = [space.sentence_row(sentence.turn_id, sentence.index)]
        else:
            version = space.facts.version(one)
            found = [row for said in (version.assertions if version else ()) for row in _stating_rows(space, said)]
        rows |= dict.fromkeys(found[:SENTENCES_OF_ID])
    return list(rows)


def _stating_rows(space: Space, said: Assertion) -> Sequence[int]:
    if said.sentence == WHOLE:
        return space.sentences.of_turn(said.turn_id)
    row = space.sentence_row(said.turn_id, said.sentence)
    return [row] if row >= 0 else []


def source_of(space: Space, piece: Segment | Sentence | Assertion) -> Source:
    """Return where a piece of a text of the space stands."""
    return Source(space.turns[piece.turn_id], piece.start, piece.end)


def fact_evidence(
    space: Space,
    version: Version,
    score: float,
    via: tuple[str, ...],
    inferred: Rule | None = None,
    confidence: float | None = None,
) -> Evidence:
    """Return a version as an item of evidence, with its sources; arguments as for `fact_with_sources`."""
    return fact_with_sources(version, score, via, sources(space, version), inferred, confidence)


def fact_with_sources(
    version: Version,
    score: float,
    via: tuple[str, ...],
    stated: Sequence[Source],
    inferred: Rule | None = None,
    confidence: float | None = None,
) -> Evidence:
    """Return a version as an item of evidence.

    Args:
        version: a stored one, or one that a rule inferred.
        score: in [0, 1].
        via: the channels or the operator that found it.
        stated: where it is stated.
        inferred: the rule, if it is a hypothesis.
        confidence: of the step that led to it, where a rule discounts it; None for that of the version.
    """
    return Evidence(
        id=version.id,
        kind="fact",
        text=version.text,
        score=score,
        via=via,
        sources=tuple(stated),
        valid_from=version.since,
        valid_to=version.until,
        confidence=version.confidence if confidence is None else confidence,
        inferred=inferred,
        fact_kind=version.kind,
        precision=version.precision,
        stated=version.stated,
    )


def sources(space: Space, version: Version) -> tuple[Source, ...]:
    """Return where a version is stated: at most three spans, one per turn, by confidence, then the newest first."""
    by_turn: dict[str, Source] = {}
    for assertion in sorted(version.assertions, key=lambda stated: (-stated.confidence, -stated.said_at, stated.id)):
        turn = space.turns.get(assertion.turn_id)
        if turn is not None and turn.id not in by_turn:
            by_turn[turn.id] = Source(turn, assertion.start, assertion.end)
            if len(by_turn) == MOST_SOURCES:
                break
    return tuple(by_turn.values())


def sentence_evidence(space: Space, sentence: Sentence, score: float, via: tuple[str, ...]) -> Evidence:
    """Return a sentence as an item of evidence; arguments as for `fact_evidence`."""
    source = source_of(space, sentence)
    return Evidence(sentence.id, "sentence", source.quote, score, via, (source,))


def segment_evidence(space: Space, row: int, score: float, via: tuple[str, ...]) -> Evidence:
    """Return a segment as an item of evidence; a segment of one sentence becomes that sentence."""
    segment = space.segments[row]
    rows = space.sentences_within(segment)
    if segment.first == segment.last and rows:
        return sentence_evidence(space, space.sentences[rows[0]], score, via)
    source = Source(space.segment_turn[row], segment.start, segment.end)
    return Evidence(segment.id, "segment", source.quote, score, via, (source,))


def point_evidence(space: Space, point: Point, score: float, via: tuple[str, ...]) -> Evidence:
    """Return a memory point as an item of evidence, with the first texts that it rests on."""
    sources = tuple(source_of(space, piece) for piece in known_sentences(space, point.sentences)[:MOST_SOURCES])
    return Evidence(point.id, "point", point.description, score, via, sources)
