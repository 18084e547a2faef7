"""Place what the ranking alone would not: dates of events, what holds now, and standing wishes.

**Two events** between which a question asks for the time (`language.constraints`). Each event is looked for by itself:
among the messages and passages nearest to it, the one that says most of it and states a time counts, the time nearest
to its words. Where it states none, a time counts that the same speaker told shortly before with a word of the event,
else the day on which it was said, and is called so. A date that the question itself gives is taken from there.

A message's support is the cosine of its best sentence with the event plus `CONTAINED` of the share of the event's words
that it contains; a time `AWAY` sentences from it costs that much, and the day of saying `UNSTATED`.

Of a stretch of time ("16 December to 15 January") the last day counts for what ends or is done, and the first for what
begins or is only named.

Source: REAL resolves "before she moved" by the facts (§3.3.1) and MRAgent asks for the time of an event by an operator
(§3.1, Table 4). **Departures.** Both find one event; here there are two, and the days between them are counted.

**Times of what was recalled** (`with_event_times`). What was recalled for a time was said then, or only tells of then:
then it carries the time that it states. Source: MRAgent's operator for the time of an event (§3.1, Table 4).

**Wishes** (`place_wishes`). Those that apply stand beside the evidence, and their messages are among it.

**What holds now** (`current_first`) goes first where memory also knows what held before. "Where do I work?" is as near
to the first job that somebody told of as to the present one. Where the question asks, of one person, for a relation
whose value changed, and of no time, the text that states the present value leads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from mcp_memory.domain.evidence import DatedEvent, Evidence, Source, Wish
from mcp_memory.domain.facts import Version
from mcp_memory.domain.paths import Root
from mcp_memory.domain.query import ANY_TIME, Query, Window
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Millis, StatedTime
from mcp_memory.domain.turns import Turn, by_assistant
from mcp_memory.language.areas import areas_asked
from mcp_memory.language.questions import looks_back
from mcp_memory.language.shapes import topic_of
from mcp_memory.language.stated import stated_times, weekday_and_day
from mcp_memory.language.tokens import stems
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.ports import Embedder
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.windows import recallable, tells_of
from mcp_memory.search.wishes import SHOWN, WishIndex, fitting_wishes, standing_wishes
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Scores
from mcp_memory.view.space import NONE, Space

NEAREST = 12
"""Segments nearest to an event that are read for its time."""
CONTAINED = 0.5
"""Weight of the share of an event's words that a sentence contains, beside its cosine."""
AWAY = 0.03
"""Cost of each sentence between the one that tells of the event and the time."""
UNSTATED = 0.15
"""Cost of the day of saying in place of a stated time."""
EARLIER = 0.1
"""Cost of a time that the same speaker told shortly before."""
BACK = 4
"""Segments before a message in which such a time is looked for."""
ADVICE = 0.15
"""Cost of the words of an assistant: what it plans and drafts has dates, too."""
_ENDS = re.compile(r"\b(?:end|finish|complet|deadline|due|done|deliver|last)\w*", re.IGNORECASE)
EXACT = frozenset(("time", "day", "week", "month"))
"""Grains of times between which days or weeks can be counted."""


def dated_events(space: Space, query: Query, cosines: Sequence[Scores]) -> tuple[DatedEvent, ...]:
    """Return the two events of a query with their dates, in their order in the question; none if one has no date.

    Args:
        space: of a view that does not change meanwhile.
        query: with its events understood and embedded.
        cosines: of each event with each segment.
    """
    found = tuple(_date_event(space, query, event, near) for event, near in zip(query.events, cosines, strict=True))
    return tuple(event for event in found if event) if all(found) else ()


def _date_event(space: Space, query: Query, event: Query, cosines: Scores) -> DatedEvent | None:
    """Return an event with the date that the question gives it, or else the best of the texts nearest to it."""
    given = [time for time in stated_times(event.text, None) if _exact(time)]
    if given:
        return DatedEvent(event.text, *_day(event, given[0]))
    words = space.index(WordIndex)
    rarity = words.rarities(event.stems)
    open_ = recallable(space, query.window, query.role)
    rows = np.flatnonzero(open_)
    if not len(rows):
        return None
    contained = sum(
        (weight * words.contains(rows, stem).astype(np.float32) for stem, weight in rarity.items()),
        np.zeros(len(rows), dtype=np.float32),
    )
    total = cosines[rows] + CONTAINED * contained / np.float32(sum(rarity.values()) or 1.0)
    nearest = rows[np.argsort(-total, kind="stable")[:NEAREST]]
    segments: dict[str, list[int]] = {}
    for row in nearest.tolist():
        segments.setdefault(space.segment_turn[row].id, []).append(row)
    choices = [
        one for name, near in segments.items() for one in _choices(space, event, rarity, space.turns[name], near)
    ]
    return max(choices, key=lambda choice: choice[0])[1] if choices else None


def _choices(
    space: Space, event: Query, rarity: dict[str, float], turn: Turn, segments: Iterable[int]
) -> Iterator[tuple[float, DatedEvent]]:
    """Yield the times that a message, or some segments of a document, may give an event, with the support of each."""
    rows = space.sentences_of(turn.id)
    if turn.kind == "document":  # which may be a book
        rows = sorted({row for segment in segments for row in space.sentences_within(space.segments[segment])})
    if not rows or space.sentence_vectors is None:
        return
    near = (space.sentence_vectors.take(np.array(rows, dtype=np.intp)) @ event.vectors[-1]).tolist()
    whole = sum(rarity.values()) or 1.0

    def covered(text: str) -> float:
        said = set(stems(text))
        return sum(weight for stem, weight in rarity.items() if stem in said) / whole

    pieces = [space.sentences[row] for row in rows]
    less = ADVICE if by_assistant(turn) else 0.0
    support = [
        cosine + CONTAINED * covered(space.text(piece)) - less for cosine, piece in zip(near, pieces, strict=True)
    ]
    best = int(np.argmax(support))
    stated = False
    for piece in pieces:
        begin = piece.start
        for time in sorted(piece.times, key=lambda time: time.start):
            if _exact(time):
                stated = True
                told = covered(turn.text[begin : _clause_end(turn.text, time.end, piece.end)])
                score = support[best] - AWAY * min(abs(piece.index - pieces[best].index), 5) + AWAY * told
                yield score, DatedEvent(event.text, *_day(event, time), Source(turn, piece.start, piece.end))
                begin = time.end
    if not stated:
        for source, time in _told_before(space, event, turn):
            yield support[best] - EARLIER, DatedEvent(event.text, *_day(event, time), source)
    if not stated and turn.said_at is not None and turn.kind == "message":
        day, source = turn.said_at // DAY * DAY, Source(turn, pieces[best].start, pieces[best].end)
        yield support[best] - UNSTATED, DatedEvent(event.text, day, day + DAY, source, said=True)


def _told_before(space: Space, event: Query, turn: Turn) -> Iterator[tuple[Source, StatedTime]]:
    """Yield the times in what the same speaker said shortly before, where a sentence has a word of the event.

    "I adopted a puppy last week." – "What is it called?" – "Her name is Bella."
    """
    row = int(space.previous[space.segments_with(turn.id, 0)[0]]) if space.segments_with(turn.id, 0) else NONE
    for _ in range(BACK):
        if row == NONE:
            return
        before = space.segment_turn[row]
        near = before.speaker == turn.speaker and turn.time - before.time < DAY
        for place in space.sentences_within(space.segments[row]) if near else ():
            piece = space.sentences[place]
            times = [time for time in piece.times if _exact(time)]
            if times and not set(event.stems).isdisjoint(stems(space.text(piece))):
                yield Source(before, piece.start, piece.end), times[0]
        row = int(space.previous[row])


def _exact(time: StatedTime) -> bool:
    return time.grain in EXACT and time.since > BEGINNING and time.until < FOREVER


def _day(event: Query, time: StatedTime) -> tuple[Millis, Millis]:
    """Return the day of a stretch of time that an event means; a week or a month, which no day is known of, whole."""
    if time.grain in ("week", "month") or time.until - time.since <= DAY:
        return time.since, time.until
    last = (time.until - 1) // DAY * DAY
    return (last, last + DAY) if _ENDS.search(event.text) else (time.since, time.since // DAY * DAY + DAY)


def _clause_end(text: str, start: int, end: int) -> int:
    """Return where the clause ends in which a time stands: at the next comma or "and"."""
    places = [place for mark in (",", ";", " and ", ". ") if (place := text.find(mark, start, end)) >= 0]
    return min(places, default=end)


def with_event_times(evidence: Sequence[Evidence], window: Window) -> tuple[Evidence, ...]:
    """Return evidence in which sentences and passages from outside a window have the time within it that they state."""
    if window == ANY_TIME:
        return tuple(evidence)
    return tuple(_with_time(item, window) for item in evidence)


def _with_time(item: Evidence, window: Window) -> Evidence:
    if item.kind not in ("sentence", "segment") or not item.sources:
        return item
    turn = item.sources[0].turn
    if window.since <= turn.time < window.until:
        return item
    for time in stated_times(turn.text[item.sources[0].start : item.sources[0].end], turn.time):
        if tells_of(window, time.since, time.until):
            return replace(item, valid_from=time.since, valid_to=time.until, told_then=True)
    return item


KEPT = 5
"""Records that stand before the messages of wishes."""
PLACED = 3
"""Most messages of wishes that become evidence."""


def newest_wishes(space: Space) -> tuple[Wish, ...]:
    """Return the newest standing wishes, where nothing is asked that they could apply to."""
    return tuple(standing_wishes(space)[-SHOWN:])


async def wishes_for(space: Space, query: Query, embedder: Embedder) -> tuple[list[Wish], int]:
    """Return the standing wishes that apply to a query, the nearest first, and how many texts were embedded for it.

    Args:
        space: of a view that does not change meanwhile.
        query: understood and embedded.
        embedder: of the scopes that were not embedded yet.
    """
    wishes = standing_wishes(space)
    known = space.index(WishIndex).scopes
    scopes = [wish.scope for wish in wishes if wish.scope]
    if new := [scope for scope in dict.fromkeys(scopes) if scope not in known]:
        known.update(zip(new, await embedder.embed(new), strict=True))
    return fitting_wishes(wishes, [known[scope] for scope in scopes], query), len(new)


def place_wishes(
    space: Space, candidates: Sequence[Candidate], wishes: Sequence[Wish], query: Query
) -> Sequence[Candidate]:
    """Return the candidates with the messages of the nearest wishes behind the best `KEPT` of them.

    A message that the best records show stays where it is. Fewer candidates than `KEPT` get no more: what was found is
    little, and a wish does not answer a question. Nor does a question of the past ("have I ever baked bread?"): a wish
    says how something is to be done.

    Args:
        space: of the candidates.
        candidates: best first.
        wishes: that apply, the nearest first.
        query: whose window, role and limit hold for wishes as well.
    """
    if len(candidates) <= KEPT or looks_back(query.text):
        return candidates
    open_ = recallable(space, query.window, query.role)
    first, rest = list(candidates[:KEPT]), list(candidates[KEPT:])
    shown = {space.segment_turn[one.row].id for one in first}
    placed: list[Candidate] = []
    for wish in wishes:
        if not wish.scope or wish.row == NONE or not open_[wish.row] or len(placed) == PLACED:
            continue
        turn = space.segment_turn[wish.row].id
        if turn not in shown:
            shown.add(turn)
            placed.append(Candidate(wish.row, rest[0].score, ("wishes",), {}))
    rest = [one for one in rest if not (space.talk[one.row] and space.segment_turn[one.row].id in shown)]
    return [*first, *placed, *rest][: query.limit]


DEMANDED = 0.5
"""How strongly the question must ask for a relation (`FactQuery.demand`)."""
LEADING = 2
"""Most texts that lead: of an employer and a profession both may be asked for."""


def current_first(
    space: Space, query: Query, roots: Iterable[Root], candidates: Sequence[Candidate]
) -> Sequence[Candidate]:
    """Return the candidates with the texts first that state what holds now and was otherwise before.

    Args:
        space: of the candidates.
        query: understood; one of a time or of the past leaves the candidates as they are.
        roots: the entities from which navigation started.
        candidates: best first.
    """
    asked = fact_query(query)
    heads = [root.key for root in roots if not root.soft]
    of_a_time = query.as_of is not None or (query.time is not None and query.time.order != "now")
    if not candidates or len(heads) != 1 or asked.past or asked.compares or of_a_time:
        return candidates
    open_ = recallable(space, query.window, query.role)
    leading: list[int] = []
    for version in sorted(_changed_versions(space, heads[0], query), key=lambda one: -one.assertions[-1].said_at):
        said = max(version.assertions, key=lambda one: one.said_at)
        row = next((row for row in space.segments_with(said.turn_id, said.sentence) if space.talk[row]), None)
        if row is not None and open_[row] and row not in leading:
            leading.append(row)
    leading = leading[:LEADING]
    turns = {space.segment_turn[row].id for row in leading}
    found = {candidate.row: candidate for candidate in candidates}
    first = [replace(found.get(row, Candidate(row, 1.0, ("facts",), {})), score=1.0) for row in leading]
    rest = [one for one in candidates if space.segment_turn[one.row].id not in turns]
    return [*first, *rest][: query.limit]


OUTDATED = 3
"""Most states that a message is said to be outdated about."""
TOLD = 0.6
"""Share of a record that states a fact from which on it tells of nothing much else."""


def mark_outdated(space: Space, query: Query, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the evidence, its messages with what the facts know of later: that a state they tell of has ended.

    The state must be what is asked about, or most of what the record says: that somebody no longer plays cards says
    nothing of the broken wrist that the same message tells of.

    Args:
        space: of the evidence.
        query: understood; one of a time or of the past leaves the evidence as it is.
        evidence: best first.
    """
    of_a_time = query.as_of is not None or (query.time is not None and query.time.order != "now")
    if of_a_time or fact_query(query).past:
        return tuple(evidence)
    return tuple(
        replace(item, outdated=_holds_instead(space, query, item.sources[0]))
        if item.kind in ("sentence", "segment") and item.sources and item.sources[0].turn.kind != "document"
        else item
        for item in evidence
    )


def _holds_instead(space: Space, query: Query, said: Source) -> str:
    """Return in words what holds instead of a state that a message tells of, or until when it did; "" if it holds."""
    found: dict[str, None] = {}
    areas = frozenset[str]().union(*(area.told for area in areas_asked(topic_of(query.text))))
    for assertion in space.facts.assertions_in(said.turn.id):
        if assertion.negated or not (said.start <= assertion.start < said.end):
            continue
        version = space.facts.version_of(assertion)
        if version is None or version.kind != "state" or version.status != "closed" or version.until > query.now:
            continue
        stated = min(assertion.end, said.end) - assertion.start
        words_said = {*stems(version.tail), *stems(relations().get(version.relation).label)}
        asked = fact_query(query).demand(version.relation) > 0 or words_said.intersection(query.stems)
        if not asked and stated < TOLD * (said.end - said.start) and words_said.isdisjoint(areas):
            continue
        later = None if version.superseded_by is None else space.facts.version(version.superseded_by)
        day = weekday_and_day(version.until)
        found[f"{version.text} until {day}" if later is None else f"{later.text} from {day}"] = None
    return "; ".join(list(found)[:OUTDATED])


def _changed_versions(space: Space, head: str, query: Query) -> Iterator[Version]:
    """Yield the versions that hold now of relations that the query asks for, where others held before."""
    asked, facts = fact_query(query), space.facts
    for relation in facts.relations_of(head):
        if facts.cardinality(relation) != "single" or asked.demand(relation) < DEMANDED:
            continue
        versions = [one for one in facts.versions(head, relation) if one.kind != "planned"]
        now = [one for one in versions if one.until >= FOREVER and one.status == "active"]
        before = [one for one in versions if one.status == "closed"]
        if len(now) == 1 and before:
            yield now[0]
