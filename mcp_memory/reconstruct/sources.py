"""Where the arguments of a call come from: the question, what is missing, what is held, and what that names.

Each source, by the name that the policy file calls it, gives the values that it has in a state of the walk, strongest
first, each with its strength; a call is made for every value. A source that has none gives no call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language import iso
from mcp_memory.reconstruct.assess import Assessment
from mcp_memory.reconstruct.pointers import pointers
from mcp_memory.reconstruct.state import Argument, State
from mcp_memory.reconstruct.topics import Topics

BEST = 3
"""Segments whose ids stand for the best, and for what is new."""
Values = Sequence[tuple[Argument, float]]
Source = Callable[[State, Assessment], Values]


def _question(state: State, _: Assessment) -> Values:
    return [(state.asked.question.text, 1.0)]


def _reason(_: State, assessment: Assessment) -> Values:
    return [(assessment.reason, 1.0)] if assessment.reason else []


def _missing(_: State, assessment: Assessment) -> Values:
    """What nothing covers, word by word."""
    return [(word, 1.0) for word in assessment.missing]


def _roots(state: State, _: Assessment) -> Values:
    return [(name, 1.0) for name in state.asked.roots]


def _best(state: State, _: Assessment) -> Values:
    """The ids of the best that is held, together."""
    best = state.best(BEST)
    return [(tuple(state.asked.space.segments[one.row].id for one in best), best[0].strength)] if best else []


def _new(state: State, _: Assessment) -> Values:
    """The ids of what the last turn brought, together."""
    active = state.active[:BEST]
    return [(tuple(state.asked.space.segments[one.row].id for one in active), active[0].strength)] if active else []


def _cues(state: State, _: Assessment) -> Values:
    """The names and things of what the last turn brought that lead on to other texts."""
    return pointers(state)


def _topics(state: State, _: Assessment) -> Values:
    """The topics of what the last turn brought, by their ids."""
    space = state.asked.space
    topics = Topics.of(space)
    found: dict[Argument, float] = {}
    for held in state.active[:BEST]:
        if topic := topics.topic_of(space, held.row):
            found.setdefault(topic.id, held.strength)
    return list(found.items())


def _points(state: State, _: Assessment) -> Values:
    """The ids of the memory points that bear on the question, one by one."""
    return [((point.id,), 1.0) for point in state.asked.points[:BEST]]


def _since(state: State, _: Assessment) -> Values:
    return _moments(state, since=True)


def _until(state: State, _: Assessment) -> Values:
    return _moments(state, since=False)


def _moments(state: State, *, since: bool) -> Values:
    """One end of the time that the question gives, where it gives both."""
    time = state.asked.question.time
    if time is None or time.since <= BEGINNING or time.until >= FOREVER:
        return []
    return [(shown, 1.0) for shown in _day(time.since if since else time.until - 1)]


def _day(moment: Millis) -> Iterator[str]:
    shown = iso.show(moment - moment % iso.DAY)
    if shown is not None:
        yield shown


SOURCES: Mapping[str, Source] = {
    "question": _question,
    "reason": _reason,
    "missing": _missing,
    "roots": _roots,
    "best": _best,
    "new": _new,
    "cues": _cues,
    "topics": _topics,
    "points": _points,
    "since": _since,
    "until": _until,
}
"""By the name that the policy file calls them."""
