"""Read birth, death, parents, marriage and other names of a person from the opening of an article.

The bracket behind a name states them without a verb: "(born Jane Doe; 4 May 1950, Ottenau – 3 June 2001, Grauen)".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.domain.times import FOREVER, StatedTime
from mcp_memory.language.expressions import MONTH_WORDS, WEEKDAY_WORDS
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts.names import Bracket, NameSpan, OpeningFact, quoted_span, read_name, read_name_list
from mcp_memory.rules.facts.tables import article_words

_YEAR = re.compile(r"(?<![\d,])(?:1\d{3}|20\d\d|[3-9]\d\d)(?!\d)")
_DASH = re.compile(r"\s{0,2}[–—−]\s{0,2}|\s-\s|-\s|(?<=\d)-(?=\d)")
_CIRCA = re.compile(r"(?:c\.|ca\.|circa|about|around|before|after|aft\.|bef\.)\s{0,2}$")
_NOT_LIVED = re.compile(r"\b(?:fl\.|flourished|reigned|r\.|ruled|active)(?=[\s.\d])", re.IGNORECASE)
_BORN = re.compile(r"\b(?:born|b\.)\s{0,2}", re.IGNORECASE)
_DIED = re.compile(r"\b(?:died|d\.)\s{0,2}", re.IGNORECASE)
_NEE = re.compile(r"\b(?:née|né|nee|[Bb]orn(?:\sas)?)\s{1,2}(?=[^\W\d_a-z])")
_ALSO = re.compile(
    r"\b(?:(?:also|better|best|commonly|simply|popularly|professionally|widely|often|sometimes|formerly|usually|mononymously)"
    r"\s{1,2}(?:known|called|credited|billed|referred\sto)(?:\s{1,2}(?:professionally|simply|mononymously|commonly|popularly))?"
    r"\s{1,2}(?:as|by\sthe\sname\sof)?|known\s(?:professionally|mononymously|simply|popularly)\sas|known\sas|alias|nicknamed|a\.k\.a\.|aka)"
    r"\s{0,2}(?:the\s)?"
)
_CONNECTIVE = re.compile(r"[\s,;]{0,3}(?:on|in|at|near|of|the)?\s{0,2}(?:the\s|c\.\s?|circa\s|about\s|around\s)?")
_BORN_TO = re.compile(r"\bborn\b[^.;]{0,80}?\sto\s(?=[^\W\d_])")
_EVENTS = {what: re.compile(rf"\b{what}\b", re.IGNORECASE) for what in ("born", "died")}
_IN = re.compile(r"(?:in|at|near)\s")
_PLACE_SIGN = re.compile(r"\b(?:in|at|near)\b|,")
_COMMA = re.compile(r"\s?,\s{1,2}(?:in\s)?")
_OTHER_VERB = re.compile(
    r"\band\s(?:\w{1,12}\s)?(?:was|is|married|moved|went|came|grew)\b|\bmarried\b|\bmoved\b|,\s(?:he|she)\b"
)
_OCCASION = 6
_MONTHS = MONTH_WORDS | WEEKDAY_WORDS
_PLACE_WORDS = re.compile(
    r"(?:(?:the|a|city|town|village|suburb|province|county|district|state|what|now|is|present-day|of|nearby)\s){1,5}"
)
_MARRIED = re.compile(
    r"(?:\b(?:was|is|and|has\sbeen|were)\s(?:then\s)?married\s(?:to\s)?|^\s?(?:secondly\s|later\s|first\s)?married\s(?:to\s)?"
    r"|,\s?(?:was\s)?married\sto\s)"
)
_RELATIVE = re.compile(
    r"(?:\b(?:is|was|and|as)|,)\s(?:the\s|a\s|an\s)?(?:[\w-]{2,14}\s){0,3}?"
    rf"(?P<kin>{'|'.join(article_words.KIN)})"
    r"(?:\sand\s(?:\w{2,12}\s)?\w{2,12})?\sof\s"
)  # fmt: skip


def bracket_facts(text: str, brackets: Sequence[Bracket], head: str, *, sure: bool) -> Iterator[OpeningFact]:
    """Yield the facts of the brackets behind a name.

    Args:
        text: the whole document.
        brackets: those between the name and the predicate.
        head: the name.
        sure: whether it is a person; otherwise only a bracket with "born" is read.
    """
    for bracket in brackets[:3]:
        if not (sure or bracket.born) or _NOT_LIVED.search(text, bracket.start, bracket.end):
            continue
        years = [match.start() for match in _YEAR.finditer(text, bracket.start, bracket.end)]
        if not years:
            yield from _birth_name_facts(text, bracket.start, bracket.end, head)
            continue
        died = _DIED.search(text, bracket.start, bracket.end)
        dash = next(
            (
                match
                for match in _DASH.finditer(text, bracket.start, bracket.end)
                if years[0] < match.start() and years[-1] >= match.end()
            ),
            None,
        )
        first = bracket.start
        last = dash.start() if dash else died.start() if died else bracket.end
        if died and dash is None and died.start() < years[0]:
            yield from _event_facts(text, died.end(), bracket.end, head, "died")
            continue
        if dash or bracket.born or died:
            yield from _birth_name_facts(text, first, last, head)
            born = _BORN.search(text, first, last)
            yield from _event_facts(text, born.end() if born else first, last, head, "born")
        if dash or died:
            yield from _event_facts(text, dash.end() if dash else last, bracket.end, head, "died")
        return


def _event_facts(text: str, start: int, end: int, head: str, what: str) -> Iterator[OpeningFact]:
    """Yield the date and the place of birth or death from one side of a bracket."""
    times = [time for time in stated_times(text, None, start, end) if not time.relative]
    year = _YEAR.search(text, start, end)
    if not times or year is None:
        return
    time = next((time for time in times if time.start <= year.start() < time.end), times[0])
    if time.until >= FOREVER or " or " in text[start:end] or "/" in text[start:end]:
        return
    circa = _CIRCA.search(text, max(start, time.start - 9), time.start)
    first = circa.start() if circa else time.start
    yield OpeningFact(head, f"{what}_on", text[first : time.end], first, time.end, time)
    lead = _CONNECTIVE.match(text, time.end, end)
    place = _read_place(text, lead.end() if lead else time.end, end)
    if place is None and first > start and (what == "died" or text[start - 1] == "("):  # behind "born" comes a name
        before = _read_place(text, start, first)
        if before and text[before.end : first].strip(" ,") in ("", "on"):
            place = before
    if place is not None:
        yield from _place_facts(text, place, end, head, f"{what}_in", time)


def _read_place(text: str, start: int, end: int) -> NameSpan | None:
    words = _PLACE_WORDS.match(text, start, end)
    lead = _IN.match(text, words.end() if words else start, end)
    name = read_name(text, lead.end() if lead else words.end() if words else start, end)
    if name is None or text[name.start : name.end].split()[0].lower().strip(".") in _MONTHS:
        return None
    return name


def _place_facts(
    text: str, place: NameSpan, end: int, head: str, relation: str, time: StatedTime | None
) -> Iterator[OpeningFact]:  # fmt: skip
    """Yield a place, and the place that it lies in: "Portsmouth, Ohio"."""
    yield OpeningFact(head, relation, text[place.start : place.end], place.start, place.end, time)
    inner = place
    for _ in range(3):
        wider = _next_place(text, inner.end, end)
        if wider is None or text[wider.start : wider.end].lower() in _MONTHS:
            return
        after = text[wider.end : wider.end + 1]
        if (after and after not in ",.;) ") or text[wider.end : wider.end + 4] in (" was", " is "):
            return
        yield OpeningFact(
            text[inner.start : inner.end], "located_in", text[wider.start : wider.end], inner.start, wider.end
        )
        inner = wider


def _next_place(text: str, position: int, end: int) -> NameSpan | None:
    """Return the name directly behind a comma."""
    comma = _COMMA.match(text, position, end)
    name = read_name(text, comma.end(), end) if comma else None
    return name if name and comma and name.start == comma.end() else None


def _birth_name_facts(text: str, start: int, end: int, head: str) -> Iterator[OpeningFact]:
    match = _NEE.search(text, start, end)
    name = read_name(text, match.end(), end) if match else None
    if name is None or not text[name.start].isupper():
        return
    if text[name.start : name.end].split()[0].lower().strip(".") not in _MONTHS:
        yield OpeningFact(head, "also_known_as", text[name.start : name.end], name.start, name.end)


def alias_facts(text: str, start: int, end: int, head: str) -> Iterator[OpeningFact]:
    """Yield the other names of a person or thing, from the words between its name and "is"."""
    for match in list(_ALSO.finditer(text, start, end))[:3]:
        name = quoted_span(text, match.end(), end) or read_name(text, match.end(), end)
        if name is not None:
            yield OpeningFact(head, "also_known_as", text[name.start : name.end], name.start, name.end)


def life_facts(text: str, start: int, end: int, times: Sequence[StatedTime], head: str) -> Iterator[OpeningFact]:
    """Yield the facts about birth, death, parents and marriage in a sentence about a person.

    Args:
        text: the whole document, brackets masked.
        start: first character after the subject.
        end: first character after the sentence.
        times: the times that it states.
        head: the person.
    """
    for what in ("born", "died"):
        match = _EVENTS[what].search(text, start, min(end, start + 200))
        if match and (what == "born" or not text[start : match.start()].strip(" ,")) and _is_verb(text, start, match):
            yield from _birth_or_death_facts(text, match.end(), end, times, head, what)
    match = _BORN_TO.search(text, start, min(end, start + 260))
    if match and _is_verb(text, start, match) and not _OTHER_VERB.search(text, *match.span()):
        for parent in read_name_list(text, match.end(), end):
            yield OpeningFact(head, "child_of", text[parent.start : parent.end], parent.start, parent.end)
    yield from _relative_facts(text, start, end, head)
    if (married := _MARRIED.search(text[start : min(end, start + 160)])) is not None:
        for spouse in read_name_list(text, start + married.end(), end)[:1]:
            yield OpeningFact(head, "married_to", text[spouse.start : spouse.end], spouse.start, spouse.end)


def _is_verb(text: str, start: int, match: re.Match[str]) -> bool:
    """Return whether the subject is the one who was "born": the word is directly behind it, "was" or a comma."""
    before = text[start : match.start()].rstrip()
    return not before or before.endswith("was") or (len(before) < 60 and before.endswith(("were", ",", "is", "and")))


def _birth_or_death_facts(
    text: str, position: int, end: int, times: Sequence[StatedTime], head: str, what: str
) -> Iterator[OpeningFact]:  # fmt: skip
    """Yield the time and the place that follow "born" or "died", in any order."""
    time: StatedTime | None = None
    where: NameSpan | None = None
    verb = position  # behind it: the comma in ", born Harry Lund," is no sign of a place
    for _ in range(_OCCASION):
        lead = _CONNECTIVE.match(text, position, end)
        position = lead.end() if lead else position
        stated = next((t for t in times if t.start <= position < t.end or position <= t.start <= position + 3), None)
        if stated is not None and not stated.relative and time is None:
            time, position = stated, stated.end
            continue
        candidate = _read_place(text, position, end) if where is None else None
        if candidate is None or not _PLACE_SIGN.search(text, max(verb, position - 12), candidate.start):
            break
        where, position = candidate, candidate.end
        for _ in range(3):  # over ", Ohio, United States"
            wider = _next_place(text, position, end)
            if wider is None:
                break
            position = wider.end
    if time is not None and time.until < FOREVER and _YEAR.search(text, time.start, time.end):
        yield OpeningFact(head, f"{what}_on", text[time.start : time.end], time.start, time.end, time)
    if where is not None:
        yield from _place_facts(text, where, end, head, f"{what}_in", time)


def _relative_facts(text: str, start: int, end: int, head: str) -> Iterator[OpeningFact]:
    relations: set[str] = set()
    for match in _RELATIVE.finditer(text, start - 5 if start > 5 else 0, end):
        relation = article_words.KIN[match["kin"]]
        if relation in relations or (relations and match[0].lstrip().startswith(",")):
            continue
        relations.add(relation)
        names = read_name_list(text, match.end(), end)
        for name in names[: 2 if relation == "child_of" else 1 if relation == "married_to" else 4]:
            yield OpeningFact(head, relation, text[name.start : name.end], name.start, name.end)
