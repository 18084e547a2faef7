"""Sufficiency: the probability that all that a query needs is among the best candidates, and what is missing.

A query that a memory cannot answer still finds something: the nearest text. A few signs, each cheap (no text is
embedded for them), tell whether that answers it; a logistic formula of them, one for talk and one for documents, gives
the probability. `SufficiencySettings` (``search/settings.py``) has the weights and says how they were fitted.

- *covered*: the share of the query's content that the best five contain together, its words weighted by rarity; the
  name of the one speaker asked about, the words of a date and what only says the kind of answer ("how many", "which
  city") do not count;
- *support*: in talk, of the best sentence that is told of the person asked about (``told_of.py``): its cosine with the
  query plus .3 of the share of the content that it contains; in documents, the best cosine;
- *lead* (talk): how much more is told of the person asked about than of anybody else (``told_of.py``);
- *rivals* (talk): the score of the tenth candidate. Where many fit about as well, many things are needed, or none
  fits;
- *near* (talk): the share of the others of the best ten that stand around the best in its session;
- *second* (documents): the score of the second candidate, since most questions to documents need two;
- *named* (documents): how far the names in the query are found in titles, or in the text of what has none.

Evidence is *sufficient* from a probability of `SufficiencySettings.enough` on, if the best five contain half of the
content and one of them has a value of the kind that is asked for (a number, a name). Each sign is held within the range
in which it was measured; where it cannot be known (fewer than ten candidates, a small space, nobody asked about), its
mean there stands for it.

The loop of recall does not stop by this but by the share of the query that is covered (``coverage.py``), since whether
more is worth looking for is another question: where the evidence tells of somebody else, or the answer is in many
places, no further step finds what is not there, and each costs as much as the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mcp_memory.domain.evidence import Sufficiency
from mcp_memory.domain.query import AnswerType, Query
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.questions import NEEDED, has_kind
from mcp_memory.language.tokens import stems, words
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.channels import MEANING
from mcp_memory.search.settings import SufficiencySettings
from mcp_memory.search.told_of import ToldOf, told_of
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

COUNTED = 10
"""Candidates that count."""
FIRST = 5
"""Candidates that count for what is covered, and of which one must have a value of the kind asked for."""
AROUND = 8
"""Segments before and after the best candidate that stand around it."""
HALF = 0.5
"""The share of the query's content that the best must contain together for a recall to be sufficient."""
SMALL = 200
"""Segments of a space up to which the best ten stand near each other by chance."""
QUOTED = 100
"""Most characters of what is quoted as told of somebody else."""
_MONTHS = frozenset(stem for word in MONTH_WORDS for stem in stems(word))
_KIND_WORDS: dict[AnswerType, frozenset[str]] = {
    "how_many": frozenset(stems("many much")),
    "how_long": frozenset(stems("long old")),
    "when": frozenset(stems("day date year month week time season century decade")),
    "where": frozenset(stems("place city town country state location")),
}


def judge_sufficiency(
    space: Space, query: Query, candidates: Sequence[Candidate], uncovered: Sequence[str], settings: SufficiencySettings
) -> Sufficiency:
    """Return how probable it is that the candidates shown are all that a query needs, and in words what is missing.

    Args:
        space: of the candidates.
        query: understood and embedded.
        candidates: best first.
        uncovered: words of the query that no candidate contains.
        settings: the formulas.
    """
    best = candidates[:COUNTED]
    if not best:
        return Sufficiency(0.0, False, tuple(uncovered))
    weights = _content(space, query)
    talk = bool(space.talk[best[0].row])
    told = told_of(space, query, best, weights) if talk else None
    signs = _signs(space, query, best, weights, told)
    score = (settings.talk if talk else settings.document).probability(signs)
    if weights and signs["covered"] < HALF:
        score = min(score, settings.uncovered)
    missing = list(uncovered)
    if not any(_has_kind(space, query, one.row) for one in best[:FIRST]):
        score = min(score, settings.doubtful)
        missing.append(NEEDED.get(query.answer_type, "an answer"))
    if score < settings.enough and told is not None and told.lead <= settings.of_another:
        missing += _of_another(space, told)
    return Sufficiency(score, score >= settings.enough, tuple(missing))


def _content(space: Space, query: Query) -> dict[str, float]:
    """Return the share of each stem in the content of a query, by rarity."""
    aside = set(_KIND_WORDS.get(query.answer_type, ()))
    if len(query.speakers) == 1:
        aside.update(stems(query.speakers[0]))
    index = space.index(WordIndex)
    dated = query.time is not None and query.time.dated
    rarity = {
        stem: index.rarity(stem)
        for stem in query.stems
        if stem not in aside and not (dated and (stem.isdecimal() or stem in _MONTHS))
    }
    whole = sum(rarity.values())
    return {stem: rare / whole for stem, rare in rarity.items()} if whole else {}


def _signs(
    space: Space, query: Query, best: Sequence[Candidate], weights: Mapping[str, float], told: ToldOf | None
) -> dict[str, float]:
    """Return the signs that can be known, by name."""
    rows = np.array([one.row for one in best[:FIRST]], dtype=np.intp)
    index = space.index(WordIndex)
    signs = {"covered": sum(weight for stem, weight in weights.items() if index.contains(rows, stem).any())}
    if told is None:
        signs["support"] = max(one.scores.get(MEANING.name, 0.0) for one in best)
        signs |= _named(space, query, best)
    else:
        signs["support"] = told.asked.support
        if told.person:
            signs["lead"] = told.lead
    if len(best) > 1:
        signs["second"] = best[1].score
    if len(best) == COUNTED and told is not None:
        signs["rivals"] = best[-1].score
        if len(space.segments) > SMALL:
            signs["near"] = _near(space, [one.row for one in best])
    return signs


def _near(space: Space, rows: Sequence[int]) -> float:
    """Return the sign ``near``: the share of the other rows that stand around the first, in its session."""
    session = space.segment_turn[rows[0]].session
    near = [abs(row - rows[0]) <= AROUND and space.segment_turn[row].session == session for row in rows[1:]]
    return sum(near) / len(near)


def _named(space: Space, query: Query, best: Sequence[Candidate]) -> dict[str, float]:
    """Return the sign ``named``, if the query has names: how much of each the best title contains, on average."""
    asked = [set(words(name)) - MONTH_WORDS for name in query.names]
    asked = [name for name in asked if name]
    if not asked:
        return {}
    titles = [set(words(space.segment_turn[one.row].title or space.text(space.segments[one.row]))) for one in best]
    return {"named": sum(max(len(name & title) / len(name) for title in titles) for name in asked) / len(asked)}


def _has_kind(space: Space, query: Query, row: int) -> bool:
    segment, turn = space.segments[row], space.segment_turn[row]
    dated = turn.kind != "document" or any(space.sentences[one].times for one in space.sentences_within(segment))
    return has_kind(query.answer_type, query.text, space.text(segment), turn.speaker, dated=dated)


def _of_another(space: Space, told: ToldOf) -> list[str]:
    """Return, as words, that the evidence tells of somebody else; nothing if it is not known of whom."""
    if not told.person or not told.other.whom:
        return []
    sentence = space.sentences[told.other.row]
    quote = " ".join(space.turns[sentence.turn_id].text[sentence.start : sentence.end].split())
    quote = quote if len(quote) <= QUOTED else f"{quote[: QUOTED - 1].rstrip()}…"
    return [f"told of {told.other.whom}, not of {told.person}: “{quote}”"]
