"""How far what was found covers a query: by that the loop of recall goes on, where nobody judges.

A step of the loop leads on from words and names that nothing covers yet. Coverage is no judgement whether the evidence
answers: a near miss shares the words of the question, and a paraphrase does not (measured on ten worlds of unseen
records: AUROC .28 for what was once made of such features). So no reply speaks of it.

Candidates cover a query if the best of them contain enough of its content, words weighted by rarity: the mean of what
one contains alone and what the best five contain together. Where the query names one speaker, only what that speaker
said counts.

**Missing.** What a reply may say is not there are the names and numbers of a question that no record of the space has
(`unknown_names`). A common word may be said in other words; a name or a number is said as it is, but for accents and
the case of letters ("Zoe" is held where "Zoë" is). Times that a question states are no numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mcp_memory.domain.evidence import Coverage
from mcp_memory.domain.query import Query
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.questions import has_kind
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import stems, words
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.channels import SpeakerIndex
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

FIRST = 5
"""Candidates that count, and of which one must have a value of the kind asked for."""
COVERED = 0.55
"""The share from which on the loop need not go on (measured; the point that decides most questions rightly)."""


def judge_coverage(space: Space, query: Query, candidates: Sequence[Candidate]) -> Coverage:
    """Return how far the candidates that are returned for a query, best first, cover it."""
    rows = np.array([candidate.row for candidate in candidates], dtype=np.intp)
    index = space.index(WordIndex)
    contained = {stem: index.contains(rows, stem) for stem in query.stems}
    missing = tuple(
        word for word, parts in query.content_words if 2 * sum(contained[p].any() for p in parts) < len(parts)
    )
    if not candidates:
        return Coverage(False, missing)
    counted = np.ones(len(rows[:FIRST]), dtype=np.bool_)
    names: set[str] = set()
    if len(query.speakers) == 1:
        counted = space.index(SpeakerIndex).said_by(query.speakers)[rows[:FIRST]]
        names.update(stems(query.speakers[0]))
    rarity = np.array([index.rarity(stem) for stem in contained if stem not in names])
    covers = np.array([contained[stem][:FIRST] & counted for stem in contained if stem not in names])
    whole = float(rarity.sum())
    share = float((rarity @ covers).max() + rarity @ covers.any(axis=1)) / (2 * whole) if whole else 0.0
    return Coverage(share >= COVERED, missing)


def is_covered(space: Space, query: Query, candidates: Sequence[Candidate]) -> bool:
    """Return whether candidates cover a query, and one of the best has something of the form that is asked for."""
    return judge_coverage(space, query, candidates).whole and any(
        has_kind_of_answer(space, query, candidate.row) for candidate in candidates[:FIRST]
    )


def has_kind_of_answer(space: Space, query: Query, row: int) -> bool:
    """Return whether a segment has something of the form that is asked for; its speaker is a name too."""
    segment, turn = space.segments[row], space.segment_turn[row]
    dated = turn.kind != "document" or any(space.sentences[place].times for place in space.sentences_within(segment))
    return has_kind(query.answer_type, query.text, space.text(segment), turn.speaker, dated=dated)


LONGEST = 1_000
"""Characters of a question that are read."""


def unknown_names(space: Space, query: Query) -> tuple[str, ...]:
    """Return the names and numbers of a question, as written, of which a word stands in no record of the space."""
    index = space.index(WordIndex)
    told = dict.fromkeys((*_names(query), *_numbers(query)))
    return tuple(name for name in told if not all(map(index.holds, words(name))))


def _names(query: Query) -> Iterator[str]:
    first = words(query.text[:LONGEST])[:1]
    for name in (*query.names, *query.entities):
        said = words(name)
        if said != first and not MONTH_WORDS.issuperset(said):  # a capital letter begins every question
            yield name


def _numbers(query: Query) -> Iterator[str]:
    text = query.text[:LONGEST]
    for stated in reversed(stated_times(text, None)):
        text = text[: stated.start] + " " + text[stated.end :]
    yield from (word for word in words(text) if any(letter.isdigit() for letter in word))
