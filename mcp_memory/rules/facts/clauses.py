"""Read the clauses of a sentence: subject, verb, complements, times, and whether the sentence states them.

A subject and its verb need not be adjacent: covered are subjects that are left out or shared, participles behind a
phrase, insertions between subject and verb, and content clauses ("I think that …").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.complements import Slot, read_complement
from mcp_memory.rules.facts.grammar import inflection
from mcp_memory.rules.facts.modality import states_content
from mcp_memory.rules.facts.noun_phrases import OMITTED, NounPhrase, pronoun_phrase, read_phrases
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import Tense, VerbGroup, read_verb_group
from mcp_memory.rules.facts.words import Word


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, its verb, and what depends on it; as read.

    Attributes:
        subject: one phrase or several; empty if it is left out at the start ("Just got back from Malta").
        verb: its verb group.
        particles: words that belong to the verb ("up", "back in").
        slots: objects (under "") and prepositions with their phrases, in order.
        times: when it happens.
        adverbs: the adverbs of the clause, in lower case.
        stated: whether the sentence states it.
        start: first character.
        end: first character after it.
    """

    subject: tuple[NounPhrase, ...]
    verb: VerbGroup
    particles: tuple[str, ...]
    slots: tuple[Slot, ...]
    times: tuple[Word, ...]
    adverbs: frozenset[str]
    stated: bool
    start: int
    end: int


def verb_without_subject(
    words: Sequence[Word], first: int, last: VerbGroup | None, *, shared: bool, talk: bool
) -> VerbGroup | None:
    """Return the verb at ``first`` of a clause that shares the subject before it or leaves out its "I".

    Examples: "… and moved to Oslo", "Just sold the car", "Been learning Greek".

    Args:
        words: the words of the sentence.
        first: index of the first word of the clause.
        last: the verb of the clause before it.
        shared: whether it is joined to that clause, so that it may share its subject.
        talk: whether the text is a message.
    """
    verb = read_verb_group(words, first)
    if verb is None or (last is not None and shared):
        return verb
    opens = last is None and all(before.mark or grammar.is_adverb(words, n) for n, before in enumerate(words[:first]))
    return verb if talk and opens and verb.tense == "past" else None


def content_clause(words: Sequence[Word], verb: VerbGroup) -> tuple[bool, int] | None:
    """Return whether the clause that is the content of a verb is stated, and its index; None if there is none.

    Examples: "I know that …", "Tom told me …".
    """
    index = grammar.skip_adverbials(words, verb.next_index)
    if verb.lemma == "be" and index + 1 < len(words) and words[index].low in closed.ARTICLES:
        index += 1
    adjective = words[index].low if verb.lemma == "be" and index < len(words) else ""
    stated = states_content(verb, adjective) if verb.lemma != "want" else None
    if stated is None:
        return None
    index += verb.lemma == "be"
    if verb.lemma in ("tell", "promise", "remind") and index < len(words):
        index = read_phrases(words, index, verb_seen=True)[1]
    if index >= len(words):
        return None
    if words[index].low == "that":
        return stated, index + 1
    if words[index].low in closed.WH | closed.CONDITIONS:
        return False, index + 1
    subject, after = read_phrases(words, index, subject=True)
    if len(subject) > 1 and subject[-1].pronoun in ("i", "he", "she", "we", "they"):
        return None  # "I love jazz and I hate techno"
    has_clause = subject and read_verb_group(words, grammar.skip_adverbials(words, after)) is not None
    return (stated, index) if has_clause else None


def read_insertions(
    words: Sequence[Word], subject: tuple[NounPhrase, ...], index: int
) -> tuple[tuple[NounPhrase, ...], int, Clause | None]:
    """Return the subject with the modifiers before its verb ("in Grauen"), and the index of the verb.

    The third value is the clause that an insertion states: ", coached by Ada Rensen since July,", ", who is 34,".
    """
    insertion = None
    while index + 1 < len(words) and words[index].low in ("in", "at", "from", "as", "with", "on", "to") and subject:
        phrases, after = read_phrases(words, index + 1, subject=True)
        if not phrases or after >= len(words) or len(phrases) > 1:
            break
        subject, index = (*subject[:-1], replace(subject[-1], modified=True)), after
    comma = index < len(words) and words[index].text == ","
    start = index + comma
    verb = inflection(words[start].low) if start < len(words) and words[start].kind == "word" else None
    is_reduced = verb and "participle" in verb.forms and start + 1 < len(words) and not words[start].capital and (
        words[start + 1].low in ("by", "in", "from", "at") or words[start + 1].kind == "time"
    )  # fmt: skip
    group = None
    if verb and is_reduced and (comma or words[start + 1].low == "by"):
        tense: Tense = "present" if verb.lemma in ("base", "locate") else "past"
        group = VerbGroup(verb.lemma, start + 1, words[start].start, words[start].end, tense, passive=True)
    elif subject and start + 1 < len(words) and words[start].low in ("who", "which", "that"):
        group = read_verb_group(words, start + 1)
    if group is not None and not group.unreal:
        rest = read_complement(words, group)
        closing = rest.next_index < len(words) and words[rest.next_index].text == ","
        if closing or grammar.is_finite(words, rest.next_index, frozenset(("past", "third"))):
            insertion = Clause(
                subject=subject[-1:],
                verb=group,
                particles=rest.particles,
                slots=tuple(rest.slots),
                times=tuple(rest.times),
                adverbs=frozenset(rest.adverbs),
                stated=True,
                start=subject[-1].start,
                end=max(rest.end, group.end),
            )
            index = rest.next_index + closing
    return subject, index, insertion


MOST_CLAUSES = 40
"""Clauses read of one sentence."""
_TEMPORAL = frozenset(("when", "before", "after", "until", "till", "once", "while", "whenever"))
_ONLY_OBJECTS = closed.OBJECTIVE - closed.NOMINATIVE
"""Pronouns that are no subjects alone; "me and Tom" is one in chats."""


def read_clauses(words: Sequence[Word], *, talk: bool) -> list[Clause]:
    """Return the clauses of a sentence in order, without phrases that stand alone.

    Args:
        words: the words of the sentence.
        talk: whether the text is a message, so that a subject left out at the start is "I".
    """
    return _ClauseReader(words, talk).read()


class _ClauseReader:
    """Reads the words of a sentence once, from left to right."""

    def __init__(self, words: Sequence[Word], talk: bool) -> None:
        self.words = words
        self.talk = talk
        self.index = 0
        self.clauses: list[Clause] = []
        verb = inflection(words[0].low) if words else None
        ordered = verb is not None and "plain" in verb.forms and not grammar.is_finite(words, 1)
        self.stated = not ordered  # "Imagine you were …"
        self.leading_times: list[Word] = []
        self.adverbs: set[str] = set()
        self.subordinator = ""
        self.conjunction = ""

    def read(self) -> list[Clause]:
        while self.index < len(self.words) and len(self.clauses) < MOST_CLAUSES:
            before = self.index
            if not self._step():
                break
            if self.index == before:
                self.index += 1
        return self.clauses

    def _step(self) -> bool:
        words, word = self.words, self.words[self.index]
        if word.mark:
            self.conjunction = "," if word.text in (",", "—", "–", "-", "…", "...") else ""
            if word.text in (";", ":", ".", "!"):
                self.stated, self.leading_times, self.subordinator = True, [], ""
            self.index += 1
        elif word.low in closed.CONDITIONS and word.kind == "word":
            return False
        elif word.low in ("and", "but", "so", "or", "yet", "then") and word.kind == "word":
            self.conjunction = word.low
            self.subordinator = ""
            self.index += 1
        elif word.kind == "time":
            self.leading_times.append(word)
            self.index += 1
        elif grammar.is_adverb(words, self.index):
            self.adverbs.add(word.low)
            self.index += 1
        elif word.low == "that" and self.clauses and not self.subordinator:
            self.index += 1
            self.subordinator = "that"
        elif word.low in closed.RELATIVE - {"that"} and self.clauses:
            self._skip_to_mark()
        elif word.low in closed.SUBORDINATORS - {"what", "why", "how", "than"} and word.kind == "word":
            asks = word.low in closed.WH and self.index + 1 < len(words) and grammar.is_auxiliary(words, self.index + 1)
            if asks or (word.low in ("who", "whose", "which") and not self.clauses):  # "the man who hired my sister …"
                self._skip_to_mark()
            else:
                self.subordinator = word.low
                self.index += 1
        elif word.low in ("what", "why", "how", "who", "which", "let", "whoever", "whatever", "whichever"):
            self._skip_to_mark()
        elif word.low in closed.PREPOSITIONS and word.kind == "word" and not (word.capital and self.index):
            self.index += 1  # of "In Oslo," or "As a child"
        else:
            self._clause()
        return True

    def _skip_to_mark(self) -> None:
        """Skip to the next punctuation mark: the words before it ask, assert nothing, or describe what stands there."""
        while self.index < len(self.words) and not self.words[self.index].mark:
            self.index += 1

    def _clause(self) -> None:
        words, first = self.words, self.index
        last = self.clauses[-1].verb if self.clauses else None
        shared = bool(self.conjunction and not self.subordinator)
        verb = verb_without_subject(words, first, last, shared=shared, talk=self.talk)
        if verb:
            speaker = replace(pronoun_phrase(words[first], first), pronoun="i", common=OMITTED)
            subject = self.clauses[-1].subject if self.clauses else (speaker,)
            self._add_clause(subject, verb, first)
            return
        if grammar.is_auxiliary(words, first):
            self._skip_to_mark()
            return
        subject, index = read_phrases(words, first, subject=True)
        if not subject:
            self.index += 1
            return
        if index < len(words) and words[index].text == "," and subject[-1].appositions:
            index += 1
        subject, index, insertion = read_insertions(words, subject, index)
        if insertion:
            self.clauses.append(replace(insertion, stated=self.stated))
        verb = read_verb_group(words, index) if index < len(words) else None
        is_object_alone = len(subject) == 1 and subject[0].pronoun in _ONLY_OBJECTS
        if verb and not is_object_alone:
            self._add_clause(subject, verb, first)
        else:
            self.index = max(index, first + 1)

    def _add_clause(self, subject: tuple[NounPhrase, ...], verb: VerbGroup, first: int) -> None:
        words = self.words
        content = content_clause(words, verb)
        if content is not None:
            stated, index = content
            self.stated = self.stated and stated
            self.index = index
            self.subordinator = "that"
            self.conjunction = ""
            return
        rest = read_complement(words, verb)
        adverbs = verb.adverbs | rest.adverbs | self.adverbs
        stated = self.stated and (verb.future or not verb.unreal) and not (
            (self.subordinator in _TEMPORAL and verb.tense == "present")
            or any(noun.uncertain for noun in subject)  # "Tom or Ben lives there"
            or (rest.next_index < len(words) and words[rest.next_index].low in closed.CONDITIONS)
        )  # fmt: skip
        verb, slots = _without_no(verb, tuple(rest.slots))
        times = (*self.leading_times, *rest.times)
        start = subject[0].start if subject and words[first].start <= subject[0].start else words[first].start
        self.clauses.append(
            Clause(
                subject=subject,
                verb=verb,
                particles=rest.particles,
                slots=slots,
                times=times,
                adverbs=adverbs,
                stated=stated,
                start=start,
                end=max(rest.end, verb.end),
            )
        )
        self.index = max(rest.next_index, self.index + 1)
        self.adverbs = set()
        self.conjunction = self.subordinator = ""
        if not self.leading_times or (self.index < len(words) and words[self.index].low not in ("and", ",")):
            self.leading_times = []


def _without_no(verb: VerbGroup, slots: tuple[Slot, ...]) -> tuple[VerbGroup, tuple[Slot, ...]]:
    """Return "has no dog" as "does not have a dog": the determiner of an object denies the verb."""
    if not slots or slots[0].preposition or verb.negated or any(noun.determiner != "no" for noun in slots[0].nouns):
        return verb, slots
    nouns = tuple(replace(noun, determiner="") for noun in slots[0].nouns)
    return replace(verb, negated=True), (replace(slots[0], nouns=nouns), *slots[1:])
