"""Choose between Claude and the embedded engine for one question.

For an answer the embedded engine is asked first, which takes milliseconds. With ``auto`` its judgement is final if a
certain fact answers. It is also used if Claude cannot be asked or returns nothing usable; the same holds for every
other step of a question. A fallback always adds a warning with the reason. If Claude has judged before and only the
additional evidence was not judged, Claude's earlier judgement is kept.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from mcp_memory.domain.answers import Judgement
from mcp_memory.domain.evidence import RecallResult
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.errors import EngineError
from mcp_memory.ports import JudgeInput, QuestionJudge
from mcp_memory.reasoning.anthropic.answer import ANOTHER, judge_evidence
from mcp_memory.reasoning.anthropic.client import Budget, Claude
from mcp_memory.reasoning.anthropic.understanding import understand_question


@dataclass(slots=True)
class ClaudeQuestionJudge:
    """Asks Claude about one question, with the embedded engine as fallback; fulfils `ports.QuestionJudge`.

    Attributes:
        embedded: judges without a language model.
        claude: the client.
        budget: of this question.
        most_follow_ups: times that Claude may be asked again about it.
        always: whether Claude is always asked (``anthropic``), or where no certain fact answers (``auto``).
        understands: whether it interprets the question, never with ``auto``: there it is not yet known whether a call
            is worth its cost.
        points: whether it may make memory points of the question.
    """

    embedded: QuestionJudge
    claude: Claude
    budget: Budget
    most_follow_ups: int
    always: bool
    understands: bool
    points: bool
    _asked: bool = False
    _failed_steps: dict[str, list[str]] = field(default_factory=dict)  # steps that Claude did not do, by reason
    _later_failure: str = ""

    @property
    def follow_ups(self) -> int:
        """See `ports.QuestionJudge`; none where the budget does not hold another judgement."""
        return self.most_follow_ups if self.budget.left >= ANOTHER else 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """See `ports.QuestionJudge`; steps that failed for one reason share a warning."""
        warnings = [
            f"Claude did not {' and did not '.join(steps)}, the embedded engine did: {reason}."
            for reason, steps in self._failed_steps.items()
        ]
        return (*warnings, self._later_failure) if self._later_failure else tuple(warnings)

    @property
    def spent(self) -> Spending | None:
        """See `ports.QuestionJudge`."""
        return self.budget.spent if self._asked else None

    async def understand(
        self, query: Query, speakers: Collection[str], held: Collection[str], span: tuple[Millis, Millis] | None
    ) -> Query:
        """See `ports.QuestionJudge`."""
        if not self.understands or not query.stems:
            return query
        self._asked = True
        try:
            return await understand_question(self.claude, query, speakers, held, span, self.budget)
        except EngineError as error:
            self._record_failure("say what the question means", error)
            return query

    def assesses(self, recall: RecallResult) -> bool:
        """See `ports.QuestionJudge`; with ``auto`` where the loop ended without covering the query."""
        return bool(recall.evidence) and (self.always or recall.stop != "covered")

    async def judge(self, judge_input: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`."""
        embedded = await self.embedded.judge(judge_input)
        if not judge_input.sentences:
            return embedded  # there is nothing to judge
        sure = embedded.proposal is not None and not embedded.proposal.hedged
        if sure and not self.always and judge_input.query.length == "short":
            return embedded
        return await self._ask_claude(judge_input, embedded)

    async def _ask_claude(self, judge_input: JudgeInput, embedded: Judgement) -> Judgement:
        """Return Claude's judgement, otherwise its earlier one, otherwise the embedded judgement."""
        self._asked, earlier = True, judge_input.earlier
        try:
            return await judge_evidence(self.claude, judge_input, self.budget, points=self.points)
        except EngineError as error:
            if earlier is not None:
                self._later_failure = f"Claude did not judge what was found after its first word: {error}."
                return replace(earlier, next=(), points=(), beyond="")
            self._record_failure("judge this", error)
            return embedded

    def _record_failure(self, step: str, why: EngineError) -> None:
        self._failed_steps.setdefault(str(why), []).append(step)
