"""Who and where, and what a document calls by name: runs of capitalised words, kinship words, places after "in".

Whom a speaker addresses ("Thanks, Ann!") is not whom the talk is about, and a name that the question holds already, or
the title of the document, answers nothing. English by spelling: scripts without capitals give nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.language.expressions import MONTH_NAME, WEEKDAY
from mcp_memory.rules.answers.asking import Asking
from mcp_memory.rules.answers.dates import near_to_hits
from mcp_memory.rules.answers.spans import Span, bare
from mcp_memory.rules.answers.support import Reading
from mcp_memory.rules.answers.words import at, names, novelty

_IN = re.compile(r"\b(?:in|at|to|from|near|into|around|visit(?:ed|ing)?)\s+(?:the\s+)?$", re.I)
_BY = re.compile(r"\bby\s+(?:the\s+)?$", re.I)
_AS = re.compile(r"\b(?:as|of|for|with|joined|signed)\s+(?:an?\s+|the\s+)?$", re.I)
_WHERE = re.compile(
    r"\b(in|at|to|from|near|into|around|outside|on|across)\s+"
    r"((?:(?!(?:and|but|with|for|to|so|that|which|who|when|where|last|this|yesterday|today|next|because|i|we|it)\b)"
    r"[\w'’-]+\s*){1,5})",
    re.I,
)
_INNER = re.compile(r"(?<=\w)\s+(?:in|near|outside)\s+(?:the\s+)?(?=\w)", re.I)
"""What leads from a place to the place that it is in."""
_ANY = re.compile(r"(?:an?|some)\s", re.I)
_LEADING = ("in", "at", "to", "from")
_KIN = (
    r"(?:mom|mum|mother|dad|father|parents?|sister|brother|kids?|child|children|son|daughter|husband|wife|partner|friends?"
    r"|family|grandma|grandmother|grandpa|grandfather|aunt|uncle|cousin|colleagues?|boss|mentors?|teacher|coach"
    r"|neighbou?rs?|group|team|organi[sz]ation)"
)
_SOMEBODY = re.compile(
    rf"\b(?:my|our|his|her|their|some|an?|the)\s+((?:[\w'’-]+\s+){{0,2}}?{_KIN}\b(?:(?:,|,? and)\s(?:my )?{_KIN}\b)*)",
    re.I,
)
_IS = re.compile(r"(?:\b(?:is|was|are|were)|['’]s)\s+$", re.I)
_THEN_IS = re.compile(r"\s+(?:is|was|are|were)\s+(?-i:[A-Z])", re.I)
_CALENDAR = re.compile(
    rf"(?:{MONTH_NAME}|{WEEKDAY}s?)\b",
    re.I,
)
PLACED = 1.6
"""What a name gains by standing where a place is told, after "in" or "at"."""
NEW = 0.6
"""Share of a name's words that must not stand in the question or the title."""


def named(question: Asking, reading: Reading, speakers: frozenset[str]) -> Iterator[Span]:
    """Return the names in the sentence that the question does not hold already.

    Args:
        question: asks for a person, a place or a thing.
        reading: the sentence.
        speakers: the names of those who speak in the evidence, in lower case; they are addressed, not told of.
    """
    text, words = reading.text, reading.words
    for first, last in names(text, words):
        start, end = words[first].start, words[last].end
        if text[end - 2 : end] in ("'s", "’s"):
            end -= 2
        run = words[first : last + 1]
        if _CALENDAR.fullmatch(text[start:end]) or novelty(run, question.stems | reading.title) < NEW:
            continue
        if not reading.is_document and (words[first].low in speakers or _addressed(text, start, end)):
            continue
        before = text[max(0, start - 14) : start]
        fit = 0.9 * near_to_hits(reading, start, end) + 0.9 * (last > first) - 0.2 * (first == last == 0)
        fit += 0.4 * bool(_BY.search(before)) + 0.2 * bool(_AS.search(before))
        placed = bool(_IN.search(before))
        if question.form == "place":
            if not reading.is_document and _outer(text, start, end):
                continue
            fit += PLACED * placed
        elif question.form == "person":
            fit -= 0.8 * placed
        if question.noun is not None and any(question.noun in word.stems for word in run):
            fit += 0.4  # "which party" … "the Labour Party"
        yield Span(start, end, fit, typed=placed == (question.form == "place"))


def somebody(question: Asking, reading: Reading) -> Iterator[Span]:
    """Return those whom a speaker tells of without a name: "my sister", as Ann's sister, "a local organisation"."""
    for found in _SOMEBODY.finditer(reading.text):
        words = reading.words[at(reading.words, found.start(1)) : at(reading.words, found.end(1) - 1) + 1]
        if novelty(words, question.stems) < NEW:
            continue
        told = {stem for word in reading.words for stem in word.stems}
        equated = _IS.search(reading.text[: found.start()]) or _THEN_IS.match(reading.text, found.end())
        if equated and not question.stems <= told:
            continue  # "Ann is my sister" tells who Ann is, and nothing of Ann's brother
        speaker = reading.candidate.source.turn.speaker
        text = f"{speaker}'s {found[1]}" if speaker and found[0].lower().startswith("my ") else None
        yield Span(found.start(), found.end(), 0.9 * near_to_hits(reading, *found.span()), text)


def somewhere(question: Asking, reading: Reading) -> Iterator[Span]:
    """Return the places that a speaker tells of without a name: what follows "in", "at" or "to"."""
    for found in _WHERE.finditer(reading.text):
        start, end = bare(reading.text, *found.span(2))
        if any(first < end and start < last for first, last, _ in reading.times):
            continue
        words = reading.words[at(reading.words, start) : at(reading.words, end - 1) + 1]
        if novelty(words, question.stems) >= NEW:
            leads = found[1].lower() in _LEADING
            fit = 0.9 * near_to_hits(reading, start, end) + 0.6 * leads
            inner = _INNER.search(reading.text, start, end) if leads and _known(found) else None
            if inner and reading.text[inner.end()].isupper():
                fit += PLACED  # it tells where, and where that is
            yield Span(start, end, fit, typed=leads)


def _outer(text: str, start: int, end: int) -> bool:
    """Return whether a name is where the place told of is, Porto in "at the aquarium in Porto"."""
    for found in _WHERE.finditer(text):
        inner = _INNER.search(text, found.start(2), end) if _known(found) else None
        if inner and found[1].lower() in _LEADING and inner.end() <= start and end <= found.end(2):
            return True
    return False


def _known(found: re.Match[str]) -> bool:
    """Return whether a place is told apart from others: "the shop", or where one is "at"; "from a shop" is any."""
    return found[1].lower() == "at" or not _ANY.match(found[2])


def _addressed(text: str, start: int, end: int) -> bool:
    """Return whether somebody is spoken to: "Ann, …", "…, Ann!"."""
    if not text[:start].strip():
        return bool(re.match(r"\s*[,!]", text[end:]))
    return bool(re.search(r"[,!]\s*$", text[:start]) and re.match(r"\s*(?:[!.?,]|$)", text[end:]))
