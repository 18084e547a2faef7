"""What a clause with a full verb tells, by the verb table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.choices import chosen
from mcp_memory.rules.facts.claims import Told, kinship
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.complements import Slot
from mcp_memory.rules.facts.noun_phrases import Noun
from mcp_memory.rules.facts.open_relations import open_relation
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.tables.nouns import PETS
from mcp_memory.rules.facts.verbs import Effect, Frame, by_verb

_LASTING_ADVERBS = frozenset(("for good", "permanently"))
_SEATS = word_set("headquarters base seat office offices hq")
_JOB_VERBS = {
    **dict.fromkeys(["start", "begin", "get", "take", "land", "accept", "find", "take_up", "secure"], "begin"),
    **dict.fromkeys(["have", "hold"], "state"),
    **dict.fromkeys(["quit", "leave", "lose", "resign", "give_up"], "end"),
}


def verbal(clause: Clause) -> Iterator[Told]:
    """Yield what a clause tells whose verb is not a mere "be"; what no table knows is told by the verb itself."""
    told = list(_known(clause))
    yield from told or open_relation(clause)


def _known(clause: Clause) -> Iterator[Told]:
    yield from _job(clause)
    yield from _home(clause)
    yield from _age(clause)
    yield from _named(clause)
    for reading in (degree, appointed, membership, given_up):
        yield from reading(clause)
    yield from _switched(clause)
    matched = False
    for frame in _frames(clause):
        for told in _by_frame(clause, frame):
            matched = True
            yield told
    if clause.verb.passive and not matched:
        yield from _passive(clause)


def _frames(clause: Clause) -> Iterator[Frame]:
    verb = clause.verb
    good = bool(clause.adverbs & _LASTING_ADVERBS)
    for frame in by_verb().get((verb.passive, verb.lemma), ()):
        particles = frame.particles
        if particles[-2:] == ("for", "good"):
            if good and (particles[:-2] == clause.particles or "back" in clause.adverbs):
                yield frame
        elif particles == clause.particles:
            yield frame


def _by_frame(clause: Clause, frame: Frame) -> Iterator[Told]:
    if "each" in frame.slots:
        if len(clause.subject) == 2 and not any(
            slot.preposition in ("to", "with", "from", "") for slot in clause.slots
        ):
            one, other = clause.subject
            if other.pronoun in closed.FIRST:  # "Nora and I" is told of me
                one, other = other, one
            yield Told(one, frame.relation, other, frame.effect)
        return
    if "time" in frame.slots:
        own = clause.subject[0].pronoun in ("i", "we", "you")
        if (own and frame.relation != "born_on") or any(slot.preposition in ("", "by") for slot in clause.slots):
            return
        dated = [time for time in clause.times if time.time and time.text[:5].lower() not in ("until", "since")]
        if dated and not (own and dated[0].time and dated[0].time.relative):  # "I was born yesterday"
            for subject in clause.subject:
                yield Told(subject, frame.relation, dated[0].text, frame.effect)
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
        for relation, effect in chosen(frame.relation, frame.effect, noun, verb, past=past):
            for subject in clause.subject:
                for tail in (noun, *noun.also) if noun.also and _names_them(noun) else (noun,):
                    if tail is noun and noun.also and _names_them(noun):
                        continue
                    times = noun.times or None
                    if relation.startswith("<"):
                        yield Told(tail, relation[1:], subject, effect, times, slot.end)
                    else:
                        yield Told(
                            subject,
                            relation,
                            tail,
                            effect,
                            times,
                            slot.end,
                            clause.verb.negated and relation == "dislikes" and frame.relation == "likes",
                        )
                    if effect == "end" and relation == "owns":
                        continue
                if len(clause.subject) == 1 and relation in ("plays", "visited", "attended"):
                    for companion in _together(clause):
                        yield Told(companion, relation, noun, effect, None, slot.end)


def _together(clause: Clause) -> list[Noun]:
    """Return the people with whom it is done."""
    beside = [noun for slot in clause.slots if slot.preposition == "with" for noun in slot.nouns]
    return [noun for noun in beside if kinds.fits(noun, "person") and not noun.pronoun]


def _names_them(noun: Noun) -> bool:
    """Return whether what stands beside it are its names: "two cats, Salt and Pepper"."""
    return not noun.name and all(beside.name and not beside.determiner for beside in noun.also)


def _tails(clause: Clause, frame: Frame) -> Iterator[tuple[Noun, Slot]]:
    """Yield the phrases in the slots of a line, first slot first; "a week in Malta" gives Malta."""
    taken = False
    for index, slot in enumerate(clause.slots):
        if (slot.preposition or "obj") not in frame.slots or taken:
            continue
        taken = True
        for noun in slot.nouns:
            if frame.tail == "trip" and kinds.is_trip(noun):
                behind = clause.slots[index + 1 : index + 2]
                if behind and behind[0].preposition in ("in", "to", "at"):
                    yield from ((inner, behind[0]) for inner in behind[0].nouns if inner.named)
            else:
                yield noun, slot


def _passive(clause: Clause) -> Iterator[Told]:
    """Yield "by whom" a thing was done as who did it."""
    for frame in by_verb().get((False, clause.verb.lemma), ()):
        if frame.relation == frame.verb and frame.effect == "event":
            continue  # "published by": the participle is the relation
        if "obj" not in frame.slots or frame.particles != clause.particles or frame.verb == "make":
            continue
        for slot in clause.slots:
            if slot.preposition == "by":
                for agent in slot.nouns:
                    if kinds.fits(agent, "name"):
                        for subject in clause.subject:
                            for relation, effect in chosen(
                                frame.relation, frame.effect, subject, clause.verb, past=True
                            ):
                                yield Told(agent, relation, subject, effect, None, slot.end)


def _job(clause: Clause) -> Iterator[Told]:
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
                    yield Told(subject, "works_as", noun, effect, None, slot.end)  # type: ignore[arg-type]
                elif slot.preposition in ("at", "with", "for") and kinds.fits(noun, "org"):
                    yield Told(subject, "works_at", noun, effect, None, slot.end)  # type: ignore[arg-type]


def _home(clause: Clause) -> Iterator[Told]:
    """Yield the place of "made Lisbon her home" and "called Lisbon home"."""
    if clause.verb.lemma in ("make", "call") and len(clause.slots) > 1 and clause.slots[1].nouns[0].head == "home":
        place = clause.slots[0].nouns[0]
        effect: Effect = "begin" if clause.verb.lemma == "make" else "state"
        if kinds.fits(place, "place") and (clause.slots[1].nouns[0].owner or clause.verb.lemma == "call"):
            for subject in clause.subject:
                yield Told(subject, "lives_in", place, effect, None, clause.slots[1].end)


def _age(clause: Clause) -> Iterator[Told]:
    """Yield the age of "turned 40"."""
    if clause.verb.lemma == "turn" and clause.slots and not clause.slots[0].preposition and not clause.verb.passive:
        number = clause.slots[0].nouns[0]
        if kinds.is_age(number):
            for subject in clause.subject:
                for person in subject.also if subject.also and _names_them(subject) else (subject,):
                    yield Told(person, "age", number.text, "begin", None, clause.slots[0].end)


def _named(clause: Clause) -> Iterator[Told]:
    """Yield the name of "my wife is called Nele"."""
    if not clause.verb.passive or clause.verb.lemma not in ("call", "name") or not clause.slots:
        return
    slot = clause.slots[0]
    if slot.preposition or not slot.nouns[0].named or len(clause.subject) != 1:
        return
    subject = clause.subject[0]
    relation = RELATIVES[subject.head][0] if subject.owner and subject.head in RELATIVES and not subject.name else ""
    if relation and relation[0] != "(" and subject.owner:
        yield from kinship(subject.owner, relation, slot.nouns[0], slot.end)
    elif subject.owner and subject.head in PETS and not subject.name:
        yield Told(subject.owner, "has_pet", slot.nouns[0], "state", None, slot.end)
    else:
        yield Told(subject, "named", slot.nouns[0], "lasting", None, slot.end)


def _switched(clause: Clause) -> Iterator[Told]:
    """Yield what one plays now and no longer: "switched from guitar to bass"."""
    if clause.verb.lemma not in ("switch", "change", "move"):
        return
    for slot in clause.slots:
        for noun in slot.nouns:
            if noun.head in nouns.PLAYED and slot.preposition in ("from", "to"):
                yield Told(
                    clause.subject[0], "plays", noun, "begin" if slot.preposition == "to" else "end", None, slot.end
                )


_STUDYING = word_set("do have start begin study pursue finish complete get earn hold take come go return move work")
_FINISHING = frozenset(("finish", "complete", "get", "earn"))
_APPOINTING = frozenset(("appoint", "hire", "elect", "name", "recruit", "promote", "employ"))
_WITH_RELATION = word_set("work live play study be date teach drive use speak own attend")
"""Verbs whose end the verb table tells."""


def degree(clause: Clause) -> Iterator[Told]:
    """Yield the subject of "for my master's in public health" and "doing a degree in law"."""
    for slot, behind in zip(clause.slots, clause.slots[1:], strict=False):
        if slot.nouns[0].head not in nouns.DEGREES or behind.preposition != "in" or slot.preposition not in ("", "for"):
            continue
        if behind.nouns[0].named or clause.verb.lemma not in _STUDYING:
            continue
        effect: Effect = "ended" if clause.verb.lemma in _FINISHING and not slot.preposition else "lasting"
        for subject in clause.subject:
            yield Told(subject, "studies", behind.nouns[0], effect, None, behind.end)


def appointed(clause: Clause) -> Iterator[Told]:
    """Yield the office of "Orbix appointed Ann as director", and whose it is."""
    verb = clause.verb
    if verb.lemma not in _APPOINTING or verb.passive or not clause.slots or not clause.subject:
        return
    employer, hired = clause.subject[0], clause.slots[0]
    person = hired.nouns[0]
    if len(clause.slots) < 2:
        employs = verb.lemma in ("hire", "recruit", "employ") and employer.named and not hired.preposition
        if employs and person.named and kinds.fits(person, "person"):
            yield Told(person, "works_at", employer, "begin", None, hired.end)
        return
    slot = clause.slots[1]
    if hired.preposition or not kinds.fits(person, "person") or slot.preposition not in ("as", "", "to"):
        return
    if not kinds.is_role(slot.nouns[0]):
        return
    yield Told(person, "works_as", slot.nouns[0], "begin", None, slot.end)
    if len(clause.subject) == 1 and employer.named and verb.lemma != "elect":
        yield Told(person, "works_at", employer, "begin", None, slot.end)


def membership(clause: Clause) -> Iterator[Told]:
    """Yield the club of "cancelled my membership at the gym"."""
    if len(clause.slots) < 2 or clause.slots[0].preposition or clause.slots[0].nouns[0].head != "membership":
        return
    slot = clause.slots[1]
    ends = clause.verb.lemma in ("cancel", "quit", "end", "drop", "give")
    tells = ends or clause.verb.lemma in ("get", "have", "buy")
    if tells and slot.preposition in ("at", "of", "in", "with") and kinds.fits(slot.nouns[0], "org") and clause.subject:
        yield Told(clause.subject[0], "member_of", slot.nouns[0], "end" if ends else "state", None, slot.end)


def given_up(clause: Clause) -> Iterator[Told]:
    """Yield what was given up, by the verb that says so: "quit smoking", "stopped eating meat"."""
    verb = clause.verb
    if verb.phase != "end" or verb.passive or verb.lemma in _WITH_RELATION or not clause.subject:
        return
    if clause.slots and not clause.slots[0].preposition:
        noun = clause.slots[0].nouns[0]
        if kinds.fits(noun, "thing"):
            yield Told(clause.subject[0], f"stop_{verb.written}", noun, "lasting", None, clause.slots[0].end)
    elif all(slot.preposition for slot in clause.slots):
        yield Told(clause.subject[0], "stop", verb.written, "lasting", None, verb.end)
