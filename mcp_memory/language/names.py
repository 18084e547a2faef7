"""Find names in texts, the title of a document, and the entities that a sentence mentions, by spelling alone.

A name is a run of capitalised words ("Newton Baker House", "Bank of England") or a text in quotation marks. The title
of a document is the given one, otherwise the subject of its first sentence. In scripts without capitals only quotation
marks and given titles count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_memory.domain.turns import Turn
from mcp_memory.heap import text_cache
from mcp_memory.language.expressions import MONTH_NAME, WEEKDAY
from mcp_memory.language.iso import MONTHS
from mcp_memory.language.tokens import STOP_WORDS, words

_QUOTED = re.compile(
    r'"([^"\n]{1,120})"|“([^”\n]{1,120})”|„([^“”\n]{1,120})[“”]|«([^»\n]{1,120})»|「([^」\n]{1,120})」'
)
_WORD = re.compile(r"\w[\w'’&.-]*")
_JOINING = frozenset(("of", "the", "de", "del", "la", "von", "van", "der", "den", "du", "&"))
_OPENERS = frozenset(
    words(
        "across along amid among around behind beside besides beyond despite inside like near nearby outside since"
        " toward towards unlike anybody anyone anything everybody everyone everything nobody none nothing somebody"
        " someone something whatever whenever wherever whoever please hi hello hey thanks thank sorry correction"
    )
)
"""Words beside the stop words that often start a sentence, capitalised, before a name ("Behind Ann")."""
_OPENING_WORDS = STOP_WORDS | _OPENERS
_POSSESSIVE = re.compile(r"['’]s?$")
_BRACKETS = re.compile(r"\s*[(（\[][^)）\]]{0,200}[)）\]]")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_VERB = re.compile(r"[,;:]|\s(?:is|are|was|were|has|had|refers|began|became|consists?|contains?)\s", re.IGNORECASE)
_WORK = re.compile(r"(?:\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|«[^»\n]{1,80}»)(?=,|\s+(?:is|are|was|were)\s)")
_WITHIN = _JOINING | {"and", "for"}
_COLON = re.compile(r"\s*:\s|：")
_SENTENCE_END = re.compile(r"\w{4,}[.!?]\s")
_OPENING = 400  # characters of a title or text that are read
HEAD_LENGTH = 10
"""Most words of a title; a longer one is a sentence."""


def names(text: str) -> tuple[str, ...]:
    """Return the names in a text as written, each once: the quoted ones, then the capitalised ones, in order.

    A name never starts with an English stop word, nor with one of some other words at the start of the text, where any
    word is capitalised.
    """
    quoted = [next(group for group in found.groups() if group) for found in _QUOTED.finditer(text)]
    found = list(_WORD.finditer(text))
    capitalised: list[str] = []
    place = 0
    while place < len(found):
        opens = place == 0 and found[0][0].lower() in _OPENERS
        if found[place][0][0].isupper() and not opens and not STOP_WORDS.issuperset(words(found[place][0])):
            last = place
            while following := _following(text, found, last):
                last = following
            capitalised.append(_POSSESSIVE.sub("", text[found[place].start() : found[last].end()]).rstrip(".-'’&"))
            place = last
        place += 1
    return tuple(dict.fromkeys(name for name in (*(name.strip() for name in quoted), *capitalised) if name))


def head(title: str | None, text: str) -> tuple[str, ...]:
    """Return the words of the topic of a document, folded as `words` folds them; empty if it is unknown.

    Args:
        title: of the document. Words in brackets only distinguish it from others of the same name, and words after a
            colon name a part of it ("Blue Mill: History" is about the Blue Mill).
        text: the document, if there is no title: a work in quotation marks at its start, otherwise a name, otherwise
            the words before the first verb or comma.
    """
    if title and title.strip():
        whole = _BRACKETS.sub(" ", title[:_OPENING]).strip()
        said = _COLON.split(whole)[0] or whole
    else:
        said = _subject(text)
    found = words(_ARTICLE.sub("", said.strip()))
    return tuple(found) if len(found) <= HEAD_LENGTH and not STOP_WORDS.issuperset(found) else ()


def short(title: str | None, about: Sequence[str]) -> tuple[str, ...]:
    """Return the title of a document as it is mostly mentioned, if that is shorter; otherwise nothing.

    First sentences write a name out ("Jane Ann Roe was a judge") that others cut to its first and last word. A title
    is the usual name already.
    """
    if (title and title.strip()) or not 3 <= len(about) <= 4 or not all(word.isalpha() for word in about):
        return ()
    return () if STOP_WORDS.intersection(about) or _JOINING.intersection(about) else (about[0], about[-1])


def _subject(text: str) -> str:
    """Return the work or the name with which a text opens, up to its first verb; empty if it opens with neither."""
    opening = _BRACKETS.sub(" ", text[:_OPENING].lstrip())
    if work := _WORK.match(opening):
        return work[0].strip('"“”„«» ,')
    verb = _VERB.search(opening)
    subject = _ARTICLE.sub("", opening[: verb.start()] if verb else "")
    said = subject.split()
    # Only a name is a head: "in those years" opens many texts, as "In the spring" does, and so do whole sentences.
    if (
        not said
        or not _begins_name(said[0])
        or _OPENING_WORDS.issuperset(words(said[0]))
        or _SENTENCE_END.search(subject)
    ):
        return ""
    length = next((n for n, word in enumerate(said) if not _begins_name(word) and word not in _WITHIN), len(said))
    while length and said[length - 1] in _WITHIN:
        length -= 1
    if sum(map(_begins_name, said[:length])) > 1:
        return " ".join(said[:length])  # "Red Mill may refer to"
    return "" if said[0][0].isdigit() else subject  # "Red squirrels": one capital alone opens any sentence


def _begins_name(word: str) -> bool:
    return word.lstrip("\"“„«'")[:1].isupper() or word[:1].isdigit()


def _following(text: str, found: list[re.Match[str]], last: int) -> int:
    """Return the place of the next capitalised word of a name, after at most two joining words; 0 for none."""
    for place in range(last + 1, min(last + 4, len(found))):
        if text[found[place - 1].end() : found[place].start()] != " ":
            return 0
        if found[place][0][0].isupper() and not _POSSESSIVE.search(found[place - 1][0]):
            return place
        if found[place][0].lower() not in _JOINING:
            return 0
    return 0


_GIVEN_NAMES = ("March", "April", "May", "June", "August")
_TIME = re.compile(rf"(?:{'|'.join(month for month in MONTHS if month not in _GIVEN_NAMES)}|{WEEKDAY})s?", re.I)
_TIME_OR_NAME = re.compile("|".join(_GIVEN_NAMES), re.I)
_LEADING = re.compile(
    r"(?:\b(?:in|on|of|since|until|till|before|after|during|between|around|last|next|this|every|each"
    r"|early|late|mid|past|through)|\d(?:st|nd|rd|th)?|\bmid-"
    rf"|\b{MONTH_NAME}\s*(?:to|and|or|/|,|[-–]))\s*$",
    re.I,
)
_FOLLOWING = re.compile(rf",?\s+\d|-\d|\s*(?:to|and|or|/|,|[-–])\s*{MONTH_NAME}\b")


def mentions(turn: Turn, sentence: str) -> tuple[str, ...]:
    """Return the entities that a sentence of a turn mentions, as written, each once (GAM-RAG's index, §3.1.1).

    The paper uses spaCy's named entities. Here they are the capitalised and quoted names of the sentence, preceded by
    the usual referent of its pronouns: the title of a document, the speaker of a message. A month or day of the week is
    a time and not an entity. A month that is also a given name ("April baked a cake") is an entity unless its context
    makes it a time.
    """
    named = (name for name in names(sentence) if not _is_time(name, sentence))
    return tuple(dict.fromkeys(name for name in (_about(turn), *named) if name))


def _is_time(name: str, sentence: str) -> bool:
    """Return whether a name is a month or day at each of its places in the sentence."""
    if _TIME.fullmatch(name):
        return True
    if not _TIME_OR_NAME.fullmatch(name):
        return False
    places = re.finditer(rf"\b{re.escape(name)}\b", sentence)
    return all(
        _LEADING.search(sentence[: place.start()]) or _FOLLOWING.match(sentence[place.end() :]) for place in places
    )


def _about(turn: Turn) -> str:
    if turn.kind == "document":
        return _head(turn.title, turn.text)
    return turn.speaker or turn.role or ""


@text_cache(1)  # the sentences of a document come one after another
def _head(title: str | None, text: str) -> str:
    return " ".join(head(title, text))
