"""Wiring: open the adapter of each port, as the settings say, and build the memory from them.

The memory, the services and the rooms know only ports; ``memory.py`` alone also knows the rules, which judge a question
where it is given no other judge. Commands that work on the files of a store open adapters themselves. Importing this
imports all that the services need, so the server does it after its first reply. Adapters import the heavier libraries
(LanceDB, ONNX Runtime, Anthropic's SDK) at their first use.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from anyio import to_thread

from mcp_memory.access.tokens import Access, TokenFile
from mcp_memory.configurable import EFFORTS
from mcp_memory.domain.access import check_url
from mcp_memory.domain.times import zone_named
from mcp_memory.embedding.onnx import OnnxEmbedder, OnnxReader
from mcp_memory.embedding.sentence_transformers import SentenceTransformersEmbedder
from mcp_memory.errors import ConfigurationError, StoreError, StoreUnwritable
from mcp_memory.heap import give_back
from mcp_memory.memory import Memory
from mcp_memory.ports import Embedder, Extractor, PairReader, QuestionJudge
from mcp_memory.privacy.secrets import RULES_VERSION, masking_of
from mcp_memory.reasoning.answer import ClaudeQuestionJudge
from mcp_memory.reasoning.client import HOME, Budget, Claude
from mcp_memory.reasoning.extract import ClaudeTextReader
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.rules.answers.judge import EmbeddedQuestionJudge
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.search.ranking import INDEXES
from mcp_memory.services.indexing import Reading, deriver, silent
from mcp_memory.services.learn.lessons import relearner
from mcp_memory.settings import Settings, configuration_folder, is_unset
from mcp_memory.storage.place import Place
from mcp_memory.storage.store import LanceStore
from mcp_memory.view.space import View


async def open_memory(settings: Settings) -> Memory:
    """Return a memory with the configured adapters, ready for its first call; `Memory.work` runs its background jobs.

    Raises:
        ConfigurationError: a setting cannot be used as it is.
        EmbedderError: the embedder is not installed.
        StoreUnwritable: there is no folder for the store.
    """
    memory = new_memory(settings)
    with suppress(StoreError):  # each call reports the problem itself, and status still works
        async with memory.store.reading(whole=False):  # what a write needs; a recall reads the rest
            pass
    memory.warm_later()
    memory.renew_later()
    memory.enrich_later()
    _ = memory.recall  # built now, not at the first answer
    await to_thread.run_sync(give_back)
    return memory


def new_memory(settings: Settings) -> Memory:
    """Return a memory with the configured adapters, of which nothing is read or loaded before it is needed.

    Raises:
        ConfigurationError: a setting cannot be used as it is.
        EmbedderError: the embedder is not installed.
        StoreUnwritable: there is no folder for the store.
    """
    if settings.engine.enrich != "off" and settings.engine.judge != "anthropic":
        raise ConfigurationError(
            f"engine.enrich is {settings.engine.enrich!r} and engine.judge is {settings.engine.judge!r}. Claude reads "
            "what was written only where it judges always: set engine.judge to 'anthropic', or engine.enrich to 'off'."
        )
    zone_named(settings.server.time_zone)  # one that does not exist is refused before anything is opened
    embedder, extractor = choose_embedder(settings), open_extractor(settings)
    return Memory(
        settings,
        open_store(settings, embedder, extractor),
        embedder,
        extractor,
        masking=masking_of(settings.privacy),
        reader=open_reader(settings),
        **judges(settings, open_claude(settings)),
    )


def choose_embedder(settings: Settings) -> Embedder:
    """Return the configured embedder; its model is not loaded yet.

    Raises:
        EmbedderError: it is not installed.
    """
    chosen = settings.embedding
    if chosen.adapter == "onnx":
        return OnnxEmbedder(threads=chosen.threads, late_chunking=settings.switches.late_chunking)
    return SentenceTransformersEmbedder(chosen.model, device=chosen.device or None, batch_size=chosen.batch_size)


def open_reader(settings: Settings) -> PairReader | None:
    """Return the reader, not loaded yet; None if it is switched off."""
    return None if settings.reader.use == "off" else OnnxReader(settings.reader.threads)


def open_extractor(settings: Settings) -> Extractor | None:
    """Return the extractor of facts; None if extraction is switched off."""
    return RuleExtractor() if settings.switches.extraction else None


def open_claude(settings: Settings, environment: Mapping[str, str] = os.environ) -> Claude | None:
    """Return the client of Claude, not connected yet; None if nothing may leave the machine.

    A missing key is not an error: each answer then reports that it is missing.

    Raises:
        ConfigurationError: ``engine.base_url`` is no address to which a key may be sent.
    """
    chosen = settings.engine
    if chosen.judge == "embedded":
        return None
    check_url("engine.base_url", chosen.base_url or HOME)
    key = environment.get("ANTHROPIC_API_KEY", "")
    return Claude(None if is_unset(key) else key, chosen)


def judges(settings: Settings, claude: Claude | None) -> dict[str, Any]:
    """Return the arguments of `Memory` that say who judges; where Claude takes no part the embedded rules judge alone.

    Only with ``anthropic`` it is asked goals, and reads all texts.
    """
    chosen = settings.engine
    if claude is None:
        return {}
    limits, embedded = EFFORTS[chosen.effort], EmbeddedQuestionJudge()
    always = chosen.judge == "anthropic"
    understands = always and chosen.understand and chosen.effort != "quick"

    def new_question_judge() -> QuestionJudge:
        budget, points = Budget(limits.calls, limits.input_tokens), chosen.points
        return ClaudeQuestionJudge(
            embedded, claude, budget, limits.follow_ups, always=always, understands=understands, points=points
        )

    return {
        "language_model": claude,
        "new_question_judge": new_question_judge,
        "organiser": new_question_judge if always and chosen.points else None,
        "text_reader": ClaudeTextReader(claude) if always and chosen.enrich != "off" else None,
    }


def reading_of(settings: Settings, embedder: Embedder, extractor: Extractor | None) -> Reading:
    """Return how texts are divided, embedded, read for facts and freed of secrets."""
    return Reading(embedder, extractor, masking_of(settings.privacy), zone_named(settings.server.time_zone))


def open_store(settings: Settings, embedder: Embedder, extractor: Extractor | None = None) -> LanceStore:
    """Return the configured store; it opens or creates its tables at the first call.

    Raises:
        StoreUnwritable: ``storage.uri`` is empty and the user has no data folder.
    """
    chosen = settings.storage
    reading = reading_of(settings, embedder, extractor)
    # everything on which the view depends: a view that was saved with something else is useless
    depends = settings.switches, settings.privacy, RULES_VERSION
    return LanceStore(
        Place(place_of(settings), chosen.options, chosen.noted_in),
        embedder=embedder.name,
        dimension=embedder.dimension,
        make_view=lambda: View((*INDEXES, CueGraph, Topics), dimension=embedder.dimension),
        lock_timeout_s=chosen.lock_timeout_s,
        compact_after=chosen.compact_after,
        derive=lambda: deriver(reading, progress=silent),
        relearn=relearner(embedder, settings.gain.update),
        embed=embedder.embed,
        reader=extractor.version if extractor else 0,
        masking=reading.masking,
        saved=repr(depends),
    )


def place_of(settings: Settings) -> str:
    """Return where the configured store is; without a setting, the folder "store" in the user's data folder.

    Raises:
        ConfigurationError: ``storage.uri`` has a part for a tenant: what several had apart would be one store.
        StoreUnwritable: ``storage.uri`` is empty and the user has no data folder.
    """
    if "{tenant}" in settings.storage.uri:
        raise ConfigurationError(
            "storage.uri holds {tenant}, which is gone: serve each tenant by a process of its own."
        )
    if settings.storage.uri:
        return settings.storage.uri
    from platformdirs import user_data_path

    try:
        return str(user_data_path("mcp-memory", appauthor=False).expanduser() / "store")
    except (OSError, RuntimeError) as error:  # no home folder, neither in the environment nor in the system's records
        raise StoreUnwritable(
            "storage.uri is not set and there is no home folder to keep the memory in. "
            "Set MCP_MEMORY_STORAGE_URI to a folder that you may write to."
        ) from error


def token_file(settings: Settings) -> TokenFile:
    """Return the file of the tokens."""
    return TokenFile(Path(settings.access.tokens or configuration_folder() / "tokens.json").expanduser())


def open_access(settings: Settings) -> Access | None:
    """Return what is asked of callers; None where there never were tokens nor an issuer: everybody is the owner.

    Raises:
        ConfigurationError: the file is broken, or a setting cannot be used as it is.
    """
    chosen, tokens = settings.access, token_file(settings)
    tokens.list()  # so that a broken file is reported now
    if chosen.issuer:
        from mcp_memory.access.issuer import Issuer  # slow to import

        return Access(tokens, Issuer(chosen.issuer, chosen.audience or settings.http.url, chosen.jwks))
    return Access(tokens) if tokens.exists() else None
