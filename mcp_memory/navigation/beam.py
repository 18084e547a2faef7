"""Find the paths through the facts that bear on a query, and score the texts that state them (REAL §III-B, Alg. 1).

From each root of the query the search keeps the k best paths, one step longer at a time. At each step every beam is
expanded to the m best neighbours of its end, and each decides for itself: *Stop* if no expansion is more sufficient
(S_AS) than the path as it is, which is final then; else *Expand*: the more sufficient ones compete for the k places; in
both cases *Counterfactual* (DESIGN D39) if the expansion is not reliable: inferred paths compete too. Paths that still
continue after the last step are final as well; taken literally, Algorithm 1 would lose them (DESIGN D31).

`score_segments` turns the paths into one more channel of recall. Nothing is stored, no text is embedded, and the same
query over the same facts gives the same paths.

**Departures.** Only reliable expansions have a sure place in the pool. The others compete with the inferred paths for
the places that these leave, so that a beam never adds more than m paths (DESIGN D32, the paper's own bound). An
inferred path, too, has to be more sufficient than the path that it extends: else every path that stops would still add
its guesses. A root alone never stops as long as it has a neighbour, however low its scores are (DESIGN I33).

REAL compares the question with the words of a relation and its tail (§III-B2, I); here with the sentence that states
them, whose vector exists already. The background that calibrates cosines (DESIGN 3.2) belongs to the query: mean and
deviation over the segments of the space. REAL has a language model score the paths of each step (§III-B2, II); here the
formulas alone do: in none of some 80 requests to Claude did its scores lead to the answer. REAL says that it learns by
reinforcement which expansion to choose, and updates the intent (ι_u) after each step. Here nothing is learnt, and the
intent of the root holds along the whole path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from mcp_memory.configurable import Switches
from mcp_memory.domain.evidence import Path, PathScores, Root, Step
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.navigation.counterfactual import counterfactual_budget, infer_paths, is_reliable, needs_repair
from mcp_memory.navigation.fact_query import Moment, fact_query, moment, select_roots
from mcp_memory.navigation.paths import (
    EXPANDED_NEIGHBOURS,
    Cosine,
    Neighbourhood,
    StatementSimilarity,
    entities_on,
    score_paths,
)
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import NONE, Space

BEAM_WIDTH = 5
"""Paths that are followed at once from each entity. k (REAL §IV-C2, Table IV; 3, 8 and 10 were worse there)."""
PATH_STEPS = 3
"""Steps of a path. D_max (REAL §IV-C2, Table IV; 4 gains .1 there, 5 loses)."""
SUFFICIENT = 0.6
"""Minimum S_AS for a path to score its texts. The right type of answer alone, or all words of the query alone, give
only .5. Without it every fact about a well-known entity gives its text a score, and the sentence with the time or place
that was asked for loses: measured on dialogues, with weight .4, 59.1 points of R@2 with it and 57.9 without (58.3
without facts at all); on questions about times 86.1, 81.7 and 85.6."""
BRIDGED = 0.7
"""S_QR from which on a path of several steps does too: the query asks for every relation on it by name. The first fact
of a chain answers nothing, but without it the second is not found. Measured where the facts of the chains were written
by hand: 89.2 points of R@5 with it, 84.2 without, 72.3 without facts; on dialogues it changes nothing."""


@dataclass(frozen=True, slots=True)
class FoundPaths:
    """What a search found.

    Attributes:
        roots: the entities that it started from.
        paths: the final paths, best first; each has one to D_max steps, and no two are the same.
    """

    roots: tuple[Root, ...] = ()
    paths: tuple[Path, ...] = ()


def find_paths(
    space: Space, query: Query, cosines: Scores, rarity: Mapping[str, float], switches: Switches
) -> FoundPaths:
    """Find the paths through the facts of a space that bear on a query.

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood with the speakers of this space, and embedded.
        cosines: its cosine with each segment.
        rarity: the idf of its stems.
        switches: which mechanisms take part.
    """
    if not switches.facts or not space.facts.rows:
        return FoundPaths()
    # Mean and deviation of the query's cosines; (0, 1) if there are none.
    background = (float(cosines.mean()), float(cosines.std()) or 1.0) if cosines.size else (0.0, 1.0)
    return search_facts(
        space.facts,
        query,
        at=moment(query.time, query.moment),
        cosine=statement_similarity(space, query.vector, cosines),
        background=background,
        rarity=rarity,
        switches=switches,
    )


def search_facts(
    facts: Facts,
    query: Query,
    *,
    at: Moment | None,
    cosine: Cosine,
    background: tuple[float, float],
    rarity: Mapping[str, float],
    switches: Switches,
) -> FoundPaths:
    """Find paths as `find_paths` does, with similarities that the caller supplies.

    Args:
        facts: the facts of a space whose view does not change meanwhile.
        query: understood.
        at: the time in question (`fact_query.moment`): an interval that the query names, or the one millisecond of
            ``as_of`` or of now; None for facts of any time.
        cosine: the cosine of the query with the sentence that states each assertion.
        background: mean and deviation of the cosine in the space.
        rarity: the idf of the query's stems.
        switches: which mechanisms take part.
    """
    wanted = fact_query(query)
    roots = select_roots(facts, query)
    similarity = StatementSimilarity(cosine, background)
    near = Neighbourhood(facts, wanted, similarity, [root.key for root in roots], at=at)

    def scored(groups: Sequence[Sequence[Path]]) -> list[list[Path]]:
        paths = [path for group in groups for path in group]
        scores = iter(score_paths(near, query, rarity, paths) if paths else [])
        return [[path.with_scores(own) for path, own in zip(group, scores, strict=False)] for group in groups]

    beams = [Path(root, (), root.key, PathScores(0.0, 0.0, 0.0)) for root in roots]
    final: list[Path] = []
    for _ in range(PATH_STEPS if switches.beam else 1):
        near.compare((path.end, path.root.intent) for path in beams)
        expansions = scored([_expand(near, path) for path in beams])
        guesses = scored(
            [
                infer_paths(near, path, {p.steps[-1].version.id for p in group})
                if switches.counterfactual and needs_repair([p.scores for p in group])
                else []
                for path, group in zip(beams, expansions, strict=True)
            ]
        )
        pool: list[Path] = []
        for path, group, inferred in zip(beams, expansions, guesses, strict=True):
            if _is_finished(path, group):
                final.append(path)
            pool += continuations(path, group, inferred)
        beams = [  # the k best of each root, roots in their order
            path for root in roots for path in sorted((p for p in pool if p.root == root), key=order)[:BEAM_WIDTH]
        ]
        if not beams:
            break
    return FoundPaths(roots, tuple(sorted([*final, *beams], key=order)))


def _is_finished(path: Path, group: Sequence[Path]) -> bool:
    """Return whether no expansion of a path answers the query better than the path itself (eq. 7)."""
    return bool(path.steps) and all(path.scores.sufficiency >= p.scores.sufficiency for p in group)


def continuations(path: Path, group: Sequence[Path], inferred: Sequence[Path]) -> list[Path]:
    """Return what follows a path in the next step: its reliable expansions, and the best of the rest and the guesses.

    None of its expansions follows a finished path.
    """

    def improves(extension: Path) -> bool:
        return not path.steps or extension.scores.sufficiency > path.scores.sufficiency  # eq. 8

    better = [] if _is_finished(path, group) else [p for p in group if improves(p)]
    rest = [p for p in better if not is_reliable(p.scores)] + [p for p in inferred if improves(p)]
    rest = sorted(rest, key=order)[: counterfactual_budget([p.scores for p in group])]
    return [p for p in better if is_reliable(p.scores)] + rest


def order(path: Path) -> tuple[float, float, float, int, int, tuple[str, ...]]:
    """Return the sort key that puts the best path first: S, then S_AS, S_QR, shorter, newer, id (DESIGN D34)."""
    scores = path.scores
    newest = max((step.version.since for step in path.steps), default=0)
    ids = (path.root.key, *(step.version.id for step in path.steps))
    return -scores.mean, -scores.sufficiency, -scores.relevance, len(path.steps), -newest, ids


def _expand(near: Neighbourhood, path: Path) -> list[Path]:
    """Return P′ of a path, not yet scored: the m best steps to entities that it has not visited, N_cand."""
    visited = entities_on(path, near.facts)
    new = ((step, end) for step, end, _ in near.edges(path.end, path.root.intent) if end not in visited)
    return [path.with_step(step, end) for step, end in islice(new, EXPANDED_NEIGHBOURS)]


def statement_similarity(space: Space, vector: Vector, cosines: Scores) -> Cosine:
    """Return a function from statements of facts to their similarity to a query.

    It is that of the sentence; where the view holds no vectors of sentences, that of its segment, from ``cosines``.
    """

    def cosine(assertions: Sequence[Assertion]) -> list[float]:
        rows = np.array([space.sentence_row(a.turn_id, a.sentence) for a in assertions], dtype=np.intp)
        similarity = np.zeros(len(assertions), dtype=np.float32)
        own = rows != NONE if space.sentence_vectors is not None else np.zeros(len(rows), dtype=np.bool_)
        if space.sentence_vectors is not None and own.any():
            similarity[own] = space.sentence_vectors.take(rows[own]) @ vector
        for place in np.flatnonzero(~own).tolist():
            segments = space.segments_with(assertions[place].turn_id, assertions[place].sentence)
            similarity[place] = cosines[segments].max() if segments else 0.0
        values: list[float] = similarity.tolist()
        return values

    return cosine


def no_similarity(assertions: Sequence[Assertion]) -> list[float]:
    """Return the similarity of statements to a missing query: 0 each."""
    return [0.0] * len(assertions)


def score_segments(space: Space, query: Query, paths: Sequence[Path]) -> Scores:
    """Return how strongly the paths support each segment, in [0, 1], shape ``(len(space.segments),)``.

    A segment gets the score of the best path over a fact that it states, of the paths that reach `SUFFICIENT` or
    `BRIDGED`.
    """
    scores = np.zeros(len(space.segments), dtype=np.float32)
    dated = query.time is not None and query.time.dated
    for path in paths:
        if dated and not all(step.version.stated or _is_told(space, step) for step in path.steps):
            continue  # an undated fact of documents (on dated articles 63.8 points of R@2, and 61.9 with such paths)
        bridges = len(path.steps) > 1 and path.scores.relevance >= BRIDGED
        if path.scores.sufficiency < SUFFICIENT and not bridges:
            continue
        score = path.scores.mean * path.confidence
        for step in path.steps:
            for assertion in step.via or step.version.assertions:
                for row in space.segments_with(assertion.turn_id, assertion.sentence):
                    scores[row] = max(scores[row], score)
    return scores


def _is_told(space: Space, step: Step) -> bool:
    """Return whether a fact is told in a message, which has the date of its day."""
    return any(space.turns[one.turn_id].kind != "document" for one in step.via or step.version.assertions)
