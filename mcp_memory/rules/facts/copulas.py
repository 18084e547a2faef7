"""Claims of clauses with "be" or "become": roles, classes, ages, origins, and the rows of adjectives and nouns.

What "is a teacher" or "is 40" states depends on the noun itself, its article and its text (a message or a document),
and on no slot, so functions read it. The rows give what stands behind an adjective or noun ("allergic to", "a fan of")
and "X's hometown is Y".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from mcp_memory.domain.relations import Effect
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim, kinship_claims
from mcp_memory.rules.facts.clauses import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.statements import possession_row, subject_statements, word_statements
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.validity import NO_LONGER

_AGED = re.compile(r"(\d{1,3})[- ]years?[- ]old\s")
_ALSO_POSSESSED = word_set("new full first phone mobile cell work home")
"""Words that leave a possession what it is: "my new phone number", but not "my insurance number"."""


def copula_claims(clause: Clause, *, talk: bool) -> Iterator[Claim]:
    """Yield the claims of a clause whose verb is "be" or "become".

    Args:
        clause: the clause of a sentence.
        talk: whether the text is a message; a document classifies more things ("X is a Y").
    """
    effect: Effect = "begin" if clause.verb.lemma == "become" else "state"
    if len(clause.subject) == 1:
        subject = clause.subject[0]
        claims = list(subject_statements(clause, subject, effect, talk=talk))
        if claims := claims or list(_possession_claims(clause, subject, effect, talk)):
            yield from claims
            return
    for subject in clause.subject:
        claims = list(_adjective_claims(clause, subject, effect, talk))
        yield from claims or _predicative_claims(clause, subject, effect, talk)
        if not claims:
            yield from _preposition_claims(clause, subject, effect, talk)


def _predicative(clause: Clause) -> Slot | None:
    """Return the noun phrase behind the copula, unless a preposition follows it."""
    return clause.slots[0] if clause.slots and not clause.slots[0].preposition else None


def _adjective_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    slot = _predicative(clause)
    if slot is None or (subject.pronoun in ("it", "that", "this")):
        return
    noun, behind = slot.nouns[-1], list(clause.slots[1:3])
    if slot.nouns[0].of is not None and not slot.nouns[0].determiner:  # "afraid of wasps and heights"
        noun, of = slot.nouns[0], (slot.nouns[0].of, *slot.nouns[1:])
        behind = [Slot("of", of, of[-1].end), *behind]
    words = dict.fromkeys((noun.head, noun.text.lower(), noun.text.split()[0].lower()))
    yield from word_statements("adj", tuple(words), behind, subject, effect, talk=talk)


def _predicative_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    slot = _predicative(clause)
    if slot is None or subject.pronoun in ("that", "this", "there"):
        return
    for before, noun in zip((None, *slot.nouns), slot.nouns, strict=False):
        if noun.uncertain or noun.pronoun or (before and before.of and before.of.named and noun.determiner == "the"):
            continue  # "a suburb of Brisbane, the capital of …"
        yield from _relational_claims(subject, noun, slot, effect)
        if kinds.is_age(noun) and clause.verb.tense == "present" and not noun.determiner and kinds.has_age(subject):
            next_head = clause.slots[1].nouns[0].head if len(clause.slots) > 1 and clause.slots[1].preposition else ""
            if next_head in ("", "years"):
                yield Claim(subject, "age", noun.text, effect, None, slot.end)
        elif noun.owner is None:
            if aged := _AGED.match(noun.text):  # "a 44-year-old nurse"
                yield Claim(subject, "age", aged[1], effect, None, slot.end)
                noun = replace(noun, text=noun.text[aged.end() :])
            yield from _class_claims(clause, subject, noun, slot, effect, talk)


def _relational_claims(subject: NounPhrase, noun: NounPhrase, slot: Slot, effect: Effect) -> Iterator[Claim]:
    """Yield the claim of "Ann is my sister" or "ramen is my favourite food"."""
    if noun.owner is None or noun.name:
        return
    if noun.text.startswith(("favourite", "favorite")):
        yield Claim(noun.owner, _favourite(noun), subject, effect, None, slot.end)
    elif noun.head in RELATIVES and (subject.pronoun or subject.named or kinds.is_kin(subject)):
        yield from kinship_claims(noun.owner, RELATIVES[noun.head][0], subject, slot.end)


def _favourite(noun: NounPhrase) -> str:
    """Return the relation of "favourite food"; "my favourite" is only liked."""
    kind = "_".join(noun.text.split(" of ")[0].lower().split()[1:])
    return f"favourite_{kind}" if kind else "likes"


def _class_claims(
    clause: Clause, subject: NounPhrase, noun: NounPhrase, slot: Slot, effect: Effect, talk: bool
) -> Iterator[Claim]:
    """Yield the occupation, the nationality, the state or the class that a noun behind "be" says."""
    behind = [Slot("of", (noun.of,), slot.end)] if noun.of else []
    claims = list(word_statements("noun", (noun.head,), [*behind, *clause.slots[1:2]], subject, effect, talk=talk))
    is_role, first = kinds.is_role(noun), noun.text.split()[0].lower()
    if claims:
        yield from claims
        return
    if kinds.is_demonym(noun) and not noun.determiner:
        yield Claim(subject, "nationality", noun, "lasting", None, slot.end)
        return
    state = {noun.head, noun.text.lower().replace(" ", "-")} & nouns.STATES
    if state:
        yield Claim(subject, "has_condition" if state & nouns.CONDITIONED else "is_a", noun, effect, None, slot.end)
        return
    if is_role and not noun.name:
        judged = first in nouns.JUDGING or "like" in clause.adverbs  # "a terrible actress"
        plain = noun.determiner in ("a", "an", "the", "") and not noun.plural and not judged
        if plain and (noun.head not in nouns.ROYAL or (noun.of and noun.of.named)):  # not "queen of the dance floor"
            yield Claim(subject, "works_as", noun, effect, None, slot.end)
            yield from _employer_claims(clause, subject, noun, effect)
        return
    classified = noun.determiner in ("a", "an") or (noun.determiner == "the" and noun.of is not None and not talk)
    if noun.name or noun.head in nouns.VAGUE - {"person"} or noun.head in RELATIVES or not classified:
        return
    if not talk or noun.head in nouns.PERSONISH | nouns.PETS:
        yield Claim(subject, "is_a", noun, effect if talk or effect == "begin" else "lasting", None, slot.end)
    for place in clause.slots[1:2] if not talk else ():
        relation = {"in": "located_in", "on": "located_in", "from": "comes_from"}.get(place.preposition)
        of_place = relation == "comes_from" or noun.head not in nouns.WORKS | nouns.EVENTS | nouns.PERSONISH
        if relation and of_place and kinds.fits(place.nouns[0], "place"):
            yield Claim(subject, relation, place.nouns[0], "lasting", None, place.end)


def _employer_claims(clause: Clause, subject: NounPhrase, noun: NounPhrase, effect: Effect) -> Iterator[Claim]:
    """Yield the employer of "is a professor at Felden University"."""
    relation = "plays_for" if noun.head in nouns.SPORTS_ROLES else "works_at"
    for slot in clause.slots[1:4]:
        employer = slot.nouns[0]
        kind = "name" if slot.preposition == "for" else "org"
        if slot.preposition in ("at", "for", "with") and kinds.fits(employer, kind):
            yield Claim(subject, relation, employer, effect, employer.times or None, slot.end)


def _preposition_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    """Yield the claims of a bare preposition: "is from Pune", "has been in Manchester since 2020", "is into horses"."""
    lasts = clause.verb.tense == "perfect" or "still" in clause.adverbs
    left = clause.verb.negated and clause.adverbs & NO_LONGER
    for slot in clause.slots[:1]:
        for noun in slot.nouns:
            relation, kept = "", effect
            match slot.preposition:
                case "from" if kinds.fits(noun, "name") and subject.pronoun not in ("it", "that", "this"):
                    relation, kept = "comes_from", "lasting"
                case "into" if kinds.fits(noun, "hobby") and subject.pronoun != "it":
                    relation = "interested_in"
                case "in" if talk and kinds.fits(noun, "name") and (left or (lasts and clause.times)):
                    relation = "lives_in"
                case "at" | "with" if kinds.fits(noun, "org") and noun.named and lasts:
                    relation = "works_at"
            if relation:
                yield Claim(subject, relation, noun, kept, None, slot.end)


def _possession_claims(clause: Clause, subject: NounPhrase, effect: Effect, talk: bool) -> Iterator[Claim]:
    """Yield the claims of "my favourite food is ramen" or "Ann's hometown is Bergen"."""
    slot = _predicative(clause)
    owner = subject.owner or (subject.of if subject.determiner == "the" else None)
    if owner is None or subject.name:
        return
    if clause.times and (dated := possession_row(subject.head, None, talk=talk)):
        yield Claim(owner, dated.relation, clause.times[0].text, "lasting", (), clause.end)
        return
    words = subject.text.lower().replace("-", " ").split()
    for noun in slot.nouns if slot else ():
        end = slot.end if slot else 0
        row = possession_row(subject.head, noun, talk=talk) if _ALSO_POSSESSED.issuperset(words[:-1]) else None
        plain = noun.named and not (noun.determiner or noun.owner) and not kinds.is_demonym(noun)
        if noun.pronoun or noun.uncertain:
            continue
        if words[0] in ("favourite", "favorite"):
            if noun.head not in nouns.VAGUE:
                yield Claim(owner, _favourite(subject), noun, effect, None, end)
        elif row:
            head, tail = (noun, owner) if "swapped" in row.options else (owner, noun)
            yield Claim(head, row.relation, tail, effect, None, end)
        elif subject.head in RELATIVES and plain and noun.name and not noun.common and subject.owner:
            yield from kinship_claims(owner, RELATIVES[subject.head][0], noun, end)
        elif plain and _is_role_of_one(subject) and clause.verb.tense == "present":
            yield Claim(owner, "_".join(words), noun, effect, None, end)


def _is_role_of_one(noun: NounPhrase) -> bool:
    """Return whether one thing or person is it for its owner, "my dentist"."""
    vague = noun.head in nouns.VAGUE | closed.EMPTY | RELATIVES.keys()
    return noun.owner is not None and not (vague or noun.plural)
