"""The shape of a question (the best evidence, all that bears on it, an overview), its topic; briefs of long messages.

A question such as "In what order did I bring up the parts of the garden?" asks for a list of everything, "How has the
garden come along?" for an overview, and most others for what answers them best. The words that say so tell nothing of
what is looked for: what is left without them is the *topic*, "the parts of the garden", and it finds more than the
whole question does (measured on long chats with an assistant: `services/recall/units.py`).

All of it is judged by the words alone, in English; a question in another language has the shape ``best`` and is its own
topic.

Source: the papers answer every question by one procedure and let a language model decide how far to go (MRAgent §3.2;
HGMem §3.3). **Departures.** Here the caller's model answers, and a reply has to fit in one call; so the question's
shape decides how broad it is.

**Briefs** say what a long message says in some 150 characters, in its own words. Whoever writes to an assistant often
says in one breath what they want, what they have, and what they ask ("I'm trying to plan the harbour festival for 3
June, I've booked 12 stalls, so can you help me with …"). Cut after so many characters, the figures are lost; cut around
one sentence, the matter is.

A brief is the beginning, without words that only lead to it ("I'm trying to"), and of the following clauses those that
have figures, names or words of the topic, as far as there is room, in order; "…" stands for what is left out. Code, and
clauses that only ask for help, give way. The rules are English; of another language it is the beginning, and what has
figures.

Of briefs: MRAgent §3.1 and HGMem §3.3 have a language model word what a text says. **Departures.** Here it is the words
themselves, so that nothing is said that was not.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from mcp_memory.domain.query import Breadth
from mcp_memory.language.questions import asks_for_plural
from mcp_memory.language.segments import without_code
from mcp_memory.language.tokens import stems

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
_LONGEST = 2_000  # characters of a question that are read for its shape


def breadth_of(question: str) -> Breadth:
    """Return how broad a reply a question wants.

    ``overview`` for a summary or the course of something, ``all`` for a list, an order, or how many and how often
    (lengths of time are single facts), ``best`` for everything else.
    """
    opening = question[:_LONGEST]
    if _OVERVIEW.search(opening) and not _LIST.match(opening):
        return "overview"
    return "all" if _LIST.match(opening) or _ALL.search(opening) or asks_for_plural(opening) else "best"


def asks_for_code(question: str) -> bool:
    """Return whether a question may be answered by the lines of a block of code."""
    return _CODE.search(question[:_LONGEST]) is not None


def topic_of(question: str) -> str:
    """Return what a question is about, without the words that ask for a list or a summary; never empty."""
    opening = question[:_LONGEST]
    topic = " ".join(_FRAME.sub(" ", opening).split()).strip(" ,.?!:;")
    return topic if any(mark.isalnum() for mark in topic) else question


LEAD = re.compile(
    r"(?:(?:hmm+|ok(?:ay)?|so|and|but|well|hi|hello|hey|sure|yeah|yes|got it|thanks)[,!. ]+)*"
    r"(?:(?:I['’]?m|I am|we['’]?re|we are) (?:currently |now |also )?(?:trying|looking|working|going|hoping|planning) "
    r"(?:to|on|for) "
    r"|I (?:want|need|would like|['’]d like) (?:your help )?to |I['’]d like to "
    r"|(?:can|could|would|will) you (?:please )?(?:help me )?(?:to |with |understand |figure out |find )?)?",
    re.IGNORECASE,
)
BREAK = re.compile(
    r"(?<=[.!?;:])\s+|\n+|,\s+(?=(?:(?:and|but|so|or) (?:also |then |maybe )?)?(?:because|since|considering|given|which"
    r"|where|while|specifically|especially|including|using|with|here|can|could|like|such|I|my|what|how|it|we)\b"
    r"|(?:but|so) )|\s+[-–—]\s+"
)
_FILLER = re.compile(
    r"(?:(?:and|but|so) )?(?:(?:can|could|would) you\b|please\b|here(?:['’]s| is| are)\b"
    r"|I(?:['’]m| am) (?:not sure|having)|I want to make sure|I was wondering|is (?:this|that|it) "
    r"|what (?:do|would) you|thanks|thank you|let me know)",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d")
_NAME = re.compile(r"`[^`\s]+`|(?<=[a-z,] )[A-Z][\w.+#-]+|\b[a-z]+[A-Z_]\w+")
_LINK = re.compile(r"^(?:and|but|so|or|which|that)\b,? ?", re.IGNORECASE)
GAP = " … "


def brief(text: str, chars: int, topic: Collection[str] = ()) -> str:
    """Return a text of at most about ``chars`` characters in its own words.

    Args:
        text: of a message, its code included.
        chars: above 40; a text that is no longer is returned as it is, on one line.
        topic: stems that count for a clause.
    """
    whole = " ".join(text.split())
    if len(whole) <= chars:
        return whole
    cut = (" ".join(one.split()).rstrip(" .,;:-…") for one in BREAK.split(without_code(text)))
    pieces = [piece for piece in cut if any(mark.isalnum() for mark in piece)]
    if not pieces:
        return _first_words(whole, chars)
    lead = LEAD.match(pieces[0])
    opening = pieces[0][lead.end() :] if lead and lead.end() < len(pieces[0]) // 2 else pieces[0]
    chosen = {0: _first_words(opening, chars)}
    room = chars - len(chosen[0])
    ranked = sorted(range(1, len(pieces)), key=lambda place: (-worth_of(pieces[place], topic), place))
    for place in ranked:
        piece = pieces[place]
        if worth_of(piece, topic) <= 0 or room < 25:
            break
        said = _first_words(_LINK.sub("", piece), max(60, room - len(GAP)))
        if len(said) + len(GAP) <= room:
            chosen[place] = said
            room -= len(said) + len(GAP)
    said, last = chosen[0], 0
    for place in sorted(chosen)[1:]:
        beside = " " if said[-1] in "!?" else ", "
        said = f"{said}{beside}{chosen[place]}" if place == last + 1 else f"{said.rstrip(' …')}{GAP}{chosen[place]}"
        last = place
    return said if last == len(pieces) - 1 or said.endswith("…") else f"{said} …"


def worth_of(piece: str, topic: Collection[str]) -> float:
    """Return what a clause is worth in a brief; at most 0 for one that tells nothing.

    Args:
        piece: the clause.
        topic: stems that count for it.
    """
    said = set(stems(piece))
    common = len(said.intersection(topic)) / max(1, min(4, len(topic)))
    worth = 1.0 * bool(_FIGURE.search(piece)) + common + 0.4 * min(2, len(_NAME.findall(piece)))
    return worth - (0.5 if _FILLER.match(piece) else 0.0)


def _first_words(text: str, chars: int) -> str:
    """Return the beginning of a text, cut at a word with a sign where something is left out."""
    if len(text) <= chars:
        return text
    return f"{text[: chars - 1].rsplit(' ', 1)[0].rstrip(',;:')} …"
