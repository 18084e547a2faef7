"""LanceDB's store keeps aliases and questions through older formats, bad rows and rebuilds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from batches import DIMENSION, batch, derive, unit_vectors
from lance_at import commit_to, open_at
from rows_checked import row_problems

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.turns import PooledQuestion, Turn
from mcp_memory.storage.store import LanceStore
from mcp_memory.vectors import Matrix

pytestmark = pytest.mark.anyio
ALIAS = Alias("default", "Ann", "Anna", "a guess", "embedded", 1)


def asked(*texts: str, dimension: int = DIMENSION) -> Batch:
    pooled = tuple(("default", PooledQuestion(text, "g_1", frozenset({"ann"}))) for text in texts)
    return Batch(questions=pooled, question_vectors=unit_vectors(texts, dimension))


async def _held(store: LanceStore) -> tuple[list[str], str, list[list[float]]]:
    """Return the questions of a store, the entity that "Anna" means, and the vectors."""
    async with store.reading() as view:
        space = view.space("default")
        vectors = [] if space.questions.vectors is None else space.questions.vectors
        shown = [vectors[row].round(5).tolist() for row in range(len(vectors))]
        return [one.text for one in space.questions.rows], space.facts.key("Anna"), shown


def _expected(*texts: str, dimension: int = DIMENSION) -> tuple[list[str], str, list[list[float]]]:
    return list(texts), "ann", [vector.round(5).tolist() for vector in unit_vectors(texts, dimension)]


async def test_a_rebuild_keeps_both_and_makes_new_vectors_with_another_embedder(uri: str) -> None:
    """Also those that are written during the rebuild; another rebuild finds them again."""

    async def embed(texts: Sequence[str]) -> Matrix:
        return unit_vectors(texts, 4)

    old, new = open_at(uri), open_at(uri, "new", 4, embed=embed)
    await commit_to(old, replace(batch("a"), aliases=(ALIAS,)))
    await commit_to(old, asked("Where?", "Who?"))
    meanwhile = iter([asked("When?")])

    async def make(turns: Sequence[Turn]) -> Batch:
        for rows in meanwhile:
            await commit_to(old, rows)
        return derive(turns, 4)

    for _ in range(2):
        assert await new.rebuild(make) == 1
        assert await _held(new) == _expected("Where?", "Who?", "When?", dimension=4)
        assert await row_problems(new) == []
    await commit_to(new, asked("Why?", dimension=4))
    for opened in (new, open_at(uri, "new", 4)):
        assert await _held(opened) == _expected("Where?", "Who?", "When?", "Why?", dimension=4)
