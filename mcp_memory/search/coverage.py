"""Coverage: how far what was found covers the words of the query, which decides whether recall goes on searching.

Whether more is worth looking for is another question than whether the evidence is enough to answer from, which is
`sufficiency.judge_sufficiency`'s. A step of the loop leads on from words and names that nothing covers yet. Where the
evidence covers them but tells of somebody else, or the answer is in many places, sufficiency is low, yet further steps
find nothing, and each costs as much as the search. So the loop stops by this measure.

A query that a memory cannot answer still finds something: the nearest text, often by another speaker. Three signs show
it, each in [0, 1]:

- *coverage*: how much of the query's content, its words weighted by rarity, the best candidate contains alone, and the
  best five contain together (the mean of the two);
- *margin*: how far the best candidate by the speaker whom the query names stands above the best by anyone else;
- *share*: how many of the best five are by that speaker. The score of the channel ``speaker`` is left out of both.

Where the query names one speaker, the score is .4 coverage + .4 margin + .2 share, and only that speaker's candidates
cover anything; elsewhere it is the coverage. On dialogues with unanswerable questions that swap the speakers, coverage
separates them with an AUROC of .75, the margin .73, the share .66, all three .79, and the best cosine .48.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Sufficiency
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import stems
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.channels import SPEAKER, SpeakerIndex
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

FIRST = 5
"""Candidates that count for coverage and share."""
ENOUGH = 0.55
"""The score from which on the loop need not go on (measured; the point that decides most questions rightly)."""


def judge_coverage(space: Space, query: Query, candidates: Sequence[Candidate]) -> Sufficiency:
    """Return how far the candidates that are returned for a query, best first, cover it."""
    rows = np.array([one.row for one in candidates], dtype=np.intp)
    index = space.index(WordIndex)
    contained = {stem: index.contains(rows, stem) for stem in query.stems}
    missing = tuple(
        word for word, parts in query.content_words if 2 * sum(contained[p].any() for p in parts) < len(parts)
    )
    if not candidates:
        return Sufficiency(0.0, False, missing)
    theirs = np.ones(len(rows), dtype=np.bool_)
    names: set[str] = set()
    if len(query.speakers) == 1:
        theirs = space.index(SpeakerIndex).said_by(query.speakers)[rows]
        names.update(stems(query.speakers[0]))
    rarity = np.array([index.rarity(stem) for stem in contained if stem not in names])
    covers = np.array([contained[stem][:FIRST] & theirs[:FIRST] for stem in contained if stem not in names])
    whole = float(rarity.sum())
    alone = float((rarity @ covers).max()) / whole if whole else 0.0
    together = float(rarity @ covers.any(axis=1)) / whole if whole else 0.0
    score = (alone + together) / 2
    if len(query.speakers) == 1:
        own = np.array([sum(part for name, part in one.scores.items() if name != SPEAKER.name) for one in candidates])
        score = 0.4 * score + 0.4 * _margin(own, theirs) + 0.2 * _share(own, theirs)
    score = min(1.0, max(0.0, score))
    return Sufficiency(score, score >= ENOUGH, missing)


def _margin(scores: NDArray[Any], theirs: NDArray[Any]) -> float:
    """Return the best of theirs less the best of the others over the best of all, scaled from [-1, 1] to [0, 1].

    Where one side has no candidate, the lowest score stands for it: it cannot be better than that.
    """
    best, least = float(scores.max()), float(scores.min())
    if best <= 0:
        return 0.5
    mine = float(scores[theirs].max(initial=least))
    others = float(scores[~theirs].max(initial=least))
    return min(1.0, max(0.0, (1 + (mine - others) / best) / 2))


def _share(scores: NDArray[Any], theirs: NDArray[Any]) -> float:
    return float(theirs[np.argsort(-scores, kind="stable")[:FIRST]].mean())
