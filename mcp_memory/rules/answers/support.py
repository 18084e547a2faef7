"""How well a sentence of the evidence bears on a question, before any span of it is looked at.

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

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.asking import Asking
from mcp_memory.rules.answers.words import Word, read

YEAR = 31_557_600_000
DAY = 86_400_000
_ASIDE = re.compile(r"\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class Support:
    """The weight of each measure; fitted as the logit of the right span among all of a question's, then rounded.

    Attributes:
        score: of the item of evidence, over the best item's, in talk.
        document_score: the same in documents.
        coverage: of the question's words by the sentence, in [0, 1].
        cosine: of the sentence to the question, in [-1, 1].
        neutral_cosine: stands in where no vectors are held.
        own: whether the person asked about speaks (1) or is named (.5).
        context: coverage by the whole item of evidence.
        question: a sentence that asks something itself.
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
    own: float = 0.6
    context: float = 1.0
    question: float = -0.8
    time: float = 1.0
    context_time: float = 1.4
    years: float = 2.0
    breadth: float = 30.0
    taught: float = 1.6


@dataclass(frozen=True)
class Reading:
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

    candidate: EvidenceSentence
    text: str
    asked: frozenset[str]
    title: frozenset[str]
    own: float
    context: float
    coverage: float
    support: float

    @property
    def is_document(self) -> bool:
        """Whether the sentence stands in a document."""
        return self.candidate.source.turn.kind == "document"

    @cached_property
    def words(self) -> list[Word]:
        """The words of the text."""
        return read(self.text)

    @cached_property
    def hits(self) -> list[int]:
        """Indexes of the words that the question holds too."""
        return [index for index, word in enumerate(self.words) if not self.asked.isdisjoint(word.stems)]

    @cached_property
    def times(self) -> tuple[tuple[int, int, StatedTime], ...]:
        """The stated times with their places, in characters from the start of the sentence."""
        start, length = self.candidate.source.start, len(self.text)
        placed = ((time.start - start, time.end - start, time) for time in self.candidate.times)
        return tuple((first, last, time) for first, last, time in placed if 0 <= first < last <= length)


def weigh(
    question: Asking, candidates: Sequence[EvidenceSentence], rarity: Mapping[str, float], weights: Support
) -> list[Reading]:
    """Return the candidates taken apart, the best supported first, ties in the order given."""
    asked = question.stems
    total = sum(rarity.get(stem, 1.0) for stem in asked) or 1.0
    best = max((candidate.score for candidate in candidates), default=0.0) or 1.0
    taken: list[tuple[EvidenceSentence, str, frozenset[str], float]] = []
    around: dict[str, set[str]] = defaultdict(set)
    around_time: dict[str, float] = defaultdict(float)
    titles: dict[str, frozenset[str]] = {}
    for candidate in candidates:
        text = _ASIDE.sub(lambda aside: " " * len(aside[0]), candidate.source.quote)
        found = asked.intersection(stems(text))
        time = max((nearness(question, stated, weights) for stated in _times(candidate)), default=0.0)
        turn = candidate.source.turn
        if turn.id not in titles:
            titles[turn.id] = frozenset(stems(turn.title or ""))
        around[candidate.evidence_id] |= found | (titles[turn.id] & asked)
        around_time[candidate.evidence_id] = max(around_time[candidate.evidence_id], time)
        taken.append((candidate, text, found, time))
    readings = []
    for candidate, text, found, time in taken:
        context = sum(rarity.get(stem, 1.0) for stem in around[candidate.evidence_id]) / total
        coverage = sum(rarity.get(stem, 1.0) for stem in found) / total
        own = _own(question, candidate)
        support = (
            (weights.document_score if turn.kind == "document" else weights.score) * candidate.score / best
            + weights.coverage * coverage
            + weights.cosine * (weights.neutral_cosine if candidate.cosine is None else candidate.cosine)
            + weights.own * own
            + weights.context * context
            + weights.question * text.rstrip().endswith(QUESTION_MARKS)
            + weights.time * time
            + weights.context_time * around_time[candidate.evidence_id]
            + weights.taught * (candidate.gate - 1)
        )
        title = titles[candidate.source.turn.id]
        readings.append(Reading(candidate, text, asked, title, own, context, coverage, support))
    return sorted(readings, key=lambda reading: -reading.support)


def nearness(question: Asking, stated: StatedTime, weights: Support) -> float:
    """Return how near a stated time is to the question's, in [0, 1]; 0 where the question states none.

    A state lasts until the next change, so what begins before the time asked about counts more than what comes after.
    """
    if question.time is None:
        return 0.0
    since, until = question.time
    away = 0.0
    if stated.until <= since:
        away = (since - stated.until) / YEAR
    elif stated.since >= until:
        away = 2 * (stated.since - until) / YEAR
    start = since if stated.since <= BEGINNING else stated.since
    end = until if stated.until >= FOREVER else stated.until
    longer = max((end - start) - (until - since), 0) / YEAR
    return math.exp(-min(away / weights.years, 50.0)) / (1 + longer / weights.breadth)


def _times(candidate: EvidenceSentence) -> list[StatedTime]:
    """Return what the sentence states, and for a message the day on which it was said."""
    turn = candidate.source.turn
    if turn.kind == "document" or turn.said_at is None:
        return list(candidate.times)
    return [*candidate.times, StatedTime(0, 0, turn.said_at, turn.said_at + DAY, "day", True)]


def _own(question: Asking, candidate: EvidenceSentence) -> float:
    speakers = question.question.speakers
    if len(speakers) != 1 or candidate.source.turn.kind == "document":
        return 1.0
    name = speakers[0].casefold()
    turn = candidate.source.turn
    if (turn.speaker or turn.role or "").casefold() == name:
        return 1.0
    return 0.5 if name in candidate.source.quote.casefold() else 0.0


def unknown(question: Asking, readings: Sequence[Reading]) -> bool:
    """Return whether the question names something that no sentence, title or speaker of the evidence mentions."""
    wanted = [found for name in question.question.names if (found := question.stems.intersection(stems(name)))]
    if not wanted:
        return False
    asked = frozenset[str]().union(*wanted)
    mentioned: set[str] = set()
    for reading in readings:
        turn = reading.candidate.source.turn
        mentioned |= asked & (reading.title | frozenset(stems(f"{reading.text} {turn.speaker or ''}")))
    return any(mentioned.isdisjoint(found) for found in wanted)


def rivalry(best: Reading, readings: Sequence[Reading], weights: Support) -> float:
    """Return how far somebody else's sentence bears better on the question, in [-1, 1]; below 0 where none does."""
    others = [reading.support for reading in readings if reading.own == 0]
    if not others:
        return -1.0
    return min(max(max(others) - (best.support - weights.own * best.own), -1.0), 1.0)
