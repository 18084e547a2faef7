"""Classify the word at one index of a sentence, and read the verb group that begins there.

A word is classified as the form of a verb, an adverb, an auxiliary, a genitive or the boundary of a phrase. Of a verb
group ("has not been working", "might have", "wants to move") the result is the plain form of the main verb and the
effects of the other verbs on it: negation, tense, and whether it only may happen: behind "would" and "might", and
behind a verb that governs it ("want to move", "stopped working").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

from mcp_memory.domain.relations import third_person, verbs
from mcp_memory.language.tokens import ending_removed
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts.tables import OWNERS, adjectives, closed, nouns, words_of
from mcp_memory.rules.facts.words import Word

Form = Literal["plain", "third", "past", "participle", "ing"]
Tense = Literal["past", "present", "perfect"]


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


_HAS_NOT_IS = frozenset(("been", "got", "had", "gone", "become", "lived", "worked"))
_OBJECTS = word_set("me us him them you it my our your his her their its")
"""Words that begin an object: behind "'s" and a participle, "'s" is "has" ("she's lost her keys")."""
MOST_ADVERBS = 8


def read_verb_group(words: Sequence[Word], index: int) -> VerbGroup | None:
    """Return the verb group that begins at ``index``, with the adverbs before it, or None."""
    if index >= len(words):
        return None
    verb = VerbGroup("", index, words[index].start, words[index].end)
    while verb.next_index < len(words) and len(verb.adverbs) < MOST_ADVERBS and verb.read(words):
        verb.next_index += 1
    return verb if verb.lemma else None


@dataclass(slots=True)
class VerbGroup:
    """A verb group, read word by word.

    Attributes:
        lemma: the plain form of its main verb; "" until that is read.
        next_index: index of the first word after the group; of the next word until the main verb is read.
        start: first character.
        end: first character after it.
        tense: the tense of the group.
        passive: whether it is passive.
        progressive: whether it is progressive ("is working").
        perfect: whether it has a form of "have" and a participle ("has worked").
        negated: whether it is negated.
        unreal: whether it is only possible, wished or planned.
        future: whether it is stated as certain to come ("will move", "is moving").
        adverbs: those inside and before it, in lower case.
        begun: whether a verb was read, so that a participle may follow.
    """

    lemma: str
    next_index: int
    start: int
    end: int
    tense: Tense = "present"
    passive: bool = False
    progressive: bool = False
    perfect: bool = False
    negated: bool = False
    unreal: bool = False
    future: bool = False
    adverbs: set[str] = field(default_factory=set)
    begun: bool = False

    def read(self, words: Sequence[Word]) -> bool:
        """Read the word at ``next_index``, which may skip further ones; return whether the group goes on behind it."""
        index = self.next_index
        word, low = words[index], words[index].low
        following = _skip_adverbs(words, index + 1)
        if _is_adverb(words, index):
            self.negated |= low in closed.NEGATIONS or low == "no longer"
            self.adverbs.add(low)
            return True
        if low in ("both", "all", "each"):
            pass
        elif low in closed.MODALS and is_auxiliary(words, index):
            self.unreal = True
            self.future |= low in ("will", "'ll")
        elif low in closed.DO and _may_be_plain_form(words, following):
            self.tense = "past" if low == "did" else "present"
        elif low in closed.HAVE | {"'s"} and _is_perfect(words, low, following):
            self.perfect, self.tense = True, "past" if low == "had" else "perfect"
        elif low in closed.HAVE and _low_at(words, following) == "to":
            self.unreal, self.next_index = True, following
        elif low in closed.BE | {"'s"} and (is_auxiliary(words, index) or low in ("'s", "been", "be", "being")):
            if not self._read_be(words, low, following):
                return False
        else:
            return self._read_main_verb(words, word)
        self.begun = True
        return True

    def _read_be(self, words: Sequence[Word], low: str, following: int) -> bool:
        """Read "is": progressive before "-ing", passive before a participle, otherwise the main verb."""
        if low in ("was", "were"):
            self.tense = "past"
        after = _low_at(words, following)
        verb = inflection(after) if following < len(words) and words[following].kind == "word" else None
        to = _low_at(words, following + 1) == "to"
        if after == "gonna" or (after in ("going", "about") and to):
            self.unreal, self.next_index = True, following + (after != "gonna")
            self.future |= after != "about" and self.tense != "past"  # "was going to" tells of no future
        elif verb and "ing" in verb.forms and "plain" not in verb.forms:
            self.progressive = True
        elif verb and "participle" in verb.forms and not words[following].capital:
            self.passive = True
        elif after not in closed.BE:
            self._end_with(words, "be")
            while self.next_index < len(words) and words[self.next_index].low in closed.NEGATIONS | {"no longer"}:
                self.negated = True
                self.end = words[self.next_index].end
                self.next_index += 1
            return False
        return True

    def _read_main_verb(self, words: Sequence[Word], word: Word) -> bool:
        """Read a full verb, the last of the group unless it governs another one."""
        index = self.next_index
        verb = inflection(word.low) if word.kind == "word" and not (word.capital and index) else None
        gerund = verb is not None and "ing" in verb.forms and "plain" not in verb.forms
        if verb is None or (not self.begun and (gerund or verb.forms <= {"participle"})):
            return False
        if not self.begun:
            self.tense = "past" if "past" in verb.forms and "plain" not in verb.forms else "present"
        if self.perfect and word.low == "got":
            self._end_with(words, "have")
            self.perfect, self.tense = False, "present"
        else:
            self._end_with(words, verb.lemma)
        before_next = _governed(words, index, verb.lemma)
        if before_next is None:
            return False
        self.lemma, self.next_index, self.begun, self.unreal = "", before_next, True, True
        return True

    def _end_with(self, words: Sequence[Word], lemma: str) -> None:
        """Take the word at ``next_index`` as the main verb."""
        self.lemma, self.end = lemma, words[self.next_index].end
        self.next_index += 1


def _is_adverb(words: Sequence[Word], index: int) -> bool:
    """Return whether the word is an adverb or a negation, and no time."""
    if words[index].kind == "time":
        return False
    return words[index].low in closed.NEGATIONS or is_adverb(words, index)


def _skip_adverbs(words: Sequence[Word], index: int) -> int:
    while index < len(words) and _is_adverb(words, index):
        index += 1
    return index


def _low_at(words: Sequence[Word], index: int) -> str:
    """Return the word at an index in lower case, "" behind the last word."""
    return words[index].low if index < len(words) else ""


def _may_be_plain_form(words: Sequence[Word], index: int) -> bool:
    """Return whether a word may be a verb in its plain form, as behind "did" and "to"."""
    if index >= len(words):
        return False
    verb = inflection(words[index].low)
    return words[index].low == "have" or (verb is not None and "plain" in verb.forms and not words[index].capital)


def _is_perfect(words: Sequence[Word], low: str, following: int) -> bool:
    """Return whether a participle follows "have", or "'s" where it means "has"."""
    if following >= len(words) or words[following].capital:
        return False
    participle = words[following].low
    verb = inflection(participle)
    if participle not in ("been", "got") and (verb is None or "participle" not in verb.forms):
        return False
    if low != "'s" or participle in _HAS_NOT_IS:
        return True
    return _low_at(words, following + 1) in _OBJECTS | closed.DETERMINERS


def _governed(words: Sequence[Word], index: int, lemma: str) -> int | None:
    """Return the index of the word before the verb that the one at ``index`` governs; None if it governs none."""
    after = _low_at(words, index + 1)
    if after == "to" and lemma in closed.GOVERNING_VERBS:
        return index + 1
    verb = inflection(after)
    gerund = verb is not None and "ing" in verb.forms and "plain" not in verb.forms
    return index if gerund and lemma in closed.PHASES else None
