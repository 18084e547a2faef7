"""LanceDB's store keeps what Claude reads, which was paid for, through dead writers, bad rows and rebuilds.

That is the jobs and the assertions that Claude extracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import get_args

import pytest
from batches import asserted, derive, turn
from lance_at import NOW, commit_to, open_at
from rows_checked import row_problems

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion, ExtractorName
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.store import LanceStore

pytestmark = pytest.mark.anyio
LEASED = Job("default", turn("a").id, "leased", 0, 0, NOW + 1, "one", NOW)
DONE = replace(LEASED, state="done", parts=1, until=0, holder="")


async def _derive(turns: Sequence[Turn]) -> Batch:
    return derive(turns)


async def _jobs(store: LanceStore) -> list[Job]:
    async with store.reading(whole=False) as view:
        return list(view.space("default").jobs.values())


async def _counting(store: LanceStore) -> list[Assertion]:
    """Return the assertions of the first message that count."""
    async with store.reading(whole=False) as view:
        return view.space("default").facts.assertions_in(turn("a").id)


async def test_a_rebuild_keeps_the_jobs_and_their_assertions(uri: str) -> None:
    """Also those written meanwhile; assertions of the embedded engine are made again, those of Claude are not."""
    await commit_to(store := open_at(uri), derive([turn("a")]))
    read = asserted(turn("a"), 1, "anthropic")
    await commit_to(store, Batch(assertions=(read,), jobs=(DONE,)))
    other = replace(DONE, turn_id=turn("b").id)
    meanwhile = iter([replace(derive([turn("b")]), jobs=(other,))])

    async def make(turns: Sequence[Turn]) -> Batch:
        for rows in meanwhile:
            await commit_to(store, rows)
        made = derive(turns)
        return replace(made, assertions=(*made.assertions, asserted(turns[0], 9, "anthropic")))

    for _ in range(2):
        await open_at(uri).rebuild(make)
        for opened in (store, open_at(uri)):
            assert await _jobs(opened) == [DONE, other]
            assert await _counting(opened) == [read]
            async with opened.reading() as view:
                rows = view.space("default").facts.rows
                assert [one.extractor for one in rows] == ["embedded", "anthropic", "embedded"]
    assert await row_problems(open_at(uri)) == []


@pytest.mark.parametrize("order", list(permutations(get_args(ExtractorName))))
async def test_of_one_sentence_the_callers_assertion_counts_then_claudes_then_the_embedded_engines(
    uri: str, order: tuple[ExtractorName, ...]
) -> None:
    """In any order of writing, in this process and in another, and after a rebuild."""
    (made,) = derive([turn("a")]).assertions  # as a rebuild makes it
    said = {one: made if one == "embedded" else asserted(turn("a"), 1, one) for one in order}
    await commit_to(store := open_at(uri), replace(derive([turn("a")]), assertions=()))
    for number, extractor in enumerate(order, start=1):
        await commit_to(store, Batch(assertions=(said[extractor],)))
        best = min(order[:number], key=get_args(ExtractorName).index)
        for opened in (store, open_at(uri)):
            assert await _counting(opened) == [said[best]]
    await open_at(uri).rebuild(_derive)
    for opened in (store, open_at(uri)):
        assert await _counting(opened) == [said["caller"]]
        async with opened.reading() as view:
            assert {one.extractor for one in view.space("default").facts.rows} == set(order)
    assert await row_problems(open_at(uri)) == []
