"""What somebody or something became, and when, where a document about it says so with a verb: "joined X in 1984".

"In 1846 he joined the Harrow Company", "moved to Lowick in 1959 and to Dunmore in 1973" and "it was renamed Ostby
College in 1916" begin what lasts until the text says the next of its kind; "was awarded the Holm Prize in 1994" is over
at once. Each kind is asked for and said in words of its own (`said_kinds`). What held at a time is the last of them
that began before it, read from all sentences of the article that the question names; where that was long before, where
the text tells of an end in between, or where two hold, nothing is proposed. In what follows the stated times of a
sentence are masked by "#", so that an expression can say where a time stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.said_kinds import KINDS, Kind
from mcp_memory.rules.answers.spans import Span, all_stems, name_runs, read_words
from mcp_memory.rules.answers.support import YEAR, WantedSpan, WeighedSentence, initials_of
from mcp_memory.rules.answers.tenures import (
    HEADED_FIT,
    SAID_OTHERWISE,
    TENURE_FIT,
    is_of,
    meant_time,
    season_of,
)


class Said(NamedTuple):
    """A value that a sentence states: its place, and when it began, ``[since, until)``; whether the end is stated."""

    sentence: WeighedSentence
    start: int
    end: int
    since: Millis
    until: Millis
    ends: bool

    @property
    def text(self) -> str:
        """The value as written."""
        return self.sentence.text[self.start : self.end]


_IN = r"(?:(?:in|on|from|between|since|during|for|at)\s+)?(?:the\s+|early\s+|late\s+)?\(?\s*$"
_BEHIND = re.compile(
    r"(?:\s+(?:head\s+)?(?:coach|manager)\b)?"
    rf"(?:\s*\([^()#]{{0,40}}\))?(?:\s*,)?(?:\s+(?:in|at|of|as|on|upon|for)\s+[^,;#]{{1,50}}?)?(?:\s*,)?\s*{_IN}"
)
"""What may stand between a value and its time: ", Holm County , in"."""
_LEAD = re.compile(
    r"(?:^|[.;:]\s|,\s|\band\s|-\s)(?:(?:in|on|from|since|between|by|during|at)\s+)?(?:the\s+)?"
    r"(?P<time>#+)\s*,?\s(?P<between>[^#;]{0,130})$",
    re.I,
)
"""A time at the beginning of a clause, and what stands between it and the verb."""
_CHAIN = re.compile(r"\s*(?:,|and|, and)\s+(?:then\s+)?(?:(?:to|for|with|at|as|in|the|an?)\s+){0,3}$")
"""What joins a value to the one before it: " and to the"."""
_NEXT = re.compile(r"\s*(?:(?:in|on)\s+)?#+(?:\s*,\s*and|\s*,|\s+and)\s+")
_UNREAL = re.compile(
    r"\b(?:not|never|refused|declined|rejected|failed|if|plan\w*|offer(?:ed)?|linked|would|could|might|after"
    r"|former(?:ly)?|until|called|who|whose|when|where|nearly|almost|son|daughter|wife|brother|father|mother)\b"
    r"|n['’]t\b",
    re.I,
)
"""What makes a clause tell nothing for certain, or of somebody else."""
_RANGE = re.compile(r"\d\s*\)?\s*[–—-]|\b(?:to|until|till|through|and)\b", re.I)
_FOLLOWED = re.compile(
    r"\s*(?:$|[#,.;:)(–—-]|(?:in|on|at|for|as|to|until|till|after|before|when|where|with|from|by|of|during|since"
    r"|following|while|which|who|under|between|through|(?:head\s+)?coach|manager)\b)"
)
"""What may follow a whole name; another word belongs to it, "the British *and European* Formula 3 championships"."""
_ENDED = re.compile(
    r"\b(?:left|leaving|retired|resigned|released\s+(?:from|by)|parted|stepped\s+down|sacked|departed|expired|dismissed"
    r"|dissolved|ended|closed|divorced|died|ceased|abolished)\b",
    re.I,
)
_PHRASE = re.compile(
    r"(?:(?:an?|the|his|her)\s+)?(?P<value>(?!(?:an?|the|by|to|with|at|in|from|on|for|of|was|were|is|been|made|also"
    r"|first|two|three|his|her|its)\b)[^#,;:()]{3,80}?)\s*(?=$|[,;:(]|\s\.|\.\s|\.$|\b(?:in|on|from|since"
    r"|at\s+the\s+age|by|for|after|when|where|while|upon|until|with|during|under|between|and)\b|#)"
)
NEAR = 200
"""Characters before a value in which its verb, or the time of its clause, stands."""


def said_span(wanted: WantedSpan, weighed: Sequence[WeighedSentence]) -> tuple[WeighedSentence, Span] | None:
    """Return what held at the time asked about, with its sentence, or None where the text does not tell or disagrees.

    Args:
        wanted: asks for a person, a place or a thing at a time.
        weighed: the sentences of the evidence, best first.
    """
    kind = next((one for one in KINDS if one.asked.search(wanted.query.text)), None)
    if kind is None or wanted.time is None or wanted.compares:
        return None
    own = _of_article(wanted, [one for one in weighed if one.is_document])
    found = sorted(_holding(wanted, kind, own, wanted.time), key=lambda one: len(one.text))
    if not found or any(found[0].text.casefold() not in one.text.casefold() for one in found):
        return None
    return found[0].sentence, Span(
        found[0].start, found[0].end, TENURE_FIT + HEADED_FIT, typed=True, hedged=not kind.sure
    )


def _of_article(wanted: WantedSpan, weighed: Sequence[WeighedSentence]) -> list[WeighedSentence]:
    """Return the sentences of the article that a query names by its title, else of the best one if it holds all names.

    A question may describe what it asks about: "the mother of Frank and Jesse Moor".
    """
    titled = next((one.title_of_article for one in weighed if is_of(wanted, one)), None)
    article = weighed[0].title_of_article if titled is None and weighed else titled
    own = [one for one in weighed if one.title_of_article == article]
    if titled is None and own:
        texts = {one.evidence.source.turn.id: one.evidence.source.turn.text for one in own}
        told = own[0].title.union(*map(all_stems, texts.values()))
        named = [asked for name in wanted.query.names if (asked := wanted.stems.intersection(stems(name)))]
        if not named or not all(asked - SAID_OTHERWISE <= told for asked in named):
            return []
    return own


def _holding(
    wanted: WantedSpan, kind: Kind, sentences: Sequence[WeighedSentence], time: tuple[Millis, Millis]
) -> Iterator[Said]:
    """Yield the values that hold at a time by the sentences of one article."""
    said = sorted((one for each in sentences for one in _said(kind, each)), key=lambda one: (one.since, one.until))
    ends = [stated.since for each in sentences if _ENDED.search(each.text) for _, _, stated in each.times]
    since, until = meant_time(wanted, time)
    years = 0.0 if kind.once.search(wanted.query.text) else kind.years
    for number, one in enumerate(said):
        end = one.until
        if years and not one.ends:
            begun = (each.since for each in said[number + 1 :] if each.since >= one.until)
            over = (each for each in ends if one.until <= each)
            end = max(min((*begun, *over, one.since + int(years * YEAR))), one.until)
        if one.since <= since and until <= end and (kind.years or not one.ends):
            yield one


def _said(kind: Kind, sentence: WeighedSentence) -> Iterator[Said]:
    """Yield the values of a kind that a sentence states with a time."""
    if not sentence.times:
        return
    masked = sentence.text
    for start, end, _ in sentence.times:
        masked = masked[:start] + "#" * (end - start) + masked[end:]
    for left, right, cue, chained in _phrases(kind, masked) if kind.phrase else _names(kind, sentence, masked):
        found = _time_of(masked, sentence, left, right, cue)
        if found is None or frozenset(stems(sentence.text[left:right])) <= sentence.title:
            continue
        if not (chained or _is_own(sentence, masked[:cue])):
            continue
        start, end, time = found
        if season := season_of(sentence.text, start, end):
            yield Said(sentence, left, right, *season, ends=True)
            continue
        ranged = _RANGE.search(sentence.text[start:end]) is not None
        since = time.since + YEAR * (ranged and time.grain == "year")  # when in its first year it began is not known
        yield Said(sentence, left, right, since, time.until, ends=ranged or time.until >= FOREVER)


def _names(kind: Kind, sentence: WeighedSentence, masked: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the names that a verb says: first character, first after it, that of the verb, whether it is chained."""
    last_end = len(masked)
    for first, last in name_runs(sentence.text, sentence.words):
        left, right = sentence.words[first].start, sentence.words[last].end
        if "#" in masked[left:right]:
            continue
        if kind.then and kind.then.match(masked, right):
            yield left, right, left, False
            continue
        followed = _FOLLOWED.match(masked, right) or (last > first and masked.startswith(" and ", right))
        if not followed or right - sentence.words[last].start < 2:
            continue
        near = max(left - NEAR, 0)
        cued = kind.said.search(masked[near:left])
        between = masked[last_end:left]
        chained = "#" in between and _CHAIN.fullmatch(re.sub(r"(?:\b(?:in|on|from)\s+)?#+", "", between)) is not None
        if cued or chained:
            yield left, right, near + cued.start() if cued else left, not cued
            last_end = right


def _phrases(kind: Kind, masked: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the noun phrases that a verb says, as `_names` does."""
    for cued in kind.said.finditer(masked):
        at, chained = cued.end(), False
        while found := _PHRASE.match(masked, at):
            yield *found.span("value"), cued.start(), chained
            joined = _NEXT.match(masked, found.end())
            if joined is None:
                break
            at, chained = joined.end(), True


def _time_of(
    masked: str, sentence: WeighedSentence, left: int, right: int, cue: int
) -> tuple[int, int, StatedTime] | None:
    """Return the time of a value: behind it, between verb and value, or at the beginning of the clause."""
    dated = [one for one in sentence.times if one[2].since > BEGINNING]
    for one in dated:
        if right <= one[0] < right + NEAR // 2 and _BEHIND.fullmatch(masked, right, one[0]):
            return one
    for one in dated:
        if cue <= one[0] and one[1] <= left:
            return one
    near = max(cue - NEAR, 0)
    lead = _LEAD.search(masked[near:cue])
    if lead is None or _UNREAL.search(lead["between"]):
        return None
    place = near + lead.start("time")
    return next((one for one in dated if one[0] <= place < one[1]), None)


_WITHIN = re.compile(
    r"\b(?:to|in|from|at|of|with|for|against|under|on)\s+(?:(?:the|his|her|its|their)\s+)?(?:[a-z]+\s+)?$"
)
"""Before a name: it is a place or a party, not the subject."""
_PRONOUNS = frozenset(("he", "she", "it", "they", "the", "this", "later", "then", "in", "on", "from"))


def _is_own(sentence: WeighedSentence, before: str) -> bool:
    """Return whether the clause before a verb can be of what the article is about: it names nothing else."""
    clause = re.split(r"#+\s*,?|;|:", before[-NEAR:])[-1]
    if _UNREAL.search(clause):
        return False
    words = read_words(clause)
    for first, last in name_runs(clause, words):
        name = clause[words[first].start : words[last].end]
        is_aside = first == last and clause.startswith((" ,", ","), words[first].end)  # "Subsequently , he …"
        if is_aside or _WITHIN.search(clause[: words[first].start]):
            continue
        if (
            name.lower() not in _PRONOUNS
            and name != initials_of(sentence.title_of_article)
            and (own := stems(name))
            and sentence.title.isdisjoint(own)
        ):
            return False
    return True
