"""What kind of span a question asks for: the form of its answer, the noun that names its type, the time it is about.

How well a sentence of the evidence bears on a question, before any span of it is looked at.

Coverage is that of DESIGN 3.5: the share of the question's words, rare ones counting more, that the
sentence holds; the same over the whole item of evidence tells of questions whose words are spread over neighbours. The
person asked about must be the one who speaks, or be named: the right event of the wrong person is the commonest false
friend. Where the question states a time, so should the sentence.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.language.dates import stated_times
from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.spans import Word, read_words

AnswerForm = Literal["date", "duration", "frequency", "count", "person", "place", "reason", "thing", "yes_no"]
"""What the answer looks like."""

_OFTEN = re.compile(r"\bhow (?:often|frequently|regularly)\b|\bhow many times (?:a|per|each|every)\b", re.I)
_NOUN = re.compile(
    r"\b(?:what|which)(?:\s+(?:kind|type|sort|genre|style|form)s?\s+of)?\s+((?:[\w'’-]+\s+){0,2}?)"
    r"([\w'’-]+)(?=\s+(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b)",
    re.I,
)
_DIRECT = re.compile(r"\b(?:what|which)(?:\s+(?:kind|type|sort|genre|style|form)s?\s+of)?\s+([\w'’-]+)", re.I)
_COUNTED = re.compile(r"\bhow (?:many|much)\s+(?:of\s+)?(?:(?:different|more|other|new|total)\s+)*([\w'’-]+)", re.I)
_OLD = re.compile(r"\bhow old\b", re.I)
_NESTING = re.compile(
    r"\b(?:of|whose|who|whom|that|which|where|when|featuring|starring|belongs?)\b|['’]s?\b(?=\s)", re.I
)
_ALTERNATIVE = re.compile(r"\w\s+or\s+\w", re.I)
MOST_NESTED = 3
_TYPE_WORDS = frozenset(("kind", "type", "sort", "name"))
_FORM_WORDS: dict[AnswerForm, frozenset[str]] = {
    "count": frozenset(("mani", "much")),
    "duration": frozenset(("long",)),
    "frequency": frozenset(("often", "frequent", "regular", "mani", "time")),
    "person": frozenset(("person",)),
    "date": frozenset(("year", "month", "date", "day", "time")),
}
"""Stems that ask for a form, "how *many*", "which *person*", and so need not stand in what answers."""
_FORMS: dict[str, AnswerForm] = {
    "who": "person",
    "when": "date",
    "where": "place",
    "how_many": "count",
    "how_long": "duration",
    "why": "reason",
    "yes_no": "yes_no",
}


@dataclass(frozen=True, slots=True)
class WantedSpan:
    """A question, as the rules for spans need it.

    Attributes:
        query: taken apart by `language.questions`.
        form: of the answer.
        stems: of its content words, without those that ask for the form, that state a time, or that name the one
            speaker: these are looked for otherwise.
        noun: stem of the word that names the type, "city" of "which city" or "dog" of "how many dogs"; None without.
        event: stem of its last content word, mostly the verb; None without.
        time: the interval that it is about, ``[since, until)``, of which one side is bounded at least; None without.
            "Before 1911" is the moment before 1911 began: of a state, the last value before it is meant.
        nested: how far it hangs one relation on another ("when did the director of the film that …"), in [0, 1]; the
            sentence that holds its words is then seldom the one that holds the answer.
        compares: whether it offers alternatives ("A or B").
    """

    query: Query
    form: AnswerForm
    stems: frozenset[str]
    noun: str | None
    event: str | None
    time: tuple[Millis, Millis] | None
    nested: float
    compares: bool


def wanted_span(query: Query) -> WantedSpan:
    """Return what the question asks for."""
    form: AnswerForm = "frequency" if _OFTEN.search(query.text) else _FORMS.get(query.answer_type, "thing")
    names = frozenset(stem for speaker in query.speakers for stem in stems(speaker))
    times = stated_times(query.text, None)
    dated = frozenset(stem for time in times for stem in stems(query.text[time.start : time.end]))
    left = frozenset(query.stems) - dated - _FORM_WORDS.get(form, frozenset()) - _TYPE_WORDS
    if len(query.speakers) == 1:
        left -= names
    return WantedSpan(
        query=query,
        form=form,
        stems=left,
        noun=_type_noun(query.text, form),
        event=query.stems[-1] if query.stems else None,
        time=_time_interval(query, times),
        nested=min(max(len(_NESTING.findall(query.text)) - 1, 0), MOST_NESTED) / MOST_NESTED,
        compares=form != "yes_no" and _ALTERNATIVE.search(query.text) is not None,
    )


def _time_interval(query: Query, times: Sequence[StatedTime]) -> tuple[Millis, Millis] | None:
    constraint = query.time
    if (
        constraint is None or not constraint.dated
    ):  # a time that binds nothing, "the 2010 cup", still tells which sentence is meant
        return (times[0].since, times[0].until) if times else None
    if constraint.order == "before":
        edge = constraint.until if constraint.since == BEGINNING else constraint.since
        return edge - 1, edge
    if constraint.order == "after":
        edge = constraint.since if constraint.until == FOREVER else constraint.until
        return edge, edge + 1
    return constraint.since, constraint.until


def _type_noun(text: str, form: AnswerForm) -> str | None:
    if form == "count":
        found = _COUNTED.search(text)
        word = found[1] if found else ""
    elif form == "duration" and _OLD.search(text):
        word = "old"
    else:
        found = _NOUN.search(text) or _DIRECT.search(text)
        word = found[found.lastindex or 1] if found else ""
    return next(iter(stems(word)), None)


YEAR = 31_557_600_000
DAY = 86_400_000
_ASIDE = re.compile(r"\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class SupportWeights:
    """The weight of each measure; fitted as the logit of the right span among all of a question's, then rounded.

    Attributes:
        score: of the item of evidence, over the best item's, in talk.
        document_score: the same in documents.
        coverage: of the question's words by the sentence, in [0, 1].
        cosine: of the sentence to the question, in [-1, 1].
        neutral_cosine: stands in where no vectors are held.
        own: whether the person asked about speaks (1) or is named (.5).
        context: coverage by the whole item of evidence.
        interrogative: a sentence that asks something itself.
        time: nearness of the sentence's times to the question's, in [0, 1].
        context_time: the same of the whole item of evidence.
        years: a time so far away counts e times less; one after the question's, twice as far.
        breadth: a stated interval that is longer than the question's by so many years counts half.
        taught: the gate of the sentence less 1, in [-1, 1]; set, not fitted: one word of a caller (a gate of about 1.6)
            adds as much as the whole context does.
    """

    score: float = 1.6
    document_score: float = 2.5
    coverage: float = 0.5
    cosine: float = 1.2
    neutral_cosine: float = 0.4
    speaker_match: float = 0.6
    context: float = 1.0
    interrogative: float = -0.8
    time: float = 1.0
    context_time: float = 1.4
    years: float = 2.0
    breadth: float = 30.0
    feedback: float = 1.6


@dataclass(frozen=True)
class WeighedSentence:
    """A candidate weighed; taken apart into words only when somebody looks, since most never are.

    Attributes:
        candidate: the sentence.
        text: its words, with what stands in square brackets blanked out (captions, stage directions: not said).
        asked: stems that the question asks with.
        title: stems of the document's title.
        own: 1, 0.5 or 0.
        context: in [0, 1].
        coverage: in [0, 1].
        support: the weighted sum.
    """

    evidence: EvidenceSentence
    text: str
    query_stems: frozenset[str]
    title: frozenset[str]
    speaker_match: float
    context: float
    coverage: float
    support: float

    @property
    def is_document(self) -> bool:
        """Whether the sentence stands in a document."""
        return self.evidence.source.turn.kind == "document"

    @cached_property
    def words(self) -> list[Word]:
        """The words of the text."""
        return read_words(self.text)

    @cached_property
    def hits(self) -> list[int]:
        """Indexes of the words that the question holds too."""
        return [index for index, word in enumerate(self.words) if not self.query_stems.isdisjoint(word.stems)]

    @cached_property
    def times(self) -> tuple[tuple[int, int, StatedTime], ...]:
        """The stated times with their places, in characters from the start of the sentence."""
        start, length = self.evidence.source.start, len(self.text)
        placed = ((time.start - start, time.end - start, time) for time in self.evidence.times)
        return tuple((first, last, time) for first, last, time in placed if 0 <= first < last <= length)


def weigh_sentences(
    wanted: WantedSpan, sentences: Sequence[EvidenceSentence], rarity: Mapping[str, float], weights: SupportWeights
) -> list[WeighedSentence]:
    """Return the candidates taken apart, the best supported first, ties in the order given."""
    asked = wanted.stems
    total = sum(rarity.get(stem, 1.0) for stem in asked) or 1.0
    best = max((candidate.score for candidate in sentences), default=0.0) or 1.0
    parsed: list[tuple[EvidenceSentence, str, frozenset[str], float]] = []
    around: dict[str, set[str]] = defaultdict(set)
    around_time: dict[str, float] = defaultdict(float)
    titles: dict[str, frozenset[str]] = {}
    for candidate in sentences:
        text = _ASIDE.sub(lambda aside: " " * len(aside[0]), candidate.source.quote)
        hits = asked.intersection(stems(text))
        time = max((time_similarity(wanted, stated, weights) for stated in _sentence_times(candidate)), default=0.0)
        turn = candidate.source.turn
        if turn.id not in titles:
            titles[turn.id] = frozenset(stems(turn.title or ""))
        around[candidate.evidence_id] |= hits | (titles[turn.id] & asked)
        around_time[candidate.evidence_id] = max(around_time[candidate.evidence_id], time)
        parsed.append((candidate, text, hits, time))
    weighed = []
    for candidate, text, hits, time in parsed:
        context = sum(rarity.get(stem, 1.0) for stem in around[candidate.evidence_id]) / total
        coverage = sum(rarity.get(stem, 1.0) for stem in hits) / total
        own = _speaker_match(wanted, candidate)
        support = (
            (weights.document_score if turn.kind == "document" else weights.score) * candidate.score / best
            + weights.coverage * coverage
            + weights.cosine * (weights.neutral_cosine if candidate.cosine is None else candidate.cosine)
            + weights.speaker_match * own
            + weights.context * context
            + weights.interrogative * text.rstrip().endswith(QUESTION_MARKS)
            + weights.time * time
            + weights.context_time * around_time[candidate.evidence_id]
            + weights.feedback * (candidate.gate - 1)
        )
        title = titles[candidate.source.turn.id]
        weighed.append(WeighedSentence(candidate, text, asked, title, own, context, coverage, support))
    return sorted(weighed, key=lambda sentence: -sentence.support)


def time_similarity(wanted: WantedSpan, stated: StatedTime, weights: SupportWeights) -> float:
    """Return how near a stated time is to the question's, in [0, 1]; 0 where the question states none.

    A state lasts until the next change, so what begins before the time asked about counts more than what comes after.
    """
    if wanted.time is None:
        return 0.0
    since, until = wanted.time
    away = 0.0
    if stated.until <= since:
        away = (since - stated.until) / YEAR
    elif stated.since >= until:
        away = 2 * (stated.since - until) / YEAR
    start = since if stated.since <= BEGINNING else stated.since
    end = until if stated.until >= FOREVER else stated.until
    longer = max((end - start) - (until - since), 0) / YEAR
    return math.exp(-min(away / weights.years, 50.0)) / (1 + longer / weights.breadth)


def _sentence_times(sentence: EvidenceSentence) -> list[StatedTime]:
    """Return what the sentence states, and for a message the day on which it was said."""
    turn = sentence.source.turn
    if turn.kind == "document" or turn.said_at is None:
        return list(sentence.times)
    return [*sentence.times, StatedTime(0, 0, turn.said_at, turn.said_at + DAY, "day", True)]


def _speaker_match(wanted: WantedSpan, sentence: EvidenceSentence) -> float:
    speakers = wanted.query.speakers
    if len(speakers) != 1 or sentence.source.turn.kind == "document":
        return 1.0
    name = speakers[0].casefold()
    turn = sentence.source.turn
    if (turn.speaker or turn.role or "").casefold() == name:
        return 1.0
    return 0.5 if name in sentence.source.quote.casefold() else 0.0


def names_unknown(question: WantedSpan, weighed: Sequence[WeighedSentence]) -> bool:
    """Return whether the question names something that no sentence, title or speaker of the evidence mentions."""
    wanted = [hits for name in question.query.names if (hits := question.stems.intersection(stems(name)))]
    if not wanted:
        return False
    asked = frozenset[str]().union(*wanted)
    mentioned: set[str] = set()
    for sentence in weighed:
        turn = sentence.evidence.source.turn
        mentioned |= asked & (sentence.title | frozenset(stems(f"{sentence.text} {turn.speaker or ''}")))
    return any(mentioned.isdisjoint(hits) for hits in wanted)


def rivalry(best: WeighedSentence, weighed: Sequence[WeighedSentence], weights: SupportWeights) -> float:
    """Return how far somebody else's sentence bears better on the question, in [-1, 1]; below 0 where none does."""
    others = [sentence.support for sentence in weighed if sentence.speaker_match == 0]
    if not others:
        return -1.0
    return min(max(max(others) - (best.support - weights.speaker_match * best.speaker_match), -1.0), 1.0)
