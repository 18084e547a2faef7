"""The embedded judge: it answers from certain facts by rules, on this machine.

**Answers.** Without a language model nobody judges what sentences mean, so nothing is judged: a certain fact is stated
(``certain.py``), and so is the correction that a caller gave to the same question. Everything else is an abstention.
"""

from __future__ import annotations

from collections.abc import Collection

from mcp_memory.domain.answers import Judgement, Proposal
from mcp_memory.domain.evidence import Citation, Correction, RecallResult
from mcp_memory.domain.facts import CERTAIN
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.language.tokens import stems
from mcp_memory.ports import JudgeInput
from mcp_memory.rules.answers.certain import certain_answer


class EmbeddedQuestionJudge:
    """Proposes what certain facts say, and nothing else; fulfils `ports.QuestionJudge`. It keeps no state."""

    @property
    def follow_ups(self) -> int:
        """None: it asks for no steps."""
        return 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def spent(self) -> Spending | None:
        """Nothing."""
        return None

    async def understand(
        self, query: Query, _speakers: Collection[str], _held: Collection[str], _span: tuple[Millis, Millis] | None
    ) -> Query:
        """Return the query unchanged: the same rules have already parsed it."""
        return query

    def assesses(self, _recall: RecallResult) -> bool:
        """Return False: nobody judges."""
        return False

    async def judge(self, judge_input: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`. It takes a few milliseconds, so it does not run in a thread."""
        return Judgement(_propose(judge_input))


def _propose(judge_input: JudgeInput) -> Proposal | None:
    """Return what certain facts say, or the correction that a caller gave to this question; None for neither.

    The later of the two decides; of the correction of another question, what it states as a fact.
    """
    query, recall = judge_input.query, judge_input.recall
    if query.askers:
        return None  # it is not known who asks
    proposal = certain_answer(query, judge_input.known_facts)
    if recall.correction is None:
        return proposal
    given = recall.correction.sources[0].turn.time
    told = [one.source.turn.time for one in proposal.citations] if proposal is not None else []
    if any(time > given for time in told):
        return proposal
    return _from_correction(judge_input, recall.correction) or (proposal if given in told else None)


def _from_correction(judge_input: JudgeInput, correction: Correction) -> Proposal | None:
    """Return what a caller said is right of this very question, unless a later message has all of its words."""
    asked, given = frozenset(stems(judge_input.query.text)), correction.sources[0].turn
    later = [one.source.quote for one in judge_input.sentences if one.source.turn.time > given.time]
    if asked != frozenset(stems(correction.question)) or any(asked <= set(stems(said)) for said in later):
        return None
    item = next((one.evidence_id for one in judge_input.sentences if one.source.turn.id == given.id), "")
    return Proposal(correction.text, CERTAIN, False, tuple(Citation(item, one) for one in correction.sources))
