"""Paths through the facts: what navigation finds, starting from what a question names (REAL §3.3, eq. 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.facts import Assertion, Intent, Version

Rule = Literal["symmetry", "hyponymy", "succession", "causality", "cooccurrence"]
"""The rule by which a step was inferred (REAL §3.4)."""


@dataclass(frozen=True, slots=True)
class Root:
    """Where a search begins.

    Attributes:
        key: of the entity, as ``view.facts.Facts`` knows it.
        name: as shown.
        intent: what the question wants from it.
        soft: whether nothing in the question names it: it only stands near in meaning.
    """

    key: str
    name: str
    intent: Intent
    soft: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step from an entity to a neighbour.

    Attributes:
        version: the fact that is walked along. Of an inferred step without a fact of its own (co-occurrence), a
            version made up for this path alone, whose id begins with ``i_``; it is never stored (DESIGN I11).
        forward: from head to tail; else from tail to head.
        inferred: the rule, or None where the fact itself says it.
        confidence: of the version, discounted by the rule.
        via: for an inferred step, what it was inferred from.
    """

    version: Version
    forward: bool
    inferred: Rule | None = None
    confidence: float = 1.0
    via: tuple[Assertion, ...] = ()


@dataclass(frozen=True, slots=True)
class PathScores:
    """The three scores of a path, each in [0, 1] (REAL §3.3.2).

    Attributes:
        relevance: S_QR, to the question.
        coherence: S_LC, of its steps with each other and in time.
        sufficiency: S_AS, how far it answers.
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
    """A walk from a root; its steps meet end to end and no entity comes twice (DESIGN I32).

    Attributes:
        root: where it starts.
        steps: one or more.
        end: key of the entity that it leads to.
        scores: by the evaluator.
    """

    root: Root
    steps: tuple[Step, ...]
    end: str
    scores: PathScores

    @property
    def inferred(self) -> Rule | None:
        """The first rule that it rests on, or None."""
        return next((step.inferred for step in self.steps if step.inferred), None)

    @property
    def confidence(self) -> float:
        """The least of its steps'."""
        return min(step.confidence for step in self.steps)
