"""Claims of clauses with "be" or "become": roles, classes, ages, origins, and the rows of adjectives and nouns.

What "is a teacher" or "is 40" states depends on the noun itself, its article and its text (a message or a document),
and on no slot, so functions read it. The rows give what stands behind an adjective or noun ("allergic to", "a fan of")
and "X's hometown is Y".
"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_memory.domain.relations import Effect
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim, kinship_claims
from mcp_memory.rules.facts.clauses import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.statements import possession_row, subject_statements, word_statements
from mcp_memory.rules.facts.tables import closed, nouns

_FAVOURITE = ("favourite", "favorite")
_ALSO_POSSESSED = word_set("new full first phone mobile cell work home")
"""Words that leave a possession what it is: "my new phone number", but not "my insurance number"."""


def copula_claims(clause: Clause, *, talk: bool) -> Iterator[Claim]:
    """Yield the claims of a clause whose verb is "be" or "become".

    Args:
        clause: the clause of a sentence.
        talk: whether the text is a message; a document classifies more things ("X is a Y").
    """
    effect: Effect = "begin" if clause.verb.lemma == "become" else "state"
    slot = clause.slots[0] if clause.slots else None
    if slot and slot.preposition == "from":
        names = [noun for noun in slot.nouns if kinds.fits(noun, "name")]
        yield from (
            Claim(one, "comes_from", noun, "lasting", None, slot.end) for one in clause.subject for noun in names
        )
    if len(clause.subject) == 1:
        subject = clause.subject[0]
        claims = list(subject_statements(clause, subject, effect, talk=talk))
        if claims := claims or list(_possession_claims(clause, subject, effect, talk)):
            yield from claims
            return
    for subject in clause.subject:
        if slot and not slot.preposition and subject.pronoun not in ("that", "this", "there"):
            claims = list(_adjective_claims(clause, subject, slot, effect, talk))
            yield from claims or _predicative_claims(clause, subject, slot, effect, talk)


def _adjective_claims(clause: Clause, subject: NounPhrase, slot: Slot, effect: Effect, talk: bool) -> Iterator[Claim]:
    noun, behind = slot.nouns[-1], list(clause.slots[1:3])
    if slot.nouns[0].of is not None:  # "afraid of wasps and heights"
        noun, of = slot.nouns[0], (slot.nouns[0].of, *slot.nouns[1:])
        behind = [Slot("of", of, of[-1].end), *behind]
    words = dict.fromkeys((noun.head, noun.text.lower(), noun.text.split()[0].lower()))
    yield from word_statements("adj", tuple(words), behind, subject, effect, talk=talk)


def _predicative_claims(clause: Clause, subject: NounPhrase, slot: Slot, effect: Effect, talk: bool) -> Iterator[Claim]:
    for before, noun in zip((None, *slot.nouns), slot.nouns, strict=False):
        if noun.uncertain or noun.pronoun or (before and before.of and noun.determiner == "the"):
            continue  # "a suburb of Brisbane, the capital of …"
        if kinds.is_age(noun):
            being = kinds.is_human(subject) or subject.head in nouns.PETS  # "my room is 14" tells no age
            behind = clause.slots[1].nouns[0].head if len(clause.slots) > 1 else "years"
            if being and clause.verb.tense == "present" and not noun.determiner and behind == "years":
                yield Claim(subject, "age", noun.text, effect, None, slot.end)
        elif noun.owner is None:
            yield from _class_claims(clause, subject, noun, slot, effect, talk)
        elif noun.text.startswith(_FAVOURITE):
            yield Claim(noun.owner, _favourite(noun), subject, effect, None, slot.end)
        elif noun.head in RELATIVES and not noun.name and (subject.pronoun or subject.named):
            yield from kinship_claims(noun.owner, noun.head, subject, slot.end)


def _favourite(noun: NounPhrase) -> str:
    """Return the relation of "favourite food"; "my favourite" is only liked."""
    kind = "_".join(noun.text.split(" of ")[0].lower().split()[1:])
    return f"favourite_{kind}" if kind else "likes"


def _class_claims(
    clause: Clause, subject: NounPhrase, noun: NounPhrase, slot: Slot, effect: Effect, talk: bool
) -> Iterator[Claim]:
    """Yield the occupation, the nationality, the state or the class that a noun behind "be" says."""
    behind = [Slot("of", (noun.of,), slot.end)] if noun.of else []
    slots = [*behind, *clause.slots[1:2]]
    if claims := list(word_statements("noun", (noun.head,), slots, subject, effect, talk=talk)):
        yield from claims
    elif kinds.is_demonym(noun):
        yield Claim(subject, "nationality", noun, "lasting", None, slot.end)
    elif state := {noun.head, noun.text.lower().replace(" ", "-")} & nouns.STATES:
        yield Claim(subject, "has_condition" if state & nouns.CONDITIONED else "is_a", noun, effect, None, slot.end)
    elif noun.name:
        return
    elif kinds.is_role(noun):
        judged = noun.text[0].isdigit() or noun.text.split()[0].lower() in nouns.JUDGING  # "a terrible actress"
        praised = noun.head in nouns.ROYAL and not (noun.of and noun.of.named)  # "queen of the dance floor"
        if not (judged or praised):
            yield Claim(subject, "works_as", noun, effect, None, slot.end)
            yield from _employer_claims(clause, subject, noun, effect)
    elif not talk and (noun.determiner in ("a", "an") or (noun.determiner == "the" and noun.of is not None)):
        if noun.head in nouns.VAGUE or noun.head in RELATIVES:
            return
        yield Claim(subject, "is_a", noun, "lasting", None, slot.end)
        for place in clause.slots[1:2]:
            if place.preposition == "in" and noun.head in nouns.PLACES and kinds.fits(place.nouns[0], "place"):
                yield Claim(subject, "located_in", place.nouns[0], "lasting", None, place.end)


def _employer_claims(clause: Clause, subject: NounPhrase, role: NounPhrase, effect: Effect) -> Iterator[Claim]:
    """Yield the employer of "is a professor at Felden University"."""
    relation = "plays_for" if role.head in nouns.SPORTS_ROLES else "works_at"
    for slot in clause.slots[1:4]:
        kind = "name" if slot.preposition == "for" else "org"
        if slot.preposition in ("at", "for", "with") and kinds.fits(slot.nouns[0], kind):
            yield Claim(subject, relation, slot.nouns[0], effect, slot.nouns[0].times or None, slot.end)


def _possession_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    """Yield the claims of "my favourite food is ramen" or "Ann's hometown is Bergen"."""
    owner = subject.owner or (subject.of if subject.determiner == "the" else None)
    if owner is None or subject.name:
        return
    if clause.times and (dated := possession_row(subject.head, None, talk=talk)):
        yield Claim(owner, dated.relation, clause.times[0].text, "lasting", None, clause.end)
        return
    if not clause.slots or clause.slots[0].preposition:
        return
    slot, words = clause.slots[0], subject.text.lower().replace("-", " ").split()
    for noun in slot.nouns:
        if noun.pronoun or noun.uncertain:
            continue
        row = possession_row(subject.head, noun, talk=talk) if _ALSO_POSSESSED.issuperset(words[:-1]) else None
        plain = noun.named and not (noun.determiner or noun.owner) and not kinds.is_demonym(noun)
        if words[0] in _FAVOURITE:
            yield Claim(owner, _favourite(subject), noun, effect, None, slot.end)
        elif row:
            head, tail = (noun, owner) if "swapped" in row.options else (owner, noun)
            yield Claim(head, row.relation, tail, effect, None, slot.end)
        elif subject.head in RELATIVES:
            if plain and noun.name and not noun.common and subject.owner:
                yield from kinship_claims(owner, subject.head, noun, slot.end)
        elif plain and clause.verb.tense == "present" and _is_role_of_one(subject):
            yield Claim(owner, "_".join(words), noun, effect, None, slot.end)


def _is_role_of_one(noun: NounPhrase) -> bool:
    """Return whether one thing or person is it for its owner, "my dentist"."""
    return noun.owner is not None and not noun.plural and noun.head not in nouns.VAGUE | closed.EMPTY
