"""The embedded judges: they answer questions and find supporting sentences by rules, on this machine.

**Support** (GAM-RAG §3.3): the paper asks a language model for the sentences that state the answer or are a necessary
bridge to it. Here a sentence supports the answer if it holds the answer word for word and is about something that the
query names or that lies on the path to the answer; or if it states a fact of that path (DESIGN 2.6). This judge sees
only what recall found and shares recall's errors, so its labels count with doubled noise.

**Departures.** "Yes", "no" and a bare number occur in many sentences by chance. No sentence supports them by its words,
only by the path.

**Namesakes** (`answer_each`). Where several people bear a name, each of them is answered about, and what is said of the
others is left out.

**Answerability** is how likely the evidence answers a question at all: the confidence of an abstention.

The best sentences of the person asked about and of everybody else are compared: a question that gives one person's
deed to the other finds all of its words in what the other one says. On dialogues, where the weights were fitted on one
half of the questions, the area under the ROC curve for answerable against unanswerable questions is .80 to .86 on the
other half. On questions for a time in long articles it is .52: their unanswerable ones differ by the time alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.answers import EvidenceSentence, Judgement, KnownFacts, Proposal
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Citation, Correction, RecallResult, Source
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.paths import Path, PathScores
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import Millis
from mcp_memory.language.tokens import STOP_WORDS, mentions, names, stems, words
from mcp_memory.ports import JudgeInput
from mcp_memory.rules.answers.changes import changed_since, is_over, set_since, tells_of_what_happens, was_restated
from mcp_memory.rules.answers.comparisons import answer_comparison
from mcp_memory.rules.answers.fact_answers import (
    CHOICE_ROUTE,
    FactAnswer,
    answer_from_facts,
    unknown_at_moment,
)
from mcp_memory.rules.answers.fact_proposals import MOST_CITED
from mcp_memory.rules.answers.modality import in_mode_asked
from mcp_memory.rules.answers.settings import (
    ComparisonSettings,
    FactAnswerSettings,
    SpanSettings,
)
from mcp_memory.rules.answers.span_answers import answer_from_spans
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence, rivalry, wanted_span, weigh_sentences
from mcp_memory.rules.answers.typed_spans import is_time_asked

_SPANS = SpanSettings()
_FACTS = FactAnswerSettings()
_COMPARISONS = ComparisonSettings()


class EmbeddedQuestionJudge:
    """Proposes the answer of the facts or a span of the evidence; fulfils `ports.QuestionJudge`.

    A query that compares two things is answered first, from facts about both. Otherwise the facts answer where they are
    certain, else the more confident of facts and span. The judge keeps no state.
    """

    @property
    def follow_ups(self) -> int:
        """None: it asks for no steps."""
        return 0

    @property
    def scored_steps(self) -> int:
        """None: the formulas of navigation are the embedded judge of paths."""
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
        wanted = wanted_span(judge_input.query)
        weighed = weigh_sentences(wanted, judge_input.sentences, judge_input.rarity, _SPANS.support)
        support = answerability(wanted, weighed, judge_input.rarity, judge_input.recall.sufficiency, _SPANS)
        return Judgement(_propose(judge_input, wanted, weighed), support=support)


def _propose(judge_input: JudgeInput, wanted: WantedSpan, weighed: Sequence[WeighedSentence]) -> Proposal | None:
    """Return the best proposal, however uncertain, or None where nothing has the wanted form.

    A correction that a caller gave to such a question decides, unless a later message answers it.
    """
    proposal = _from_evidence(judge_input, wanted, weighed)
    question = judge_input.query.text
    if proposal is not None and (
        was_restated(question, proposal, judge_input.recall.contrasts)
        or not tells_of_what_happens(question, proposal)
        or is_over(judge_input.query, proposal, judge_input.sentences)
    ):
        proposal = None
    correction = judge_input.recall.correction
    if correction is None or judge_input.query.askers:
        return proposal
    corrected = correction.sources[0].turn
    if proposal is not None and any(one.source.turn.time > corrected.time for one in proposal.citations):
        return proposal
    return _from_correction(judge_input, correction, wanted)


def _from_evidence(judge_input: JudgeInput, wanted: WantedSpan, weighed: Sequence[WeighedSentence]) -> Proposal | None:
    """Return the better of what the facts and the texts propose."""
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
    if from_facts and (changed or _answers_nothing(query, from_facts)):
        from_facts = None
    if from_facts is not None:
        from_facts = _SPANS.feedback.apply(from_facts, knowledge.gate(from_facts.citations))
    if unknown_at_moment(query, knowledge, _FACTS):
        return from_facts
    if knowledge.namesakes:
        sentences = without_namesakes(query, judge_input.sentences, knowledge.namesakes)
        weighed = weigh_sentences(wanted, sentences, judge_input.rarity, _SPANS.support)
    from_spans = answer_from_spans(wanted, weighed, judge_input.rarity, _SPANS, texts)
    if _answers_nothing(query, from_spans):
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


def _from_correction(judge_input: JudgeInput, correction: Correction, wanted: WantedSpan) -> Proposal:
    """Return the answer that a correction gives: the value in it, or if it says more than a value, its own words.

    It is hedged for a question in other words than the one that was corrected, and where a later message has all words
    of the question, as it may tell what is so since.
    """
    query, turn = judge_input.query, correction.sources[0].turn
    own = [one for one in judge_input.sentences if one.source.turn.id == turn.id]
    value = None
    if len(own) == 1 and len(correction.text.split()) <= _PLAIN_WORDS and not _OPPOSES.search(correction.text):
        weighed = weigh_sentences(wanted, own, judge_input.rarity, _SPANS.support)
        value = answer_from_spans(wanted, weighed, judge_input.rarity, _SPANS, None)
    item = next((one.evidence_id for one in own), "")
    citations = tuple(Citation(item, source) for source in correction.sources)
    later = [one.source.quote for one in judge_input.sentences if one.source.turn.time > turn.time]
    asked = set(judge_input.rarity)
    sure = stems(query.text) == stems(correction.question) and not any(asked <= set(stems(said)) for said in later)
    spoken = value.text if value is not None and not _answers_nothing(query, value) else correction.text
    return Proposal(spoken, _CORRECTED if sure else _DOUBTED, not sure, citations, route="correction")


_SUBJECT = re.compile(
    r"^\W*who\w*\s(?:.*\s)?(?:did|does|do|has|have|had|is|was|will|would|can|could|should)\s(?:my|our)\s(?:\w+\s)?"
    r"(?P<who>\w+)\s(?!(?:called|named|again|now|exactly|to|by|of|for)\b)\w{3,}",
    re.IGNORECASE,
)
"""A question for somebody, whose subject is somebody else who is described: "Who did my boss hire?"."""
_PLAIN_WORDS = 12
"""Most words of a correction that says no more than a value."""
_OPPOSES = re.compile(r"[,;:–—]|\b(?:not?|never|no longer|instead|but|any ?more)\b|n['’]t\b", re.IGNORECASE)
"""A correction that may name the wrong value beside the right one."""
_CORRECTED, _DOUBTED = 0.9, 0.6
"""Confidence of an answer that a caller gave, and of one whose question is another or that may have changed since."""


def _answers_nothing(query: Query, proposal: Proposal | None) -> bool:
    """Return whether an answer is no such time or deed as asked, repeats the question, or names whom it describes.

    "Puppy" is no answer to "What is my puppy called?", nor is my boss's name one to "Who did my boss hire?".
    """
    if proposal is None or proposal.route == CHOICE_ROUTE:
        return False
    if not is_time_asked(query.text, proposal.text):
        return True
    quotes = [one.source.quote for one in proposal.citations]
    talk = any(one.source.turn.kind == "message" for one in proposal.citations)
    if talk and not in_mode_asked(query.text, quotes):
        return True
    if subject := _SUBJECT.search(query.text):
        own = rf"\b{re.escape(subject['who'])},?\s+{re.escape(proposal.text)}\b"
        own += rf"|\b{re.escape(proposal.text)},?\s+(?:is\s)?(?:my|our)\s(?:\w+\s)?{re.escape(subject['who'])}\b"
        if any(re.search(own, quote, re.IGNORECASE) for quote in quotes):
            return True
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
    sentences = [one for one in sentences if one.source.turn.id not in answer.taken_back]
    changed = changed_since(
        relations().get(answer.relation), answer.proposal.text, answer.heads, latest, sentences
    ) or (answer.relation == "set_to" and set_since(answer.proposal.text, answer.heads, latest, sentences))
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


def answer_each(query: Query, knowledge: KnownFacts, settings: FactAnswerSettings) -> Proposal | None:
    """Return hedged answers of the facts about each person who may be meant, "Oslo (Ann Lee) or Lima (Ann Moor)"."""
    found: list[tuple[str, Proposal]] = []
    for key in knowledge.meanings:
        groups = tuple(group for group in knowledge.groups if group.key == key and not group.through)
        answer = answer_from_facts(query, replace(knowledge, groups=groups), settings)
        if answer is not None and answer.proposal is not None:
            found.append((groups[0].names[0], answer.proposal))
    if not found:
        return None
    text = " or ".join(f"{proposal.text} ({name})" for name, proposal in found)
    citations = [citation for _, proposal in found for citation in proposal.citations[:1]]
    confidence = min(proposal.confidence for _, proposal in found) * settings.kind
    return Proposal(text, confidence, True, tuple(citations[:MOST_CITED]))


def without_namesakes(
    query: Query, sentences: Sequence[EvidenceSentence], namesakes: frozenset[str]
) -> Sequence[EvidenceSentence]:
    """Return the sentences but those of talk that name, or are said by, only a namesake of whom the query names."""
    if not namesakes:
        return sentences
    asked = frozenset(map(entity_key, query.names))

    def is_meant(sentence: EvidenceSentence) -> bool:
        turn = sentence.source.turn
        if turn.kind == "document":
            return True
        named = {entity_key(name) for name in (*names(sentence.source.quote), turn.speaker or "")}
        return not named.isdisjoint(asked) or named.isdisjoint(namesakes)

    return [sentence for sentence in sentences if is_meant(sentence)]


READ = 4
"""Sentences of either side that are compared, best first."""


def answerability(
    wanted: WantedSpan,
    weighed: Sequence[WeighedSentence],
    rarity: Mapping[str, float],
    sufficiency: float,
    settings: SpanSettings,
) -> float:
    """Return how likely it is that the evidence answers a query, in [0, 1]; 0 without evidence.

    Args:
        wanted: what the query wants.
        weighed: the sentences of the evidence with their support, best first.
        rarity: idf of each stem of the query in the space, at least 0; 1 for a stem that is not listed.
        sufficiency: the sufficiency of the evidence as recall judges it, in [0, 1].
        settings: the weights of support and of the features.
    """
    model = settings.answerability
    if not weighed or not wanted.stems:
        return 0.0
    own = [one for one in weighed if one.speaker_match > 0] or weighed
    others = [one for one in weighed if one.speaker_match == 0]
    rival = rivalry(own[0], weighed, settings.support) if len(wanted.query.speakers) == 1 else 0.0
    logit = (
        model.base
        + model.sufficiency * sufficiency
        + model.told * max(_told_share(wanted, one, rarity) for one in own[:READ])
        + model.told_by_others * max((_told_share(wanted, one, rarity) for one in others[:READ]), default=0.0)
        + model.rivalry * rival
    )
    return 1 / (1 + math.exp(-logit))


def _told_share(wanted: WantedSpan, sentence: WeighedSentence, rarity: Mapping[str, float]) -> float:
    """Return the share of the query's words, by rarity, that a sentence with its neighbours and title holds."""
    held = wanted.stems & (sentence.told | sentence.title)
    total = sum(rarity.get(stem, 1.0) for stem in wanted.stems)
    return sum(rarity.get(stem, 1.0) for stem in held) / total if total else 0.0
