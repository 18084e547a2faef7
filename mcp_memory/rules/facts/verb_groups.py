"""Read the verb group of a clause: "has not been working", "might have", "wants to move".

The result is the plain form of the main verb and the effects of the other verbs on it: negation, tense, and whether it
only may happen: behind "would" and "might", and behind a verb that governs it ("want to move", "stopped working").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.grammar import inflection
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.words import Word


def low_at(words: Sequence[Word], index: int) -> str:
    """Return the word at an index in lower case, "" behind the last word."""
    return words[index].low if index < len(words) else ""


def skip_adverbs(words: Sequence[Word], index: int) -> int:
    """Return the next index that holds neither an adverb nor a negation."""
    while index < len(words) and (
        words[index].low in closed.NEGATIONS or (grammar.is_adverb(words, index) and words[index].kind != "time")
    ):
        index += 1
    return index


def may_be_plain_form(words: Sequence[Word], index: int) -> bool:
    """Return whether a word may be a verb in its plain form, as behind "did" and "to"."""
    if index >= len(words):
        return False
    verb = inflection(words[index].low)
    return words[index].low == "have" or (verb is not None and "plain" in verb.forms and not words[index].capital)


def may_be_participle(words: Sequence[Word], index: int) -> bool:
    """Return whether a word may be a participle, as behind "have"."""
    if index >= len(words) or words[index].capital:
        return False
    verb = inflection(words[index].low)
    return words[index].low in ("been", "got") or (verb is not None and "participle" in verb.forms)


def governed(words: Sequence[Word], index: int, lemma: str) -> int | None:
    """Return the index of the word before the verb that the one at ``index`` governs; None if it governs none."""
    after = low_at(words, index + 1)
    if after == "to" and lemma in closed.GOVERNING_VERBS:
        return index + 1
    verb = inflection(after)
    gerund = verb is not None and "ing" in verb.forms and "plain" not in verb.forms
    return index if gerund and lemma in closed.PHASES else None


Tense = Literal["past", "present", "perfect"]
_HAS_NOT_IS = frozenset(("been", "got", "had", "gone", "become", "lived", "worked"))
_OBJECTS = word_set("me us him them you it my our your his her their its")
"""Words that begin an object: behind "'s" and a participle, "'s" is "has" ("she's lost her keys")."""
MOST_ADVERBS = 8


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """A verb group.

    Attributes:
        lemma: the plain form of its main verb.
        next_index: index of the first word after the group.
        start: first character.
        end: first character after it.
        tense: the tense of the group.
        passive: whether it is passive.
        progressive: whether it is progressive ("is working").
        negated: whether it is negated.
        unreal: whether it is only possible, wished or planned.
        future: whether it is stated as certain to come ("will move", "is moving").
        adverbs: those inside and before it, in lower case.
    """

    lemma: str
    next_index: int
    start: int
    end: int
    tense: Tense = "present"
    passive: bool = False
    progressive: bool = False
    negated: bool = False
    unreal: bool = False
    future: bool = False
    adverbs: frozenset[str] = frozenset()


def read_verb_group(words: Sequence[Word], index: int) -> VerbGroup | None:
    """Return the verb group that begins at ``index``, with the adverbs before it, or None."""
    if index >= len(words):
        return None
    reader = _VerbGroupReader(words, index)
    while reader.index < len(words) and len(reader.adverbs) < MOST_ADVERBS and reader.step():
        reader.index += 1
    return reader.verb(words[index].start)


class _VerbGroupReader:
    """Reads the words of a verb group; each step reads the word at ``index`` and may skip the next ones."""

    def __init__(self, words: Sequence[Word], index: int) -> None:
        self.words = words
        self.index = index
        self.adverbs: set[str] = set()
        self.lemma, self.end = "", 0
        self.tense: Tense = "present"
        self.negated = self.seen = False
        self.unreal = self.future = self.perfect = self.progressive = self.passive = False

    def step(self) -> bool:
        """Read one word and return whether the group continues behind it."""
        words, index = self.words, self.index
        word, low = words[index], words[index].low
        following = skip_adverbs(words, index + 1)
        if (grammar.is_adverb(words, index) and word.kind != "time") or (
            low in closed.NEGATIONS and word.kind == "word"
        ):
            self._adverb(word)
        elif low in ("both", "all", "each"):
            pass
        elif low in closed.MODALS and grammar.is_auxiliary(words, index):
            self.unreal = True
            self.future |= low in ("will", "'ll")
        elif low in closed.DO and may_be_plain_form(words, following):
            self.tense = "past" if low == "did" else "present"
        elif low in closed.HAVE | {"'s"} and self._is_perfect(low, following):
            self.perfect, self.tense = True, "past" if low == "had" else "perfect"
        elif low in closed.HAVE and low_at(words, following) == "to":
            self.unreal, self.index = True, following
        elif low in closed.BE | {"'s"} and (grammar.is_auxiliary(words, index) or low in ("'s", "been", "be", "being")):
            return self._be(low, following)
        else:
            return self._main_verb(word)
        self.seen = self.seen or not (grammar.is_adverb(words, index) or low in closed.NEGATIONS)
        return True

    def _adverb(self, word: Word) -> None:
        if word.low in closed.NEGATIONS or word.low == "no longer":
            self.negated = True
        self.adverbs.add(word.low)

    def _is_perfect(self, low: str, following: int) -> bool:
        if not may_be_participle(self.words, following):
            return False
        if low != "'s" or self.words[following].low in _HAS_NOT_IS:
            return True
        return low_at(self.words, following + 1) in _OBJECTS | closed.DETERMINERS

    def _be(self, low: str, following: int) -> bool:
        """Read "is": progressive before "-ing", passive before a participle, otherwise the main verb."""
        words = self.words
        if low in ("was", "were"):
            self.tense = "past"
        after = low_at(words, following)
        verb = inflection(after) if following < len(words) and words[following].kind == "word" else None
        to = low_at(words, following + 1) == "to"
        if after == "gonna" or (after in ("going", "about") and to):
            self.unreal, self.index = True, following + (after != "gonna")
            self.future |= after != "about" and self.tense != "past"  # "was going to" tells of no future
        elif verb and "ing" in verb.forms and "plain" not in verb.forms:
            self.progressive = True
        elif verb and "participle" in verb.forms and not words[following].capital:
            self.passive = True
        elif after not in closed.BE:
            self._be_as_main_verb()
            return False
        self.seen = True
        return True

    def _be_as_main_verb(self) -> None:
        """Take "be" as the main verb, with the "not" behind it."""
        self.lemma, self.end = "be", self.index + 1
        while self.end < len(self.words) and self.words[self.end].low in closed.NEGATIONS | {"no longer"}:
            self.negated = True
            self.end += 1

    def _main_verb(self, word: Word) -> bool:
        """Read a full verb, the last of the group unless it governs another one."""
        verb = inflection(word.low) if word.kind == "word" and not (word.capital and self.index) else None
        gerund = verb is not None and "ing" in verb.forms and "plain" not in verb.forms
        if verb is None or (not self.seen and (gerund or verb.forms <= {"participle"})):
            return False
        if not self.seen:
            self.tense = "past" if "past" in verb.forms and "plain" not in verb.forms else "present"
        self.lemma, self.end = verb.lemma, self.index + 1
        if self.perfect and word.low == "got":
            self.lemma, self.perfect, self.tense = "have", False, "present"
        before_next = governed(self.words, self.index, verb.lemma)
        if before_next is None:
            return False
        self.lemma, self.index, self.seen, self.unreal = "", before_next, True, True
        return True

    def verb(self, start: int) -> VerbGroup | None:
        """Return the verb group, or None if there was no verb."""
        if not self.lemma:
            return None
        last = self.words[self.end - 1]
        return VerbGroup(
            lemma=self.lemma,
            next_index=self.end,
            start=start,
            end=last.end,
            tense="perfect" if self.perfect and self.tense != "past" else self.tense,
            passive=self.passive,
            progressive=self.progressive,
            negated=self.negated,
            unreal=self.unreal,
            future=self.future,
            adverbs=frozenset(self.adverbs),
        )
