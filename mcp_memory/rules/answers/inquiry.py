"""The embedded judge: nothing leaves the machine, nothing is made up."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from mcp_memory.domain.answers import Judgement, Proposal
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import RecallResult
from mcp_memory.domain.paths import Path, PathScores
from mcp_memory.domain.query import Query
from mcp_memory.domain.spending import Spending
from mcp_memory.domain.times import Millis
from mcp_memory.ports import JudgeInput
from mcp_memory.rules.answers.comparing import Likelihood, compare
from mcp_memory.rules.answers.extract import Extraction, extract
from mcp_memory.rules.answers.versions import Sureness, silent, tell


@dataclass(frozen=True, slots=True)
class EmbeddedInquiry:
    """Proposes what facts say where they know it, else the surer of them and a span; fulfils `ports.QuestionJudge`.

    A question that compares two things is answered from facts about both, before all else.

    It keeps nothing of a question, so one does for all.
    """

    numbers: Extraction = field(default_factory=Extraction)
    sureness: Sureness = field(default_factory=Sureness)
    likelihood: Likelihood = field(default_factory=Likelihood)

    @property
    def scores_paths(self) -> bool:
        """No: navigation's own formulas are the embedded judge of paths."""
        return False

    @property
    def warnings(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def spent(self) -> Spending | None:
        """Nothing."""
        return None

    async def understand(self, question: Query, _speakers: Collection[str], _now: Millis) -> Query:
        """Return the question as it is: it was taken apart by the same rules."""
        return question

    async def score(self, _question: Query, _paths: Sequence[Path]) -> list[PathScores] | None:
        """Leave navigation its scores."""
        return None

    def assesses(self, _recall: RecallResult) -> bool:
        """No: recall judges itself."""
        return False

    async def assess(self, case: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`; the same as `judge`."""
        return await self.judge(case)

    async def judge(self, case: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`. A few milliseconds of arithmetic, so it does not go to a thread."""
        return Judgement(self.propose(case))

    def propose(self, case: JudgeInput) -> Proposal | None:
        """Return the best that can be said, however unsure, or None where nothing has the form that is asked for."""
        question, knowledge = case.query, case.knowledge
        if compared := compare(question, knowledge, self.likelihood):
            return self.numbers.taught.weigh(compared, knowledge.gate(compared.citations))
        told = tell(question, knowledge, self.sureness)
        known = told.proposal if told else None
        if known is not None:
            known = self.numbers.taught.weigh(known, knowledge.gate(known.citations))
        if silent(question, knowledge, self.sureness):
            return known
        read = extract(question, case.sentences, case.rarity, self.numbers, told.ruled if told else None)
        if known is None or read is None:
            return known or read
        if entity_key(read.text) == entity_key(known.text):
            hedged = known.hedged or read.gate < 1
            return replace(known, confidence=max(known.confidence, read.confidence), hedged=hedged)
        if decided := self.numbers.taught.decided(known, read):
            return decided
        if (told and told.leads) or _same_statement(known, read):
            return known  # facts were read with the whole sentence in mind
        return max(known, read, key=lambda one: one.confidence)


def _same_statement(known: Proposal, read: Proposal) -> bool:
    """Return whether a span stands in a message that the facts rest on, in the very words."""
    sentence = read.citations[0].source
    places = [citation.source for citation in known.citations if sentence.turn.kind != "document"]
    return any(
        one.turn.id == sentence.turn.id and one.start < sentence.end and sentence.start < one.end for one in places
    )
