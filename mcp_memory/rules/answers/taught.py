"""What was learnt, held against a proposal: the gate of the sentences that it stands on (GAM-RAG §3.2.2).

What a caller called wrong for such a question is proposed again with a hedge at most, and as much less surely as its
gate is below 1. What was said to help makes a proposal surer, never certain: the odds that it is right grow with the
gate. Where nothing was learnt, nothing changes.

**Departures.** In the paper gates steer only what is found. An answer that a caller called wrong then stood as it was:
its sentence still was the one most like the question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mcp_memory.domain.answers import Proposal


@dataclass(frozen=True, slots=True)
class Taught:
    """How proposals follow gates.

    Attributes:
        surer: what a gate of 2 adds to the logit of the confidence; set, not fitted: one word of a caller (a gate of
            about 1.6) makes .4 into .55 and .75 into .84.
        helps: from this gate on a sentence is known to help: one word of a caller. What was called wrong gives way to
            it, and it bears on the question though it has no word of it.
    """

    surer: float = 1.0
    helps: float = 1.3

    def weigh(self, proposal: Proposal, gate: float) -> Proposal:
        """Return a proposal with the confidence that a gate in [0, 2] leaves it, and a hedge where that is below 1."""
        sure = proposal.confidence
        if gate == 1:
            return proposal
        if gate < 1:
            return replace(proposal, confidence=sure * gate, hedged=True, gate=gate)
        odds = math.exp(self.surer * (gate - 1))
        return replace(proposal, confidence=sure * odds / (1 - sure + sure * odds), gate=gate)

    def decided(self, one: Proposal, other: Proposal) -> Proposal | None:
        """Return which of two a caller has decided for, calling one wrong and saying that the other helps, or None."""
        worse, better = sorted((one, other), key=lambda proposal: proposal.gate)
        return better if worse.gate < 1 and better.gate >= self.helps else None
