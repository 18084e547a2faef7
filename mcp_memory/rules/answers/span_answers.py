"""Answers without a language model: the best supported span of the evidence.

Every sentence is weighed (`support`), the better ones are searched for spans of the wanted form (`typed_spans`,
`phrase_spans`, `tenures`), and the span with the highest sum of its sentence's support and its own fit is proposed with
a confidence. A message counts only if it asserts what is asked (`modality`), and, unless a date is wanted, only if it
holds every word of the query. Words from different places are never joined: an answer is a stretch of one sentence, a
calculated date, "Yes" or "No" (DESIGN L10, DESIGN 4 step 5).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mcp_memory.domain.answers import Proposal
from mcp_memory.domain.evidence import Citation
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.changes import is_changed_later
from mcp_memory.rules.answers.modality import LOOKS_BACK, asserts
from mcp_memory.rules.answers.name_spans import name_spans, person_phrases, place_phrases
from mcp_memory.rules.answers.phrase_spans import (
    CALLED_FIT,
    asks_price,
    money_spans,
    phrase_spans,
    polarity_spans,
    reason_spans,
)
from mcp_memory.rules.answers.settings import FeedbackGate, SpanFeatures, SpanSettings
from mcp_memory.rules.answers.span_filter import SpanFilter
from mcp_memory.rules.answers.spans import Span, shorten, split_clauses
from mcp_memory.rules.answers.successions import current_change
from mcp_memory.rules.answers.support import (
    WantedSpan,
    WeighedSentence,
    names_unknown,
    rivalry,
)
from mcp_memory.rules.answers.tenures import SAID_OTHERWISE, TENURE_FIT, asks_person, is_of, meant_time, tenure_spans
from mcp_memory.rules.answers.typed_spans import END_STEMS, START_STEMS, amount_spans, date_spans

_POSSESSIVE = re.compile(r"^(?:my|your)\s+|^(?:My|Your)\s+(?=[a-z])")
"""Possessives of the speaker: for the reader of an answer, "my" would mean somebody else. A title keeps its capital."""


class ScoredSpan(NamedTuple):
    """A span with its sentence and its total score."""

    sentence: WeighedSentence
    span: Span
    score: float

    @property
    def text(self) -> str:
        """The answer that the span gives."""
        return self.span.text or self.sentence.text[self.span.start : self.span.end]


def answer_from_spans(
    wanted: WantedSpan,
    weighed: Sequence[WeighedSentence],
    rarity: Mapping[str, float],
    settings: SpanSettings,
    span_filter: SpanFilter | None = None,
) -> Proposal | None:
    """Return the best supported span as a proposal, or None where nothing has the wanted form.

    Args:
        wanted: what the query wants.
        weighed: the sentences of the evidence with their support, best first.
        rarity: idf of each stem of the query in the space, at least 0; 1 for a stem that is not listed.
        settings: weights and bounds.
        span_filter: what the facts leave to texts; None where they decide nothing.
    """
    texts = span_filter or SpanFilter()
    spans = _scored_spans(wanted, weighed, settings, texts)
    stands_beside = any(span.span.fit >= TENURE_FIT for span in spans)
    changed = None if stands_beside else _from_changes(wanted, weighed, settings, texts)
    if changed is not None or not spans:
        return changed
    wrong = _wrong_answers(spans)
    best = _best_span(spans, wrong, settings.feedback)
    if is_changed_later(best.text, best.sentence, weighed, wanted.query.text):
        said_at = best.sentence.evidence.source.turn.said_at or 0
        spans = [span for span in spans if (span.sentence.evidence.source.turn.said_at or 0) > said_at]
        if not spans:
            return None
        best = _best_span(spans, wrong, settings.feedback)
        if is_changed_later(best.text, best.sentence, weighed, wanted.query.text):
            return None
    features = _features(wanted, weighed, spans, best, rarity, settings)
    if best.span.fit == CALLED_FIT:
        features = features._replace(event=1.0, covered=features.told)
    gate = _span_gate(best, wrong)
    held = "headed" if best.span.fit > TENURE_FIT else "tenure"
    form = held if best.span.fit >= TENURE_FIT else wanted.form
    relevant = features.context or gate >= settings.feedback.helpful or form == "headed"  # by the initials of its title
    confidence = settings.confidence.of(form, features) if relevant else 0.0
    has_rival = (
        _has_rival(best, spans)
        or _is_told_anew(wanted, best, spans)
        or (
            form == "headed"
            and settings.confidence.of("tenure", features) < settings.told_tenure
            and _other_list_tells(best, spans)
        )
    )
    sources = [best.sentence.evidence] + ([best.span.second] if best.span.second else [])
    proposal = Proposal(
        text=_answer_text(best),
        confidence=min(confidence, settings.rival_confidence) if has_rival else confidence,
        hedged=best.span.hedged
        or has_rival
        or (not best.sentence.is_document and _is_doubtful_in_talk(wanted, best.sentence, features.told))
        or (span_filter is not None and span_filter.doubts(best.sentence.evidence.source)),
        citations=tuple(Citation(sentence.evidence_id, sentence.source) for sentence in sources),
        route=f"span {form}",
    )
    return settings.feedback.apply(proposal, gate)


def _from_changes(
    wanted: WantedSpan, weighed: Sequence[WeighedSentence], settings: SpanSettings, texts: SpanFilter
) -> Proposal | None:
    """Return the value of the last change before a time, which an article tells (`successions`)."""
    asked = wanted.query.time
    if wanted.time is None or asked is None or not asked.dated or wanted.form not in ("person", "place", "thing"):
        return None  # "the 2010 cup" names a time and asks about none
    articles = {one.title_of_article: one for one in weighed if one.is_document}
    named = {title for title, one in articles.items() if is_of(wanted, one)}
    article = [one for one in weighed if one.is_document and one.title_of_article in named]
    time = meant_time(wanted, wanted.time)
    found = current_change(wanted, time, article, holder=asks_person(wanted)) if article else None
    if found is None or not texts.allows(found.sentence.evidence.source, found.value):
        return None
    evidence = found.sentence.evidence
    sure = found.is_sure(time)
    proposal = Proposal(
        text=found.value,
        confidence=settings.sure_change if sure else settings.change,
        hedged=not sure or texts.doubts(evidence.source),
        citations=(Citation(evidence.evidence_id, evidence.source),),
        route=f"change {found.tie.name}",
    )
    return settings.feedback.apply(proposal, evidence.gate)


def _scored_spans(
    wanted: WantedSpan, weighed: Sequence[WeighedSentence], settings: SpanSettings, span_filter: SpanFilter
) -> list[ScoredSpan]:
    turns = (sentence.evidence.source.turn for sentence in weighed)
    speakers = frozenset(name.lower() for turn in turns for name in (turn.speaker or "").split())
    spans: list[ScoredSpan] = []
    with_spans = 0
    for sentence in weighed:
        before = len(spans)
        helps = sentence.evidence.gate >= settings.feedback.helpful
        for span in _propose_spans(wanted, sentence, weighed, speakers, helps=helps):
            scored = ScoredSpan(sentence, span, sentence.support + span.fit)
            if not _is_denied(sentence.text, span) and span_filter.allows(sentence.evidence.source, scored.text):
                spans.append(scored)
        with_spans += len(spans) > before
        if with_spans == settings.sentences:
            break
    return spans


_OF_PAST = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
WHOLE = 0.999
"""Share of the question's words that a message has to hold, so that a span out of it is given plainly."""


def _is_doubtful_in_talk(wanted: WantedSpan, sentence: WeighedSentence, told: float) -> bool:
    """Return whether a span of a message may be told of something else, or have changed without being named again.

    Args:
        wanted: what the query wants.
        sentence: of the message.
        told: the share of the query's words that the message holds there (`SpanFeatures`).
    """
    if told < WHOLE:
        return True
    match wanted.form:
        case "date":  # of several times it is a guess which is meant
            return len({(time.since, time.until) for *_, time in sentence.times}) > 1
        case "person":  # "a wedding present" tells of a marriage in other words
            return wanted.event not in stems(sentence.text)
        case "count" | "duration" | "frequency":  # of today: a later message may give another amount
            return _OF_PAST.search(wanted.query.text) is None
    return False


_DENIES = re.compile(
    r"\b(?:not|instead of|rather than|from|correction\s(?:to|of|for))\s+(?:on\s+|in\s+|at\s+|for\s+|the\s+|an?\s+)*$",
    re.I,
)
_FROM_TO = re.compile(r"^[^.;!?]{0,40}?\bto\b", re.I)


def _is_denied(text: str, span: Span) -> bool:
    """Return whether the words before a span take it back: "not on *the 12th*", "moved from *May* to June"."""
    found = _DENIES.search(text[max(span.start - 30, 0) : span.start])
    return found is not None and (found[0][:4].lower() != "from" or _FROM_TO.match(text[span.end :]) is not None)


def _wrong_answers(spans: Sequence[ScoredSpan]) -> dict[str, float]:
    """Return the best answer of each sentence marked as wrong, with its gate: it is wrong in other sentences too."""
    first: dict[tuple[str, int], ScoredSpan] = {}
    for span in sorted(spans, key=lambda span: -span.score):
        source, gate = span.sentence.evidence.source, span.sentence.evidence.gate
        if gate < 1:
            first.setdefault((source.turn.id, source.start), span)
    return {span.text.casefold(): span.sentence.evidence.gate for span in first.values()}


def _span_gate(span: ScoredSpan, wrong: Mapping[str, float]) -> float:
    """Return the gate of a span: of its sentence, or that of the feedback which called this very answer wrong."""
    gate = span.sentence.evidence.gate
    return min(gate, wrong.get(span.text.casefold(), gate))


def _best_span(spans: Sequence[ScoredSpan], wrong: Mapping[str, float], feedback: FeedbackGate) -> ScoredSpan:
    """Return the span with the highest score; a span marked as wrong is replaced by the best one known to help."""
    best = max(spans, key=lambda span: span.score)
    if _span_gate(best, wrong) >= 1:
        return best
    helping = [span for span in spans if _span_gate(span, wrong) >= feedback.helpful]
    return max(helping, key=lambda span: span.score, default=best)


def _other_list_tells(best: ScoredSpan, spans: Sequence[ScoredSpan]) -> bool:
    """Return whether the article of a name from a list gives another name for the time."""
    return any(
        other.span.fit >= TENURE_FIT
        and other.sentence.title_of_article == best.sentence.title_of_article
        and best.text not in other.text
        and other.text not in best.text
        for other in spans
    )


def _is_told_anew(wanted: WantedSpan, best: ScoredSpan, spans: Sequence[ScoredSpan]) -> bool:
    """Return whether a later message with as many words of a question of today has another span: "Bo is on call"."""
    if best.sentence.is_document or wanted.form == "date" or LOOKS_BACK.search(wanted.query.text):
        return False
    said_at, answer = best.sentence.evidence.source.turn.said_at or 0, frozenset(stems(best.text))
    return any(
        (other.sentence.evidence.source.turn.said_at or 0) > said_at
        and other.sentence.coverage >= best.sentence.coverage
        and answer.isdisjoint(stems(other.sentence.text))
        for other in spans
    )


def _has_rival(best: ScoredSpan, spans: Sequence[ScoredSpan]) -> bool:
    """Return whether the clause of the best span, in talk, holds another span of the wanted type."""
    if best.sentence.is_document:
        return False
    text = best.sentence.text
    start, end = next((one for one in split_clauses(text) if one[0] <= best.span.start < one[1]), (0, len(text)))
    return any(
        other.sentence is best.sentence and other.span.typed and start <= other.span.start < end
        for other in spans
        if other.span.is_disjoint(best.span)
    )


def _propose_spans(
    wanted: WantedSpan,
    sentence: WeighedSentence,
    weighed: Sequence[WeighedSentence],
    speakers: frozenset[str],
    *,
    helps: bool,
) -> Iterable[Span]:
    """Yield the spans of a sentence that have the wanted form. ``helps``: it is known to answer such questions."""
    match wanted.form:
        case _ if wanted.compares or not sentence.speaker_match:
            return  # "A or B" takes two facts, and another person's event is no answer
        case _ if not asserts(wanted, sentence):
            return
        case "person" | "place" | "thing" if sentence.is_document and wanted.time is not None:
            yield from tenure_spans(wanted, sentence)
        case _ if sentence.is_document and wanted.nested:
            return  # no sentence of a document states several relations at once
        case "date":
            yield from date_spans(wanted, sentence, weighed)
        case "count" if asks_price(wanted) and not sentence.is_document:
            yield from money_spans(wanted, sentence)
        case _ if not (helps or sentence.told | sentence.title >= _needed(wanted)):
            return  # it tells of something else
        case "duration" | "frequency" | "count":
            yield from amount_spans(wanted, sentence)
        case "yes_no":
            yield from polarity_spans(wanted, sentence)
        case "reason":
            yield from reason_spans(wanted, sentence)
        case "person" | "place" if sentence.is_document:
            yield from name_spans(wanted, sentence, speakers)
        case "thing" if sentence.is_document:
            return  # of the names in a sentence only one in four is the thing asked for
        case "person":
            yield from name_spans(wanted, sentence, speakers)
            yield from person_phrases(wanted, sentence)
        case "place":
            yield from name_spans(wanted, sentence, speakers)
            yield from place_phrases(wanted, sentence)
        case _:
            yield from phrase_spans(wanted, sentence)


_LIGHT = frozenset(stems("need take have get cost use spend last give hold make"))
"""Verbs of questions for an amount that the sentence with the amount may say otherwise: "I had 40 guests"."""


def _needed(wanted: WantedSpan) -> frozenset[str]:
    """Return the stems of a query that a sentence has to hold, with its neighbours, before anything is read from it."""
    asked = wanted.stems - {stem for stem in (wanted.noun, wanted.kind_noun) if stem}
    return asked - _LIGHT if wanted.form in ("count", "duration") and asked - _LIGHT else asked


def _features(
    wanted: WantedSpan,
    weighed: Sequence[WeighedSentence],
    spans: Sequence[ScoredSpan],
    best: ScoredSpan,
    rarity: Mapping[str, float],
    settings: SpanSettings,
) -> SpanFeatures:
    """Return the features of the best span."""
    weights: dict[str, float] = defaultdict(float)
    for span in spans:
        weight = math.exp(span.score - best.score)
        weights[span.text.casefold()] += weight
    total = sum(weights.values())
    sentence = best.sentence
    cosine = sentence.evidence.cosine
    first = max((one.evidence.score for one in weighed), default=0.0) or 1.0
    known = sentence.told | sentence.title
    is_lifespan = wanted.form == "date" and best.span.typed  # it needs no word for birth or death
    asked = wanted.stems - (START_STEMS | END_STEMS) if is_lifespan else wanted.stems
    if best.span.fit >= TENURE_FIT:
        asked -= {wanted.noun, wanted.kind_noun} | SAID_OTHERWISE  # "the post of Mr Marsh" is said as "he was bishop"
    rare = {stem: rarity.get(stem, 1.0) for stem in asked}
    told_share = sum(rare[stem] for stem in asked & known) / (sum(rare.values()) or 1.0)
    rarest = max(rare, key=lambda stem: (rare[stem], stem), default=None)
    helps = sentence.evidence.gate >= settings.feedback.helpful  # a caller vouched for it, whatever its words
    return SpanFeatures(
        share=weights[best.text.casefold()] / total,
        context=sentence.context,
        cosine=settings.support.neutral_cosine if cosine is None else cosine,
        nested=wanted.nested * sentence.is_document,
        unknown=names_unknown(wanted, weighed),
        rivalry=rivalry(sentence, weighed, settings.support) if len(wanted.query.speakers) == 1 else 0.0,
        score=sentence.evidence.score / first,
        covered=sentence.coverage,
        told=1.0 if helps else told_share,
        rarest=float(helps or rarest is None or rarest in known),
        event=float(
            helps or wanted.event is None or any(wanted.event in sentence.words[hit].stems for hit in sentence.hits)
        ),
    )


def _answer_text(best: ScoredSpan) -> str:
    if best.span.text is not None:
        return best.span.text
    text = best.sentence.evidence.source.quote
    start, end = shorten(text, best.span.start, best.span.end)
    return " ".join(_POSSESSIVE.sub("", text[start:end]).split())
