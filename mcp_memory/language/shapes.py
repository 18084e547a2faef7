"""The shape of a question (the best evidence, all that bears on it, an overview), and its topic.

A question such as "In what order did I bring up the parts of the garden?" asks for a list of everything, "How has the
garden come along?" for an overview, and most others for what answers them best. The words that say so tell nothing of
what is looked for: what is left without them is the *topic*, "the parts of the garden", and it finds more than the
whole question does (measured on long chats with an assistant: `services/recall/broad.py`).

A text of more than two sentences is a message rather than a question: "order" or "summary" in it mostly names something
that it tells of, so its shape is ``best``.

All of it is judged by the words alone, in English; a question in another language has the shape ``best`` and is its own
topic.

**Areas** of life and work: "the user's health", "our stack", "money". No word and hardly any similarity of meaning
leads from "health" to "She put me on candesartan 8 mg" or from "money" to "The mortgage is fixed until November". So a
table (``resources/areas.toml``) says for each area by which words a question asks for it, and which words tell of it.
Lists and overviews take in what tells of the area asked for (``services/recall/broad.py``). A question that asks for
nothing but an area ("What is our current stack?") wants a list, since no single text answers it.

Source: the papers answer every question by one procedure and let a language model decide how far to go (MRAgent §3.2;
HGMem §3.2). **Departures.** Here the caller's model answers, and a reply has to fit in one call; so the question's
shape decides how broad it is. The tags of MRAgent (§3.1) stand between cues and what is told, and a topic leads to all
of its episodes; there a language model names both when a text is written, here the areas are given once, for every
space.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache

from mcp_memory.domain.query import Breadth, Query, Window
from mcp_memory.domain.times import DAY, FOREVER
from mcp_memory.language.questions import AHEAD, asks_for_plural
from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import STOP_WORDS, stems, words
from mcp_memory.language.vocabulary import ASKING, word_set
from mcp_memory.texts import resource

_OVERVIEW = re.compile(
    r"\b(?:summar(?:y|ies|i[sz]e[sd]?|i[sz]ing)|overviews?|recaps?|sum(?:med)? up|big picture)\b"
    r"|\bhow (?:did|does|do|has|have|had|is|are|was|were) (?:\S+ ){1,12}?"
    r"(?:go|gone|going|been going|progress(?:ed|ing)?|develop(?:ed|ing)?|evolve[ds]?|evolving|come along|coming along"
    r"|turn(?:ed)? out|unfold(?:ed)?)\b(?! (?:to|for|with)\b)"
    r"|\bhow (?:\S+ ){1,12}?(?:ha[sv]e? )?(?:progressed|developed|evolved|unfolded)\b"
    r"|\b(?:everything|all) (?:that )?(?:we|i|you)(?:['’]ve| have| had)? (?:\w+ed|said|told|spoken?|learnt|did|done)\b"
    r"|\bwhat ha(?:s|ve) (?:happened|changed)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:order|sequence) (?:in which|of|that)\b|\bin (?:(?:chronological|what|which|the right) )?order\b(?! to\b)"
    r"|\b(?:list|enumerate) (?:all|every|each|the|my|our|his|her|their|any)\b|\bname (?:all|every|each)\b"
    r"|\b(?:across|throughout) (?:all )?(?:of )?(?:our|my|the|these) (?:\w+ )?"
    r"(?:conversation|discussion|session|chat)s?\b"
    r"|\bhow often\b|\bhow many (?!(?:\w+ )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b)"
    r"|\b(?:which|what) (?:are |were )?all\b|\ball (?:of )?(?:the|my|our|his|her|their)\b|\bevery (?:time|one of)\b"
    r"|\bchronolog\w*|\btimelines?\b|\beach (?:time|of)\b",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"\W*(?:(?:please|can you|could you|now) )*(?:list|enumerate) (?:me )?(?:all|every|each|everything|anything)\b",
    re.IGNORECASE,
)
_FRAME = re.compile(
    "|".join(
        (
            r"\b(?:can|could|would|will) you\b(?: please)?",
            r"\bplease\b",
            r"\bmention only\b.*$",
            r"\b(?:give|tell|show|provide|list|name|enumerate|walk|remind|help)\b(?: me\b)?"
            r"(?: (?:with|through|about)\b)?(?! (?:to|for)\b)",
            r"\b(?:(?:an?|the) )?(?:(?:short|brief|quick|clear|concise|detailed|comprehensive|complete|full|thorough"
            r"|good|overall|general) )*(?:summary|overview|recap|summari[sz]e|timeline|account|list)\b(?: of\b)?",
            r"\b(?:in )?(?:the |what |which )?(?:order|sequence)\b(?: (?:in which|of|that)\b)?",
            r"\bin (?:the )?chronological order\b",
            r"\bhow (?:many|much|often)\b(?: times\b)?",
            r"\b(?:different|various|several)\b",
            r"\b(?:aspects?|things?|parts?|kinds?|types?) (?:of|related to|in)\b",
            r"\b(?:i|we|you)(?:['’]ve| have| had)? (?:brought up|mention(?:ed)?|talked about|discussed|told you|covered"
            r"|said|asked about|bring up)\b",
            r"\b(?:throughout|across|over|during|in|from) (?:all )?(?:of )?(?:our|my|the|these) (?:\w+ )?"
            r"(?:conversations?|discussions?|sessions?|chats?|talks?|messages|requests|questions)\b",
            r"\bso far\b",
            r"^\W*(?:and )?how\b",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
_CODE = re.compile(
    r"\b(?:code|snippets?|functions?|scripts?|class|method|regex(?:es)?|quer(?:y|ies)|commands?|config(?:uration)?s?"
    r"|implement(?:ed|ation)?|syntax|parameters?|arguments?|variables?|errors?|exceptions?|tracebacks?"
    r"|stack traces?)\b|[`{}]|\w\(",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\bhow (?:many|often)\b", re.IGNORECASE)
_READ_CHARS = 2_000  # characters of a question that are read for its shape
_QUESTION_SENTENCES = 2  # most of a question


def is_prompt(query: str) -> bool:
    """Return whether a query tells of more than it asks: it has more sentences than a question."""
    return len(split(query[:_READ_CHARS])) > _QUESTION_SENTENCES


def breadth_of(question: str) -> Breadth:
    """Return how broad a reply a question wants.

    ``overview`` for a summary or the course of something, ``all`` for a list, an order, how many and how often (lengths
    of time are single facts), what is still to come, or a whole area of life or work, ``best`` for everything else.
    """
    opening = question[:_READ_CHARS]
    if is_prompt(question):
        return "best"
    if _OVERVIEW.search(opening) and not _LIST.match(opening):
        return "overview"
    if (
        _LIST.match(opening)
        or _ALL.search(opening)
        or AHEAD.search(opening)
        or asks_for_plural(opening)
        or asks_for_area(question)
    ):
        return "all"
    return "best"


def asks_for_number(question: str) -> bool:
    """Return whether a question asks how many or how often: for things to count, or for a number that was said."""
    return _NUMBER.search(question[:_READ_CHARS]) is not None


def asks_for_code(question: str) -> bool:
    """Return whether a question may be answered by the lines of a block of code."""
    return _CODE.search(question[:_READ_CHARS]) is not None


def topic_of(question: str) -> str:
    """Return what a question is about, without the words that ask for a list or a summary; never empty."""
    opening = question[:_READ_CHARS]
    topic = " ".join(_FRAME.sub(" ", opening).split()).strip(" ,.?!:;")
    return topic if any(mark.isalnum() for mark in topic) else question


def wanted_breadth(query: Query) -> Breadth:
    """Return how broad a recall shall be: as the caller says, or by the shape of the question, which is understood."""
    if query.mode != "auto":
        return query.mode
    breadth = breadth_of(query.text)
    return "all" if breadth == "best" and asks_for_time_alone(query) else breadth


def time_ahead(query: Query) -> Window | None:
    """Return the time still to come that a question asks about: "next week", "What is coming up?"; None for others."""
    asked = query.time
    if asked is None or not asked.dated or asked.order in ("before", "now") or asked.since < query.local_now - DAY:
        return None
    return Window(asked.since, FOREVER if asked.order == "after" else asked.until)


def asks_for_time_alone(query: Query) -> bool:
    """Return whether a question asks for all that is on at a time to come: "What have I got on in December?"."""
    if time_ahead(query) is None or is_prompt(query.text):
        return False
    rest = query.text[:_READ_CHARS]
    for time in reversed(stated_times(rest, query.local_now, asked=True)):
        rest = f"{rest[: time.start]} {rest[time.end :]}"
    return all(word in ASKING or word in STOP_WORDS for word in words(rest))


_ALONE = re.compile(
    r"^\W*(?:what(?:['’]s| is| are| do you know)|how(?:['’]s| is| are)|tell me|describe|remind me)\b", re.IGNORECASE
)
_BESIDE = word_set(
    "current currently present now today whole overall general situation state status setup life matters issues things "
    "details information like user project team know remember tell describe remind tech"
)
"""Words that a question for an area may have beside it, names and possessives apart."""
MOST_TOPIC_WORDS = 6
"""Words of a topic that asks for an area by one of them."""
_POSSESSIVE = re.compile(r"\b\w+['’]s?(?!\w)")
_BARE_CHARS = 120
"""Characters of a question that asks for nothing but an area."""


@dataclass(frozen=True, slots=True)
class Area:
    """An area of life or work.

    Attributes:
        name: the name for readers of the table.
        asked: stems of the words by which a question asks for it.
        told: stems of the words that tell of it.
        alone: words for the whole of it.
    """

    name: str
    asked: frozenset[str]
    told: frozenset[str]
    alone: frozenset[str]


@cache
def areas() -> tuple[Area, ...]:
    """Return the areas of the table."""
    table = tomllib.loads(resource("areas.toml"))
    return tuple(
        Area(
            name, frozenset(stems(row["asked"])), frozenset(stems(row["told"])), frozenset(row.get("alone", "").split())
        )
        for name, row in table.items()
    )


def areas_asked(topic: str) -> list[Area]:
    """Return the areas for which the topic of a question asks: one in `MOST_TOPIC_WORDS` of its words is for it.

    "The features and the security of my budget tracker" does not ask for money.
    """
    said = frozenset(stems(topic))
    return [area for area in areas() if len(area.asked & said) * MOST_TOPIC_WORDS >= len(said) > 0]


def asks_for_area(question: str) -> bool:
    """Return whether a question, in English, asks for nothing but a whole area: "How is Ann's health?"."""
    if len(question) > _BARE_CHARS or _ALONE.match(question) is None:
        return False
    own = _POSSESSIVE.sub(" ", question[:1].lower() + question[1:])
    names = {word.lower() for word in re.findall(r"\b[A-Z]\w+", own)}
    left = {word for word in words(own) if word not in _BESIDE and word not in STOP_WORDS and word not in names}
    return bool(left) and any(left <= area.alone for area in areas())
