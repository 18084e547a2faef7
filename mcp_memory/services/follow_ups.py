"""Follow-ups of a judge: it is asked, the steps that it chooses are taken, and it is asked again with what they found.

This is MRAgent's active reconstruction (§3.2) with a language model as f_select and f_route: the state that it is shown
holds the question, the evidence that it kept, what was tried and what was missing; its reply routes the evidence (what
it does not name is dropped), judges whether it suffices (C_LLM), and selects up to `STEPS_A_ROUND` operators for the
next turn. So what the papers ask a model separately is one request a turn (DESIGN L6 and L10). It ends with a complete
answer, when no step is proposed that was not taken, when nothing new is found, or after as many follow-ups as the judge
has (``engine.effort``).

**Departures.** Of MRAgent's state the active set Z, what the evidence leads on to, is not shown: with its tags and
topics no gain was measured (docs/RESULTS.md). The judge names cues of what it reads.

**Working memory** (HGMem §3.4, §3.5). For a question that compares things or sums up, and for a full answer, a
judgement also says what becomes of its memory points (``hypergraph/evolution.py``). A concern about a point is a local
investigation, one beyond all points a global exploration; both are steps of the next turn. The points lead the next
request, each with what it rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from mcp_memory.domain.answers import EvidenceSentence, Judgement
from mcp_memory.domain.evidence import Evidence, OperatorCall, Source, StepKey, Suggestion
from mcp_memory.domain.points import scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.domain.turns import by_assistant
from mcp_memory.errors import InvalidInput
from mcp_memory.hypergraph.evolution import asks_to_compare, evolve_points
from mcp_memory.language.questions import asks_for_advice
from mcp_memory.ports import Embedder, JudgeInput, QuestionJudge, Store
from mcp_memory.search.evidence import point_sentences
from mcp_memory.services.explore import explore
from mcp_memory.services.learn.episodes import cited_sentences
from mcp_memory.services.recall.loop import RecallSettings
from mcp_memory.services.recall.passages import passages_of
from mcp_memory.services.recall.pipeline import embed_query, find

STEPS_A_ROUND = 4
"""Steps of a judge that are taken before it is asked again, and"""
CONCERN_STEPS = 2
"""steps beside them for what is still open about its memory points."""
STEP_ITEMS = 6
"""Items that one step may find."""
SEARCH = "search"
"""A step that is no operator: the raw text is searched for other words."""


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Asks one judge about one query, and again about what the steps that it chooses find.

    Attributes:
        store: the store where its steps are taken.
        embedder: the embedder of what it has searched.
        settings: the settings of recall.
        judge: asked about what was found, and again about what its steps find.
    """

    store: Store
    embedder: Embedder
    settings: RecallSettings
    judge: QuestionJudge

    async def ask(self, asked: JudgeInput) -> tuple[JudgeInput, Judgement]:
        """Return what the judge decides in the end, and everything that it was shown, with its points."""
        asked = await self._prepared(self._begin(asked))
        judgement = await self.judge.judge(asked)
        taken: set[StepKey] = set()
        turns = 0
        while self.settings.switches.loop and turns < self.judge.follow_ups:
            turns += 1
            asked, concerns = await self._with_points(asked, judgement)
            steps = _steps_not_taken(judgement.next, taken, STEPS_A_ROUND) + _steps_not_taken(
                concerns, taken, CONCERN_STEPS
            )
            seen = judgement.left.union(asked.seen)
            shown = seen.union(_place(one.source) for one in judgement.kept)
            wider = await self._take(asked, steps, shown)
            if list(wider.sentences) == list(asked.sentences):
                # Nothing new to judge: what the steps found is left out, that they were taken is not.
                return replace(asked, recall=replace(wider.recall, evidence=asked.recall.evidence)), judgement
            asked = replace(wider, earlier=judgement, seen=seen, last=turns >= self.judge.follow_ups)
            asked = await self._prepared(asked)
            judgement = await self.judge.judge(asked)
        asked, _ = await self._with_points(asked, judgement)
        return asked, judgement

    def _begin(self, asked: JudgeInput) -> JudgeInput:
        """Return the input with the stored points of this very question as its working memory."""
        relates = self.settings.switches.points and (asked.query.length == "full" or asks_to_compare(asked.query))
        scope, points = scope_of(asked.query.text).casefold(), asked.recall.points
        own = tuple(point for point in points if point.scope.casefold() == scope)
        recall = replace(asked.recall, points=(*own, *(point for point in points if point not in own)))
        return replace(asked, relates=relates, working=own, recall=recall)

    async def _prepared(self, asked: JudgeInput) -> JudgeInput:
        """Return the input with the passages that a language model is shown."""
        missing = asked.earlier.missing if asked.earlier else ()
        async with self.store.reading() as view:
            space = view.space(asked.query.space)
            passages = passages_of(space, asked.query, asked.sentences, asked.recall.evidence, asked.gates, missing)
        return replace(asked, passages=passages)

    async def _with_points(self, asked: JudgeInput, judgement: Judgement) -> tuple[JudgeInput, list[Suggestion]]:
        """Return the input with the points as a judgement leaves them, and the steps that its concerns ask for."""
        if not asked.relates:
            return asked, []
        query = asked.query
        async with self.store.reading() as view:
            space = view.space(query.space)
            own, others, concerns = evolve_points(
                asked.working,
                asked.recall.points[len(asked.working) :],
                judgement.points,
                space=space.name,
                scope=scope_of(query.text),
                at=query.now,
                cited=lambda citations: cited_sentences(space, citations),
                merging=self.settings.switches.merge,
            )
            texts = {point.id: point_sentences(space, point, asked.gates) for point in (*own, *others)}
        steps = [Suggestion("local_points", {"ids": (point.id,), "query": text}) for point, text in concerns]
        steps += [Suggestion("global_points", {"query": judgement.beyond})] if judgement.beyond else []
        recall = replace(asked.recall, points=(*own, *others))
        return replace(asked, recall=recall, working=tuple(own), point_sentences=texts), steps

    async def _take(self, asked: JudgeInput, steps: Sequence[Suggestion], shown: Collection[Hashable]) -> JudgeInput:
        """Return the input of a judge with what its steps find first, as far as it was not ``shown`` before.

        The best of each step come before the second best of any, so that every step is seen where the room ends.
        """
        if not steps:
            return asked
        result = asked.recall
        known, ids = set(shown), {item.id for item in result.evidence}
        fresh: list[tuple[bool, int, list[EvidenceSentence]]] = []  # of each item: whether it comes later, and its rank
        wants_advice = asks_for_advice(asked.query.text)  # else an assistant's words come later
        trace = list(result.trace)
        for step in steps:
            items = await self._take_one(asked, step)
            if items is None:
                continue
            for rank, item in enumerate(items):
                sentences = await self._sentences_of(asked.query.space, [item], asked.gates)
                found = [sentence for sentence in sentences if _place(sentence.source) not in known]
                if found:
                    known |= {_place(sentence.source) for sentence in found}
                    fresh.append((by_assistant(found[0].source.turn) and not wants_advice, rank, found))
            new = [item for item in items if item.id not in ids]
            ids |= {item.id for item in new}
            result = replace(result, evidence=(*result.evidence, *new))
            trace.append(OperatorCall(result.turns + 1, step.operator, step.args, len(items), len(new)))
        first = [sentence for *_, found in sorted(fresh, key=lambda one: one[:2]) for sentence in found]
        places = {_place(sentence.source) for sentence in first}
        rest = [sentence for sentence in asked.sentences if _place(sentence.source) not in places]
        result = replace(result, trace=tuple(trace), turns=result.turns + 1, stop=result.stop or "exhausted")
        return replace(asked, recall=result, sentences=[*first, *rest])

    async def _take_one(self, asked: JudgeInput, step: Suggestion) -> Sequence[Evidence] | None:
        """Return what one step finds in the space of a query; None if it cannot be taken."""
        query = asked.query
        if step.operator == SEARCH:
            return await self._search(query, str(step.args["query"]))
        request = ExploreRequest(query.space, step.operator, limit=STEP_ITEMS, **step.args)  # type: ignore[arg-type]
        try:
            found = await explore(
                self.store,
                self.embedder,
                self.settings,
                request,
                now=query.now,
                offset=query.offset,
                working=asked.working,
            )
        except InvalidInput:  # no such operator, or not these arguments
            return None
        return found.items

    async def _search(self, query: Query, text: str) -> Sequence[Evidence]:
        search = Query(
            text, query.space, STEP_ITEMS, query.window, query.as_of, query.entities, role=query.role,
            include_uncertain=query.include_uncertain, now=query.now, offset=query.offset,
        )  # fmt: skip
        search = await embed_query(self.store, self.embedder, search)
        async with self.store.reading() as view:  # without the loop: the judge is the one that goes on
            result = (await find(self.embedder, view, search, replace(self.settings, operators={}))).result
            return result.evidence

    async def _sentences_of(
        self, space_name: str, items: Iterable[Evidence], gates: Mapping[str, float]
    ) -> list[EvidenceSentence]:
        """Return the sentences that items consist of or rest on, in order, each once."""
        found: dict[tuple[str, int], EvidenceSentence] = {}
        async with self.store.reading() as view:
            space = view.space(space_name)
            for item in items:
                for source in item.sources:
                    for row in space.sentences.overlapping(source.turn.id, source.start, source.end):
                        piece = space.sentences[row]
                        span = Source(source.turn, piece.start, piece.end)
                        gate = gates.get(piece.id, 1.0)
                        sentence = EvidenceSentence(item.id, span, gate)
                        found.setdefault(_place(span), sentence)
        return list(found.values())


def _steps_not_taken(steps: Iterable[Suggestion], taken: set[StepKey], most: int) -> list[Suggestion]:
    """Return the first ``most`` steps that were not taken yet, and count them as taken."""
    fresh = {step.key: step for step in steps if step.key not in taken}
    first = dict(islice(fresh.items(), most))
    taken |= first.keys()
    return list(first.values())


def _place(source: Source) -> tuple[str, int]:
    """Return what distinguishes a sentence of the evidence from others."""
    return source.turn.id, source.start
