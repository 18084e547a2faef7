"""The embedded judges: they answer questions and find supporting sentences by rules, on this machine.

**Support** (GAM-RAG §3.3): the paper asks a language model for the sentences that state the answer or are a necessary
bridge to it. Here a sentence supports the answer if it holds the answer word for word and is about something that the
query names or that lies on the path to the answer; or if it states a fact of that path (DESIGN 2.6). This judge sees
only what recall found and shares recall's errors, so its labels count with doubled noise.

**Departures.** "Yes", "no" and a bare number occur in many sentences by chance. No sentence supports them by its words,
only by the path.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.answers import EvidenceSentence, Judgement, Proposal
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Path, PathScores, RecallResult, Source
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import Millis
from mcp_memory.language.names import mentions
from mcp_memory.language.tokens import STOP_WORDS, stems, words
from mcp_memory.ports import Contents, JudgeInput
from mcp_memory.rules.answers.answerability import answerability
from mcp_memory.rules.answers.choices import CHOICE
from mcp_memory.rules.answers.comparisons import answer_comparison
from mcp_memory.rules.answers.fact_answers import FactAnswer, answer_from_facts, unknown_at_moment
from mcp_memory.rules.answers.modality import changed_since
from mcp_memory.rules.answers.namesakes import answer_each, without_namesakes
from mcp_memory.rules.answers.settings import ComparisonSettings, FactAnswerSettings, SpanSettings
from mcp_memory.rules.answers.span_answers import answer_from_spans

_SPANS = SpanSettings()
_FACTS = FactAnswerSettings()
_COMPARISONS = ComparisonSettings()


class EmbeddedQuestionJudge:
    """Proposes the answer of the facts or a span of the evidence; fulfils `ports.QuestionJudge`.

    A query that compares two things is answered first, from facts about both. Otherwise the facts answer where they are
    certain, else the more confident of facts and span. The judge keeps no state.
    """

    @property
    def rounds(self) -> int:
        """None: it asks for no steps."""
        return 0

    @property
    def scores_paths(self) -> bool:
        """False: the formulas of navigation are the embedded judge of paths."""
        return False

    @property
    def warnings(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def spent(self) -> Spending | None:
        """Nothing."""
        return None

    async def understand(self, query: Query, _speakers: Collection[str], _now: Millis, _contents: Contents) -> Query:
        """Return the query unchanged: the same rules have already parsed it."""
        return query

    async def score(self, _query: Query, _paths: Sequence[Path]) -> list[PathScores] | None:
        """Return None, so that the scores of navigation stand."""
        return None

    def assesses(self, _recall: RecallResult) -> bool:
        """Return False: recall judges itself."""
        return False

    async def assess(self, judge_input: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`; the same as `judge`."""
        return await self.judge(judge_input)

    async def judge(self, judge_input: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`. It takes a few milliseconds, so it does not run in a thread."""
        support = answerability(
            judge_input.query,
            judge_input.sentences,
            judge_input.rarity,
            judge_input.recall.sufficiency,
            _SPANS.support,
            _SPANS.answerability,
        )
        return Judgement(self.propose(judge_input), support=support)

    def propose(self, judge_input: JudgeInput) -> Proposal | None:
        """Return the best proposal, however uncertain, or None where nothing has the wanted form."""
        query, knowledge = judge_input.query, judge_input.known_facts
        if query.askers:
            return None  # it is not known who asks
        if knowledge.meanings:
            return answer_each(query, knowledge, _FACTS)
        if proposal := answer_comparison(query, knowledge, _COMPARISONS):
            return _SPANS.feedback.apply(proposal, knowledge.gate(proposal.citations))
        answer = answer_from_facts(query, knowledge, _FACTS)
        from_facts = answer.proposal if answer else None
        texts, changed = answer.span_filter if answer else None, 0
        if answer and from_facts and (changed := _has_changed(query, answer, judge_input.sentences)):
            texts = replace(answer.span_filter, since=changed + 1)
        if from_facts and (changed or _echoes(query, from_facts)):
            from_facts = None
        if from_facts is not None:
            from_facts = _SPANS.feedback.apply(from_facts, knowledge.gate(from_facts.citations))
        if unknown_at_moment(query, knowledge, _FACTS):
            return from_facts
        from_spans = answer_from_spans(
            query,
            without_namesakes(query, judge_input.sentences, knowledge.namesakes),
            judge_input.rarity,
            _SPANS,
            texts,
        )
        if _echoes(query, from_spans):
            from_spans = None
        if from_facts is None or from_spans is None:
            return from_facts or from_spans
        if entity_key(from_spans.text) == entity_key(from_facts.text):
            hedged = from_facts.hedged or from_spans.gate < 1
            return replace(from_facts, confidence=max(from_facts.confidence, from_spans.confidence), hedged=hedged)
        if preferred := _SPANS.feedback.preferred(from_facts, from_spans):
            return preferred
        if (answer and answer.takes_precedence) or _same_message(from_facts, from_spans):
            return from_facts  # facts were extracted from the whole sentence
        return max(from_facts, from_spans, key=lambda one: one.confidence)


def _echoes(query: Query, proposal: Proposal | None) -> bool:
    """Return whether an answer only repeats words of the question: "puppy" for "What is my puppy called?"."""
    if proposal is None or proposal.route == CHOICE:
        return False
    said = frozenset(stems(proposal.text))
    return bool(said) and said <= frozenset(stems(query.text))


def _has_changed(query: Query, answer: FactAnswer, sentences: Sequence[EvidenceSentence]) -> Millis:
    """Return when the answer of the facts was told, if a later message tells that it may hold no longer; else 0.

    What was told after the time that the caller asks about (``as_of``) changes nothing for that time.
    """
    if answer.proposal is None or not answer.relation or answer.proposal.text.startswith("No"):
        return 0
    turns = [citation.source.turn for citation in answer.proposal.citations]
    latest = max(turns, key=lambda turn: turn.said_at or 0)
    if query.as_of is not None:
        sentences = [one for one in sentences if one.source.turn.time <= query.as_of]
    changed = changed_since(relations().get(answer.relation), answer.heads, latest, sentences)
    return (latest.said_at or 0) if changed else 0


def _same_message(from_facts: Proposal, from_spans: Proposal) -> bool:
    """Return whether the span overlaps a quote, in a message, that the facts rest on."""
    sentence = from_spans.citations[0].source
    places = [citation.source for citation in from_facts.citations if sentence.turn.kind != "document"]
    return any(
        one.turn.id == sentence.turn.id and one.start < sentence.end and sentence.start < one.end for one in places
    )


@dataclass(frozen=True, slots=True)
class EmbeddedSupportJudge:
    """Finds supporting sentences by words and paths; fulfils `ports.SupportJudge`."""

    engine: Engine = "embedded"

    async def supporting(
        self, query: Query, answer: str, names: Sequence[str], witnesses: Mapping[str, Source], on_path: Collection[str]
    ) -> list[str]:
        """See `ports.SupportJudge`. It takes a few microseconds per sentence, so it does not run in a thread."""
        answer_words = words(answer)
        is_specific = not all(word in STOP_WORDS or word in _BARE or word.isdecimal() for word in answer_words)
        keys = {key for name in (*names, *query.speakers, *query.names) if (key := entity_key(name))}
        return [
            sentence_id
            for sentence_id, witness in witnesses.items()
            if sentence_id in on_path
            or (is_specific and _contains_words(words(witness.quote), answer_words) and _is_about(witness, keys))
        ]


_BARE = frozenset(("yes", "no", "true", "false"))


def _contains_words(text: Sequence[str], answer_words: Sequence[str]) -> bool:
    """Return whether a text holds the words one after the other."""
    return any(
        text[start : start + len(answer_words)] == answer_words for start in range(len(text) - len(answer_words) + 1)
    )


def _is_about(witness: Source, keys: set[str]) -> bool:
    """Return whether a sentence is about one of the entities; true of every sentence where none is known."""
    if not keys:
        return True
    if any(entity_key(name) in keys for name in mentions(witness.turn, witness.quote)):
        return True
    text = words(witness.quote)
    return any(_contains_words(text, key.split()) for key in keys)
