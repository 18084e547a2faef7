"""Claims that phrases make, independent of their clause.

Examples: "my sister Anna", "Calvo, a member of the council".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim, kinship_claims
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase, read_phrase
from mcp_memory.rules.facts.statements import possession_row, word_statements
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.words import Word

_PAST = ("former", "ex-", "late", "then", "future", "retired")
_DEATH = frozenset(("died", "passed", "death", "buried", "lost"))
_OVER = word_set("gone outgrew outgrown cured recovered overcame overcome mistake rehomed")
"""Words beside which an illness or pet of the speaker is one no longer."""
_NOT_REAL = word_set("imaginary fictional fictitious pretend made-up would-be future potential prospective almost")
_FORMERLY = word_set("former late old ex previous last first then childhood deceased")
_AT_A_TIME = word_set("married_to engaged_to dating has_boss colleague_of has_pet has_condition")
"""Relations that a word before the noun ends: "my late wife Ida", "my old boss Kim", but a late father is a father."""
_LOSING = word_set("die pass lose bury sell rehome rehom outgrow outgrew overcome beat mourn recover")
_LONG_AGO = frozenset(("as a kid", "as a child", "back then"))
_MINE = frozenset(("my", "our"))
_ILLNESSES = nouns.CONDITIONS - word_set(
    "pressure disease syndrome disorder condition infection intolerance stroke allergy allergies flu covid cancer"
    " tumour tumor anxiety depression vertigo gout"
)
"""Lasting conditions that are named by one word and seldom meant otherwise: "my asthma"."""
_BEINGS = RELATIVES.keys() | nouns.PETS
_NAMED_KINDS = nouns.COMPANIES | nouns.CLUBS | nouns.PLACES | nouns.WORKS | nouns.SCHOOLS


def phrase_claims(sentence_clauses: Sequence[Clause], *, talk: bool) -> Iterator[tuple[Clause, Claim]]:
    """Yield the claims of the phrases of a sentence, each with the clause that holds the phrase."""
    lost = {noun.head for clause in sentence_clauses for noun, _ in _phrases(clause) if _is_lost(clause, noun)}
    for clause in sentence_clauses:
        for noun, where in _phrases(clause):
            is_predicate = clause.verb.lemma == "be" and not clause.verb.passive and noun not in clause.subject
            for claim in _claims_of_phrase(noun, talk, where):
                if claim.relation in ("has_pet", "has_condition") and noun.head in lost:
                    continue  # "my dog died last week": it was one
                if claim.relation == "married_to" and clause.verb.lemma in ("die", "pass") and noun in clause.subject:
                    claim = replace(claim, effect="ended")
                if claim.relation == "has_pet" and clause.verb.passive and clause.verb.lemma in ("call", "name"):
                    continue  # "my cat is called Miso": the name says it
                if claim.relation == "age" and is_predicate:
                    claim = replace(claim, head=clause.subject[0])  # "I'm Ann, 62"
                yield clause, claim


def _is_lost(clause: Clause, noun: NounPhrase) -> bool:
    """Return whether a clause tells that a pet or an illness of somebody's is one no longer, or was one long ago."""
    verb, away = clause.verb, {*clause.particles, *clause.adverbs}
    prepositions = {slot.preposition for slot in clause.slots}
    if verb.lemma == "be" and any(item.text == "alive" for slot in clause.slots for item in slot.nouns):
        return True  # "I wish my dog was still alive"
    if verb.lemma == "give":
        return bool((away | prepositions) & {"up", "away"} or ("to" in prepositions and noun in clause.slots[0].nouns))
    if verb.lemma in ("run", "go", "put", "grow", "get"):
        gone = verb.lemma == "go" and verb.passive  # "my asthma is gone"
        out_of = "of" if verb.lemma == "grow" else "over"  # "grew out of my asthma", "got over my depression"
        return gone or bool(away & {"away", "down"}) or out_of in prepositions
    if verb.tense == "perfect" and verb.unreal and noun in clause.subject:
        return True  # "my cat would have been ten"
    once = any(time.time is not None and time.time.grain in ("year", "decade") for time in clause.times)
    return verb.lemma in _LOSING or (verb.tense == "past" and (once or bool(clause.adverbs & _LONG_AGO)))


def _presupposed(words: Sequence[Word]) -> Iterator[NounPhrase]:
    """Yield the named relatives, the pets and the illnesses of the speaker: "do you remember my nephew Ruben?".

    That Ruben is a nephew is said along with whatever the sentence asks, wishes or orders.
    """
    dead = any(word.low in _DEATH | _OVER for word in words)
    for index, word in enumerate(words[:-1]):
        if dead and words[index + 1].low in nouns.PETS:
            continue
        if dead and words[index + 1].low in _ILLNESSES:
            continue
        if word.low in _MINE and words[index + 1].low in _ILLNESSES:
            found = read_phrase(words, index, verb_seen=True)
            if found and found[0].head in _ILLNESSES and not found[0].name:
                yield found[0]
        elif word.low in _MINE and words[index + 1].low in _BEINGS:
            first = not index or words[index - 1].mark or words[index - 1].low in closed.CONJUNCTIONS
            calling = words[min(index + 2, len(words) - 1)].low == "called"  # "my friend called Ann yesterday"
            found = read_phrase(words, index, subject=bool(first) and calling, verb_seen=True)
            if found and found[0].name and found[0].head in _BEINGS and not kinds.is_calendar(found[0]):
                yield found[0]


_TO_THEM = word_set("to with visit visiting visited")


def presupposed_claims(words: Sequence[Word]) -> Iterator[tuple[NounPhrase, Claim]]:
    """Yield who the named relatives and pets of a sentence are, and where they live, each with its phrase."""
    died = any(word.low in ("died", "passed") for word in words)
    for noun in _presupposed(words):
        for claim in relative_claims(noun):
            if not (died and claim.relation == "married_to"):
                yield noun, claim
    yield from _homes_of_relatives(words)


def _homes_of_relatives(words: Sequence[Word]) -> Iterator[tuple[NounPhrase, Claim]]:
    """Yield where a relative lives who is visited there: "we're going to my parents in Husum"."""
    for index, word in enumerate(words[1:-3], 1):
        if word.low in _MINE and words[index - 1].low in _TO_THEM and words[index + 1].low in RELATIVES:
            found = read_phrase(words, index, verb_seen=True)
            if found is None or found[1] + 1 >= len(words) or words[found[1]].low != "in":
                continue
            place = read_phrase(words, found[1] + 1, verb_seen=True)
            if place and place[0].named and kinds.fits(place[0], "place") and not kinds.is_calendar(place[0]):
                yield found[0], Claim(found[0], "lives_in", place[0], "state", (), place[0].end)


def given_names(clause: Clause) -> tuple[NounPhrase, ...]:
    """Return the name of "her name is Ida", whom "she" means from then on."""
    subject = clause.subject[0] if len(clause.subject) == 1 else None
    is_name = subject is not None and subject.head == "name" and subject.owner is not None and subject.owner.pronoun
    if not is_name or clause.verb.negated or not clause.slots or clause.slots[0].preposition:
        return ()
    return tuple(noun for noun in clause.slots[0].nouns[:1] if noun.name)


def named_before(words: Sequence[Word], clause: Clause) -> NounPhrase | None:
    """Return the person of "nursery for Lotte, she's 3": the only name before the first clause, whose subject is "she".

    None if there are more names or the subject is another word; at the start of a sentence a capital tells nothing.
    """
    if len(clause.subject) != 1 or clause.subject[0].pronoun not in ("he", "she"):
        return None
    names = [
        index
        for index, word in enumerate(words)
        if word.end <= clause.start and word.capital and (index or words[1].low == "too")
    ]
    found = read_phrase(words, names[0], verb_seen=True) if len(names) == 1 else None
    if found is None or not kinds.is_human(found[0]):
        return None
    parted = found[1] < len(words) and (words[found[1]].mark or words[found[1]].low == "too")
    return found[0] if parted else None  # not "according to Ann he …"


def relative_claims(noun: NounPhrase) -> Iterator[Claim]:
    """Yield who a named relative or pet is to its owner: "my nephew Ruben"."""
    yield from _claims_of_phrase(noun, talk=True, where=False)


def _phrases(clause: Clause) -> Iterator[tuple[NounPhrase, bool]]:
    """Yield the phrases of a clause, each with a flag for the place of an event."""
    places = ((noun, slot.preposition in ("in", "at", "from")) for slot in clause.slots for noun in slot.nouns)
    for noun, where in (*((noun, False) for noun in clause.subject), *places):
        yield noun, where
        if noun.owner and not noun.owner.pronoun:
            yield noun.owner, where
        if noun.of:
            yield noun.of, where


def _claims_of_phrase(noun: NounPhrase, talk: bool, where: bool) -> Iterator[Claim]:
    """Yield what a phrase claims, as over for "my late wife Ida"; nothing for "my imaginary friend Bo"."""
    before = noun.common.lower().split()[:1]
    if talk and noun.owner and not _NOT_REAL.isdisjoint(before):
        return
    over = bool(talk and noun.owner) and not _FORMERLY.isdisjoint(before)
    for claim in _all_claims_of_phrase(noun, talk, where):
        yield replace(claim, effect="ended") if over and claim.relation in _AT_A_TIME else claim


def _all_claims_of_phrase(noun: NounPhrase, talk: bool, where: bool) -> Iterator[Claim]:
    end = noun.end
    if talk and noun.owner and noun.name and noun.common and _serves(noun):
        row = possession_row(noun.head, noun, talk=talk)  # "my dentist, Dr Okafor"
        relation = row.relation if row else noun.common.lower().replace(" ", "_").replace("-", "_")
        yield Claim(noun.owner, relation, noun, "state", (), end, False, row.confidence if row else 0.85)
    elif noun.owner and noun.head in RELATIVES and (noun.name or _names_in_apposition(noun)):
        relation = RELATIVES[noun.head][0]
        for name in _names_in_apposition(noun) or (noun,):
            yield from kinship_claims(noun.owner, relation, name, end, ())
    elif noun.owner and noun.head in nouns.PETS and (noun.name or _names_in_apposition(noun)):
        for name in _names_in_apposition(noun) or (noun,):
            yield Claim(noun.owner, "has_pet", name, "state", (), end)
            if noun.name and not noun.plural:
                yield Claim(noun, "is_a", noun.head, "lasting", (), end)
    elif noun.name and noun.common and noun.text[:1].isupper() and kinds.is_role(noun) and not noun.owner:
        yield Claim(noun.name, "works_as", noun.common, "state", (), end)
    elif noun.name and noun.common and not noun.owner and not noun.quoted and noun.determiner in ("the", ""):
        if noun.plural or noun.head in RELATIVES or noun.common.split()[-1].endswith("s"):
            pass  # "the brothers Ann and Tom …": each of them need not be one
        elif kinds.is_role(noun) and not noun.common.startswith(_PAST):
            yield Claim(noun.name, "works_as", noun.common, "state", (), end)
        elif noun.determiner == "the" and not talk and noun.head in _NAMED_KINDS and noun.common.islower():
            yield Claim(noun.name, "is_a", noun.common, "state", (), end)
    elif noun.owner and noun.owner.pronoun in closed.FIRST and noun.head in nouns.PETS and not (noun.plural or noun.of):
        yield Claim(noun.owner, "has_pet", noun, "state", (), end)
    elif noun.head == "pressure" and not noun.text.lower().startswith(("high", "low")):
        pass  # everybody has a blood pressure
    elif noun.owner and noun.head in nouns.CONDITIONS and (noun.owner.named or noun.owner.pronoun in closed.FIRST):
        yield Claim(noun.owner, "has_condition", noun, "state", (), end)
    for preposition, place in noun.modifiers:
        if preposition == "in" and noun.name and not talk and kinds.fits(place, "name"):
            yield Claim(noun, "located_in", place, "state", (), place.end)
    for apposition in noun.appositions:
        if where and apposition.head in RELATIVES:
            continue  # "grew up in Oslo, the son of a smith"
        if kinds.is_age(apposition):
            yield Claim(noun, "age", apposition.text, "state", (), end)
            continue
        if noun.of or noun.quoted or (apposition.plural and not noun.plural and apposition.of is None):
            continue  # "chairman of the council, a body of nine": it may be about either
        complete = apposition.determiner or apposition.of or apposition.owner
        if (noun.name or not noun.owner) and complete and not _names_in_apposition(noun):
            yield from _claims_of_apposition(noun, apposition, talk)


_SERVING = word_set(
    "client customer gp doctor dentist teacher tutor coach trainer therapist physio physiotherapist landlord"
    " landlady lawyer solicitor accountant agent supervisor mentor instructor vet hairdresser midwife"
)


def _serves(noun: NounPhrase) -> bool:
    """Return whether a person is told by what they are to somebody: "my piano teacher"."""
    former = noun.common.lower().startswith(("old ", "former ", "ex-", "previous ", "last ", "new "))
    return noun.head in _SERVING and not (former or noun.plural or noun.of or noun.modifiers)


def _names_in_apposition(noun: NounPhrase) -> tuple[NounPhrase, ...]:
    """Return the names beside a common noun: "my boys, Kai and Ren"."""
    return () if noun.name else tuple(name for name in noun.appositions if name.name and not name.determiner)


_CLASSES = nouns.PERSONISH | nouns.PETS | nouns.STATES | nouns.PLACES
"""What an apposition in a message may be: "a vegan", "a town"; of other things it is too seldom a lasting fact."""


def _claims_of_apposition(noun: NounPhrase, apposition: NounPhrase, talk: bool) -> Iterator[Claim]:
    """Yield the claims that an apposition makes about the name before it."""
    end = max(apposition.end, noun.end)
    has_relation = False
    if apposition.owner:
        if apposition.head in RELATIVES and noun.name:
            yield from kinship_claims(apposition.owner, RELATIVES[apposition.head][0], noun, end, ())
        return
    of = [Slot("of", (apposition.of,), end)] if apposition.of else []
    for claim in word_statements("noun", (apposition.head,), of, noun, "state", talk=False):
        if claim.relation != "leads":
            yield replace(claim, times=(), end=end)
            has_relation = True
    if not has_relation and apposition.head not in nouns.VAGUE and not apposition.name:
        relation = "works_as" if kinds.is_role(apposition) else "is_a"
        if relation == "works_as" or not talk or apposition.head in _CLASSES:
            yield Claim(noun, relation, apposition, "state", (), end)
    for origin in apposition.appositions:
        if kinds.fits(origin, "name"):
            yield Claim(noun, "comes_from", origin, "lasting", (), origin.end)
