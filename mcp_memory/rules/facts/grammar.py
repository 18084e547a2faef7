"""Classify the word at one index of a sentence: form of a verb, adverb, auxiliary, genitive, phrase boundary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

from mcp_memory.domain.relations import third_person, verbs
from mcp_memory.language.tokens import ending_removed
from mcp_memory.language.vocabulary import RELATIVES
from mcp_memory.rules.facts.tables import OWNERS, adjectives, closed, nouns, words_of
from mcp_memory.rules.facts.words import Word

Form = Literal["plain", "third", "past", "participle", "ing"]


class Inflection(NamedTuple):
    """The plain form of a verb, and the forms of it that a word may be."""

    lemma: str
    forms: frozenset[Form]


@cache
def _inflections() -> tuple[dict[str, Inflection], dict[str, str]]:
    """Return the forms that are known whole, of two verbs with one form those of the first, and the verbs by stem."""
    forms: dict[str, tuple[str, set[Form]]] = {}

    def add(form: str, lemma: str, *kinds: Form) -> None:
        entry = forms.setdefault(form, (lemma, set()))
        if entry[0] == lemma:
            entry[1].update(kinds)

    known = verbs()
    for lemma, past, participle in known.irregular:
        add(past, lemma, "past")
        add(participle, lemma, "participle")
    regular = [*known.regular, *words_of(["verb", "passive"])]
    every = [one for one in dict.fromkeys([*(verb[0] for verb in known.irregular), *regular]) if one != "be"]
    for lemma in every:
        add(lemma, lemma, "plain")
        add(third_person(lemma), lemma, "third")
    for form, lemma in known.further.items():
        add(form, lemma, "past", "participle")
    by_stem = {ending_removed(lemma): lemma for lemma in reversed(every)}
    by_stem |= {ending_removed(f"{one}d"): one for one in reversed(every) if one.endswith("ce")}  # "apprenticed"
    return {form: Inflection(lemma, frozenset(kinds)) for form, (lemma, kinds) in forms.items()}, by_stem


def inflection(word: str) -> Inflection | None:
    """Return the verb that a word in lower case is a form of, or None; "be" is not included.

    A verb that no list has is still recognised by "-ed" and "-ing", so that its clause is recognised as a clause.
    """
    forms, by_stem = _inflections()
    if word in forms or not word.endswith(("ed", "ing")):
        return forms.get(word)
    stem = ending_removed(word)
    lemma = by_stem.get(stem, stem if len(word) > 5 and word not in closed.NOT_VERBS else None)
    endings: tuple[Form, ...] = ("ing",) if word.endswith("ing") else ("past", "participle")
    return Inflection(lemma, frozenset(endings)) if lemma else None


_FINITE: frozenset[Form] = frozenset(("past", "third", "plain"))
BREAKING = (
    closed.PREPOSITIONS | closed.CONJUNCTIONS | closed.AUXILIARIES | closed.NEGATIONS | closed.NOMINATIVE
    | closed.OBJECTIVE | closed.SUBORDINATORS | closed.CONDITIONS | closed.ADVERBS | OWNERS.keys()
    | closed.DETERMINERS
)  # fmt: skip
"""Words that no noun phrase holds."""


def skip_adverbials(words: Sequence[Word], index: int) -> int:
    """Return the next index that holds neither an adverb nor a time."""
    while index < len(words) and is_adverb(words, index):
        index += 1
    return index


def is_adverb(words: Sequence[Word], index: int) -> bool:
    """Return whether a word says how, when or how certainly."""
    word = words[index]
    if word.kind != "word":
        return word.kind in ("adverb", "time")
    if word.low == "no" and index + 1 < len(words) and not words[index + 1].mark:
        return False  # of a phrase: "has no car"
    return word.low in closed.ADVERBS and (index == 0 or not word.capital)


def is_auxiliary(words: Sequence[Word], index: int) -> bool:
    """Return whether the word is "is", "has", "will" or the like; a capital inside a sentence makes it a name."""
    word = words[index]
    return word.low in closed.AUXILIARIES and (index == 0 or not word.capital)


def is_finite(words: Sequence[Word], index: int, forms: frozenset[Form] = _FINITE) -> bool:
    """Return whether a word may be the finite verb behind a subject."""
    if index >= len(words) or words[index].kind != "word":
        return False
    if is_auxiliary(words, index):
        return True
    if words[index].capital and index:
        return False
    verb = inflection(words[index].low)
    return verb is not None and not forms.isdisjoint(verb.forms)


def ends_phrase(words: Sequence[Word], index: int) -> bool:
    """Return whether a word cannot be part of a noun phrase."""
    if index >= len(words):
        return True
    word = words[index]
    if word.kind not in ("word", "number"):
        return True
    if word.capital and index:
        return False
    return word.low in BREAKING


def is_genitive(words: Sequence[Word], index: int, verb_seen: bool) -> bool:
    """Return whether the "'s" at ``index`` marks a possessor, rather than "is" or "has".

    Args:
        words: the words of the sentence.
        index: the index of the "'s".
        verb_seen: whether the clause has its verb already, so that "'s" cannot be a second one.
    """
    following = index + 1
    if following >= len(words) or words[following].kind == "time":
        return False
    word = words[following]
    if verb_seen or word.low in RELATIVES:
        return True
    if word.mark or word.kind == "number" or any(word.low in one for one in (BREAKING, nouns.STATES, adjectives())):
        return False
    verb = inflection(word.low)
    if verb and not verb.forms.isdisjoint(("ing", "participle")):
        return False
    # "Ann's dog barks" against "my colour's green": is there another verb before the clause ends?
    for later in range(following + 1, min(len(words), following + 8)):
        if words[later].mark:
            return False
        if is_finite(words, later, frozenset(("past", "third"))):
            return True
    return False
