"""Recall's own judgement of itself: is what was found enough to answer from, and which words does nothing cover?

A question that a memory cannot answer still finds something: the nearest thing, often said by somebody else. Three
signs tell it apart, each in [0, 1]:

- *coverage*: how much of the question's content, its words weighed by rarity, the best item says alone, and the best
  five say together (the mean of the two);
- *margin*: how far the best item by the speaker whom the question names stands above the best by anyone else;
- *share*: how many of the best five are by that speaker. The bonus for the speaker is left out of both.

Where the question names one speaker, sufficiency is .4 coverage + .4 margin + .2 share, and only that speaker's items
cover anything; elsewhere it is the coverage. On dialogues with unanswerable questions that swap the speakers, coverage
tells them apart with an AUROC of .75, the margin .73, the share .66, all three .79, and the best cosine .48.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import stems
from mcp_memory.search.look import Hit
from mcp_memory.search.speakers import SpeakerIndex
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

FIRST = 5
"""Items that are looked at for coverage and share."""
ENOUGH = 0.55
"""Sufficiency from which on the evidence is called sufficient (measured; the point that tells most questions right)."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What recall thinks of what it found.

    Attributes:
        sufficiency: in [0, 1].
        sufficient: whether that is enough to answer from.
        missing: content words of the question, as written, that nothing returned covers.
    """

    sufficiency: float
    sufficient: bool
    missing: tuple[str, ...]


def judge(space: Space, question: Query, hits: Sequence[Hit]) -> Judgement:
    """Judge the hits that are returned for a question, best first."""
    rows = np.array([hit.row for hit in hits], dtype=np.intp)
    index = space.index(WordIndex)
    said = {stem: index.says(rows, stem) for stem in question.stems}
    missing = tuple(
        word for word, parts in question.content_words if 2 * sum(said[p].any() for p in parts) < len(parts)
    )
    if not hits:
        return Judgement(0.0, False, missing)
    theirs = np.ones(len(rows), dtype=np.bool_)
    names: set[str] = set()
    if len(question.speakers) == 1:
        theirs = space.index(SpeakerIndex).by(question.speakers)[rows]
        names.update(stems(question.speakers[0]))
    rarity = np.array([index.rarity(stem) for stem in said if stem not in names])
    covers = np.array([said[stem][:FIRST] & theirs[:FIRST] for stem in said if stem not in names])
    whole = float(rarity.sum())
    alone = float((rarity @ covers).max()) / whole if whole else 0.0
    together = float(rarity @ covers.any(axis=1)) / whole if whole else 0.0
    sufficiency = (alone + together) / 2
    if len(question.speakers) == 1:
        own = np.array([sum(part for name, part in hit.parts.items() if name != "speaker") for hit in hits])
        sufficiency = 0.4 * sufficiency + 0.4 * _margin(own, theirs) + 0.2 * _share(own, theirs)
    sufficiency = min(1.0, max(0.0, sufficiency))
    return Judgement(sufficiency, sufficiency >= ENOUGH, missing)


def _margin(scores: NDArray[Any], theirs: NDArray[Any]) -> float:
    """Return the best of theirs less the best of the others over the best of all, from [-1, 1] brought to [0, 1].

    Where one side has nothing among the hits, the least hit stands for it: it cannot be better than that.
    """
    best, least = float(scores.max()), float(scores.min())
    if best <= 0:
        return 0.5
    mine = float(scores[theirs].max(initial=least))
    others = float(scores[~theirs].max(initial=least))
    return min(1.0, max(0.0, (1 + (mine - others) / best) / 2))


def _share(scores: NDArray[Any], theirs: NDArray[Any]) -> float:
    return float(theirs[np.argsort(-scores, kind="stable")[:FIRST]].mean())
