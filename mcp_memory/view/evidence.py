"""What a space holds as evidence: a fact with its time, sureness and sources, a sentence or a segment as it is."""

from __future__ import annotations

from dataclasses import replace

from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.facts import Version
from mcp_memory.domain.paths import Rule
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Sentence
from mcp_memory.view.space import Space

SOURCES = 3
"""An item names at most so many."""


def fact_evidence(
    space: Space,
    version: Version,
    score: float,
    via: tuple[str, ...],
    inferred: Rule | None = None,
    confidence: float | None = None,
) -> Evidence:
    """Return a version as an item of evidence.

    Args:
        space: that it is of.
        version: a real one, or one made up by a rule.
        score: in [0, 1].
        via: the channels or the operator that found it.
        inferred: the rule, where it is a hypothesis.
        confidence: of the step that led to it, where a rule discounts it; None for the version's own.
    """
    return Evidence(
        id=version.id,
        kind="fact",
        text=version.text,
        score=score,
        via=via,
        sources=sources(space, version),
        valid_from=version.since,
        valid_to=version.until,
        confidence=version.confidence if confidence is None else confidence,
        inferred=inferred,
    )


def sources(space: Space, version: Version) -> tuple[Source, ...]:
    """Return where a version is stated: at most three spans, one a turn, the surest first, then the newest."""
    found: dict[str, Source] = {}
    for assertion in sorted(version.assertions, key=lambda said: (-said.confidence, -said.said_at, said.id)):
        turn = space.turns.get(assertion.turn_id)
        if turn is not None and turn.id not in found:
            found[turn.id] = Source(turn, assertion.start, assertion.end)
            if len(found) == SOURCES:
                break
    return tuple(found.values())


def sentence_evidence(space: Space, sentence: Sentence, score: float, via: tuple[str, ...]) -> Evidence:
    """Return a sentence as an item of evidence; arguments as for `fact_evidence`."""
    source = Source(space.turns[sentence.turn_id], sentence.start, sentence.end)
    return Evidence(sentence.id, "sentence", source.quote, score, via, (source,))


def dated_evidence(space: Space, sentence: Sentence, score: float, via: tuple[str, ...]) -> Evidence:
    """Return a sentence with the time that it states, from the first to the last; without one as it is."""
    item = sentence_evidence(space, sentence, score, via)
    if not sentence.times:
        return item
    since = min((time.since for time in sentence.times if time.since > BEGINNING), default=BEGINNING)
    until = max((time.until for time in sentence.times if time.until < FOREVER), default=FOREVER)
    return replace(item, valid_from=since, valid_to=max(since + 1, until))


def segment_evidence(space: Space, row: int, score: float, via: tuple[str, ...]) -> Evidence:
    """Return a segment as an item of evidence; one of a single sentence is shown as that sentence."""
    segment = space.segments[row]
    rows = space.sentences_within(segment)
    if segment.first == segment.last and rows:
        return sentence_evidence(space, space.sentences[rows[0]], score, via)
    source = Source(space.segment_turn[row], segment.start, segment.end)
    return Evidence(segment.id, "segment", source.quote, score, via, (source,))
