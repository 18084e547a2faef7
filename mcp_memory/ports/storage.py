"""What keeps, embeds and reads texts: store and transaction, embedder, extractor, language model and its ledger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.forgetting import ForgetTargets, ForgottenRecord
from mcp_memory.domain.language_model import Reservation, Spending
from mcp_memory.domain.status import Status, StoreStatus
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Excerpt, Turn
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.erasure import Erasure, Keep
from mcp_memory.view.view import View

Progress = Callable[[float, float, str], Awaitable[None]]
"""Called now and then during a long call: how much is done, of how much, and what it is doing."""


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
        """Return the vectors of texts and of parts of them, each of length 1.

        Args:
            texts: as in `embed`.
            parts: of each text, as spans in characters.

        Returns:
            Shapes ``(len(texts), dimension)`` and ``(number of parts, dimension)``; the parts of one text follow those
            of the text before it. Where a model has no vectors of tokens, a part has that of its words.
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

        Args:
            pairs: a query and a record, as ``search/rendering.py`` shows records; of any length, of which a part is
                read.

        Raises:
            EmbedderError: the model is missing, is not the expected one, or cannot be run here.
        """


class Transaction(Protocol):
    """Exclusive write access to the store; its commit ends it."""

    @property
    def view(self) -> View:
        """The view as of the last commit of any process; the newest segments and sentences may be missing."""

    async def commit(self, batch: Batch) -> int:
        """Append the rows, then the commit that makes them visible; return its number.

        When this has returned, the rows survive the death of the process. Lessons that were recorded before are not
        recorded again, nor what came of them. An empty batch commits nothing and returns the last number.

        Raises:
            StoreUnwritable: nothing of the batch is visible, now or later.
        """


class Stored(Protocol):
    """What is stored, as commands and resources read it."""

    @property
    def store(self) -> Store:
        """The rows."""

    async def status(self) -> Status:
        """Return counts for each space and the state of the store."""

    async def aclose(self) -> None:
        """Close the store."""


class Store(Protocol):
    """The rows, and the view of them that this process holds."""

    def reading(self, *, whole: bool = True) -> AbstractAsyncContextManager[View]:
        """Refresh the view to the last commit of any process; it does not change while it is read.

        Args:
            whole: False if turns and assertions are enough; the newest segments and sentences may be missing.
        """

    def writing(self, batch: Batch | None = None) -> AbstractAsyncContextManager[Transaction]:
        """Take the store's lock, refresh, sweep what a dead writer left, and release at the commit or on leaving.

        Args:
            batch: what will be committed unless another process was faster: it is prepared before the lock is taken.

        Raises:
            StoreBusy: another process held the lock for too long.
            StoreMismatch: the store has another embedder or a newer format.
            StoreUnwritable: the place cannot be written to.
        """

    def indexing(self) -> AbstractAsyncContextManager[bool]:
        """Yield whether this process may index what is stored without vectors: no other one, and no other call, does.

        The lease ends with the context, and with the process.
        """

    async def forget(self, choose: Callable[[View], ForgetTargets], by: str, keep: Keep | None = None) -> Erasure:
        """Forget what ``choose`` returns, with all that rests only on it (``view/erasure.py``), and say what went.

        When this has returned, no row of it is left, nor a file that holds one. It is the only call that removes rows.

        Args:
            choose: chooses in a view with everything, while nobody writes; its errors end the call.
            by: the client or command that asks; it is recorded.
            keep: is given what goes before it goes, to keep it for a while; its errors end the call.

        Raises:
            StoreBusy: another process held the lock for too long.
            StoreUnwritable: it is not begun, or the next call finishes it; the text says which.
        """

    async def forgotten(self) -> tuple[ForgottenRecord, ...]:
        """Return what was forgotten, without content, oldest first."""

    @property
    def damage(self) -> tuple[str, ...]:
        """What committed rows are gone, in words, as of the last reading; nothing can be written while some are."""

    @property
    def outdated(self) -> bool:
        """Whether an older extractor has read the texts, or a derived table is broken, as of the last reading."""

    async def about(self) -> StoreStatus:
        """Return what is known of the store without reading its rows; never raises because of the store's state."""

    @property
    def view_is_due(self) -> bool:
        """Whether `save_view` would write something."""

    async def save_view(self) -> None:
        """Save the view for the next process that opens the store, if it is large, whole and much larger than before.

        It must not change meanwhile, so calls wait: a second for 100,000 sentences.
        """

    async def aclose(self) -> None:
        """Finish background work within two seconds, and release the store."""

    async def nearest(self, space: str, queries: Matrix, count: int) -> list[list[tuple[str, float]]]:
        """Return the segments nearest to each query, as (id, cosine), best first: for views that hold no vectors."""


class Ledger(Protocol):
    """Keeps the daily cost of a language model within its budget."""

    async def reserve(self, tokens: int) -> Reservation:
        """Record durably that a request of about this size is about to be sent.

        Args:
            tokens: uncached input tokens, an upper estimate.

        Returns:
            What was recorded; it counts as spent until it is settled.

        Raises:
            EngineError: the day's budget is too small for it, or it could not be recorded. Nothing may be sent.
        """

    def settle(self, reserved: Reservation, took: Spending) -> None:
        """Replace what was reserved for a request by what it took."""


class LanguageModel(Protocol):
    """The part of the language model's client that the memory uses: its status, and the ledger of its costs.

    Attributes:
        ledger: records the costs of requests; the memory sets it.
        model: its name.
        base_url: the address that requests go to.
        ready: whether it can be asked.
        spent: costs of this process so far.
    """

    ledger: Ledger | None

    @property
    def model(self) -> str: ...  # noqa: D102

    @property
    def base_url(self) -> str: ...  # noqa: D102

    @property
    def ready(self) -> bool: ...  # noqa: D102

    @property
    def spent(self) -> Spending: ...  # noqa: D102

    async def aclose(self) -> None:
        """Close its connections."""


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
        before: Sequence[Turn] = (),
    ) -> list[Assertion]:
        """Return what a turn asserts, in the order of its words. Blocking, and without side effects.

        Args:
            turn: the text with its speaker and time.
            partner: the addressee of a message, if known: "you".
            sentences: spans of its sentences, in characters.
            times: what each of them states.
            before: the last messages of its session before it.
        """


class TextReader(Protocol):
    """Extracts facts from texts with a language model."""

    @property
    def ready(self) -> bool:
        """Whether it can be asked at all."""

    async def read(self, excerpts: Sequence[Excerpt], before: Sequence[Excerpt]) -> list[Assertion]:
        """Return what texts of one session assert, each assertion supported by its own text; not recorded yet.

        Args:
            excerpts: the excerpts to be read, in the order of the session.
            before: the context before them.

        Raises:
            EngineError: no usable reply; the subclass says what helps.
        """
