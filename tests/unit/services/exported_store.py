"""A store with everything that a log can hold, for tests of export and import; all of it is invented."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from fakes import FakeEmbedder

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.facts import new_assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import (
    EvolveRequest,
    Feedback,
    NewDescription,
    NewFact,
    NewItem,
    NewMerge,
    PointEdits,
    PointInsert,
    WriteRequest,
)
from mcp_memory.domain.times import FOREVER
from mcp_memory.memory import Memory
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.services.transfer.exporting import export_lines
from mcp_memory.services.transfer.foreign.sources import SourceFile
from mcp_memory.services.transfer.importing import Imported, ItemLimits, import_files
from mcp_memory.services.transfer.kinds import READERS
from mcp_memory.settings import Settings, load
from mcp_memory.storage.store import LanceStore
from mcp_memory.wiring import open_store

MAY = 1_714_903_200_000
MINUTE = 60_000
QUESTIONS = (
    "Where does Ines live?",
    "Where did Ines live in 2022?",
    "Who waters the ferns?",
    "Where does Tomas work?",
    "How deep is the tank?",
    "What does Ines like?",
    "When did Ines move to Porto?",
    "What do we do on Friday?",
)


def settings_at(path: Any) -> Settings:
    """Return settings with a store in a folder, and with the question pool in recall."""
    uri = {"MCP_MEMORY_STORAGE_URI": str(path), "MCP_MEMORY_SWITCHES_QUESTIONS": "true"}
    return load(None, uri)


def open_at(path: Any) -> Memory:
    """Return a memory on a store in a folder; its clock goes on by a second at each look."""
    settings = settings_at(path)
    embedder, extractor = FakeEmbedder(), RuleExtractor()
    seconds = count()
    return Memory(
        settings,
        open_store(settings, embedder, extractor),
        embedder,
        extractor,
        clock=lambda: MAY + 1_000 * next(seconds),
    )


def store_of(memory: Memory) -> LanceStore:
    """Return the store of a memory."""
    assert isinstance(memory.store, LanceStore)
    return memory.store


LIMITS = ItemLimits(message_bytes=1_000, document_bytes=2_000, name_chars=256)


async def fill(memory: Memory) -> None:
    """Write, recall, answer, teach and organise."""
    await tell(memory)
    await _read_by_claude(memory)
    await memory.evolve(EvolveRequest("default", steps=("questions", "entities")))
    await memory.evolve(EvolveRequest("work", steps=("questions",)))
    await _teach(memory)
    await _organise(memory)
    await memory.write(
        WriteRequest("default", "letters", "message", (NewItem("I live in Braga now.", speaker="Ines"),))
    )


async def tell(memory: Memory) -> None:
    """Write messages, documents and facts of every sort."""
    said = (
        NewItem(
            "Hello Tomas, I moved to Porto in March.", ref="m1", speaker="Ines", said_at=MAY - 900 * MINUTE, offset=-210
        ),
        NewItem("Do you still have your ferns? You work at the harbour now.", ref="m2", speaker="Tomas", role="user"),
        NewItem("Yes. You water my ferns, and I like octopuses.\nSee you on Friday!", ref="m3", speaker="Ines"),
        NewItem("Yes. You water my ferns, and I like octopuses.\nSee you on Friday!", speaker="Ines"),
    )
    facts = (
        NewFact("Ines", "lives_in", "Lisbon", MAY - 900_000 * MINUTE, MAY - 90_000 * MINUTE),
        NewFact("Ines", "likes", "octopuses", confidence=0.5, source="m3"),
        NewFact("Ines", "likes", "tea", negated=True),
    )
    await memory.write(WriteRequest("default", "letters", "message", said, facts))
    for depth in (3, 4, 5):
        text = f"The tank is {depth} m deep. Octopuses live in it. It was built in 1998 by Rui Matos."
        paper = NewItem(text, ref="tank", title="The tank")
        await memory.write(WriteRequest("default", "papers", "document", (paper,)))
    for number in range(6):
        text = f"The valve {number} leaks. My brother Rui mends valve {number} on Friday."
        await memory.write(
            WriteRequest("work", "letters", "message", (NewItem(text, ref=f"m{number}", speaker="Ann"),))
        )
    await memory.write(WriteRequest("default", "letters", "message", (), (NewFact("Tomas", "works_at", "harbour"),)))


async def _read_by_claude(memory: Memory) -> None:
    """Record what Claude read, an alias, and how far it has read."""
    async with memory.store.writing() as transaction:
        space = transaction.view.space("default")
        first, second = (space.current("letters", ref) for ref in ("m1", "m2"))
        assert first is not None
        assert second is not None
        read = new_assertion(
            first, 0, (6, 11), ("Tomas", "knows", "Ines"), since=first.time, until=FOREVER, stated=False,
            negated=False, change=False, confidence=0.8, intent="FACT", extractor="anthropic", recorded_at=MAY + 77_000,
        )  # fmt: skip
        jobs = (
            Job("default", first.id, "done", 1, 0, 0, "", MAY + 77_000),
            Job("default", second.id, "leased", 1, 2, MAY + 99_000, "somebody", MAY + 77_000),
        )
        alias = Alias("default", "Tomas", "Tomás Pinto", "the same family", "anthropic", MAY + 77_001)
        await transaction.commit(Batch(assertions=(read,), jobs=jobs, aliases=(alias,)))


async def _teach(memory: Memory) -> None:
    """Let the memory learn from its own answers, from feedback, and from a correction."""
    for question in QUESTIONS[:3]:
        await memory.answer(Query(question))
    recall = await memory.reconstruct(Query("Who waters the ferns?"))
    ids = [item.id for item in recall.evidence]
    feedback = Feedback(supports=tuple(ids[:1]), not_supports=tuple(ids[1:3]))
    await memory.evolve(EvolveRequest("default", episode=recall.episode, feedback=feedback))
    wrong = await memory.reconstruct(Query("How deep is the tank?"))
    ids = [item.id for item in wrong.evidence]
    feedback = Feedback(not_supports=tuple(ids[:1]), answer_correct=False, correction="The tank is 6 m deep.")
    await memory.evolve(EvolveRequest("default", episode=wrong.episode, feedback=feedback))


async def _organise(memory: Memory) -> None:
    """Make points from evidence, and insert, update and merge a caller's own."""
    await memory.evolve(EvolveRequest("default", goal="Ines and her ferns"))
    own = (PointInsert(("Ines", "Tomas"), "Tomas looks after ferns."), PointInsert(("Ines", "octopuses"), "She feeds."))
    await memory.evolve(EvolveRequest("default", points=PointEdits(insert=own)))
    async with memory.store.reading() as view:
        made = [one.id for one in view.space("default").hypergraph.active() if one.source == "caller"]
    edits = PointEdits(update=(NewDescription(made[0], "Tomas waters the ferns of Ines."),))
    await memory.evolve(EvolveRequest("default", points=edits))
    merge = PointEdits(merge=(NewMerge(tuple(made), "Tomas waters, Ines feeds."),))
    await memory.evolve(EvolveRequest("default", points=merge))


async def exported(memory: Memory, *spaces: str) -> bytes:
    """Return the export of a memory."""
    async with memory.store.reading() as view:
        lines = export_lines(view, spaces or list(view.spaces), program="mcp-memory test", now=MAY)
        return b"".join(line for _, line in lines)


async def imported(memory: Memory, file: bytes, into: str | None = None, **options: Any) -> Imported:
    """Import an export into a memory."""
    files, how = [SourceFile("memory.jsonl", lambda: io.BytesIO(file))], {"limits": LIMITS, "now": MAY} | options
    read = READERS["mcp-memory"]
    return await import_files(store_of(memory), memory.reading, read, files, space=into, default="default", **how)


async def content(memory: Memory, name: str = "default") -> Mapping[str, Any]:
    """Return all that a space knows, but for vectors: for comparison."""
    async with memory.store.reading() as view:
        space = view.space(name)
        return {
            "texts": [replace(turn, place=0) for turn in space.turns.values()],
            "sessions": space.sessions,
            "pieces": [*space.segments, *space.sentences],
            "assertions": space.facts.rows,
            "facts": list(space.facts.all(suspected=True)),
            "entities": {space.facts.name(key): space.facts.names(key) for key in space.facts.entities()},
            "lessons": space.beliefs.lessons(),
            "points": [space.hypergraph.revisions(one.id) for one in space.hypergraph.all()],
            "questions": space.questions.rows,
            "readings": {turn: (job.state == "done", job.parts, job.tries) for turn, job in space.jobs.items()},
        }


async def replies(memory: Memory, name: str = "default") -> list[object]:
    """Return evidence, points and conflicts of recalls, and answers, without learning from them."""
    found: list[object] = []
    memory.clock = lambda: MAY + 7 * 24 * 60 * MINUTE
    for question in QUESTIONS:
        recall = await memory.reconstruct(Query(question, name))
        found.append([(item.text, item.kind, round(item.score, 4), item.via) for item in recall.evidence])
        found.append(([point.description for point in recall.points], recall.conflicts, recall.sufficiency_by))
        answer = await memory.answer(Query(question, name, learn=False))
        found.append((answer.text, answer.confidence, [one.quote for one in answer.closest]))
    return found
