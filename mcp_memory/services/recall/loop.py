"""The active walk at work: what it calls, how it judges, and how what it finds joins the ranking.

The room (``reconstruct/``) knows when to go on and with what. Here its calls are made: the texts of a turn are embedded
in one batch, the operators (``mcp_memory/operators.py``) are called, and what they find joins the first look as further
channels. Each gives a segment the best score of all times the strength with which it is held times what its operator
counts (``resources/policy.toml``); a segment that several found has it from the one that holds it most strongly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from anyio import to_thread

from mcp_memory.domain.evidence import OperatorCall, Stop, Sufficiency
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.gain.gates import sentence_weights
from mcp_memory.language import iso
from mcp_memory.language.questions import understand
from mcp_memory.ports import Embedder, OperatorInput, OperatorResult, Store
from mcp_memory.reconstruct.assess import assess, uncovered_share
from mcp_memory.reconstruct.loop import Action, Argument, LoopState, run_loop
from mcp_memory.reconstruct.policy import Policy
from mcp_memory.reconstruct.settings import LoopSettings
from mcp_memory.search.candidates import Candidate, CandidateSet, rank_candidates
from mcp_memory.search.similar_turns import NAME, similar_turn_scores
from mcp_memory.search.sufficiency import judge_sufficiency
from mcp_memory.services.recall.facts import cosine_of
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.similarity import cosines
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.space import Space

ACTIVE = 5
"""Segments of the first look that a walk goes on from."""
FOUND = 8
"""Items that one call may find."""
STEEPNESS = 6
"""How fast what a walk goes on from weakens with its score: the best is followed first, then what is near to it."""
KEPT = 5
"""Turns of the first look that keep their places, so that what is found on the way costs nothing of what was sure."""


@dataclass(frozen=True, slots=True)
class Walk:
    """How a walk went.

    Attributes:
        stop: why it ended.
        trace: its calls.
        turns: that it took.
        texts: that were embedded for it.
        dated: what it learnt the time of: since and until, by the id of the evidence.
    """

    stop: Stop
    trace: tuple[OperatorCall, ...]
    turns: int
    texts: int
    dated: Mapping[str, tuple[Millis, Millis]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lens:
    """Through which an operator sees a space: a query with its vectors, their cosines and the gates of sentences."""

    question: Query
    vectors: Matrix
    likeness: Matrix
    gates: Mapping[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class Walker:
    """One walk.

    Attributes:
        store: asked for what is nearest where the view holds no vectors.
        embedder: of what is asked on the way.
        request: its window, limit and turns hold for every call.
        settings: of recall.
        policy: what it does next.
        space: of a view that does not change meanwhile.
        query: understood with the speakers of the space.
        roots: names that facts are followed from.
        points: memory points related to the query.
        candidates: of the search.
        lenses: by the query; the question itself is there from the beginning.
        now: the moment of asking.
    """

    store: Store
    embedder: Embedder
    request: Query
    settings: RecallSettings
    policy: Policy
    space: Space
    query: Query
    roots: Sequence[str]
    points: Sequence[Point]
    candidates: CandidateSet
    lenses: dict[str, Lens]
    now: Millis
    _texts: int = 0

    async def walk(self) -> tuple[Sequence[Candidate], Sufficiency, Walk]:
        """Return the hits after the walk, what is thought of them, and how it went; without a turn those there were."""
        hits, judgement = self._judged(self.candidates)
        assessment = self._assessed(hits, judgement)
        strengths = [(hit.row, hit.score**STEEPNESS) for hit in hits]
        uncovered = uncovered_share(self.query, judgement.missing)
        state = LoopState.begin(
            self.space, self.query, strengths, ACTIVE, roots=self.roots, points=self.points, uncovered=uncovered
        )
        stop = await run_loop(
            state,
            assessment,
            select=self.policy.actions,
            execute=self._execute,
            assess=lambda state: self._assessed(*self._judged(self._joined(state))),
            settings=self.bounds,
            clock=self.settings.clock,
        )
        hits, judgement = self._judged(self._joined(state, KEPT))
        return hits, judgement, Walk(stop, tuple(state.trace), state.turns, self._texts, state.dated)

    @property
    def bounds(self) -> LoopSettings:
        """What the settings allow, with the turns of the request where it says how many."""
        settings, turns = self.settings.loop, self.request.max_turns
        return settings if turns is None else replace(settings, max_turns=turns)

    def _judged(self, candidates: CandidateSet) -> tuple[Sequence[Candidate], Sufficiency]:
        hits = rank_candidates(self.space, candidates, self.request.limit)
        return hits, judge_sufficiency(self.space, self.query, hits)

    def _assessed(self, hits: Sequence[Candidate], judgement: Sufficiency) -> Sufficiency:
        return assess(self.space, self.query, [hit.row for hit in hits], judgement, self.roots)

    def _joined(self, state: LoopState, first: int = 0) -> CandidateSet:
        """Return the first look with what the walk found, the best few of it in their places."""
        space, best = self.space, float(self.candidates.total.max())
        given: dict[str, Scores] = {}
        for held in state.found.values():
            if held.via and (worth := self.policy.worths.get(held.via)) is not None:
                share = worth.talk if space.talk[held.row] else worth.document
                channel = given.setdefault(held.via, np.zeros(len(space.segments), dtype=np.float32))
                channel[held.row] = best * share * held.strength**worth.steepness
        if first and self.settings.reflection.enabled:
            question = self.query
            vector = self.lenses[question.text].vectors[-1]
            gained = similar_turn_scores(space, self.candidates, question.text, vector)
            given |= {} if gained is None else {NAME: gained}
        return self.candidates.boost(space, given, first)

    async def _execute(self, actions: Sequence[Action]) -> list[OperatorResult]:
        """Make the calls of a turn."""
        await self._look_through(
            dict.fromkeys(str(action.args["query"]) for action in actions if "query" in action.args)
        )
        return await to_thread.run_sync(lambda: [self._call(action) for action in actions])

    async def _look_through(self, texts: Mapping[str, None]) -> None:
        """Make a lens of each query that has none yet, all of them embedded at once."""
        space = self.space
        asked = {text: understand(text, space.speakers, self.now) for text in texts if text not in self.lenses}
        if not asked:
            return
        forms = [form for question in asked.values() for form in question.forms]
        vectors = await self.embedder.embed(forms)
        self._texts += len(forms)
        likeness = await cosines(self.store, space, vectors)
        start = 0
        for text, question in asked.items():
            end = start + len(question.forms)
            self.lenses[text] = Lens(question, vectors[start:end], likeness[start:end])
            start = end

    def _call(self, action: Action) -> OperatorResult:
        """Make one call; a time that it names stands in for the request's window, which bounds the ranking anyway."""
        given = dict(action.args)
        query = given.pop("query", None)
        space, window = self.space, _window(given.pop("since", None), given.pop("until", None))
        step = OperatorInput(space, _unlike, window=window or self.request.window, limit=FOUND, **given)  # type: ignore[arg-type]
        if isinstance(query, str):
            lens = self.lenses[query]
            step = replace(
                step,
                cosine=cosine_of(space, lens.vectors, lens.likeness),
                query=lens.question,
                weigh=sentence_weights(space, lens.vectors, lens.likeness, lens.gates, step.window),
            )
        return self.settings.operators[action.operator](step)


def _window(since: Argument | None, until: Argument | None) -> Window | None:
    """Return the window between two times as they are written; None where neither is given."""
    if not isinstance(since, str) and not isinstance(until, str):
        return None
    start = iso.parse(since)[0] if isinstance(since, str) else BEGINNING
    return Window(start, iso.parse(until)[1] if isinstance(until, str) else FOREVER)


def _unlike(assertions: Sequence[Assertion]) -> list[float]:
    """Return the likeness of assertions to a query that was not given."""
    return [0.0] * len(assertions)
