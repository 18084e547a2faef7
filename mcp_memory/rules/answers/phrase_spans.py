"""Answers in the words of the speaker: what, why, and yes or no.

**What** is answered by a whole noun phrase whose place in the sentence shows that it is the one asked for: the object
of the verb that the question asks with ("What did she *buy*?" … "bought *a red kayak*"), what follows "is" or "is
called" behind the thing asked about ("My favourite colour is *green*"), the words before the noun whose kind is wanted
("*pottery* class"), or a title in quotation marks. Other stretches of a sentence that merely stand near the question's
words are right one time in four, and are not proposed.

**Why** is answered by a reason alone: what follows "because" and similar words in the sentence that states what is to
be explained. **How** is not answered.

**Yes or no** is answered only where one clause holds all words of the question and its sign is certain (`modality`
says whether it states them at all). English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.language.questions import asks_for_several
from mcp_memory.language.segments import ends_with_question_mark
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.modality import PEOPLE
from mcp_memory.rules.answers.spans import (
    SentenceWord,
    Span,
    adjacent,
    novelty,
    shorten,
    split_clauses,
    strip_edges,
    word_at,
)
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence
from mcp_memory.rules.answers.typed_spans import hit_proximity

_MONEY = re.compile(
    r"[€$£]\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:k|m|million|thousand)\b)?"
    r"|\b\d[\d,]*(?:\.\d+)?\s?(?:k|grand|thousand|million)?\s?(?:[€$£]|(?:quid|pounds?|euros?|dollars?|bucks|francs?|kroner|zloty"
    r"|pence|cents?|eur|usd|gbp|grand)\b)",
    re.I,
)
_PER = re.compile(r"\s(?:a|an|per|each)\s(?:hour|day|night|week|month|year|person|piece|word)\b|\s(?:each|pcm)\b", re.I)
_HOW_MUCH = re.compile(
    r"\bhow\s+much\s+(?:(?:money|rent|tax|deposit|pension|salary|wages)\s+)?(?:did|do|does|has|have|had|is|was|were|are)\b",
    re.I,
)
PAYING = frozenset(stems("pay paid spend spent cost buy bought"))
"""Stems of verbs of one payment: what one paid for a thing is what it cost."""
_MONEY_STEMS = frozenset(stems("money"))
_UNPAID = re.compile(
    r"\b(?:want(?:s|ed)?|ask(?:s|ed|ing)?|offer(?:s|ed)?|quoted?|worth|budget|sav(?:e|ed|ing)|if|could|would|off|(?:less|more)\s+than|instead"
    r"|between|about|almost|nearly|over|under|at\s+least|(?<!went\s)(?<!gone\s)(?<!goes\s)up\s+to)\b",
    re.I,
)


_FURTHER = re.compile(r"\s+(?:less|more|extra|cheaper|dearer)\b", re.I)


def asks_price(wanted: WantedSpan) -> bool:
    """Return whether a question asks for a sum of money that was paid: "How much did she pay for the canoe?"."""
    return wanted.form == "count" and _HOW_MUCH.search(wanted.query.text) is not None


def money_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the one sum of money in a clause that holds what a question for a sum is about, and its verb."""
    sums = list(_MONEY.finditer(sentence.text))
    if len(sums) != 1 or _UNPAID.search(sentence.text):
        return
    held = frozenset(stems(sentence.text))
    about = wanted.stems - PAYING - _MONEY_STEMS
    if not about or not about <= held or (not PAYING.isdisjoint(wanted.stems) and PAYING.isdisjoint(held)):
        return
    start, end = sums[0].span()
    if _FURTHER.match(sentence.text, end):
        return
    rate = _PER.match(sentence.text, end)
    yield Span(start, rate.end() if rate else end, 0.9 * hit_proximity(sentence, start, end), typed=True)


_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,60})[\"”“»]")
_TITLED = frozenset(stems("book novel story film movie song album show series game play poem painting article podcast"))
"""Stems of things that have a title."""
_BECAUSE = re.compile(
    r"(?:\b(?:because(?:\s+of)?|cause|so\s+that|in\s+order\s+to|due\s+to|owing\s+to|thanks\s+to)|['’]cause)\s+", re.I
)
_STOP = re.compile(r"[.;!?\[]|\s[–-]\s")
_DETERMINER = re.compile(
    r"\s*(?:(?:an?|the|my|our|his|her|their|some|this|that|these|those|another|its)\s+)?(?:own\s+)?", re.I
)
_ENDS_PHRASE = frozenset(
    """
    yesterday today tomorrow tonight last next this that which who whom whose when where while because since though
    although if so but or and then now here there too also really just again already yet still ever never soon
    recently finally away back together alone instead anyway later earlier ago
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_INSIDE = frozenset(("of", "and", "the", "a", "an", "in"))
_NO_OBJECT = frozenset(
    """
    it them him her me us you one something anything everything nothing stuff things thing lot lots bit time way
    together hard well better best much more less together around out up down off over forward ahead home
    """.split()  # noqa: SIM905 - as above
)
_OPENS_NOUN = frozenset(
    "a an the my our his her their some this that another one two three of in for with about by at and called".split()  # noqa: SIM905 - as above
)
"""Words after which a noun with its modifiers begins."""
_PRAISE = frozenset(
    """
    nice good great awesome amazing wonderful fun funny lovely tasty yummy delicious cool new big little small old
    beautiful special thoughtful favorite favourite best different same other various interesting important real
    """.split()  # noqa: SIM905 - as above
)
"""Words before a noun that name no kind of it."""
MOST_PHRASE_WORDS = 7
_GOES_ON = re.compile(r"^\W*what\s+(?:is|are|was|were|has|have)\b", re.I)
_COPULA = re.compile(r"\s*(?:\b(?:is|are|was|were)|['’]s)\s+(?:called\s+|named\s+)?", re.I)
_NAMING = re.compile(r"\s*(?:(?:is|are|was|were)\s+|['’]s\s+)?(?:called|named)\s+", re.I)
_ASKS_NAME = re.compile(r"\b(?:names?|called|named)\b", re.I)
_WHAT_IS = re.compile(r"^\W*(?:what|which|who)(?:\s+(?:is|are|was|were)|['’]s)\s+", re.I)
_NO_VALUE = re.compile(
    r"(?:not|never|so|very|really|too|quite|pretty|just|still|always|already|also|going|getting|being|more|less|such|n['’]t)\b|\w+ing\b",
    re.I,
)


def phrase_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the noun phrases of a message that may answer "what" or "which"."""
    if wanted.query.answer_type not in ("what", "who"):
        return
    if wanted.noun in _TITLED:
        for found in _QUOTED.finditer(sentence.text):
            start, end = found.span(1)
            yield Span(start, end, 1.6 + _proximity(sentence, start, end), typed=True)
    if asks_for_several(wanted.query.text):
        return  # a question for several things: one message seldom names all of them
    yield from _kind_spans(wanted, sentence)
    yield from _object_spans(wanted, sentence)
    yield from _copula_spans(wanted, sentence)
    yield from _called_spans(wanted, sentence)


def _proximity(sentence: WeighedSentence, start: int, end: int) -> float:
    return 0.9 * hit_proximity(sentence, start, end)


def _kind_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the noun whose kind is wanted, with the words before it: "a *service-focused group*"."""
    kind = wanted.kind_noun or wanted.noun
    if kind is None:
        return
    words = sentence.words
    others = wanted.stems - {kind}
    for index, word in enumerate(words):
        if kind not in word.stems:
            continue
        first = index
        while first > 0 and words[first - 1].stems and adjacent(sentence.text, words, first - 1):
            first -= 1
        inside = words[first:index]
        opened = first > 0 and words[first - 1].lower_case in _OPENS_NOUN
        while inside and not others.isdisjoint(inside[0].stems):  # a verb of the question: "joined pottery classes"
            inside, opened = inside[1:], True
        if inside and opened and inside[-1].lower_case not in _PRAISE and novelty(inside, wanted.stems) > 0:
            start, end = inside[0].start, word.end
            yield Span(start, end, 1.2 + _proximity(sentence, start, end), typed=True)


_ATTRIBUTES = frozenset(
    stems("colour color size shape price age number amount length language kind way part side reason")
)
"""Stems of nouns for what a thing has: the thing itself is no answer to "What colour did she paint the shed?"."""


def _object_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the object of the verb that the question asks with."""
    if wanted.verb is None or wanted.kind_noun is not None or wanted.noun in _ATTRIBUTES:
        return
    for word in sentence.words:
        if wanted.verb not in word.stems or (
            word.lower_case.endswith("ing") and not _GOES_ON.search(wanted.query.text)
        ):
            continue
        phrase = _noun_phrase(sentence, word.end)
        value = _words_in(sentence, *phrase) if phrase is not None else []
        if value and wanted.noun is not None and not (value[0].capital or wanted.noun in value[-1].stems):
            continue
        if phrase is not None and novelty(value, wanted.stems) == 1:
            yield Span(*phrase, 1.0 + _proximity(sentence, *phrase), typed=True)


def _noun_phrase(sentence: WeighedSentence, place: int) -> tuple[int, int] | None:
    """Return the noun phrase that begins at a place of the sentence, without its article; None for anything else."""
    text, words = sentence.text, sentence.words
    opening = _DETERMINER.match(text, place)
    start = opening.end() if opening else place
    first = word_at(words, start)
    if first >= len(words) or words[first].start != start or not words[first].stems:
        return None
    last = index = first
    while index < len(words) and index - first < MOST_PHRASE_WORDS:
        word = words[index]
        if index > first and not adjacent(text, words, index - 1):
            break
        if any(start <= word.start < end for start, end, _ in sentence.times):
            break
        if word.lower_case in _ENDS_PHRASE and word.lower_case not in _INSIDE:
            break
        if word.stems and word.lower_case not in _ENDS_PHRASE:
            last = index
        elif word.lower_case not in _INSIDE:
            break
        index += 1
    else:
        if index - first >= MOST_PHRASE_WORDS:
            return None  # too long for a phrase: its end is not known
    if words[last].lower_case in _NO_OBJECT or words[first].lower_case in _NO_OBJECT:
        return None
    return words[first].start, words[last].end


_PEOPLE_STEMS = frozenset(stem for word in PEOPLE for stem in stems(word))


def _copula_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield what a clause says that the thing asked about is, or is called."""
    if not (_WHAT_IS.match(wanted.query.text) or _ASKS_NAME.search(wanted.query.text)):
        return
    asks_name = _ASKS_NAME.search(wanted.query.text) is not None
    wants = wanted.stems - frozenset(stems("name called named"))
    if not wants:
        return
    for start, end in split_clauses(sentence.text):
        for found in (_NAMING if asks_name else _COPULA).finditer(sentence.text, start, end):
            subject = _words_in(sentence, start, found.start())
            told = frozenset(stem for word in subject for stem in word.stems)
            extra = [word for word in subject if word.stems and wants.isdisjoint(word.stems)]
            apart = wants - told
            if (
                apart == wants
                or not apart <= sentence.told - _PEOPLE_STEMS
                or extra
                or _NO_VALUE.match(sentence.text, found.end())
            ):
                continue
            left, right = shorten(sentence.text, *strip_edges(sentence.text, found.end(), end))
            value = _words_in(sentence, left, right)
            if asks_name:
                value = value[: next((place for place, word in enumerate(value) if not word.capital), len(value))]
            if value and len(value) <= MOST_PHRASE_WORDS and novelty(value, wanted.stems) == 1:
                yield Span(value[0].start, value[-1].end, 1.6, typed=True)


_CALLED = re.compile(
    r"\b(?:(?:he|she|it|they)(?:['’]s|\s+is|\s+are|\s+was)\s+(?:called|named)|(?:his|her|its|their)\s+name(?:['’]s|\s+is|\s+was)"
    r"|(?:a|an|the|our|my|this|that)\s+[\w-]+\s+(?:called|named))\s+(?P<name>(?-i:[A-Z])[\w'’-]*(?:\s+(?-i:[A-Z])[\w'’-]*)*)",
    re.I,
)
CALLED_FIT = 1.65
"""Fit of such a name, whose sentence need not hold the words of the question itself."""
_LAST_SENTENCE = re.compile(r"[^.!?]*[.!?]?[^.!?]*$")


def _called_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the name that a pronoun is given behind the thing asked about: "I got a *cat*. His name is Miso."."""
    wants = wanted.stems - frozenset(stems("name called named"))
    if not _ASKS_NAME.search(wanted.query.text) or not wants:
        return
    source = sentence.evidence.source
    for found in _CALLED.finditer(sentence.text):
        before = source.turn.text[: source.start + found.start("name")]
        near = _LAST_SENTENCE.search(before)
        told = frozenset(stems(near[0])) if near else frozenset()
        others = {stem for word in PEOPLE for stem in stems(word)} - wants
        if wants <= told and others.isdisjoint(told):
            yield Span(*found.span("name"), CALLED_FIT, typed=True)


def _words_in(sentence: WeighedSentence, start: int, end: int) -> list[SentenceWord]:
    return [word for word in sentence.words if start <= word.start and word.end <= end]


def reason_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield what follows "because" and similar words."""
    for found in _BECAUSE.finditer(sentence.text):
        stop = _STOP.search(sentence.text, found.end())
        start, end = shorten(
            sentence.text, *strip_edges(sentence.text, found.end(), stop.start() if stop else len(sentence.text))
        )
        if novelty(_words_in(sentence, start, end), wanted.stems):
            # a reason explains what its own sentence states
            yield Span(start, end, 0.9 + sentence.coverage + _proximity(sentence, start, end))


_OPEN_QUESTION = re.compile(
    r"\b(?:would|could|should|might|may|will|can|or|both|same|more|less|than|if|ever|still|anymore|not|never)\b|n['’]t\b",
    re.I,
)
_UNDECIDED = re.compile(
    r"\b(?:if|might|may|maybe|perhaps|wish|would|could|should|hop(?:e|ing)|want(?:s|ed)?|plan(?:s|ning|ned)?"
    r"|going to|gonna|try(?:ing)?|tried|used to|almost|nearly|instead|unless|someday|think(?:ing)?|thought"
    r"|hate[sd]?|dislike[sd]?|quit|stop(?:ped|s)?|fail(?:ed|s)?|refuse[sd]?|avoid(?:ed|s)?|lost|without|hardly|barely|rather)\b",
    re.I,
)
_NEGATED = re.compile(r"\b(?:not|never|no longer|nobody|none|no)\b|n['’]t\b", re.I)
_LIKING = re.compile(r"\b(?:like|love|enjoy|adore)(?:s|d)?\b", re.I)
LEAST_POLAR_WORDS = 2
"""Least content words of the query: with one alone, any olive would answer "does she like olives"."""


def polarity_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield a yes or a no for each clause that holds all words of the query."""
    if _OPEN_QUESTION.search(wanted.query.text) or sentence.speaker_match < 1 or ends_with_question_mark(sentence.text):
        return
    if len(wanted.stems - sentence.title) < LEAST_POLAR_WORDS:
        return
    needed = wanted.stems - sentence.title if sentence.is_document else wanted.stems
    for start, end in split_clauses(sentence.text):
        clause = sentence.text[start:end]
        inside = {stem for word in sentence.words if start <= word.start < end for stem in word.stems}
        if not needed <= inside or _UNDECIDED.search(clause):
            continue
        if _LIKING.search(wanted.query.text) and not _LIKING.search(clause):
            continue
        yield Span(start, end, 0.0, "No" if _NEGATED.search(clause) else "Yes")
