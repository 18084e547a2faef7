"""Claims that phrases make by themselves, "my sister Anna", and claims that are in two parts of a clause at once.

A row of the relation table gives one phrase one relation. Here a phrase says who its name is, or the verb means nothing
without its object ("started my job") and the fact is in the phrase behind that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.relations import Effect
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim, kinship_claims
from mcp_memory.rules.facts.clauses import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase, read_phrase
from mcp_memory.rules.facts.statements import named_by, word_statements
from mcp_memory.rules.facts.tables import nouns
from mcp_memory.rules.facts.words import Word

_JOB_VERBS: dict[str, Effect] = {
    **dict.fromkeys(["start", "begin", "get", "take", "accept", "find"], "begin"),
    "have": "state",
    **dict.fromkeys(["quit", "leave", "lose"], "end"),
}
_LOST = word_set("died passed death buried lost gone rehomed sold")
"""Words beside which a pet or a spouse of somebody's is one no longer."""
_LOSING = word_set("die pass lose bury sell rehome mourn give")
_FORMERLY = word_set("former late old ex previous last first then future deceased")
"""Words by which what a phrase names is, or was, at another time: "my late wife Ida", "my old boss Kim"."""
_MINE = frozenset(("my", "our"))
_BEINGS = RELATIVES.keys() | nouns.PETS
_CLASSES = nouns.PERSONISH | nouns.PETS | nouns.STATES | nouns.PLACES
"""What an apposition in a message may be: "a vegan", "a town"; of other things it is too seldom a lasting fact."""


def verb_phrases(clause: Clause) -> Iterator[Claim]:
    """Yield the claims of a clause that are in two of its parts."""
    if not clause.slots or not clause.subject or clause.slots[0].preposition:
        return
    verb, slot, first = clause.verb, clause.slots[0], clause.slots[0].nouns[0]
    effect = _JOB_VERBS.get(verb.lemma)
    if effect and first.head in nouns.JOBS:  # "started my job at Halden Clinic"
        for place in clause.slots[1:]:
            if place.preposition in ("at", "with", "for") and kinds.fits(place.nouns[0], "workplace"):
                yield Claim(clause.subject[0], "works_at", place.nouns[0], effect, None, place.end)
    elif verb.lemma == "turn" and kinds.is_age(first):  # "turned 40"
        for person in (person for subject in clause.subject for person in named_by(subject)):
            yield Claim(person, "age", first.text, "begin", None, slot.end)
    elif verb.passive and verb.lemma in ("call", "name"):  # "my wife is called Nele"
        subject = clause.subject[0]
        if first.named and subject.owner and subject.head in RELATIVES:
            yield from kinship_claims(subject.owner, subject.head, first, slot.end)
        elif first.named and subject.owner and subject.head in nouns.PETS:
            yield Claim(subject.owner, "has_pet", first, "state", None, slot.end)
    elif not verb.passive:
        for given in clause.slots[1:3]:  # "they put me on 5 mg of bisoprolol"
            for noun in given.nouns:
                if kinds.fits(noun, "medicine"):
                    yield Claim(first, "takes", noun, "begin", None, given.end)


def phrase_claims(clause: Clause, *, talk: bool) -> Iterator[tuple[NounPhrase, Claim]]:
    """Yield the claims of the phrases of a clause, each with its phrase."""
    lost = clause.verb.lemma in _LOSING
    for noun in _phrases(clause):
        is_predicate = clause.verb.lemma == "be" and noun not in clause.subject
        for claim in claims_of_phrase(noun, talk=talk):
            if lost and claim.relation in ("has_pet", "married_to"):
                continue  # "my dog Miso died last week"
            yield noun, replace(claim, head=clause.subject[0]) if claim.relation == "age" and is_predicate else claim


def _phrases(clause: Clause) -> Iterator[NounPhrase]:
    for noun in (*clause.subject, *(noun for slot in clause.slots for noun in slot.nouns)):
        yield from (one for one in (noun, noun.owner, noun.of) if one is not None and not one.pronoun)


def presupposed_claims(words: Sequence[Word]) -> Iterator[tuple[NounPhrase, Claim]]:
    """Yield who the named relatives and pets of a sentence are, each with its phrase: "remember my nephew Ruben?".

    That Ruben is a nephew is said along with whatever the sentence asks or wishes.
    """
    lost = any(word.low in _LOST for word in words)
    for index, word in enumerate(words[:-1]):
        found = read_phrase(words, index, verb_seen=True) if word.low in _MINE else None
        called = words[min(index + 2, len(words) - 1)].low == "called"  # "my friend called Ann yesterday"
        if found and found[0].name and found[0].head in _BEINGS and not (called or kinds.is_calendar(found[0])):
            for claim in claims_of_phrase(found[0], talk=True):
                if not (lost and claim.relation in ("has_pet", "married_to")):
                    yield found[0], claim


def claims_of_phrase(noun: NounPhrase, *, talk: bool) -> Iterator[Claim]:
    """Yield what a phrase claims; of "my late wife Ida" nothing."""
    if _FORMERLY.isdisjoint(noun.common.lower().split()[:1]):
        yield from _own_claims(noun)
        yield from _claims_of_appositions(noun, talk)


def _own_claims(noun: NounPhrase) -> Iterator[Claim]:
    named = tuple(name for name in named_by(noun) if name.name)
    if noun.owner and noun.head in RELATIVES:
        for name in named:
            yield from kinship_claims(noun.owner, noun.head, name, noun.end)
    elif noun.owner and noun.head in nouns.PETS:
        for name in named:
            yield Claim(noun.owner, "has_pet", name, end=noun.end)
    elif noun.name and _is_title(noun):
        yield Claim(noun.name, "works_as", noun.common, end=noun.end)


def _is_title(noun: NounPhrase) -> bool:
    """Return whether the common words before a name are the occupation of its bearer, "the poet Tom Lunn"."""
    alone = noun.common and not noun.owner and noun.determiner in ("the", "")
    return bool(alone) and kinds.is_role(noun) and noun.head not in RELATIVES and not noun.common.endswith("s")


def _claims_of_appositions(noun: NounPhrase, talk: bool) -> Iterator[Claim]:
    """Yield the claims that appositions make about the phrase before them: "Calvo, a member of the council"."""
    for beside in noun.appositions:
        end = max(beside.end, noun.end)
        if kinds.is_age(beside):
            yield Claim(noun, "age", beside.text, end=end)
        elif noun.of or not noun.name or beside.name or not (beside.determiner or beside.owner):
            continue  # "chairman of the council, a body of nine": it may be about either
        elif beside.owner:
            if beside.head in RELATIVES:
                yield from kinship_claims(beside.owner, beside.head, noun, end)
        elif claims := [*word_statements("noun", (beside.head,), _slots_of(beside), noun, "state", talk=False)]:
            yield from claims
        elif kinds.is_role(beside):
            yield Claim(noun, "works_as", beside, end=end)
        elif (not talk or beside.head in _CLASSES) and beside.head not in nouns.VAGUE:
            yield Claim(noun, "is_a", beside, end=end)


def _slots_of(noun: NounPhrase) -> list[Slot]:
    return [Slot("of", (noun.of,), noun.of.end)] if noun.of else []
