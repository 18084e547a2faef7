"""The parts in which a language model reads texts: which sentences go into one request, and what it is shown before.

A long text is read in parts. They depend on its sentences alone, not on settings, so that any process can continue
where another ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.language_model import Job
from mcp_memory.domain.turns import Excerpt, Turn
from mcp_memory.language.segments import split

ROOM = 3_000
"""Bytes of text that one step reads, about 1,000 tokens; also the size of a part of a long text, unless one sentence is
longer. The number of parts read is stored with each text, so this number must not change."""
BEFORE = 3
"""Sentences before those to be read that are sent along as context."""


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """The texts that one step reads.

    Attributes:
        space: the space of the texts.
        turns: texts of one session, in its order.
        partners: the addressee of each text.
        before: the texts before them, in order, with their partners; none before a document.
        jobs: how far each text is read, by its id.
    """

    space: str
    turns: tuple[Turn, ...]
    partners: tuple[str | None, ...]
    before: tuple[tuple[Turn, str | None], ...]
    jobs: dict[str, Job]


def parts(text: str, sentences: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts in which a text is read, each as its first sentence and the first sentence after it."""
    bounds: list[tuple[int, int]] = []
    first = size = 0
    for index, (start, end) in enumerate(sentences):
        length = len(text[start:end].encode("utf-8", "surrogatepass"))
        if index > first and size + length > ROOM:
            bounds.append((first, index))
            first = index
            size = 0
        size += length
    return [*bounds, (first, len(sentences))] if sentences else []


def cut(task: ReadingTask) -> tuple[list[Excerpt], list[Excerpt], dict[str, int]]:
    """Return the sentences to be read, those before them, and how many parts each text has. Blocking."""
    excerpts: list[Excerpt] = []
    totals: dict[str, int] = {}
    for turn, partner in zip(task.turns, task.partners, strict=True):
        sentences = split(turn.text)
        pieces, read = parts(turn.text, sentences), task.jobs[turn.id].parts
        totals[turn.id] = len(pieces)
        if read < len(pieces):
            excerpts.append(Excerpt(turn, partner, sentences, *pieces[read]))
    if excerpts and excerpts[0].first > 0:
        first = excerpts[0]
        return excerpts, [replace(first, first=max(0, first.first - BEFORE), stop=first.first)], totals
    spans = ((turn, partner, split(turn.text)) for turn, partner in task.before)
    return excerpts, last([Excerpt(turn, partner, found, 0, len(found)) for turn, partner, found in spans]), totals


def last(excerpts: Iterable[Excerpt]) -> list[Excerpt]:
    """Return the last `BEFORE` sentences."""
    kept: list[Excerpt] = []
    left = BEFORE
    for excerpt in reversed(list(excerpts)):
        first = max(excerpt.first, excerpt.stop - left)
        left -= excerpt.stop - first
        if first < excerpt.stop:
            kept.insert(0, replace(excerpt, first=first))
    return kept


def halves(excerpts: Iterable[Excerpt], count: int) -> tuple[list[Excerpt], list[Excerpt]]:
    """Return the first ``count`` sentences, and the others."""
    first: list[Excerpt] = []
    second: list[Excerpt] = []
    for excerpt in excerpts:
        middle = min(excerpt.stop, excerpt.first + max(0, count))
        count -= excerpt.stop - excerpt.first
        first += [replace(excerpt, stop=middle)] if excerpt.first < middle else []
        second += [replace(excerpt, first=middle)] if middle < excerpt.stop else []
    return first, second
