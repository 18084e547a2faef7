"""Aliases that the memory itself came to hold: two names that mean one entity, and why it thinks so (DESIGN 2.5).

Nobody said it, so it is no fact and never evidence: it stands beside the facts, as a judgement with its reason. Nothing
is re-written by it. What was said of either name stays where it is and is read together for as long as the alias
counts, and it counts until somebody who was told says that the two are not the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.times import Millis


@dataclass(frozen=True, slots=True)
class Alias:
    """That one name means whom another means.

    Attributes:
        space: where it holds.
        name: of the entity, as written.
        alias: the other name, as written.
        reason: in words.
        source: whose judgement it is.
        at: when it was made.
    """

    space: str
    name: str
    alias: str
    reason: str
    source: Engine
    at: Millis
