"""Every store keeps aliases and the question pool unchanged, in order, and within their space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from batches import batch, unit_vectors

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.ports import Store

pytestmark = pytest.mark.anyio

Open = Callable[..., Store]
ODD = Alias("default", "O'Neill", '"C++"', "why, 'so'?\n\N{WOMAN}", "embedded", 7)


def asked(*texts: str, space: str = "default") -> Batch:
    """Return questions that one segment answers."""
    pooled = tuple((space, PooledQuestion(text, "g_1", frozenset({"ann", text}))) for text in texts)
    return Batch(questions=pooled, question_vectors=unit_vectors(texts))


async def _write(store: Store, rows: Batch) -> int:
    async with store.writing() as transaction:
        return await transaction.commit(rows)


async def test_questions_are_read_back_unchanged_in_order_with_their_vectors(open_store: Open) -> None:
    store = open_store()
    await _write(store, batch("a"))
    await _write(store, asked("Where is 'Ann'?", 'Who is "Bob"?'))
    await _write(store, asked("Why?"))
    texts = ["Where is 'Ann'?", 'Who is "Bob"?', "Why?"]
    for opened in (store, open_store()):
        async with opened.reading() as view:
            held = view.space("default").questions
            assert held.rows == [PooledQuestion(text, "g_1", frozenset({"ann", text})) for text in texts]
            assert held.of_segment("g_1") == held.rows
            assert held.vectors is not None
            assert np.allclose(held.vectors.dot(unit_vectors(texts)).diagonal(), 1)


async def test_an_alias_is_read_back_unchanged_and_its_names_are_one_entity(open_store: Open) -> None:
    store = open_store()
    await _write(store, batch("a"))
    assert await _write(store, Batch(aliases=(Alias("default", "Ann", "Anna", "a guess", "embedded", 1), ODD))) == 2
    for opened in (store, open_store()):
        async with opened.reading(whole=False) as view:
            facts = view.space("default").facts
            assert facts.key("Anna") == "ann"
            assert facts.inferred_aliases("ann") == [Alias("default", "Ann", "Anna", "a guess", "embedded", 1)]
            assert facts.inferred_aliases(facts.key("O'Neill")) == [ODD]
