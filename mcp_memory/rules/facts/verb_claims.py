"""Claims of clauses with a full verb, by the verb table and by set phrases (degrees, appointments, memberships)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import Claim, kinship_claims
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.open_claims import open_claims
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.tail_relations import relations_for_tail
from mcp_memory.rules.facts.verbs import Effect, Frame, frames_by_verb

_LASTING_ADVERBS = frozenset(("for good", "permanently"))
_SEATS = word_set("headquarters base seat office offices hq")
_JOB_VERBS: dict[str, Effect] = {
    **dict.fromkeys(["start", "begin", "get", "take", "land", "accept", "find", "take_up", "secure"], "begin"),
    **dict.fromkeys(["have", "hold"], "state"),
    **dict.fromkeys(["quit", "leave", "lose", "resign", "give_up"], "end"),
}


def verb_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the claims of a clause; without an entry in the tables, its verb itself is the relation."""
    claims = list(_table_claims(clause))
    yield from claims or open_claims(clause)


def _table_claims(clause: Clause) -> Iterator[Claim]:
    yield from _job_claims(clause)
    yield from _home_claims(clause)
    yield from _age_claims(clause)
    yield from _naming_claims(clause)
    for read_set_phrase in (_degree_claims, _appointment_claims, _membership_claims, _cessation_claims):
        yield from read_set_phrase(clause)
    yield from _switch_claims(clause)
    has_frame = False
    for frame in _frames(clause):
        for claim in _frame_claims(clause, frame):
            has_frame = True
            yield claim
    if clause.verb.passive and not has_frame:
        yield from _agent_claims(clause)


def _frames(clause: Clause) -> Iterator[Frame]:
    verb = clause.verb
    good = bool(clause.adverbs & _LASTING_ADVERBS)
    for frame in frames_by_verb().get((verb.passive, verb.lemma), ()):
        particles = frame.particles
        if particles[-2:] == ("for", "good"):
            if good and (particles[:-2] == clause.particles or "back" in clause.adverbs):
                yield frame
        elif particles == clause.particles:
            yield frame


def _frame_claims(clause: Clause, frame: Frame) -> Iterator[Claim]:
    if "each" in frame.slots:
        if len(clause.subject) == 2 and not any(
            slot.preposition in ("to", "with", "from", "") for slot in clause.slots
        ):
            subject, partner = clause.subject
            if partner.pronoun in closed.FIRST:  # "Nora and I": the speaker is the head
                subject, partner = partner, subject
            yield Claim(subject, frame.relation, partner, frame.effect)
        return
    if "time" in frame.slots:
        own = clause.subject[0].pronoun in ("i", "we", "you")
        if (own and frame.relation != "born_on") or any(slot.preposition in ("", "by") for slot in clause.slots):
            return
        dated = [time for time in clause.times if time.time and time.text[:5].lower() not in ("until", "since")]
        if dated and not (own and dated[0].time and dated[0].time.relative):  # "I was born yesterday"
            for subject in clause.subject:
                yield Claim(subject, frame.relation, dated[0].text, frame.effect)
        return
    if frame.relation == "lives_in" and frame.verb == "move" and clause.slots and not clause.slots[0].preposition:
        if clause.slots[0].nouns[0].head not in _SEATS:
            return  # "moved my desk to the attic"
        frame = replace(frame, relation="located_in")
    past = clause.verb.tense != "present" and not clause.verb.phase
    verb = replace(clause.verb, adverbs=clause.adverbs)
    for noun, slot in _tails(clause, frame):
        if not kinds.fits(noun, frame.tail):
            continue
        for relation, effect in relations_for_tail(frame.relation, frame.effect, noun, verb, past=past):
            for subject in clause.subject:
                for tail in _named_by(noun):
                    times = noun.times or None
                    if relation.startswith("<"):
                        yield Claim(tail, relation[1:], subject, effect, times, slot.end)
                    else:
                        affirmed = clause.verb.negated and relation == "dislikes" and frame.relation == "likes"
                        yield Claim(subject, relation, tail, effect, times, slot.end, affirmed)
                if len(clause.subject) == 1 and relation in ("plays", "visited", "attended"):
                    for companion in _companions(clause):
                        yield Claim(companion, relation, noun, effect, None, slot.end)


def _companions(clause: Clause) -> list[NounPhrase]:
    """Return the people who take part in an action with the subject."""
    companions = [noun for slot in clause.slots if slot.preposition == "with" for noun in slot.nouns]
    return [noun for noun in companions if kinds.fits(noun, "person") and not noun.pronoun]


def _named_by(noun: NounPhrase) -> tuple[NounPhrase, ...]:
    """Return the names in apposition to a phrase, "two cats, Salt and Pepper"; the phrase itself if it has none."""
    names = noun.appositions
    has_names = not noun.name and all(name.name and not name.determiner for name in names)
    return names if names and has_names else (noun,)


def _tails(clause: Clause, frame: Frame) -> Iterator[tuple[NounPhrase, Slot]]:
    """Yield the phrases in the slots of a frame, the first slot first; "a week in Malta" gives Malta."""
    taken = False
    for index, slot in enumerate(clause.slots):
        if (slot.preposition or "obj") not in frame.slots or taken:
            continue
        taken = True
        for noun in slot.nouns:
            if frame.tail == "trip" and kinds.is_trip(noun):
                next_slots = clause.slots[index + 1 : index + 2]
                if next_slots and next_slots[0].preposition in ("in", "to", "at"):
                    yield from ((inner, next_slots[0]) for inner in next_slots[0].nouns if inner.named)
            else:
                yield noun, slot


def _agent_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the agent of a passive, "by X", as the head of the active relation."""
    for frame in frames_by_verb().get((False, clause.verb.lemma), ()):
        if frame.relation == frame.verb and frame.effect == "event":
            continue  # "published by": the participle is the relation
        if "obj" not in frame.slots or frame.particles != clause.particles or frame.verb == "make":
            continue
        for slot in clause.slots:
            if slot.preposition == "by":
                for agent in slot.nouns:
                    if kinds.fits(agent, "name"):
                        for subject in clause.subject:
                            for relation, effect in relations_for_tail(
                                frame.relation, frame.effect, subject, clause.verb, past=True
                            ):
                                yield Claim(agent, relation, subject, effect, None, slot.end)


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
                elif slot.preposition in ("at", "with", "for") and kinds.fits(noun, "org"):
                    yield Claim(subject, "works_at", noun, effect, None, slot.end)


def _home_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the place of "made Lisbon her home" and "called Lisbon home"."""
    if clause.verb.lemma in ("make", "call") and len(clause.slots) > 1 and clause.slots[1].nouns[0].head == "home":
        place = clause.slots[0].nouns[0]
        effect: Effect = "begin" if clause.verb.lemma == "make" else "state"
        if kinds.fits(place, "place") and (clause.slots[1].nouns[0].owner or clause.verb.lemma == "call"):
            for subject in clause.subject:
                yield Claim(subject, "lives_in", place, effect, None, clause.slots[1].end)


def _age_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the age of "turned 40"."""
    if clause.verb.lemma == "turn" and clause.slots and not clause.slots[0].preposition and not clause.verb.passive:
        number = clause.slots[0].nouns[0]
        if kinds.is_age(number):
            for subject in clause.subject:
                for person in _named_by(subject):
                    yield Claim(person, "age", number.text, "begin", None, clause.slots[0].end)


def _naming_claims(clause: Clause) -> Iterator[Claim]:
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
    else:
        yield Claim(subject, "named", slot.nouns[0], "lasting", None, slot.end)


def _switch_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the old and the new instrument of "switched from guitar to bass"."""
    if clause.verb.lemma not in ("switch", "change", "move"):
        return
    for slot in clause.slots:
        for noun in slot.nouns:
            if noun.head in nouns.PLAYED and slot.preposition in ("from", "to"):
                effect: Effect = "begin" if slot.preposition == "to" else "end"
                yield Claim(clause.subject[0], "plays", noun, effect, None, slot.end)


_STUDY_VERBS = word_set("do have start begin study pursue finish complete get earn hold take come go return move work")
_FINISH_VERBS = frozenset(("finish", "complete", "get", "earn"))
_APPOINT_VERBS = frozenset(("appoint", "hire", "elect", "name", "recruit", "promote", "employ"))
_VERBS_WITH_RELATION = word_set("work live play study be date teach drive use speak own attend")
"""Verbs whose end is a line of the verb table."""


def _degree_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the subject of "for my master's in public health" and "doing a degree in law"."""
    for slot, field in zip(clause.slots, clause.slots[1:], strict=False):
        if slot.nouns[0].head not in nouns.DEGREES or field.preposition != "in" or slot.preposition not in ("", "for"):
            continue
        if field.nouns[0].named or clause.verb.lemma not in _STUDY_VERBS:
            continue
        effect: Effect = "ended" if clause.verb.lemma in _FINISH_VERBS and not slot.preposition else "lasting"
        for subject in clause.subject:
            yield Claim(subject, "studies", field.nouns[0], effect, None, field.end)


def _appointment_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the office and the employer of "Orbix appointed Ann as director"."""
    verb = clause.verb
    if verb.lemma not in _APPOINT_VERBS or verb.passive or not clause.slots or not clause.subject:
        return
    employer, hired = clause.subject[0], clause.slots[0]
    person = hired.nouns[0]
    if len(clause.slots) < 2:
        employs = verb.lemma in ("hire", "recruit", "employ") and employer.named and not hired.preposition
        if employs and person.named and kinds.fits(person, "person"):
            yield Claim(person, "works_at", employer, "begin", None, hired.end)
        return
    slot = clause.slots[1]
    if hired.preposition or not kinds.fits(person, "person") or slot.preposition not in ("as", "", "to"):
        return
    if not kinds.is_role(slot.nouns[0]):
        return
    yield Claim(person, "works_as", slot.nouns[0], "begin", None, slot.end)
    if len(clause.subject) == 1 and employer.named and verb.lemma != "elect":
        yield Claim(person, "works_at", employer, "begin", None, slot.end)


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


def _cessation_claims(clause: Clause) -> Iterator[Claim]:
    """Yield the end of a habit under its verb: "quit smoking", "stopped eating meat"."""
    verb = clause.verb
    if verb.phase != "end" or verb.passive or verb.lemma in _VERBS_WITH_RELATION or not clause.subject:
        return
    if clause.slots and not clause.slots[0].preposition:
        noun = clause.slots[0].nouns[0]
        if kinds.fits(noun, "thing"):
            yield Claim(clause.subject[0], f"stop_{verb.surface}", noun, "lasting", None, clause.slots[0].end)
    elif all(slot.preposition for slot in clause.slots):
        yield Claim(clause.subject[0], "stop", verb.surface, "lasting", None, verb.end)
