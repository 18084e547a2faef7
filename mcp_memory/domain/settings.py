"""Settings of facts."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import Range, key, switch


@dataclass(frozen=True, slots=True)
class FactSettings:
    """How facts are read from texts, and when they are reliable (REAL)."""

    stable: float = key(
        0.8,
        "a fact below this confidence, 0 to 1, stays in the background until something confirms it",
        Range(0, 1, includes_low=False, includes_high=True),
    )
    """θ_stable (REAL §4.1)."""
    extraction: bool = switch("extraction", True, "facts are read from what is written; off: only a caller's facts")
