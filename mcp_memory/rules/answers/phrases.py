"""What, how and why, as people say it in talk: the clause that tells it, or the words right after the question's own.

Short spans say more in fewer words, clauses are safer; the fit of each shape is what it was worth among a question's
spans. "What kind of group" is answered by what stands before "group" in the sentence.

Why is answered by a reason alone: what follows "because" and its like, what something was done *to* reach, what
somebody wanted. That it was done, in whatever words, is no reason for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.rules.answers.asking import Asking
from mcp_memory.rules.answers.dates import near_to_hits
from mcp_memory.rules.answers.spans import MOST_WORDS, Span, bare, clauses, shortened, trimmed
from mcp_memory.rules.answers.support import Reading
from mcp_memory.rules.answers.words import adjoin, at, names, novelty

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
"""Words that an infinitive completes: what follows them is what was done or felt, and no purpose of it."""
_VERBS = frozenset(("be", "do", "have", "get", "go"))
"""Verbs that have no stem, since questions are full of them."""
_STOP = re.compile(r"[.;!?\[]|\s[–-]\s")
_AND = frozenset(("and", "of", "the", "or"))


def phrases(question: Asking, reading: Reading, speakers: frozenset[str]) -> Iterator[Span]:
    """Return the stretches of the sentence that may tell what or how."""
    for found in _QUOTED.finditer(reading.text):
        start, end = found.span(1)
        yield Span(start, end, 0.9 + 0.7 * (question.noun is not None) + _near(reading, start, end))
    for start, end in clauses(reading.text):
        yield from _clause(question, reading, start, end)
    if question.form == "thing":
        yield from _kinds(question, reading)
        yield from _followers(question, reading)
        yield from _titles(question, reading, speakers)


def _near(reading: Reading, start: int, end: int) -> float:
    return 0.9 * near_to_hits(reading, start, end)


def _long(count: int) -> float:
    """Return what a span gains by its length, in words."""
    return 0.8 * min(count, MOST_WORDS) / MOST_WORDS


def _clause(question: Asking, reading: Reading, start: int, end: int) -> Iterator[Span]:
    first, last = at(reading.words, start), at(reading.words, end - 1)
    words = reading.words[first : last + 1]
    if novelty(words, question.stems) == 0:
        return
    left, right = shortened(reading.text, *trimmed(reading.text, start, end))
    yield Span(left, right, _long(len(words)) + _near(reading, left, right))
    inside = [hit for hit in reading.hits if first <= hit < last]
    if inside and novelty(reading.words[inside[-1] + 1 : last + 1], question.stems) > 0:
        left, right = shortened(reading.text, reading.words[inside[-1] + 1].start, end)
        yield Span(left, right, _long(last - inside[-1]) + _near(reading, left, right))


def _kinds(question: Asking, reading: Reading) -> Iterator[Span]:
    """Return what stands before the noun that the question asks the kind of: "a *service-focused group*"."""
    words = reading.words
    for hit in reading.hits:
        if question.noun not in words[hit].stems:
            continue
        first = hit
        while first > 0 and words[first - 1].stems and adjoin(reading.text, words, first - 1):
            first -= 1
        if first < hit and novelty(words[first:hit], question.stems) > 0:
            yield Span(words[first].start, words[hit].end, 0.8 + _near(reading, words[first].start, words[hit].end))


def _followers(question: Asking, reading: Reading) -> Iterator[Span]:
    """Return the content words that follow one of the question's words at once: "raising awareness for *hunger*"."""
    words, text = reading.words, reading.text
    for hit in reading.hits:
        first = hit + 1
        while first < len(words) and not words[first].stems and adjoin(text, words, first - 1):
            first += 1
        if (
            first >= len(words)
            or not adjoin(text, words, first - 1)
            or not question.stems.isdisjoint(words[first].stems)
        ):
            continue
        last = _content_until(reading, first)
        while last + 2 < len(words) and words[last + 1].low in _AND and words[last + 2].stems:
            if not (adjoin(text, words, last) and adjoin(text, words, last + 1)):
                break
            last = _content_until(reading, last + 2)
        start, end = words[first].start, words[last].end
        yield Span(start, end, -0.3 + _long(last - first + 1) + _near(reading, start, end))


def _content_until(reading: Reading, index: int) -> int:
    """Return the last of the content words that stand side by side from ``index`` on."""
    words = reading.words
    while index + 1 < len(words) and words[index + 1].stems and adjoin(reading.text, words, index):
        index += 1
    return index


def _titles(question: Asking, reading: Reading, speakers: frozenset[str]) -> Iterator[Span]:
    """Return names within the sentence: a book, a band, a dog."""
    for first, last in names(reading.text, reading.words):
        words = reading.words[first : last + 1]
        start, end = words[0].start, words[-1].end
        comma = re.search(r"[,!]\s*$", reading.text[:start])
        if last == 0 or comma or words[0].low in speakers or novelty(words, question.stems) < 0.6:
            continue
        if any(left < end and start < right for left, right, _ in reading.times):
            continue
        fit = 0.8 + 0.2 * (last > first) + 0.5 * (question.noun is not None)
        yield Span(start, end, fit + _near(reading, start, end))


def reasons(question: Asking, reading: Reading) -> Iterator[Span]:
    """Return what follows "because", and, less surely, what was wanted and "to" with a verb."""
    for found in _BECAUSE.finditer(reading.text):
        purpose = found[0].strip().lower() == "to"
        if _only_dates(reading, found) or (purpose and not _is_purpose(question, reading, found)):
            continue
        yield from _reason(question, reading, *((found.start(), 0.4) if purpose else (found.end(), 0.9)))
    for found in _WANTED.finditer(reading.text):
        behind = reading.words[at(reading.words, found.end()) :]
        told = next((word for word in behind if word.stems), None)
        if told is not None and question.stems.isdisjoint(told.stems):  # "wanted to adopt one" is what was done
            yield from _reason(question, reading, found.start(), 0.4)


def _reason(question: Asking, reading: Reading, start: int, fit: float) -> Iterator[Span]:
    stop = _STOP.search(reading.text, start)
    start, end = shortened(reading.text, *bare(reading.text, start, stop.start() if stop else len(reading.text)))
    if novelty(reading.words[at(reading.words, start) : at(reading.words, end - 1) + 1], question.stems):
        # a reason is one for what its own sentence tells
        yield Span(start, end, fit + reading.coverage + _near(reading, start, end))


def _only_dates(reading: Reading, found: re.Match[str]) -> bool:
    """Return whether what follows "since" is a time."""
    if found[0].strip().lower() != "since":
        return False
    return reading.text[found.end() :].startswith("then") or any(
        start <= found.end() < end for start, end, _ in reading.times
    )


def _is_purpose(question: Asking, reading: Reading, found: re.Match[str]) -> bool:
    """Return whether "to" leads to what something was done for: to a verb that nothing before it asks for."""
    place = at(reading.words, found.start())
    if place == 0 or place + 1 >= len(reading.words):
        return False
    before, verb = reading.words[place - 1], reading.words[place + 1]
    if verb.start != found.end() or verb.capital or not (verb.stems or verb.low in _VERBS):
        return False
    return before.low not in _GOVERNING and question.stems.isdisjoint(verb.stems)
