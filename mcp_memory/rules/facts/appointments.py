"""Appointments and deadlines: "my dentist appointment is on 8 January", "the report is due on Friday".

The date is a fact of the thing that it belongs to, named with its owner ("Ann's dentist appointment"), so that a later
telling for the same thing replaces it (DESIGN 1.2). "Is on", "starts" and "moved to" are also said of people and of
much else: only things that have dates are read, by their head noun, or a thing with an article or an owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from mcp_memory.domain.facts import Assertion, FactKind, Intent
from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.stated import in_words, stated_times
from mcp_memory.language.vocabulary import RELATIVES, word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.claims import make_assertion
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.discourse import Discourse
from mcp_memory.rules.facts.modality import PLAIN
from mcp_memory.rules.facts.noun_phrases import NounPhrase, read_phrase
from mcp_memory.rules.facts.tables import closed, nouns
from mcp_memory.rules.facts.validity import Validity, from_utterance, precision_of
from mcp_memory.rules.facts.words import Word

DateRelation = Literal["scheduled_for", "due_on", "starts_on", "ends_on"]

DATED_THINGS = word_set(
    "appointment meeting interview exam test deadline flight train wedding party concert show game match race"
    " trip visit call demo launch release review lesson class session conference workshop webinar ceremony"
    " funeral surgery operation checkup check-up scan vaccination delivery inspection hearing audit"
    " presentation talk lecture recital rehearsal dinner lunch breakfast brunch barbecue picnic festival"
    " holiday vacation course semester term school season camp election event tournament marathon reunion"
    " graduation retro standup stand-up sprint sync kickoff kick-off playdate move viewing signing closing"
    " premiere opening screening shoot gig dentist doctor physio haircut booking reservation slot drop"
    " anniversary exhibition performance housewarming christening assembly"
    " sailing op filling jab mot pickup pick-up migration cutover deploy deployment rollout upgrade maintenance freeze"
    " defence"
    " defense viva handover baptism shift beta alpha go-live challenge"
)
"""Head nouns of what takes place at a time."""
_ENDING_THINGS = word_set(
    "lease contract subscription trial warranty passport visa licence license insurance membership"
)
_AWAITED = word_set("get see collect sign receive")
"""What "we" do with a thing at a time to come: the thing has that date."""
_TRANSPORT = word_set("flight train bus ferry coach boat ship")
_MOVED = word_set("move postpone postpon push delay reschedule reschedul shift change bring extend")
_RANGE = re.compile(r"from\s.{1,40}?\sto\s(?:the\s)?", re.IGNORECASE)
_MOVED_FROM = re.compile(r"from\s(?:the\s)?(.{1,40}?)\sto\s", re.IGNORECASE)
_PLANNED = word_set("schedule plan set book fix arrange confirm")
_STARTS = word_set("start begin open launch resume commence reopen")
_ENDS = word_set("end finish close expire conclude")
_SWITCHED_OFF = word_set("shut retire remove decommission discontinue sunset deprecate scrap demolish")
_LEAVES = word_set("leave depart land arrive take_off")


def date_of(clause: Clause) -> tuple[DateRelation, NounPhrase, Word] | None:
    """Return the date that a clause gives a thing: the relation, the thing, and the words of the date, or None."""
    dates = [word for word in clause.times if word.time and word.time.since > BEGINNING and word.time.until < FOREVER]
    verb = clause.verb
    if len(clause.subject) != 1 or len(dates) != 1 or verb.negated or verb.phase or verb.used_to:
        return None
    if dates[0].time is None or dates[0].time.grain not in ("time", "day", "week", "month"):
        return None
    found = next(filter(None, (rule(clause, clause.subject[0]) for rule in _DATE_RULES)), None)
    return None if found is None else (*found, dates[0])


_DatedThing = tuple[DateRelation, NounPhrase]


def _date_by_be(clause: Clause, thing: NounPhrase) -> _DatedThing | None:
    """Read "the report is due on Friday" and "my appointment is on 8 January"."""
    if clause.verb.lemma != "be" or clause.verb.passive:
        return None
    if _has_word(clause, "due"):
        return ("due_on", thing) if _is_thing(thing) or thing.head == "baby" else None
    if _prepositions(clause) - {"at", "in", "with", "for"}:
        return None
    if thing.head == "deadline" and (belongs := thing.of or _for(thing)):
        return "due_on", belongs
    new_day = thing.pronoun == "it" and "now" in clause.adverbs  # "it is now on the 28th"
    return ("scheduled_for", thing) if new_day or _has_date(thing) else None


def _date_by_passive(clause: Clause, thing: NounPhrase) -> _DatedThing | None:
    """Read "the old API will be shut down on 1 May" and "the review was moved to Monday"."""
    if not clause.verb.passive or not _is_thing(thing):
        return None
    if clause.verb.lemma in _SWITCHED_OFF:
        return "ends_on", thing
    return ("scheduled_for", thing) if clause.verb.lemma in _PLANNED | _MOVED else None


def _date_by_move(clause: Clause, thing: NounPhrase) -> _DatedThing | None:
    """Read "my appointment moved from the 18th to the 25th" and "they moved the review to Monday"."""
    verb = clause.verb
    if verb.lemma not in _MOVED or verb.passive:
        return None
    by_itself = not _prepositions(clause) - {"from"} and (verb.tense != "present" or verb.lemma == "move")
    if by_itself and _has_date(thing):
        return "scheduled_for", thing
    moved = _object(clause)
    return ("scheduled_for", moved) if moved and _has_date(moved) and verb.tense != "present" else None


def _date_by_have(clause: Clause, thing: NounPhrase) -> _DatedThing | None:
    """Read "I have a call with the bank tomorrow" and "I have a deadline of 1 April for the first sprint"."""
    own = _object(clause)
    if clause.verb.lemma != "have" or thing.pronoun not in ("i", "we") or own is None:
        return None
    purpose = next((slot.nouns[0] for slot in clause.slots[1:] if slot.preposition == "for"), None)
    if own.head == "deadline" and purpose is not None:
        return ("due_on", purpose) if _is_thing(purpose) else None
    if own.head in DATED_THINGS and not own.owner and clause.verb.tense == "present":
        return "scheduled_for", replace(own, owner=thing)
    return None


def _date_by_awaiting(clause: Clause, thing: NounPhrase) -> _DatedThing | None:
    """Read "we get the keys on 13 December"."""
    awaited, verb = _object(clause), clause.verb
    if verb.lemma not in _AWAITED or thing.pronoun not in ("i", "we") or verb.tense != "present" or awaited is None:
        return None
    definite = awaited.head not in _TRANSPORT and (awaited.owner or awaited.determiner == "the")
    return ("scheduled_for", awaited) if len(clause.slots) == 1 and _is_thing(awaited) and definite else None


def _date_by_leaving(clause: Clause, thing: NounPhrase) -> _DatedThing | None:
    """Read "our train leaves on Friday at 9"."""
    leaves = clause.verb.lemma in _LEAVES and thing.head in _TRANSPORT and _is_thing(thing)
    return ("scheduled_for", thing) if leaves else None


def _date_by_own_start(clause: Clause, thing: NounPhrase) -> _DatedThing | None:
    """Read "Olga starts her fencing group on 9 October"."""
    begun, verb = _object(clause), clause.verb
    if verb.lemma not in _STARTS or verb.tense != "present" or not kinds.is_human(thing) or begun is None:
        return None
    if begun.owner and begun.owner.pronoun in ("he", "she"):
        begun = replace(begun, owner=thing)
    return ("starts_on", begun) if begun.owner and (_is_thing(begun) or begun.head == "job") else None


def _date_without_object(clause: Clause, thing: NounPhrase) -> _DatedThing | None:
    """Read "I start on 14 April", "the lease ends in May", and "the viewing takes place on Monday"."""
    verb = clause.verb
    if _prepositions(clause) - {"at", "in", "on", "as"}:
        return None
    if verb.lemma in ("start", "begin") and thing.pronoun in ("i", "he", "she") and verb.tense == "present":
        return "starts_on", thing
    if not _is_thing(thing):
        return None
    if verb.lemma in _STARTS:
        return "starts_on", thing
    if verb.lemma in _ENDS:
        return "ends_on", thing
    return ("scheduled_for", thing) if verb.lemma == "take" and _has_word(clause, "place") else None


_DATE_RULES = (
    _date_by_be,
    _date_by_passive,
    _date_by_move,
    _date_by_have,
    _date_by_awaiting,
    _date_by_leaving,
    _date_by_own_start,
    _date_without_object,
)
"""Each gives what has a date by one kind of clause, or None; the first that gives something holds."""


def _prepositions(clause: Clause) -> set[str]:
    """Return the prepositions of a clause's slots, with "" for an object."""
    return {slot.preposition for slot in clause.slots}


def _object(clause: Clause) -> NounPhrase | None:
    """Return the object of a clause if it follows the verb at once."""
    return clause.slots[0].nouns[0] if clause.slots and not clause.slots[0].preposition else None


def _has_word(clause: Clause, word: str) -> bool:
    """Return whether a word is an adverb or particle of a clause, or begins one of its slots."""
    begins = (slot.nouns[0].text.lower().split()[:1] for slot in clause.slots)
    return word in clause.adverbs or word in clause.particles or [word] in begins


def appointment_assertions(
    turn: Turn, discourse: Discourse, index: int, clause: Clause, intent: Intent
) -> Iterator[Assertion]:
    """Yield the date of a thing that a clause states, if any: planned if it is still to come, otherwise an event.

    Args:
        turn: the turn that holds the clause.
        discourse: what the text has mentioned so far.
        index: the index of the sentence.
        clause: the clause of the sentence.
        intent: the intent of the sentence.
    """
    if clause.verb.lemma in _MOVED and (moved := _object(clause)) and not clause.times:
        # "she has moved the wedding, it is 20 September now"
        discourse.point_at(name_of(discourse, moved) if _has_date(moved) else None)
    elif clause.verb.passive and clause.verb.lemma in _MOVED and _has_date(clause.subject[0]):
        discourse.point_at(name_of(discourse, clause.subject[0]))
    found = date_of(clause)
    if found is None or found[2].time is None:
        return
    relation, thing, date = found
    time, tail, old = found[2].time, date.text.rstrip(".,;"), None
    wanted = turn.text[clause.verb.start : clause.verb.end].lower() in ("finished", "completed", "done", "ready")
    if (
        relation == "ends_on" and wanted and _BY.search(turn.text, clause.verb.end, date.end)
    ):  # "she wants it finished by Friday"
        relation, time = (
            "due_on",
            next(iter(stated_times(turn.text, turn.local_said_at, date.start, date.end, tense=1)), time),
        )
        tail = _in_calendar(turn.text, date, time)
    elif clause.verb.lemma in _MOVED and (moved_to := _RANGE.match(date.text)):  # "moved from 12 March to 2 April"
        times = stated_times(turn.text, turn.local_said_at, date.start + moved_to.end(), date.end, tense=1)
        if len(times) != 1:
            return
        time = times[0]
        tail, old = date.text[moved_to.end() :].rstrip(".,;"), _MOVED_FROM.match(date.text)
    else:
        if clause.verb.lemma in _MOVED:  # to a day that was still to come
            time = next(iter(stated_times(turn.text, turn.local_said_at, date.start, date.end, tense=1)), time)
        tail = _in_calendar(turn.text, date, time)
    span, confidence = (clause.start, clause.end), min(clause.confidence, PLAIN)
    head = name_of(discourse, thing)
    if not head:
        return
    yield _dated(turn, index, span, (head, relation, tail), time, intent, confidence)
    if old is not None:
        validity = replace(from_utterance(turn.local_time), negated=True, change=True)
        yield make_assertion(turn, index, span, (head, relation, old[1]), validity, intent, confidence)


def name_of(discourse: Discourse, thing: NounPhrase) -> str | None:
    """Return the name of a thing with its owner, "Ann's dentist appointment"; None if it is unknown."""
    if thing.pronoun:
        return discourse.entity(thing)
    owner = discourse.entity(thing.owner) if thing.owner else None
    if thing.owner and owner is None:
        return None
    return f"{owner}'s {thing.text}" if owner else discourse.thing(thing)


def _dated(
    turn: Turn, index: int, span: tuple[int, int], triple: tuple[str, str, str], time: StatedTime, intent: Intent,
    confidence: float,
) -> Assertion:  # fmt: skip
    kind: FactKind = "planned" if time.until > turn.local_time else "event"
    validity = Validity(time.since, time.until, True, kind=kind, precision=precision_of(time.grain))
    return make_assertion(turn, index, span, triple, validity, intent, confidence)


def noted_assertions(
    turn: Turn, discourse: Discourse, index: int, words: Sequence[Word], clauses: Sequence[Clause]
) -> Iterator[Assertion]:
    """Yield the dates of things that are only noted, without a verb: "physio tomorrow at noon", "viewing on Friday".

    The thing opens its part of the sentence, the date follows at once and ends it, and is still to come.

    Args:
        turn: the turn that holds the sentence.
        discourse: what the text has mentioned so far.
        index: the index of the sentence.
        words: the words of the sentence.
        clauses: the clauses of the sentence; what they hold is no note.
    """
    for first, word in enumerate(words):
        opens = not first or words[first - 1].mark or words[first - 1].low in ("and", "so", "also")
        if not opens or word.kind != "word" or any(clause.start <= word.start < clause.end for clause in clauses):
            continue
        found = read_phrase(words, first, verb_seen=True)
        if found is None or found[0].head not in DATED_THINGS - {"deadline"} or found[0].plural or found[0].uncertain:
            continue
        place = found[1] + (found[1] < len(words) and words[found[1]].low in ("on", "at"))
        date = words[place].time if place < len(words) else None
        after = words[place + 1] if place + 1 < len(words) else None
        if date is None or date.grain not in ("time", "day") or date.until >= FOREVER:
            continue
        if after is not None and not (after.mark or after.low in ("and", "so", "but", "at", "in", "with")):
            continue
        times = stated_times(turn.text, turn.local_said_at, words[place].start, words[place].end, tense=1) or [date]
        head = name_of(discourse, found[0])
        if head and times[0].since > turn.local_time:
            span, tail = (found[0].start, words[place].end), _in_calendar(turn.text, words[place], times[0])
            yield _dated(turn, index, span, (head, "scheduled_for", tail), times[0], "TEMPORAL", PLAIN)


_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b|\d[./-]\d", re.IGNORECASE)
_CLOCK = re.compile(
    r"[\s,]{1,3}at\s(?P<clock>(?P<hour>\d{1,2})(?:[:.]\d\d)?(?:\s?[ap]\.?m\b)?)(?![\w%])", re.IGNORECASE
)
_BY = re.compile(r"\bby\s(?:the\s)?\w")


def _in_calendar(text: str, date: Word, time: StatedTime) -> str:
    """Return the date of a thing by `in_calendar`, with the clock time behind it."""
    words = in_calendar(date.text.rstrip(".,;"), time)
    clock = _CLOCK.match(text, date.end) if time.grain == "day" and words != date.text.rstrip(".,;") else None
    if clock is None:
        return words
    return f"{words} at {clock['clock']}" + ":00" * clock["clock"].isdecimal()


def in_calendar(said: str, time: StatedTime) -> str:
    """Return a date as said, or in the words of the calendar if it can only be read on the day of the telling.

    "8 January" stays as it is, "next week" is "week of 16 January 2023", "tomorrow at 8" "16 January 2023 at 8:00".
    """
    if not time.relative or _MONTH.search(said):
        return said
    return in_words(time.since, time.until, time.grain).removeprefix("the ").replace(", ", " at ")


def _for(thing: NounPhrase) -> NounPhrase | None:
    return next((noun for preposition, noun in thing.modifiers if preposition in ("for", "on")), None)


def _has_date(thing: NounPhrase) -> bool:
    """Return whether a phrase names something that takes place at a time, "my last day" among them."""
    if thing.head in ("day", "date", "week"):
        words = thing.text.lower().split()
        first = words[0] in ("last", "first", "final") and len(words) == 2 and bool(thing.owner or not thing.determiner)
        return first or (thing.head == "date" and len(words) > 1 and words[0] != "due" and _is_thing(thing))
    return thing.head in DATED_THINGS | _ENDING_THINGS and _is_thing(thing)


def _is_thing(thing: NounPhrase) -> bool:
    """Return whether a phrase names a definite thing rather than a person, a pronoun, or any one of its kind."""
    if thing.pronoun or thing.uncertain or thing.head in RELATIVES or thing.head in closed.EMPTY | nouns.VAGUE:
        return False
    if thing.name and not (thing.common or thing.name.isupper()) and thing.head not in DATED_THINGS:
        return False
    return bool(thing.owner or thing.determiner in ("the", "this", "our") or thing.named or thing.head in DATED_THINGS)
