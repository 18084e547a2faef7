"""Spans with a type of their own: dates and amounts.

"Yesterday", written on 8 May 2023, becomes 7 May 2023. "Last week" becomes "the week before" the day of the message,
since it may mean the calendar week or the last seven days. A sentence without a time borrows one from a neighbour in
the same turn, or takes the day of the message where it reports something that has just happened; both are hedged. A
document reports many events, and its first date often belongs to another: there the sentence has to hold the event
asked about, or be a lifespan, "(1863 – 1928)", of which the beginning or the end is wanted.

Amounts are numbers with what they count. They are English, with digits in any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.expressions import MONTH_NAME, WEEKDAY
from mcp_memory.language.stated import day_in_words, in_words, stated_times
from mcp_memory.rules.answers.deeds import tells_of_other_deed
from mcp_memory.rules.answers.modality import asks_deed, asks_return
from mcp_memory.rules.answers.spans import (
    Span,
    adjacent,
    split_clauses,
    word_at,
    word_gap,
)
from mcp_memory.rules.answers.support import DAY, YEAR, WantedSpan, WeighedSentence

START_STEMS = frozenset(
    ["born", "birth", "start", "begin", "began", "found", "establish", "open", "debut", "launch", "join"]
)
END_STEMS = frozenset(["die", "death", "dead", "end", "close", "disband", "dissolv", "finish", "retir"])
_JUST = re.compile(
    r"\b(?:just|now|today|finally|at last|guess what|currently|this (?:morning|afternoon|evening))\b"
    r"|\bis (?:open|here)\b",
    re.I,
)
_FUTURE = re.compile(r"\b(?:will|going to|gonna|plan(?:s|ning)?|hop(?:e|ing)|soon|next|would|might|want)\b", re.I)
_CLOCK = re.compile(r"\bwhat\s+time\b(?!\s+of\s+(?:the\s+)?year)", re.I)
"""A question for the time of day, which a date does not answer."""
_ASKS_WEEKDAY = re.compile(r"\b(?:which|what)\s+(?:day\s+of\s+the\s+week|weekdays?)\b", re.I)
_WEEKDAY = re.compile(rf"\b{WEEKDAY}s?\b", re.I)
_BARE_DAY = re.compile(r"\W*(?:on\s+)?(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?\W*$", re.I)
_KINDS = (
    (_ASKS_WEEKDAY, _WEEKDAY),
    (re.compile(r"\b(?:which|what)\s+year\b", re.I), re.compile(r"\d{4}")),
    (re.compile(r"\b(?:which|what)\s+month\b", re.I), re.compile(rf"\b{MONTH_NAME}\b", re.I)),
    (
        re.compile(r"\bwhen\b|\b(?:which|what)\s+(?:day|date)\b", re.I),
        re.compile(rf"^(?!{_BARE_DAY.pattern})", re.I),
    ),
)
"""Kinds of time that a question asks for, with what its answer holds; "the 20th" of some month is no date."""
_DAY_OF_YEAR = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({MONTH_NAME})|({MONTH_NAME})\s+(\d{{1,2}})(?:st|nd|rd|th)?)\b(?!,?\s*\d{{4}})",
    re.I,
)
"""A day and month whose year nothing tells; the answer leaves it out."""
_DEED = re.compile(r"^\W*what\s+(?:did|have|has)\b", re.I)
NEIGHBOUR_FIT = -0.9  # of a time that a neighbouring sentence states
SAID_FIT = -1.1  # of the day of the message
LIFESPAN = 15 * YEAR  # shortest interval that counts as a lifespan


def is_time_asked(question: str, answer: str) -> bool:
    """Return whether an answer is the kind of time that a question asks for: a weekday, a month, a year.

    No day of the year says what somebody did.
    """
    if _DEED.match(question) and _DAY_OF_YEAR.fullmatch(answer):
        return False
    return all(answered.search(answer) for asked, answered in _KINDS if asked.search(question))


_MODEL_YEAR = re.compile(r"\b(?:an?|the|my|our)\s(?:19|20)\d\d\s\w$", re.I)


def date_spans(wanted: WantedSpan, sentence: WeighedSentence, weighed: Sequence[WeighedSentence]) -> Iterator[Span]:
    """Yield the times that answer a "when" query by one sentence.

    Args:
        wanted: asks for a date.
        sentence: the sentence.
        weighed: all sentences of the evidence, among which neighbours are looked for.
    """
    if _CLOCK.search(wanted.query.text):
        return
    if _ASKS_WEEKDAY.search(wanted.query.text):
        for found in _WEEKDAY.finditer(sentence.text):
            yield Span(*found.span(), hit_proximity(sentence, *found.span()), typed=True)
        return
    own_times: list[tuple[int, int, StatedTime | None]] = list(sentence.times)
    for start, end, stated in sentence.times:
        if not sentence.is_document and _MODEL_YEAR.search(sentence.text[max(0, start - 4) : end + 2]):
            continue  # "a 1978 Fjordling", a boat
        if sentence.is_document and not (_holds_event(wanted, sentence) or _is_lifespan(wanted, stated)):
            continue
        before = max((one[1] for one in sentence.times if one[1] <= start), default=0)
        returns = asks_return(sentence.text[before:start])
        if not sentence.is_document and len(sentence.times) > 1 and returns != asks_return(wanted.query.text):
            continue  # "we fly on 9 July and come back on 23 July"
        near = hit_proximity(sentence, start, end) + _second_time_clause(sentence, start)
        lifespan = sentence.is_document and _is_lifespan(wanted, stated)
        stated = _moved_to(sentence, start, end) or stated
        text = _date_text(wanted, stated, sentence)
        yield Span(
            start,
            end,
            near,
            text,
            hedged=_is_doubtful(wanted, sentence, stated, (start, end)),
            typed=lifespan,
        )
    if sentence.is_document or not sentence.hits:
        return
    for found in _DAY_OF_YEAR.finditer(sentence.text):
        if not any(start < found.end() and found.start() < end for start, end, _ in own_times):
            day, month = (found[1], found[2]) if found[1] else (found[4], found[3])
            own_times.append((*found.span(), None))
            yield Span(*found.span(), hit_proximity(sentence, *found.span()), f"{int(day)} {month.capitalize()}")
    if own_times:
        return
    source = sentence.evidence.source
    for other in weighed:
        there = other.evidence.source
        apart = max(there.start - source.end, source.start - there.end)
        if there.turn.id != source.turn.id or not 0 <= apart <= 3:
            continue
        for _, _, stated in other.times:
            text = _date_text(wanted, stated, other)
            yield Span(0, len(sentence.text), NEIGHBOUR_FIT, text, other.evidence, hedged=True)
    said_at = source.turn.said_at
    if said_at is not None and _JUST.search(sentence.text) and not _FUTURE.search(sentence.text):
        yield Span(0, len(sentence.text), SAID_FIT, day_in_words(said_at), hedged=True)


_MOVES_FROM = re.compile(
    r"\b(?:(?:mov|chang|postpon|reschedul)(?:e|es|ed|ing)|(?:shift|push|delay|slip)(?:p?ed|s|p?ing)?"
    r"|(?:put|puts|brought|brings?)\b[^.;:!?]{1,40}\b(?:back|off|forward))\b[^.;:!?]{0,40}?"
    r"\sfrom\s.{1,40}?\sto\s(?:the\s)?",
    re.I,
)


def _moved_to(sentence: WeighedSentence, start: int, end: int) -> StatedTime | None:
    """Return the day to which something moved "from 12 March to 2 April": it does not last from one to the other."""
    source = sentence.evidence.source
    moved = _MOVES_FROM.search(sentence.text, max(0, start - 60), end)
    if sentence.is_document or moved is None or not start < moved.end() < end:
        return None
    first = source.start + moved.end()
    return next(iter(stated_times(source.turn.text, source.turn.said_at, first, source.start + end, tense=1)), None)


_YEARLY = re.compile(r"\b(?:birthdays?|anniversar(?:y|ies))\b", re.I)


def _is_doubtful(wanted: WantedSpan, sentence: WeighedSentence, stated: StatedTime, place: tuple[int, int]) -> bool:
    """Return whether a message announced what a question asks of as past, or tells of another deed.

    Whether what was announced came to be is not known; neither is the month of a day of every year that states none:
    "my birthday is on the 20th".
    """
    if _YEARLY.search(wanted.query.text) and _BARE_DAY.match(sentence.text[slice(*place)]):
        return True
    said_at = sentence.evidence.source.turn.said_at
    ahead = not sentence.is_document and said_at is not None and stated.since > said_at
    other = not sentence.is_document and tells_of_other_deed(wanted, sentence, place)
    return other or (ahead and asks_deed(wanted.query.text))


CLAUSE_FIT = 1.5
"""What a time gains if all of the query's words that a sentence of a message holds stand in its own clause."""


def _second_time_clause(sentence: WeighedSentence, start: int) -> float:
    """Return what the clause of a time adds: "we fly on 9 July and come back on 23 July" has a time in each."""
    if sentence.is_document or len(sentence.times) < 2 or not sentence.hits:
        return 0.0
    clauses = split_clauses(sentence.text)
    left, right = next((one for one in clauses if one[0] <= start < one[1]), (0, len(sentence.text)))
    inside = {
        stem for hit in sentence.hits if left <= sentence.words[hit].start < right for stem in sentence.words[hit].stems
    }
    return CLAUSE_FIT * len(inside & sentence.query_stems) / len(sentence.query_stems)


def _date_text(wanted: WantedSpan, stated: StatedTime, sentence: WeighedSentence) -> str:
    """Return a stated time as the answer writes it."""
    if text := relative_period_text(stated, sentence.evidence.source.turn):
        return text
    if _is_lifespan(wanted, stated):
        if not START_STEMS.isdisjoint(wanted.stems):
            return in_words(stated.since, stated.since + 1, stated.grain)
        return in_words(stated.until - 1, stated.until, stated.grain)
    return in_words(stated.since, stated.until, stated.grain)


def relative_period_text(stated: StatedTime, turn: Turn) -> str | None:
    """Return the words for a relative week or a weekend, which have no exact name; None for all other times."""
    said_at = turn.said_at
    if stated.relative and stated.grain == "week" and said_at is not None and 0 <= said_at - stated.until < 7 * DAY:
        return f"the week before {day_in_words(said_at)}"
    if "weekend" in turn.text[stated.start : stated.end].lower():
        return f"the weekend of {day_in_words(stated.since)}"
    return None


def _holds_event(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether the sentence holds the event asked about: the last word of "when did … *die*"."""
    return wanted.event is None or any(wanted.event in sentence.words[hit].stems for hit in sentence.hits)


def _is_lifespan(wanted: WantedSpan, stated: StatedTime) -> bool:
    """Return whether a stated time is a beginning and an end, "(1863 – 1928)", one of which is wanted."""
    bounded = stated.since > BEGINNING and stated.until < FOREVER and stated.until - stated.since > LIFESPAN
    asked = wanted.stems & (START_STEMS | END_STEMS)
    return bounded and bool(asked) and stated.grain in ("day", "month", "year")


def hit_proximity(sentence: WeighedSentence, start: int, end: int) -> float:
    """Return how near a span stands to the query's words in the sentence, in (0, 1]."""
    first, last = word_at(sentence.words, start), word_at(sentence.words, end - 1)
    return 1 / (1 + word_gap(first, last, sentence.hits) / 4)


_NUMBER = (
    r"(?:\d+(?:[.,]\d+)*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|(?:a |one )?hundred|(?:a |one )?thousand|half a dozen|a dozen|dozens of"
    r"|(?:a )?couple(?: of)?|several|a few|few|many)"
)
_UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|decades?)"
_COUNT = re.compile(rf"(?<![\w.,])(?!many\b|few\b|a few\b|several\b)({_NUMBER})(?![\w])", re.I)
_DURATION = re.compile(
    rf"\b((?:{_NUMBER}|(?<!\d )an?)(?:[ -]|\s+and\s+a\s+half\s+|\s+more\s+|\s+whole\s+){_UNIT})\b"
    r"(?!\s+(?:ago|old|later|before)\b)"
    rf"|\b(since\s+(?:i\s+was\s+[\w-]{{1,12}}|\d{{4}}|(?:high\s+)?school|childhood|{MONTH_NAME}(?:\s+\d{{4}})?))\b",
    re.I,
)
_AGE = re.compile(
    rf"\b((?:{_NUMBER})(?:[ -](?:years?|months?|weeks?))?)[ -]old\b|\b(?:aged?|turned|turning)\s+({_NUMBER})\b", re.I
)
_FREQUENCY = re.compile(
    rf"\b((?:once|twice|{_NUMBER}\s+times)(?:\s+or\s+(?:twice|{_NUMBER}(?:\s+times)?))?\s+(?:a|an|per|each|every)\s+\w+"
    rf"|every\s+(?:other\s+|single\s+|{_NUMBER}\s+)?\w+|daily|weekly|monthly|yearly"
    rf"|on\s+{WEEKDAY}s|once|twice)\b",
    re.I,
)
COUNTED_FIT = 0.6
"""Fit of a number that stands directly before the thing counted."""


def amount_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the amounts in the sentence that have the wanted form."""
    if wanted.form == "count":
        yield from _count_spans(wanted, sentence)
        return
    pattern = _FREQUENCY if wanted.form == "frequency" else _AGE if wanted.noun == "old" else _DURATION
    for found in pattern.finditer(sentence.text):
        start, end = next(found.span(group) for group in range(1, (found.lastindex or 1) + 1) if found[group])
        yield Span(start, end, 0.9 * hit_proximity(sentence, start, end))


_APART = frozenset(("for", "in", "on", "at", "to", "by", "from", "since", "with", "and", "or"))
"""Words between a number and a noun that it does not count."""


def _count_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the counts of the wanted noun: "two dogs" or "two brown dogs" for dogs, no counts of other things."""
    if wanted.noun is None:
        return
    words = sentence.words
    for found in _COUNT.finditer(sentence.text):
        last = word_at(words, found.end() - 1)
        for index in range(last + 1, min(last + 4, len(words))):
            if not adjacent(sentence.text, words, index - 1) or words[index].lower_case in _APART:
                break  # "had the 6 for nineteen years"
            if wanted.noun in words[index].stems:
                start, end = found.start(), words[index].end
                yield Span(start, end, COUNTED_FIT + 0.9 * hit_proximity(sentence, start, end))
                break
