"""A small memory in one call: messages go through the real services, with countable vectors."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from fakes import DiskStore
from unit.rules.answers.sure_reader import SureReader

from mcp_memory.domain.evidence import AnswerResult
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.domain.turns import Kind
from mcp_memory.embedding.onnx import Parts, embed_alone
from mcp_memory.language.iso import parse
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.judge import EmbeddedQuestionJudge
from mcp_memory.search.ranking import INDEXES
from mcp_memory.services.answer import answer
from mcp_memory.services.indexing import Reading, silent
from mcp_memory.services.learn.episodes import Episodes
from mcp_memory.services.recall.loop import RecallSettings
from mcp_memory.services.write import write
from mcp_memory.vectors import Matrix


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


async def ask(
    items: Sequence[NewItem],
    question: str,
    kind: Kind = "message",
    facts: Sequence[NewFact] = (),
    as_of: str | None = None,
    *,
    read: bool = False,
) -> AnswerResult:
    """Return the answer of a memory that holds the items and the facts, and nothing else, asked in January 2024.

    With ``read``, facts are read out of the items too, and are certain where they are not only suspected.
    """
    now = parse("2024-01-01")[0]
    embedder = WordEmbedder()
    store = DiskStore(embedder=embedder.name, dimension=embedder.dimension, indexes=INDEXES)
    request = WriteRequest("default", "talk", kind if items else "statement", tuple(items), tuple(facts))
    await write(store, Reading(embedder, SureReader() if read else None), request, now=now, progress=silent)
    asked = Query(question, "default", 12, now=now, as_of=parse(as_of)[0] if as_of else None)
    kept = Episodes()
    return await answer(store, embedder, EmbeddedQuestionJudge(), asked, settings=RecallSettings(), episodes=kept)
