"""Split a sentence into words; contractions are separated, a date is one word.

"She's lived there since 2019" is *She* · *'s* · *lived* · *there* · (since 2019). Text in quotation marks is one word,
which is not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from mcp_memory.domain.times import StatedTime
from mcp_memory.language.stated import in_words
from mcp_memory.rules.facts.tables import ADVERBIAL_PHRASES, closed

Kind = Literal["word", "number", "time", "speech", "adverb", "mark"]

_TOKEN = re.compile(
    r"(?<![\w,])\d{1,3}(?:,\d{3}){1,5}(?!\w|,\d)|\d+(?:[–—:/]\d+)+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}|(?:Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr)\.|(?<!\w)(?:[A-Z]\.){2,6}|(?<!\w)[A-Z]\.(?=\s?[A-Z])"
    r"|[A-Z]\w{0,30}\s&\s[A-Z]\w{0,30}|[^\W_]+(?:[-&.][^\W_]+|['’][^\W_]+)*(?:\+(?!\w))?|\.{2,}|[^\w\s]",
    re.UNICODE,
)
_CONTRACTED = re.compile(r"(?:(n['’]t)|(['’](?:s|m|re|ve|ll|d)))$", re.IGNORECASE)
_NOT_CONTRACTED = frozenset(("master's", "bachelor's", "parkinson's", "alzheimer's"))
"""Words that only look like possessives."""
_SPELT = {"favorite": "favourite", "neighbor": "neighbour", "wo": "will", "ca": "can", "u": "you"}
_QUOTED = re.compile(
    r"\"([^\"]{1,160})\"|“([^”]{1,160})”|«([^»]{1,160})»|(?<!\w)['‘]((?:[^'’\n]|(?<=\w)['’](?=\w)){1,160})['’](?!\w)"
)
_ADVERBIALS = re.compile(
    rf"(?<![\w'’-])(?:{'|'.join(sorted(ADVERBIAL_PHRASES, key=len, reverse=True))})(?![\w'’-])".replace(" ", r"\s+"),
    re.IGNORECASE,
)
"""Phrases that are one adverb: "at the moment", "for good"."""
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b|\d[./-]\d", re.IGNORECASE)
_LEAD_IN = re.compile(
    r"\s*(?:(?:please|pls|so|and|also|ok|okay|hey)[, ]{1,2})?(?:(?:(?:do not|don['’]t|never) forget|remember"
    r"|keep in mind|bear in mind|(?:make|take) a note|note to self|just so you know|fyi|for the record|nota bene"
    r"|note|reminder|save this|to remember|guess what)(?:\s*[:,–—]\s*|\s+that\s+(?=\S)|\s+(?=I\b)))",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """One word of a sentence.

    Attributes:
        text: as written.
        low: in lower case, contractions written out with a straight apostrophe ("n't", "'s").
        start: first character within the turn's text.
        end: first character after it.
        kind: what it is.
        time: the time that a word of kind ``time`` states, if that is known.
    """

    text: str
    low: str
    start: int
    end: int
    kind: Kind = "word"
    time: StatedTime | None = None

    @property
    def capital(self) -> bool:
        """Whether it is capitalised like a part of a name."""
        return self.kind == "word" and self.text[0].isupper() and self.low != "i"

    @property
    def mark(self) -> bool:
        """Whether it is punctuation."""
        return self.kind == "mark"


def in_calendar(date: Word) -> str:
    """Return a date as said, or in the words of the calendar if it can only be read on the day of the telling.

    "8 January" stays as it is, "next week" is "week of 16 January 2023", "Friday" "20 January 2023".
    """
    said, time = date.text.rstrip(".,;"), date.time
    if time is None or not time.relative or _MONTH.search(said):
        return said
    return in_words(time.since, time.until, time.grain).removeprefix("the ")


def skip_lead_in(text: str, start: int, end: int) -> int:
    """Return the start of the statement: behind "remember that", or the start of the sentence."""
    match = _LEAD_IN.match(text, start, end)
    return match.end() if match and match.end() < end else start


def split_words(
    text: str, start: int, end: int, times: Sequence[StatedTime], named: Sequence[StatedTime]
) -> list[Word]:
    """Return the words of a sentence in order.

    Args:
        text: the text of the whole turn.
        start: first character of the sentence.
        end: first character after it.
        times: the times that the sentence states, none of which belongs to a noun; each becomes one word.
        named: what may be times; where the sentence states none, each becomes a word whose time nobody knows.
    """
    special: list[Word] = []

    def is_free(first: int, last: int) -> bool:
        return all(last <= other.start or first >= other.end for other in special)

    for time, known in (*((one, one) for one in times), *((one, None) for one in named)):
        if start <= time.start < time.end <= end and is_free(time.start, time.end):
            special.append(Word(text[time.start : time.end], "", time.start, time.end, "time", known))
    for match in _QUOTED.finditer(text, start, end):
        if not is_free(*match.span()):
            continue
        inside = next(group for group in match.groups() if group is not None)
        index = text.index(inside, match.start())
        special.append(Word(inside, inside.lower(), index, index + len(inside), "speech"))
    for match in _ADVERBIALS.finditer(text, start, end):
        if is_free(*match.span()):
            phrase = " ".join(match[0].lower().split())
            special.append(Word(phrase, phrase, match.start(), match.end(), "adverb"))
    special.sort(key=lambda word: word.start)
    words: list[Word] = []
    index = start
    for special_word in special:
        words += _split_plain(text, index, special_word.start)
        if special_word.kind == "time" and words and words[-1].low == "the" and _ORDINAL.match(special_word.text):
            words.pop()  # "the 30th of May" is "30 May"
        words.append(special_word)
        index = special_word.end
    words += _split_plain(text, index, end)
    return [word for word in words if word.low not in ('"', "“", "”", "«", "»")]


_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)\b")
_POSSESSIVE = re.compile(r"\b(?:(?:my|our|his|her|their)|(?-i:[A-Z])\w{1,20}['’]s)\s{1,3}$", re.IGNORECASE)


_OF_A_YEAR = re.compile(r"\s[A-Z]\w")
_MODEL = re.compile(r"\b(?:an?|my|our|his|her|their|this)\s(?:[a-z]+\s){0,2}$", re.IGNORECASE)


def time_belongs_to_noun(text: str, time: StatedTime) -> bool:
    """Return whether a time belongs to a thing rather than to a clause: "my last month", "Ann's Friday class"."""
    if time.grain == "year" and text[time.start : time.end].isdecimal() and _OF_A_YEAR.match(text, time.end):
        return bool(_MODEL.search(text, max(0, time.start - 40), time.start))  # "a green 2014 Skoda"
    return bool(_POSSESSIVE.search(text, max(0, time.start - 24), time.start))


def _split_plain(text: str, start: int, end: int) -> list[Word]:
    words: list[Word] = []
    for match in _TOKEN.finditer(text, start, end):
        token, first, last = match[0], match.start(), match.end()
        if not (token[0].isalnum() or token[0] == "_"):
            words.append(Word(token, token if token in closed.STOPS or token in "'’" else ",", first, last, "mark"))
            continue
        low = token.lower().replace("’", "'")
        split = _CONTRACTED.search(token) if "'" in low else None
        cut = 3 if low == "cannot" else split.start() if split and low not in _NOT_CONTRACTED else 0
        if cut:
            words.append(_make_word(token[:cut], low[:cut], first, first + cut))
            words.append(Word(token[cut:], low[cut:], first + cut, last))
        else:
            words.append(_make_word(token, low, first, last))
    return words


def _make_word(token: str, low: str, first: int, last: int) -> Word:
    return Word(token, _SPELT.get(low, low), first, last, "number" if token[0].isdigit() else "word")


_LETTERS = re.compile(r"\w+")
_CONTRACTION = re.compile(r"['’](?:s|m|ve|re|ll)\b", re.IGNORECASE)


def is_english(sentence: str) -> bool:
    """Return whether a sentence has more small words of English than of other languages.

    A sentence without any small word counts as English if it is pure ASCII.
    """
    words = _LETTERS.findall(sentence.lower())
    ours = sum(word in closed.ENGLISH for word in words) + len(_CONTRACTION.findall(sentence))
    others = sum(word in closed.OTHER_LANGUAGES for word in words)
    return ours > others or (ours == others and sentence.isascii() and (ours > 0 or not others))
