"""Paths through the facts: where a search starts, its steps, and the scores of a path (REAL §III-B)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.facts import Assertion, Intent, Version

Rule = Literal["symmetry", "hyponymy", "succession", "causality", "cooccurrence"]
"""The rule by which a step was inferred (REAL §III-B2, Table I)."""


@dataclass(frozen=True, slots=True)
class Root:
    """The entity from which a search starts.

    Attributes:
        key: the key of the entity (`domain.entities.entity_key`).
        name: as shown.
        intent: kind of fact that the question asks for.
    """

    key: str
    name: str
    intent: Intent


@dataclass(frozen=True, slots=True)
class Step:
    """One step from an entity to a neighbour.

    Attributes:
        version: the fact of the step. Of an inferred step, unless it leads to the value before or after (succession),
            it is temporary: its id starts with ``i_``, and it is never stored (DESIGN I11).
        forward: whether the step goes from head to tail.
        inferred: the rule of a hypothesis; None for a stated fact.
        confidence: the confidence of the version, discounted by the rule.
        via: assertions from which the step was inferred.
    """

    version: Version
    forward: bool
    inferred: Rule | None = None
    confidence: float = 1.0
    via: tuple[Assertion, ...] = ()


@dataclass(frozen=True, slots=True)
class PathScores:
    """The three scores of a path, each in [0, 1] (REAL §III-B2, II).

    Attributes:
        relevance: S_QR, of the path to the question.
        coherence: S_LC, of the steps with each other and in time.
        sufficiency: S_AS, how far the path answers the question.
    """

    relevance: float
    coherence: float
    sufficiency: float

    @property
    def mean(self) -> float:
        """S of DESIGN D34."""
        return (self.relevance + self.coherence + self.sufficiency) / 3


@dataclass(frozen=True, slots=True)
class Path:
    """A simple path of facts from a root; no entity occurs twice (REAL §III-B2; §III-C, eq. 9; DESIGN I32).

    Attributes:
        root: where it starts.
        steps: empty before the first step.
        end: key of its last entity.
        scores: by `score_paths`.
    """

    root: Root
    steps: tuple[Step, ...]
    end: str
    scores: PathScores

    def with_step(self, step: Step, end: str) -> Path:
        """Return this path with one more step, not yet scored; many times as fast as `dataclasses.replace`."""
        return Path(self.root, (*self.steps, step), end, self.scores)

    def with_scores(self, scores: PathScores) -> Path:
        """Return this path with other scores."""
        return Path(self.root, self.steps, self.end, scores)

    @property
    def inferred(self) -> Rule | None:
        """The first rule by which a step was inferred, or None."""
        return next((step.inferred for step in self.steps if step.inferred), None)

    @property
    def confidence(self) -> float:
        """The lowest confidence of its steps."""
        return min(step.confidence for step in self.steps)
