"""A store with everything that a log can hold, for tests of export and import; all of it is invented."""

import io
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from fakes import FakeEmbedder
from remembering import space_in

from mcp_memory.configurable import LimitSettings
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.privacy.secrets import masking_of
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.services.transfer.foreign.sources import SourceFile
from mcp_memory.services.transfer.importing import Imported, import_files
from mcp_memory.services.transfer.kinds import READERS
from mcp_memory.services.transfer.own import export_lines
from mcp_memory.settings import load
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


def open_at(path: Any, secrets: str = "mask", told: str = "keep") -> Memory:
    """Return a memory on a store in a folder, with the question pool in recall.

    Its clock goes on by a second at each look; ``secrets`` and ``told`` are settings of privacy.
    """
    named = {"STORAGE_URI": path, "SWITCHES_QUESTIONS": "true", "PRIVACY_SECRETS": secrets, "PRIVACY_TOLD": told}
    settings = load(None, {f"MCP_MEMORY_{name}": str(value) for name, value in named.items()})
    embedder, extractor, seconds = FakeEmbedder(), RuleExtractor(), count()
    how = {"clock": lambda: MAY + 1_000 * next(seconds), "masking": masking_of(settings.privacy)}
    return Memory(settings, open_store(settings, embedder, extractor), embedder, extractor, **how)


LIMITS = LimitSettings(message_bytes=1_000, document_bytes=2_000, name_chars=256)


async def fill(memory: Memory) -> None:
    """Write, pool questions, teach by feedback and a correction, and make points of evidence and of a caller."""
    await tell(memory)
    await memory.evolve(EvolveRequest("default", steps=("questions", "entities")))
    recall = await memory.reconstruct(Query("How deep is the tank?"))
    best, *others = (item.id for item in recall.evidence)
    feedback = Feedback((best,), tuple(others[:2]), answer_correct=False, correction="The tank is 6 m deep.")
    await memory.evolve(EvolveRequest("default", episode=recall.episode, feedback=feedback))
    own = PointEdits((PointInsert(("Ines", "Tomas"), "Tomas looks after ferns."),))
    await memory.evolve(EvolveRequest("default", goal="Ines and her ferns"))
    await memory.evolve(EvolveRequest("default", points=own))
    late = NewItem("I live in Braga now.", speaker="Ines")
    await memory.write(WriteRequest("default", "letters", "message", (late,)))


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


async def exported(memory: Memory, *spaces: str) -> bytes:
    """Return the export of a memory."""
    async with memory.store.reading() as view:
        lines = export_lines(view, spaces or list(view.spaces), program="mcp-memory test", now=MAY)
        return b"".join(line for _, line in lines)


async def imported(memory: Memory, file: bytes, into: str | None = None, **options: Any) -> Imported:
    """Import an export into a memory."""
    files, how = [SourceFile("memory.jsonl", "", lambda: io.BytesIO(file))], {"limits": LIMITS, "now": MAY} | options
    read = READERS["mcp-memory"]
    return await import_files(memory.store, memory.reading, read, files, space=into, default="default", **how)


async def content(memory: Memory, name: str = "default") -> Mapping[str, Any]:
    """Return all that a space knows, but for vectors: for comparison."""
    space = await space_in(memory.store, name)
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
