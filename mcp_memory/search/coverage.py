"""How far what was found covers a query: by that the loop of recall goes on, where nobody judges.

A step of the loop leads on from words and names that nothing covers yet. Coverage is no judgement whether the evidence
answers: a near miss shares the words of the question, and a paraphrase does not (measured on ten worlds of unseen
records: AUROC .28 for what was once made of such features). So no reply speaks of it.

Its features, in [0, 1]:

- *coverage*: how much of the query's content, its words weighted by rarity, the best candidate contains alone, and the
  best five contain together (the mean of the two);
- *margin*: how far the best candidate by the speaker whom the query names stands above the best by anyone else;
- *share*: how many of the best five are by that speaker. The score of the channel ``speaker`` is left out of both.

Where the query names one speaker, the score is .4 coverage + .4 margin + .2 share, and only that speaker's candidates
cover anything; elsewhere it is the coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Coverage
from mcp_memory.domain.query import Query
from mcp_memory.language.questions import NEEDED, has_kind
from mcp_memory.language.tokens import stems
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.channels import SPEAKER, SpeakerIndex
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

FIRST = 5
"""Candidates that count for coverage and share, and of which one must have a value of the kind asked for."""
COVERED = 0.55
"""The score from which on the loop need not go on (measured; the point that decides most questions rightly)."""


def judge_coverage(space: Space, query: Query, candidates: Sequence[Candidate]) -> Coverage:
    """Return how far the candidates that are returned for a query, best first, cover it."""
    rows = np.array([candidate.row for candidate in candidates], dtype=np.intp)
    index = space.index(WordIndex)
    contained = {stem: index.contains(rows, stem) for stem in query.stems}
    missing = tuple(
        word for word, parts in query.content_words if 2 * sum(contained[p].any() for p in parts) < len(parts)
    )
    if not candidates:
        return Coverage(0.0, False, missing)
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
        own = np.array(
            [sum(part for name, part in candidate.scores.items() if name != SPEAKER.name) for candidate in candidates]
        )
        score = 0.4 * score + 0.4 * _margin(own, theirs) + 0.2 * _share(own, theirs)
    score = min(1.0, max(0.0, score))
    return Coverage(score, score >= COVERED, missing)


def assess(space: Space, query: Query, rows: Sequence[int], covered: Coverage, roots: Sequence[str]) -> Coverage:
    """Return the coverage with the answer's type taken into account, and the reason if it is too little.

    Args:
        space: the space that the segments are in.
        query: the query that is asked.
        rows: the rows of the segments that were found, best first.
        covered: how far they cover the query.
        roots: names that the query is about.
    """
    typed = any(has_kind_of_answer(space, query, row) for row in rows[:FIRST])
    if covered.whole and typed:
        return covered
    parts = [f"missing: {', '.join(covered.missing)}"] if covered.missing else []
    if not typed:
        whom = f" for {', '.join(roots)}" if roots else ""
        parts.append(f"need {NEEDED.get(query.answer_type, 'an answer')}{whom}")
    return replace(covered, whole=False, reason="; ".join(parts) or "too little covers the question")


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


def has_kind_of_answer(space: Space, query: Query, row: int) -> bool:
    """Return whether a segment has something of the form that is asked for; its speaker is a name too."""
    segment, turn = space.segments[row], space.segment_turn[row]
    dated = turn.kind != "document" or any(space.sentences[place].times for place in space.sentences_within(segment))
    return has_kind(query.answer_type, query.text, space.text(segment), turn.speaker, dated=dated)
