"""The embedded judge of answers: nothing leaves the machine, nothing is made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.answers import Candidate, Knowledge, Proposal
from mcp_memory.language.questions import Question
from mcp_memory.reasoning.embedded.extract import Extraction, extract
from mcp_memory.reasoning.embedded.versions import Sureness, propose, silent


@dataclass(frozen=True, slots=True)
class EmbeddedAnswerer:
    """Proposes what the facts say or a span of the evidence, whichever is surer; fulfils `ports.Answerer`."""

    numbers: Extraction = field(default_factory=Extraction)
    sureness: Sureness = field(default_factory=Sureness)

    async def propose(
        self, question: Question, candidates: Sequence[Candidate], rarity: Mapping[str, float], knowledge: Knowledge
    ) -> Proposal | None:
        """See `ports.Answerer`. A few milliseconds of arithmetic, so it does not go to a thread."""
        if silent(question, knowledge, self.sureness):
            return None
        known = propose(question, knowledge, self.sureness)
        read = extract(question, candidates, rarity, self.numbers)
        return max((one for one in (known, read) if one), key=lambda one: one.confidence, default=None)
