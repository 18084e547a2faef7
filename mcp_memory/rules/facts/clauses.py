"""Read the clauses of a sentence: subject, verb, what depends on it, and whether the sentence states them.

A subject and its verb need not be adjacent: covered are subjects that are left out or shared, participles behind a
phrase, insertions between subject and verb, and content clauses ("I think that …").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mcp_memory.domain.relations import Sort
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import grammar
from mcp_memory.rules.facts.grammar import Tense, VerbGroup, inflection, read_verb_group
from mcp_memory.rules.facts.noun_phrases import OMITTED, NounPhrase, opens_clause, pronoun_phrase, read_phrases
from mcp_memory.rules.facts.tables import closed, nouns, rows
from mcp_memory.rules.facts.words import Word

MOST_CLAUSES = 40
"""Clauses read of one sentence."""
MOST_SLOTS = 12
"""Slots of one clause."""
_SUBORDINATING = word_set("as like than after before since until for till")
"""Prepositions that a clause may follow."""
_CLAUSE_OPENERS = word_set(
    "because when while although though whereas that who which where why how whose whom what so if unless whether cause"
    " whenever once"
)
_TEMPORAL = frozenset(("when", "before", "after", "until", "till", "once", "while", "whenever"))


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


@dataclass(slots=True)
class Clause:
    """A subject, its verb, and what depends on it, which is read word by word.

    Attributes:
        subject: one phrase or several; the speaker if it is left out at the start ("Just got back from Malta").
        verb: its verb group.
        start: first character.
        end: first character after it.
        next_index: index of the first word after it.
        talk: whether the text is a message, of which tails have to be clear (`kinds.is_clear`).
        particles: words that belong to the verb ("up", "back in").
        slots: objects (under "") and prepositions with their phrases, in order.
        times: when it happens.
        adverbs: the adverbs of the clause, in lower case.
        stated: whether the sentence states it.
    """

    subject: tuple[NounPhrase, ...]
    verb: VerbGroup
    start: int
    end: int
    next_index: int
    talk: bool
    particles: tuple[str, ...] = ()
    slots: list[Slot] = field(default_factory=list)
    times: list[Word] = field(default_factory=list)
    adverbs: set[str] = field(default_factory=set)
    stated: bool = True

    def read(self, words: Sequence[Word]) -> bool:
        """Take what begins at ``next_index``, by the kind of the word there; return whether the clause continues."""
        index, word = self.next_index, words[self.next_index]
        if word.kind == "time":
            self.times.append(word)
            self.end = word.end
            return self._advance(1)
        if grammar.is_adverb(words, index):
            self.adverbs.add(word.low)
            return self._advance(1)
        if word.mark:
            return self._skip_insertion(words)
        if word.low in closed.CONJUNCTIONS and word.kind == "word":
            return word.low == "and" and not opens_clause(words, index + 1) and self._advance(1)
        if (word.low == "to" and _is_infinitive(words, index + 1)) or (
            word.low in _CLAUSE_OPENERS and not word.capital
        ):
            return False
        if word.low in closed.PREPOSITIONS and not word.capital:
            return self._read_preposition(words, word)
        return self._read_object(words, word)

    def _advance(self, count: int) -> bool:
        self.next_index += count
        return True

    def _take(self, preposition: str, phrases: tuple[NounPhrase, ...], after: int) -> bool:
        self.end, self.next_index = phrases[-1].end, after
        self.slots.append(Slot(preposition, phrases, self.end))
        return True

    def _skip_insertion(self, words: Sequence[Word]) -> bool:
        """Skip an adverb between commas: "she moved, by the way, to …"."""
        inserted = words[self.next_index : self.next_index + 4]
        closes = len(inserted) == 4 and inserted[2].text == "," and inserted[3].low in closed.PREPOSITIONS
        return closes and grammar.is_adverb(inserted, 1) and self._advance(3)

    def _read_preposition(self, words: Sequence[Word], word: Word) -> bool:
        """Take a preposition with its phrases, or skip one before a time, an adverb or another preposition."""
        index = self.next_index + 1
        following = words[index] if index < len(words) else None
        if following and word.low in _SUBORDINATING and following.low in closed.NOMINATIVE:
            return False
        phrases, after = read_phrases(words, index, verb_seen=True)
        if phrases:
            self._take(word.low, phrases, after)
            return not _contact_clause(words, after)  # "at a shelter I know"
        if following is None:
            return False
        return (following.kind == "time" or grammar.is_adverb(words, index)) and self._advance(1)

    def _read_object(self, words: Sequence[Word], word: Word) -> bool:
        """Take a phrase without a preposition."""
        if word.low in closed.AUXILIARIES or word.low == "'s" or word.kind == "speech":
            return False
        phrases, after = read_phrases(words, self.next_index, verb_seen=True)
        if not phrases:
            return False
        if _contact_clause(words, after):
            self._take("", tuple(replace(noun, uncertain=True) for noun in phrases), after)
            return False  # "the freedom it brings"
        return self._take("", phrases, after)


def _contact_clause(words: Sequence[Word], index: int) -> bool:
    """Return whether a relative clause without its pronoun begins behind a phrase: "the shelter I volunteer at"."""
    return index < len(words) and words[index].low in closed.NOMINATIVE - {"you"}


def _is_infinitive(words: Sequence[Word], index: int) -> bool:
    if index >= len(words) or words[index].capital:
        return False
    if index + 1 < len(words) and words[index + 1].low in nouns.ROLES:
        return False  # "promoted to head chef"
    verb = inflection(words[index].low)
    return words[index].low == "be" or (verb is not None and "plain" in verb.forms)


def _read_clause(
    words: Sequence[Word], subject: tuple[NounPhrase, ...], verb: VerbGroup, start: int, talk: bool
) -> Clause:
    """Return a clause with what depends on its verb."""
    clause = Clause(subject, verb, start, verb.end, verb.next_index, talk)
    sorts: tuple[Sort, ...] = ("passive", "verb") if verb.passive else ("verb",)
    for row in (row for sort in sorts for row in rows().get((sort, verb.lemma), ()) if row.particles):
        last = verb.next_index + len(row.particles)
        if tuple(word.low for word in words[verb.next_index : last]) == row.particles:
            clause.particles, clause.next_index, clause.end = row.particles, last, words[last - 1].end
            break
    while clause.next_index < len(words) and len(clause.slots) < MOST_SLOTS and clause.read(words):
        pass
    return clause


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
            self._read_at_subject()
        return True

    def _skip_to_mark(self) -> None:
        """Skip to the next punctuation mark: the words before it ask, assert nothing, or describe what stands there."""
        while self.index < len(self.words) and not self.words[self.index].mark:
            self.index += 1

    def _read_at_subject(self) -> None:
        words, first = self.words, self.index
        if verb := self._verb_without_subject():
            speaker = replace(pronoun_phrase(words, first, "i"), common=OMITTED)
            self._add_clause(self.clauses[-1].subject if self.clauses else (speaker,), verb, first)
            return
        if grammar.is_auxiliary(words, first):
            self._skip_to_mark()
            return
        subject, index = read_phrases(words, first, subject=True)
        if not subject:
            self.index += 1
            return
        subject, index, insertion = _read_insertions(words, subject, index, self.talk)
        if insertion:
            insertion.stated = self.stated
            self.clauses.append(insertion)
        verb = read_verb_group(words, index) if index < len(words) else None
        if verb:
            self._add_clause(subject, verb, first)
        else:
            self.index = max(index, first + 1)

    def _verb_without_subject(self) -> VerbGroup | None:
        """Return the verb here if its clause shares the subject of the clause before, or leaves out its "I".

        Examples: "… and moved to Oslo", "Just sold the car", "Been learning Greek".
        """
        verb = read_verb_group(self.words, self.index)
        if verb is None or (self.clauses and self.conjunction and not self.subordinator):
            return verb
        before = enumerate(self.words[: self.index])
        opens = not self.clauses and all(word.mark or grammar.is_adverb(self.words, n) for n, word in before)
        return verb if self.talk and opens and verb.tense == "past" else None

    def _add_clause(self, subject: tuple[NounPhrase, ...], verb: VerbGroup, first: int) -> None:
        words = self.words
        content = _content_clause(words, verb)
        if content is not None:
            stated, index = content
            self.stated = self.stated and stated
            self.index = index
            self.subordinator = "that"
            self.conjunction = ""
            return
        start = subject[0].start if subject and words[first].start <= subject[0].start else words[first].start
        clause = _read_clause(words, subject, verb, start, self.talk)
        clause.adverbs |= verb.adverbs | self.adverbs
        clause.times = [*self.leading_times, *clause.times]
        clause.stated = self.stated and (verb.future or not verb.unreal) and not (
            (self.subordinator in _TEMPORAL and verb.tense == "present")
            or any(noun.uncertain for noun in subject)  # "Tom or Ben lives there"
            or (clause.next_index < len(words) and words[clause.next_index].low in closed.CONDITIONS)
        )  # fmt: skip
        _deny_by_no(clause)
        self.clauses.append(clause)
        self.index = max(clause.next_index, self.index + 1)
        self.adverbs = set()
        self.conjunction = self.subordinator = ""
        if not self.leading_times or (self.index < len(words) and words[self.index].low not in ("and", ",")):
            self.leading_times = []


def _content_clause(words: Sequence[Word], verb: VerbGroup) -> tuple[bool, int] | None:
    """Return whether the clause that is the content of a verb is stated, and its index; None if there is none.

    Examples: "I know that …", "Tom told me …"; "I don't know that …" states nothing.
    """
    index = grammar.skip_adverbials(words, verb.next_index)
    if verb.lemma == "be" and index + 1 < len(words) and words[index].low in closed.ARTICLES:
        index += 1
    stands_open, known = verb.lemma in closed.OPEN_VERBS, verb.lemma in closed.KNOWING_VERBS
    if verb.lemma == "be":
        adjective = words[index].low if index < len(words) else ""
        stands_open, known = adjective in closed.OPEN_ADJECTIVES, adjective in closed.GLAD
        index += 1
    if verb.lemma == "want" or not (stands_open or known):
        return None
    stated = not (stands_open or verb.negated or verb.unreal)
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


def _read_insertions(
    words: Sequence[Word], subject: tuple[NounPhrase, ...], index: int, talk: bool
) -> tuple[tuple[NounPhrase, ...], int, Clause | None]:
    """Return the subject with the modifiers before its verb ("in Grauen"), and the index of the verb.

    The third value is the clause that an insertion states: ", coached by Ada Rensen since July,", ", who is 34,".
    """
    while index + 1 < len(words) and words[index].low in ("in", "at", "from", "as", "with", "on", "to") and subject:
        phrases, after = read_phrases(words, index + 1, subject=True)
        if not phrases or after >= len(words) or len(phrases) > 1:
            break
        index = after
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
        clause = _read_clause(words, subject[-1:], group, subject[-1].start, talk)
        closing = clause.next_index < len(words) and words[clause.next_index].text == ","
        if closing or grammar.is_finite(words, clause.next_index, frozenset(("past", "third"))):
            return subject, clause.next_index + closing, clause
    return subject, index, None


def _deny_by_no(clause: Clause) -> None:
    """Read "has no dog" as "does not have a dog": the determiner of an object denies the verb."""
    slot = clause.slots[0] if clause.slots else None
    if slot and not (slot.preposition or clause.verb.negated) and all(noun.determiner == "no" for noun in slot.nouns):
        clause.verb.negated = True
        clause.slots[0] = replace(slot, nouns=tuple(replace(noun, determiner="") for noun in slot.nouns))
