"""Settings of QRMeM's navigators, and of what replaces its language model here."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import switch


@dataclass(frozen=True, slots=True)
class ReflectionSettings:
    """How far the operator reflect goes beyond the entities of a query (QRMeM)."""

    window: int = 4_096
    """Tokens of all passages together. L (§3.2: 4,096)."""
    trials: int = 4
    """Entities that are added one after the other. Steps of reflection, and rounds of a trial, in one call (DESIGN D22:
    the paper has no number)."""
    segments: int = 2
    """Passages of each. The most similar to the query; the paper adds all. Measured: see ``navigators.py``."""
    hub: int = 30
    """An entity in more sentences or facts than this is not added. Ours, measured there, too."""
    rounds: int = 2
    """Before that, rounds that add every entity near the query. Iterations of graph expansion; ours, the paper has one
    without a number."""
    width: int = 3
    """Entities of each round. Of expansion and of a trial; ours."""
    deviations: float = 2.0
    """How far above the background "near" is, in standard deviations. The threshold of an edge; as for REAL's paths
    (DESIGN 3.2)."""

    enabled: bool = switch("reflection", True, "memory_explore's step reflect goes on from entity to entity")


DEFAULTS = ReflectionSettings()
"""For callers without a configuration."""
