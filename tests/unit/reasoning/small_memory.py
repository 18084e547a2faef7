"""A small memory in one call: what was said goes through the real services, with a fake store and countable vectors."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from fakes import FakeStore

from mcp_memory.domain.evidence import Answer
from mcp_memory.domain.requests import AnswerRequest, NewItem, WriteRequest
from mcp_memory.domain.turns import Kind
from mcp_memory.language.iso import parse
from mcp_memory.language.tokens import stems
from mcp_memory.reasoning.embedded.answer import EmbeddedAnswerer
from mcp_memory.search.look import INDEXES, Switches, Weights
from mcp_memory.services.answer import Bar, answer
from mcp_memory.services.write import write
from mcp_memory.vectors import Matrix
from mcp_memory.view.view import View


class WordEmbedder:
    """Texts are near where they share stems: a hashed bag of words."""

    name = "words"
    dimension = 512

    async def embed(self, texts: Sequence[str]) -> Matrix:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for stem in stems(text):
                vectors[row, zlib.crc32(stem.encode("utf-8", "surrogatepass")) % self.dimension] += 1
            vectors[row, 0] += 0.1  # a text without words has a vector too
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


async def _silent(_done: float, _total: float, _what: str) -> None:
    return


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


async def ask(items: Sequence[NewItem], question: str, kind: Kind = "message", vector_limit: int = 100_000) -> Answer:
    """Return the answer of a memory that holds the items and nothing else."""
    embedder = WordEmbedder()
    store = FakeStore(
        embedder=embedder.name, dimension=embedder.dimension, make_view=lambda: View(INDEXES, vector_limit)
    )
    request = WriteRequest("default", "talk", kind, tuple(items))
    await write(store, embedder, request, now=parse("2024-01-01")[0], segment_tokens=200, progress=_silent)
    asked = AnswerRequest("default", question, 12)
    return await answer(store, embedder, EmbeddedAnswerer(), asked, weights=Weights(), switches=Switches(), bar=Bar())
