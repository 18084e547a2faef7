"""Read how speakers introduce themselves: "I'm Elin", "my name is Elin", "call me Elin", "Elin here".

These are facts ``named``, and ``also_known_as`` for "call me"; the view joins the speaker with the name
(``view/given_names.py``). A name has to be a bare one: "I'm Danish", "I'm Captain Marlow" and "I'm Elin's mother" give
none. Nothing is read in a question, or of an assistant, who writes letters and parts for others. A
speaker whose own label is a name ("Ann") is only given longer ones ("Ann Berg").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mcp_memory.domain.entities import TITLES, entity_key
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.turns import USERS, Turn, by_assistant, speaker
from mcp_memory.language.iso import MONTHS, WEEKDAYS
from mcp_memory.language.tokens import STOP_WORDS
from mcp_memory.language.vocabulary import COUNTRIES, DEMONYMS, RELATIVES, word_set
from mcp_memory.rules.facts.tables import nouns

_NO_NAMES = (
    STOP_WORDS
    | DEMONYMS
    | nouns.STATES
    | nouns.PERSONISH
    | nouns.LANGUAGES
    | nouns.PETS
    | RELATIVES.keys()
    | COUNTRIES
    | frozenset(word.lower() for word in (*WEEKDAYS, *MONTHS) if word not in ("April", "May", "June", "August"))
    | word_set(
        "able afraid alive alone amazed angry anxious ashamed asleep aware awake away back better bored broke busy"
        " certain clear cold confident confused curious dead done down drunk early excited exhausted fed fine free"
        " full glad gone good great grateful guilty happy home honoured hopeful hot hungry ill impressed in inspired"
        " interested jealous kind late lazy legend lost lucky mad made nervous new nobody okay ok old online over"
        " overwhelmed part pleased poor proud ready relieved right sad safe scared serious shocked sick sorry stressed"
        " stuck sure surprised terrified thankful thirsty thrilled tired torn totally upset used well worried wrong"
        " yes no thanks thank hello hi hey dear please everyone everybody someone somebody anyone anybody same snow"
        " rain sun sunny tomorrow today tonight yesterday crazy maybe monday anytime asap whatever whenever me it"
        " christian orthodox anglican lutheran sikh jain pagan mormon quaker democrat republican liberal conservative"
        " labour libertarian socialist communist feminist aries taurus gemini cancer leo virgo libra scorpio"
        " sagittarius capricorn aquarius pisces introvert extrovert infj intj entp infp type team god santa batman"
        " superman dracula spiderman gandalf ishmael"
    )
)
"""Words in lower case that are no name of a person, even with a capital."""
_LED = TITLES | nouns.ROLES | nouns.ROYAL | nouns.TITLE_ROLES | word_set("captain agent saint father sister brother")
_TOKEN = re.compile(r"[ ]?([^\W\d_][\w'’-]*)")
_PARTICLES = word_set("von van de der den la le del di da dos bin al ter")
_LONGEST = 4  # words of a name
_GREETING = (
    r"(?:(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon|day)|greetings|howdy|oh|ok|okay|well|so|and|also|yes"
    r"|yeah|no|sorry|actually|correction|wait|i mean|to be clear|by the way|btw)"
    r"(?: (?:there|all|everyone|again|team|folks|guys))?[ ,.!:–—-]{1,3}){0,4}"
)
_SELF = re.compile(
    rf"\s*(?P<lead>{_GREETING})(?P<form>i['’]m(?: called)?|i am(?: called)?|i go by|this is|(?:(?:you can|please|just"
    r"|everyone|everybody|people|my friends|friends|they all|most people) ){0,2}calls? me) ",
    re.IGNORECASE,
)
_MY_NAME = re.compile(
    rf"(?:^\s*{_GREETING}|[,;:–—-] |\b(?:and|but|so) )my (?:(?:full|first|real|given|own) )?name(?:['’]s| is) ",
    re.IGNORECASE,
)
_CALL_ME = re.compile(
    r"(?:[,;:–—-] |\b(?:and|but|so) )(?:(?:you can|please|just|everyone|people) ){0,2}calls? me ", re.I
)
_HERE = re.compile(rf"\s*{_GREETING}", re.IGNORECASE)
_CORRECTS = re.compile(r"\b(?:no|sorry|actually|correction|wait|i mean|to be clear)\b", re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:$|[.!,;:()\U0001F300-\U0001FAFF–—]|[ ](?:and|but|from|by the way|btw|again|speaking)\b)")
_ENDS_GREETING = re.compile(r"\s*(?:$|[.!]|[ ](?:from|again|speaking|here|calling|writing)\b|(?:,| and) I\b)")
_ENDS_HERE = re.compile(r" here\s*(?:$|[.!,;:–—-])")
_NOT = re.compile(r",? (?:and )?not ")


class Introduction(NamedTuple):
    """A name that a sentence gives.

    Attributes:
        head: the speaker.
        relation: ``named``, or ``also_known_as`` for what somebody wants to be called.
        name: as written.
        start: first character of the stating words within the text.
        end: first character after them.
        negated: whether it is denied that this is the name.
        change: whether it corrects another name.
    """

    head: str
    relation: str
    name: str
    start: int
    end: int
    negated: bool = False
    change: bool = False


def read_introductions(turn: Turn, start: int, end: int) -> Iterator[Introduction]:
    """Yield the names that a sentence of a message gives to its speaker.

    Args:
        turn: the message.
        start: first character of the sentence.
        end: first character after it.
    """
    who, text = speaker(turn), turn.text
    if who is None or turn.kind != "message" or by_assistant(turn):
        return
    if "?" not in text[max(start, end - 3) : end]:
        readers = (_self_introduction, _my_name, _call_me, _name_before_here)
        for found in (read(text, start, end) for read in readers):
            if found:
                yield from _of_speaker(text, end, who, found)


_BEINGS = (
    nouns.PETS
    | nouns.ROLES
    | nouns.PERSONISH
    | RELATIVES.keys()
    | word_set(
        "lodger tenant guest girl boy man woman skipper captain physio landlord landlady childminder tutor trainer vet"
        " gp supervisor instructor cleaner plumber builder agent dentist coach"
    )
)
_MY_OWN = re.compile(
    r"\bmy (?:(?:full|first|real|given|own) )?name\b|^(?:i['’]?m|i am|this is)\b|\bhere$", re.IGNORECASE
)


def names_somebody(turn: Turn, said: Assertion) -> bool:
    """Return whether an assertion, if it is one of ``named``, states the name of a person, an animal or such a thing.

    "Our wifi name is Lynd14" is no name of the speaker, and "Muffin is named Wendy" none of Muffin, who has one. A
    described head ("user's dog") has to describe a being.
    """
    if turn.kind == "document" and not USERS.isdisjoint((said.head.casefold(), said.tail.casefold())):
        return False  # the user of a page is nobody that the memory knows
    if said.head.endswith(("'s", "’s")):
        return False  # "she's due on Friday", "Nina's runs out in August"
    if said.relation != "named":
        return True
    name = said.tail.split()
    if not all(word[0].isalpha() or word[0] in "'’" for word in name) or any(c.isdigit() for c in said.tail):
        return False
    if not name[0][0].isupper() or len(name) > _LONGEST:
        return False
    if said.head == speaker(turn):
        return bool(_MY_OWN.search(turn.text[said.start : said.end]))
    return said.head.split()[-1].casefold() in _BEINGS


class _Found(NamedTuple):
    name: str
    start: int
    end: int
    relation: str = "named"
    change: bool = False


def _of_speaker(text: str, end: int, who: str, found: _Found) -> Iterator[Introduction]:
    """Yield the name of a speaker, and the denial of the other one in "I'm Elin, not Ellen"."""
    label, words = set(entity_key(who).split()), set(entity_key(found.name).split())
    free = not _is_personal_name(who) or found.relation != "named"
    if words != label and (free or words > label):
        yield Introduction(who, found.relation, found.name, found.start, found.end, change=found.change)
    denial = _NOT.match(text, found.end, end) if found.relation == "named" else None
    if denial and (other := _name_at(text, denial.end(), end)):
        yield Introduction(who, "named", other[0], found.start, other[1], negated=True, change=True)


def _is_personal_name(label: str) -> bool:
    """Return whether the label of a speaker is a name, rather than "User", "u17" or "Speaker A"."""
    words = label.split()
    roles = USERS | word_set("speaker person participant customer client caller guest patient member owner author")
    return all(word[0].isupper() and word.isalpha() and word.casefold() not in roles for word in words)


def _self_introduction(text: str, start: int, end: int) -> _Found | None:
    match = _SELF.match(text, start, end)
    if match is None or (found := _name_at(text, match.end(), end)) is None:
        return None
    name, stop = found
    form, words = match["form"].casefold(), name.casefold().split()
    if words[0] in _LED and (words[0] not in TITLES or len(words) == 1):
        return None
    ends = _ENDS
    if form == "this is":
        alone = _is_first(text, start) and (match["lead"] or not text[end : end + 9].strip() or _MINE.match(text, end))
        ends = _ENDS_GREETING if alone else _NEVER
    if not (ends.match(text, stop, end) or _NOT.match(text, stop, end)):
        return None
    relation = "also_known_as" if form.endswith(("call me", "calls me", "go by")) else "named"
    return _Found(name, match.start("form"), stop, relation, bool(_CORRECTS.search(match["lead"])))


_MINE = re.compile(r"\s*(?:I\b|My\b)")
_NEVER = re.compile(r"(?!)")


def _my_name(text: str, start: int, end: int) -> _Found | None:
    match = _MY_NAME.search(text[start:end])
    if match is None or (found := _name_at(text, start + match.end(), end)) is None:
        return None
    if not (_ENDS.match(text, found[1], end) or _NOT.match(text, found[1], end)):
        return None
    first = start + match[0].lower().index("my ") + match.start()
    return _Found(found[0], first, found[1], "named", bool(_CORRECTS.search(match[0])))


def _call_me(text: str, start: int, end: int) -> _Found | None:
    """Return the name of "…, but call me Elin"."""
    match = _CALL_ME.search(text[start:end])
    found = _name_at(text, start + match.end(), end) if match else None
    if match is None or found is None or not _ENDS.match(text, found[1], end):
        return None
    return _Found(found[0], start + match.end() - len("call me "), found[1], "also_known_as")


def _name_before_here(text: str, start: int, end: int) -> _Found | None:
    """Return the name of "Elin here", at the start of a message."""
    if not _is_first(text, start):
        return None
    opening = _HERE.match(text, start, end)
    found = _name_at(text, opening.end() if opening else start, end)
    if found is None or not _ENDS_HERE.match(text, found[1], end) or found[0].casefold().split()[0] in _LED:
        return None
    return _Found(found[0], start, found[1] + len(" here"))


def _name_at(text: str, position: int, end: int) -> tuple[str, int] | None:
    """Return the name that begins at a position and the place after it, or None."""
    first, stop, count = position, position, 0
    while count < _LONGEST and (token := _TOKEN.match(text, position, end)):
        word = token[1].rstrip("-'’")
        if not count and text[first] == " ":
            return None
        if word[0].isupper():
            if word.endswith(("'s", "’s")):
                return None  # "I'm Elin's mother"
            if len(word) < 2 or word.isupper() or word.casefold() in _NO_NAMES:
                return (text[first:stop], stop) if count else None
            stop = token.start(1) + len(word)
            count += 1
            if text[stop : stop + 1] == "." and word.casefold() in TITLES:
                stop += 1
        elif not count or word not in _PARTICLES:
            break
        position = max(token.end(), stop)
    return (text[first:stop], stop) if count else None


def _is_first(text: str, start: int) -> bool:
    """Return whether a sentence is the first of its text."""
    return not text[:start].strip()
