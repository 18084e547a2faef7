"""Follow the facts: what navigation finds for a question, and what that says about the texts (REAL §3.3).

Navigation walks over facts and knows no vectors; here it is told how like the question each statement of a fact is,
and what it finds is laid back on the segments that say so, as one more channel of the first look.

**Departures.** REAL compares the question with the words of a relation and its tail (DESIGN 3.2). Here it is compared
with the sentence that states them: that is how they were said, and its vector is there already, so that no text but the
question is embedded. The background that calibrates cosines (DESIGN 3.2) is the question's own: mean and deviation over
the segments of the space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.paths import Path, PathScores, Step
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.navigation.asking import moment
from mcp_memory.navigation.beam import Candidates, Searching, finished
from mcp_memory.navigation.navigate import Navigation, navigating
from mcp_memory.navigation.paths import serialise
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.space import NONE, Space

SUFFICIENT = 0.6
"""S_AS from which on a path speaks for the texts that state it (.5 is the right type of answer, or all words of the
question, alone). Without it every question about somebody well known gives all that is told of them a share, and the
sentence with the time or place that was asked for loses: measured on dialogues, with weight .4, 59.1 points of R@2 with
it and 57.9 without (58.3 without facts at all), on questions about times 86.1, 81.7 and 85.6."""
BRIDGED = 0.7
"""S_QR from which on a path of several steps does too: every relation on it is asked for in so many words. The first
fact of a chain answers nothing, but without it nobody finds the second. Measured where the facts of the chains were
written by hand: 89.2 points of R@5 with it, 84.2 without, 72.3 without facts; on dialogues it changes nothing."""

Cosine = Callable[[Sequence[Assertion]], list[float]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a judge that takes its time thinks of the paths of some steps of a search (REAL §3.3.2, II).

    A path is known by what such a judge is shown of it, its words (eq. 9), and not by anything of a view, so that the
    evaluation holds for a later view too.

    Attributes:
        steps: the scores of each path, by its words, for each step that was judged (`Candidates.place`).
    """

    steps: Mapping[tuple[int, bool], Mapping[str, PathScores]] = field(default_factory=dict)

    def scores(self, seen: Candidates) -> list[PathScores] | None:
        """Return the scores of the candidates of a step; those that are not known stay. None for no known step."""
        known = self.steps.get(seen.place)
        return None if known is None else [known.get(serialise(path), path.scores) for path in seen.paths]

    def joined(self, seen: Candidates, scores: Sequence[PathScores]) -> Evaluation:
        """Return this with the scores of the candidates of one more step."""
        told = {serialise(path): one for path, one in zip(seen.paths, scores, strict=True)}
        return Evaluation({**self.steps, seen.place: told})


FORMULAS = Evaluation()
"""Nobody was asked: the scores of all steps are those of the formulas (`navigation.scores`)."""


def stepping(
    space: Space,
    question: Query,
    vectors: Matrix,
    cosines: Matrix,
    request: Query,
    settings: NavigationSettings,
    now: Millis,
) -> Searching[Navigation]:
    """Return the paths that navigation finds for a question; the candidates of each step are shown before that.

    Args:
        space: of a view that is held still.
        question: understood with the speakers of this space.
        vectors: of `Query.forms`.
        cosines: of these with each segment.
        request: names roots, the instant that is meant, and whether suspected facts count.
        settings: of navigation.
        now: the moment of asking, which is meant where nothing else is.

    Yields:
        See `navigation.beam.searching`.
    """
    if not settings.facts or not space.facts.rows:
        return Navigation((), (), ())
    words = space.index(WordIndex)
    walk = navigating(
        space.facts,
        question,
        moment=moment(question.time, as_of=request.as_of, now=now),
        cosine=cosine_of(space, vectors, cosines),
        nearby=lambda: nearby(space, cosines, settings.nearest),
        background=background(cosines),
        rarity={stem: words.rarity(stem) for stem in question.stems},
        settings=settings,
        named=request.entities,
        include_uncertain=request.include_uncertain,
    )
    return (yield from walk)


def follow(
    space: Space,
    question: Query,
    vectors: Matrix,
    cosines: Matrix,
    request: Query,
    settings: NavigationSettings,
    now: Millis,
    evaluation: Evaluation = FORMULAS,
) -> Navigation:
    """Return the paths that navigation finds; as `stepping` with an evaluation of the candidates."""
    walk = stepping(space, question, vectors, cosines, request, settings, now)
    return finished(walk, evaluation.scores)


def cosine_of(space: Space, vectors: Matrix, cosines: Matrix) -> Cosine:
    """Return what tells how like a question the statements of facts are.

    Args:
        space: of a view that is held still.
        vectors: of the question as it is and, if it has one, of its first-person form, which is what talk is like.
        cosines: of these with each segment; they stand in where the view holds no vectors of sentences.
    """

    def cosine(assertions: Sequence[Assertion]) -> list[float]:
        asked = np.array([0 if space.turns[a.turn_id].kind == "document" else -1 for a in assertions], dtype=np.intp)
        rows = np.array([space.sentence_row(a.turn_id, a.sentence) for a in assertions], dtype=np.intp)
        found = np.zeros(len(assertions), dtype=np.float32)
        own = rows != NONE if space.sentence_vectors is not None else np.zeros(len(rows), dtype=np.bool_)
        if space.sentence_vectors is not None and own.any():
            found[own] = np.einsum("ij,ij->i", space.sentence_vectors.take(rows[own]), vectors[asked[own]])
        for place in np.flatnonzero(~own).tolist():
            segments = space.segments_with(assertions[place].turn_id, assertions[place].sentence)
            found[place] = cosines[asked[place], segments].max() if segments else 0.0
        values: list[float] = found.tolist()
        return values

    return cosine


def nearby(space: Space, cosines: Matrix, most: int) -> list[Assertion]:
    """Return at most so many assertions of the segments nearest to a question, those of the nearest first.

    Args:
        space: of a view that is held still.
        cosines: of the question with each segment, by its most telling form: its first-person form where it has one.
        most: segments are looked at as well, so a space without facts among them gives none.
    """
    scores = np.where(space.live, np.where(space.talk, cosines[-1], cosines[0]), -np.inf)
    nearest = np.argpartition(scores, -most)[-most:] if most < len(scores) else np.arange(len(scores))
    found: dict[str, Assertion] = {}
    for row in sorted(nearest.tolist(), key=lambda row: (-scores[row], row)):
        segment = space.segments[row]
        for assertion in space.facts.assertions_in(segment.turn_id):
            if assertion.sentence < 0 or segment.first <= assertion.sentence <= segment.last:
                found.setdefault(assertion.id, assertion)
        if len(found) >= most:
            break
    return list(found.values())[:most]


def background(cosines: Matrix) -> tuple[float, float]:
    """Return mean and standard deviation of a question's cosines over a space; (0, 1) where there are none."""
    if not cosines.size:
        return 0.0, 1.0
    return float(cosines[0].mean()), float(cosines[0].std()) or 1.0


def _timeless(space: Space, step: Step) -> bool:
    """Return whether a fact says nothing of a date: a document tells it without one. What is said has its day."""
    said = step.via or step.version.assertions
    return not step.version.stated and all(space.turns[one.turn_id].kind == "document" for one in said)


def on_segments(space: Space, question: Query, paths: Sequence[Path]) -> Scores:
    """Return how far the paths speak for each segment, in [0, 1], shape ``(len(space.segments),)``.

    A segment gets the score of the best path that runs over a fact which it states, of those that are good for
    something: see `SUFFICIENT` and `BRIDGED`.
    """
    scores = np.zeros(len(space.segments), dtype=np.float32)
    dated = question.time is not None and question.time.dated
    for path in paths:
        if dated and any(_timeless(space, step) for step in path.steps):
            continue  # measured on dated articles: 63.8 points of R@2, and 61.9 with such paths
        bridges = len(path.steps) > 1 and path.scores.relevance >= BRIDGED
        if path.scores.sufficiency < SUFFICIENT and not bridges:
            continue
        worth = path.scores.mean * path.confidence
        for step in path.steps:
            for assertion in step.via or step.version.assertions:
                for row in space.segments_with(assertion.turn_id, assertion.sentence):
                    scores[row] = max(scores[row], worth)
    return scores
