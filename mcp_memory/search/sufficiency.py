"""How far what was found covers a query, and whether it is enough to answer from.

A query that a memory cannot answer still finds something: the nearest text, often by another speaker. A few features,
each cheap (no text is embedded for them), show it.

**Coverage** (`judge_coverage`, `assess`) decides whether the loop of recall goes on. A step of the loop leads on from
words and names that nothing covers yet. Where the evidence covers them but tells of somebody else, or the answer is in
many places, sufficiency is low, yet further steps find nothing, and each costs as much as the search. Its features, in
[0, 1]:

- *coverage*: how much of the query's content, its words weighted by rarity, the best candidate contains alone, and the
  best five contain together (the mean of the two);
- *margin*: how far the best candidate by the speaker whom the query names stands above the best by anyone else;
- *share*: how many of the best five are by that speaker. The score of the channel ``speaker`` is left out of both.

Where the query names one speaker, the score is .4 coverage + .4 margin + .2 share, and only that speaker's candidates
cover anything; elsewhere it is the coverage. On dialogues with unanswerable questions that swap the speakers, coverage
separates them with an AUROC of .75, the margin .73, the share .66, all three .79, and the best cosine .48.

**Sufficiency** (`judge_sufficiency`) is the probability that all that a query needs is among the best candidates. It is
a logistic formula of features, one for talk and one for documents; `SufficiencySettings` (``search/settings.py``) has
the weights and says how they were fitted.

- *covered*: the share of the query's content that the best five contain together, its words weighted by rarity, or
  state by a fact of the relation that a word asks for ("live" where somebody moved); the
  name of the one speaker asked about, the words of a date and what only says the kind of answer ("how many", "which
  city") do not count;
- *support*: in talk, of the best sentence that is told of the person asked about; in documents, the best cosine;
- *lead* (talk): how much more is told of the person asked about than of anybody else;
- *rivals* (talk): the score of the tenth candidate. Where many fit about as well, many things are needed, or none
  fits;
- *near* (talk): the share of the others of the best ten that stand around the best in its session;
- *second* (documents): the score of the second candidate, since most questions to documents need two;
- *named* (documents): how far the names in the query are found in titles, or in the text of what has none.

Evidence is *sufficient* from a probability of `SufficiencySettings.enough` on, if the best five contain half of the
content and one of them has a value of the kind that is asked for (a number, a name). Each feature is held within the
range in which it was measured; where it cannot be known (fewer than ten candidates, a small space, nobody asked about),
its mean there stands for it.

Of whom the evidence tells is decided in ``told_of.py``. Where the query asks about somebody who does not speak, or
about the user, ``subjects.py`` tells whether the evidence is told of another, which then is not sufficient. Nor is
evidence in which a name of the query does not stand.

What it lacks in words is decided in ``missing.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Sufficiency
from mcp_memory.domain.query import AnswerType, Query
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.questions import NEEDED, has_kind
from mcp_memory.language.tokens import stems, words
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.channels import MEANING, SPEAKER, SpeakerIndex
from mcp_memory.search.missing import fillers, lacking, lacks_number, stated_by_facts
from mcp_memory.search.settings import SufficiencyFormula, SufficiencySettings
from mcp_memory.search.subjects import told_of_another
from mcp_memory.search.told_of import Another, told_of
from mcp_memory.search.words import WordIndex
from mcp_memory.view.space import Space

FIRST = 5
"""Candidates that count for coverage and share, and of which one must have a value of the kind asked for."""
COVERED = 0.55
"""The score from which on the loop need not go on (measured; the point that decides most questions rightly)."""


def judge_coverage(space: Space, query: Query, candidates: Sequence[Candidate]) -> Sufficiency:
    """Return how far the candidates that are returned for a query, best first, cover it."""
    rows = np.array([candidate.row for candidate in candidates], dtype=np.intp)
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
        own = np.array(
            [sum(part for name, part in candidate.scores.items() if name != SPEAKER.name) for candidate in candidates]
        )
        score = 0.4 * score + 0.4 * _margin(own, theirs) + 0.2 * _share(own, theirs)
    score = min(1.0, max(0.0, score))
    return Sufficiency(score, score >= COVERED, missing)


def assess(space: Space, query: Query, rows: Sequence[int], covered: Sufficiency, roots: Sequence[str]) -> Sufficiency:
    """Return the sufficiency of the evidence, with the answer's type taken into account and the reason if too little.

    Args:
        space: the space that the segments are in.
        query: the query that is asked.
        rows: the rows of the segments that were found, best first.
        covered: how far they cover the query.
        roots: names that the query is about.
    """
    typed = any(has_kind_of_answer(space, query, row) for row in rows[:FIRST])
    if covered.sufficient and typed:
        return covered
    parts = [f"missing: {', '.join(covered.missing)}"] if covered.missing else []
    if not typed:
        whom = f" for {', '.join(roots)}" if roots else ""
        parts.append(f"need {NEEDED.get(query.answer_type, 'an answer')}{whom}")
    return replace(covered, sufficient=False, reason="; ".join(parts) or "too little covers the question")


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


COUNTED = 10
"""Candidates that count."""
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
        space: the space of the candidates.
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
    features = _features(space, query, best, weights, told)
    in_facts = stated_by_facts(space, query, [candidate.row for candidate in best[:FIRST]], uncovered)
    features["covered"] += sum(weights.get(stem, 0.0) for stem in {stem for word in in_facts for stem in stems(word)})
    uncovered = [word for word in uncovered if word not in in_facts]
    score = probability(settings.talk if talk else settings.document, features)
    if weights and features["covered"] < HALF:
        score = min(score, settings.uncovered)
    said_little = fillers(query.text)
    uncovered = [word for word in uncovered if word.casefold() not in said_little]
    missing = lacking(space, [candidate.row for candidate in best], uncovered, query.text)
    if not any(has_kind_of_answer(space, query, candidate.row) for candidate in best[:FIRST]):
        score = min(score, settings.doubtful)
        missing.append(NEEDED.get(query.answer_type, "an answer"))
    elif talk and lacks_number(space, query, [candidate.row for candidate in best]):
        score = min(score, settings.doubtful)
        missing.append("a number")
    if talk and _lacks_name(query, uncovered):
        score = min(score, settings.uncovered)
    if score >= settings.enough:  # what may be said in other words is not missing from what is enough
        missing = [word for word in missing if word[:1].isupper() or any(mark.isdigit() for mark in word)]
    other = told_of_another(space, query, best, weights) if talk else None
    if other is not None:
        score = min(score, settings.uncovered)
    elif score < settings.enough and told is not None and told[1] is not None and told[1] <= settings.of_another:
        other = told[2]
    missing += [_told_of(space, other)] if other is not None and other.certain else []
    return Sufficiency(score, score >= settings.enough, tuple(missing))


def probability(formula: SufficiencyFormula, known: Mapping[str, float]) -> float:
    """Return the probability, in (0, 1), from the features that are known; others of them do not count."""
    total = formula.constant
    for name, feature in formula.features.items():
        total += feature.weight * min(feature.high, max(feature.low, known.get(name, feature.usual)))
    return 1 / (1 + exp(-total))


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


def _features(
    space: Space,
    query: Query,
    best: Sequence[Candidate],
    weights: Mapping[str, float],
    told: tuple[float, float | None, Another | None] | None,
) -> dict[str, float]:
    """Return the features that can be known, by name."""
    rows = np.array([candidate.row for candidate in best[:FIRST]], dtype=np.intp)
    index = space.index(WordIndex)
    features = {"covered": sum(weight for stem, weight in weights.items() if index.contains(rows, stem).any())}
    if told is None:
        features["support"] = max(candidate.scores.get(MEANING.name, 0.0) for candidate in best)
        features |= _named_feature(space, query, best)
    else:
        features["support"], lead, _ = told
        if lead is not None:
            features["lead"] = lead
    if len(best) > 1:
        features["second"] = best[1].score
    if len(best) == COUNTED and told is not None:
        features["rivals"] = best[-1].score
        if len(space.segments) > SMALL:
            features["near"] = _share_near_the_best(space, [candidate.row for candidate in best])
    return features


def _share_near_the_best(space: Space, rows: Sequence[int]) -> float:
    """Return the feature ``near``: the share of the other rows that stand around the first, in its session."""
    session = space.segment_turn[rows[0]].session
    near = [abs(row - rows[0]) <= AROUND and space.segment_turn[row].session == session for row in rows[1:]]
    return sum(near) / len(near)


def _named_feature(space: Space, query: Query, best: Sequence[Candidate]) -> dict[str, float]:
    """Return the feature ``named``, if the query has names: how much of each the best title contains, on average."""
    asked = [set(words(name)) - MONTH_WORDS for name in query.names]
    asked = [name for name in asked if name]
    if not asked:
        return {}
    titles = [
        set(words(space.segment_turn[candidate.row].title or space.text(space.segments[candidate.row])))
        for candidate in best
    ]
    return {"named": sum(max(len(name & title) / len(name) for title in titles) for name in asked) / len(asked)}


def has_kind_of_answer(space: Space, query: Query, row: int) -> bool:
    """Return whether a segment has something of the form that is asked for; its speaker is a name too."""
    segment, turn = space.segments[row], space.segment_turn[row]
    dated = turn.kind != "document" or any(space.sentences[place].times for place in space.sentences_within(segment))
    return has_kind(query.answer_type, query.text, space.text(segment), turn.speaker, dated=dated)


def _lacks_name(query: Query, uncovered: Sequence[str]) -> bool:
    """Return whether a name in the query, not its first word, is among the words that no candidate contains."""
    lacking = {part for word in uncovered for part in words(word)}
    first = words(query.text)[:1]
    return any(words(name) and words(name)[-1] in lacking and words(name) != first for name in query.names)


def _told_of(space: Space, other: Another) -> str:
    """Return in words that a sentence tells of somebody else than the person asked about."""
    quote = " ".join(space.text(space.sentences[other.row]).split())
    quote = quote if len(quote) <= QUOTED else f"{quote[: QUOTED - 1].rstrip()}…"
    return f"told of {other.whom}, not of {other.asked}: “{quote}”"
