"""What happens to things, read from the clause of a message: what recurs, what came, and what is cancelled.

"My cello lesson is on Wednesdays" gives the lesson its day, "the new passport came on Friday" is an event of the
passport, and "the trip to Porto is cancelled" denies the visit, which ends a plan for it (`domain/versions.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_memory.domain.facts import Assertion, FactKind, Intent
from mcp_memory.domain.relations import DID
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts import kinds
from mcp_memory.rules.facts.appointments import DATED_THINGS, name_of
from mcp_memory.rules.facts.claims import make_assertion
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.discourse import Discourse
from mcp_memory.rules.facts.noun_phrases import NounPhrase
from mcp_memory.rules.facts.rows import FEW_COUNTED
from mcp_memory.rules.facts.tables import closed
from mcp_memory.rules.facts.validity import Validity, from_utterance, precision_of, validity_intervals
from mcp_memory.rules.facts.verbs import inflect
from mcp_memory.rules.facts.work_values import is_about_work

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_WHEN = re.compile(
    rf"\s(?:on\s(?=\w+days\b)|(?=every\s))?(?P<when>{_DAY}s(?:(?:,|\sand|\s&)\s{_DAY}s){{0,2}}"
    rf"|every\s(?:(?:other|second|single)\s)?{_DAY}(?:\sand\s{_DAY})?)"
    r"(?P<clock>\sat\s(?:half\spast\s\w+|quarter\s(?:past|to)\s\w+|\d{1,2}(?:[:.]\d\d)?(?:\s?[ap]m)?"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon)))?\b"
    r"(?=\s*(?:$|[.,;!?)]|\s(?:and|but|so|at|in|with|because|now|from|until|till)\b))",
    re.IGNORECASE,
)
"""Days of the week on which something recurs, with the time of the day."""
_ARRIVING = word_set(
    "passport parcel package card visa permit licence license delivery keys order certificate contract"
    " invoice laptop phone sofa bed machine book fridge oven bike glasses parts piano desk"
)
"""Head nouns of what people wait for."""
_TRIPS = word_set("trip holiday vacation visit journey weekend break getaway cruise honeymoon")


def happenings(
    turn: Turn, discourse: Discourse, index: int, clause: Clause, intent: Intent, around: Sequence[StatedTime]
) -> Iterator[Assertion]:
    """Yield what a clause tells of a thing that recurs, arrived or is cancelled.

    Args:
        turn: the turn that holds the clause.
        discourse: what the text has mentioned so far.
        index: the index of the sentence.
        clause: asserted, of a message.
        intent: the intent of the sentence.
        around: the times that date an event without a time of its own.
    """
    if len(clause.subject) != 1 or clause.verb.phase or clause.verb.used_to or clause.parsed:
        return
    thing = clause.subject[0]
    span, confidence = (clause.start, clause.end), min(clause.confidence, FEW_COUNTED)
    if found := _recurring(turn.text, clause):
        thing, when = found
        if head := name_of(discourse, thing):
            holds = from_utterance(turn.local_time)
            yield make_assertion(turn, index, span, (head, "scheduled_for", when), holds, intent, confidence)
        return
    if (hours := _hours(turn.text, clause)) and (who := discourse.entity(clause.subject[0])):
        holds = replace(from_utterance(turn.local_time), negated=clause.verb.negated)
        yield make_assertion(turn, index, span, (who, "works_hours", hours), holds, intent, confidence)
    elif (away := _absence(clause)) and (who := discourse.entity(clause.subject[0])):
        for time in (word.time for word in clause.times if word.time is not None):
            kind: FactKind = "planned" if time.since > turn.local_time else "state"
            since = max(time.since, turn.local_time) if time.since <= BEGINNING else time.since  # "until the 11th"
            begins = _FROM.search(turn.text, max(0, time.start - 6), time.start) is not None  # "from 20 April, back …"
            holds = Validity(
                since, FOREVER if begins else time.until, True, kind=kind, precision=precision_of(time.grain)
            )
            yield make_assertion(turn, index, span, (who, "is_a", away), holds, intent, confidence)
    elif (place := _venue(clause)) and (head := name_of(discourse, thing)):
        holds = from_utterance(turn.local_time)
        yield make_assertion(turn, index, span, (head, "located_in", place), holds, intent, confidence)
    elif _is_in_hospital(clause) and (who := discourse.entity(thing)):
        times = [word.time for word in clause.times if word.time is not None]
        for holds in validity_intervals("state", clause.verb, clause.adverbs, times, turn.local_time):
            yield make_assertion(turn, index, span, (who, "is_a", "in hospital"), holds, intent, confidence)
    elif _is_cancelled(clause) and (trip := _trip(discourse, clause.subject[0])):
        called_off = replace(from_utterance(turn.local_time), negated=True, change=True)
        yield make_assertion(turn, index, span, (trip[0], "visited", trip[1]), called_off, intent, confidence)
    elif clause.verb.lemma == "be" and _is_cancelled(clause) and _is_dated(thing):
        if head := name_of(discourse, thing):
            yield make_assertion(
                turn, index, span, (head, "is_a", "off"), from_utterance(turn.local_time), intent, confidence
            )
    elif deed := _deed(turn.text, clause) or _suffered(clause):
        head = name_of(discourse, clause.slots[0].nouns[0] if _suffered(clause) else clause.subject[0])
        stated = [word.time for word in clause.times if word.time is not None] or list(around)
        verb = replace(clause.verb, tense="past", unreal=False)
        for holds in (
            validity_intervals("event", verb, clause.adverbs, stated, turn.local_time, event=True) if head else ()
        ):
            yield make_assertion(turn, index, span, (head or "", DID, deed), holds, intent, confidence)


def _recurring(text: str, clause: Clause) -> tuple[NounPhrase, str] | None:
    """Return a thing that takes place on days of the week, and the days: "I have choir on Mondays"."""
    verb, thing = clause.verb, clause.subject[0]
    if verb.tense != "present" or verb.negated or verb.unreal or verb.passive:
        return None
    if verb.lemma == "be":
        start = verb.end
    elif verb.lemma in ("have", "take", "do") and thing.pronoun and clause.slots and not clause.slots[0].preposition:
        thing, start = replace(clause.slots[0].nouns[0], owner=thing), clause.slots[0].end
        if thing.determiner in ("no", "any", "every") or len(clause.slots[0].nouns) > 1:
            return None
    else:
        return None
    match = _WHEN.match(text, start)
    known = thing.head in DATED_THINGS | _GROUPS and not thing.pronoun and not thing.uncertain
    return (thing, match["when"] + (match["clock"] or "")) if match and known else None


_GROUPS = word_set(
    "choir practice training yoga pilates band swimming football rehearsals lessons classes group club therapy tutoring"
    " physio evening day drinks market"
)
"""What people have on a day of the week, beside what takes place at a date."""


def _is_cancelled(clause: Clause) -> bool:
    """Return whether a clause says that its subject does not take place."""
    verb = clause.verb
    if verb.unreal or clause.slots:
        return False
    off = "off" in clause.particles or "off" in clause.adverbs
    if verb.passive and verb.lemma in ("cancel", "call", "scrap"):
        return not verb.negated and (verb.lemma != "call" or off)
    return (verb.lemma == "be" and off and not verb.negated) or (verb.lemma == "happen" and verb.negated)


_OCLOCK = (
    r"(?:\d{1,2}(?:[:.]\d\d)?(?:\s?[ap]m)?|(?:half\s(?:past\s)?)?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|noon)(?:\sthirty|\sin\sthe\smorning)?)"
)
_HOURS = re.compile(
    rf"\s(?:(?:from|on)\s)?(?P<hours>{_DAY}s?(?:\s(?:to|till|until|through)\s|\s?[–-]\s?){_DAY}s?"
    rf"(?:,?\s(?:from\s)?{_OCLOCK}(?:\s(?:to|till|until)\s|\s?[–-]\s?){_OCLOCK})?"
    rf"|(?<=from\s){_OCLOCK}\s(?:to|till|until)\s{_OCLOCK}|(?:one|two|three|four|five|six)\sdays\sa\sweek)(?=\s*(?:$|[.,;!?)]|\sand\b))",
    re.IGNORECASE,
)


_DAYS_OFF = re.compile(
    rf"\s(?:on\s)?(?P<hours>{_DAY}s(?:(?:,|\sand|\sor)\s{_DAY}s)?)(?=\s*(?:$|[.,;!?)]|\sand\b))", re.I
)


def _hours(text: str, clause: Clause) -> str:
    """Return the days or hours on which somebody works, "Monday to Friday, nine to five"; "" if none are told."""
    verb, match = clause.verb, _HOURS.match(text, clause.verb.end)
    if verb.lemma == "work" and verb.negated and verb.tense == "present":
        off = _DAYS_OFF.match(text, verb.end)
        return off["hours"] if off else ""
    plain = verb.lemma == "work" and verb.tense == "present" and not (verb.negated or verb.unreal or verb.progressive)
    return match["hours"] if match and plain else ""


def _is_dated(thing: NounPhrase) -> bool:
    return thing.head in DATED_THINGS and (thing.owner is not None or thing.determiner in ("the", "our"))


_FROM = re.compile(r"\bfrom\s$", re.IGNORECASE)


def _absence(clause: Clause) -> str:
    """Return "on leave" or "off" of "I'm on leave from 9 to 20 June" and "Tom is off until Friday"; "" if neither."""
    verb, who, slots = clause.verb, clause.subject[0], clause.slots
    lasting = verb.future or any(word.time and word.time.until - word.time.since > DAY for word in clause.times)
    person = who.pronoun in ("i", "he", "she") or (who.named and not who.common and kinds.is_human(who))
    if not lasting or not person or verb.lemma != "be" or verb.tense != "present" or verb.negated:
        return ""
    if len(slots) == 1 and slots[0].preposition == "on" and slots[0].nouns[0].head in _LEAVE:
        noun = slots[0].nouns[0]
        return "" if noun.determiner or noun.owner else f"on {noun.text}"
    away = {"off", "away"} & {*clause.particles, *clause.adverbs}
    return away.pop() if len(away) == 1 and not slots else ""


def _venue(clause: Clause) -> str:
    """Return where a thing with a date takes place, "the wedding is at Thorpe Barn"; "" if it is not told."""
    verb, thing, slots = clause.verb, clause.subject[0], clause.slots
    told = verb.lemma == "be" and not verb.negated and (verb.tense == "present") and (not verb.unreal or verb.future)
    if not told or len(slots) not in (1, 2) or slots[0].preposition not in ("at", "in") or not _is_dated(thing):
        return ""
    noun = slots[0].nouns[0]
    named = noun.name and len(slots[0].nouns) == 1 and not kinds.is_calendar(noun) and not noun.owner
    return noun.text if named and kinds.fits(noun, "place") else ""


def _is_in_hospital(clause: Clause) -> bool:
    verb, slots = clause.verb, clause.slots
    told = verb.lemma == "be" and verb.tense != "past" and not (verb.negated or verb.unreal)
    first = slots[0] if told and slots else None
    if first is None or first.preposition != "in" or not kinds.is_human(clause.subject[0]):
        return False
    return first.nouns[0].head == "hospital" and not (first.nouns[0].determiner or first.nouns[0].owner)


_LEAVE = word_set("leave holiday vacation sabbatical shift")


def _trip(discourse: Discourse, noun: NounPhrase) -> tuple[str, str] | None:
    """Return who planned a trip, and where to: "our trip to Porto", "the Lisbon trip"."""
    if noun.head not in _TRIPS or noun.uncertain:
        return None
    place = next((inner.text for before, inner in noun.modifiers if before in ("to", "in") and inner.named), "")
    words = noun.text.split()
    if not place and len(words) > 1 and all(word[0].isupper() for word in words[:-1]):
        place = " ".join(words[:-1])
    who = discourse.entity(noun.owner) if noun.owner else discourse.speaker
    return (who, place) if who and place else None


_BROKE = re.compile(r"\b(?:broke(?:\sdown)?|died|packed\sup)\b", re.IGNORECASE)
_LIVE = re.compile(r"\s*went\slive\b", re.IGNORECASE)


_DONE = word_set(
    "fix finish complete release merge deploy ship sign repair approve sell pay book order install accept reject"
    " publish deliver close resolve upgrade migrate remove replace confirm cancel cut refuse grant steal lose"
    " break damage flood burn build paint clear empty service renew submit file send print translate"
)
_COMPLETED = word_set(
    "fix finish complete release merge deploy ship sign repair approve accept reject publish resolve do"
    " sprain fracture dislocate"
)


_LASTING = word_set("sign approve accept release publish ship")
"""What is always done to things of a kind: "photo links are signed", "requests are approved"."""


def _undergone(text: str, clause: Clause) -> str:
    """Return what was done to a thing, "was repaired" of "the boiler was repaired on Monday"; "" if nothing."""
    verb, thing = clause.verb, clause.subject[0]
    if not verb.passive or verb.negated or verb.unreal or kinds.is_being(thing) or thing.head in closed.EMPTY:
        return ""
    if not _AUXILIARY.search(text, verb.start, verb.end):
        return ""  # "had my tonsils removed"
    if clause.slots or _NOT_WHOLE.search(text, verb.start, clause.end + len(" except")):
        return ""
    dated = verb.tense == "past" and bool(clause.times)
    over = dated or verb.tense == "perfect"
    now = verb.tense == "present" and verb.lemma in _COMPLETED
    over = over and (dated or thing.owner is not None or is_about_work(text))
    if not ((over and verb.lemma in _DONE) or (now and not (thing.plural and verb.lemma in _LASTING))):
        return ""
    return f"{'were' if thing.plural else 'was'} {text[: verb.end].split()[-1].lower()}"


def _suffered(clause: Clause) -> str:
    """Return what unnamed people did to a thing of somebody's: "someone stole my bike"; "" if nothing."""
    verb, who = clause.verb, clause.subject[0]
    done = verb.tense in ("past", "perfect") and not (verb.negated or verb.unreal or verb.passive or verb.progressive)
    if not done or verb.lemma not in _DONE or who.text.lower() not in ("someone", "somebody", "they"):
        return ""
    alone = len(clause.slots) == 1 and not clause.slots[0].preposition and len(clause.slots[0].nouns) == 1
    thing = clause.slots[0].nouns[0] if alone else who
    if thing.owner is None or kinds.is_being(thing):
        return ""
    return f"{'were' if thing.plural else 'was'} {inflect(verb.lemma, 'participle')}"


_AUXILIARY = re.compile(r"\b(?:is|are|was|were|been|got)\b|['’]s\b", re.IGNORECASE)
_NOT_WHOLE = re.compile(r"\b(?:being|half|nearly|almost|except|but)\b", re.IGNORECASE)


def _deed(text: str, clause: Clause) -> str:
    """Return what happened to a thing: it arrived, or does not take place; "" if neither."""
    verb, thing = clause.verb, clause.subject[0]
    definite = thing.owner is not None or thing.determiner in ("the", "our") or not thing.determiner
    if thing.pronoun or thing.uncertain or not definite:
        return ""
    if verb.passive and _is_cancelled(clause) and thing.head in DATED_THINGS and not thing.plural:
        return "was cancelled"
    if verb.lemma == "go" and verb.tense == "past" and not verb.negated and _LIVE.match(text, verb.start):
        return "went live"
    done = verb.tense in ("past", "perfect") and not (verb.negated or verb.unreal or verb.passive or verb.progressive)
    known = thing.owner is not None or (thing.named and thing.determiner == "the")  # "our old freezer", "the Rover"
    broke = _BROKE.search(text, verb.start, verb.end + len(" down"))
    if done and known and broke and clause.times and not clause.slots and not kinds.is_being(thing):
        return broke[0].lower()
    if deed := _undergone(text, clause):
        return deed
    if done and verb.lemma in ("arrive", "come") and not clause.slots and thing.head in _ARRIVING:
        return "arrived"
    return ""
