"""Facts as evidence: what a version says, when it holds, how sure it is, and who said it where."""

from __future__ import annotations

from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.facts import Version
from mcp_memory.domain.paths import Rule
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
