"""Decide when a fact holds, by the effect of its words, the tense of its verb and the stated times (REAL §3.1).

"Moved in 2016" begins, "lived from 2016 to 2018" has both ends, "used to live" is over, "bought last month" happened
within that month, "fly on 20 December" is planned. A state without a stated time holds from the moment of the utterance
on; an event without one happened on the day of the utterance or before (DESIGN 1.2). Past tense alone ends nothing: "I
lived in Oslo" held at some time before, and so did "I have lived in Oslo".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.facts import FactKind, Precision
from mcp_memory.domain.times import BEGINNING, FOREVER, Grain, Millis, StatedTime, day_of_instant
from mcp_memory.language.iso import MONTHS
from mcp_memory.rules.facts.rows import Effect
from mcp_memory.rules.facts.verb_groups import VerbGroup

_CHANGE_ADVERBS = frozenset(
    ("now", "anymore", "any more", "no longer", "recently", "newly", "lately", "instead", "just")
)
_OVER_ADVERBS = frozenset(("formerly", "previously"))
_PAST_ADVERBS = frozenset(("back then", "at the time", "as a kid", "as a child")) | _OVER_ADVERBS
_ON_ADVERBS = frozenset(("always", "still", "ever since", "for years", "for ages", "all my life"))
_PRECISION: dict[Grain, Precision] = {
    **dict.fromkeys(("time", "day", "week"), "day"),
    **dict.fromkeys(("month", "season"), "month"),
    **dict.fromkeys(("year", "decade", "century"), "year"),
}


@dataclass(frozen=True, slots=True)
class Validity:
    """When a fact holds.

    Attributes:
        since: first instant.
        until: first instant after it.
        stated: whether the text states one of the two.
        negated: whether the fact does not hold from ``since`` on.
        change: whether the text says that something changed.
        kind: state, event or plan.
        precision: how exactly the times are known.
    """

    since: Millis
    until: Millis
    stated: bool
    negated: bool = False
    change: bool = False
    kind: FactKind = "state"
    precision: Precision | None = None


def validity_intervals(
    effect: Effect, verb: VerbGroup, adverbs: frozenset[str], times: Sequence[StatedTime], said_at: Millis,
    *, event: bool = False,
) -> list[Validity]:  # fmt: skip
    """Return when a fact holds; nothing for a negated event, and for a future without a time.

    Args:
        effect: what the time of the clause means for the fact.
        verb: the verb of its clause.
        adverbs: the adverbs of its clause.
        times: the times that belong to it.
        said_at: the moment of the utterance.
        event: whether the relation is one of events, whatever the effect.

    Returns:
        One interval, or several for an event that happened several times ("in 2008 and 2011").
    """
    intervals = _intervals(effect, verb, adverbs, times, said_at)
    if event:
        intervals = [one if one.negated else _as_event(one, said_at) for one in intervals]
    return [replace(one, precision=one.precision or _precision(one, times)) for one in intervals]


def _precision(validity: Validity, times: Iterable[StatedTime]) -> Precision | None:
    """Return how exactly the time is known that gives an interval its start, otherwise its end."""
    grains = [time.grain for time in times if validity.since in (time.since, time.until)]
    grains += [time.grain for time in times if validity.until == time.until]
    return _PRECISION[grains[0]] if validity.stated and grains else None


def precision_of(grain: Grain) -> Precision:
    """Return the precision of a fact whose time was stated with a grain."""
    return _PRECISION[grain]


def _as_event(validity: Validity, said_at: Millis) -> Validity:
    """Return the interval of an event for what was read as a state: "is the author of", "has written"."""
    return before_telling(said_at) if validity.kind == "state" else validity


def _intervals(
    effect: Effect, verb: VerbGroup, adverbs: frozenset[str], times: Sequence[StatedTime], said_at: Millis
) -> list[Validity]:
    changing = bool(adverbs & _CHANGE_ADVERBS)
    happens = effect == "event"
    effect = verb.phase if verb.phase and effect in ("state", "event") else effect
    begins, ends, inside = _split_times(times)
    dated = bool(begins or ends or inside)
    ahead = [time for time in (*inside, *begins) if time.until > said_at]
    coming = verb.tense == "present" and not verb.negated and not verb.phase
    if (verb.unreal and verb.future) or (verb.progressive and coming and effect in ("begin", "end", "event")):
        planned: Effect = "event" if happens and not verb.phase else effect
        return _planned_intervals(planned, ahead) if not verb.negated else []
    if coming and ahead and (happens or effect in ("begin", "end") or ahead[0].since > said_at):
        return _planned_intervals("event" if happens else effect, ahead)
    if verb.negated:
        return _negated_intervals(effect, verb, adverbs, begins, inside, said_at)
    if effect == "end":
        since = next((time.since for time in (*inside, *begins)), ends[0].until if ends else said_at)
        return [Validity(since, FOREVER, dated, True, True)]
    if effect == "begin":
        since = next((time.since for time in (*begins, *inside)), said_at)
        until = inside[0].until if inside and _is_range(inside[0]) else FOREVER
        return [Validity(since, until, dated, change=True)]
    if effect == "event":
        return _event_intervals([time for time in inside if time.since <= said_at], said_at)
    if effect == "lasting":
        since = next((time.since for time in (*inside, *begins)), said_at)
        return [Validity(since, FOREVER, bool(inside or begins), change=changing)]
    if effect == "ended":
        until = inside[0].until if inside else said_at
        return [Validity(BEGINNING, until, bool(inside))]
    return _state_intervals(verb, adverbs, begins, ends, inside, said_at, changing)


def _planned_intervals(effect: Effect, ahead: Sequence[StatedTime]) -> list[Validity]:
    """Return the intervals of what is announced for a time to come."""
    if not ahead:
        return []
    if effect == "event":
        return [Validity(time.since, _end_of(time), True, kind="planned") for time in ahead[:4]]
    until = ahead[0].until if _is_range(ahead[0]) else FOREVER
    return [Validity(ahead[0].since, until, True, negated=effect == "end", change=True, kind="planned")]


def _event_intervals(inside: Sequence[StatedTime], said_at: Millis) -> list[Validity]:
    """Return when an event happened: at its times, or else on the day of the telling or before."""
    if inside:
        return [Validity(time.since, _end_of(time), True, kind="event") for time in inside[:4]]
    return [before_telling(said_at)]


def _end_of(time: StatedTime) -> Millis:
    return time.until if time.until < FOREVER else day_of_instant(time.since)[1]


def before_telling(said_at: Millis) -> Validity:
    """Return the interval of an event that nobody said the time of: the day of the telling, as the latest one."""
    return Validity(*day_of_instant(said_at), False, kind="event", precision="before")


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
    if effect != "state" or verb.used_to or verb.tense == "past" or (verb.tense == "perfect" and not over):
        return []
    if begins or inside:
        since = (begins or inside)[0].since
        return [Validity(since, FOREVER, True, True, over or bool(begins))]
    return [Validity(said_at, FOREVER, False, True, over)]


def _state_intervals(
    verb: VerbGroup, adverbs: frozenset[str], begins: list[StatedTime], ends: list[StatedTime],
    inside: list[StatedTime], said_at: Millis, changing: bool,
) -> list[Validity]:  # fmt: skip
    perfect = verb.tense == "perfect" and not verb.progressive and not adverbs & _ON_ADVERBS  # "I have lived in Rome"
    past = ((verb.tense == "past" or perfect) and not verb.phase) or verb.used_to or bool(adverbs & _PAST_ADVERBS)
    over = verb.used_to or bool(adverbs & _OVER_ADVERBS)
    since = begins[0].since if begins else BEGINNING
    until = ends[0].until if ends else FOREVER
    if inside and not begins:
        span = inside[0]
        if ends or not (past or _is_range(span)):
            since = max(since, span.since)
        else:
            since, until = span.since, span.until
    if begins or ends or inside:
        return [Validity(since, until, True, change=changing)] if since < until else []
    if past:
        return [Validity(BEGINNING, said_at, False, change=over, precision=None if over else "before")]
    return [Validity(said_at, FOREVER, False, change=changing)]


def birth_validity(tail: str, times: Sequence[StatedTime]) -> list[Validity]:
    """Return since when a date of birth holds: since that date, or always if it has no year."""
    absolute = [time for time in times if not time.relative and time.since > BEGINNING]
    if absolute:
        first = absolute[0]
        return [Validity(first.since, FOREVER, True, precision=_PRECISION[first.grain])]
    if not any(letter.isdigit() for letter in tail) and not any(name in tail for name in MONTHS):
        return []  # "on Friday", "tomorrow"
    return [Validity(BEGINNING, FOREVER, False, precision="yearless")]


def from_utterance(said_at: Millis) -> Validity:
    """Return the interval of a claim of a phrase, "my sister Anna"."""
    return Validity(said_at, FOREVER, False)
