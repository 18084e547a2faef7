"""Decide whether a noun phrase is of the kind that a relation needs: place, person, organisation, role and so on."""

from __future__ import annotations

import re
from collections.abc import Callable

from mcp_memory.domain.entities import medicine
from mcp_memory.language.expressions import WEEKDAY_WORDS
from mcp_memory.language.iso import MONTHS, SEASONS
from mcp_memory.language.vocabulary import RELATIVES, kinship_words, word_set
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import closed, nouns

_CALENDAR = (
    frozenset(name.lower() for name in MONTHS)
    | WEEKDAY_WORDS
    | frozenset(f"{day}s" for day in WEEKDAY_WORDS)
    | frozenset(SEASONS)
    | {"christmas", "easter", "q1", "q2", "q3", "q4", "h1", "h2"}
)
_DOSES = word_set("mg mcg µg ug ml iu units milligrams micrograms")
"""Units of which an amount alone is a dose, "10 mg since today"."""
_MEDICINE = re.compile(
    r"[a-z]{3,}(?:formin|statin|pril|sartan|olol|dipine|azole|cillin|mycin|cycline|triptan|oxetine|traline|apine|idone"
    r"|azepam|thyroxine|tidine|fenadine|profen|pam|mab|gliptin|gliflozin|glutide|semide|thiazide|afil|solone|olone|asone|vir|axine|alopram"
    r"|triptyline|ipramine|xaban|grel|parin|lukast|fibrate|dronate|gabalin|pentin|setron|oxacin|tadine|rizine|tinib|terol|sonide)"
)
"""Endings by which generic names of medicines tell their class (the stems of the WHO's nonproprietary names)."""
PEOPLE = frozenset(RELATIVES) | {f"{word}s" for word in RELATIVES}
"""Words for people by what they are to somebody, "flatmates"."""
_POINTING = word_set("this that these those no any another every each")


def last_word(noun: NounPhrase) -> str:
    """Return the last word of the name or common noun in lower case, "clinic" of "the Halden Clinic"."""
    return (noun.name.split()[-1] if noun.name else noun.head).lower()


def is_calendar(noun: NounPhrase) -> bool:
    """Return whether it is a day, a month or a season: "my brother Sunday"."""
    return last_word(noun) in _CALENDAR


def is_team(noun: NounPhrase) -> bool:
    """Return whether it is a team by the last word of its name, often a plural of animals or warriors."""
    return last_word(noun) in nouns.TEAMS


def is_company(noun: NounPhrase) -> bool:
    """Return whether it is a company or an institution by its last word."""
    return last_word(noun) in nouns.COMPANIES or (bool(noun.common) and noun.head in nouns.COMPANIES)


def is_club(noun: NounPhrase) -> bool:
    """Return whether people are members of it, by its last word; "the Harbour Owls" is a plural with an article."""
    bare = noun.determiner == "the" and " " in noun.name and not is_company(noun)
    return (bare and noun.name.endswith("s")) or last_word(noun) in nouns.CLUBS


def is_school(noun: NounPhrase) -> bool:
    """Return whether a phrase names a place where people study, by its last word."""
    return last_word(noun) in nouns.SCHOOLS


def is_role(noun: NounPhrase) -> bool:
    """Return whether a phrase names an occupation."""
    return not noun.quoted and (noun.head in nouns.ROLES or noun.head.endswith(nouns.ROLE_ENDINGS))


def is_kin(noun: NounPhrase) -> bool:
    """Return whether it is a person named by a kinship word."""
    return noun.head in RELATIVES and (noun.owner is not None or bool(noun.name) or noun.text[:1].isupper())


def _named(noun: NounPhrase) -> bool:
    return (
        noun.named and not noun.quoted and last_word(noun) not in _CALENDAR and noun.text.lower() not in nouns.LANGUAGES
    )


def _is_thing(noun: NounPhrase) -> bool:
    if noun.named:
        return last_word(noun) not in _CALENDAR
    return noun.head not in closed.EMPTY | nouns.VAGUE | _CALENDAR


def _is_software(noun: NounPhrase) -> bool:
    """Return whether a phrase names software: "we moved to GitHub Actions", "I started with Rust"."""
    return noun.text.lower().split()[0] in nouns.SOFTWARE


def _is_place(noun: NounPhrase) -> bool:
    named = _named(noun) and not is_kin(noun) and not _is_software(noun)
    return named or noun.head in nouns.PLACES - nouns.HOMES or (noun.head in nouns.DIRECTIONS and noun.of is not None)


def _is_person(noun: NounPhrase) -> bool:
    named = _named(noun) and not is_company(noun)
    by_name = noun.head in PEOPLE and bool(noun.appositions)  # "two brothers, Al and Tom"
    return is_kin(noun) or named or by_name or noun.pronoun in closed.THIRD | closed.FIRST | closed.SECOND


def _is_liked(noun: NounPhrase) -> bool:
    others = noun.owner is not None and noun.owner.pronoun in ("you", "he", "she", "they")
    return _is_thing(noun) and not others and noun.text.split()[0].lower() not in closed.LIGHT_GERUNDS


def _is_org(noun: NounPhrase) -> bool:
    return (_named(noun) and not _is_software(noun)) or is_company(noun) or is_club(noun) or is_school(noun)


def _is_workplace(noun: NounPhrase) -> bool:
    """Return whether people may work at it; a common noun must be definite, "the aquarium"."""
    definite = noun.determiner in ("a", "an", "the") or noun.owner is not None
    return _is_org(noun) or (definite and _is_thing(noun) and noun.head not in nouns.NO_WORKPLACES)


_CHILDREN = kinship_words("parent_of") - word_set("stepdaughter stepson baby toddler")
_SIBLINGS = kinship_words("sibling_of") - word_set("stepsister half-sister stepbrother half-brother bro")


def _is_residence(noun: NounPhrase) -> bool:
    """Return whether "left X" says that somebody lived in X."""
    return _is_place(noun) and noun.owner is None


def _is_startup(noun: NounPhrase) -> bool:
    """Return whether somebody who starts it has founded it."""
    return bool(noun.determiner or noun.named) and noun.head in nouns.COMPANIES | nouns.CLUBS


def _is_activity(noun: NounPhrase) -> bool:
    bare = not (noun.determiner or noun.owner or noun.named)
    return bare and (noun.head in nouns.PLAYED | nouns.ACTIVITIES or noun.head.endswith("ing"))


def is_human(noun: NounPhrase) -> bool:
    """Return whether a subject is a person as far as its words tell: "I", "she", "my sister", "Ann"."""
    if noun.uncertain or noun.pronoun in closed.SECOND | {"it", "that", "this", "there", "one", "they"}:
        return False
    if noun.pronoun or noun.head in RELATIVES:
        return True
    if noun.name and not noun.common and not noun.quoted:
        return not (noun.determiner or noun.name.isupper() or is_company(noun))
    return is_role(noun) and noun.owner is not None


_UNCLEAR = (closed.EMPTY | nouns.ABSTRACT | nouns.VAGUE) - (
    nouns.OWNABLE | nouns.WORKS | nouns.EVENTS | nouns.CRAFTS | nouns.AWARDS | nouns.CONDITIONS
)
_STRICT = word_set(
    "thing used liked hobby subject noted cause tool work craft event activity venue won ownable condition"
)
"""Kinds that talk names vaguely, so that the phrase has to be clear."""


def is_clear(noun: NounPhrase, kind: str) -> bool:
    """Return whether a phrase means something by itself, without the talk around it.

    "The best part", "some new things", "that vibe", "their support" and "so much" do not.

    Args:
        noun: the phrase.
        kind: for which it is asked; names and the closed kinds are clear by themselves.
    """
    if kind in ("org", "workplace", "firm", "company") and not noun.named:
        return noun.text.lower() not in nouns.ANY_FIRM
    if kind not in _STRICT or noun.quoted:
        return True
    if noun.owner and noun.owner.pronoun in ("you", "they", "it", "he", "she"):
        return False
    if kind in ("liked", "hobby", "subject") and not noun.named and noun.determiner not in ("", "the"):
        return False
    return noun.head not in _UNCLEAR


_TESTS: dict[str, Callable[[NounPhrase], bool]] = {
    "any": lambda _: True,
    "name": _named,
    "place": _is_place,
    "org": _is_org,
    "workplace": _is_workplace,
    "company": lambda noun: noun.named and is_company(noun),
    "person": _is_person,
    "role": is_role,
    "thing": _is_thing,
    "pet": lambda noun: noun.head in nouns.PETS,
    "condition": lambda noun: noun.head in nouns.CONDITIONS,
    "child": lambda noun: noun.head in _CHILDREN,
    "sibling": lambda noun: noun.head in _SIBLINGS,
    "startup": _is_startup,
    "activity": _is_activity,
    "instrument": lambda noun: noun.head in nouns.PLAYED,
    "craft": lambda noun: noun.head in nouns.CRAFTS,
    "ownable": lambda noun: noun.head in nouns.OWNABLE,
    "event": lambda noun: last_word(noun) in nouns.EVENTS and noun.determiner not in _POINTING,
    "venue": lambda noun: last_word(noun) in nouns.VENUES,
    "firm": lambda noun: is_company(noun) or is_club(noun),
    "team": lambda noun: is_team(noun) and noun.named,
    "club": is_club,
    "school": is_school,
    "residence": _is_residence,
    "first_name": lambda noun: _named(noun) and " " not in noun.name,
    "colour": lambda noun: noun.head in nouns.COLOURS and not noun.name,
    "amount": lambda noun: noun.text[:1].isdigit(),
    "tool": lambda noun: _named(noun) or noun.quoted,
    "noted": _is_thing,
    "used": lambda noun: _named(noun) or _is_software(noun),
    "time": lambda noun: any(letter.isdigit() for letter in noun.text),
    "value": lambda noun: "@" in noun.text or sum(char.isdigit() for char in noun.text) > 4,
    "cause": lambda noun: noun.head in nouns.CONDITIONS | nouns.CAUSES,
    "liked": _is_liked,
    "subject": lambda noun: _is_thing(noun) and noun.head.removesuffix("s") not in nouns.STUDY_WHAT,
    "hobby": _is_liked,
    "language": lambda noun: noun.head in nouns.LANGUAGES,
    "played": lambda noun: noun.head in nouns.PLAYED or _named(noun),
    "ensemble": lambda noun: last_word(noun) in nouns.ENSEMBLES,
    "assembly": lambda noun: last_word(noun) in nouns.ASSEMBLIES,
    "vehicle": lambda noun: last_word(noun) in nouns.VEHICLES or noun.head in nouns.VEHICLES,
    "work": lambda noun: noun.quoted or noun.head in nouns.WORKS or (_named(noun) and len(noun.text.split()) > 1),
    "won": lambda noun: noun.head in nouns.AWARDS or _named(noun),
    "award": lambda noun: noun.head in nouns.AWARDS or last_word(noun) in nouns.AWARDS,
    "medicine": lambda noun: noun.head in nouns.MEDICINES or bool(_MEDICINE.fullmatch(noun.text.lower())),
    "dose": lambda noun: bool(medicine(noun.text)) or (medicine(noun.text) == "" and noun.head in _DOSES),
}


def fits(noun: NounPhrase, kind: str) -> bool:
    """Return whether a phrase is of a kind.

    Args:
        noun: the noun of a sentence; one that "or" leaves open is of no kind.
        kind: one of `rows.KINDS`.
    """
    if noun.uncertain or (noun.pronoun and kind != "person") or (noun.owner and noun.owner.head == "other"):
        return False  # "each other's company" is nobody's
    return _TESTS[kind](noun)


def is_demonym(noun: NounPhrase) -> bool:
    """Return whether a word is a nationality: "Danish", "half Danish"."""
    return noun.text.lower().removeprefix("half ") in nouns.NATIONALITIES


def has_age(noun: NounPhrase) -> bool:
    """Return whether a phrase is a person or an animal, so that a bare number is an age: "My room is 14" tells none."""
    return is_human(noun) or noun.head in nouns.PETS


def is_age(noun: NounPhrase) -> bool:
    """Return whether a phrase is a bare number that may be somebody's age."""
    text = noun.text.lower()
    return 0 < int(text) < 125 if text.isdecimal() else text.split("-")[0] in nouns.NUMBERS and " " not in text
