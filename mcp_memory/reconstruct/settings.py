"""Settings of the loop of recall (MRAgent §3.2)."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import key


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How far recall goes on where the first search is not enough (MRAgent §3.2)."""

    max_turns: int = key(8, "turns, unless the call states a number")
    """The paper's."""
    k_ops: int = key(10, "calls of operators in one turn")
    """The paper's."""
