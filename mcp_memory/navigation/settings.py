"""Settings of navigation: the numbers of REAL's search through facts, and the switches of its mechanisms."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import switch


@dataclass(frozen=True, slots=True)
class NavigationSettings:
    """How far facts are followed from the entities that a query names (REAL §4.1)."""

    width: int = 5
    """Paths that are followed at once from each entity. k (REAL §4.1; 3, 8 and 10 were worse there)."""
    depth: int = 3
    """Steps of a path. D_max (REAL §4.1; 4 gains .1 there, 5 loses)."""
    expanded: int = 5
    """Neighbours that are scored at the end of each path. m (REAL §4.1; 10 gains .05 there)."""
    relevance: float = 0.5
    """If no path is more relevant than this, hypotheses are tried. δ_QR, below which a path is not reliable (REAL
    §4.1)."""
    coherence: float = 0.5
    """The same for how well the facts of a path fit together. δ_LC, likewise."""
    roots: int = 8
    """At most this many roots are followed; ours, so that a long query stays cheap."""
    specific: int = 8
    """A common noun is a root only if it takes part in at most this many (entity, relation) pairs; ours: it keeps
    "film" from being one."""
    scanned: int = 256
    """Versions on each side of a root that are read before the best m are taken; ours, for hubs."""
    passed: int = 48
    """The same for an entity further along a path; with 256 here too, searching dense facts takes twice as long."""
    premises: int = 24
    """Neighbours that each rule of repair reads; ours, for hubs."""
    joint: float = 0.6
    """Jaccard index of their words from which on two names may mean the same entity (DESIGN 3.1)."""
    asked: float = 0.7
    """Bonus on relevance for a relation that the query asks for, as a share of the distance to 1; ours."""
    spread: float = 4.0
    """Standard deviations of the background cosine that span the calibrated cosine from 0 to 1 (DESIGN 3.2)."""
    backward: float = 0.05
    """Subtracted from relevance for a step from tail to head (DESIGN D36)."""
    incompatible: float = 0.15
    """Subtracted from a neighbour's rank if it does not have the kind that the root's intent looks for, less the more
    the query asks for its relation by name (DESIGN D35, which gives no number)."""
    same: float = 1.0
    """Share of its confidence that a fact keeps in its inverse, or mirrored if the relation is symmetric (DESIGN
    3.3)."""
    implied: float = 0.8
    """Likewise, in a relation that another implies."""
    hyponymy: float = 0.8
    """Likewise, one step up in a hierarchy."""
    succession: float = 0.6
    """Likewise, in the version before or after."""
    causality: float = 0.5
    """Likewise, along a chain of causes."""
    cooccurrence: float = 0.3
    """Likewise, through a shared sentence."""

    facts: bool = switch("facts", True, "facts support the texts that state them, can be answers, and are shown")
    beam: bool = switch("beam", True, "facts are followed over several steps; off: one step")
    counterfactual: bool = switch("counterfactual", True, "where facts are missing, hypotheses fill the gap")
    rules: tuple[str, ...] = ("symmetry", "hyponymy", "succession", "causality", "cooccurrence")
    """The rules that make hypotheses, in the order of DESIGN 3.3."""


DEFAULTS = NavigationSettings()
"""For callers without a configuration."""
