"""Answers in the words of the speaker: what, how and why, and yes or no.

Short spans answer more precisely, clauses are safer; the fit of each shape is what the shape was worth among the spans
of a question. "What kind of group" is answered by the words before "group" in the sentence.

"Why" is answered by a reason alone: what follows "because" and similar words, a purpose ("to …"), or a wish. A
statement that something was done is no reason for it.

Yes or no is answered only where one clause holds all words of the query and its sign is certain. Matching words do not
make a statement true: wishes, conditions and words of the opposite ("quit", "hate") leave the question open, as does a
question that compares, supposes or denies. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.rules.answers.spans import (
    MOST_WORDS,
    Span,
    adjacent,
    name_runs,
    novelty,
    shorten,
    split_clauses,
    strip_edges,
    trim_clause,
    word_at,
)
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence
from mcp_memory.rules.answers.typed_spans import hit_proximity

_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,60})[\"”“»]")
_BECAUSE = re.compile(
    r"(?:\b(?:because(?: of)?|cause|since|so that|in order to|due to|owing to)|['’]cause|\bto)\s+", re.I
)
_WANTED = re.compile(r"\b(?:want(?:ed|s)?|need(?:ed|s)?|hop(?:ed|es|ing)|wish(?:ed|es)?)\s+", re.I)
_GOVERNING = frozenset(
    """
    want wants wanted wanting need needs needed have has had going gonna ought able used like likes liked love loves
    loved try tries tried trying plan plans planned planning decide decides decided hope hopes hoped hoping wish wishes
    wished start starts started begin begins began continue continues continued manage manages managed agree agreed
    learn learns learned learnt happy glad excited ready due seem seems seemed from get gets got forget forgot expect
    expects expected prefer prefers preferred refuse refused how what where who when
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that an infinitive completes. What follows them is the action or feeling itself, not its purpose."""
_VERBS = frozenset(("be", "do", "have", "get", "go"))
"""Verbs without a stem, because they are stop words."""
_STOP = re.compile(r"[.;!?\[]|\s[–-]\s")
_JOINING = frozenset(("and", "of", "the", "or"))


def phrase_spans(wanted: WantedSpan, sentence: WeighedSentence, speakers: frozenset[str]) -> Iterator[Span]:
    """Yield the stretches of the sentence that may answer "what" or "how"."""
    for found in _QUOTED.finditer(sentence.text):
        start, end = found.span(1)
        yield Span(start, end, 0.9 + 0.7 * (wanted.noun is not None) + _proximity(sentence, start, end))
    for start, end in split_clauses(sentence.text):
        yield from _clause_spans(wanted, sentence, start, end)
    if wanted.form == "thing":
        yield from _kind_spans(wanted, sentence)
        yield from _follower_spans(wanted, sentence)
        yield from _inner_name_spans(wanted, sentence, speakers)


def _proximity(sentence: WeighedSentence, start: int, end: int) -> float:
    return 0.9 * hit_proximity(sentence, start, end)


def _length_fit(count: int) -> float:
    """Return what a span gains by its length in words."""
    return 0.8 * min(count, MOST_WORDS) / MOST_WORDS


def _clause_spans(wanted: WantedSpan, sentence: WeighedSentence, start: int, end: int) -> Iterator[Span]:
    first, last = word_at(sentence.words, start), word_at(sentence.words, end - 1)
    words = sentence.words[first : last + 1]
    if novelty(words, wanted.stems) == 0:
        return
    left, right = shorten(sentence.text, *trim_clause(sentence.text, start, end))
    yield Span(left, right, _length_fit(len(words)) + _proximity(sentence, left, right))
    inside = [hit for hit in sentence.hits if first <= hit < last]
    if inside and novelty(sentence.words[inside[-1] + 1 : last + 1], wanted.stems) > 0:
        left, right = shorten(sentence.text, sentence.words[inside[-1] + 1].start, end)
        yield Span(left, right, _length_fit(last - inside[-1]) + _proximity(sentence, left, right))


def _kind_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the words before the noun whose kind is wanted: "a *service-focused group*"."""
    words = sentence.words
    for hit in sentence.hits:
        if wanted.noun not in words[hit].stems:
            continue
        first = hit
        while first > 0 and words[first - 1].stems and adjacent(sentence.text, words, first - 1):
            first -= 1
        if first < hit and novelty(words[first:hit], wanted.stems) > 0:
            yield Span(
                words[first].start, words[hit].end, 0.8 + _proximity(sentence, words[first].start, words[hit].end)
            )


def _follower_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the content words directly after one of the query's words: "raising awareness for *hunger*"."""
    words, text = sentence.words, sentence.text
    for hit in sentence.hits:
        first = hit + 1
        while first < len(words) and not words[first].stems and adjacent(text, words, first - 1):
            first += 1
        if (
            first >= len(words)
            or not adjacent(text, words, first - 1)
            or not wanted.stems.isdisjoint(words[first].stems)
        ):
            continue
        last = _content_end(sentence, first)
        while last + 2 < len(words) and words[last + 1].lower_case in _JOINING and words[last + 2].stems:
            if not (adjacent(text, words, last) and adjacent(text, words, last + 1)):
                break
            last = _content_end(sentence, last + 2)
        start, end = words[first].start, words[last].end
        yield Span(start, end, -0.3 + _length_fit(last - first + 1) + _proximity(sentence, start, end))


def _content_end(sentence: WeighedSentence, index: int) -> int:
    """Return the index of the last of the adjacent content words that begin at ``index``."""
    words = sentence.words
    while index + 1 < len(words) and words[index + 1].stems and adjacent(sentence.text, words, index):
        index += 1
    return index


def _inner_name_spans(wanted: WantedSpan, sentence: WeighedSentence, speakers: frozenset[str]) -> Iterator[Span]:
    """Yield names inside the sentence: a book, a band, a dog."""
    for first, last in name_runs(sentence.text, sentence.words):
        words = sentence.words[first : last + 1]
        start, end = words[0].start, words[-1].end
        comma = re.search(r"[,!]\s*$", sentence.text[:start])
        if last == 0 or comma or words[0].lower_case in speakers or novelty(words, wanted.stems) < 0.6:
            continue
        if any(left < end and start < right for left, right, _ in sentence.times):
            continue
        fit = 0.8 + 0.2 * (last > first) + 0.5 * (wanted.noun is not None)
        yield Span(start, end, fit + _proximity(sentence, start, end))


def reason_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield what follows "because" and, with a lower fit, wishes and "to" with a verb."""
    for found in _BECAUSE.finditer(sentence.text):
        purpose = found[0].strip().lower() == "to"
        if _introduces_time(sentence, found) or (purpose and not _is_purpose(wanted, sentence, found)):
            continue
        yield from _reason_span(wanted, sentence, *((found.start(), 0.4) if purpose else (found.end(), 0.9)))
    for found in _WANTED.finditer(sentence.text):
        behind = sentence.words[word_at(sentence.words, found.end()) :]
        verb = next((word for word in behind if word.stems), None)
        if verb is not None and wanted.stems.isdisjoint(verb.stems):  # "wanted to adopt one" is the action itself
            yield from _reason_span(wanted, sentence, found.start(), 0.4)


def _reason_span(wanted: WantedSpan, sentence: WeighedSentence, start: int, fit: float) -> Iterator[Span]:
    stop = _STOP.search(sentence.text, start)
    start, end = shorten(
        sentence.text, *strip_edges(sentence.text, start, stop.start() if stop else len(sentence.text))
    )
    if novelty(sentence.words[word_at(sentence.words, start) : word_at(sentence.words, end - 1) + 1], wanted.stems):
        # a reason explains what its own sentence states
        yield Span(start, end, fit + sentence.coverage + _proximity(sentence, start, end))


def _introduces_time(sentence: WeighedSentence, found: re.Match[str]) -> bool:
    """Return whether what follows "since" is a time."""
    if found[0].strip().lower() != "since":
        return False
    return sentence.text[found.end() :].startswith("then") or any(
        start <= found.end() < end for start, end, _ in sentence.times
    )


def _is_purpose(wanted: WantedSpan, sentence: WeighedSentence, found: re.Match[str]) -> bool:
    """Return whether "to" introduces a purpose: a verb that no word before it governs."""
    place = word_at(sentence.words, found.start())
    if place == 0 or place + 1 >= len(sentence.words):
        return False
    before, verb = sentence.words[place - 1], sentence.words[place + 1]
    if verb.start != found.end() or verb.capital or not (verb.stems or verb.lower_case in _VERBS):
        return False
    return before.lower_case not in _GOVERNING and wanted.stems.isdisjoint(verb.stems)


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
    if (
        _OPEN_QUESTION.search(wanted.query.text)
        or sentence.speaker_match < 1
        or sentence.text.rstrip().endswith(QUESTION_MARKS)
    ):
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
