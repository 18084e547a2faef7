"""What a question still asks once a part of it is answered: the second hop by meaning.

"Where was the founder of the Red Mill born?" leads to the text about the Red Mill, which names several people. What is
left of the question when the words are taken out that this text is about ("Where was the founder of the born?"), with
one of those names in place of them, is like the text that tells where that person was born, and unlike those about the
others. So the texts that are like one of these *residual questions* get what its seed passes on (``links.py``), times
their likeness beyond `LIKE`.

At most `MOST` of them are embedded for one question: those of the best seeds first, and of a seed those whose names
stand in the sentences most like the question. That takes longer than all the rest of a look, so it is done only where
the first look leaves something open: where no single one of the best segments says most of what the question says,
and the question neither gives a date nor names what two of them are about: `_open`.

**Measured** on three sets of questions of several hops, beside links and entities: +1.9, 0 and -1 points of R@5, with
1.6, .4 and .6 texts embedded for a question; asked on always +2.5, -.3 and -1.5, with 3. Questions with
dates: -.9 of R@2, 0 of R@5. Comparing a residual question
only with the texts that name its name gives +.5 in place of +1.9; two to six texts are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.search.heads import HeadIndex
from mcp_memory.search.links import apart, compared_things, rare
from mcp_memory.search.look import Survey
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.space import Space

MOST = 3
"""Residual questions of one question; two to six find as much."""
LIKE = 0.3
"""The likeness of a text to a residual question from which on it counts."""
COVERED = 0.65
"""The share of a question's content, weighed by rarity, from which on a segment that says it leaves nothing open."""


@dataclass(frozen=True, slots=True)
class Residual:
    """One residual question.

    Attributes:
        text: to be embedded.
        passes: what its seed passes on, in units of the cosine.
    """

    text: str
    passes: float


def residuals(space: Space, question: Query, seen: Survey, *, always: bool) -> list[Residual]:
    """Return what a question still asks after each of the seeds, at most `MOST`.

    Nothing where nothing is open, and nothing after talk: there is no head to take out.

    Args:
        space: its view keeps a `HeadIndex`, a `WordIndex` and what `links.rare` needs.
        question: what is asked.
        seen: the first look, with the seeds where it ended.
        always: ask on even where one seed says it all.
    """
    seeds = seen.seeds
    if not seeds or space.talk[seeds[0].row] or not (always or _open(space, question, seen)):
        return []
    heads = space.index(HeadIndex)
    asked = set(words(question.text))
    found: dict[str, Residual] = {}
    for seed in seeds:
        if space.talk[seed.row]:
            continue
        rest = without(question.text, heads.of(seed.row))
        for name, rows in rare(space, seed, asked):
            if apart(space, seed, rows).any():
                found.setdefault(name, Residual(f"{rest} {name}", seed.passes))
            if len(found) == MOST:
                return list(found.values())
    return list(found.values())


def without(question: str, head: Sequence[str]) -> str:
    """Return a question without the words that a head explains, small words left in their places."""
    explained = set(head) - STOP_WORDS
    return " ".join(word for word in question.split() if not (said := words(word)) or not explained.issuperset(said))


def compared(asked: Sequence[Residual], likeness: Matrix) -> Scores:
    """Return what the residual questions give each segment, shape ``(segments,)``: the most that any of them gives.

    Args:
        asked: the residual questions, at least one.
        likeness: cosine of each with each segment, shape ``(len(asked), segments)``.
    """
    passes = np.array([[one.passes] for one in asked], dtype=np.float32)
    given: Scores = (passes * np.maximum(likeness - np.float32(LIKE), 0)).max(axis=0)
    return given


def _open(space: Space, question: Query, seen: Survey) -> bool:
    """Return whether the first look leaves something open: no seed says most of what the question says.

    A question that gives dates asks for another time of what was found, and one that names what two of the seeds are
    about compares them: nothing is open there.
    """
    if question.time is not None and question.time.dated:
        return False
    if compared_things(space, seen.named, seen.seeds) > 1:
        return False
    index = space.index(WordIndex)
    rarity = np.array([index.rarity(stem) for stem in question.stems])
    rows = np.array([seed.row for seed in seen.seeds], dtype=np.intp)
    said = np.array([index.says(rows, stem) for stem in question.stems], dtype=np.float64)
    return bool(rarity.size) and float((rarity @ said).max()) < COVERED * float(rarity.sum())
