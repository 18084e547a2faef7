"""Settings of the loop of recall (MRAgent §3.2)."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import key, switch


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How far recall goes on where the first search is not enough (MRAgent §3.2)."""

    max_turns: int = key(8, "turns, unless the call states a number")
    """The paper's."""
    k_ops: int = key(10, "calls of operators in one turn")
    """The paper's."""
    calls: int = 50
    """Calls of operators in all turns together. The authors' program has this bound; both hold (DESIGN D30)."""
    deadline_s: float = 30.0
    """Seconds after which no further turn begins."""

    enabled: bool = switch("loop", True, "where the first search is not enough, recall goes on from what it found")
    tags: bool = switch("tags", True, "it also goes from text to text by the rare names in them")
