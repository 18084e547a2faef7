"""What the middle of the house asks of its edges: an embedder and a store, each as small as its callers need.

``wiring`` alone knows which adapter stands behind a port.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from mcp_memory.domain.answers import Candidate, Knowledge, Proposal
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.requests import Window
from mcp_memory.domain.status import StoreStatus
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import Question
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

Progress = Callable[[float, float, str], Awaitable[None]]
"""Told now and then how far a long call has come: done, of how many, what it is doing."""


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: what made the vectors, model and form; kept in each commit, since vectors of two makers do not mix.
        dimension: ``d`` of the vectors.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def dimension(self) -> int: ...  # noqa: D102

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one vector of length 1 for each text, shape ``(len(texts), dimension)``, in their order."""


class Transaction(Protocol):
    """The store while this process alone may write to it: until its commit, which ends it.

    Attributes:
        view: as of the last commit of any process; the newest segments and sentences may be missing.
    """

    @property
    def view(self) -> View: ...  # noqa: D102

    async def commit(self, batch: Batch) -> int:
        """Append the rows, then the commit that makes them visible; return its number.

        When this has returned, the rows survive the death of the process. An empty batch commits nothing and returns
        the last number.

        Raises:
            StoreUnwritable: nothing of the batch is visible, now or later.
        """


class Store(Protocol):
    """The rows, and the view of them that this process holds."""

    def reading(self, *, whole: bool = True) -> AbstractAsyncContextManager[View]:
        """Refresh the view to the last commit of any process and hold it still while it is read.

        Args:
            whole: False where turns and what is asserted are enough; the newest segments and sentences may be missing.
        """

    def writing(self, batch: Batch | None = None) -> AbstractAsyncContextManager[Transaction]:
        """Take the store's lock, refresh, sweep what a dead writer left, and release at the commit or on leaving.

        Args:
            batch: what will be committed unless somebody else was faster: it is made ready before the lock is taken.

        Raises:
            StoreBusy: another process held the lock for too long.
            StoreMismatch: the store has another embedder or a newer format.
            StoreUnwritable: the place cannot be written to.
        """

    async def about(self) -> StoreStatus:
        """Return what is known of the store without reading its rows; never raises because of the store's state."""

    async def aclose(self) -> None:
        """Let background work come to an end, within two seconds, and let go of the store."""

    async def nearest(self, space: str, queries: Matrix, count: int) -> list[list[tuple[str, float]]]:
        """Return the segments nearest to each query, as (id, cosine), best first: for views that hold no vectors."""


class Extractor(Protocol):
    """Reads facts out of a text.

    Attributes:
        name: how it reads, as status shows it.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def extract(
        self,
        turn: Turn,
        partner: str | None,
        sentences: Sequence[tuple[int, int]],
        times: Sequence[Sequence[StatedTime]],
    ) -> list[Assertion]:
        """Return what a turn asserts, in the order of its words. Blocking, and without side effects.

        Args:
            turn: the text, who says it and when.
            partner: whom a message is said to, if known: "you".
            sentences: spans of its sentences, in characters.
            times: what each of them states.
        """


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of navigation is asked; of the arguments each operator uses some.

    Attributes:
        space: of a view that is held still.
        cosine: the likeness of the query to what states each of these assertions, in [-1, 1]; 0s without a query.
        question: the query understood, or None.
        entity: a name.
        relation: a name, in any form.
        tag: likewise.
        topic: likewise.
        ids: of evidence.
        window: of time.
        limit: at most so many items.
    """

    space: Space
    cosine: Callable[[Sequence[Assertion]], list[float]]
    question: Question | None = None
    entity: str | None = None
    relation: str | None = None
    tag: str | None = None
    topic: str | None = None
    ids: tuple[str, ...] = ()
    window: Window = field(default_factory=Window)
    limit: int = 12


@dataclass(frozen=True, slots=True)
class Found:
    """What one step of navigation found: evidence, best first, and what to do next."""

    items: tuple[Evidence, ...]
    next: tuple[Suggestion, ...] = ()


class Operator(Protocol):
    """One step of navigation. Each room offers its own, and ``wiring`` lays them in one table.

    Attributes:
        name: as the explore tool calls it.
        needs: the arguments that it cannot do without.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def needs(self) -> tuple[str, ...]: ...  # noqa: D102

    def __call__(self, asked: Step) -> Found:
        """Take the step. Nothing is stored."""


class Answerer(Protocol):
    """Judges what the evidence says to a question."""

    async def propose(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        rarity: Mapping[str, float],
        knowledge: Knowledge,
    ) -> Proposal | None:
        """Return the best that can be said, however unsure, or None where nothing has the form that is asked for.

        Args:
            question: taken apart.
            candidates: the sentences of the evidence, best items first, those of one item in order.
            rarity: how much each stem of the question tells, its idf in the space, at least 0.
            knowledge: the facts about what it names.
        """
