"""The clauses of a sentence: who, what they do, to what, when, and how surely it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.clause import (
    Clause,
    agrees,
    antecedent,
    hanging,
    is_command,
    modified,
    reduced,
    without_subject,
)
from mcp_memory.rules.facts.complements import Slot, complement
from mcp_memory.rules.facts.coordination import read_phrases
from mcp_memory.rules.facts.modality import adverbial, hearsay, under
from mcp_memory.rules.facts.noun_phrases import LEFT_OUT, Noun, pronoun
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import REPORTED, Verb, verb_at
from mcp_memory.rules.facts.verbs import reading
from mcp_memory.rules.facts.words import Word

MOST = 40
"""Clauses read of one sentence."""
_TEMPORAL = frozenset(("when", "before", "after", "until", "till", "once", "while", "whenever"))
_SAYING = frozenset(("say", "tell", "report", "claim", "announce", "think", "believe", "guess", "suppose", "hear"))


def clauses(words: Sequence[Word], *, talk: bool) -> list[Clause]:
    """Return the clauses of a sentence in order, and phrases that stand alone are left out.

    Args:
        words: of the sentence.
        talk: whether somebody speaks, so that a subject left out at the start is "I".
    """
    reader = _Reader(words, talk)
    found = reader.read()
    rumour = hearsay(words)
    return [replace(clause, confidence=min(clause.confidence, rumour)) for clause in found] if rumour < 1 else found


class _Reader:
    """One walk over the words of a sentence."""

    def __init__(self, words: Sequence[Word], talk: bool) -> None:
        self.words = words
        self.talk = talk
        self.place = 0
        self.found: list[Clause] = []
        self.under = 1.0
        self.said_by: tuple[Noun, ...] = ()
        self.leading: list[Word] = []
        self.adverbs: set[str] = set()
        self.lead = ""
        self.joined = ""

    def read(self) -> list[Clause]:
        while self.place < len(self.words) and len(self.found) < MOST:
            before = self.place
            if not self._step():
                break
            if self.place == before:
                self.place += 1
        return self.found

    def _step(self) -> bool:
        words, word = self.words, self.words[self.place]
        if word.mark:
            self.joined = "," if word.text in (",", "—", "–", "-", "…", "...") else ""
            if word.text in (";", ":", ".", "!"):
                self.under, self.said_by, self.leading, self.lead = 1.0, (), [], ""
            self.place += 1
        elif self.found and self.joined in ("", ",") and self._participle():
            pass
        elif word.low in closed.CONDITIONS and word.kind == "word":
            return False
        elif word.low in ("and", "but", "so", "or", "yet", "then") and word.kind == "word":
            self.joined = word.low
            self.lead = ""
            if word.low == "but":
                self.under, self.said_by = 1.0, ()
            self.place += 1
        elif word.kind == "time":
            self.leading.append(word)
            self.place += 1
        elif grammar.is_adverb(words, self.place):
            self.adverbs.add(word.low)
            self.place += 1
        elif word.low == "that" and self.found and self.joined in ("and", "but"):
            self.lead = "that"  # "remember that … and that …"
            self.place += 1
        elif word.low in closed.RELATIVE and self.found and not (word.low == "that" and self.lead):
            self._relative()
        elif word.low in ("before", "after") and self.found and self._gerund():
            pass
        elif word.low in closed.SUBORDINATORS - {"what", "why", "how", "than"} and word.kind == "word":
            if word.low in closed.WH and self.place + 1 < len(words) and grammar.is_auxiliary(words, self.place + 1):
                self._skip()
            else:
                self.lead = word.low
                self.place += 1
        elif word.low in ("what", "why", "how", "who", "which", "let"):
            self._skip()
        elif word.low in closed.PREPOSITIONS and word.kind == "word" and not (word.capital and self.place):
            self._leading_phrase()
        else:
            self._clause()
        return True

    def _skip(self) -> None:
        """Go on behind the next mark: what stands before it asks or asserts nothing."""
        while self.place < len(self.words) and not self.words[self.place].mark:
            self.place += 1

    def _leading_phrase(self) -> None:
        """Go over "In Oslo," or "As a child" at the start of a clause."""
        following = self.place + 1
        if following < len(self.words) and self.words[following].kind == "time":
            self.place = following
            return
        found, place = read_phrases(self.words, following, subject=True)
        self.place = place if found else following

    def _relative(self) -> None:
        """Read "who ran the firm" as said of the last phrase before it."""
        previous, word = self.found[-1], self.words[self.place]
        if word.low == "where":
            self.lead = "where"
            self.place += 1
            return
        last = antecedent(previous)
        if word.low != "whose" and last and (verb := verb_at(self.words, self.place + 1)):
            self._add(last[-1:], verb, self.place)
        else:
            self.place += 1
            self.lead = "that"

    def _participle(self) -> bool:
        """Read "based in Oslo" as told of what stands before it; say whether it was there."""
        previous = self.found[-1]
        verb = None if self.lead else reduced(self.words, self.place, previous)
        if verb is None or not (subject := antecedent(previous, comma=self.joined == ",")):
            return False
        under, self.under = self.under, min(self.under, previous.confidence)
        self._add(subject, verb, self.place)
        self.under = under
        return True

    def _gerund(self) -> bool:
        """Read "before joining Corso FC" as told of the subject before it; say whether there was one."""
        words, place = self.words, self.place + 1
        verb = reading(words[place].low) if place < len(words) else None
        if verb is None or "ing" not in verb.forms or "plain" in verb.forms or self.found[-1].verb.tense != "past":
            return False
        group = Verb(verb.lemma, place + 1, words[place].start, words[place].end, "past")
        self._add(self.found[-1].subject, group, self.place)
        return True

    def _clause(self) -> None:
        words, first = self.words, self.place
        last = self.found[-1].verb if self.found else None
        shared = bool(self.joined and not self.lead)
        verb = without_subject(words, first, last, frozenset(self.adverbs), shared=shared, talk=self.talk)
        if verb:
            nobody = replace(pronoun(words[first], first), pronoun="i", common=LEFT_OUT)
            subject = self.found[-1].subject if self.found else (nobody,)
            self._add(subject, verb, first)
            return
        if not self.found and is_command(words, first):
            self.place = next((n for n in range(first, len(words)) if words[n].text in (".", ";")), len(words))
            return
        if grammar.is_auxiliary(words, first):
            self._skip()
            return
        subject, place = read_phrases(words, first, subject=True)
        if not subject:
            self.place += 1
            return
        if place < len(words) and words[place].text == "," and subject[-1].also:
            place += 1
        subject, place, between = modified(words, subject, place)
        if between:
            self.found.append(replace(between, confidence=self.under, said_by=self.said_by))
        verb = verb_at(words, place) if place < len(words) else None
        if verb and agrees(words, subject, verb):
            self._add(subject, verb, first)
        else:
            self.place = max(place, first + 1)

    def _share(self, subject: tuple[Noun, ...], slots: tuple[Slot, ...]) -> None:
        """Give an object to the verb before it as well: "wrote and directed two films"."""
        last = self.found[-1]
        bare = not (last.slots or last.particles or last.times) and last.verb.lemma not in ("be", "become")
        if bare and last.subject == subject and last.end == last.verb.end:
            self.found[-1] = replace(last, slots=slots)

    def _add(self, subject: tuple[Noun, ...], verb: Verb, first: int) -> None:
        words = self.words
        found = hanging(words, verb)
        if found is not None:
            confidence, place = found
            self.under = min(self.under, confidence)
            if confidence == REPORTED:
                self.said_by = subject
                if subject[0].pronoun == "i" and verb.lemma not in ("hear", "read", "understand"):
                    self.under = 1.0
            self.place = place
            self.lead = "that"
            self.joined = ""
            return
        told = complement(words, verb)
        adverbs = verb.adverbs | told.adverbs | self.adverbs
        confidence = min(self.under, verb.confidence, adverbial(adverbs))
        if (verb.unreal and not (verb.confidence < 1 or verb.future)) or (
            self.lead in _TEMPORAL and verb.tense == "present"
        ):
            confidence = 0.0
        if verb.unreal and verb.confidence < 1 and verb.negated:
            confidence = 0.0
        if verb.lemma == "be" and verb.tense == "past" and self.lead in ("when", "since", "while"):
            confidence = 0.0  # "since I was 17" gives a time, and tells of nothing that is so
        if not told.slots and verb.lemma in _SAYING and self.joined == "," and self.found:
            hedge = under(verb) or 0.0
            self.found[:] = [replace(clause, confidence=min(clause.confidence, hedge)) for clause in self.found]
        if self.joined == "and" and told.slots and self.found and not told.slots[0].preposition:
            self._share(subject, told.slots[:1])
        times = (*self.leading, *told.times)
        start = subject[0].start if subject and words[first].start <= subject[0].start else words[first].start
        self.found.append(
            Clause(
                subject=subject,
                verb=verb,
                particles=told.particles,
                slots=told.slots,
                times=times,
                adverbs=adverbs,
                confidence=confidence,
                start=start,
                end=max(told.end, verb.end),
                said_by=self.said_by,
            )
        )
        self.place = max(told.place, self.place + 1)
        self.adverbs = set()
        self.joined = self.lead = ""
        if not self.leading or (self.place < len(words) and words[self.place].low not in ("and", ",")):
            self.leading = []
