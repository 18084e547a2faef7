"""Facts in words: when something began or ended, how long it lasted, several values in a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcp_memory.domain.answers import KnownFacts
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER, Grain, Millis
from mcp_memory.language.dates import in_words
from mcp_memory.language.gregorian import DAY, civil
from mcp_memory.rules.answers.dates import as_told
from mcp_memory.rules.answers.held import Held
from mcp_memory.rules.answers.spans import MOST_WORDS


def listed(values: Iterable[str], joined: str = "and") -> str:
    """Return values as a list in words, each once: "Paris, Rome and Oslo".

    Where there are more than an answer may hold, the first ones with "…" after them.
    """
    different = list(dict.fromkeys(" ".join(value.split()) for value in values))
    kept: list[str] = []
    for value in different:
        if sum(len(one.split()) + 1 for one in (*kept, value)) > MOST_WORDS:
            return f"{', '.join(kept)} …".strip()
        kept.append(value)
    return f" {joined} ".join(filter(None, [", ".join(kept[:-1]), *kept[-1:]]))


def began(one: Held, knowledge: KnownFacts) -> str | None:
    """Return when a value began, in words; None where nobody said."""
    if one.since <= BEGINNING:
        return None
    for said in one.said:
        for time in knowledge.times.get((said.turn_id, said.sentence), ()):
            if time.since == one.since and (told := as_told(time, knowledge.turns[said.turn_id])):
                return told
    return in_words(one.since, one.since + 1, _grain(one.since, one.said, knowledge))


def ended(one: Held, knowledge: KnownFacts) -> str | None:
    """Return when a value ended, in words; None where it did not."""
    if one.until >= FOREVER:
        return None
    by = (*one.said, *one.version.ended_by)
    if grain := _stated(one.until, by, knowledge, end=True):
        return in_words(one.until - 1, one.until, grain)
    return in_words(one.until, one.until + 1, _grain(one.until, by, knowledge))


def stretch(one: Held, knowledge: KnownFacts) -> str | None:
    """Return from when to when a value held, "2010 to 2015", "since 2015" or "until 2015"; None where nobody said."""
    start, end = began(one, knowledge), ended(one, knowledge)
    if start and end:
        return start if start == end else f"{start} to {end}"
    return f"since {start}" if start else f"until {end}" if end else None


def lasted(since: Millis, until: Millis) -> str:
    """Return a length of time in words, in the largest unit of which it holds two or more, years to the half.

    By the calendar, and never more than it was: what has not passed is left out.
    """
    (year, month, day), (last_year, last_month, last_day) = civil(since), civil(max(until, since))
    months = 12 * (last_year - year) + last_month - month - (last_day < day)
    if months >= 24:
        return f"{months // 12} {'and a half ' if months % 12 >= 6 else ''}years"
    if months == 12:
        return "1 year"
    if months >= 2:
        return f"{months} months"
    if months == 1 and day == last_day:
        return "1 month"
    days = max(until - since, 0) // DAY
    return f"{days // 7} weeks" if days >= 14 else f"{days} days" if days >= 2 else "1 day"


def _grain(instant: Millis, said: Sequence[Assertion], knowledge: KnownFacts) -> Grain:
    """Return how exactly an instant was stated; the round ones of callers stand for a year or a month."""
    if grain := _stated(instant, said, knowledge, end=False):
        return grain
    if instant % DAY or any(one.said_at == instant and not one.stated for one in said):
        return "day"
    _, month, day = civil(instant)
    return "day" if day != 1 else "month" if month != 1 else "year"


def _stated(instant: Millis, said: Sequence[Assertion], knowledge: KnownFacts, *, end: bool) -> Grain | None:
    """Return the grain of the time in one of the sentences that begins (or ends) at an instant, or None."""
    for one in said:
        for time in knowledge.times.get((one.turn_id, one.sentence), ()):
            if (time.until if end else time.since) == instant:
                return time.grain
    return None
