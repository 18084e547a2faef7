"""The embedded judge: nothing leaves the machine, nothing is made up.

The embedded judge of support: which sentences speak for an answer, told by their words alone (GAM-RAG §3.3).

The paper asks a language model for the sentences that state the answer or are a necessary bridge to it. Here a sentence
supports the answer if the answer stands in it word for word and it is about something that the question names, or that
lies on the path to the answer; or if it states a fact of that path (DESIGN 2.6). Such a judge sees only what recall
found, so its errors are those of recall: its word counts with doubled noise.

**Departures.** "Yes", "no" and a bare number stand in many sentences by chance: they are no answer that a sentence
could hold, and only the path speaks for those.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from mcp_memory.domain.answers import Judgement, Proposal
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Engine, RecallResult
from mcp_memory.domain.paths import Path, PathScores
from mcp_memory.domain.query import Query
from mcp_memory.domain.spending import Spending
from mcp_memory.domain.times import Millis
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.ports import JudgeInput, SupportCandidate
from mcp_memory.rules.answers.comparisons import ComparisonSettings, answer_comparison
from mcp_memory.rules.answers.fact_answers import FactAnswerSettings, answer_from_facts, unknown_at_moment
from mcp_memory.rules.answers.span_answers import SpanSettings, answer_from_spans


@dataclass(frozen=True, slots=True)
class EmbeddedQuestionJudge:
    """Proposes what facts say where they know it, else the surer of them and a span; fulfils `ports.QuestionJudge`.

    A question that compares two things is answered from facts about both, before all else.

    It keeps nothing of a question, so one does for all.
    """

    span_settings: SpanSettings = field(default_factory=SpanSettings)
    fact_settings: FactAnswerSettings = field(default_factory=FactAnswerSettings)
    comparison_settings: ComparisonSettings = field(default_factory=ComparisonSettings)

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

    async def understand(self, query: Query, _speakers: Collection[str], _now: Millis) -> Query:
        """Return the question as it is: it was taken apart by the same rules."""
        return query

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
        query, knowledge = case.query, case.knowledge
        if proposal := answer_comparison(query, knowledge, self.comparison_settings):
            return self.span_settings.feedback.apply(proposal, knowledge.gate(proposal.citations))
        answer = answer_from_facts(query, knowledge, self.fact_settings)
        from_facts = answer.proposal if answer else None
        if from_facts is not None:
            from_facts = self.span_settings.feedback.apply(from_facts, knowledge.gate(from_facts.citations))
        if unknown_at_moment(query, knowledge, self.fact_settings):
            return from_facts
        from_spans = answer_from_spans(
            query, case.sentences, case.rarity, self.span_settings, answer.span_filter if answer else None
        )
        if from_facts is None or from_spans is None:
            return from_facts or from_spans
        if entity_key(from_spans.text) == entity_key(from_facts.text):
            hedged = from_facts.hedged or from_spans.gate < 1
            return replace(from_facts, confidence=max(from_facts.confidence, from_spans.confidence), hedged=hedged)
        if decided := self.span_settings.feedback.preferred(from_facts, from_spans):
            return decided
        if (answer and answer.takes_precedence) or _same_message(from_facts, from_spans):
            return from_facts  # facts were read with the whole sentence in mind
        return max(from_facts, from_spans, key=lambda one: one.confidence)


def _same_message(from_facts: Proposal, from_spans: Proposal) -> bool:
    """Return whether a span stands in a message that the facts rest on, in the very words."""
    sentence = from_spans.citations[0].source
    places = [citation.source for citation in from_facts.citations if sentence.turn.kind != "document"]
    return any(
        one.turn.id == sentence.turn.id and one.start < sentence.end and sentence.start < one.end for one in places
    )


@dataclass(frozen=True, slots=True)
class EmbeddedSupportJudge:
    """Judges by words and paths; fulfils `ports.SupportJudge`."""

    engine: Engine = "embedded"

    async def supporting(
        self, query: Query, answer: str, names: Sequence[str], witnesses: Sequence[SupportCandidate]
    ) -> list[str]:
        """See `ports.SupportJudge`. A few microseconds for each sentence, so it does not go to a thread."""
        answer_words = words(answer)
        is_specific = not all(word in STOP_WORDS or word in _BARE or word.isdecimal() for word in answer_words)
        keys = {key for name in (*names, *query.speakers, *query.names) if (key := entity_key(name))}
        return [
            witness.sentence_id
            for witness in witnesses
            if witness.on_path
            or (is_specific and _contains_words(words(witness.text), answer_words) and _is_about(witness, keys))
        ]


_BARE = frozenset(("yes", "no", "true", "false"))


def _contains_words(text: Sequence[str], answer_words: Sequence[str]) -> bool:
    """Return whether words stand in a text one after the other."""
    return any(
        text[start : start + len(answer_words)] == answer_words for start in range(len(text) - len(answer_words) + 1)
    )


def _is_about(witness: SupportCandidate, keys: set[str]) -> bool:
    """Return whether a sentence is about one of the entities; where none is known, every sentence may be."""
    if not keys:
        return True
    if any(entity_key(name) in keys for name in witness.names):
        return True
    text = words(witness.text)
    return any(_contains_words(text, key.split()) for key in keys)
