"""The numbers of QRMeM, and of what stands in for its language model here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reflecting:
    """How far navigation goes, and which of the three navigators take part.

    Attributes:
        window: L, tokens of the segments that are held together (§3.2: 4,096).
        trials: steps of reflection, and rounds of a trial, in one call (DESIGN D22: the paper has no number).
        segments: of one entity that a step adds, the nearest to the question; the paper adds all. Measured: `reflect`.
        hub: sentences that name an entity, or facts about it, above which no step leads to it; ours, measured there.
        rounds: iterations of graph expansion; ours, the paper has one without a number.
        width: entities that one of them, or of a trial's rounds, adds; ours.
        deviations: above the background from which on an edge is near to the question; as for REAL's paths (DESIGN
            3.2).
        reflection: whether it reflects (Algorithm 1).
        expansion: whether the entities are grown first along all edges that are near to the question.
        entity_trial: whether they are widened by what the held segments share, where the question names none.
    """

    window: int = 4_096
    trials: int = 4
    segments: int = 2
    hub: int = 30
    rounds: int = 2
    width: int = 3
    deviations: float = 2.0
    reflection: bool = True
    expansion: bool = True
    entity_trial: bool = True
