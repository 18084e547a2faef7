"""Who judges: Claude where the settings want it and it can, else the embedded engine, which says so.

About an answer the embedded engine is asked first, which takes milliseconds: with ``auto`` its judgement stands where
it is sure, and it is what remains where Claude cannot be asked or says nothing usable. So it is with every other step
of a question. That is never silent: a warning gives the reason. Where Claude has judged before and only the further
evidence was not judged, what it said before stands.

Who makes the memory points of a goal: Claude where the settings want it and it can, else nobody here.

Each call has a budget of its own, for both of its steps. Where Claude says nothing usable, a warning gives the reason,
and the embedded way is taken for that step (what is alike is merged), after the first of them for both (what belongs
together is grouped too; ``services/points/organise.py``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mcp_memory.domain.answers import Judgement
from mcp_memory.domain.evidence import Engine, RecallResult
from mcp_memory.domain.paths import Path, PathScores
from mcp_memory.domain.points import PointJudgeInput, PointProposals
from mcp_memory.domain.query import Query
from mcp_memory.domain.spending import Spending
from mcp_memory.domain.times import Millis
from mcp_memory.errors import EngineError
from mcp_memory.ports import JudgeInput, QuestionJudge
from mcp_memory.reasoning.anthropic.answer import ClaudeAnswerer
from mcp_memory.reasoning.anthropic.client import Budget, BudgetLimits
from mcp_memory.reasoning.anthropic.paths import ClaudePathScorer
from mcp_memory.reasoning.anthropic.points import ClaudePointMaker
from mcp_memory.reasoning.anthropic.understanding import ClaudeQuestionReader


@dataclass(frozen=True, slots=True)
class QuestionJudgeSetup:
    """Whom to ask, and when.

    Attributes:
        embedded: judges without a language model.
        claude: judges with one.
        when: Claude is asked always (``anthropic``) or where the embedded judgement is unsure (``auto``).
        sure: confidence of an embedded proposal from which on it stands, with ``auto``, unless it is hedged.
        allowance: of one question.
        reader: says what a question means, with ``anthropic`` alone; None leaves that to its words.
        paths: scores the paths through facts, with ``anthropic`` alone; None leaves that to the formulas.
    """

    embedded: QuestionJudge
    claude: ClaudeAnswerer
    when: Literal["auto", "anthropic"]
    sure: float
    allowance: BudgetLimits
    reader: ClaudeQuestionReader | None = None
    paths: ClaudePathScorer | None = None


class ClaudeQuestionJudge:
    """One question, about which Claude is asked or not; fulfils `ports.QuestionJudge`."""

    def __init__(self, judges: QuestionJudgeSetup) -> None:
        self._judges = judges
        self._budget = Budget(judges.allowance)
        self._asked = False
        self._undone: dict[str, list[str]] = {}  # what Claude did not do, by the reason
        self._after = ""

    @property
    def scores_paths(self) -> bool:
        """See `ports.QuestionJudge`; with ``auto`` nobody knows yet whether it is worth a call."""
        return self._judges.paths is not None and self._judges.when == "anthropic"

    @property
    def warnings(self) -> tuple[str, ...]:
        """See `ports.QuestionJudge`; several steps that failed for one reason are told in one."""
        warnings = [
            f"Claude did not {' and did not '.join(steps)}, the embedded engine did: {reason}."
            for reason, steps in self._undone.items()
        ]
        return (*warnings, self._after) if self._after else tuple(warnings)

    @property
    def spent(self) -> Spending | None:
        """See `ports.QuestionJudge`."""
        return self._budget.spent if self._asked else None

    async def understand(self, query: Query, speakers: Collection[str], now: Millis) -> Query:
        """See `ports.QuestionJudge`; with ``auto`` nobody knows yet whether it is worth a call."""
        reader = self._judges.reader
        if reader is None or self._judges.when != "anthropic" or not query.stems:
            return query
        self._asked = True
        try:
            return await reader.understand(query, speakers, now, self._budget)
        except EngineError as error:
            self._left("say what the question means", error)
            return query

    async def score(self, query: Query, paths: Sequence[Path]) -> list[PathScores] | None:
        """See `ports.QuestionJudge`."""
        if self._judges.paths is None:
            return None
        self._asked = True
        try:
            return await self._judges.paths.score(query, paths, self._budget)
        except EngineError as error:
            self._left("score the paths through the facts", error)
            return None

    def assesses(self, recall: RecallResult) -> bool:
        """See `ports.QuestionJudge`; with nothing found there is nothing to judge."""
        return bool(recall.evidence) and (self._judges.when == "anthropic" or not recall.sufficient)

    async def assess(self, case: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`."""
        return await self._judged(case, Judgement(None))

    async def judge(self, case: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`."""
        embedded = await self._judges.embedded.judge(case)
        if not case.sentences or (self._judges.when == "auto" and self._sure(embedded)):
            return embedded  # with nothing found there is nothing to judge
        return await self._judged(case, embedded)

    async def _judged(self, case: JudgeInput, embedded: Judgement) -> Judgement:
        """Return what Claude says, else what it said before, else the embedded engine's own judgement."""
        self._asked, earlier = True, case.earlier
        try:
            return await self._judges.claude.judge(case, self._budget)
        except EngineError as error:
            if earlier is not None:
                self._after = f"Claude did not judge what was found after its first word: {error}."
                return replace(earlier, next=())
            self._left("judge this", error)
            return embedded

    def _sure(self, embedded: Judgement) -> bool:
        proposal = embedded.proposal
        return proposal is not None and not proposal.hedged and proposal.confidence >= self._judges.sure

    def _left(self, step: str, why: EngineError) -> None:
        self._undone.setdefault(str(why), []).append(step)


class ClaudePointJudge:
    """One call, for which Claude is asked; fulfils `ports.Organiser`."""

    def __init__(self, claude: ClaudePointMaker, allowance: BudgetLimits) -> None:
        self._claude = claude
        self._budget = Budget(allowance)
        self._warnings: dict[str, None] = {}
        self._has_asked = False

    @property
    def engine(self) -> Engine:
        """See `ports.Organiser`."""
        return "anthropic"

    @property
    def warnings(self) -> tuple[str, ...]:
        """See `ports.Organiser`."""
        return tuple(self._warnings)

    @property
    def spent(self) -> Spending | None:
        """See `ports.Organiser`."""
        return self._budget.spent if self._has_asked else None

    async def evolve(self, matter: PointJudgeInput) -> PointProposals | None:
        """See `ports.Organiser`."""
        return await self._asked(self._claude.evolve(matter, self._budget), "make memory points of this")

    async def merge(self, matter: PointJudgeInput) -> PointProposals | None:
        """See `ports.Organiser`."""
        return await self._asked(self._claude.merge(matter, self._budget), "choose which memory points to merge")

    async def _asked(self, proposal: Awaitable[PointProposals], what: str) -> PointProposals | None:
        self._has_asked = True
        try:
            return await proposal
        except EngineError as error:
            self._warnings[f"Claude did not {what}, the embedded engine did: {error}."] = None
            return None
