"""Navigation: the paths through the facts that bear on a query, and what they say about the texts (REAL §3.3).

Read it as the search for one query: choose its roots, prepare the neighbourhood with its filters, search by beams, keep
the paths apart from how they were found, and score the segments that state them, as one more channel of the search.
Nothing is stored, no text is embedded, and the same query over the same facts gives the same paths.

**Departures.** REAL compares the question with the words of a relation and its tail (DESIGN 3.2). Here it is compared
with the sentence that states them: that is how they were said, and its vector is there already, so no text but the
query is embedded. The background that calibrates cosines (DESIGN 3.2) is the query's own: mean and deviation over the
segments of the space.

**Suggestions** (`suggest_steps`) are for a client that navigates itself: steps of the explore tool that might find what
is missing. Facts lead on from what they reached, as far as more is known there. Where they end, and in a memory without
any, what was found leads on by what is said in it (MRAgent's reverse step) and beside it, and reflection by what is
missing (QRMeM's R; DESIGN 3.5). A step that recall itself has taken is not proposed again. A recall that finds itself
sufficient proposes such steps too: the client's own model decides whether it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from mcp_memory.domain.evidence import Evidence, OperatorCall, Suggestion
from mcp_memory.domain.facts import Assertion, Intent
from mcp_memory.domain.paths import Path, PathScores, Root, Step
from mcp_memory.domain.query import DEFAULT_SPACE, Query
from mcp_memory.navigation.anchor import anchor
from mcp_memory.navigation.beam import Candidates, Decision, Searching, searching
from mcp_memory.navigation.fact_query import Moment, fact_query, moment
from mcp_memory.navigation.neighbours import Neighbourhood
from mcp_memory.navigation.paths import serialise
from mcp_memory.navigation.scores import Cosine, EmbeddedJudge, Likeness
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import NONE, Space

SUFFICIENT = 0.6
"""S_AS from which on a path supports the texts that state it (.5 is the right type of answer, or all words of the
query, alone). Without it every question about somebody well known gives all that is stated of them a share, and the
sentence with the time or place that was asked for loses: measured on dialogues, with weight .4, 59.1 points of R@2 with
it and 57.9 without (58.3 without facts at all), on questions about times 86.1, 81.7 and 85.6."""
BRIDGED = 0.7
"""S_QR from which on a path of several steps does too: every relation on it is asked for in so many words. The first
fact of a chain answers nothing, but without it nobody finds the second. Measured where the facts of the chains were
written by hand: 89.2 points of R@5 with it, 84.2 without, 72.3 without facts; on dialogues it changes nothing."""

BY_FACTS = 3
"""Steps along facts, or to hypotheses, that are suggested at once; the first comes before all others."""
_FROM = 3
"""Pieces of evidence that a step starts from."""
_OF_TIME: frozenset[Intent] = frozenset(("TEMPORAL", "EVOLUTION"))


@dataclass(frozen=True, slots=True)
class Navigation:
    """What navigation found.

    Attributes:
        roots: where it started.
        paths: best first.
        trace: what each beam decided, step by step.
    """

    roots: tuple[Root, ...]
    paths: tuple[Path, ...]
    trace: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores that a slow judge gave to the paths of some steps of a search (REAL §3.3.2, II).

    A path is identified by its words (eq. 9), which is what such a judge is shown of it, and not by anything of a view,
    so the evaluation holds for a later view too.

    Attributes:
        steps: the scores of each path, by its words, for each step that was judged (`Candidates.place`).
    """

    steps: Mapping[tuple[int, bool], Mapping[str, PathScores]] = field(default_factory=dict)

    def scores(self, seen: Candidates) -> list[PathScores] | None:
        """Return the scores of the candidates of a step; unknown ones keep theirs. None for a step not judged."""
        known = self.steps.get(seen.place)
        return None if known is None else [known.get(serialise(path), path.scores) for path in seen.paths]

    def joined(self, seen: Candidates, scores: Sequence[PathScores]) -> Evaluation:
        """Return this with the scores of the candidates of one more step."""
        by_words = {serialise(path): one for path, one in zip(seen.paths, scores, strict=True)}
        return Evaluation({**self.steps, seen.place: by_words})


FORMULAS = Evaluation()
"""No judge was asked: the scores of all steps are those of the formulas (`navigation.scores`)."""


def find_paths(
    space: Space, query: Query, cosines: Matrix, rarity: Mapping[str, float], settings: NavigationSettings
) -> Searching[Navigation]:
    """Return the paths through the facts of a space that bear on a query, best first.

    Args:
        space: of a view that does not change meanwhile.
        query: understood with the speakers of this space, and embedded.
        cosines: of its vectors with each segment.
        rarity: the idf of its stems.
        settings: of this room.

    Yields:
        The candidates of each step, before anything is decided (`beam.searching`).
    """
    if not settings.facts or not space.facts.rows:
        return Navigation((), (), ())
    return (
        yield from search_facts(
            space.facts,
            query,
            at=moment(query.time, as_of=query.as_of, now=query.now),
            cosine=statement_similarity(space, query.vectors, cosines),
            nearby=lambda: nearby_statements(space, cosines, settings.nearest),
            background=_background(cosines),
            rarity=rarity,
            settings=settings,
        )
    )


def search_facts(
    facts: Facts,
    query: Query,
    *,
    at: Moment | None,
    cosine: Cosine,
    nearby: Callable[[], Sequence[Assertion]],
    background: tuple[float, float],
    rarity: Mapping[str, float],
    settings: NavigationSettings,
) -> Searching[Navigation]:
    """Return the paths through facts that bear on a query; as `find_paths`, by the similarities that are given.

    Args:
        facts: of a space whose view does not change meanwhile.
        query: understood; a query that asks for guesses lets facts through that are only suspected.
        at: the time in question (`fact_query.moment`): an interval that the query names, or the one millisecond of
            ``as_of`` or of now; None lets facts of any time through.
        cosine: of the query with the sentence that states each assertion.
        nearby: returns the assertions that may stand in if the query names nothing, the likeliest.
        background: mean and deviation of the cosine in the space.
        rarity: the idf of the query's stems.
        settings: of this room.

    Yields:
        See `beam.searching`.
    """
    asking = fact_query(query)
    uncertain = query.include_uncertain or asking.accepts_guesses or not settings.confidence
    roots = anchor(facts, query, query.entities, cosine=cosine, nearby=nearby, settings=settings, uncertain=uncertain)
    likeness = Likeness(cosine, background, settings.spread)
    keys = [root.key for root in roots]
    near = Neighbourhood(facts, asking, likeness, keys, at=at, uncertain=uncertain, settings=settings)
    judge = EmbeddedJudge(facts, asking, likeness, rarity, settings, tuple(keys), intents=settings.intent)
    paths, trace = yield from searching(query, roots, near, judge)
    return Navigation(roots, tuple(paths), tuple(trace))


def statement_similarity(space: Space, vectors: Matrix, cosines: Matrix) -> Cosine:
    """Return a function from statements of facts to their similarity to a query.

    Args:
        space: of a view that does not change meanwhile.
        vectors: of the query as it is and, if it has one, of its first-person form, which is what talk is like.
        cosines: of these with each segment; they stand in where the view holds no vectors of sentences.
    """

    def cosine(assertions: Sequence[Assertion]) -> list[float]:
        form = np.array([0 if space.turns[a.turn_id].kind == "document" else -1 for a in assertions], dtype=np.intp)
        rows = np.array([space.sentence_row(a.turn_id, a.sentence) for a in assertions], dtype=np.intp)
        found = np.zeros(len(assertions), dtype=np.float32)
        own = rows != NONE if space.sentence_vectors is not None else np.zeros(len(rows), dtype=np.bool_)
        if space.sentence_vectors is not None and own.any():
            found[own] = np.einsum("ij,ij->i", space.sentence_vectors.take(rows[own]), vectors[form[own]])
        for place in np.flatnonzero(~own).tolist():
            segments = space.segments_with(assertions[place].turn_id, assertions[place].sentence)
            found[place] = cosines[form[place], segments].max() if segments else 0.0
        values: list[float] = found.tolist()
        return values

    return cosine


def no_similarity(assertions: Sequence[Assertion]) -> list[float]:
    """Return the similarity of statements to a query that was not given: 0 each."""
    return [0.0] * len(assertions)


def nearby_statements(space: Space, cosines: Matrix, most: int) -> list[Assertion]:
    """Return at most so many assertions of the segments nearest to a query, those of the nearest first.

    Args:
        space: of a view that does not change meanwhile.
        cosines: of the query with each segment, by its most telling form: its first-person form if it has one.
        most: bounds the segments as well, so a space without facts among them gives none.
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


def _background(cosines: Matrix) -> tuple[float, float]:
    """Return mean and standard deviation of a query's cosines over a space; (0, 1) if there are none."""
    if not cosines.size:
        return 0.0, 1.0
    return float(cosines[0].mean()), float(cosines[0].std()) or 1.0


def score_segments(space: Space, query: Query, paths: Sequence[Path]) -> Scores:
    """Return how far the paths support each segment, in [0, 1], shape ``(len(space.segments),)``.

    A segment gets the score of the best path over a fact that it states, of those that are good for something: see
    `SUFFICIENT` and `BRIDGED`.
    """
    scores = np.zeros(len(space.segments), dtype=np.float32)
    dated = query.time is not None and query.time.dated
    for path in paths:
        if dated and any(_is_timeless(space, step) for step in path.steps):
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


def _is_timeless(space: Space, step: Step) -> bool:
    """Return whether a fact says nothing of a date: a document states it without one. A message has its day."""
    stated_by = step.via or step.version.assertions
    return not step.version.stated and all(space.turns[one.turn_id].kind == "document" for one in stated_by)


def suggest_steps(
    space: Space,
    query: Query,
    roots: Sequence[Root],
    paths: Sequence[Path],
    evidence: Sequence[Evidence],
    missing: Sequence[str],
    taken: Sequence[OperatorCall] = (),
) -> tuple[Suggestion, ...]:
    """Return steps that go on from a recall, the most promising first; none if nothing was found.

    Args:
        space: of a view that does not change meanwhile.
        query: understood with the speakers of the space.
        roots: that navigation started from.
        paths: that it found, best first.
        evidence: best first.
        missing: words of the query that nothing covers.
        taken: the calls that recall has made itself.
    """
    done = {_step(call.operator, call.args) for call in taken}
    by_facts: dict[object, Suggestion] = {}
    for suggestion in _along_facts(space, query, [root for root in roots if not root.soft], paths):
        by_facts.setdefault(_step(suggestion.operator, suggestion.args), suggestion)
    first = [*islice((suggestion for step, suggestion in by_facts.items() if step not in done), BY_FACTS)]
    others = [one for one in _by_words(query, evidence, missing) if _step(one.operator, one.args) not in done]
    return in_space(space, (*first[:1], *others[:1], *first[1:], *others[1:]))


def in_space(space: Space, steps: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Return steps with the space in which they are to be taken, unless it is the default one."""
    if space.name == DEFAULT_SPACE:
        return tuple(steps)
    return tuple(replace(step, args={**step.args, "space": space.name}) for step in steps)


def _step(operator: str, args: Mapping[str, str | tuple[str, ...]]) -> object:
    """Return what distinguishes a step from others; the query only ranks what most find."""
    return operator, frozenset((name, value) for name, value in args.items() if name != "query" or len(args) == 1)


def _along_facts(space: Space, query: Query, roots: Sequence[Root], paths: Sequence[Path]) -> Iterator[Suggestion]:
    dated = query.time is not None and query.time.dated
    for root in roots:
        if dated or root.intent in _OF_TIME:
            yield Suggestion("versions", {"entity": root.name}, f"how what is known of {root.name} changed")
    for path in paths:
        last = path.steps[-1].version
        name = last.tail if path.steps[-1].forward else last.head
        more = space.facts.degree(path.end) > 1
        if not path.inferred and more and path.end not in {root.key for root in roots}:
            yield Suggestion("expand_facts", {"entity": name, "query": query.text}, f"where a path led: {last.text}")
    for root in roots:
        args = {"entity": root.name, "query": query.text}
        if any(path.root.key == root.key and path.inferred is None for path in paths):
            yield Suggestion("expand_facts", args, f"what else is known of {root.name}")
        else:
            yield Suggestion("counterfactual", args, f"no fact of {root.name} answers this")


def _by_words(query: Query, evidence: Sequence[Evidence], missing: Sequence[str]) -> Iterator[Suggestion]:
    ids = tuple(item.id for item in evidence if item.inferred is None and item.kind != "point")[:_FROM]
    if not ids:
        return
    about = "what the best are about, and where that leads"
    yield Suggestion("event_keywords", {"ids": ids, "query": query.text}, about)
    yield Suggestion("event_context", {"ids": ids[:1]}, "what was said around the best")
    still = "; ".join((query.text, *([f"missing: {', '.join(missing)}"] if missing else [])))
    yield Suggestion("reflect", {"query": still, "ids": ids}, "what lies beyond the names in it, by what is missing")
