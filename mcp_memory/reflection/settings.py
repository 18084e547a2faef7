"""Settings of QRMeM's navigators, and of what replaces its language model here."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import key, switch


@dataclass(frozen=True, slots=True)
class ReflectionSettings:
    """How far the operator reflect goes beyond the entities of a query (QRMeM)."""

    window: int = key(4_096, "tokens of all passages together")
    """L (§3.2: 4,096)."""
    trials: int = key(4, "entities that are added one after the other")
    """Steps of reflection, and rounds of a trial, in one call (DESIGN D22: the paper has no number)."""
    segments: int = key(2, "passages of each")
    """The most similar to the query; the paper adds all. Measured: see `reflect`."""
    hub: int = key(30, "an entity in more sentences or facts than this is not added")
    """Ours, measured in `reflect`."""
    rounds: int = key(2, "before that, rounds that add every entity near the query")
    """Iterations of graph expansion; ours, the paper has one without a number."""
    width: int = key(3, "entities of each round")
    """Of expansion and of a trial; ours."""
    deviations: float = key(2.0, 'how far above the background "near" is, in standard deviations')
    """The threshold of an edge; as for REAL's paths (DESIGN 3.2)."""

    enabled: bool = switch(
        "reflection", True, "reflect adds one entity after the other, each time the one most similar to the query"
    )
    answered: bool = switch(
        "answered",
        True,
        "a question that a language model answered joins the pool of questions",
    )
    reason: bool = switch(
        "reason", True, "why the evidence does not do, as a language model says, steers the next search"
    )
    """QRMeM §2.2. Without it the embedded engine chooses the steps by the question alone, as many of them."""
    expansion: bool = switch("expansion", True, "before that, every entity near enough")
    entity_trial: bool = switch("entity_trial", True, "where neither finds anything, entities that the passages share")
