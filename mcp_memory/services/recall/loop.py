"""The loop of recall at work: the calls that it makes, and how their results change the ranking.

The room (``reconstruct/``) decides when to go on and with which calls. This module makes them and adds what they find
to the candidates of the search as further scores: the best score of all, times the strength that the loop has for a
segment, times the worth of the operator that found it (``reconstruct/loop.py``).

**Departures.** MRAgent begins with the cues of a question that match those of the graph. Here the loop begins with the
best candidates of the search, each as strong as the sixth power (`STRENGTH_EXPONENT`) of its score relative to the
best.

**Coverage** (`judge_coverage`) is how far what was found covers a query: by that the loop goes on, where nobody judges.
A step of the loop leads on from words and names that nothing covers yet. Coverage is no judgement whether the evidence
answers: a near miss shares the words of the question, and a paraphrase does not (measured on ten worlds of unseen
records: AUROC .28 for what was once made of such features). So no reply speaks of it.

Candidates cover a query if the best of them contain enough of its content, words weighted by rarity: the mean of what
one contains alone and what the best five contain together. Where the query names one speaker, only what that speaker
said counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from anyio import to_thread

from mcp_memory.domain.evidence import Coverage, RecallResult, Suggestion
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.language.questions import has_kind
from mcp_memory.language.shapes import is_prompt
from mcp_memory.language.tokens import stems
from mcp_memory.navigation.beam import no_similarity
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.loop import WORTH, LoopState, run_loop, uncovered_share
from mcp_memory.search.candidates import SIMILAR_TURNS, Candidate, CandidateSet, rank_candidates, similar_turn_scores
from mcp_memory.search.channels import SpeakerIndex
from mcp_memory.search.words import WordIndex
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.vectors import Scores
from mcp_memory.view.space import Space

WIDTH = 5
"""Candidates of the search that the loop starts from."""
FOUND = 8
"""Items that one call may find."""
STRENGTH_EXPONENT = 6
"""How fast the strength of a candidate falls with its score: the best is followed first, then what is near to it."""
FIRST = 5
"""Candidates that count, and of which one must have a value of the kind asked for."""
COVERED = 0.55
"""The share from which on the loop need not go on (measured; the point that decides most questions rightly)."""
KEPT = 5
"""Turns of the search that keep their places, so that what the loop finds does not displace what was certain."""


Dated = Mapping[str, tuple[Millis, Millis]]
"""Times that the calls of the loop found: since and until, by the id of the evidence."""


async def go_on(
    space: Space, query: Query, found: CandidateSet | None, result: RecallResult, settings: RecallSettings
) -> tuple[CandidateSet | None, Dated, RecallResult]:
    """Run the loop from the candidates of the search, unless they cover the query as they are, or it is switched off.

    A prompt of several sentences is searched for only: most of it tells what is new, so no record covers it, the calls
    find nothing more, and its best record is a bad measure of the others. (R@10 with the loop and similar turns and
    without: 92 prompts in projects 48.0 and 52.1, 73 prompts in invented worlds 86.3 and 84.8.)

    Args:
        space: the space of a view that does not change meanwhile.
        query: understood and embedded; its window, limit and turns hold for every call.
        found: the candidates of the search; None, where it found nothing, stays so.
        result: the result of the recall so far.
        settings: the settings of recall.

    Returns:
        The candidates with what the loop found, the times it found, and the result with its calls and the reason why it
        stopped.
    """
    if found is None or not settings.switches.loop or not settings.operators or is_prompt(query.text):
        return found, {}, result
    ranked, coverage = rank(space, query, found)
    if is_covered(space, query, ranked):
        return boost_candidates(space, query, found, settings, None, KEPT), {}, replace(result, stop="covered")
    strengths = [(candidate.row, candidate.score**STRENGTH_EXPONENT) for candidate in ranked]
    state = LoopState.begin(space, query, strengths, WIDTH, uncovered_share(query, coverage.missing))

    def take(step: Suggestion) -> OperatorResult:
        given = OperatorInput(space, no_similarity, window=query.window, limit=FOUND, **step.args)  # type: ignore[arg-type]
        return settings.operators[step.operator].take(given)

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
