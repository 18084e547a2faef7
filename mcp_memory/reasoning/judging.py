"""Who judges an answer: Claude where the settings want it and it can, else the embedded engine, which says so.

The embedded engine is asked first, which takes milliseconds: with ``auto`` its judgement stands where it is sure, and
it is what remains where Claude cannot be asked or says nothing usable. That is never silent: a warning gives the
reason. Where Claude has judged before and only the further evidence was not judged, what it said before stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from mcp_memory.domain.answers import Judgement
from mcp_memory.errors import EngineError
from mcp_memory.ports import Answerer, Case
from mcp_memory.reasoning.anthropic.answer import ClaudeAnswerer
from mcp_memory.reasoning.anthropic.budget import Allowance, Budget


@dataclass(frozen=True, slots=True)
class JudgingAnswerer:
    """Asks Claude or not; fulfils `ports.Answerer`.

    Attributes:
        embedded: judges without a language model.
        claude: judges with one.
        when: asked always (``anthropic``) or where the embedded judgement is unsure (``auto``).
        sure: confidence of an embedded proposal from which on it stands, with ``auto``, unless it is hedged.
        allowance: of one answer.
    """

    embedded: Answerer
    claude: ClaudeAnswerer
    when: Literal["auto", "anthropic"]
    sure: float
    allowance: Allowance

    async def judge(self, case: Case) -> Judgement:
        """See `ports.Answerer`."""
        own, earlier = await self.embedded.judge(case), case.earlier
        spent = earlier.spent if earlier else None
        if not case.candidates or (self.when == "auto" and self._sure(own)):
            return replace(own, spent=spent)  # with nothing found there is nothing to judge
        budget = Budget(self.allowance, spent)
        try:
            judgement = await self.claude.judge(case, budget)
        except EngineError as error:
            if earlier is not None:
                warning = f"Claude did not judge what was found after its first word: {error}."
                return replace(earlier, next=(), warnings=(*earlier.warnings, warning), spent=budget.spent)
            warning = f"Claude did not judge this, the embedded engine did: {error}."
            return replace(own, warnings=(*own.warnings, warning), spent=budget.spent)
        return replace(judgement, spent=budget.spent)

    def _sure(self, own: Judgement) -> bool:
        proposal = own.proposal
        return proposal is not None and not proposal.hedged and proposal.confidence >= self.sure
