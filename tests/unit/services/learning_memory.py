"""A memory that learns, on a disk of its own and with countable vectors, wired as the real one is."""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from fakes import Disk, DiskStore

from mcp_memory.configurable import WriteSettings
from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.evidence import AnswerResult, RecallResult
from mcp_memory.domain.facts import CERTAIN, STABLE, Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import EvolveRequest, EvolveResult, Feedback, NewFact, NewItem, WriteRequest
from mcp_memory.domain.turns import Kind
from mcp_memory.embedding.onnx import Parts, embed_alone
from mcp_memory.language.iso import parse
from mcp_memory.language.tokens import stems
from mcp_memory.memory import Memory
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.search.ranking import INDEXES
from mcp_memory.settings import Settings
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space

NOW = parse("2024-01-01")[0]
LINES = (
    "Ann: I adopted a beagle in May. He is called Rufus.",
    "Bob: I moved to Lisbon last Friday.",
    "Ann: My sister is a baker.",
    "Bob: The weather in Lisbon is mild.",
)


class WordEmbedder:
    """Texts are similar where they share stems: a hashed bag of words."""

    name = "words"
    dimension = 512

    async def embed(self, texts: Sequence[str]) -> Matrix:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for stem in stems(text):
                vectors[row, zlib.crc32(stem.encode("utf-8", "surrogatepass")) % self.dimension] += 1
            vectors[row, 0] += 0.1  # a text without words has a vector too
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    async def embed_parts(self, texts: Sequence[str], parts: Sequence[Parts]) -> tuple[Matrix, Matrix]:
        return await embed_alone(self.embed, texts, parts)


def said(*lines: str, at: str = "2023-05-08T13:56:00") -> list[NewItem]:
    """Return messages from lines such as "Ann: I moved yesterday."; a line "@ 2023-06-01" sets the time from there."""
    items, time = [], parse(at)[0]
    for line in lines:
        if line.startswith("@"):
            time = parse(line[1:].strip())[0]
            continue
        speaker, _, text = line.partition(": ")
        items.append(NewItem(text, speaker=speaker, said_at=time))
    return items


class SureReader(RuleExtractor):
    """Reads texts as if it were sure of all that it does not only suspect and that stays right once it is told."""

    def extract(self, *given: Any) -> list[Assertion]:
        found = super().extract(*given)
        return [
            replace(one, confidence=max(one.confidence, CERTAIN))
            if one.confidence >= STABLE and not relations().get(one.relation).passing
            else one
            for one in found
        ]


def on_disk(kind: type[Memory], config: Settings, disk: Disk | None = None, **more: object) -> Memory:
    """Return a memory with countable vectors; several on one disk are processes that share a store."""
    embedder = WordEmbedder()
    store = DiskStore(disk, embedder=embedder.name, dimension=embedder.dimension, indexes=(*INDEXES, CueGraph, Topics))
    return kind(config, store, embedder, clock=lambda: NOW, **more)


def memory(disk: Disk | None = None, *, read: bool = False) -> Memory:
    """Return a memory that learns; ``read`` lets it read facts."""
    config = Settings(write=WriteSettings(wait=True))
    return on_disk(Memory, config, disk, extractor=SureReader() if read else None)


async def told(
    one: Memory, *lines: str, kind: Kind = "message", facts: Sequence[NewFact] = (), space: str = "default"
) -> Memory:
    """Write lines such as "Ann: I moved."; without any, what Ann and Bob said."""
    items = said(*(lines or (() if facts else LINES)))
    await one.write(WriteRequest(space, "talk", kind if items else "statement", tuple(items), tuple(facts)))
    return one


async def recalled(one: Memory, query: str, **asked: object) -> RecallResult:
    """Recall with the defaults of the tool."""
    return await one.reconstruct(replace(Query(query, "default", 12), **asked))


async def answered(one: Memory, question: str, *, learn: bool = False, **asked: object) -> AnswerResult:
    """Answer with the defaults of the tool, by which nothing is learnt unless it is wanted."""
    return await one.answer(replace(Query(question, "default", 12, learn=learn), **asked))


def held(one: Memory, space: str = "default") -> Space:
    """Return all that a memory holds of a space, as it read it last."""
    return one.store._view.space(space)


def lessons(one: Memory, episode: str | None = None) -> list[Lesson]:
    """Return what was learnt, or that of an episode."""
    return held(one).beliefs.lessons(episode)


async def judged(one: Memory, episode: str, space: str = "default", **feedback: object) -> EvolveResult:
    """Give feedback on an episode."""
    return await one.evolve(EvolveRequest(space, episode, Feedback(**feedback)))
