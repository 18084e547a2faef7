"""The loop of recall at work: the calls that it makes, and how their results change the ranking.

The room (``reconstruct/``) decides when to go on and with which calls. This module makes them: it embeds the queries of
a turn in one batch, calls the operators (``mcp_memory/operators.py``), and adds what they find to the candidates of the
search as further scores. Each gives a segment the best score of all, times the strength that the loop has for the
segment, times the weight of its operator (``resources/policy.toml``). A segment that several operators found has its
score from the one for which it is strongest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from anyio import to_thread

from mcp_memory.domain.evidence import Stop, Sufficiency
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.gain.gates import sentence_weights
from mcp_memory.language import iso
from mcp_memory.language.questions import NEEDED, understand
from mcp_memory.navigation.beam import no_similarity, statement_similarity
from mcp_memory.ports import Embedder, OperatorInput, OperatorResult
from mcp_memory.reconstruct.loop import Action, Argument, LoopState, run_loop, uncovered_share
from mcp_memory.reconstruct.policy import Policy
from mcp_memory.search.candidates import SIMILAR_TURNS, Candidate, CandidateSet, rank_candidates, similar_turn_scores
from mcp_memory.search.sufficiency import has_kind_of_answer, judge_coverage
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.space import Space

WIDTH = 5
"""Candidates of the search that the loop starts from."""
FOUND = 8
"""Items that one call may find."""
TYPED = 5
"""Candidates of which one must have the type that is asked for."""
STEEPNESS = 6
"""How fast the strength of a candidate falls with its score: the best is followed first, then what is near to it."""
KEPT = 5
"""Turns of the search that keep their places, so that what the loop finds does not displace what was certain."""


@dataclass(slots=True)
class RecallLoop:
    """One run of the loop.

    Attributes:
        space: of a view that does not change meanwhile.
        query: understood and embedded; its window, limit and turns hold for every call.
        candidates: of the search.
        roots: names that facts are followed from.
        gates: of the query, by row of the sentence.
        settings: of recall.
        policy: chooses the calls.
        embedder: of the queries of calls.
        similarity: returns the cosine of vectors with each segment.
        queries: what calls ask, by text, each with its cosines.
        texts: how many were embedded.
    """

    space: Space
    query: Query
    candidates: CandidateSet
    roots: Sequence[str]
    gates: Mapping[int, float]
    settings: RecallSettings
    policy: Policy
    embedder: Embedder
    similarity: Callable[[Matrix], Awaitable[Matrix]]
    queries: dict[str, tuple[Query, Matrix]] = field(default_factory=dict)
    texts: int = 0

    async def run(self, points: Sequence[Point]) -> tuple[LoopState | None, Stop]:
        """Run the loop from the candidates of the search, and return its state with the reason why it stopped.

        Args:
            points: memory points related to the query, the most similar first.

        Returns:
            No state if the candidates suffice as they are.
        """
        ranked, coverage = rank(self.space, self.query, self.candidates)
        first = assess(self.space, self.query, [candidate.row for candidate in ranked], coverage, self.roots)
        if first.sufficient:
            return None, "sufficient"
        state = LoopState.begin(
            self.space,
            self.query,
            [(candidate.row, candidate.score**STEEPNESS) for candidate in ranked],
            WIDTH,
            roots=self.roots,
            points=points,
            uncovered=uncovered_share(self.query, first.missing),
        )
        settings, turns = self.settings.loop, self.query.max_turns
        stop = await run_loop(
            state,
            first,
            select=self.policy.actions,
            execute=self._execute,
            assess=self._assess,
            settings=settings if turns is None else replace(settings, max_turns=turns),
            clock=self.settings.clock,
        )
        return state, stop

    def _assess(self, state: LoopState) -> Sufficiency:
        boosted = boost_candidates(self.space, self.query, self.candidates, self.settings, state)
        ranked, sufficiency = rank(self.space, self.query, boosted)
        return assess(self.space, self.query, [candidate.row for candidate in ranked], sufficiency, self.roots)

    async def _execute(self, actions: Sequence[Action]) -> list[OperatorResult]:
        """Make the calls of a turn; their queries are embedded in one batch."""
        texts = dict.fromkeys(str(action.args["query"]) for action in actions if "query" in action.args)
        new = [understand(text, self.space.speakers, self.query.now) for text in texts if text not in self.queries]
        if new:
            forms = [form for query in new for form in query.forms]
            vectors = await self.embedder.embed(forms)
            self.texts += len(forms)
            cosines = await self.similarity(vectors)
            start = 0
            for query in new:
                end = start + len(query.forms)
                self.queries[query.text] = replace(query, vectors=vectors[start:end]), cosines[start:end]
                start = end
        return await to_thread.run_sync(lambda: [self._call(action) for action in actions])

    def _call(self, action: Action) -> OperatorResult:
        """Make one call; a time that it names replaces the window of the query, which bounds the ranking anyway."""
        args = dict(action.args)
        text = args.pop("query", None)
        window = _window(args.pop("since", None), args.pop("until", None)) or self.query.window
        call = OperatorInput(self.space, no_similarity, window=window, limit=FOUND, **args)  # type: ignore[arg-type]
        if isinstance(text, str):
            query, cosines = self.queries[text]
            gates = self.gates if query is self.query else {}
            call = replace(
                call,
                cosine=statement_similarity(self.space, query.vectors, cosines),
                query=query,
                weigh=sentence_weights(self.space, query.vectors, cosines, gates, window),
            )
        return self.settings.operators[action.operator](call)


def rank(space: Space, query: Query, candidates: CandidateSet | None) -> tuple[Sequence[Candidate], Sufficiency]:
    """Return the best candidates, and how far they cover the query, by which the loop decides."""
    ranked = () if candidates is None else rank_candidates(space, candidates, query.limit)
    return ranked, judge_coverage(space, query, ranked)


def assess(space: Space, query: Query, rows: Sequence[int], covered: Sufficiency, roots: Sequence[str]) -> Sufficiency:
    """Return the sufficiency of the evidence, with the answer's type taken into account and the reason if too little.

    Args:
        space: the space that the segments are in.
        query: the query that is asked.
        rows: the rows of the segments that were found, best first.
        covered: how far they cover the query.
        roots: names that the query is about.
    """
    typed = any(has_kind_of_answer(space, query, row) for row in rows[:TYPED])
    if covered.sufficient and typed:
        return covered
    parts = [f"missing: {', '.join(covered.missing)}"] if covered.missing else []
    if not typed:
        whom = f" for {', '.join(roots)}" if roots else ""
        parts.append(f"need {NEEDED.get(query.answer_type, 'an answer')}{whom}")
    return replace(covered, sufficient=False, reason="; ".join(parts) or "too little covers the question")


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
        space: of the candidates.
        query: understood and embedded.
        candidates: of the search.
        settings: of recall, with a policy.
        state: of the loop; None where the search sufficed.
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
        similar = similar_turn_scores(space, candidates, query.text, query.vectors[-1])
        boosts |= {} if similar is None else {SIMILAR_TURNS: similar}
    return candidates.boost(space, boosts, keep)


def _window(since: Argument | None, until: Argument | None) -> Window | None:
    """Return the window between two times as they are written; None if neither is given."""
    if not isinstance(since, str) and not isinstance(until, str):
        return None
    start = iso.parse(since)[0] if isinstance(since, str) else BEGINNING
    return Window(start, iso.parse(until)[1] if isinstance(until, str) else FOREVER)
