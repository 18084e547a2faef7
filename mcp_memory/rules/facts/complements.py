"""What stands behind a verb: its objects, its prepositions with theirs, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.coordination import opens_clause, read_phrases
from mcp_memory.rules.facts.noun_phrases import Noun
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.tables.nouns import ROLES
from mcp_memory.rules.facts.verb_groups import Verb
from mcp_memory.rules.facts.verbs import by_verb, reading
from mcp_memory.rules.facts.words import Word


def particles_of(words: Sequence[Word], verb: Verb) -> tuple[tuple[str, ...], int]:
    """Return the words behind a verb that belong to it by the table, and the place after them."""
    for passive in dict.fromkeys((verb.passive, False)):
        for frame in by_verb().get((passive, verb.lemma), ()):
            place = verb.place
            while (
                place < len(words)
                and grammar.is_adverb(words, place)
                and frame.particles
                and words[place].low not in frame.particles
                and words[place].kind != "time"
            ):
                place += 1
            last = place + len(frame.particles)
            if not frame.particles or last > len(words):
                continue
            if tuple(word.low for word in words[place:last]) != frame.particles:
                continue
            if frame.particles[-1] in ("in", "on", "to") and not (
                last < len(words) and words[last].low in closed.PREPOSITIONS and not words[last].capital
            ):
                continue
            return frame.particles, last
    return (), verb.place


MOST = 12
"""Slots of one clause."""
_TASTES = word_set("like love enjoy hate dislike adore prefer detest loathe can't_stand can't_bear")
_WAYS = word_set("up down out over across around along off on through in")
_SUBORDINATING = word_set("as like than after before since until for till")
"""Prepositions behind which a clause may begin."""
_ROUGHLY = word_set("about over around under")
_CLAUSES = word_set(
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
    nouns: tuple[Noun, ...]
    end: int


@dataclass(frozen=True, slots=True)
class Complement:
    """All that stands behind a verb in its clause.

    Attributes:
        particles: the words that belong to the verb.
        slots: in order.
        times: that say when.
        adverbs: in lower case.
        end: first character after it.
        place: of the first word after it.
    """

    particles: tuple[str, ...]
    slots: tuple[Slot, ...]
    times: tuple[Word, ...]
    adverbs: frozenset[str]
    end: int
    place: int


def complement(words: Sequence[Word], verb: Verb) -> Complement:
    """Return what stands behind a verb, up to the end of its clause."""
    particles, place = particles_of(words, verb)
    walk = _Walk(words, verb, place, words[place - 1].end)
    while walk.place < len(words) and len(walk.slots) < MOST and walk.step():
        pass
    return Complement(particles, tuple(walk.slots), tuple(walk.times), frozenset(walk.adverbs), walk.end, walk.place)


@dataclass(slots=True)
class _Walk:
    """A walk over the words behind a verb. Each step returns whether the clause goes on.

    Attributes:
        words: of the sentence.
        verb: whose complement is read.
        place: of the word that is looked at next.
        end: first character after what has been taken.
        slots: so far, in order.
        times: likewise.
        adverbs: likewise.
    """

    words: Sequence[Word]
    verb: Verb
    place: int
    end: int
    slots: list[Slot] = field(default_factory=list)
    times: list[Word] = field(default_factory=list)
    adverbs: set[str] = field(default_factory=set)

    def step(self) -> bool:
        """Take what stands at the place, by what kind of word it is."""
        word = self.words[self.place]
        if word.kind == "time":
            self.times.append(word)
            self.end = word.end
            return self._past(1)
        if grammar.is_adverb(self.words, self.place):
            self.adverbs.add(word.low)
            return self._past(1)
        if word.mark:
            return self._mark(word)
        if word.low in closed.CONJUNCTIONS and word.kind == "word":
            goes_on = word.low in ("and", "&") and not opens_clause(self.words, self.place + 1)
            return goes_on and self._past(1)
        if (word.low == "to" and _is_infinitive(self.words, self.place + 1)) or (
            word.low in _CLAUSES and not word.capital
        ):
            return False
        if word.low in closed.PREPOSITIONS and not word.capital:
            return self._preposition(word)
        return self._object(word)

    def _past(self, count: int) -> bool:
        self.place += count
        return True

    def _take(self, slot: Slot, after: int) -> bool:
        self.slots.append(slot)
        self.end, self.place = slot.end, after
        return True

    def _mark(self, mark: Word) -> bool:
        """Go over brackets and over commas that part nothing; a list behind "including" joins the last slot."""
        if mark.text == "(" and (close := _closing(self.words, self.place)):
            self.times += [inside for inside in self.words[self.place : close] if inside.kind == "time"]
            self.place = close + 1
            return True
        if mark.text == "," and _goes_on(self.words, self.place + 1):
            return self._past(1)
        listed = _including(self.words, self.place) if self.slots else 0
        found, after = read_phrases(self.words, listed, verb_seen=True) if listed else ((), 0)
        if not found:
            return False
        last = self.slots.pop()
        return self._take(replace(last, nouns=(*last.nouns, *found), end=found[-1].end), after)

    def _preposition(self, word: Word) -> bool:
        """Take a preposition with its phrases, or go over one that only leads to a time, an adverb or another."""
        words, place = self.words, self.place
        if word.low in _SUBORDINATING and _subject_follows(words, place + 1):
            return False
        if word.low in ("before", "after") and _is_gerund(words, place + 1):
            return False
        following = words[place + 1] if place + 1 < len(words) else None
        if word.low in _ROUGHLY and following and following.kind == "number":
            return self._past(1)  # "about 1,200 people"
        found, after = read_phrases(words, place + 1, verb_seen=True)
        if found:
            return self._take(Slot(word.low, found, found[-1].end), after)
        if following is None:
            return False
        if following.kind == "time" or grammar.is_adverb(words, place + 1):
            return self._past(1)
        if following.low in closed.ARTICLES and place + 2 < len(words) and words[place + 2].kind == "time":
            return self._past(2)
        if following.low in closed.PREPOSITIONS and word.low in _WAYS:
            return self._past(1)  # "hiked up to the hut"
        return False

    def _object(self, word: Word) -> bool:
        """Take a phrase without a preposition."""
        words, place = self.words, self.place
        if self.verb.lemma in _TASTES and not self.slots and (gerund := _gerund(words, place)):
            return self._take(*gerund)
        if self.slots and self.verb.lemma == "be" and not self.slots[-1].preposition and _is_gerund(words, place):
            return False  # "a duo consisting of"
        if word.low in closed.AUXILIARIES or word.low == "'s" or word.kind == "speech":
            return False
        found, after = read_phrases(words, place, verb_seen=True)
        if not found:
            return False
        if after < len(words) and words[after].low in closed.NOMINATIVE and words[after].low != "you":
            found = tuple(replace(noun, uncertain=True) for noun in found)  # "the freedom it brings"
        return self._take(Slot("", found, found[-1].end), after)


def _including(words: Sequence[Word], place: int) -> int:
    """Return where a list begins behind ", including", ", such as" or ", among them"; 0 where none does."""
    lows = [word.low for word in words[place + 1 : place + 3]]
    if lows[:1] == ["including"]:
        return place + 2
    return place + 3 if lows in (["such", "as"], ["among", "them"]) else 0


def _is_gerund(words: Sequence[Word], place: int) -> bool:
    verb = reading(words[place].low) if place < len(words) else None
    return verb is not None and verb.forms == {"ing"}


def _closing(words: Sequence[Word], place: int) -> int:
    return next((n for n in range(place + 1, min(place + 16, len(words))) if words[n].text == ")"), 0)


def _goes_on(words: Sequence[Word], place: int) -> bool:
    """Return whether a comma is followed by a time or a preposition of the same clause."""
    if place >= len(words):
        return False
    word = words[place]
    if word.kind == "time":
        return not opens_clause(words, place)
    if word.low in ("in", "at", "on", "since", "as", "around") and word.kind == "word" and place + 1 < len(words):
        if words[place + 1].kind == "time" or grammar.is_adverb(words, place + 1):
            return not opens_clause(words, place + 1)
        found, after = read_phrases(words, place + 1, verb_seen=True)
        return bool(found) and (
            after >= len(words) or words[after].text in (".", "!", ";") or words[after].kind == "time"
        )
    return False


def _is_infinitive(words: Sequence[Word], place: int) -> bool:
    if place >= len(words) or words[place].capital:
        return False
    verb = reading(words[place].low)
    if place + 1 < len(words) and words[place + 1].low in ROLES:
        return False  # "promoted to head chef"
    return words[place].low in ("be", "have", "do") or (
        verb is not None and "plain" in verb.forms and "ing" not in verb.forms
    )


def _subject_follows(words: Sequence[Word], place: int) -> bool:
    return place < len(words) and (words[place].low in closed.NOMINATIVE - {"you", "it"} or (
        words[place].low in ("you", "it") and grammar.is_finite(words, grammar.skipped(words, place + 1))
    ))  # fmt: skip


def _gerund(words: Sequence[Word], place: int) -> tuple[Slot, int] | None:
    """Return "baking bread" as the object of a verb of liking."""
    verb = reading(words[place].low)
    if verb is None or "ing" not in verb.forms or words[place].low in closed.LIGHT_GERUNDS:
        return None
    found, after = read_phrases(words, place + 1, verb_seen=True) if place + 1 < len(words) else ((), place + 1)
    last = found[-1].words[1] if found else place + 1
    text = " ".join(word.text for word in words[place:last])
    doing = Noun(words[place].start, words[last - 1].end, text, words[place].low, common=text, words=(place, last))
    # what is done with something that only a pronoun names is left alone: "running my own studio", "seeing you"
    unclear = len(found) > 1 or any(noun.pronoun or noun.owner for noun in found)
    return Slot("", (replace(doing, uncertain=unclear),), doing.end), max(after, last)
