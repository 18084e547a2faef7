"""Decide when a fact holds, by the effect of its words, the tense of its verb and the stated times (REAL §3.1).

"Moved in 2016" begins, "lived from 2016 to 2018" has both ends, "used to live" is over, "bought last month" happened
within that month. A fact without a stated time holds from the moment of the utterance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.domain.times import BEGINNING, FOREVER, Grain, Millis, StatedTime
from mcp_memory.language.expressions import NUMBER, number
from mcp_memory.language.gregorian import DAY, civil, month, years
from mcp_memory.rules.facts.verb_groups import VerbGroup
from mcp_memory.rules.facts.verbs import Effect

_CHANGE_ADVERBS = frozenset(
    ("now", "anymore", "any more", "no longer", "recently", "newly", "lately", "instead", "just")
)
_PAST_ADVERBS = frozenset(("formerly", "previously", "back then", "at the time", "as a kid", "as a child"))


@dataclass(frozen=True, slots=True)
class Validity:
    """When a fact holds.

    Attributes:
        since: first instant.
        until: first instant after it.
        stated: whether the text states one of the two.
        negated: whether the fact does not hold from ``since`` on.
        change: whether the text says that something changed.
    """

    since: Millis
    until: Millis
    stated: bool
    negated: bool = False
    change: bool = False


def validity_intervals(
    effect: Effect, verb: VerbGroup, adverbs: frozenset[str], times: Sequence[StatedTime], said_at: Millis
) -> list[Validity]:
    """Return when a fact holds; nothing for a negated event and for the future.

    Args:
        effect: what the time of the clause means for the fact.
        verb: the verb of its clause.
        adverbs: the adverbs of its clause.
        times: the times that belong to it.
        said_at: the moment of the utterance.

    Returns:
        One interval, or several for an event that happened several times ("in 2008 and 2011").
    """
    if (effect == "present" and verb.tense != "present") or (effect == "been" and verb.tense != "perfect"):
        return []
    effect = "lasting" if effect == "present" else effect
    changing = bool(adverbs & _CHANGE_ADVERBS)
    effect = _effect_in_phase(effect, verb)
    begins, ends, inside = _split_times(times)
    dated = bool(begins or ends or inside)
    ahead = [time for time in inside if time.since > said_at]
    if (verb.unreal and verb.future) or (
        verb.progressive and verb.tense == "present" and effect in ("begin", "end", "event")
    ):
        if effect == "event" or not ahead or verb.negated:
            return []
        return [Validity(ahead[0].since, FOREVER, True, effect == "end", True)]
    if verb.negated:
        return _negated_intervals(effect, verb, adverbs, begins, inside, said_at)
    if effect == "end":
        since = inside[0].since if inside else ends[0].until if ends else begins[0].since if begins else said_at
        return [Validity(since, FOREVER, dated, True, True)]
    if effect == "begin":
        if len(inside) == 1 and _is_range(inside[0]):
            return [Validity(inside[0].since, inside[0].until, True, change=True)]
        since = begins[0].since if begins else inside[0].since if inside else said_at
        until = ends[0].until if ends and ends[0].until > since else FOREVER
        return [Validity(since, until, dated, change=True)]
    if effect == "event":
        if inside:
            return [Validity(time.since, time.until, True) for time in inside[:4]]
        if begins or ends:
            return _state_intervals(verb, adverbs, begins, ends, inside, said_at, changing)
        return [Validity(said_at, FOREVER, False)]
    if effect == "lasting":
        since = inside[0].since if inside else begins[0].since if begins else said_at
        return [Validity(since, FOREVER, bool(inside or begins), change=changing)]
    if effect == "ended":
        until = inside[0].until if inside else said_at
        return [Validity(BEGINNING, until, bool(inside))]
    return _state_intervals(verb, adverbs, begins, ends, inside, said_at, changing)


def _effect_in_phase(effect: Effect, verb: VerbGroup) -> Effect:
    """Return the effect behind "started to" or "stopped", and that of effects which depend on the tense."""
    if verb.phase and effect in ("state", "event", "present"):
        return verb.phase
    if effect == "been":
        return "event"
    if effect == "past":
        return "event"
    if effect == "event" and verb.tense == "present" and not verb.progressive:
        return "state"
    return effect


def _split_times(times: Sequence[StatedTime]) -> tuple[list[StatedTime], list[StatedTime], list[StatedTime]]:
    """Return the times with an open end, those with an open start, and the closed ones."""
    begins = [time for time in times if time.until >= FOREVER and time.since > BEGINNING]
    ends = [time for time in times if time.since <= BEGINNING]
    return begins, ends, [time for time in times if time.until < FOREVER and time.since > BEGINNING]


def _is_range(time: StatedTime) -> bool:
    """Return whether a time states both its ends, "from 2004 to 2009"."""
    return time.end - time.start > 8 and not time.relative and time.grain in ("year", "month", "day") and (
        time.until - time.since > {"year": 367, "month": 32, "day": 2}[time.grain] * 86_400_000
    )  # fmt: skip


def _negated_intervals(
    effect: Effect,
    verb: VerbGroup,
    adverbs: frozenset[str],
    begins: list[StatedTime],
    inside: list[StatedTime],
    said_at: Millis,
) -> list[Validity]:
    if verb.never and verb.tense == "perfect" and effect in ("event", "state"):
        return [Validity(said_at, FOREVER, False, True)]
    over = bool(adverbs & {"anymore", "any more", "no longer"})
    if (
        effect not in ("state", "present")
        or verb.used_to
        or verb.tense == "past"
        or (verb.tense == "perfect" and not over)
    ):
        return []
    if begins or inside:
        since = (begins or inside)[0].since
        return [Validity(since, FOREVER, True, True, over or bool(begins))]
    return [Validity(said_at, FOREVER, False, True, over)]


def _state_intervals(
    verb: VerbGroup, adverbs: frozenset[str], begins: list[StatedTime], ends: list[StatedTime],
    inside: list[StatedTime], said_at: Millis, changing: bool,
) -> list[Validity]:  # fmt: skip
    past = (verb.tense == "past" and not verb.phase) or verb.used_to or bool(adverbs & _PAST_ADVERBS)
    since = begins[0].since if begins else BEGINNING
    until = ends[0].until if ends else FOREVER
    if inside and not begins:
        span = inside[0]
        if ends or not (past or _is_range(span)):
            since = max(since, span.since)
        else:
            since, until = span.since, span.until
    elif begins and ends and until <= since:
        until = FOREVER
    if begins or ends or inside:
        return [Validity(since, until, True, change=changing)] if since < until else []
    if past:
        return [Validity(BEGINNING, said_at, False, change=verb.used_to)]
    return [Validity(said_at, FOREVER, False, change=changing)]


def from_utterance(said_at: Millis) -> Validity:
    """Return the interval of a claim of a phrase, "my sister Anna"."""
    return Validity(said_at, FOREVER, False)


_DURATION = re.compile(
    rf"\bfor\s(?:about\s|almost\s|nearly\s|over\s|more\sthan\s|the\s(?:last|past)\s)?(?P<number>{NUMBER})"
    r"\s(?P<unit>year|month|week)s?\b(?:\snow\b)?",
    re.ASCII | re.IGNORECASE,
)


def duration_intervals(text: str, start: int, end: int, said_at: Millis) -> list[StatedTime]:
    """Return the intervals that the durations in a sentence mean with a perfect tense.

    "For ten years" with a perfect tense means an interval that began ten years ago and still goes on.

    Args:
        text: the text of the turn.
        start: first character of the sentence.
        end: first character after it.
        said_at: the moment of the utterance.
    """
    intervals = []
    for match in _DURATION.finditer(text, start, end):
        count = number(match["number"])
        year, number_, _ = civil(said_at)
        grain: Grain
        match match["unit"].lower():
            case "year":
                if year - count < 1:
                    continue
                since, grain = years(year - count).since, "year"
            case "month":
                months = year * 12 + number_ - 1 - count
                if months < 12:
                    continue
                since, grain = month(months // 12, months % 12 + 1).since, "month"
            case _:
                since, grain = said_at - 7 * DAY * count, "week"
        intervals.append(StatedTime(match.start(), match.end(), since, FOREVER, grain, True))
    return intervals
