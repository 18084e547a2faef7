"""Recall of annotated evidence over stdio: write a data set, ask its questions, and say how much of the evidence came.

recall@k of a question is the share of its gold ids among the first k distinct ids that the evidence cites, best item
first and, within an item, in the order of its sources.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from mcp import Client

from mcp_memory.evaluation.bench_subjects import call
from mcp_memory.evaluation.dataset import Asked, Dataset
from mcp_memory.ports import Progress

LIMIT, MAX_TOKENS = 20, 20_000
"""Pieces of evidence, and tokens, that a question asks for."""
ITEMS_A_CALL = 50


class Mean(NamedTuple):
    """A mean over questions.

    Attributes:
        value: the mean; NaN without questions.
        half_width: of the 95 % interval, in the same unit (normal approximation, independent questions).
        number: of questions.
    """

    value: float
    half_width: float
    number: int


def mean(values: Sequence[float]) -> Mean:
    """Return the mean of one value per question."""
    if not values:
        return Mean(float("nan"), float("nan"), 0)
    return Mean(fmean(values), 1.96 * pstdev(values) / sqrt(len(values)), len(values))


def ranked_ids(evidence: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the distinct ids of the messages and documents that the evidence cites, best item first."""
    return list(dict.fromkeys(str(source["id"]) for item in evidence for source in item.get("sources", ())))


def recall_at(k: int, gold: Collection[str], ids: Sequence[str]) -> float:
    """Return the share of the gold ids among the first k ids, in [0, 1]; there must be at least one gold id."""
    first = set(ids[:k])
    return sum(ref in first for ref in gold) / len(gold)


async def write_items(client: Client, dataset: Dataset, progress: Progress | None = None) -> int:
    """Write every item of a data set; return how many."""
    total, done = sum(len(session.items) for session in dataset.calls), 0
    if progress:
        await progress(0, total, "writing")
    for session in dataset.calls:
        for start in range(0, len(session.items), ITEMS_A_CALL):
            items = list(session.items[start : start + ITEMS_A_CALL])
            arguments = {session.kind: items, "session": session.session, "space": session.space}
            await call(client, "memory_write", arguments)
            done += len(items)
            if progress:
                await progress(done, total, "writing")
    return total


async def recall(client: Client, asked: Asked, text: str, **more: str) -> dict[str, Any]:
    """Return what ``memory_reconstruct`` replies.

    Args:
        client: of the server that has the items.
        asked: the question.
        text: its wording.
        more: further arguments of the tool.
    """
    arguments = {"query": text, "limit": LIMIT, "max_tokens": MAX_TOKENS, "space": asked.space, **more}
    return await call(client, "memory_reconstruct", arguments)
