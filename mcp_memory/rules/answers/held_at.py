"""Who held what at a time, where a sentence of a document says it with a verb: "from 1990 to 1995 the rector was …".

The interval holds the whole time asked about, the name stands in a fixed place beside it, and the verb or the office
between them is that of the question. What merely stands in the same sentence is not proposed (see ``tenures.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.spans import name_runs
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence

_SAME = tuple(
    frozenset(stems(line))
    for line in (
        "coach coached manager managed manage head trainer",
        "own owned owner ownership bought",
        "lead led leader leading chair chaired chairman chairwoman president head headed heading",
        "run governed governor ruled",
        "married wife husband spouse",
        "host hosted presenter presented",
        "director directed directors",
        "editor edited",
        "publisher published",
        "commander commanded commanding",
        "voice voiced",
        "sponsor sponsored",
        "ceo executive",
        *["mayor", "minister", "bishop", "captain", "rector", "principal", "dean", "chancellor", "secretary"],
    )
)
"""Words that ask for and state the same tie."""
_HEADS = frozenset(stems("rector principal director"))
"""Who is a head, though not each head is one."""
_IS = r"(?:was|is|were|has\s+been|had\s+been|served(?:\s+as)?|has\s+served(?:\s+as)?|became|acted\s+as|worked\s+as)"
_ASIDE = r"(?:\s*\([^()]{0,40}\))?"
_TIME_IN = re.compile(r"(?:\s*,)?\s*(?:(?:from|between|since|in|during|for)\s+)?\(?\s*$", re.I)
_CLAUSE_START = re.compile(r"(?:^|[.;:]\s|,\s(?:and\s|while\s)?|\band\s|[-–—•]\s)(?:(?:[Tt]he|[Ii]n\s\w+\s,)\s)?\s*$")
_IS_AFTER = re.compile(rf"{_ASIDE}\s*,?\s+{_IS}\b(?P<office>[^.;]{{0,70}}?)$", re.S)
_TIME_FIRST = re.compile(r"(?:^|[.;,]\s*)(?:from|since|between|in|during)?\s*$", re.I)
_OFFICE_WAS = re.compile(rf"\s*,?\s*(?:the\s+)?(?P<office>[A-Za-z][\w\s-]{{2,40}}?)\s+{_IS}\s+$")
_IN_ASIDE = re.compile(r"\s*\(\s*(?P<office>[a-z][a-z -]{2,30}?)(?:\s+(?:from|since|in))?\s*")
_DID = re.compile(rf"{_ASIDE}\s+(?P<verb>[a-z]+(?:ed|led|ran|won|held))\s+(?P<rest>[^.;]{{0,60}})$")
_OFFICE_SINCE = re.compile(r"(?:^|[.,;]\s)(?:The\s|the\s)?(?P<office>[\w -]{3,40}?)(?:\s+since)?\s*$")
_BY = re.compile(r"\b(?P<verb>\w+(?:ed|led|run|won|held|owned))\s+by\s+(?:(?:the\s+)?[a-z]+\s+){0,3}$")
_WED = re.compile(r"\bmarried\s+(?:to\s+)?(?:(?:the\s+)?[A-Za-z]+\s+){0,3}?$")


def asked_words(wanted: WantedSpan) -> frozenset[str]:
    """Return the stems of the ties that a query asks for, and those that mean the same."""
    asked = frozenset(stems(wanted.query.text))
    same = frozenset[str]().union(*(same for same in _SAME if not same.isdisjoint(asked)))
    return same | _HEADS if "head" in asked else same


def is_office(phrase: str, asked: frozenset[str], known: frozenset[str]) -> bool:
    """Return whether a phrase says a tie that is asked for, and no narrower one: "editor", not "art editor"."""
    words = re.split(r"\b(?:of|for|at|in|with|on|by)\b", phrase)[0].split()
    place = next((n for n, word in enumerate(words) if not asked.isdisjoint(stems(word))), None)
    if place is None:
        return False
    return all(word.lower() in _PLAIN or not (known | asked).isdisjoint(stems(word)) for word in words[:place])


_PLAIN = frozenset(("the", "a", "an", "its", "their", "first", "second", "third", "new", "as", "also", "current", ","))


def said_holders(
    wanted: WantedSpan, sentence: WeighedSentence, holding: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the places of the people whom a sentence gives an office at a time.

    Args:
        wanted: asks for a person.
        sentence: the sentence of a document.
        holding: the places of the intervals that hold the time asked about.
    """
    text, asked = sentence.text, asked_words(wanted)
    known = frozenset(stems(wanted.query.text)) | sentence.title
    for first, last in name_runs(text, sentence.words):
        titled = last - first > 1 and not asked.isdisjoint(
            stems(sentence.words[first].lower_case)
        )  # "Director Ada Marsh"
        left, right = sentence.words[first + titled].start, sentence.words[last].end
        if (
            last == first
            or not known.isdisjoint(sentence.words[last].stems)
            or known.issuperset(stems(text[left:right]))
        ):
            continue
        if titled and any(_TIME_IN.fullmatch(text, right, start) for start, _ in holding):
            yield left, right
            continue
        for start, end in holding:
            if _is_said(text, (left, right), (start, end), asked, known):
                yield left, right
                break


def _is_said(
    text: str, name: tuple[int, int], time: tuple[int, int], asked: frozenset[str], known: frozenset[str]
) -> bool:
    (left, right), (start, end) = name, time
    if right <= start and start - right < 120:
        between = text[right:start]
        office = _IS_AFTER.match(_TIME_IN.sub("", between))
        if office and _CLAUSE_START.search(text[:left]) and is_office(office["office"], asked, known):
            return True
        direct = _TIME_IN.fullmatch(between) is not None
        aside = _IN_ASIDE.fullmatch(between)
        if aside and is_office(aside["office"], asked, known):
            return True
        deed = _DID.match(_TIME_IN.sub("", between))
        if deed and _CLAUSE_START.search(text[:left]) and not asked.isdisjoint(stems(deed["verb"])):
            return all(not known.isdisjoint(stems(word)) for word in re.findall(r"\b[A-Z]\w+", deed["rest"]))
        by = _BY.search(text[:left])
        if direct and by and not asked.isdisjoint(stems(by["verb"])):
            return True
        return direct and bool(_WED.search(text[:left])) and not asked.isdisjoint(stems("married"))
    if left >= end and left - end < 70 and (_TIME_FIRST.search(text[:start]) or _OFFICE_SINCE.search(text[:start])):
        between = text[end:left]
        office = _OFFICE_WAS.fullmatch(between)
        if office and is_office(office["office"], asked, known):
            return True
        since = _OFFICE_SINCE.search(text[:start]) if re.fullmatch(r"\s+(?:is|was)\s+", between) else None
        if since and is_office(since["office"], asked, known):
            return True
        if re.fullmatch(r"\s*,?\s*(?:the\s+)?", between):
            behind = re.match(rf"{_ASIDE}\s*,?\s+{_IS}\b(?P<office>[^.;,]{{0,60}})", text[right:])
            return behind is not None and is_office(behind["office"], asked, known)
        return bool(_WED.search(between)) and not asked.isdisjoint(stems("married"))
    return False
