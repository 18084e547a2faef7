"""The loop of recall at work: the calls that it makes, and how their results change the ranking.

The room (``reconstruct/``) decides when to go on and with which calls. This module makes them: it embeds the queries of
a turn in one batch, calls the operators (``mcp_memory/operators.py``), and adds what they find to the candidates of the
search as further scores. Each gives a segment the best score of all, times the strength that the loop has for the
segment, times the weight of its operator (``resources/policy.toml``). A segment that several operators found has its
score from the one for which it is strongest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from anyio import to_thread

from mcp_memory.domain.evidence import Coverage, RecallResult
from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.gain.gates import sentence_weights
from mcp_memory.language import iso
from mcp_memory.language.questions import understand
from mcp_memory.navigation.beam import no_similarity, statement_similarity
from mcp_memory.ports import Embedder, OperatorInput, OperatorResult, Store
from mcp_memory.reconstruct.loop import Action, Argument, LoopState, run_loop, uncovered_share
from mcp_memory.search.candidates import SIMILAR_TURNS, Candidate, CandidateSet, rank_candidates, similar_turn_scores
from mcp_memory.search.channels import similarities
from mcp_memory.search.coverage import assess, judge_coverage
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
    store: Store,
    embedder: Embedder,
    space: Space,
    query: Query,
    cosines: Scores,
    found: CandidateSet,
    gates: Mapping[int, float],
    result: RecallResult,
    settings: RecallSettings,
) -> tuple[CandidateSet, Dated, RecallResult]:
    """Run the loop from the candidates of the search, unless they cover the query as they are, or it is switched off.

    Args:
        store: asked for what is nearest if the view holds no vectors.
        embedder: the embedder of the queries of calls.
        space: the space of a view that does not change meanwhile.
        query: understood and embedded; its window, limit and turns hold for every call.
        cosines: its cosine with each segment.
        found: the candidates of the search.
        gates: the gates of the query, by row of the sentence.
        result: the result of the recall so far.
        settings: the settings of recall; its policy chooses the calls.

    Returns:
        The candidates with what the loop found, the times it found, and the result with its calls and the reason why it
        stopped.
    """
    if settings.policy is None:
        return found, {}, result
    roots = [root.name for root in result.roots if not root.soft]

    def covered(candidates: CandidateSet) -> tuple[Sequence[Candidate], Coverage]:
        ranked, coverage = rank(space, query, candidates)
        return ranked, assess(space, query, [candidate.row for candidate in ranked], coverage, roots)

    ranked, first = covered(found)
    if first.whole:
        return boost_candidates(space, query, found, settings, None, KEPT), {}, replace(result, stop="covered")
    state = LoopState.begin(
        space,
        query,
        [(candidate.row, candidate.score**STEEPNESS) for candidate in ranked],
        WIDTH,
        roots=roots,
        points=result.points,
        uncovered=uncovered_share(query, first.missing),
    )
    asked, turns = {query.text: (query, cosines)}, query.max_turns
    stop = await run_loop(
        state,
        first,
        select=settings.policy.actions,
        execute=partial(_execute, store, embedder, space, query, gates, asked, settings),
        assess=lambda state: covered(boost_candidates(space, query, found, settings, state))[1],
        settings=settings.loop if turns is None else replace(settings.loop, max_turns=turns),
        clock=settings.clock,
    )
    texts = result.texts + len(asked) - 1
    result = replace(result, stop=stop, texts=texts, trace=tuple(state.trace), turns=state.turns)
    return boost_candidates(space, query, found, settings, state, KEPT), state.dated, result


async def _execute(
    store: Store,
    embedder: Embedder,
    space: Space,
    query: Query,
    gates: Mapping[int, float],
    asked: dict[str, tuple[Query, Scores]],
    settings: RecallSettings,
    actions: Sequence[Action],
) -> list[OperatorResult]:
    """Make the calls of a turn; their queries are embedded in one batch and added to ``asked``, with their cosines."""
    texts = dict.fromkeys(str(action.args["query"]) for action in actions if "query" in action.args)
    new = [understand(text, space.speakers, query.local_now) for text in texts if text not in asked]
    if new:
        vectors = await embedder.embed([one.text for one in new])
        cosines = await similarities(store, space, vectors)
        for row, one in enumerate(new):
            asked[one.text] = replace(one, vector=vectors[row]), cosines[row]
    return await to_thread.run_sync(lambda: [_call(space, query, gates, asked, settings, one) for one in actions])


def _call(
    space: Space,
    query: Query,
    gates: Mapping[int, float],
    asked: Mapping[str, tuple[Query, Scores]],
    settings: RecallSettings,
    action: Action,
) -> OperatorResult:
    """Make one call; a time that it names replaces the window of the query, which bounds the ranking anyway."""
    args = dict(action.args)
    text = args.pop("query", None)
    window = _window(args.pop("since", None), args.pop("until", None)) or query.window
    call = OperatorInput(space, no_similarity, window=window, limit=FOUND, **args)  # type: ignore[arg-type]
    if isinstance(text, str):
        own, cosines = asked[text]
        call = replace(
            call,
            cosine=statement_similarity(space, own.vector, cosines),
            query=own,
            weigh=sentence_weights(space, own.vector, cosines, gates if own is query else {}, window),
        )
    return settings.operators[action.operator](call)


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
        settings: the settings of recall, with a policy.
        state: the state of the loop; None where the search covered the query.
        keep: see above.
    """
    best = float(candidates.total.max())
    boosts: dict[str, Scores] = {}
    worths = settings.policy.worths if settings.policy else {}
    for item in state.found.values() if state else ():
        if item.via and (weight := worths.get(item.via)) is not None:
            share = weight.talk if space.talk[item.row] else weight.document
            scores = boosts.setdefault(item.via, np.zeros(len(space.segments), dtype=np.float32))
            scores[item.row] = best * share * item.strength**weight.steepness
    if keep and settings.search.alike:
        similar = similar_turn_scores(space, candidates, query.text, query.vector)
        boosts |= {} if similar is None else {SIMILAR_TURNS: similar}
    return candidates.boost(space, boosts, keep)


def _window(since: Argument | None, until: Argument | None) -> Window | None:
    """Return the window between two times as they are written; None if neither is given."""
    if not isinstance(since, str) and not isinstance(until, str):
        return None
    start = iso.parse(since)[0] if isinstance(since, str) else BEGINNING
    return Window(start, iso.parse(until)[1] if isinstance(until, str) else FOREVER)
