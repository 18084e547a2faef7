"""Aliases that the memory itself found: two names that mean one entity, with the reason (DESIGN 2.5).

Nobody stated an alias, so it is neither a fact nor evidence: it stands beside the facts, as a judgement. No stored text
or fact changes. What was said of either name is read together as long as the alias counts, and it counts until
somebody states that the two are not the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.domain.facts import Engine
from mcp_memory.domain.times import Millis


@dataclass(frozen=True, slots=True)
class Alias:
    """The judgement that two names mean one entity.

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
