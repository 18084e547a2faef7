"""Broad recall: everything that bears on a query as short lines, or an overview of it (modes ``all``, ``overview``).

**Everything** (`list_all`). Mode ``all``: everything that bears on a question, for lists, orders, and how many.

What bears on it, and how each line is worded, is decided in ``units.py``. The lines are ranked by relevance; the reply
shows those of a page in the order of time, and says how many there are. So the first page has the most relevant ones of
every session, not the earliest, and the next pages (``skip``) go on with what bears on it less.

Of an exchange with an assistant the person's messages are listed, since such a question is about what the person did
and said, and the assistant's where the question asks what it said (`language.questions.asks_for_advice`).

Source: MRAgent's topic layer leads from a topic to all of its episodes (§3.1, eq. 5), HGMem's points to all of their
texts (§3.3.4). **Departures.** Both bound what they return by the budget of a language model's loop and cannot say that
a list is complete. Here the whole set is counted first, as far as memory can tell, and paged.

**Overview** (`outline`). Mode ``overview``: how something went, broad and even over time, for summaries.

The units that bear on the question (``units.py``) are ordered by time and divided into equal parts. The best
`FIRST` come first whatever their time; then each part gives its best unit in turn, so that no stretch is left out. An
exchange with an assistant is one line: how the person began, and by its headings what the assistant advised.

Behind the best units stand the turning points: facts that these units state and that are events (what was done, chosen,
decided), plans with a date, or values that another has replaced. They are spread over the time in the same way.

**Measured** on long chats with an assistant, of the messages that a summary rests on: 20 at R@20 by the search alone,
26 here, and 58 in 40 lines, of which a reply of 2,000 tokens shows some 34; with both sides of an exchange in lines of
their own 41 in 40 lines.
What begins a new topic or tells of a change counted more for a while: 3 points less.

Source: MRAgent's topics τ over the timeline of episodes (§3.1), HGMem's global view (§3.3.2), whose aim is to cover
what no point covers yet. **Departures.** The papers have a language model write and refresh summaries; here an overview
is chosen from the words themselves when it is asked for, and each line has its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from anyio import to_thread

from mcp_memory.domain.evidence import Evidence, RecallResult, Source
from mcp_memory.domain.facts import Version
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Breadth, Query
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import by_assistant
from mcp_memory.language.plans import asks_ahead
from mcp_memory.language.questions import asks_for_advice
from mcp_memory.language.shapes import asks_for_number, wanted_breadth
from mcp_memory.ports import Store
from mcp_memory.search.candidates import CandidateSet, find_candidates
from mcp_memory.search.channels import similarity
from mcp_memory.search.windows import with_event_times
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.units import (
    LONG,
    Lines,
    Listed,
    Unit,
    callers_points,
    distinct,
    find_units,
    messages,
)
from mcp_memory.view.evidence import fact_with_sources
from mcp_memory.view.space import Space

FEW, FEW_COUNTED = 3, 6
"""Fewest lines of a broad recall that ``auto`` shows instead of the best evidence, if that has as many.

The second is for a number: "How many requests may a phone send?" asks for one that was said rather than for things to
count. Of 640 questions to eight invented talks, 584 instead of 579 show the last message that the answer rests on.
"""


class BroadEvidence(NamedTuple):
    """The lines of a broad recall, and how many there are beyond this page."""

    breadth: Breadth
    evidence: tuple[Evidence, ...]
    total: int


async def with_list(
    store: Store,
    space: Space,
    query: Query,
    found: CandidateSet,
    result: RecallResult,
    settings: RecallSettings,
) -> RecallResult:
    """Return the result of a broad question with the lines of a broad recall as its evidence.

    Where ``auto`` found too little for a list, the best evidence says more, and the result keeps it.
    """
    broad = await broaden(store, space, query, found, result.points, settings)
    if broad is None or not has_enough(query, broad, len(result.evidence)):
        return result
    lines = with_event_times(broad.evidence, query.window)
    return replace(
        result,
        evidence=lines,
        breadth=broad.breadth,
        total=broad.total,
        skipped=query.skip,
    )


async def broaden(
    store: Store,
    space: Space,
    query: Query,
    found: CandidateSet,
    points: Sequence[Point],
    settings: RecallSettings,
) -> BroadEvidence | None:
    """Return everything that bears on a query that wants it, or an overview of it.

    None, for the best evidence, where ``auto`` finds documents: their questions are answered by single passages, whole.
    It also takes the best evidence where hardly a line was found (`has_enough`): such a question only looks like one
    for a list.
    """
    breadth = wanted_breadth(query)
    if query.topic_vector is None:
        return None
    if query.mode == "auto" and not space.talk[found.rows[int(found.total.argmax())]]:
        return None
    cosines = await similarity(store, space, query.topic_vector)
    told = len([wording for wording in query.wordings if wording != query.text])  # the first parts
    wordings: list[CandidateSet] = []
    for part in query.parts[:told]:
        candidates = find_candidates(space, part, await similarity(store, space, part.vector), settings.search)
        wordings += [candidates] if candidates is not None else []
    chosen = settings.breadth

    def page() -> BroadEvidence:
        units = find_units(space, query, found, cosines, points, chosen, wordings)
        every: Sequence[Point | Listed | Evidence]
        if breadth == "overview":
            every = outline(space, units, points, chosen.parts)
        else:
            every = list_all(space, query, units, points)
        shown = every[query.skip : query.skip + (query.lines or chosen.lines)]
        lines = Lines(space, query, breadth)
        return BroadEvidence(breadth, tuple(map(lines.of, shown)), len(every))

    return await to_thread.run_sync(page)  # the first that walks cues reads every sentence


def has_enough(query: Query, broad: BroadEvidence, best: int) -> bool:
    """Return whether a list says more than ``best`` pieces of evidence; always, where a caller asks for one.

    One line is enough of what is still to come: what is near to "What is coming up?" in meaning is mostly over.
    """
    fewest = FEW_COUNTED if asks_for_number(query.text) else 1 if asks_ahead(query.text) else FEW
    return query.mode != "auto" or broad.total >= min(fewest, best)


def list_all(space: Space, query: Query, units: Sequence[Unit], points: Sequence[Point]) -> list[Point | Listed]:
    """Return everything that bears on a question, best first; points that a caller made lead.

    Args:
        space: the space of the units.
        query: the query with its topic embedded.
        units: the units that bear on it, best first.
        points: memory points related to it.
    """
    wants_replies = asks_for_advice(query.text)
    found: list[Listed] = []
    for rank, unit in enumerate(units):
        said = messages(space, unit)
        meant = [one for one in said if by_assistant(one[0]) == wants_replies] or said
        found += (Listed(turn, tuple(rows), unit.score, rank < LONG) for turn, rows in meant)
    return [*callers_points(points), *distinct(space, found)]


_Placed = TypeVar("_Placed", "Unit", "_StatedFact")

FIRST = 10
"""Units that come first by their score alone."""
TURNING_POINTS = 8
"""Most facts that are listed."""


def outline(
    space: Space, units: Sequence[Unit], points: Sequence[Point], parts: int
) -> list[Point | Listed | Evidence]:
    """Return what covers a question broadly, the most telling first; points that a caller made lead.

    Args:
        space: the space of the units.
        units: the units that bear on the question, best first.
        points: memory points related to it.
        parts: into how many equal ones the time is divided.
    """
    said = [one for unit in _spread(units, parts) for one in _list_messages(space, unit)]
    listed = distinct(space, said)
    return [*callers_points(points), *listed[:FIRST], *_turning_points(space, units, parts), *listed[FIRST:]]


def _list_messages(space: Space, unit: Unit) -> Iterator[Listed]:
    """Yield the messages of a unit; a person's and the reply to it as one."""
    said = messages(space, unit)
    asked = [one for one in said if not by_assistant(one[0])]
    replies = [one for one in said if by_assistant(one[0])]
    if len(asked) == 1 and replies:
        yield Listed(asked[0][0], tuple(asked[0][1]), unit.score, reply=(replies[0][0], tuple(replies[0][1])))
        asked, replies = [], replies[1:]
    for turn, rows in (*asked, *replies):
        yield Listed(turn, tuple(rows), unit.score)


@dataclass(frozen=True, slots=True)
class _StatedFact:
    """A fact that a unit states.

    Attributes:
        score: the score of the unit.
        place: the place of the unit.
        version: the fact.
        source: the words that state it.
    """

    score: float
    place: tuple[int, int]
    version: Version
    source: Source


def _turning_points(space: Space, units: Sequence[Unit], parts: int) -> list[Evidence]:
    stated: dict[str, _StatedFact] = {}
    for unit in units:
        for turn, rows in messages(space, unit):
            within = {space.segments[row].first: space.segments[row].last for row in rows}
            for assertion in space.facts.assertions_in(turn.id):
                version = space.facts.version_of(assertion)
                here = any(first <= assertion.sentence <= last for first, last in within.items())
                if version is None or not here or not _turns(version):
                    continue
                source = Source(turn, assertion.start, assertion.end)
                stated.setdefault(version.id, _StatedFact(unit.score, unit.place, version, source))
    chosen = _spread(list(stated.values()), parts, first=0)[:TURNING_POINTS]
    return [fact_with_sources(one.version, one.score, ("overview", "facts"), (one.source,)) for one in chosen]


def _turns(version: Version) -> bool:
    """Return whether a fact is a turning point: an event, a plan with a date, or a value that another replaced."""
    if version.kind == "planned":
        return version.since > BEGINNING or version.until < FOREVER
    return version.kind == "event" or version.status == "closed"


def _spread(units: Sequence[_Placed], parts: int, first: int = FIRST) -> list[_Placed]:
    """Return the best ``first`` units first, then the best of each part of the time in turn."""
    best, rest = units[:first], sorted(units[first:], key=lambda unit: unit.place)
    if not rest:
        return list(best)
    each = -(-len(rest) // parts)
    groups = [
        sorted(rest[start : start + each], key=lambda one: (-one.score, one.place))
        for start in range(0, len(rest), each)
    ]
    order = list(best)
    for round_ in range(each):
        here = [group[round_] for group in groups if round_ < len(group)]
        order += sorted(here, key=lambda unit: (-unit.score, unit.place))
    return order
