"""What one step of navigation is given, what it returns, and the operator that takes it (``memory_explore``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import ANY_TIME, Query, Window
from mcp_memory.vectors import Scores
from mcp_memory.view.space import Space


@dataclass(frozen=True, slots=True)
class OperatorInput:
    """The arguments of one step of navigation; each operator uses some of them.

    Attributes:
        space: the space of a view that does not change meanwhile.
        cosine: returns the similarity of the query to the sentences that state assertions, in [-1, 1]; 0 without a
            query.
        query: understood and embedded, or None.
        entity: a name; likewise ``relation``, in any form.
        tag: a tag of MRAgent's graph, a word or two; ``topic`` is an id, or words.
        ids: the ids of evidence.
        window: the window of time; ``limit``: at most so many items.
        weigh: returns the weights of sentences for the query, by their rows, at least 0 (GAM-RAG eq. 4); None without
            a query.
        points: memory points of a question that is being answered, which are not stored.
    """

    space: Space
    cosine: Callable[[Sequence[Assertion]], list[float]]
    query: Query | None = None
    entity: str | None = None
    relation: str | None = None
    tag: str | None = None
    topic: str | None = None
    ids: tuple[str, ...] = ()
    window: Window = ANY_TIME
    limit: int = 12
    weigh: Callable[[NDArray[np.intp]], Scores] | None = None
    points: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorResult:
    """What one step of navigation found: evidence, best first, suggestions for the next step, and warnings."""

    items: tuple[Evidence, ...]
    next: tuple[Suggestion, ...] = ()
    warnings: tuple[str, ...] = ()


class Operator(Protocol):
    """One step of navigation. Each room offers its own, and ``mcp_memory/operators.py`` has the table of them.

    Attributes:
        name: as the explore tool calls it.
        needs: the required arguments; "entity or query" if one of them is enough.
        uses: the arguments that change what it finds or proposes, beside ``limit``, which all use; no other is
            accepted.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def needs(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def uses(self) -> tuple[str, ...]: ...  # noqa: D102

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """Take the step; nothing is stored."""
