"""Who judges: Claude where the settings want it and it can, else the embedded engine, which says so.

About an answer the embedded engine is asked first, which takes milliseconds: with ``auto`` its judgement stands where
it is sure, and it is what remains where Claude cannot be asked or says nothing usable. So it is with every other step
of a question. That is never silent: a warning gives the reason. Where Claude has judged before and only the further
evidence was not judged, what it said before stands.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mcp_memory.domain.answers import Judgement
from mcp_memory.domain.evidence import Recall
from mcp_memory.domain.paths import Path, PathScores
from mcp_memory.domain.spending import Spending
from mcp_memory.domain.times import Millis
from mcp_memory.errors import EngineError
from mcp_memory.language.questions import Question
from mcp_memory.ports import Case, Inquiry
from mcp_memory.reasoning.anthropic.answer import ClaudeAnswerer
from mcp_memory.reasoning.anthropic.budget import Allowance, Budget


@dataclass(frozen=True, slots=True)
class Judges:
    """Whom to ask, and when.

    Attributes:
        embedded: judges without a language model.
        claude: judges with one.
        when: Claude is asked always (``anthropic``) or where the embedded judgement is unsure (``auto``).
        sure: confidence of an embedded proposal from which on it stands, with ``auto``, unless it is hedged.
        allowance: of one question.
    """

    embedded: Inquiry
    claude: ClaudeAnswerer
    when: Literal["auto", "anthropic"]
    sure: float
    allowance: Allowance


class JudgingInquiry:
    """One question, about which Claude is asked or not; fulfils `ports.Inquiry`."""

    def __init__(self, judges: Judges) -> None:
        self._judges = judges
        self._budget = Budget(judges.allowance)
        self._asked = False
        self._warnings: dict[str, None] = {}

    @property
    def scores_paths(self) -> bool:
        """See `ports.Inquiry`."""
        return False

    @property
    def warnings(self) -> tuple[str, ...]:
        """See `ports.Inquiry`."""
        return tuple(self._warnings)

    @property
    def spent(self) -> Spending | None:
        """See `ports.Inquiry`."""
        return self._budget.spent if self._asked else None

    async def understand(self, question: Question, _speakers: Collection[str], _now: Millis) -> Question:
        """See `ports.Inquiry`."""
        return question

    async def score(self, _question: Question, _paths: Sequence[Path]) -> list[PathScores] | None:
        """See `ports.Inquiry`."""
        return None

    def assesses(self, recall: Recall) -> bool:
        """See `ports.Inquiry`; with nothing found there is nothing to judge."""
        return bool(recall.evidence) and (self._judges.when == "anthropic" or not recall.sufficient)

    async def assess(self, case: Case) -> Judgement:
        """See `ports.Inquiry`."""
        return await self._judged(case, Judgement(None))

    async def judge(self, case: Case) -> Judgement:
        """See `ports.Inquiry`."""
        own = await self._judges.embedded.judge(case)
        if not case.candidates or (self._judges.when == "auto" and self._sure(own)):
            return own  # with nothing found there is nothing to judge
        return await self._judged(case, own)

    async def _judged(self, case: Case, own: Judgement) -> Judgement:
        """Return what Claude says, else what it said before, else the embedded engine's own judgement."""
        self._asked, earlier = True, case.earlier
        try:
            return await self._judges.claude.judge(case, self._budget)
        except EngineError as error:
            if earlier is not None:
                self._warn(f"Claude did not judge what was found after its first word: {error}.")
                return replace(earlier, next=())
            self._warn(f"Claude did not judge this, the embedded engine did: {error}.")
            return own

    def _sure(self, own: Judgement) -> bool:
        proposal = own.proposal
        return proposal is not None and not proposal.hedged and proposal.confidence >= self._judges.sure

    def _warn(self, warning: str) -> None:
        self._warnings[warning] = None
