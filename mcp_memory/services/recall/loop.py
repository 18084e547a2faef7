"""The loop of recall at work: the calls that it makes, and how their results change the ranking.

The room (``reconstruct/``) decides when to go on and with which calls. This module makes them and adds what they find
to the candidates of the search as further scores: the best score of all, times the strength that the loop has for a
segment, times the worth of the operator that found it (``reconstruct/loop.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from anyio import to_thread

from mcp_memory.domain.evidence import Coverage, RecallResult
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.language.shapes import is_prompt
from mcp_memory.navigation.beam import no_similarity
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.loop import WORTH, Action, LoopState, run_loop, uncovered_share
from mcp_memory.search.candidates import SIMILAR_TURNS, Candidate, CandidateSet, rank_candidates, similar_turn_scores
from mcp_memory.search.coverage import is_covered, judge_coverage
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.vectors import Scores
from mcp_memory.view.space import Space

WIDTH = 5
"""Candidates of the search that the loop starts from."""
FOUND = 8
"""Items that one call may find."""
STEEPNESS = 6
"""How fast the strength of a candidate falls with its score: the best is followed first, then what is near to it."""
KEPT = 5
"""Turns of the search that keep their places, so that what the loop finds does not displace what was certain."""


Dated = Mapping[str, tuple[Millis, Millis]]
"""Times that the calls of the loop found: since and until, by the id of the evidence."""


async def go_on(
    space: Space, query: Query, found: CandidateSet, result: RecallResult, settings: RecallSettings
) -> tuple[CandidateSet, Dated, RecallResult]:
    """Run the loop from the candidates of the search, unless they cover the query as they are, or it is switched off.

    A prompt of several sentences is searched for only: most of it tells what is new, so no record covers it, the calls
    find nothing more, and its best record is a bad measure of the others. (R@10 with the loop and similar turns and
    without: 92 prompts in projects 48.0 and 52.1, 73 prompts in invented worlds 86.3 and 84.8.)

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood and embedded; its window, limit and turns hold for every call.
        found: the candidates of the search.
        result: the result of the recall so far.
        settings: the settings of recall.

    Returns:
        The candidates with what the loop found, the times it found, and the result with its calls and the reason why it
        stopped.
    """
    if not settings.switches.loop or not settings.operators or is_prompt(query.text):
        return found, {}, result
    ranked, coverage = rank(space, query, found)
    if is_covered(space, query, ranked):
        return boost_candidates(space, query, found, settings, None, KEPT), {}, replace(result, stop="covered")
    strengths = [(candidate.row, candidate.score**STEEPNESS) for candidate in ranked]
    state = LoopState.begin(space, query, strengths, WIDTH, uncovered_share(query, coverage.missing))

    def take(action: Action) -> OperatorResult:
        given = OperatorInput(space, no_similarity, window=query.window, limit=FOUND, **action.args)  # type: ignore[arg-type]
        return settings.operators[action.operator].take(given)

    def covered(state: LoopState) -> bool:
        boosted = boost_candidates(space, query, found, settings, state)
        return is_covered(space, query, rank_candidates(space, boosted, query.limit))

    limits = settings.loop if query.max_turns is None else replace(settings.loop, max_turns=query.max_turns)
    # In a thread: the first call that walks cues reads every sentence.
    stop = await to_thread.run_sync(lambda: run_loop(state, take, covered, limits, tags=settings.switches.tags))
    result = replace(result, stop=stop, trace=tuple(state.trace), turns=state.turns)
    return boost_candidates(space, query, found, settings, state, KEPT), state.dated, result


def rank(space: Space, query: Query, candidates: CandidateSet | None) -> tuple[Sequence[Candidate], Coverage]:
    """Return the best candidates, and how far they cover the query, by which the loop decides."""
    ranked = () if candidates is None else rank_candidates(space, candidates, query.limit)
    return ranked, judge_coverage(space, query, ranked)


def boost_candidates(
    space: Space,
    query: Query,
    candidates: CandidateSet,
    settings: RecallSettings,
    state: LoopState | None,
    keep: int = 0,
) -> CandidateSet:
    """Return the candidates with what the loop found; the best ``keep`` turns of the search keep their places.

    If any are kept, similar turns are boosted as well (``search/candidates.py``).

    Args:
        space: the space of the candidates.
        query: understood and embedded.
        candidates: the candidates of the search.
        settings: the settings of recall.
        state: the state of the loop; None where the search covered the query.
        keep: see above.
    """
    best = float(candidates.total.max())
    boosts: dict[str, Scores] = {}
    for operator, strengths in state.brought.items() if state else ():
        if operator in WORTH:
            boosts[operator] = np.zeros(len(space.segments), dtype=np.float32)
            boosts[operator][list(strengths)] = best * WORTH[operator] * np.array(list(strengths.values()))
    if keep and settings.switches.alike:
        similar = similar_turn_scores(space, candidates, query.text, query.vector)
        boosts |= {} if similar is None else {SIMILAR_TURNS: similar}
    return candidates.boost(space, boosts, keep)
