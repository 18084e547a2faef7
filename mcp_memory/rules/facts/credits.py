"""Read the makers and the date of a work, the location of a place, the founders of a company.

They follow the class of the subject as participles: "… film directed by A and starring B and C, based on the novel "D""
is read phrase by phrase; a phrase about another work ("a remake of the film directed by E") is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.rules.facts.names import NameSpan, OpeningFact, quoted_span, read_name, read_name_list
from mcp_memory.rules.facts.tables import article_words

_VERBS = article_words.relations(article_words.CREDITS)
_PARTS = article_words.relations(article_words.PARTS)
_VERB = "|".join(sorted(_VERBS, key=len, reverse=True))
_CREDIT = re.compile(
    rf"\b(?:{_VERB})\b(?:\sby)?(?:(?:\s?,\s?(?:and\s)?|\sand\s|\s?&\s?|\s?/\s?)(?:co-)?(?:{_VERB}|edited|filmed)\b(?:\sby)?){{0,5}}"
)
_WORDS = re.compile(r"[a-z][a-z-]+")
_PART = re.compile(
    rf"\b(?P<part>{'|'.join(_PARTS)})\b(?:\s(?:was|were|is))?(?:\s(?:composed|written|provided|penned))?\sby\s"
)
_STARS = re.compile(
    r"(?:\b(?:that|which|and)\s|^\s?)(?:also\s)?(?:stars|starred|features)\s(?:an\sensemble\scast\sof\s)?"
)
_LEAD = re.compile(r"[^.,;]{1,40}?\s(?=stars|starred|features)")
_NESTED = re.compile(
    rf"\b(?:{'|'.join(sorted(article_words.NESTING))})\s(?:of|to|by|from|on|upon)\b|\bepisode\sof\b|\bfrom\sthe\s(?:album|film)\b|\bfirst\sof\b"
)
_BASED = re.compile(r"\bbased\s(?:up)?on\s(?:the\s|a\s|an\s|his\s|her\s)?(?:[\w'’-]{1,20}\s){0,5}?(?=[\"“])")
_OUT = re.compile(
    r"\b(?:released|published|premiered|aired|broadcast|issued|came\sout)\s(?:\w{1,20}\s){0,4}?(?P<prep>on|in|during)\s(?:the\s)?"
)
_BEGUN = re.compile(r"\b(?:founded|established|formed|incorporated|opened)\s(?:\w{1,20}\s){0,2}?(?:on|in)\s")
_FROM = re.compile(r"\sfrom\s$")
_LIES = re.compile(
    r"(?:\s(?:that|which)\sis)?,?(?:\s(?:currently|now))?(?:\s(?:located|situated|based|headquartered|lying))?\s(?:in|on|at|of|from)\s"
)
_LIES_LATER = re.compile(
    r"\b(?:is|was|are)\s(?:\w{1,20}\s)?(?:located|situated|based|headquartered)\s(?:in|on|at)\s|\b(?:based|headquartered)\sin\s"
)
_TO_NAME = re.compile(r"(?:(?:[a-z][\w-]{0,20}|the)\s){0,5}")
_CHAIN = re.compile(r"(?:\s?,\s{0,2}(?:and\s)?|\s)(?:(?:in|of)\s)?(?:(?:the|[a-z]{4,12}(?:ern|al))\s){0,2}")
_BESIDE_A_NAME = re.compile(r"[^\W\d_a-z][\w.'’-]*\)?,\s(?:(?:the|a|its)\s)?(?:[a-z]+\s){0,2}\Z")
"""Before words about the name that stands there, not about the article's subject: "in Bandung, the capital of …"."""
_CAPITAL = re.compile(r"\bcapital(?:\sand\s[a-z ]{3,30}?)?\sof\s(?:the\s)?")
_BY = re.compile(r"\s{1,2}by\s")
_SIDE_BY: dict[str, str] = {
    **dict.fromkeys(article_words.SCREEN, "directed_by"),
    **dict.fromkeys(article_words.MUSIC, "performed_by"),
    **dict.fromkeys(article_words.WRITTEN, "written_by"),
    **dict.fromkeys(article_words.COMPOSED, "composed_by"),
    **dict.fromkeys(article_words.SEEN, "created_by"),
}


def credit_facts(
    text: str, start: int, end: int, times: Sequence[StatedTime], head: str, kind: str, *,
    after: int = 0, continued: bool = False,
) -> Iterator[OpeningFact]:  # fmt: skip
    """Yield the makers, dates, places and founders that a sentence states of a work, a place or an organisation.

    Args:
        text: the whole document, brackets masked.
        start: first character that is read.
        end: first character after the sentence.
        times: the times that it states.
        head: what it is about.
        kind: work, place, body or event.
        after: first character after its class, in the first sentence.
        continued: whether it is a later sentence.
    """
    nested = [match.start() for match in _NESTED.finditer(text, start, end)]
    if kind == "work":
        yield from _work_facts(text, after or start, end, times, head, nested, continued=continued)
        if after:
            yield from _maker_facts(text, start, after, end, head)
    if kind in ("body", "work", "place"):
        yield from _participle_facts(text, after or start, end, kind, nested, head)
    if kind in ("body", "place"):
        begun = _BEGUN.search(text, after or start, end)
        time = _time_at(times, begun.end()) if begun else None
        if time is not None:
            yield OpeningFact(head, "founded_on", text[time.start : time.end], time.start, time.end, time)
        yield from _location_facts(text, after, start, end, head)
    capital = _CAPITAL.search(text, start, end) if kind == "place" else None
    if capital is not None and not _BESIDE_A_NAME.search(text, start, capital.start()):
        yield from _name_facts(text, read_name(text, capital.end(), end), head, "capital_of")


def _participle_facts(
    text: str, start: int, end: int, kind: str, nested: Sequence[int], head: str
) -> Iterator[OpeningFact]:  # fmt: skip
    for match in _CREDIT.finditer(text, start, end):
        words = _WORDS.findall(match[0])
        relations = [_VERBS[word] for word in words if word in _VERBS]
        if "by" not in words and words[-1] not in ("starring", "featuring"):
            continue
        if any(position < match.start() < position + 100 for position in nested) and (
            relations[0] in ("written_by", "published_by", "composed_by", "performed_by")
            or _is_of_another(text, nested, match.start())
        ):
            continue
        names = read_name_list(text, match.end(), end)
        for relation in dict.fromkeys(relations):
            if (relation == "founded_by") != (kind != "work"):
                continue
            for name in names if relation != "published_by" else names[:2]:
                credit = "performed_by" if relation == "published_by" and name.role else relation
                yield OpeningFact(head, credit, text[name.start : name.end], match.start(), name.end)


def _is_of_another(text: str, nested: Sequence[int], position: int) -> bool:
    """Return whether the last phrase about another work reaches up to a position without a comma."""
    last = max((start for start in nested if start < position), default=-1)
    return last >= 0 and "," not in text[last:position] and " and " not in text[last:position]


def _work_facts(
    text: str, start: int, end: int, times: Sequence[StatedTime], head: str, nested: Sequence[int], *, continued: bool
) -> Iterator[OpeningFact]:  # fmt: skip
    for part in _PART.finditer(text, start - 14 if continued and start > 14 else start, end):
        if not any(position < part.start() < position + 60 for position in nested):
            for name in read_name_list(text, part.end(), end):
                yield OpeningFact(head, _PARTS[part["part"]], text[name.start : name.end], part.start(), name.end)
    lead = _LEAD.match(text, start, end) if continued else None
    stars = _STARS.search(text[lead.end() if lead else start : end])
    if stars:
        for name in read_name_list(text, (lead.end() if lead else start) + stars.end(), end):
            yield OpeningFact(head, "stars", text[name.start : name.end], name.start, name.end)
    if (based := _BASED.search(text, start, end)) is not None:
        yield from _name_facts(text, quoted_span(text, based.end(), end), head, "based_on")
    for out in _OUT.finditer(text, start, end):
        time = _time_at(times, out.end())
        if time is not None and not any(position < out.start() < position + 120 for position in nested):
            yield OpeningFact(head, "released_on", text[time.start : time.end], out.start(), time.end, time)
            break
    dated = next((time for time in times if _FROM.search(text, max(start, time.start - 6), time.start)), None)
    if dated is not None and not continued and dated.start <= start + 8 and dated.until < FOREVER:
        yield OpeningFact(head, "released_on", text[dated.start : dated.end], dated.start, dated.end, dated)


def _maker_facts(text: str, start: int, after: int, end: int, head: str) -> Iterator[OpeningFact]:
    """Yield the maker directly behind the class: "a novel by A"."""
    by = _BY.match(text, after, end)
    words = text[start:after].lower().rstrip(" .,").split()
    relation = _SIDE_BY.get(words[-1].split("-")[-1]) if words else None
    if by is None or relation is None:
        return
    for name in read_name_list(text, by.end(), end):
        yield OpeningFact(head, relation, text[name.start : name.end], name.start, name.end)


def _location_facts(text: str, after: int, start: int, end: int, head: str) -> Iterator[OpeningFact]:
    """Yield the places of a chain, the nearest first: "a village in Harn, Ottenau, Norland"."""
    match = _LIES.match(text, after, end) if after else None
    match = match or _LIES_LATER.search(text, after or start, end)
    if match is None:
        return
    lead = _TO_NAME.match(text, match.end(), end)
    position: NameSpan | None = read_name(text, lead.end() if lead else match.end(), end)
    for _ in range(6):
        if position is None:
            return
        yield OpeningFact(head, "located_in", text[position.start : position.end], position.start, position.end)
        chain = _CHAIN.match(text, position.end, end)
        if chain is None or not chain[0].strip():
            return
        position = read_name(text, chain.end(), end)


def _name_facts(text: str, name: NameSpan | None, head: str, relation: str) -> Iterator[OpeningFact]:
    if name is not None:
        yield OpeningFact(head, relation, text[name.start : name.end], name.start, name.end)


def _time_at(times: Sequence[StatedTime], position: int) -> StatedTime | None:
    return next(
        (
            time
            for time in times
            if time.start - 5 <= position < time.end
            and not time.relative
            and time.since > BEGINNING
            and time.until < FOREVER
        ),
        None,
    )
