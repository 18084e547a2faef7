"""Read the clauses of a sentence: subject, verb, complements, times, and how certain the sentence makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.clause import (
    Clause,
    agrees,
    antecedent,
    content_clause,
    is_imperative,
    read_insertions,
    reduced_relative,
    verb_without_subject,
)
from mcp_memory.rules.facts.complements import Slot, read_complement
from mcp_memory.rules.facts.coordination import read_phrases
from mcp_memory.rules.facts.modality import (
    clause_confidence,
    hearsay_confidence,
    is_generic,
)
from mcp_memory.rules.facts.noun_phrases import OMITTED, NounPhrase, pronoun_phrase
from mcp_memory.rules.facts.rows import adjectives
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import NOT_QUITE, REPORTED, SAME_IN_PAST, VerbGroup, read_verb_group
from mcp_memory.rules.facts.words import Word

MOST = 40
"""Clauses read of one sentence."""
_TEMPORAL = frozenset(("when", "before", "after", "until", "till", "once", "while", "whenever"))
_ONLY_OBJECTS = closed.OBJECTIVE - closed.NOMINATIVE
"""Pronouns that are no subjects alone; "me and Tom" is one in chats."""
_SAYING = frozenset(("say", "tell", "report", "claim", "announce", "think", "believe", "guess", "suppose", "hear"))


def read_clauses(words: Sequence[Word], *, talk: bool) -> list[Clause]:
    """Return the clauses of a sentence in order, without phrases that stand alone.

    Args:
        words: the words of the sentence.
        talk: whether the text is a message, so that a subject left out at the start is "I".
    """
    reader = _ClauseReader(words, talk)
    clauses = reader.read()
    hearsay = hearsay_confidence(words)
    if hearsay < 1:
        return [replace(clause, confidence=min(clause.confidence, hearsay)) for clause in clauses]
    return clauses


class _ClauseReader:
    """Reads the words of a sentence once, from left to right."""

    def __init__(self, words: Sequence[Word], talk: bool) -> None:
        self.words = words
        self.talk = talk
        self.index = 0
        self.clauses: list[Clause] = []
        self.matrix_confidence = 1.0
        self.source: tuple[NounPhrase, ...] = ()
        self.leading_times: list[Word] = []
        self.adverbs: set[str] = set()
        self.subordinator = ""
        self.conjunction = ""
        self.denied = False

    def read(self) -> list[Clause]:
        while self.index < len(self.words) and len(self.clauses) < MOST:
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
            self.denied = False
            if word.text in (";", ":", ".", "!"):
                self.matrix_confidence, self.source, self.leading_times, self.subordinator = 1.0, (), [], ""
            self.index += 1
        elif self.clauses and self.conjunction in ("", ",") and self._participle():
            pass
        elif word.low in closed.CONDITIONS and word.kind == "word":
            return False
        elif word.low in ("and", "but", "so", "or", "yet", "then") and word.kind == "word":
            self.conjunction = word.low
            self.subordinator = ""
            self.denied = word.low == "but" and bool(self.index) and words[self.index - 1].low in closed.EVERYBODY
            if word.low == "but":
                self.matrix_confidence, self.source = 1.0, ()
            self.index += 1
        elif word.kind == "time":
            self.leading_times.append(word)
            self.index += 1
        elif grammar.is_adverb(words, self.index):
            self.adverbs.add(word.low)
            self.index += 1
        elif word.low == "that" and self.clauses and self.conjunction in ("and", "but"):
            self.subordinator = "that"  # "remember that … and that …"
            self.index += 1
        elif word.low in closed.RELATIVE and self.clauses and not (word.low == "that" and self.subordinator):
            self._relative()
        elif word.low in closed.SUBORDINATORS - {"what", "why", "how", "than"} and word.kind == "word":
            asks = word.low in closed.WH and self.index + 1 < len(words) and grammar.is_auxiliary(words, self.index + 1)
            if asks or (word.low in ("who", "whose", "which") and not self.clauses):  # "the man who hired my sister …"
                self._skip_to_mark()
            else:
                self.subordinator = word.low
                self.index += 1
        elif word.low in ("what", "why", "how", "who", "which", "let", "whoever", "whatever", "whichever"):
            self._skip_to_mark()
        elif self.talk and self._omitted_copula():
            pass
        elif word.low in closed.PREPOSITIONS and word.kind == "word" and not (word.capital and self.index):
            self._leading_phrase()
        else:
            self._clause()
        return True

    def _skip_to_mark(self) -> None:
        """Skip to the next punctuation mark: the words before it ask, or assert nothing."""
        while self.index < len(self.words) and not self.words[self.index].mark:
            self.index += 1

    def _omitted_copula(self) -> bool:
        """Read "allergic to walnuts" as told of the speaker; return whether it stood there."""
        words, index = self.words, self.index
        word, after = words[index], words[index + 1].low if index + 1 < len(words) else ""
        opens = all(before.mark or grammar.is_adverb(words, n) for n, before in enumerate(words[:index]))
        if not opens or self.subordinator or word.low not in adjectives() or after not in closed.PREPOSITIONS:
            return False
        speaker = replace(pronoun_phrase(word, index), pronoun="i", common=OMITTED)
        self._add_clause((speaker,), VerbGroup("be", index, word.start, word.start, "present"), index)
        return True

    def _leading_phrase(self) -> None:
        """Skip "In Oslo," or "As a child" at the start of a clause."""
        following = self.index + 1
        if following < len(self.words) and self.words[following].kind == "time":
            self.index = following
            return
        phrases, index = read_phrases(self.words, following, subject=True)
        self.index = index if phrases else following

    def _relative(self) -> None:
        """Read "who ran the firm" as a clause about the last phrase before it."""
        previous, word = self.clauses[-1], self.words[self.index]
        if word.low == "where":
            self.subordinator = "where"
            self.index += 1
            return
        last = antecedent(previous) if self._follows(previous) else ()
        if last and word.low == "who" and previous.slots and len(previous.slots[-1].nouns) > 1:
            last = previous.slots[-1].nouns  # "Ada, who is four, and Bea, who is seven"
        if word.low != "whose" and last and (verb := read_verb_group(self.words, self.index + 1)):
            self.denied = previous.verb.negated and previous.verb.lemma == "be"  # "I'm not the one who …"
            self._add_clause(last[-1:], verb, self.index)
        elif word.low == "whose" or (word.low == "who" and not last and not self.words[self.index - 1].mark):
            self._skip_to_mark()  # of somebody whom no clause names
        else:
            self.index += 1
            self.subordinator = "that"

    def _follows(self, previous: Clause) -> bool:
        """Return whether nothing but a comma stands between a clause and this word: "a lift, and a host who …"."""
        before = self.index - 1
        while before >= 0 and (self.words[before].mark or grammar.is_adverb(self.words, before)):
            before -= 1
        return before >= 0 and self.words[before].start < previous.end

    def _participle(self) -> bool:
        """Read "based in Oslo" as a clause about the phrase before it; return whether there was one."""
        previous = self.clauses[-1]
        verb = None if self.subordinator else reduced_relative(self.words, self.index, previous)
        if verb is None or not (subject := antecedent(previous, comma=self.conjunction == ",")):
            return False
        outer = self.matrix_confidence
        self.matrix_confidence = min(outer, previous.confidence)
        self._add_clause(subject, verb, self.index)
        self.matrix_confidence = outer
        return True

    def _clause(self) -> None:
        words, first = self.words, self.index
        last = self.clauses[-1].verb if self.clauses else None
        shared = bool(self.conjunction and not self.subordinator)
        verb = verb_without_subject(words, first, last, frozenset(self.adverbs), shared=shared, talk=self.talk)
        if verb:
            if first and words[first - 1].low == "never":
                verb = replace(verb, negated=True, never=True)  # "Never been to Oslo"
            speaker = replace(pronoun_phrase(words[first], first), pronoun="i", common=OMITTED)
            subject = self.clauses[-1].subject if self.clauses else (speaker,)
            if agrees(words, subject, verb):
                self._add_clause(subject, verb, first)
            else:  # "my sister, who I love, lives in …"
                self._skip_to_mark()
            return
        if not self.clauses and is_imperative(words, first):
            self.index = next((n for n in range(first, len(words)) if words[n].text in (".", ";")), len(words))
            return
        if grammar.is_auxiliary(words, first):
            self._skip_to_mark()
            return
        subject, index = read_phrases(words, first, subject=True)
        if not subject:
            # "neither Tom nor Ann skis", "not even I ski": the negation of a subject
            self.denied = self.denied or words[first].low in ("neither", "nor", "not")
            self.index += 1
            return
        if index < len(words) and words[index].text == "," and subject[-1].appositions:
            index += 1
        subject, index, insertion = read_insertions(words, subject, index)
        if insertion:
            self.clauses.append(replace(insertion, confidence=self.matrix_confidence, source=self.source))
        verb = read_verb_group(words, index) if index < len(words) else None
        is_object_alone = len(subject) == 1 and subject[0].pronoun in _ONLY_OBJECTS
        if verb and agrees(words, subject, verb) and not is_object_alone:
            self._add_clause(subject, verb, first)
        else:
            self.index = max(index, first + 1)

    def _add_clause(self, subject: tuple[NounPhrase, ...], verb: VerbGroup, first: int) -> None:
        words = self.words
        content = content_clause(words, verb)
        if content is not None:
            confidence, index = content
            if subject[0].text.lower() in closed.EVERYBODY:
                confidence = 0.0  # "nobody believes that I live in …"
            self.matrix_confidence = min(self.matrix_confidence, confidence)
            if confidence == REPORTED:
                self.source = subject
                if subject[0].pronoun == "i" and verb.lemma not in ("hear", "read", "understand"):
                    self.matrix_confidence = 1.0
            self.index = index
            self.subordinator = "that"
            self.conjunction = ""
            return
        verb = _in_past(words, verb, subject)
        rest = read_complement(words, verb)
        adverbs = verb.adverbs | rest.adverbs | self.adverbs
        confidence = min(self.matrix_confidence, clause_confidence(verb, adverbs))
        if self.talk and is_generic(verb, subject, adverbs, dated=bool(rest.times or self.leading_times)):
            confidence = 0.0
        if self.subordinator in _TEMPORAL and verb.tense == "present":
            confidence = 0.0
        if self.adverbs and self.adverbs <= NOT_QUITE and verb.lemma != "be":
            confidence = 0.0  # "nearly bought a car"
        if self.denied or any(noun.uncertain for noun in subject):
            confidence = 0.0  # "Tom or Ben lives there"
        if verb.lemma == "be" and verb.tense == "past" and self.subordinator in ("when", "since", "while"):
            confidence = 0.0  # "since I was 17" states a time and no fact
        if rest.next_index < len(words) and words[rest.next_index].low in closed.CONDITIONS:
            confidence = 0.0  # "we adopt one if they agree"
        verb, slots = _without_no(verb, rest.slots)
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
                confidence=confidence,
                start=start,
                end=max(rest.end, verb.end),
                source=self.source,
            )
        )
        self.index = max(rest.next_index, self.index + 1)
        self.adverbs, self.denied = set(), False
        self.conjunction = self.subordinator = ""
        if not self.leading_times or (self.index < len(words) and words[self.index].low not in ("and", ",")):
            self.leading_times = []


def _without_no(verb: VerbGroup, slots: tuple[Slot, ...]) -> tuple[VerbGroup, tuple[Slot, ...]]:
    """Return "has no dog" as "does not have a dog": the determiner of an object denies the verb.

    Of "a cat and no dog" the cat is left, which is stated.
    """
    if not slots or slots[0].preposition or verb.negated or not any(map(_is_none, slots[0].nouns)):
        return verb, slots
    first, *rest = slots
    if stated := tuple(noun for noun in first.nouns if not _is_none(noun)):
        return verb, (replace(first, nouns=stated), *rest)
    nouns = tuple(
        replace(noun, determiner="any" if noun.plural else "a", text=noun.text.removeprefix("zero "))
        for noun in first.nouns
    )
    return replace(verb, negated=True), (replace(first, nouns=nouns), *rest)


def _is_none(noun: NounPhrase) -> bool:
    return noun.determiner == "no" or noun.text.startswith("zero ")


def _in_past(words: Sequence[Word], verb: VerbGroup, subject: Sequence[NounPhrase]) -> VerbGroup:
    """Return "he put" in the past tense: in the present it would be "puts"."""
    first = words[verb.next_index - 1 - (verb.phase == "end")].low
    own = any(noun.pronoun in ("i", "we") for noun in subject)
    if own and first in ("quit", "split") and verb.tense == "present" and not (verb.unreal or verb.negated):
        return replace(verb, tense="past")  # "I quit smoking in May", "Ann and I split up"
    bare = verb.lemma in SAME_IN_PAST and verb.tense == "present" and words[verb.next_index - 1].low == verb.lemma
    if (
        not bare
        or verb.unreal
        or verb.negated
        or verb.phase
        or len(subject) != 1
        or verb.start != words[verb.next_index - 1].start
    ):
        return verb
    one = subject[0].pronoun in ("he", "she", "it") or not (subject[0].pronoun or subject[0].plural)
    return replace(verb, tense="past") if one else verb
