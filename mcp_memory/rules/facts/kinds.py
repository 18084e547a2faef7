"""Decide whether a noun phrase is of the kind that a relation needs: place, person, organisation, role and so on."""

from __future__ import annotations

import re
from collections.abc import Callable

from mcp_memory.domain.entities import medicine
from mcp_memory.language.expressions import WEEKDAY_WORDS
from mcp_memory.language.iso import MONTHS, SEASONS
from mcp_memory.language.vocabulary import RELATIVES, kinship_words, word_set
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import NATIONALITIES, ROLE_ENDINGS, closed, nouns

_CALENDAR = (
    frozenset(name.lower() for name in (*MONTHS, *SEASONS))
    | WEEKDAY_WORDS
    | frozenset(f"{day}s" for day in WEEKDAY_WORDS)
    | {"christmas", "easter", "q1", "q2", "q3", "q4"}
)
_DOSES = word_set("mg mcg µg ml iu units")
"""Units of which an amount alone is a dose, "10 mg since today"."""
_MEDICINE = re.compile(
    r"[a-z]{3,}(?:formin|statin|pril|sartan|olol|dipine|azole|cillin|mycin|cycline|triptan|oxetine|traline|apine|idone"
    r"|azepam|thyroxine|tidine|profen|mab|gliptin|gliflozin|glutide|semide|thiazide|afil|olone|asone|vir|axine"
    r"|alopram|triptyline|xaban|parin|lukast|fibrate|dronate|gabalin|setron|oxacin|rizine|tinib)"
)
"""Endings by which generic names of medicines tell their class (the stems of the WHO's nonproprietary names)."""
_SIBLINGS = kinship_words("sibling_of") - word_set("bro")
_CHILDREN = kinship_words("parent_of") - word_set("baby toddler")


def last_word(noun: NounPhrase) -> str:
    """Return the last word of the name or common noun in lower case, "clinic" of "the Halden Clinic"."""
    return (noun.name.split()[-1] if noun.name else noun.head).lower()


def is_calendar(noun: NounPhrase) -> bool:
    """Return whether it is a day, a month or a season: "my brother Sunday"."""
    return last_word(noun) in _CALENDAR


def is_company(noun: NounPhrase) -> bool:
    """Return whether it is a company or an institution by its last word."""
    return last_word(noun) in nouns.COMPANIES or (bool(noun.common) and noun.head in nouns.COMPANIES)


def is_role(noun: NounPhrase) -> bool:
    """Return whether a phrase names an occupation."""
    return noun.head in nouns.ROLES or noun.head.endswith(ROLE_ENDINGS)


def is_kin(noun: NounPhrase) -> bool:
    """Return whether it is a person named by a kinship word."""
    return noun.head in RELATIVES and (noun.owner is not None or bool(noun.name))


def is_human(noun: NounPhrase) -> bool:
    """Return whether a subject is a person as far as its words tell: "I", "she", "my sister", "Ann"."""
    if noun.pronoun in closed.SECOND | {"it", "that", "this", "there", "one", "they"}:
        return False
    if noun.pronoun or noun.head in RELATIVES:
        return True
    if noun.name and not noun.common:
        return not (noun.determiner or noun.name.isupper() or is_company(noun))
    return is_role(noun) and noun.owner is not None


def _named(noun: NounPhrase) -> bool:
    return noun.named and not is_calendar(noun) and noun.text.lower() not in nouns.LANGUAGES


def _is_thing(noun: NounPhrase) -> bool:
    return not is_calendar(noun) and (noun.named or noun.head not in closed.EMPTY | nouns.VAGUE)


def is_software(noun: NounPhrase) -> bool:
    """Return whether a phrase names software: "we moved to GitHub Actions", "I started with Rust"."""
    return noun.text.lower().split()[0] in nouns.SOFTWARE


def _is_place(noun: NounPhrase) -> bool:
    named = _named(noun) and not is_kin(noun) and not is_software(noun)
    return named or noun.head in nouns.PLACES - nouns.HOMES


def _is_person(noun: NounPhrase) -> bool:
    named = _named(noun) and not is_company(noun)
    by_name = noun.head.removesuffix("s") in RELATIVES and bool(noun.appositions)  # "two brothers, Al and Tom"
    return is_kin(noun) or named or by_name or noun.pronoun in closed.THIRD | closed.FIRST | closed.SECOND


def _is_club(noun: NounPhrase) -> bool:
    """Return whether people are members of it; so they are of "the Harbour Owls", a plural with an article."""
    plural = noun.determiner == "the" and " " in noun.name and noun.name.endswith("s")
    return last_word(noun) in nouns.CLUBS or (plural and not is_company(noun))


def _is_firm(noun: NounPhrase) -> bool:
    return is_company(noun) or _is_club(noun)


def _is_org(noun: NounPhrase) -> bool:
    return (_named(noun) and not is_software(noun)) or _is_firm(noun)


def _is_workplace(noun: NounPhrase) -> bool:
    """Return whether people may work at it; a common noun must be definite, "the aquarium"."""
    definite = noun.determiner in ("a", "an", "the") or noun.owner is not None
    return _is_org(noun) or (definite and _is_thing(noun) and noun.head not in nouns.NO_WORKPLACES)


def _is_activity(noun: NounPhrase) -> bool:
    bare = not (noun.determiner or noun.owner or noun.named)
    return noun.head in nouns.PLAYED or (bare and (noun.head in nouns.ACTIVITIES or noun.head.endswith("ing")))


def _is_medicine(noun: NounPhrase) -> bool:
    """Return whether it is a medicine or a dose: "metformin", "5 mg of bisoprolol", "14 units"."""
    named = noun.head in nouns.MEDICINES or _MEDICINE.fullmatch(noun.text.lower())
    of = medicine(noun.text)
    return bool(named or of) or (of == "" and noun.head in _DOSES)


_TESTS: dict[str, Callable[[NounPhrase], bool]] = {
    "any": lambda _: True,
    "name": _named,
    "place": _is_place,
    "org": _is_org,
    "workplace": _is_workplace,
    "company": lambda noun: noun.named and is_company(noun),
    "firm": _is_firm,
    "club": _is_club,
    "team": lambda noun: noun.named and last_word(noun) in nouns.TEAMS,
    "startup": lambda noun: bool(noun.determiner) and noun.head in nouns.COMPANIES | nouns.CLUBS,
    "person": _is_person,
    "child": lambda noun: noun.head in _CHILDREN,
    "sibling": lambda noun: noun.head in _SIBLINGS,
    "role": is_role,
    "pet": lambda noun: noun.head in nouns.PETS,
    "condition": lambda noun: noun.head in nouns.CONDITIONS,
    "medicine": _is_medicine,
    "ownable": lambda noun: not nouns.OWNABLE.isdisjoint((noun.head, last_word(noun))),
    "event": lambda noun: last_word(noun) in nouns.EVENTS,
    "venue": lambda noun: last_word(noun) in nouns.VENUES,
    "activity": _is_activity,
    "language": lambda noun: noun.head in nouns.LANGUAGES,
    "subject": lambda noun: _is_thing(noun) and noun.head.removesuffix("s") not in nouns.STUDY_WHAT,
    "liked": lambda noun: _is_thing(noun) and noun.text.split()[0].lower() not in closed.LIGHT_GERUNDS,
    "thing": _is_thing,
    "software": is_software,
    "work": lambda noun: noun.head in nouns.WORKS or (_named(noun) and " " in noun.text),
    "award": lambda noun: last_word(noun) in nouns.AWARDS,
    "amount": lambda noun: noun.text[:1].isdigit(),
    "time": lambda noun: any(letter.isdigit() for letter in noun.text),
    "value": lambda noun: "@" in noun.text or sum(char.isdigit() for char in noun.text) > 4,
}


def fits(noun: NounPhrase, kind: str) -> bool:
    """Return whether a phrase is of a kind of `tables.KINDS`; what "or" leaves open, or "no" denies, is of none."""
    if noun.uncertain or (noun.pronoun and kind != "person") or (noun.owner and noun.owner.head == "other"):
        return False  # "each other's company" is nobody's
    return noun.determiner != "no" and not noun.text.startswith("zero ") and _TESTS[kind](noun)


_UNCLEAR = (closed.EMPTY | nouns.ABSTRACT | nouns.VAGUE) - (
    nouns.OWNABLE | nouns.WORKS | nouns.EVENTS | nouns.AWARDS | nouns.CONDITIONS
)
_STRICT = word_set("thing liked subject work activity event venue award ownable software condition")
"""Kinds that talk names vaguely, so that the phrase has to be clear."""


def is_clear(noun: NounPhrase, kind: str) -> bool:
    """Return whether a phrase means something by itself, without the talk around it.

    "The best part", "some new things", "that vibe", "their support" and "so much" do not.

    Args:
        noun: the phrase.
        kind: for which it is asked; names and the closed kinds are clear by themselves.
    """
    if kind in ("org", "workplace", "firm") and not noun.named:
        return noun.text.lower() not in nouns.ANY_FIRM
    if kind not in _STRICT:
        return True
    if noun.owner and noun.owner.pronoun in ("you", "they", "it", "he", "she"):
        return False
    if kind in ("liked", "subject") and not noun.named and noun.determiner not in ("", "the"):
        return False
    return noun.head not in _UNCLEAR


def is_demonym(noun: NounPhrase) -> bool:
    """Return whether a word is a nationality: "Danish"."""
    return noun.text.lower() in NATIONALITIES


def is_age(noun: NounPhrase) -> bool:
    """Return whether a phrase is a bare number that may be somebody's age."""
    text = noun.text.lower()
    return 0 < int(text) < 125 if text.isdecimal() else text.split("-")[0] in nouns.NUMBERS and " " not in text
