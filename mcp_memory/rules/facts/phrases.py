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
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.words import Word

_JOB_VERBS: dict[str, Effect] = {
    **dict.fromkeys(["start", "begin", "get", "take", "land", "accept", "find"], "begin"),
    "have": "state",
    **dict.fromkeys(["quit", "leave", "lose", "resign"], "end"),
}
_PAST = ("former", "ex-", "late", "then", "future", "retired")
_LOST = word_set("died passed death buried lost gone rehomed")
"""Words beside which a pet of somebody's is one no longer."""
_LOSING = word_set("die pass lose bury sell rehome mourn give run")
_FORMERLY = word_set("former late old ex previous last first then childhood deceased")
_AT_A_TIME = word_set("married_to engaged_to dating has_boss colleague_of has_pet")
"""Relations that a word before the noun ends: "my late wife Ida", "my old boss Kim", but a late father is a father."""
_MINE = frozenset(("my", "our"))
_BEINGS = RELATIVES.keys() | nouns.PETS
_NAMED_KINDS = nouns.COMPANIES | nouns.CLUBS | nouns.PLACES | nouns.WORKS | nouns.SCHOOLS
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
    elif verb.passive and verb.lemma in ("call", "name") and first.named:
        yield from _naming_claims(clause.subject[0], first, slot.end)
    elif not verb.passive:
        for given in clause.slots[1:3]:  # "they put me on 5 mg of bisoprolol"
            for noun in given.nouns:
                if kinds.fits(noun, "dose") or kinds.fits(noun, "medicine"):
                    yield Claim(first, "takes", noun, "begin", None, given.end)


def _naming_claims(subject: NounPhrase, name: NounPhrase, end: int) -> Iterator[Claim]:
    """Yield the name of "my wife is called Nele"."""
    relation = RELATIVES.get(subject.head, ("(", ""))[0]
    if subject.owner and relation[0] != "(":
        yield from kinship_claims(subject.owner, relation, name, end)
    elif subject.owner and subject.head in nouns.PETS:
        yield Claim(subject.owner, "has_pet", name, "state", None, end)


def phrase_claims(sentence_clauses: Sequence[Clause], *, talk: bool) -> Iterator[tuple[Clause, Claim]]:
    """Yield the claims of the phrases of a sentence, each with the clause that holds the phrase."""
    for clause in sentence_clauses:
        lost = clause.verb.lemma in _LOSING or (clause.verb.passive and clause.verb.lemma in ("call", "name"))
        for noun in _phrases(clause):
            is_predicate = clause.verb.lemma == "be" and noun not in clause.subject
            for claim in claims_of_phrase(noun, talk=talk):
                widowed = claim.relation == "married_to" and clause.verb.lemma in ("die", "pass")
                if widowed or (lost and claim.relation == "has_pet"):
                    continue  # "my dog died last week", "my cat is called Miso"
                if claim.relation == "age" and is_predicate:
                    claim = replace(claim, head=clause.subject[0])  # "I'm Ann, 62"
                yield clause, claim


def _phrases(clause: Clause) -> Iterator[NounPhrase]:
    for noun in (*clause.subject, *(noun for slot in clause.slots for noun in slot.nouns)):
        yield from (one for one in (noun, noun.owner, noun.of) if one is not None and not one.pronoun)


def presupposed_claims(words: Sequence[Word]) -> Iterator[tuple[NounPhrase, Claim]]:
    """Yield who the named relatives and pets of a sentence are, each with its phrase: "remember my nephew Ruben?".

    That Ruben is a nephew is said along with whatever the sentence asks or wishes.
    """
    lost = any(word.low in _LOST for word in words)
    for index, word in enumerate(words[:-1]):
        following = words[index + 1].low
        if word.low not in _MINE or (lost and following in nouns.PETS):
            continue
        if words[min(index + 2, len(words) - 1)].low == "called":
            continue  # "my friend called Ann yesterday"
        found = read_phrase(words, index, verb_seen=True)
        if found and found[0].name and found[0].head in _BEINGS and not kinds.is_calendar(found[0]):
            for claim in claims_of_phrase(found[0], talk=True):
                if not (lost and claim.relation == "married_to"):
                    yield found[0], claim


def claims_of_phrase(noun: NounPhrase, *, talk: bool) -> Iterator[Claim]:
    """Yield what a phrase claims; of "my late wife Ida" nothing."""
    over = bool(talk and noun.owner) and not _FORMERLY.isdisjoint(noun.common.lower().split()[:1])
    for claim in (*_own_claims(noun, talk), *_claims_of_appositions(noun, talk)):
        if not (over and claim.relation in _AT_A_TIME):
            yield claim


def _own_claims(noun: NounPhrase, talk: bool) -> Iterator[Claim]:
    named = tuple(name for name in named_by(noun) if name.name)
    mine = noun.owner is not None and noun.owner.pronoun in closed.FIRST
    if noun.owner and noun.head in RELATIVES:
        for name in named:
            yield from kinship_claims(noun.owner, RELATIVES[noun.head][0], name, noun.end, ())
    elif noun.owner and noun.head in nouns.PETS:
        for name in named or ((noun,) if mine and not (noun.plural or noun.of) else ()):
            yield Claim(noun.owner, "has_pet", name, "state", (), noun.end)
        if noun.name and not noun.plural:
            yield Claim(noun, "is_a", noun.head, "lasting", (), noun.end)
    elif noun.name and noun.common and not noun.owner and not noun.quoted and noun.determiner in ("the", ""):
        if noun.head in RELATIVES or noun.common.split()[-1].endswith("s"):
            return  # "the brothers Ann and Tom …": each of them need not be one
        if kinds.is_role(noun) and not noun.common.startswith(_PAST):
            yield Claim(noun.name, "works_as", noun.common, "state", (), noun.end)
        elif noun.determiner == "the" and not talk and noun.head in _NAMED_KINDS:
            yield Claim(noun.name, "is_a", noun.common, "state", (), noun.end)


def _claims_of_appositions(noun: NounPhrase, talk: bool) -> Iterator[Claim]:
    """Yield the claims that appositions make about the phrase before them: "Calvo, a member of the council"."""
    for beside in noun.appositions:
        end = max(beside.end, noun.end)
        if kinds.is_age(beside):
            yield Claim(noun, "age", beside.text, "state", (), beside.end)
        elif noun.of or not noun.name or not (beside.determiner or beside.of or beside.owner):
            continue  # "chairman of the council, a body of nine": it may be about either
        elif beside.owner:
            if beside.head in RELATIVES:
                yield from kinship_claims(beside.owner, RELATIVES[beside.head][0], noun, end, ())
        else:
            of = [Slot("of", (beside.of,), end)] if beside.of else []
            rows = word_statements("noun", (beside.head,), of, noun, "state", talk=False)
            claims = [replace(claim, times=(), end=end) for claim in rows]
            yield from claims
            relation = "works_as" if kinds.is_role(beside) else "is_a"
            kind = relation == "works_as" or not talk or beside.head in _CLASSES
            if not claims and kind and beside.head not in nouns.VAGUE and not beside.name:
                yield Claim(noun, relation, beside, "state", (), end)
