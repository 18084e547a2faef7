"""The best supported span of the evidence: an answer without a language model.

Every sentence is weighed (``support``), the better ones are searched for spans of the form that the question asks for
(``dates``, ``amounts``, ``names``, ``phrases``, ``polarity``), and the span with the highest sum of its sentence's
support and its own fit is proposed, with a confidence (``confidence``). It never puts words together that do not stand
together: what it says is a stretch of one sentence, a date worked out, "Yes" or "No" (DESIGN L10 of the design, DESIGN
4 step 5).

A name in a document that does not clearly lead the other names of its sentence is given with the clauses around it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.answers import EvidenceSentence, Proposal
from mcp_memory.domain.evidence import Citation
from mcp_memory.domain.query import Query
from mcp_memory.rules.answers.amounts import amounts
from mcp_memory.rules.answers.asking import Asking, asking
from mcp_memory.rules.answers.confidence import Confidence, Signs
from mcp_memory.rules.answers.dates import dates
from mcp_memory.rules.answers.names import named, somebody, somewhere
from mcp_memory.rules.answers.phrases import phrases, reasons
from mcp_memory.rules.answers.polarity import polar
from mcp_memory.rules.answers.ruling import Ruling
from mcp_memory.rules.answers.spans import Span, clauses, shortened, widened
from mcp_memory.rules.answers.support import Reading, Support, nearness, rivalry, unknown, weigh
from mcp_memory.rules.answers.taught import Taught

_POSSESSIVE = re.compile(r"^(?:my|your)\s+|^(?:My|Your)\s+(?=[a-z])")
"""Whose something is, as the speaker says it: for whoever asks, "my" is somebody else's. A title keeps it."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The numbers of extractive answering.

    Attributes:
        support: of a sentence.
        confidence: of a proposal.
        considered: sentences that hold spans, best supported first, that are looked at; the rest cannot catch up.
        alone: share of its sentence's weight from which a name in a document is given without its clause.
        binding: what a span gains where the time asked about is stated right beside it.
        binding_characters: at that distance from the time it gains half.
        rivalled: confidence at most, in talk, where another name or place of the type asked for stands in the same
            clause; set, not fitted: it stays below what is said without a hedge.
        taught: how a proposal follows what was learnt.
    """

    support: Support = field(default_factory=Support)
    confidence: Confidence = field(default_factory=Confidence)
    considered: int = 24
    alone: float = 0.95
    binding: float = 1.5
    binding_characters: float = 40.0
    rivalled: float = 0.45
    taught: Taught = field(default_factory=Taught)


@dataclass(frozen=True, slots=True)
class Choice:
    """A span with the sentence it stands in, and their sum."""

    reading: Reading
    span: Span
    total: float

    @property
    def said(self) -> str:
        """What it says."""
        return self.span.text or self.reading.text[self.span.start : self.span.end]


def extract(
    question: Query,
    candidates: Sequence[EvidenceSentence],
    rarity: Mapping[str, float],
    numbers: Extraction,
    ruled: Ruling | None = None,
) -> Proposal | None:
    """Return the best supported span, or None where nothing has the form that the question asks for.

    Args:
        question: taken apart.
        candidates: the sentences of the evidence, those of one item in order.
        rarity: how much a stem of the question tells, at least 0 (its idf in the space); 1 for one that is not there.
        numbers: weights and bounds.
        ruled: what facts leave to texts; None where they know nothing.
    """
    wanted = asking(question)
    readings = weigh(wanted, candidates, rarity, numbers.support)
    choices = _choices(wanted, readings, numbers, ruled or Ruling())
    if not choices:
        return None
    denied = _denied(choices)
    best = _best(choices, denied, numbers.taught)
    signs = _signs(wanted, readings, choices, best, numbers)
    dated = wanted.time is not None
    gate = _gate(best, denied)
    bears = signs.context or gate >= numbers.taught.helps
    confidence = numbers.confidence.of(wanted.form, signs, dated=dated) if bears else 0.0
    rivalled = _rivalled(best, choices)
    sources = [best.reading.candidate] + ([best.span.also] if best.span.also else [])
    proposal = Proposal(
        text=_text(best, signs.alone, numbers),
        confidence=min(confidence, numbers.rivalled) if rivalled else confidence,
        hedged=best.span.hedged or rivalled or (ruled is not None and ruled.doubts(best.reading.candidate.source)),
        citations=tuple(Citation(candidate.evidence_id, candidate.source) for candidate in sources),
    )
    return numbers.taught.weigh(proposal, gate)


def _choices(wanted: Asking, readings: Sequence[Reading], numbers: Extraction, ruled: Ruling) -> list[Choice]:
    turns = (reading.candidate.source.turn for reading in readings)
    speakers = frozenset(name.lower() for turn in turns for name in (turn.speaker or "").split())
    found: list[Choice] = []
    fruitful = 0
    for reading in readings:
        before = len(found)
        for span in _spans(wanted, reading, readings, speakers):
            bound = numbers.binding * _binding(wanted, reading, span, numbers)
            choice = Choice(reading, span, reading.support + span.fit + bound)
            if ruled.allows(reading.candidate.source, choice.said):
                found.append(choice)
        fruitful += len(found) > before
        if fruitful == numbers.considered:
            break
    return found


def _denied(choices: Sequence[Choice]) -> dict[str, float]:
    """Return what each sentence that was called wrong would answer, with its gate: elsewhere it is as wrong."""
    first: dict[tuple[str, int], Choice] = {}
    for choice in sorted(choices, key=lambda choice: -choice.total):
        source, gate = choice.reading.candidate.source, choice.reading.candidate.gate
        if gate < 1:
            first.setdefault((source.turn.id, source.start), choice)
    return {choice.said.casefold(): choice.reading.candidate.gate for choice in first.values()}


def _gate(choice: Choice, denied: Mapping[str, float]) -> float:
    return min(choice.reading.candidate.gate, denied.get(choice.said.casefold(), 2.0))


def _best(choices: Sequence[Choice], denied: Mapping[str, float], taught: Taught) -> Choice:
    """Return the choice with the highest sum; what was called wrong gives way to what is known to help."""
    best = max(choices, key=lambda choice: choice.total)
    if _gate(best, denied) >= 1:
        return best
    helping = [choice for choice in choices if _gate(choice, denied) >= taught.helps]
    return max(helping, key=lambda choice: choice.total, default=best)


def _rivalled(best: Choice, choices: Sequence[Choice]) -> bool:
    """Return whether the clause of a choice, in talk, holds another of the type asked for."""
    if best.reading.is_document:
        return False
    text = best.reading.text
    start, end = next((one for one in clauses(text) if one[0] <= best.span.start < one[1]), (0, len(text)))
    return any(
        other.reading is best.reading and other.span.typed and start <= other.span.start < end
        for other in choices
        if other.span.apart(best.span)
    )


def _spans(wanted: Asking, reading: Reading, readings: Sequence[Reading], speakers: frozenset[str]) -> Iterable[Span]:
    """Return the spans of a sentence that have the form asked for."""
    match wanted.form:
        case _ if wanted.compares or not reading.own:
            return  # "A or B" takes two facts, and another person's event is no answer
        case "date":
            yield from dates(wanted, reading, readings)
        case "duration" | "frequency" | "count":
            yield from amounts(wanted, reading)
        case "yes_no":
            yield from polar(wanted, reading)
        case "reason":
            yield from reasons(wanted, reading)
        case "person" | "place" | "thing" if reading.is_document:
            yield from named(wanted, reading, speakers)
        case "person":
            yield from named(wanted, reading, speakers)
            yield from somebody(wanted, reading)
        case "place":
            yield from named(wanted, reading, speakers)
            yield from somewhere(wanted, reading)
        case _:
            yield from phrases(wanted, reading, speakers)


def _binding(wanted: Asking, reading: Reading, span: Span, numbers: Extraction) -> float:
    """Return whether the time asked about is stated beside the span, in [0, 1]."""
    if wanted.time is None or not reading.is_document or wanted.form == "date" or not reading.times:
        return 0.0
    start, end, stated = min(reading.times, key=lambda time: max(time[0] - span.end, span.start - time[1], 0))
    apart = max(start - span.end, span.start - end, 0)
    return nearness(wanted, stated, numbers.support) / (1 + apart / numbers.binding_characters)


def _signs(
    wanted: Asking,
    readings: Sequence[Reading],
    choices: Sequence[Choice],
    best: Choice,
    numbers: Extraction,
) -> Signs:
    """Return the signs of the best choice."""
    weights: dict[str, float] = defaultdict(float)
    here = 0.0
    for choice in choices:
        weight = math.exp(choice.total - best.total)
        weights[choice.said.casefold()] += weight
        here += weight if choice.reading is best.reading else 0.0
    total = sum(weights.values())
    reading = best.reading
    cosine = reading.candidate.cosine
    first = max((one.candidate.score for one in readings), default=0.0) or 1.0
    return Signs(
        share=weights[best.said.casefold()] / total,
        context=reading.context,
        cosine=numbers.support.neutral_cosine if cosine is None else cosine,
        document=float(reading.is_document),
        document_date=float(reading.is_document and wanted.form == "date"),
        nested=wanted.nested * reading.is_document,
        unknown=unknown(wanted, readings),
        rivalry=rivalry(reading, readings, numbers.support) if len(wanted.question.speakers) == 1 else 0.0,
        score=reading.candidate.score / first,
        covered=reading.coverage,
        binding=_binding(wanted, reading, best.span, numbers),
        alone=min(weights[best.said.casefold()] / here, 1.0),
    )


def _text(best: Choice, alone: float, numbers: Extraction) -> str:
    if best.span.text is not None:
        return best.span.text
    text = best.reading.candidate.source.quote
    cut = widened if best.reading.is_document and alone < numbers.alone else shortened
    start, end = cut(text, best.span.start, best.span.end)
    return " ".join(_POSSESSIVE.sub("", text[start:end]).split())
