"""What somebody or something became, and when, where a document about it says so with a verb: "joined X in 1984".

"In 1846 he joined the Harrow Company", "moved to Lowick in 1959 and to Dunmore in 1973" and "it was renamed Ostby
College in 1916" begin what lasts until the text says the next of its kind; "was awarded the Holm Prize in 1994" is over
at once. Each kind is asked for and said in words of its own (`KINDS`). What held at a time is the last of them that
began before it, read from all sentences of the article that the question names; where that was long before, where the
text tells of an end in between, or where two hold, nothing is proposed. In what follows the stated times of a sentence
are masked by "#", so that an expression can say where a time stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.spans import Span, all_stems, name_runs, read_words
from mcp_memory.rules.answers.support import YEAR, WantedSpan, WeighedSentence
from mcp_memory.rules.answers.tenures import (
    HEADED_FIT,
    SAID_OTHERWISE,
    TENURE_FIT,
    initials_of,
    is_of,
    meant_time,
    season_of,
)

_WHO = (
    r"(?:the|his|her|its|their|an?)?\s*(?:(?:[\w'’.-]+\s+){0,5}?(?:club|side|team|outfit|label|company|firm|stadium"
    r"|theatre|university|battleship|cruiser|ship|subsidiary|giants|group|officer|bank)\s+)?(?:the\s+)?"
)
"""What may stand between the verb and the name: "the Serie B club"."""
_AT = r"(?:\s+(?:in|on|from)\s+#+)?"

_NEVER = re.compile(r"(?!)")
_GIVEN = re.compile(
    r"\b(?:receiv|award|confer|grant|given|achiev|attain|earn|designat|honou?red|win|won|got|anoint)", re.I
)


class Kind(NamedTuple):
    """A kind of value.

    Attributes:
        asked: what a question for it looks like.
        said: what stands directly before such a value.
        years: how long it is taken to last without another word; 0 for what is over at once.
        phrase: whether it need not be a name, "an officer of the Legion".
        then: what stands directly behind such a value instead, "… acquired it".
        once: what makes a question ask for the moment at which it began, "Which rank did she *receive* …?".
    """

    asked: re.Pattern[str]
    said: re.Pattern[str]
    years: float
    phrase: bool = False
    then: re.Pattern[str] | None = None
    once: re.Pattern[str] = _NEVER


def _kind(asked: str, said: str, *, years: float, phrase: bool = False, then: str = "") -> Kind:
    cue = rf"(?<!\w)(?:{said}){_AT}\s+"
    behind = re.compile(rf"\s+(?:{then})", re.I) if then else None
    before = re.compile(cue if phrase else rf"{cue}{_WHO}$", re.I)
    return Kind(re.compile(asked, re.I), before, years, phrase, behind, _GIVEN if phrase else _NEVER)


KINDS = (
    _kind(  # held captive
        r"\b(?:detained|incarcerated|imprisoned|held\s+against|concentration\s+camp|prison)\b",
        r"(?:transferred|moved|deported|sent|taken|brought)(?:\s+back)?\s+to|(?:imprisoned"
        r"|incarcerated|held|detained)\s+(?:in|at)",
        years=3.0,
    ),
    _kind(  # award
        r"\b(?:prize|awards?|awarded|honou?rs?|medal)\b",
        r"(?:awarded|received|receiving|won|winning|earned|given|granted)(?:\s+(?:an?|the|with))?"
        r"|(?:was|were|been|he|and)\s+(?:made|appointed|named|elected)(?:\s+(?:an?|the|to))?|inducted\s+into|[-•*]",
        years=0.0,
        phrase=True,
    ),
    _kind(  # rank
        r"\b(?:rank|title|grade|nobility)\b",
        r"promoted\s+to(?:\s+the\s+rank\s+of)?|(?:awarded|earned|received|became|becoming"
        r"|inherited|conferred|granted|achieved|attained)(?:\s+(?:an?|the|his"
        r"|her))?(?:\s+(?:titles?|ranks?)\s+of)?|titles?\s+of",
        years=4.0,
        phrase=True,
    ),
    _kind(  # member
        r"\b(?:join|become\s+(?:a\s+)?(?:part|member))\b.*|\b(?:academy|council|society)\b",
        r"(?:member|fellow)\s+of|elected\s+to|joined",
        years=0.0,
    ),
    _kind(  # coached
        r"\b(?:coach\w*|manag\w+|in\s+charge)\b.*\b(?:team|club|side)\b|\b(?:team|club"
        r"|side)\b.*\b(?:coach\w*|manag\w+|in\s+charge)\b",
        r"coach(?:ed|ing)?(?:\s+of)?|managed|manager\s+(?:of|at)|(?:coach|manager)\s+(?:of|at)"
        r"|(?:took|taking)\s+(?:over|charge)(?:\s+(?:of|at))?|in\s+charge\s+of|(?:appointed"
        r"|hired)\s+by|(?:was|been)\s+named|(?:moved|returned|duties)(?:\s+to|\s+on\s+#+\s+with)",
        years=2.0,
    ),
    _kind(  # played for
        r"\b(?:team|club|squad|football\s+group)\b",
        r"joined|joining|signed\s+(?:for|with|to)|signing\s+(?:for|with)|(?:moved|transferred"
        r"|returned|switched|went|move)\s+to|(?:loaned(?:\s+out)?|on\s+loan)\s+(?:to|at|with)"
        r"|contract\s+with|(?:season|campaign)\s+(?:with|at|for|on\s+loan\s+at)",
        years=1.0,
    ),
    _kind(  # label
        r"\b(?:record|music)\s+(?:label|company)\b|\blabel\b",
        r"signed\s+(?:with|to|onto)|signing\s+(?:with|to)|(?:contract|deal|partnership)\s+with",
        years=6.0,
    ),
    _kind(  # branch
        r"\bmilitary\s+(?:branch|service)|branch\s+of\s+(?:the\s+)?(?:military|service)\b",
        r"joined|joining|entered|enlisted\s+in|transferred\s+to|drafted\s+into",
        years=10.0,
    ),
    _kind(  # series
        r"\bsport\b|\brac(?:e|ing)\b",
        r"(?:raced|competed|competing|drove|driving|participated|debut|debuted)\s+in|(?:moved"
        r"|graduated|switched|stepped)(?:\s+(?:up|on))?(?:\s+in)?\s*to|(?:into|in)",
        years=0.0,
    ),
    _kind(  # ship
        r"\bship\b.*\b(?:station|serv|assign|command)",
        r"(?:posted|assigned)\s+to|(?:stationed|served)\s+(?:on|aboard|in)|command\s+of",
        years=1.5,
    ),
    _kind(  # name
        r"\bwh(?:at|ich)\b.*\b(?:called|named|moniker|names?\s+(?:did|was|were))\b|\b(?:formal"
        r"|official|executive|original)(?:ly)?\s+name\w*",
        r"(?:renamed|redesignated|rechristened|christened|retitled|rebranded)(?:\s+(?:to|as))?"
        r"|name\s+(?:was\s+)?(?:changed\s+)?to|became|becoming|(?:known|established|activated"
        r"|constituted|founded|commissioned|opened)(?:\s+#+)?\s+as",
        years=8.0,
    ),
    _kind(  # seat
        r"\b(?:headquarter\w*|based|administrative\s+cent\w+|capital|county\s+seat)\b",
        r"(?:headquarters|seat|capital|center|centre|offices|homeport)\s+(?:(?:was|were"
        r"|is)\s+)?(?:moved|relocated|transferred|established|located)?(?:\s+inland\s*,)?\s*(?:to"
        r"|in|at)|(?:headquartered|based|located)\s+(?:in|at)|(?:moved|relocated)\s+(?:its|the"
        r"|their)\s+(?:headquarters|seat|capital|offices)\s+to",
        years=8.0,
    ),
    _kind(  # home
        r"\b(?:residen\w+|reside|live[ds]?)\b",
        r"(?:moved|relocated|returned|emigrated|settled)(?:\s+\w+){0,4}?\s+(?:to|in)|(?:settled"
        r"|lived|living|resided)\s+in",
        years=8.0,
    ),
    _kind(  # employer
        r"\b(?:university|college|school|theat\w+|institution|employ\w*|hired?|work(?:ed)?\s+(?:at"
        r"|for|in)|attend\w*|educat\w*)\b",
        r"(?:taught|teach|worked|professor|lecturer|engaged|employed|lectured|position|actress"
        r"|actor|instructor|job)\s+(?:at|for)|joined|hired\s+by|faculty\s+(?:of|at)|(?:studied"
        r"|educated|enrolled|attended)(?:\s+at)?",
        years=3.0,
    ),
    _kind(  # venue
        r"\b(?:where|location|venue|place|stadium|park|museum|housed|exhibited|home\s+station"
        r"|home\s+to)\b",
        r"(?:event|tournament|festival|museum|collection|it|institute|library|statue|work|club"
        r"|team|school|ceremony)\s+(?:was\s+)?(?:moved|relocated|transferred)\s+to|(?:held|housed"
        r"|exhibited|displayed|showcased|hosted|played|broadcast)\s+(?:in|at|on)",
        years=3.0,
    ),
    _kind(  # owner
        r"\b(?:own(?:ed|er|s|ership)?|shareholder|stakeholder|operat\w+|parent|subsidiary"
        r"|took\s+over)\b",
        r"(?:acquired|bought|purchased|owned|taken\s+over|operated|run|absorbed)\s+by|(?:sold"
        r"|transferred|conveyed)\s+to|(?:subsidiary|part)\s+of|merged\s+(?:into|with)",
        years=8.0,
        then=r"(?:acquired|bought|purchased|took\s+over|became\s+the\s+(?:sole|majority|largest"
        r"|main)\s+(?:share|stake)holder)",
    ),
    _kind(  # publisher
        r"\b(?:publish\w*)\b",
        r"published\s+by",
        years=3.0,
        then=r"(?:published|took\s+over\s+as\s+publisher)",
    ),
    _kind(  # married
        r"\b(?:married|wife|husband|spouse|wed)\b",
        r"married(?:\s+to)?|wed|marriage\s+to|wedding\s+to",
        years=8.0,
    ),
    _kind(  # post
        r"\b(?:position|job|role|post|occupation|employed\s+as|profession)\b",
        r"became|becoming|(?:was|been|and)\s+(?:appointed|elected|named|made"
        r"|promoted\s+to)(?:\s+as)?|ordained|serv(?:ed|ing)\s+as|work(?:ed|ing)\s+as|(?:post"
        r"|position|job)\s+(?:of|as)",
        years=3.0,
        phrase=True,
    ),
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
    r"|following|while|which|who|under|between|through)\b)"
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
    r"|at\s+the\s+age|by|for|after|when|where|while|upon|until|with|during|under|and)\b|#)"
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
    about = [one for one in weighed if one.is_document and _is_about(wanted, one, weighed[0])]
    own = [one for one in about if one.title_of_article == about[0].title_of_article]
    found = sorted(_holding(wanted, kind, own, wanted.time), key=lambda one: len(one.text))
    if not found or any(found[0].text.casefold() not in one.text.casefold() for one in found):
        return None
    return found[0].sentence, Span(found[0].start, found[0].end, TENURE_FIT + HEADED_FIT, typed=True)


def _is_about(wanted: WantedSpan, sentence: WeighedSentence, best: WeighedSentence) -> bool:
    """Return whether the article of a sentence is what a query names.

    Of the article of the best sentence, a name in common is enough, if the text holds the rest of that name.
    """
    if is_of(wanted, sentence):
        return True
    if sentence.title_of_article != best.title_of_article:
        return False
    own = frozenset(stems(sentence.title_of_article.partition("(")[0]))
    named = [frozenset(stems(name)) - SAID_OTHERWISE for name in wanted.query.names]
    shared = [name for name in named if not own.isdisjoint(name)]
    return bool(shared) and all(
        name <= own or name <= own | all_stems(sentence.evidence.source.turn.text) for name in shared
    )


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
        if one.since <= since and until <= end:
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
        if _WITHIN.search(clause[: words[first].start]):
            continue
        if (
            name.lower() not in _PRONOUNS
            and name != initials_of(sentence.title_of_article)
            and (own := stems(name))
            and sentence.title.isdisjoint(own)
        ):
            return False
    return True
