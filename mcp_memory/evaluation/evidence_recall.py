"""Evidence recall: how much of what answers a question is among the first that recall names.

recall@k of a question is the share of its gold ids among the first k distinct ids that the evidence names, walked best
first and, within one item, by its sources in order. Half-widths are those of a 95 % interval of a mean of independent
questions (normal approximation).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from statistics import fmean, pstdev
from typing import Any, NamedTuple


class Mean(NamedTuple):
    """A mean over questions.

    Attributes:
        value: the mean; NaN of none.
        half_width: of its 95 % interval, in the same unit.
        number: of questions.
    """

    value: float
    half_width: float
    number: int


def ranked_ids(evidence: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the ids of messages and documents that items of evidence name, each once, in order."""
    return list(dict.fromkeys(str(source["id"]) for item in evidence for source in item.get("sources", ())))


def recall_at(k: int, gold: Collection[str], ids: Sequence[str]) -> float:
    """Return the share of the gold ids among the first k, in [0, 1]; there must be one gold id at least."""
    first = set(ids[:k])
    return sum(ref in first for ref in gold) / len(gold)


def mean(values: Sequence[float]) -> Mean:
    """Return the mean of what was measured on questions."""
    if not values:
        return Mean(float("nan"), float("nan"), 0)
    return Mean(fmean(values), 1.96 * pstdev(values) / sqrt(len(values)), len(values))
