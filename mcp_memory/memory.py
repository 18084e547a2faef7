"""The memory: a method for each tool but memory_graph, each calling its service with the adapters of this memory.

``wiring.py`` opens the adapters that the settings name; tests pass their own. Of adapters this module knows the rules,
which judge where it is given no other judge, and of Claude what it costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from mcp_memory import __version__
from mcp_memory.domain.batch import KEEP, Masking, masked_texts
from mcp_memory.domain.evidence import AnswerResult, RecallResult
from mcp_memory.domain.language_model import day_number
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import (
    EvolveRequest,
    EvolveResult,
    ExploreRequest,
    ForgetRequest,
    ForgetResult,
    WriteRequest,
    WriteResult,
)
from mcp_memory.domain.status import Judging, Status
from mcp_memory.domain.times import Millis, offset_at, zone_named
from mcp_memory.errors import InvalidInput, StoreError
from mcp_memory.ports import Embedder, Extractor, OperatorResult, PairReader, Progress, QuestionJudge, Store, TextReader
from mcp_memory.rules.answers.judge import EmbeddedQuestionJudge
from mcp_memory.services.answer import answer, reconstruct
from mcp_memory.services.background import Background, warm
from mcp_memory.services.enrichment import Enrichment, texts_read
from mcp_memory.services.evolve import evolve
from mcp_memory.services.explore import explore
from mcp_memory.services.forget import forget
from mcp_memory.services.indexing import Indexer, Reading, silent
from mcp_memory.services.learn.episodes import Episodes
from mcp_memory.services.learn.feedback import EvolveContext
from mcp_memory.services.ledger import DayLedger
from mcp_memory.services.recall.across import recall_across, with_shared_wishes
from mcp_memory.services.recall.loop import RecallSettings, operators
from mcp_memory.services.write import write
from mcp_memory.settings import Settings
from mcp_memory.view.space import Space, View

if TYPE_CHECKING:
    from mcp_memory.reasoning.client import Claude

DRAIN_S = 1.5
"""Time limit for background work when the memory closes; the store then has two seconds of its own."""


def now() -> Millis:
    """Return milliseconds since 1970 in UTC."""
    return time.time_ns() // 1_000_000


@dataclass
class Memory:
    """The services with their adapters.

    Attributes:
        settings: every setting.
        store: the rows.
        embedder: the vectors.
        clock: milliseconds since 1970, UTC; a test gives its own.
        extractor: extracts facts from texts; None extracts none.
        new_question_judge: returns the judge of a query; called once for each query.
        organiser: returns the judge that is asked a goal, once for each call; None for the embedded rules.
        text_reader: extracts facts from all texts in the background, with a language model; None leaves that out.
        language_model: what the judges ask; None if nothing leaves the machine.
        masking: the masking of secrets in what calls bring.
        reader: reads what a search found once more; None leaves that out.
        episodes: recalls and answers of this process that feedback can refer to.
        background: jobs that run between calls, by `work`.
    """

    settings: Settings
    store: Store
    embedder: Embedder
    extractor: Extractor | None = None
    clock: Callable[[], Millis] = now
    new_question_judge: Callable[[], QuestionJudge] = EmbeddedQuestionJudge
    organiser: Callable[[], QuestionJudge] | None = None
    text_reader: TextReader | None = None
    language_model: Claude | None = None
    masking: Masking = KEEP
    reader: PairReader | None = None
    episodes: Episodes = field(default_factory=Episodes)
    background: Background = field(default_factory=Background)
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Connect the language model with the ledger of the store."""
        if self.language_model is not None:
            self.language_model.ledger = self.ledger

    @cached_property
    def ledger(self) -> DayLedger:
        """The costs of the language model in a day, over all processes on the store."""
        return DayLedger(self.store, self.settings.engine.day_tokens, lambda: self.clock())

    @cached_property
    def recall(self) -> RecallSettings:
        """The settings of recall, with its operators."""
        chosen, always = self.settings, self.settings.reader.use == "always"
        steps = operators(chosen.switches)
        return RecallSettings(chosen.switches, chosen.gain, chosen.loop, steps, self.reader, always)

    @cached_property
    def reading(self) -> Reading:
        """How texts are divided, embedded and read for facts."""
        return Reading(self.embedder, self.extractor, self.masking, zone_named(self.settings.server.time_zone))

    async def write(self, request: WriteRequest, progress: Progress = silent) -> WriteResult:
        """See `mcp_memory.services.write.write`."""
        self.background.note_call()
        if self.settings.write.wait:
            request = replace(request, wait=True)
        result = await write(self.store, self.reading, request, now=self.clock(), progress=progress)
        if result.pending:
            self.indexer.later()
        self.enrich_later()
        return result

    @cached_property
    def indexer(self) -> Indexer:
        """Indexes in the background what was stored without waiting for it."""
        return Indexer(self.store, self.reading, self.background)

    @cached_property
    def enriching(self) -> Enrichment | None:
        """The background job that extracts facts with a language model; None if it is switched off."""
        if self.text_reader is None:
            return None
        return Enrichment(self.store, self.text_reader, lambda: self.clock(), self.settings.engine.day_tokens)

    def enrich_later(self) -> None:
        """Queue the extraction of facts from texts that were not read yet."""
        if self.enriching is not None:
            self.background.put("enrich", self.enriching.step, durable=False)

    def renew_later(self) -> None:
        """Queue making derived tables again, if they are outdated or broken."""
        if self.store.outdated:
            self.background.put("renew", self.store.renew, durable=False)

    def warm_later(self) -> None:
        """Queue the loading of the cue graph, if recall uses it."""
        if self.settings.switches.loop and self.settings.switches.tags:
            self.background.put("warm", partial(warm, self.store), durable=False)

    def save_later(self) -> None:
        """Queue the saving of the view, which does nothing until it is due."""
        self.background.put("save", self.store.save_view)

    async def reconstruct(self, query: Query) -> RecallResult:
        """See `mcp_memory.services.answer.reconstruct`, and of a project's space `with_shared_wishes`."""
        result = await self._recall(query)
        if self.settings.server.space != "workspace" or not self.settings.switches.wishes:
            return result
        asked = query.asked(self.clock(), self.masking.mask, self.reading.zone)
        return await with_shared_wishes(self.store, self.embedder, asked, result)

    async def _recall(self, query: Query) -> RecallResult:
        unindexed, judge = (*query.warnings, *await self._unindexed(query.space)), self.new_question_judge()
        asked = query.asked(self.clock(), self.masking.mask, self.reading.zone)
        result = await reconstruct(
            self.store, self.embedder, asked, settings=self.recall, episodes=self.episodes, judge=judge
        )
        return replace(result, warnings=(*result.warnings, *unindexed))

    async def _unindexed(self, space: str) -> tuple[str, ...]:
        """Wait a little for messages that are just being indexed, and return a warning if some are not yet."""
        self.background.note_call()
        self.save_later()
        self.enrich_later()
        return await self.indexer.await_texts(space, self.settings.write)

    async def reconstruct_across(self, query: Query, spaces: Sequence[str]) -> RecallResult:
        """See `mcp_memory.services.recall.across.recall_across`."""
        return await recall_across(spaces, self._recall, self.embedder, self.episodes, query)

    async def explore(self, request: ExploreRequest) -> OperatorResult:
        """See `mcp_memory.services.explore.explore`."""
        unindexed = await self._unindexed(request.space)
        result = await explore(
            self.store,
            self.embedder,
            self.recall,
            masked_texts(request, self.masking, "query", "entity"),
            now=(now := self.clock()),
            offset=offset_at(now, self.reading.zone),
            episodes=self.episodes,
        )
        return replace(result, warnings=(*result.warnings, *unindexed))

    async def answer(self, query: Query) -> AnswerResult:
        """See `mcp_memory.services.answer.answer`.

        Raises:
            InvalidInput: a full answer is wanted, and no language model judges.
        """
        if query.length == "full" and self.settings.engine.judge == "embedded":
            remedy = "Leave it out, or recall and write the answer yourself; engine.judge sets the judge."
            raise InvalidInput("length", "full needs a language model as the judge, and none is set", remedy)
        unindexed = (*query.warnings, *await self._unindexed(query.space))
        result = await answer(
            self.store,
            self.embedder,
            self.new_question_judge(),
            query.asked(self.clock(), self.masking.mask, self.reading.zone),
            settings=self.recall,
            episodes=self.episodes,
        )
        result = replace(result, recall=replace(result.recall, warnings=(*result.recall.warnings, *unindexed)))
        self.background.note_call()
        return result

    async def evolve(self, request: EvolveRequest, progress: Progress = silent) -> EvolveResult:
        """See `mcp_memory.services.evolve.evolve`."""
        self.background.note_call()
        context = EvolveContext(
            self.store,
            self.embedder,
            self.reading,
            self.episodes,
            self.recall,
            self.organiser,
            now=self.clock(),
            progress=progress,
        )
        asked = masked_texts(request, self.masking, "goal", "points")  # a correction is a message, and masked as one
        return await evolve(asked, context)

    async def forget(self, request: ForgetRequest) -> ForgetResult:
        """See `mcp_memory.services.forget.forget`."""
        self.background.note_call()
        return await forget(
            self.store, self.embedder, request, settings=self.recall, episodes=self.episodes, now=self.clock()
        )

    async def status(self) -> Status:
        """Return counts for each space and the state of the store; a damaged store is reported, not raised."""
        uptime, queued = time.monotonic() - self._began, len(self.background)  # read before the commits of these jobs
        problems: tuple[str, ...] = ()
        try:
            async with self.store.reading() as view:
                spaces = {name: _counts(space) for name, space in sorted(view.spaces.items())}
                judging = self._judging(view)
        except StoreError as error:
            problems, spaces, judging = (str(error),), {}, self._judging(View())
        about, reader = await self.store.about(), self.reader
        problems = tuple(dict.fromkeys((*about.problems, *problems)))
        return Status(
            spaces=spaces,
            embedder=self.embedder.name,
            store=replace(about, problems=problems, queue=about.queue + queued),
            uptime_s=uptime,
            version=__version__,
            engine="anthropic" if judging and judging.when == "anthropic" and judging.key else "embedded",
            extractor=self.extractor.name if self.extractor else None,
            judging=judging,
            reader=reader.name if reader else None,
            notes=(reader.problem,) if reader and reader.problem else (),
        )

    async def work(self) -> None:
        """Run background jobs until cancelled; for a task of its own."""
        self.indexer.begin_later()
        await self.background.work()

    async def aclose(self) -> None:
        """Finish background jobs within `DRAIN_S`, then close the language model and the store."""
        self.save_later()
        try:
            await self.background.drain(DRAIN_S)
        finally:
            if self.language_model is not None:
                await self.language_model.aclose()
            await self.store.aclose()

    def _judging(self, view: View) -> Judging | None:
        """Return how the language model takes part; None if nothing leaves the machine."""
        when, model = self.settings.engine.judge, self.language_model
        if model is None or when == "embedded":
            return None
        return Judging(
            when,
            model.model,
            model.base_url,
            model.ready,
            model.spent,
            self.settings.engine.day_tokens,
            view.spent(day_number(self.clock())),
            replace(texts_read(view), resting=self.enriching.resting) if self.enriching else None,
            goals=self.organiser is not None,
        )


def _counts(space: Space) -> dict[str, int]:
    """Return how much a space holds, see `COUNTED`."""
    kinds = [turn.kind for turn in space.turns.values()]
    return {
        "messages": kinds.count("message"),
        "documents": kinds.count("document"),
        "sessions": len(space.sessions),
        "segments": len(space.segments),
        "sentences": len(space.sentences),
        "assertions": len(space.facts.rows),
        "entities": len(space.facts.entities()),
        "lessons": len(space.beliefs.lessons()),
        "points": len(space.hypergraph.active()),
        "pending": len(space.unindexed),
    }
