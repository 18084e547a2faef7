"""Read the verb group of a clause: "has not been working", "used to", "might have", "started to".

The result is the plain form of the main verb and the effects of the other verbs on it: negation, tense, begin or end
("started", "stopped"), or hypothetical ("would", "want to", "going to"). Catenative verbs govern another verb: "started
to work", "want to move", "went back to teaching", "is said to have".
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

Catenative = Literal["begin", "end", "unreal", "seeming"]
"""The effect of a catenative verb on the verb that it governs."""
_BEGINNING = frozenset(("start", "begin", "resume"))
_ENDING = frozenset(("stop", "quit", "cease"))
_SEEMING = frozenset(("seem", "appear"))
_UNREAL = word_set(
    "want hope plan wish decide try need intend aim agree promise refuse forget consider expect dream prepare"
    " offer attempt fail tend prefer love like hate choose threaten struggle learn help ask get come happen"
    " imagine avoid miss mind suggest recommend mean deserve pretend claim look"
)


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


def catenative(words: Sequence[Word], index: int, lemma: str) -> tuple[Catenative, int] | None:
    """Return the effect of a verb on the verb that it governs, and the index of the last word before that, or None."""
    following = index + 1
    after = low_at(words, following)
    if after == "to" and (
        may_be_plain_form(words, following + 1) or low_at(words, following + 1) == "be" or lemma in _UNREAL
    ):
        effect: Catenative = "seeming" if lemma in _SEEMING else "begin" if lemma in _BEGINNING else "unreal"
        return (effect, following) if effect != "unreal" or lemma in _UNREAL else None
    back = lemma in ("go", "come", "get") and after == "back" and low_at(words, following + 1) == "to"
    last = index + 2 * back  # "went back to working"
    inner = low_at(words, last + 1)
    verb = inflection(inner)
    gerund = inner == "being" or (verb is not None and "ing" in verb.forms and "plain" not in verb.forms)
    if gerund and (back or lemma in _BEGINNING | _ENDING):
        return ("end" if lemma in _ENDING else "begin"), last
    return None


Tense = Literal["past", "present", "perfect"]
HEDGED = 0.45
"""The confidence of what is said with doubt, or reported."""
_HAS_NOT_IS = frozenset(("been", "got", "had", "gone", "become", "lived", "worked"))
_OBJECTS = word_set("me us him them you it my our your his her their its")
"""Words that begin an object: behind "'s" and a participle, "'s" is "has" ("she's lost her keys")."""
NOT_QUITE = frozenset(("almost", "nearly"))
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
        never: whether it is negated for all times.
        unreal: whether it is only possible, wished or planned.
        future: whether it is stated as certain to come ("will move", "is moving").
        confidence: how certain it is; 1 for a plain statement, 0 for what nearly happened.
        phase: whether it begins or ends.
        used_to: whether it has "used to".
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
    never: bool = False
    unreal: bool = False
    future: bool = False
    confidence: float = 1.0
    phase: Literal["begin", "end", ""] = ""
    used_to: bool = False
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
        self.phase: Literal["begin", "end", ""] = ""
        self.confidence = 1.0
        self.negated = self.never = self.seen = False
        self.unreal = self.future = self.used_to = self.perfect = self.progressive = self.passive = False

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
            self._modal(low)
        elif low == "used" and low_at(words, following) == "to" and not self.seen:
            self.used_to, self.tense, self.index = True, "past", following
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
            self.never |= word.low == "never"
        self.adverbs.add(word.low)

    def _modal(self, low: str) -> None:
        if low in ("might", "may"):
            self.confidence = HEDGED
        else:
            self.unreal = True
            self.future |= low in ("will", "'ll")

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
        elif after == "used" and to:
            return False  # "is used to"
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
            self.negated |= self.words[self.end].low not in ("hardly", "barely")
            self.never |= self.words[self.end].low == "never"
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
        governed = catenative(self.words, self.index, verb.lemma)
        if governed is None:
            return False
        kind, self.index = governed
        self.lemma, self.seen = "", True
        self.unreal |= kind == "unreal"
        if kind == "seeming":
            self.confidence = HEDGED
        elif kind in ("begin", "end"):
            self.phase = kind
        return True

    def verb(self, start: int) -> VerbGroup | None:
        """Return the verb group, or None if there was no verb."""
        if not self.lemma:
            return None
        if self.lemma in ("stand", "bear") and self.negated and self.unreal:
            self.lemma, self.negated, self.unreal = "dislike", False, False  # "I can't stand olives"
        if self.adverbs and self.adverbs <= NOT_QUITE and self.lemma != "be":
            self.confidence = 0.0  # "almost moved", but "almost always plays"
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
            never=self.never,
            unreal=self.unreal,
            future=self.future,
            confidence=self.confidence,
            phase=self.phase,
            used_to=self.used_to,
            adverbs=frozenset(self.adverbs),
        )
