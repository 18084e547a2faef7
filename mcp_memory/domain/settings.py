"""Settings of facts."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import switch


@dataclass(frozen=True, slots=True)
class FactSettings:
    """How facts are read from texts, and when they are reliable (REAL)."""

    stable: float = 0.8
    """A fact below this confidence stays in the background until something confirms it: θ_stable (REAL §4.1)."""
    extraction: bool = switch("extraction", True, "facts are read from what is written; off: only a caller's facts")
