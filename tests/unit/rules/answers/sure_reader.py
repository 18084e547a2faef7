"""The reader of texts, as if it were sure of all that it does not only suspect and that stays right once it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.facts import CERTAIN, STABLE, Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.rules.facts.extractor import RuleExtractor


class SureReader(RuleExtractor):
    """Gives every fact that is not only suspected the confidence of a certain one."""

    def extract(
        self,
        turn: Turn,
        partner: str | None,
        sentences: Sequence[tuple[int, int]],
        times: Sequence[Sequence[StatedTime]],
    ) -> list[Assertion]:
        found = super().extract(turn, partner, sentences, times)
        return [
            replace(one, confidence=max(one.confidence, CERTAIN))
            if one.confidence >= STABLE and not relations().get(one.relation).passing
            else one
            for one in found
        ]
