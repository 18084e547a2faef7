"""Read what depends on a verb: particles, objects, prepositional phrases, times and adverbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mcp_memory.domain.relations import Sort
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.grammar import inflection
from mcp_memory.rules.facts.noun_phrases import NounPhrase, opens_clause, read_phrases
from mcp_memory.rules.facts.rows import rows
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.tables.nouns import ROLES
from mcp_memory.rules.facts.verb_groups import VerbGroup
from mcp_memory.rules.facts.words import Word


def match_particles(words: Sequence[Word], verb: VerbGroup) -> tuple[tuple[str, ...], int]:
    """Return the words behind a verb that belong to it by the rows of relations, and the index after them.

    "grow up" and "move back in" are verbs of their own there.
    """
    sorts: tuple[Sort, ...] = ("passive", "verb") if verb.passive else ("verb",)
    index = verb.next_index
    for row in (row for sort in sorts for row in rows().get((sort, verb.lemma), ()) if row.particles):
        last = index + len(row.particles)
        if tuple(word.low for word in words[index:last]) == row.particles:
            return row.particles, last
    return (), index


MOST_SLOTS = 12
"""Slots of one clause."""
_SUBORDINATING = word_set("as like than after before since until for till")
"""Prepositions that a clause may follow."""
_CLAUSE_OPENERS = word_set(
    "because when while although though whereas that who which where why how whose whom what so if unless whether cause"
    " whenever once"
)


@dataclass(frozen=True, slots=True)
class Slot:
    """An object, or a preposition with its phrases.

    Attributes:
        preposition: in lower case; "" for an object.
        nouns: the phrases, one or several.
        end: first character after it.
    """

    preposition: str
    nouns: tuple[NounPhrase, ...]
    end: int


def read_complement(words: Sequence[Word], verb: VerbGroup) -> Complement:
    """Return what depends on a verb, up to the end of its clause."""
    particles, index = match_particles(words, verb)
    rest = Complement(words, verb, particles, index, words[index - 1].end)
    while rest.next_index < len(words) and len(rest.slots) < MOST_SLOTS and rest.step():
        pass
    return rest


@dataclass(slots=True)
class Complement:
    """All that depends on a verb in its clause; it is read word by word.

    Attributes:
        words: the words of the sentence.
        verb: the verb.
        particles: the words that belong to the verb.
        next_index: index of the first word after it.
        end: first character after it.
        slots: in order.
        times: the times of the clause.
        adverbs: in lower case.
    """

    words: Sequence[Word]
    verb: VerbGroup
    particles: tuple[str, ...]
    next_index: int
    end: int
    slots: list[Slot] = field(default_factory=list)
    times: list[Word] = field(default_factory=list)
    adverbs: set[str] = field(default_factory=set)

    def step(self) -> bool:
        """Take what begins at ``next_index``, by the kind of the word there; return whether the clause continues."""
        word = self.words[self.next_index]
        if word.kind == "time":
            self.times.append(word)
            self.end = word.end
            return self._advance(1)
        if grammar.is_adverb(self.words, self.next_index):
            self.adverbs.add(word.low)
            return self._advance(1)
        if word.mark:
            return self._skip_brackets() if word.text == "(" else self._skip_insertion()
        if word.low in closed.CONJUNCTIONS and word.kind == "word":
            return word.low == "and" and not opens_clause(self.words, self.next_index + 1) and self._advance(1)
        if (word.low == "to" and _is_infinitive(self.words, self.next_index + 1)) or (
            word.low in _CLAUSE_OPENERS and not word.capital
        ):
            return False
        if word.low in closed.PREPOSITIONS and not word.capital:
            return self._preposition(word)
        return self._object(word)

    def _advance(self, count: int) -> bool:
        self.next_index += count
        return True

    def _take(self, slot: Slot, after: int) -> bool:
        self.slots.append(slot)
        self.end, self.next_index = slot.end, after
        return True

    def _skip_brackets(self) -> bool:
        """Take the times in brackets, and go on behind them."""
        behind = self.words[self.next_index + 1 : self.next_index + 16]
        close = next((place for place, word in enumerate(behind) if word.text == ")"), None)
        if close is None:
            return False
        self.times += [inside for inside in behind[:close] if inside.kind == "time"]
        return self._advance(close + 2)

    def _skip_insertion(self) -> bool:
        """Skip an adverb between commas: "she moved, by the way, to …"."""
        inserted = self.words[self.next_index : self.next_index + 4]
        closes = len(inserted) == 4 and inserted[2].text == "," and inserted[3].low in closed.PREPOSITIONS
        return closes and grammar.is_adverb(inserted, 1) and self._advance(3)

    def _preposition(self, word: Word) -> bool:
        """Take a preposition with its phrases, or skip one before a time, an adverb or another preposition."""
        words, index = self.words, self.next_index
        if word.low in _SUBORDINATING and _subject_follows(words, index + 1):
            return False
        following = words[index + 1] if index + 1 < len(words) else None
        phrases, after = read_phrases(words, index + 1, verb_seen=True)
        if phrases:
            self._take(Slot(word.low, phrases, phrases[-1].end), after)
            return not _contact_clause(words, after)  # "at a shelter I know"
        if following is None:
            return False
        time_or_adverb = following.kind == "time" or grammar.is_adverb(words, index + 1)
        return time_or_adverb and self._advance(1)

    def _object(self, word: Word) -> bool:
        """Take a phrase without a preposition."""
        words, index = self.words, self.next_index
        if word.low in closed.AUXILIARIES or word.low == "'s" or word.kind == "speech":
            return False
        phrases, after = read_phrases(words, index, verb_seen=True)
        if not phrases:
            return False
        if _contact_clause(words, after):
            self._take(Slot("", tuple(replace(noun, uncertain=True) for noun in phrases), phrases[-1].end), after)
            return False  # "the freedom it brings"
        return self._take(Slot("", phrases, phrases[-1].end), after)


def _contact_clause(words: Sequence[Word], index: int) -> bool:
    """Return whether a relative clause without its pronoun begins behind a phrase: "the shelter I volunteer at"."""
    return index < len(words) and words[index].low in closed.NOMINATIVE - {"you"}


def _is_infinitive(words: Sequence[Word], index: int) -> bool:
    if index >= len(words) or words[index].capital:
        return False
    if index + 1 < len(words) and words[index + 1].low in ROLES:
        return False  # "promoted to head chef"
    verb = inflection(words[index].low)
    return words[index].low == "be" or (verb is not None and "plain" in verb.forms)


def _subject_follows(words: Sequence[Word], index: int) -> bool:
    return index < len(words) and words[index].low in closed.NOMINATIVE
