"""Ports: the Protocols that services and rooms need of an embedder, a store, judges and operators, and their values.

Each is as small as its callers need. ``wiring`` chooses which adapter stands behind a port.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from mcp_memory.domain.answers import EvidenceSentence, Judgement, KnownFacts
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.evidence import Evidence, RecallResult, Suggestion
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Reservation, Spending
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import ANY_TIME, Query, Window
from mcp_memory.domain.status import StoreStatus
from mcp_memory.domain.times import Millis, StatedTime
from mcp_memory.domain.turns import Excerpt, Turn
from mcp_memory.vectors import Matrix, Rows, Scores
from mcp_memory.view.erasure import Erasure
from mcp_memory.view.space import Space, View

Progress = Callable[[float, float, str], Awaitable[None]]
"""Called now and then during a long call: how much is done, of how much, and what it is doing."""


Work = Literal["index", "enrich"]
"""Background work that one process on a store does at a time."""


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name of the model and its form; kept in each commit, since vectors of two models do not mix."""

    @property
    def dimension(self) -> int:
        """``d`` of the vectors."""

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one vector of length 1 for each text, shape ``(len(texts), dimension)``, in their order."""

    async def embed_parts(
        self, texts: Sequence[str], parts: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[Matrix, Matrix]:
        """Return the vectors of texts, and of parts of them, which are spans in characters, each of length 1.

        Their shapes are ``(len(texts), dimension)`` and ``(number of parts, dimension)``; the parts of one text follow
        those of the text before it. Where a model has no vectors of tokens, a part has that of its words.
        """


class PairReader(Protocol):
    """Reads two texts together."""

    @property
    def name(self) -> str:
        """The name of the model, with its digest."""

    @property
    def problem(self) -> str:
        """Why it cannot read, in words; empty while nothing is known against it."""

    async def read(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        """Return for each pair the chance that the record helps with the query, in (0, 1), shape ``(len(pairs),)``.

        Records are as ``search/ranking.py`` shows them; of a long one a part is read.

        Raises:
            EmbedderError: the model is missing, is not the expected one, or cannot be run here.
        """


class Transaction(Protocol):
    """Exclusive write access to the store; its commit ends it."""

    @property
    def view(self) -> View:
        """The view as of the last commit of any process; the newest segments and sentences may be missing.

        Readers may compute something of it meanwhile; what is planned by its facts is read within `reading`.
        """

    def reading(self) -> AbstractAsyncContextManager[View]:
        """Lock the view against readers, which have to wait; it must be let go before the commit."""

    async def commit(self, batch: Batch) -> int:
        """Append the rows, then the commit that makes them visible; return its number.

        When this has returned, the rows survive the death of the process. What was made of texts that were forgotten
        meanwhile is left out. An empty batch commits nothing and returns the last number.

        Raises:
            StoreUnwritable: nothing of the batch is visible, now or later.
        """


class Store(Protocol):
    """The rows, and the view of them that this process holds."""

    def reading(self, *, whole: bool = True) -> AbstractAsyncContextManager[View]:
        """Refresh the view to the last commit of any process; it does not change while it is read.

        If turns and assertions are enough, it need not be ``whole``: the newest segments and sentences may be missing.
        """

    def writing(self) -> AbstractAsyncContextManager[Transaction]:
        """Take the store's lock, end the forget of a dead process, refresh, and release at the commit or on leaving.

        Raises:
            StoreBusy: another process held the lock for too long.
            StoreMismatch: the store has another embedder or a newer format.
            StoreUnwritable: the place cannot be written to.
        """

    def lease(self, work: Work) -> AbstractAsyncContextManager[bool]:
        """Yield whether this process may do a kind of background work: no other one, and no other call, does.

        The lease ends with the context, and with the process.
        """

    async def forget(self, choose: Callable[[View], Erasure]) -> Erasure:
        """Forget what ``choose`` returns (``view/erasure.py``), and return it.

        When this has returned, no row of it is left, nor a file that holds one. It is the only call that removes rows.
        ``choose`` gets a view with everything, in a thread, while nobody writes; its errors end the call.

        Raises:
            StoreBusy: another process held the lock for too long.
            StoreUnwritable: it is not begun, or the next call finishes it; the text says which.
        """

    def was_forgotten(self, id_: str) -> bool:
        """Return whether something with this id was forgotten, as of the last reading."""

    @property
    def damage(self) -> tuple[str, ...]:
        """What is damaged, in words, as of the last reading; while that is the log, nothing can be written."""

    @property
    def outdated(self) -> bool:
        """Whether an older extractor has read the texts, or a derived table is broken, as of the last reading."""

    async def renew(self) -> bool:
        """Make a part of outdated tables again, beside the ones in use; return whether there is more to do."""

    async def about(self) -> StoreStatus:
        """Return what is known of the store without reading its rows; never raises because of the store's state."""

    async def save_view(self) -> None:
        """Save the view for the next process that opens the store, if it is large, whole and much larger than before.

        It must not change meanwhile, so a call that comes ends it, unsaved, until the view is due again.
        """

    async def aclose(self) -> None:
        """Finish background work within two seconds, and release the store."""


class Ledger(Protocol):
    """Keeps the daily cost of a language model within its budget."""

    async def reserve(self, tokens: int) -> Reservation:
        """Record durably that a request of at most so many uncached input tokens is about to be sent.

        It counts as spent until it is settled.

        Raises:
            EngineError: the day's budget is too small for it, or it could not be recorded. Nothing may be sent.
        """

    async def settle(self, reserved: Reservation, took: Spending) -> None:
        """Replace what was reserved for a request by what it took, unless that cannot be recorded."""


class Extractor(Protocol):
    """Extracts facts from a text."""

    @property
    def name(self) -> str:
        """The name of the method, as status shows it."""

    @property
    def version(self) -> int:
        """Its version, from 1. What an older version read is read again when a store is opened."""

    def extract(
        self,
        turn: Turn,
        partner: str | None,
        sentences: Sequence[tuple[int, int]],
        times: Sequence[Sequence[StatedTime]],
    ) -> list[Assertion]:
        """Return what a turn asserts, in the order of its words. Blocking, and without side effects.

        ``partner`` is the addressee of a message, if known: "you". ``sentences`` are spans in characters, and ``times``
        what each of them states.
        """


class TextReader(Protocol):
    """Extracts facts from texts with a language model."""

    @property
    def ready(self) -> bool:
        """Whether it can be asked at all."""

    async def read(self, excerpts: Sequence[Excerpt], before: Sequence[Excerpt]) -> list[Assertion]:
        """Return what texts of one session assert, each assertion supported by its own text; not recorded yet.

        Excerpts are in the order of the session, with those ``before`` them as context.

        Raises:
            EngineError: no usable reply; the subclass says what helps.
        """


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """What a judge of answers is asked: a query and what was found for it.

    Attributes:
        query: understood and embedded.
        recall: the evidence, with paths, points and conflicts.
        sentences: the sentences of the evidence, best items first, those of one item in order, with their gates.
        passages: the same as a language model is shown them (``services/recall/passages.py``); empty for a judge that
            is none.
        known_facts: about what it names, and the gates of the sentences that state them.
        gates: the gates of the sentences that are not neutral for the query, by their ids.
        earlier: what the judge returned before it searched further; None if it is asked for the first time.
        seen: what it was shown then and need not see again; see `Judgement`.
        point_sentences: by the id of a memory point of ``recall``, the sentences that it rests on.
        span: the first and the last moment at which something of the space was said; None if no time is known.
        relates: whether the query relates things to each other, so that memory points of it are kept while it is
            answered.
        working: these points, which lead those of ``recall``.
        last: whether it is not asked again, whatever it asks for.
    """

    query: Query
    recall: RecallResult
    sentences: Sequence[EvidenceSentence]
    known_facts: KnownFacts
    gates: Mapping[str, float] = field(default_factory=dict)
    earlier: Judgement | None = None
    seen: Collection[Hashable] = frozenset()
    point_sentences: Mapping[str, Sequence[EvidenceSentence]] = field(default_factory=dict)
    span: tuple[Millis, Millis] | None = None
    relates: bool = False
    working: tuple[Point, ...] = ()
    last: bool = False
    passages: Sequence[EvidenceSentence] = ()

    @property
    def shown(self) -> Sequence[EvidenceSentence]:
        """What a language model is shown of the sentences."""
        return self.passages or self.sentences


class QuestionJudge(Protocol):
    """The judgements that one query needs, by one judge and within one budget; a new object for each query.

    Attributes:
        warnings: why another judge than the wanted one decided, in words, so far.
        spent: on a language model, so far; None if none was asked.
        follow_ups: times that it may be asked again about what the steps it asks for have found; 0 once its budget is
            spent, and for one that is asked once.
    """

    @property
    def follow_ups(self) -> int: ...  # noqa: D102

    @property
    def warnings(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def spent(self) -> Spending | None: ...  # noqa: D102

    async def understand(
        self, query: Query, speakers: Collection[str], held: Collection[str], span: tuple[Millis, Millis] | None
    ) -> Query:
        """Return a query with what its words mean (DESIGN L4: REAL's anchors, MRAgent's cues).

        The rules have parsed it. ``held`` is what the space holds: ``conversations``, ``documents``; ``span`` the first
        and the last moment at which something was said there, if that is known.
        """

    def assesses(self, recall: RecallResult) -> bool:
        """Return whether `judge` is to be asked about the result of a recall; else nobody judges it."""

    async def judge(self, case: JudgeInput) -> Judgement:
        """Return the answer that can be given, and whose judgement it is (DESIGN L6 and L10).

        The judgement also says which evidence is needed, and where to look for more.
        """


Weigh = Callable[[Rows], Scores]
"""Returns the weights of sentences for a query, by their rows, at least 0 (GAM-RAG eq. 4); 0 outside the window."""


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
        weigh: the weights of sentences for the query; None without a query.
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
    weigh: Weigh | None = None
    points: tuple[Point, ...] = ()

    @property
    def query_argument(self) -> dict[str, str]:
        """The query as an argument of a suggested step; empty without one."""
        return {} if self.query is None else {"query": self.query.text}


@dataclass(frozen=True, slots=True)
class OperatorResult:
    """What one step of navigation found.

    Attributes:
        items: evidence, best first; of a history by time.
        next: suggestions for the next step.
        warnings: in words.
        oldest: of a history the ids of the items, that first which is left out first where there is no room for all;
            empty for others, of which the last is.
        left_out: of a history how many more the limit of the step left out.
    """

    items: tuple[Evidence, ...]
    next: tuple[Suggestion, ...] = ()
    warnings: tuple[str, ...] = ()
    oldest: tuple[str, ...] = ()
    left_out: int = 0


Step = Callable[[OperatorInput], OperatorResult]
"""An operator of `domain.operators.OPERATORS`; it stores nothing."""
