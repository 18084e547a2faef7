"""Replace everyday English words by synonyms, from the table in ``synonyms.toml`` beside this file.

The table has verbs in the plain form and nouns in the singular; replacements take the inflection of the original. The
words before a word decide whether it is a verb or a noun; if they do not, the word stays. A verb also stays before a
particle that the table does not list with it ("set out" is not "set"), and where its form is ambiguous ("made": past or
participle) and the two forms would be replaced differently.

A text is a list of words; a single character of Unicode's private use area stands for a name (`paraphrase`) and is
never replaced.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench.inflected import inflect

from mcp_memory.rules.facts.grammar import Form, inflection, is_known_form

# ruff: noqa: SIM905 - a list of words is read as words
TABLE = Path(__file__).with_name("synonyms.toml")
PARTICLES = frozenset("up out off down away back over along apart forward on through around together to".split())
DETERMINERS = frozenset(
    "the a an this that these those his her its their my your our some any no every each another which what whose"
    " of in at by from with about into for favourite favorite first last new own same many both".split()
)
SUBJECTS = frozenset("i he she they we you it who that which to did does do will would can could should may".split())
PREPOSITIONS = frozenset("of in at by from with about into for without while when after before since on".split())
MODALS = frozenset("to did does do will would can could should may might".split())
BEING = frozenset("is are was were be been being am".split())
HAVING = frozenset("has have had having".split())
ASKING = MODALS | BEING | HAVING | {"that", "which", "who"}
AFTER_NOUNS = (
    BEING
    | HAVING
    | SUBJECTS
    | frozenset(
        "of in at by from with about into for on to and or but as than where when while after before during since until"
        " over near between among because if not there".split()
    )
)
NO_NOUNS = frozenset("is was has does his its this thus as us yes less".split())


class Replacement(NamedTuple):
    """Synonyms for the words at a position.

    Attributes:
        length: number of words to replace.
        choices: the synonyms, one of which is chosen.
    """

    length: int
    choices: tuple[str, ...]


def is_name(word: str) -> bool:
    """Return whether a word stands for a name, possibly with a possessive ending."""
    return "\ue000" <= word[:1] <= "\uf8ff"


def replace_synonyms(words: Sequence[str], rng: Random) -> list[str]:
    """Return the words with synonyms in place of those that the table lists, and articles adapted to the next word.

    Args:
        words: in lower case except names; punctuation is attached to the word before it.
        rng: chooses between synonyms.
    """
    replaced: list[str] = []
    place = 0
    while place < len(words):
        found = replacement(words, place)
        if found is None:
            replaced.append(words[place])
            place += 1
            continue
        last = words[place + found.length - 1]
        replaced += (rng.choice(found.choices) + last[len(last.rstrip(",;:")) :]).split()
        place += found.length
    return [_article(word, replaced[i + 1] if i + 1 < len(replaced) else "") for i, word in enumerate(replaced)]


def replacement(words: Sequence[str], place: int) -> Replacement | None:
    """Return the synonyms for the words that begin at a position; the longest entry of the table wins."""
    if is_name(words[place]):
        return None
    for length in range(min(_longest(), len(words) - place), 0, -1):
        span = [word.rstrip(",;:") if i == length - 1 else word for i, word in enumerate(words[place : place + length])]
        text = " ".join(span)
        if choices := _table("others").get(text):
            return Replacement(length, choices)
        if choices := _verb(words, place, span) or _noun(words, place, span):
            return Replacement(length, choices)
    return None


def _verb(words: Sequence[str], place: int, span: Sequence[str]) -> tuple[str, ...]:
    read = inflection(span[0])
    if read is None:
        return ()
    choices = _table("verbs").get(" ".join((read.lemma, *span[1:])))
    after = words[place + len(span)].rstrip(",") if place + len(span) < len(words) else ""
    if not choices or after in PARTICLES:
        return ()
    forms = _forms(words, place, read.forms)
    if forms == {"participle"}:  # "was visited": not "was paid a visit to"
        choices = tuple(choice for choice in choices if len(choice.split()) < 3)
    made = (tuple({_inflected(choice, form) for form in forms}) for choice in choices)
    return tuple(one[0] for one in made if len(one) == 1)


def _forms(words: Sequence[str], place: int, possible: frozenset[Form]) -> frozenset[Form]:
    """Return the verb forms that a word can have in its context; none if it cannot be a verb."""
    before = words[place - 1] if place else ""
    if before in PREPOSITIONS:
        return possible & {"ing"}
    if before in DETERMINERS - SUBJECTS or before.endswith("'s") or before in ("get", "gets", "got", "getting"):
        return frozenset()
    if before in BEING | HAVING:
        return possible & {"participle", "ing"}
    if is_name(before) or before in SUBJECTS:
        asking = next((word for word in reversed(words[max(0, place - 4) : place]) if word in ASKING), "")
        if before in MODALS or asking in MODALS:
            return possible & {"plain"}
        return possible & {"participle", "ing"} if asking in BEING | HAVING else possible - {"participle"}
    if possible & {"ing"} or possible == {"past", "participle"}:
        return possible
    return frozenset()


def _noun(words: Sequence[str], place: int, span: Sequence[str]) -> tuple[str, ...]:
    before = words[place - 1] if place else ""
    text = " ".join(span)
    plural = text not in _table("nouns")
    possessive = "'s" if text.endswith("'s") else ""
    choices = _table("nouns").get(_singular(text.removesuffix("'s")) if plural else text)
    if not choices or text in NO_NOUNS or text.endswith("s'"):
        return ()
    if before in SUBJECTS and place > 1 and words[place - 2] not in PREPOSITIONS | {"me"}:
        return ()  # "that awards", where "which awards" at the front or "in which awards" is a noun
    if (
        is_known_form(span[-1])
        and not (before in DETERMINERS or before.endswith("'s"))
        and not _table("others").get(before)
    ):
        return ()
    plural = plural and not possessive
    if _begins_compound(words, place + len(span)):
        choices = tuple(choice for choice in choices if " " not in choice)
    return tuple((_plural(choice) if plural else choice) + possessive for choice in choices)


def _begins_compound(words: Sequence[str], place: int) -> bool:
    """Return whether the noun before a position may be the first part of a compound, as in "charity run"."""
    after = words[place].rstrip(",") if place < len(words) and words[place - 1][-1] != "," else ""
    read = inflection(after)
    finite = read is not None and bool(read.forms & {"third", "past"} and read.lemma != after)
    return bool(after) and not is_name(after) and after not in AFTER_NOUNS and not finite


def _inflected(phrase: str, form: Form) -> str:
    first, _, rest = phrase.partition(" ")
    return f"{inflect(first, form)} {rest}".strip()


def _singular(noun: str) -> str:
    if noun in (irregular := {"children": "child", "people": "people", "wives": "wife", "cities": "city"}):
        return irregular[noun]
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if re.search(r"(?:s|x|z|ch|sh)es$", noun) and noun[:-2] in _table("nouns"):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def _plural(phrase: str) -> str:
    """Return the plural of a noun phrase; the first noun of "place of birth" or "person in charge" is inflected."""
    if found := re.match(r"(.+?)( (?:of|in|to|on|at|for|with|who|that|worked|formed) .*)$", phrase):
        return _plural(found[1]) + found[2]
    if phrase.endswith("child"):
        return phrase + "ren"
    if phrase.endswith("person"):
        return "people" if phrase == "person" else phrase.removesuffix("person") + "people"
    if phrase in ("folk", "clothing", "apparel") or (phrase.endswith("s") and not phrase.endswith("ss")):
        return phrase
    if phrase.endswith(("s", "x", "z", "ch", "sh")):
        return phrase + "es"
    if phrase.endswith("y") and phrase[-2] not in "aeiou":
        return phrase[:-1] + "ies"
    return phrase + "s"


def _article(word: str, following: str) -> str:
    if word not in ("a", "an") or not following or is_name(following):
        return word
    sounded = re.match(r"(?!uni(?!n)|us[ei]|eu|one\b|once\b)[aeiou]|hour|hono|heir|honest", following)
    return "an" if sounded else "a"


def agents() -> dict[str, tuple[str, ...]]:
    """Return paraphrases of agent nouns ("author"); what follows "of" comes after them."""
    return _table("agents")


@cache
def _table(part: str) -> dict[str, tuple[str, ...]]:
    return {words: tuple(said.split(" | ")) for words, said in tomllib.loads(TABLE.read_text("utf-8"))[part].items()}


@cache
def _longest() -> int:
    return max(len(words.split()) for part in ("verbs", "nouns", "others") for words in _table(part))
