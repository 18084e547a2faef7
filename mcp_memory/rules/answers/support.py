"""What kind of span a query wants, and how well each sentence of the evidence supports an answer.

Coverage is the measure of DESIGN 3.5: the share of the query's words that a sentence holds, weighted by rarity. The
coverage of the whole evidence item serves queries whose words are spread over neighbouring sentences. The person asked
about must be the speaker or be named: the right event of the wrong person is the commonest error. Where the query
states a time, the sentence should state a near one.
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
from mcp_memory.language.segments import ends_with_question_mark
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.articles import article_of, initials_of, leading_article
from mcp_memory.rules.answers.settings import SupportWeights
from mcp_memory.rules.answers.spans import SentenceWord, all_stems, read_words

AnswerForm = Literal["date", "duration", "frequency", "count", "person", "place", "reason", "thing", "yes_no"]
"""What the answer looks like."""

_OFTEN = re.compile(r"\bhow (?:often|frequently|regularly)\b|\bhow many times (?:a|per|each|every)\b", re.I)
_NOUN = re.compile(
    r"\b(?:what|which)(?:\s+(?:kind|type|sort|genre|style|form|brand|make|model|breed)s?\s+of)?\s+((?:[\w'’-]+\s+){0,3}?)"
    r"([\w'’-]+)(?=\s+(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b)",
    re.I,
)
_BEFORE_TIME = re.compile(
    r"\b(?:what|which)\s+(?!(?:is|are|was|were|do|does|did|has|have|had)\b)((?:[\w'’-]+\s+){0,2}?)([\w'’-]+)(?=\s+(?:in|after|before|between|during|from)\b|\W*$)",
    re.I,
)
_DIRECT = re.compile(
    r"\b(?:what|which)(?:\s+(?:kind|type|sort|genre|style|form|brand|make|model|breed)s?\s+of)?\s+([\w'’-]+)", re.I
)
_COUNTED = re.compile(r"\bhow (?:many|much)\s+(?:of\s+)?(?:(?:different|more|other|new|total)\s+)*([\w'’-]+)", re.I)
_KIND_OF = re.compile(
    r"\b(?:what|which)\s+(?:kind|type|sort|genre|style|form|brand|make|model|breed)s?\s+of\s+([\w'’-]+)\s+(?:is|are|was|were|do|does|did|has|have|had)\b",
    re.I,
)
_DATE_OF = re.compile(r"^\W*what(?:['’]s|\s+(?:is|was))\s+the\s+(?:[\w-]+\s+){0,3}date\b", re.I)
"""A question for a date that is no "when"."""
_AUXILIARY = r"(?:did|does|do|has|have|had|is|are|was|were)"
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
"""Stems that ask for a form ("how *many*", "which *person*"). A sentence need not hold them."""
_FORMS: dict[str, AnswerForm] = {
    "who": "person",
    "when": "date",
    "where": "place",
    "how_many": "count",
    "how_long": "duration",
    "why": "reason",
    "yes_no": "yes_no",
}


_SAYS_NOTHING = re.compile(
    r"\b(?:these\s+days|at\s+the\s+moment|at\s+present|right\s+now|by\s+now|so\s+far|in\s+the\s+end|end(?:s|ed|ing)?\s+up"
    r"|turn(?:s|ed)?\s+out|manage[ds]?\s+to|get\s+to|got\s+to|happen(?:s|ed)?\s+to|for\s+a\s+living|still|actually|really|exactly|finally"
    r"|(?:make|brand|model|breed)s?\s+of|currently|again|already|yet|eventually|normally|usually)\b",
    re.I,
)
"""Words of a question that a statement of its answer need not hold."""


@dataclass(frozen=True, slots=True)
class WantedSpan:
    """The kind of span that answers a query.

    Attributes:
        query: the query.
        form: the form of the answer.
        stems: the stems of the query's content words, except those that ask for the form, state a time, or name the
            only speaker; these are matched in other ways.
        noun: stem of the noun that names the type, "city" of "which city" or "dog" of "how many dogs", or None.
        event: stem of the last content word, mostly the verb, or None.
        time: the interval asked about, ``[since, until)``, bounded on at least one side, or None. "Before 1911" is the
            moment before 1911 began, because of a state the last value before it is meant.
        nested: how far relations are nested ("when did the director of the film that …"), in [0, 1]. The sentence that
            holds the words of a nested query is seldom the one that holds its answer.
        compares: whether the query offers alternatives ("A or B").
        kind_noun: stem of the noun whose kind is wanted, "class" of "what kind of class", or None.
        verb: stem of the verb whose object is wanted, "buy" of "what did she buy", or None.
    """

    query: Query
    form: AnswerForm
    stems: frozenset[str]
    noun: str | None
    event: str | None
    time: tuple[Millis, Millis] | None
    nested: float
    compares: bool
    kind_noun: str | None = None
    verb: str | None = None


def wanted_span(query: Query) -> WantedSpan:
    """Return what kind of span the query wants."""
    form: AnswerForm = "frequency" if _OFTEN.search(query.text) else _FORMS.get(query.answer_type, "thing")
    if form == "thing" and _DATE_OF.match(query.text):
        form = "date"
    names = frozenset(stem for speaker in query.speakers for stem in stems(speaker))
    times = stated_times(query.text, None)
    dated = frozenset(stem for time in times for stem in stems(query.text[time.start : time.end]))
    needless = frozenset(query.stems) - frozenset(stems(_SAYS_NOTHING.sub(" ", query.text)))
    content = frozenset(query.stems) - dated - needless - _FORM_WORDS.get(form, frozenset()) - _TYPE_WORDS
    if len(query.speakers) == 1:
        content -= names
    return WantedSpan(
        query=query,
        form=form,
        stems=content,
        noun=_type_noun(query.text, form),
        event=query.stems[-1] if query.stems else None,
        time=_time_interval(query, times),
        nested=min(max(len(_NESTING.findall(query.text)) - 1, 0), MOST_NESTED) / MOST_NESTED,
        compares=form != "yes_no" and _ALTERNATIVE.search(query.text) is not None,
        kind_noun=_stem_of(_KIND_OF.search(query.text)),
        verb=_object_verb(query),
    )


def _stem_of(found: re.Match[str] | None) -> str | None:
    return next(iter(stems(found[1])), None) if found else None


_OBJECT_OF = re.compile(
    rf"^\W*(?:what|which)\s+(?:(?!{_AUXILIARY}\b)[\w'’-]+\s+){{0,4}}?{_AUXILIARY}\s+(?:i|we|you|he|she|they"
    r"|(?-i:[A-Z])[\w'’-]+(?:\s+(?-i:[A-Z])[\w'’-]+)?(?:\s+and\s+(?:I|(?-i:[A-Z])[\w-]+))?)\s+"
    r"(?:(?:want|wants|decide)\s+to\s+)?(?P<verb>[\w-]+)"
    r"(?!\s+(?:on|at|for|with|to|about|in|of|from|like)(?:\s+\w+ing\b|\W*$))",
    re.I,
)
"""A question for the object of a verb: "What did she buy?", "Which provider did we pick?"."""


def _object_verb(query: Query) -> str | None:
    """Return the stem of the verb whose object a query wants: it follows the subject."""
    found = _OBJECT_OF.search(_SAYS_NOTHING.sub(" ", query.text))
    return next(iter(stems(found["verb"])), None) if found else None


def _time_interval(query: Query, times: Sequence[StatedTime]) -> tuple[Millis, Millis] | None:
    constraint = query.time
    if constraint is None or not constraint.dated:  # "the 2010 cup" bounds nothing, but identifies the sentence
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
        found = _NOUN.search(text) or _BEFORE_TIME.search(text) or _DIRECT.search(text)
        word = found[found.lastindex or 1] if found else ""
    return next(iter(stems(word)), None)


YEAR = 31_557_600_000
DAY = 86_400_000
_ASIDE = re.compile(r"\[[^\[\]]*\]")


@dataclass(frozen=True)
class WeighedSentence:
    """A sentence of the evidence with its support. Words are parsed on first use, since most sentences are never read.

    Attributes:
        evidence: the sentence.
        text: its text, with what stands in square brackets blanked out (captions and stage directions are not speech).
        query_stems: the wanted stems.
        title: stems of the document's title.
        speaker_match: 1, 0.5 or 0.
        context: in [0, 1].
        coverage: in [0, 1].
        support: the weighted sum.
        leads: whether it is of the article from which nearly all of the best evidence is.
    """

    evidence: EvidenceSentence
    text: str
    query_stems: frozenset[str]
    title: frozenset[str]
    speaker_match: float
    context: float
    coverage: float
    support: float
    leads: bool = False

    @property
    def is_document(self) -> bool:
        """Whether the sentence stands in a document."""
        return self.evidence.source.turn.kind == "document"

    @property
    def title_of_article(self) -> str:
        """See `article_of`."""
        return article_of(self.evidence)

    @cached_property
    def words(self) -> list[SentenceWord]:
        """The words of the text."""
        return read_words(self.text)

    @cached_property
    def hits(self) -> list[int]:
        """Indices of the words that the query holds too."""
        return [index for index, word in enumerate(self.words) if not self.query_stems.isdisjoint(word.stems)]

    @cached_property
    def told(self) -> frozenset[str]:
        """The wanted stems that the sentence and its neighbours in the same turn hold."""
        source = self.evidence.source
        around = source.turn.text[max(source.start - 160, 0) : source.end + 160]
        return self.query_stems.intersection(all_stems(f"{around} {source.turn.speaker or ''}"))

    @cached_property
    def times(self) -> tuple[tuple[int, int, StatedTime], ...]:
        """The stated times with their positions in the sentence (first character, first character after it, time)."""
        start, length = self.evidence.source.start, len(self.text)
        placed = ((time.start - start, time.end - start, time) for time in self.evidence.times)
        return tuple((first, last, time) for first, last, time in placed if 0 <= first < last <= length)


def weigh_sentences(
    wanted: WantedSpan, sentences: Sequence[EvidenceSentence], rarity: Mapping[str, float], weights: SupportWeights
) -> list[WeighedSentence]:
    """Return the sentences with their support, best first; ties keep the given order."""
    asked = wanted.stems
    total = sum(rarity.get(stem, 1.0) for stem in asked) or 1.0
    best = max((sentence.score for sentence in sentences), default=0.0) or 1.0
    parsed: list[tuple[EvidenceSentence, str, frozenset[str], float]] = []
    around: dict[str, set[str]] = defaultdict(set)
    around_time: dict[str, float] = defaultdict(float)
    titles: dict[str, frozenset[str]] = {}
    for sentence in sentences:
        text = _ASIDE.sub(lambda aside: " " * len(aside[0]), sentence.source.quote)
        hits = asked.intersection(all_stems(text))
        times = _sentence_times(sentence) if wanted.time else ()
        time = max((time_similarity(wanted, stated, weights) for stated in times), default=0.0)
        turn = sentence.source.turn
        if turn.id not in titles:
            titles[turn.id] = frozenset(stems(turn.title or ""))
        around[sentence.evidence_id] |= hits | (titles[turn.id] & asked)
        around_time[sentence.evidence_id] = max(around_time[sentence.evidence_id], time)
        parsed.append((sentence, text, hits, time))
    weighed = []
    leading = leading_article(sentences)
    for sentence, text, hits, time in parsed:
        context = sum(rarity.get(stem, 1.0) for stem in around[sentence.evidence_id]) / total
        coverage = sum(rarity.get(stem, 1.0) for stem in hits) / total
        speaker_match = _speaker_match(wanted, sentence)
        support = (
            (weights.document_score if sentence.source.turn.kind == "document" else weights.score)
            * sentence.score
            / best
            + weights.coverage * coverage
            + weights.cosine * (weights.neutral_cosine if sentence.cosine is None else sentence.cosine)
            + weights.speaker_match * speaker_match
            + weights.context * context
            + weights.interrogative * ends_with_question_mark(text)
            + weights.time * time
            + weights.context_time * around_time[sentence.evidence_id]
            + weights.feedback * (sentence.gate - 1)
        )
        title = titles[sentence.source.turn.id]
        leads = leading is not None and article_of(sentence) == leading
        weighed.append(WeighedSentence(sentence, text, asked, title, speaker_match, context, coverage, support, leads))
    return sorted(weighed, key=lambda one: -one.support)


def time_similarity(wanted: WantedSpan, stated: StatedTime, weights: SupportWeights) -> float:
    """Return how near a stated time is to the query's, in [0, 1]; 0 where the query states none.

    A state lasts until the next change, so a time that begins before the query's counts more than one after it.
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
    """Return the times that the sentence states and, for a message, the day of the message."""
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


def names_unknown(wanted: WantedSpan, weighed: Sequence[WeighedSentence]) -> bool:
    """Return whether the query names something that no sentence, title or speaker of the evidence mentions."""
    named = [hits for name in wanted.query.names if (hits := wanted.stems.intersection(stems(name)))]
    if not named:
        return False
    asked = frozenset[str]().union(*named)
    mentioned: set[str] = set()
    for sentence in weighed:
        turn = sentence.evidence.source.turn
        initials = initials_of(sentence.title_of_article)
        mentioned |= asked & (sentence.title | frozenset(stems(f"{sentence.text} {initials} {turn.speaker or ''}")))
    return any(mentioned.isdisjoint(hits) for hits in named)


def rivalry(best: WeighedSentence, weighed: Sequence[WeighedSentence], weights: SupportWeights) -> float:
    """Return how much better another speaker's sentence supports the answer than the best sentence does.

    The best sentence counts without its speaker bonus.

    Returns:
        The difference of the supports, in [-1, 1]; -1 if there is no sentence by another speaker.
    """
    others = [sentence.support for sentence in weighed if sentence.speaker_match == 0]
    if not others:
        return -1.0
    return min(max(max(others) - (best.support - weights.speaker_match * best.speaker_match), -1.0), 1.0)
