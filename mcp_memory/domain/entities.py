"""Compare the names of entities, and values that state another amount of one thing.

Names are stored as written and compared by their *key*, which ignores case, punctuation, articles, titles and the
possessive ending. An alias that the memory inferred is no fact and no evidence, but a judgement kept apart from facts
(DESIGN 2.5): facts about either name are read together until a statement denies it.

**Doses** (`doses_together`): a person takes several medicines at a time, but each in one dose, so "10 mg of lisinopril"
replaces "20 mg of lisinopril" (DESIGN 1.3). A dose that names no medicine ("I take 10 mg since today") is that of the
medicine that the person took in a dose until then; if there was none, or several, nothing is replaced.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from mcp_memory.domain.facts import Assertion, Engine
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import USER, USERS
from mcp_memory.visible import without_accents

PROJECT = "the project"
"""What "we" at work do and use belongs to it, unless a project or a thing has been named."""
TITLES = frozenset(
    ("dr", "mr", "mrs", "ms", "miss", "prof", "professor", "doctor", "sir", "dame", "lord", "lady", "rev")
)
"""Titles before a person's name. "St" is not one of them: St. Louis is not Louis."""
ARTICLES = frozenset(("the", "a", "an", "my", "our"))
_JOINING = frozenset(("of", "and", "the"))  # "Lord" in "Lord of the Rings" is not a title


def entity_key(name: str) -> str:
    """Return the key of a name, equal for all its spellings: "the Dr. Patel" and "patel" both give "patel".

    If all words are articles or titles, the last one is kept. A name without words is its own key. Accents do not count
    ("Zoë", "Zoe"), and each name of the user is "user".
    """
    if name.strip().casefold() in USERS:
        return USER
    words = _words(name)
    while _begins_with_article(words, name) or _begins_with_title(words):
        words.pop(0)
    return " ".join(words) or name.strip()


def titled(name: str) -> bool:
    """Return whether a name starts with a title, which only people have."""
    words = _words(name)
    if _begins_with_article(words, name):
        words.pop(0)
    return _begins_with_title(words)


def _begins_with_article(words: list[str], name: str) -> bool:
    initial = name.lstrip()[1:2] == "."  # "A. Lincoln"
    return len(words) > 1 and words[0] in ARTICLES and not initial


def _begins_with_title(words: list[str]) -> bool:
    return len(words) > 1 and words[0] in TITLES and words[1] not in _JOINING


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case, "c++" and "o'neill" whole, without the last one's possessive ending."""
    if name.isascii() and name.replace(" ", "").isalnum():
        return name.lower().split()  # same result as below, ten times as fast
    plain = without_accents(unicodedata.normalize("NFKC", name).casefold()).replace("’", "'")
    words = [word.strip("'").lstrip("+#") for word in "".join(map(_word_character, plain)).split()]
    words = [word for word in words if any(character.isalnum() for character in word)]
    if words:
        words[-1] = words[-1].removesuffix("'s") or words[-1]
    return words


def _word_character(character: str) -> str:
    """Return a letter, digit, combining mark, or one of ``'+#`` unchanged; a space for any other visible character."""
    if character.isalnum() or character in "'+#":
        return character
    category = unicodedata.category(character)
    return character if category[0] == "M" else "" if category == "Cf" else " "


@dataclass(frozen=True, slots=True)
class Alias:
    """The judgement that two names mean one entity.

    Attributes:
        name: the name of the entity, as written.
        alias: the other name, as written.
    """

    space: str
    name: str
    alias: str
    reason: str
    source: Engine
    at: Millis


_AMOUNT = (
    r"(?:\d+(?:[.,/]\d+)?|half\sa|an?|one|two|three|four)\s?"
    r"(?:mg|mcg|µg|μg|ug|iu|ml|milligrams?|micrograms?|units?|tablets?|pills?|capsules?|drops?|puffs?|sprays?|sachets?)"
)
_OFTEN = r"(?:\s(?:a|per|every|each|once|twice|daily|in\sthe)\b.{0,30})?"
_BEFORE = re.compile(
    rf"{_AMOUNT}\b(?:\sof\b)?(?P<thing>\s(?!a\b|per\b|every\b|daily\b|once\b|twice\b)\S.*?)?{_OFTEN}", re.IGNORECASE
)
_BEHIND = re.compile(rf"(?P<thing>\S.{{0,80}}?)[,\s(]+{_AMOUNT}\b{_OFTEN}\)?", re.IGNORECASE)
_DOSE_CHARS = 120
"""Characters of a dose with its medicine."""


def medicine(tail: str) -> str | None:
    """Return the thing of which a value states a dose, "" for a dose alone, or None if the value is no dose."""
    tail = " ".join(tail.split())
    if len(tail) > _DOSE_CHARS:
        return None
    before = _BEFORE.fullmatch(tail)
    if before is not None:
        return (before["thing"] or "").strip()
    behind = _BEHIND.fullmatch(tail)
    return behind["thing"] if behind is not None else None


def doses_together(assertions: Iterable[Assertion], key: Callable[[str], str]) -> Mapping[str, tuple[str, ...]]:
    """Return by an assertion's id the keys under which it is folded: one for each value, one for all doses of a thing.

    A denial of the thing ("I don't take lisinopril any more") counts for the thing and for its doses. Events are apart:
    who bought 20 mg and later 10 mg bought both.
    """
    keys: dict[str, tuple[str, ...]] = {}
    begun: dict[str, int] = {}
    alone: list[Assertion] = []
    denied: list[Assertion] = []
    for assertion in assertions:
        thing = None if relations().get(assertion.relation).event else medicine(assertion.tail)
        keys[assertion.id] = (_dose_key(key(thing)) if thing else key(assertion.tail),)
        if thing == "":
            alone.append(assertion)
        elif thing is None and assertion.negated:
            denied.append(assertion)
        elif thing is not None and not assertion.negated:
            name = _dose_key(key(thing))
            begun[name] = min(assertion.since, begun.get(name, assertion.since))
    for assertion in alone:
        known = [name for name, since in begun.items() if since <= assertion.since]
        if len(known) == 1:
            keys[assertion.id] = (known[0],)
    for assertion in denied:
        if (name := _dose_key(key(assertion.tail))) in begun:
            keys[assertion.id] += (name,)
    return keys


def _dose_key(thing: str) -> str:
    return f"doses of {thing}"


def is_dose_of(dose: str, thing: str, key: Callable[[str], str]) -> bool:
    """Return whether the first value states a dose of the second: who stops taking that takes no dose of it."""
    of = medicine(dose)
    return bool(of) and key(of or "") == key(thing)
