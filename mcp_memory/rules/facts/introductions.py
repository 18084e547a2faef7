"""Read how speakers introduce themselves at the start of a sentence: "I'm Elin", "my name is Elin", "call me Elin".

These are facts ``named``, and ``also_known_as`` for "call me"; the view joins the speaker with the name
(``view/names.py``). A name has to be a bare one: "I'm Danish", "I'm Captain Marlow" and "I'm Elin's mother" give
none, nor does a question. A speaker whose own label is a name ("Ann") is only given longer ones ("Ann Berg").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Assertion, Validity
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import USERS, Turn, speaker
from mcp_memory.language.iso import WEEKDAYS
from mcp_memory.language.tokens import STOP_WORDS
from mcp_memory.language.vocabulary import COUNTRIES, DEMONYMS, RELATIVES, word_set
from mcp_memory.rules.facts.assertions import make_assertion
from mcp_memory.rules.facts.tables import nouns

_NO_NAMES = (
    STOP_WORDS
    | DEMONYMS
    | nouns.STATES
    | nouns.PERSONISH
    | nouns.LANGUAGES
    | nouns.PETS
    | nouns.ROLES
    | nouns.ROYAL
    | nouns.JUDGING
    | RELATIVES.keys()
    | COUNTRIES
    | frozenset(map(str.lower, WEEKDAYS))
    | word_set("okay fine sorry glad sure tired back home thanks hello hi hey everyone team yes nobody tomorrow today")
)
"""Words in lower case that are no name of a person, even with a capital."""
_WORD = r"[^\W\d_a-z][^\W\d_]+(?:[-'’][^\W\d_]+)*"
_NAME = rf"(?P<name>{_WORD}(?:\s(?:(?:von|van|de|der|den|la|le|del|di|da|dos|bin|al)\s){{0,2}}{_WORD}){{0,3}})"
_GREETING = (
    r"(?:(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon|day)|oh|okay|well|so|and|also|yes|no|sorry|actually"
    r"|correction|wait|i mean|by the way|btw)(?: (?:there|all|everyone|again|team))?[ ,.!:–—-]{1,3}){0,4}"
)
_ENDS = r"(?=\s*(?:$|[.!,;:()–—\U0001F300-\U0001FAFF]| (?:and|but|from|by the way|btw|again|speaking)\b))"
_LEAD = rf"(?:.*[.!] )?\s*(?P<lead>(?i:{_GREETING}))"
_NAMED = re.compile(
    rf"{_LEAD}(?P<says>(?i:i['’]m|i am|my (?:(?:full|first|real) )?name(?:['’]s| is)) )"
    rf"{_NAME}{_ENDS}"
)
_CALLED = re.compile(
    rf"{_LEAD}(?P<says>(?i:(?:(?:you can|please|just|everyone|friends) ){{0,2}}calls? me) )"
    rf"{_NAME}{_ENDS}"
)
_CORRECTS = re.compile(r"\b(?:no|sorry|actually|correction|wait|i mean)\b", re.IGNORECASE)


def introductions(turn: Turn, index: int, span: tuple[int, int]) -> Iterator[Assertion]:
    """Yield the name that a sentence of a message gives to its speaker.

    Args:
        turn: the message; a document introduces nobody.
        index: the index of the sentence.
        span: the span of the sentence, in characters.
    """
    who, sentence = speaker(turn), turn.text[slice(*span)]
    if who is None or turn.kind != "message" or "?" in sentence[-3:]:
        return
    for relation, form in (("named", _NAMED), ("also_known_as", _CALLED)):
        found = form.match(sentence)
        if found and _is_name(found["name"]) and _is_new(who, found["name"], relation):
            place = span[0] + found.start("says"), span[0] + found.end()
            holds = Validity(turn.local_time, FOREVER, False, change=bool(_CORRECTS.search(found["lead"])))
            yield make_assertion(turn, index, place, (who, relation, found["name"]), holds, "FACT")


def _is_name(name: str) -> bool:
    words = [word.casefold() for word in name.split()]
    return not (name.endswith(("'s", "’s")) or name.isupper()) and _NO_NAMES.isdisjoint(words)


def _is_new(who: str, name: str, relation: str) -> bool:
    """Return whether a name says more than the label of the speaker does."""
    label, words = set(entity_key(who).split()), set(entity_key(name).split())
    personal = who[:1].isupper() and who.replace(" ", "").isalpha() and who.casefold() not in USERS
    return words != label and (not personal or relation != "named" or words > label)
