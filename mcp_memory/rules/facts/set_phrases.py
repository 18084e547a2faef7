"""Claims of phrases that need two parts of their clause at once: a job and its employer, a medicine and its dose.

A row of the relation table gives one phrase one relation. Here the verb means nothing without its object ("started my
job", "cancelled my membership"), and the fact is in the phrase behind that.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.iso import MONTHS, civil
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim, kinship_claims
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.rows import Effect
from mcp_memory.rules.facts.statements import named_by
from mcp_memory.rules.facts.tables import nouns

_JOB_VERBS: dict[str, Effect] = {
    **dict.fromkeys(["start", "begin", "get", "take", "land", "accept", "find", "take_up", "secure"], "begin"),
    **dict.fromkeys(["have", "hold"], "state"),
    **dict.fromkeys(["quit", "leave", "lose", "resign", "give_up"], "end"),
}
_DOSING_VERBS = word_set("raise increase up double lower reduce cut drop change adjust halve")


def set_phrases(clause: Clause, *, talk: bool) -> Iterator[Claim]:
    """Yield the claims of a clause that are in two of its parts; ``talk`` is whether the text is a message."""
    if not clause.slots or not clause.subject:
        return
    yield from _job_claims(clause)
    yield from _turning_claims(clause)
    yield from _naming_claims(clause, talk)
    for read in (_stay_claims, _membership_claims, _instrument_claims, _medicine_claims):
        yield from read(clause)


def _job_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the employer and the role of "started my job as a nurse at Halden Clinic"."""
    verb = "_".join((clause.verb.lemma, *clause.particles))
    effect = _JOB_VERBS.get(verb)
    if effect is None or not clause.slots or clause.slots[0].preposition:
        return
    job = clause.slots[0].nouns[0]
    if job.head not in nouns.JOBS:
        return
    for slot in clause.slots[1:]:
        for noun in slot.nouns[:1]:
            for subject in clause.subject:
                if slot.preposition == "as" and kinds.fits(noun, "role"):
                    yield Claim(subject, "works_as", noun, effect, None, slot.end)
                elif slot.preposition in ("at", "with", "for") and (
                    kinds.fits(noun, "org") or (slot.preposition == "at" and kinds.fits(noun, "workplace"))
                ):
                    yield Claim(subject, "works_at", noun, effect, None, slot.end)


def age_claims(clause: Clause, person: NounPhrase, age: str, effect: Effect, end: int) -> Iterator[Claim]:
    """Yield the age of a person, and the birthday if it is the day of a month: "Olga turns 7 on the 20th".

    A birthday to come states no age as yet.
    """
    for word in clause.times[:1]:
        if word.time is not None and word.time.grain == "day" and word.time.since > BEGINNING:
            _, month, day = civil(word.time.since)
            if str(day) in word.text:
                yield Claim(person, "born_on", f"{day} {MONTHS[month - 1]}", "lasting", (), end)
                if clause.verb.unreal:
                    return
    yield Claim(person, "age", age, effect, None, end)


def _turning_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the age of "turned 40"."""
    if clause.verb.lemma == "turn" and not clause.slots[0].preposition and not clause.verb.passive:
        number, end = clause.slots[0].nouns[0], clause.slots[0].end
        if kinds.is_age(number):
            for person in (person for subject in clause.subject for person in named_by(subject)):
                yield from age_claims(clause, person, number.text, "begin", end)


def _naming_claims(clause: Clause, talk: bool) -> Iterator[Claim]:
    """Yield the name of "my wife is called Nele"."""
    if not clause.verb.passive or clause.verb.lemma not in ("call", "name") or not clause.slots:
        return
    slot = clause.slots[0]
    if slot.preposition or not slot.nouns[0].named or len(clause.subject) != 1:
        return
    subject = clause.subject[0]
    relation = RELATIVES[subject.head][0] if subject.owner and subject.head in RELATIVES and not subject.name else ""
    if relation and relation[0] != "(" and subject.owner:
        yield from kinship_claims(subject.owner, relation, slot.nouns[0], slot.end)
    elif subject.owner and subject.head in nouns.PETS and not subject.name:
        yield Claim(subject.owner, "has_pet", slot.nouns[0], "state", None, slot.end)
    elif not talk or kinds.is_human(subject) or subject.head in nouns.PETS:
        yield Claim(subject, "named", slot.nouns[0], "lasting", None, slot.end)


def _instrument_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the old and the new instrument of "switched from guitar to bass"."""
    if clause.verb.lemma not in ("switch", "change", "move"):
        return
    for slot in clause.slots:
        for noun in slot.nouns:
            if noun.head in nouns.PLAYED and slot.preposition in ("from", "to"):
                effect: Effect = "begin" if slot.preposition == "to" else "end"
                yield Claim(clause.subject[0], "plays", noun, effect, None, slot.end)


_PRESCRIBE_VERBS = word_set("put start keep switch swap move change give prescribe")


def _medicine_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the medicine of "they put me on 5 mg of bisoprolol", and the dose of "she raised my lithium to 900 mg"."""
    yield from _dose_claims(clause)
    if clause.verb.lemma not in _PRESCRIBE_VERBS or clause.verb.passive or clause.slots[0].preposition:
        return
    patient = clause.slots[0].nouns[0]
    if not (kinds.is_human(patient) or patient.pronoun in ("me", "him", "her")):
        return
    for slot in clause.slots[1:3]:
        if slot.preposition in ("", "on", "onto", "to"):
            for noun in slot.nouns:
                if kinds.fits(noun, "dose") or kinds.fits(noun, "medicine"):
                    yield Claim(patient, "takes", noun, "begin", None, slot.end)


_SPEAKER = NounPhrase(0, 0, "I", "i", pronoun="i")


def _dose_claims(clause: Clause) -> Iterator[Claim]:
    drug, first = clause.subject[0], clause.slots[0]
    if clause.verb.lemma == "go" and kinds.fits(drug, "medicine") and first.preposition == "to":
        if kinds.fits(first.nouns[0], "dose") and not clause.verb.negated:  # "the ramipril goes up to 5 mg"
            yield Claim(_SPEAKER, "takes", f"{first.nouns[0].text} of {drug.text}", "begin", None, first.end)
        return
    if clause.verb.lemma not in _DOSING_VERBS or clause.verb.passive or clause.slots[0].preposition:
        return
    drug = clause.slots[0].nouns[0]
    for slot in clause.slots[1:3]:
        dose = slot.nouns[0]
        if slot.preposition == "to" and drug.owner and kinds.fits(dose, "dose"):
            yield Claim(drug.owner, "takes", f"{dose.text} of {drug.text}", "begin", None, slot.end)


_LONG = frozenset(("month", "season", "year", "decade", "century"))


def _stay_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the home and the employer of "she's in Linz since last summer" and "I've been at CERN since May"."""
    since = [word.time for word in clause.times if word.time is not None and word.time.since > BEGINNING]
    lasts = len(since) == 1 and since[0].until >= FOREVER and since[0].grain in _LONG
    if clause.verb.lemma != "be" or clause.verb.tense == "past" or clause.verb.negated or not lasts:
        return
    slot = clause.slots[0]
    relation = {"in": "lives_in", "at": "works_at"}.get(slot.preposition, "")
    fits = kinds.fits(slot.nouns[0], "place" if relation == "lives_in" else "org") and slot.nouns[0].named
    for subject in clause.subject if relation and fits else ():
        if kinds.is_human(subject):
            yield Claim(subject, relation, slot.nouns[0], "state", None, slot.end)


def _membership_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the club of "cancelled my membership at the gym"."""
    if len(clause.slots) < 2 or clause.slots[0].preposition or clause.slots[0].nouns[0].head != "membership":
        return
    slot = clause.slots[1]
    ends = clause.verb.lemma in ("cancel", "quit", "end", "drop", "give")
    is_membership = ends or clause.verb.lemma in ("get", "have", "buy")
    if (
        is_membership
        and slot.preposition in ("at", "of", "in", "with")
        and kinds.fits(slot.nouns[0], "org")
        and clause.subject
    ):
        yield Claim(clause.subject[0], "member_of", slot.nouns[0], "end" if ends else "state", None, slot.end)
