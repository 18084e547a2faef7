"""Appointments and deadlines: "my dentist appointment is on 8 January", "the report is due on Friday".

The date is a fact of the thing that it belongs to, named with its owner ("Ann's dentist appointment"), so that a later
telling for the same thing replaces it (DESIGN 1.2). "Is on", "starts" and "moved to" are also said of people and of
much else: only things that have dates are read, by their head noun, or a thing with an article or an owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from mcp_memory.domain.facts import FactKind, Validity
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts.assertions import PRECISION, Stated
from mcp_memory.rules.facts.clauses import Clause
from mcp_memory.rules.facts.discourse import Discourse
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.words import Word, in_calendar

DateRelation = Literal["scheduled_for", "due_on", "starts_on", "ends_on"]
_MOVED = word_set("move postpone postpon push delay reschedule reschedul shift change bring extend")
_PLANNED = word_set("schedule plan set book fix arrange confirm") | _MOVED
_STARTS = word_set("start begin open launch resume reopen")
_ENDS = word_set("end finish close expire")
_CLOCK = re.compile(r"[\s,]{1,3}at\s(?P<clock>\d{1,2}(?:[:.]\d\d)?(?:\s?[ap]\.?m\b)?)(?![\w%])", re.IGNORECASE)


def appointment_stated(discourse: Discourse, clause: Clause, text: str, said_at: Millis) -> Iterator[Stated]:
    """Yield the date of a thing that a clause states, if any: planned if it is still to come, otherwise an event.

    Args:
        discourse: what the text has mentioned so far.
        clause: the clause of a sentence.
        text: the text that holds it.
        said_at: the moment of the utterance.
    """
    dates = [word for word in clause.times if word.time and word.time.since > BEGINNING and word.time.until < FOREVER]
    if len(clause.subject) != 1 or len(dates) != 1 or clause.verb.negated:
        return
    date, time = dates[0], dates[0].time
    found = _dated_thing(clause, clause.subject[0])
    if found is None or time is None or time.grain not in ("time", "day", "week", "month"):
        return
    if head := name_of(discourse, found[1]):
        kind: FactKind = "planned" if time.until > said_at else "event"
        validity = Validity(time.since, time.until, True, kind=kind, precision=PRECISION[time.grain])
        yield (clause.start, clause.end), (head, found[0], _with_clock(text, date)), validity


def _dated_thing(clause: Clause, thing: NounPhrase) -> tuple[DateRelation, NounPhrase] | None:
    """Return the thing that has the date of a clause, and how; None where none has."""
    verb, slots = clause.verb, {slot.preposition for slot in clause.slots}
    own = clause.slots[0].nouns[0] if clause.slots and not clause.slots[0].preposition else None
    lemma, present = verb.lemma, verb.tense == "present"
    if verb.passive:  # "the review was moved to Monday"
        return ("scheduled_for", thing) if lemma in _PLANNED and _is_thing(thing) else None
    if lemma == "be" and not clause.particles:  # which "the meeting is off" has
        if any(slot.nouns[0].text.lower().startswith("due") for slot in clause.slots):  # "the report is due on Friday"
            return ("due_on", thing) if _is_thing(thing) or thing.head == "baby" else None
        return ("scheduled_for", thing) if not slots - {"at", "in", "with", "for"} and _has_date(thing) else None
    if lemma in _MOVED and not (own and present):  # "it moved to the 25th", "they moved the review to Monday"
        return ("scheduled_for", own or thing) if _has_date(own or thing) else None
    if own and lemma == "have" and present and thing.pronoun in ("i", "we") and own.head in nouns.DATED:
        return "scheduled_for", replace(own, owner=thing)  # "I have a call with the bank tomorrow"
    if lemma in ("start", "begin") and thing.pronoun in ("i", "he", "she") and present:
        return "starts_on", thing  # "I start on 14 April"
    if lemma in _STARTS | _ENDS and _is_thing(thing):
        return ("starts_on" if lemma in _STARTS else "ends_on"), thing
    return None


def _has_date(thing: NounPhrase) -> bool:
    """Return whether a phrase names something that takes place at a time, "my last day" among them."""
    if thing.head in ("day", "week", "date"):
        return thing.owner is not None and thing.text.lower().startswith(("last", "first", "final"))
    return _is_thing(thing) and thing.head in nouns.DATED | nouns.ENDING


def _is_thing(thing: NounPhrase) -> bool:
    """Return whether a phrase names a definite thing rather than a person, a pronoun, or any one of its kind."""
    if thing.pronoun or thing.uncertain or thing.head in RELATIVES or thing.head in closed.EMPTY | nouns.VAGUE:
        return False
    if thing.head in nouns.DATED:
        return True
    if thing.name and not (thing.common or thing.name.isupper()):
        return False
    return bool(thing.owner or thing.determiner in ("the", "this", "our") or thing.named)


def name_of(discourse: Discourse, thing: NounPhrase) -> str | None:
    """Return the name of a thing with its owner, "Ann's dentist appointment"; None if it is unknown."""
    if thing.pronoun:
        return discourse.entity(thing)
    if thing.owner is None:
        return discourse.thing(thing)
    owner = discourse.entity(thing.owner)
    return f"{owner}'s {thing.text}" if owner else None


def _with_clock(text: str, date: Word) -> str:
    """Return a date (`in_calendar`) with the clock behind it: "tomorrow at 8" is "16 January 2023 at 8:00"."""
    said, clock = in_calendar(date), _CLOCK.match(text, date.end)
    return f"{said} at {clock['clock']}" + ":00" * clock["clock"].isdecimal() if clock else said
