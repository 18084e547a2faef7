"""Further evidence: a judge says what it misses and where to look; memory is searched, and the judge asked again.

This is how a language model takes part in the loop of MRAgent (§3.2) and HGMem: its word on whether the evidence is
enough and its choice of the next steps are one call (DESIGN L6 and L10), and nothing is held still while it thinks.
What the steps find joins the evidence. The judge is shown only what is new and what it kept. It ends with an answer,
without a proposal of steps that were not taken, with nothing new, or after `ROUNDS`.

What no citation needs is left out again at the end, so that a reply holds what was asked for and what the answer rests
on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.answers import EvidenceSentence, Judgement
from mcp_memory.domain.evidence import Evidence, OperatorCall, Source, Suggestion
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.ports import Embedder, JudgeInput, Operator, Store
from mcp_memory.services.explore import explore
from mcp_memory.services.recall.pipeline import ask, find, recalled
from mcp_memory.services.recall.settings import RecallSettings

ROUNDS = 2
"""Times that a judge is asked again about one question."""
STEPS = 4
"""Steps that are taken in a round."""
ITEMS = 6
"""Items that one step may find."""
SEARCH = "search"
"""A step that is no operator: the raw text is looked through for other words."""


@dataclass(frozen=True, slots=True)
class Searching:
    """How the steps that a judge proposes are taken.

    Attributes:
        store: where.
        embedder: of what is searched for.
        operators: by name; none of them, and nothing else, where a judge is asked only once.
        settings: of recall.
        now: the moment of asking.
    """

    store: Store
    embedder: Embedder
    operators: Mapping[str, Operator]
    settings: RecallSettings
    now: Millis

    async def concluded(
        self,
        judge: Callable[[JudgeInput], Awaitable[Judgement]],
        case: JudgeInput,
        wanted: Query,
        gates: Mapping[str, float],
    ) -> tuple[JudgeInput, Judgement]:
        """Return what a judge comes to in the end, and the case with everything that it was shown.

        Args:
            judge: asked about what was found, and again about what its steps find.
            case: as recall found it.
            wanted: by that recall; its space and moment hold for every step.
            gates: of the sentences that are not neutral for the question, by their ids.
        """
        judgement = await judge(case)
        taken: set[tuple[str, str]] = set()
        for _ in range(ROUNDS):
            steps = [step for step in judgement.next if (step.operator, str(step.args)) not in taken][:STEPS]
            if judgement.proposal is not None or not steps:
                break
            taken |= {(step.operator, str(step.args)) for step in steps}
            wider = await self._widened(case, steps, wanted, gates)
            if len(wider.sentences) == len(case.sentences):
                # Nothing new to judge: what the steps found is left out, that they were taken is not.
                case = replace(case, recall=replace(wider.recall, evidence=case.recall.evidence))
                break
            case = replace(wider, earlier=judgement, seen=judgement.left.union(case.seen))
            judgement = await judge(case)
        return case, judgement

    async def _widened(
        self, case: JudgeInput, steps: Sequence[Suggestion], wanted: Query, gates: Mapping[str, float]
    ) -> JudgeInput:
        """Return a case with what the steps find as well, the new before the old."""
        recall = case.recall
        known = {place(one.source) for one in case.sentences}
        shown = {item.id for item in recall.evidence}
        fresh: list[EvidenceSentence] = []
        trace = list(recall.trace)
        for step in steps:
            items = await self._taken(step, wanted)
            found = [one for one in await self._sentences(items, wanted.space, gates) if place(one.source) not in known]
            known |= {place(one.source) for one in found}
            fresh += found
            new = [item for item in items if item.id not in shown]
            shown |= {item.id for item in new}
            recall = replace(recall, evidence=(*recall.evidence, *new))
            trace.append(OperatorCall(recall.turns + 1, step.operator, step.args, len(items), len(new)))
        recall = replace(recall, trace=tuple(trace), turns=recall.turns + 1, stop=recall.stop or "exhausted")
        return replace(case, recall=recall, sentences=[*fresh, *case.sentences])

    async def _taken(self, step: Suggestion, wanted: Query) -> Sequence[Evidence]:
        """Return what one step finds; nothing for one that cannot be taken."""
        given = {name: value for name, value in step.args.items() if isinstance(value, str)}
        if step.operator != SEARCH:
            request = ExploreRequest(wanted.space, step.operator, entity=given.get("entity"), limit=ITEMS)
            try:
                found = await explore(self.store, self.embedder, self.operators, request, now=self.now)
            except InvalidInput:  # no such operator, or not these arguments
                return ()
            return found.items
        query = given["query"]
        asked = await ask(self.store, self.embedder, wanted.space, query, self.now)
        once = replace(self.settings, policy=None)  # the judge is the one that goes on
        look = replace(wanted, text=query, limit=ITEMS)
        async with self.store.reading() as view:
            space = view.space(wanted.space)
            findings = await find(self.store, self.embedder, space, asked, look, once, self.now)
            recall, _ = recalled(space, asked.question, findings, look, self.now)
        return recall.evidence

    async def _sentences(
        self, items: Sequence[Evidence], name: str, gates: Mapping[str, float]
    ) -> list[EvidenceSentence]:
        """Return the sentences that items consist of or rest on, in order, each once."""
        found: dict[tuple[str, int], EvidenceSentence] = {}
        async with self.store.reading() as view:
            space = view.space(name)
            for item in items:
                for source in item.sources:
                    for row in space.sentences_of(source.turn.id):
                        piece = space.sentences[row]
                        if piece.start < source.end and source.start < piece.end:
                            span = Source(source.turn, piece.start, piece.end)
                            gate = gates.get(piece.id, 1.0)
                            one = EvidenceSentence(item.id, span, piece.times, item.score, None, gate)
                            found.setdefault(place(span), one)
        return list(found.values())


def place(source: Source) -> tuple[str, int]:
    """Return what tells a sentence of the evidence from others."""
    return source.turn.id, source.start


def rested(case: JudgeInput, judgement: Judgement, first: int) -> JudgeInput:
    """Return a case without the further evidence that no citation needs.

    Args:
        case: with all evidence.
        judgement: of it.
        first: how many items recall itself had found; they stay.
    """
    cited = {one.evidence_id for one in judgement.proposal.citations} if judgement.proposal else set()
    items = case.recall.evidence
    kept = (*items[:first], *(item for item in items[first:] if item.id in cited))
    return replace(case, recall=replace(case.recall, evidence=kept))
