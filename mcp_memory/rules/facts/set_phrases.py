"""Turns of phrase whose meaning is spread over several words: degrees, appointments, memberships, what is given up."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.frames import Effect
from mcp_memory.rules.facts.tables import kinds as table
from mcp_memory.rules.facts.tables import word_set
from mcp_memory.rules.facts.told import Told

_STUDYING = word_set("do have start begin study pursue finish complete get earn hold take come go return move work")
_FINISHING = frozenset(("finish", "complete", "get", "earn"))
_APPOINTING = frozenset(("appoint", "hire", "elect", "name", "recruit", "promote", "employ"))
_WITH_RELATION = word_set("work live play study be date teach drive use speak own attend")
"""Verbs whose end the verb table tells."""


def degree(clause: Clause) -> Iterator[Told]:
    """Yield the subject of "for my master's in public health" and "doing a degree in law"."""
    for slot, behind in zip(clause.slots, clause.slots[1:], strict=False):
        if slot.nouns[0].head not in table.DEGREES or behind.preposition != "in" or slot.preposition not in ("", "for"):
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
