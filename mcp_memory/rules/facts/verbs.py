"""The inflections of verbs: "moved", "moves" and "moving" are forms of *move*."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from mcp_memory.domain.relations import COMMON, FURTHER, SECOND_FORMS, irregular_verbs, third_person
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.rows import words_of

Form = Literal["plain", "third", "past", "participle", "ing"]


class Inflection(NamedTuple):
    """The plain form of a verb, and the forms of it that a word may be."""

    lemma: str
    forms: frozenset[Form]


_VOWELS = "aeiou"
_DOUBLING = word_set(
    "plan stop shop ship quit swim run get sit hit cut put let begin win chat hug jog rub wed knit regret"
    " travel cancel enrol control commit admit prefer refer transfer occur spot step drop grab swap skip trip"
    " wrap beg dig nod pet set split bet bat jam tag"
)


@cache
def _inflections() -> dict[str, Inflection]:
    """Return every known form; where two verbs share a form, the first verb wins."""
    inflections: dict[str, tuple[str, set[Form]]] = {}

    def add(form: str, lemma: str, kind: Form) -> None:
        entry = inflections.setdefault(form, (lemma, set()))
        if entry[0] == lemma:
            entry[1].add(kind)

    irregular = irregular_verbs()
    for lemma, past, participle in irregular:
        add(past, lemma, "past")
        add(participle, lemma, "participle")
    irregular_lemmas = {lemma for lemma, _, _ in irregular}
    regular = [*COMMON.split(), *FURTHER.split(), *words_of(["verb", "passive"])]
    for lemma in dict.fromkeys([*irregular_lemmas, *regular]):
        if lemma == "be":
            continue
        add(lemma, lemma, "plain")
        add(third_person(lemma), lemma, "third")
        add(_ing(lemma), lemma, "ing")
        if lemma not in irregular_lemmas:
            for past in _past(lemma):
                add(past, lemma, "past")
                add(past, lemma, "participle")
    for form, lemma in SECOND_FORMS.items():
        add(form, lemma, "past")
        add(form, lemma, "participle")
    return {form: Inflection(lemma, frozenset(kinds)) for form, (lemma, kinds) in inflections.items()}


_NOT_VERBS = word_set(
    "hundred indeed sacred wicked naked rugged beloved crooked speed morning evening something anything"
    " nothing everything building wedding spring string sibling ceiling feeling meeting clothing pudding"
    " painting darling offspring earring boring amazing interesting exciting shilling herring duckling"
    " dumpling outing sterling"
)


def inflection(word: str) -> Inflection | None:
    """Return the verb that a word in lower case is a form of, or None; "be" is not included.

    A verb that no list has is still recognised by "-ed" and "-ing", so that its clause is recognised as a clause.
    """
    inflection = _inflections().get(word)
    if inflection is None and len(word) > 5 and word not in _NOT_VERBS:
        if word.endswith("ed"):
            return Inflection(_plain_form(word.removesuffix("ed")), frozenset(("past", "participle")))
        if word.endswith("ing"):
            return Inflection(_plain_form(word.removesuffix("ing")), frozenset(("ing",)))
    return inflection


_ENDS_IN_E = re.compile(
    r"(?:[vuz]|[^k]c|[drl]g|[bcdfgkptz]l|[aiu]d|^[^aeiou]*[aeiou][dtkmnp]|[aeiou]s|[rn]s|[^aeo]ir|[^o]ur|at)$"
)


def _plain_form(stem: str) -> str:
    """Return the plain form of a regular verb without its "-ed", as far as spelling shows it: "merge", "stop"."""
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if _ENDS_IN_E.search(stem) and not re.search(r"[aeiou]{2}[a-z]$", stem) else stem


def is_known_form(word: str) -> bool:
    """Return whether a word in lower case is a form of a verb in the lists."""
    return word in _inflections()


def _ing(lemma: str) -> str:
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "ye", "oe")):
        return lemma[:-1] + "ing"
    return lemma + (lemma[-1] if lemma in _DOUBLING else "") + "ing"


def _past(lemma: str) -> tuple[str, ...]:
    if lemma.endswith("e"):
        return (lemma + "d",)
    if lemma.endswith("y") and lemma[-2] not in _VOWELS:
        return (lemma[:-1] + "ied",)
    if lemma in ("travel", "cancel"):
        return lemma + "ed", lemma + "led"
    return (lemma + (lemma[-1] if lemma in _DOUBLING else "") + "ed",)
