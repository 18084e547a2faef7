"""Episodes of this process: what was recalled or answered lately, so that it can be learnt from.

Nothing of a recall is stored. What learning and the trace need of it waits here under its id, for as long as it is
among the newest; a lesson takes it into the log, and from there any process can learn more from it. What a caller finds
by steps of its own waits here as well, so that its word about a recall can name it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

from mcp_memory.domain.episodes import Episode, Lesson, Shown
from mcp_memory.domain.evidence import Citation, Evidence, RecallResult, Source
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.language.dates import stated_times, times_in_words
from mcp_memory.navigation.paths import serialise
from mcp_memory.ports import Store
from mcp_memory.view.space import NONE, Space

KEPT = 256
"""Episodes of a process that can be learnt from; an older one is forgotten."""
SHOWN_CHARS = 200
"""Of each item's text, for the trace."""
EXPLORED = 1024
"""Pieces of evidence found by steps that can be named in a caller's word, the newest of this process."""
PATHS = 5
"""Paths that the trace names."""


class Episodes:
    """The newest episodes of this process, by space and id, and the newest evidence that its callers' steps found."""

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._kept: dict[tuple[str, str], Episode] = {}
        self._waiting: dict[tuple[str, str], Lesson] = {}
        self._explored: dict[tuple[str, str], Shown] = {}

    def keep(self, episode: Episode, waiting: Lesson | None = None) -> None:
        """Keep an episode, or keep it anew; the oldest beyond `KEPT` goes.

        Args:
            episode: as far as it is known by now.
            waiting: what the memory's own judge says of it, if that counts only once a caller confirms it.
        """
        place = episode.space, episode.id
        self._kept.pop(place, None)
        self._kept[place] = episode
        if waiting is not None:
            self._waiting[place] = waiting
        while len(self._kept) > self._most:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            self._waiting.pop(oldest, None)

    def get(self, space: str, episode_id: str) -> Episode | None:
        """Return an episode of this process, or None; in another space it is unknown."""
        return self._kept.get((space, episode_id))

    def waiting(self, space: str, episode_id: str) -> Lesson | None:
        """Return what the memory's own judge said that waits for a caller to confirm it, or None."""
        return self._waiting.get((space, episode_id))

    def explored(self, space: Space, items: Iterable[Evidence]) -> None:
        """Keep what a step found in a space, of a view that is held still; the oldest beyond `EXPLORED` goes."""
        for item in items:
            self._explored.pop((space.name, item.id), None)
            self._explored[space.name, item.id] = _shown(space, item)
        for oldest in list(self._explored)[: max(0, len(self._explored) - EXPLORED)]:
            del self._explored[oldest]

    def found(self, space: str, evidence_id: str) -> Shown | None:
        """Return what a step of this process found, or None; in another space it is unknown."""
        return self._explored.get((space, evidence_id))

    def ids(self, space: str) -> list[str]:
        """Return the ids of the episodes of a space, newest first."""
        return [name for within, name in reversed(self._kept) if within == space]


async def episode_named(store: Store, episodes: Episodes, space: str, episode_id: str) -> Episode:
    """Return an episode of this process, or of the log.

    Raises:
        InvalidInput: it is not known in this space.
    """
    if found := episodes.get(space, episode_id):
        return found
    async with store.reading(whole=False) as view:
        told = view.space(space).beliefs.episode(episode_id)
    if isinstance(told, Episode):
        return told
    where = f"in space {space!r}: it is of another one, of another server process, or too long ago"
    problem = f"{episode_id[:60]!r} is not known {where}"
    if told is not None:
        problem = f"{episode_id[:60]!r} was recorded, but {told} (mcp-memory doctor says more)"
    remedy = (
        "Recall again, and give the episode of that reply; if it is of another space, name that. Nothing was changed."
    )
    raise InvalidInput("episode", problem, remedy)


def number_of(name: str) -> int | None:
    """Return the number of a record where a caller names it so, else None."""
    return int(name) if name.isdecimal() and len(name) < 6 else None


def record_ids(names: Sequence[str], episode: Episode, argument: str) -> tuple[str, ...]:
    """Return ids of evidence, each once, of which some may be named by their number in the reply's text, from 1 on.

    Raises:
        InvalidInput: the episode has no record of such a number.
    """
    found = []
    for place, name in enumerate(names):
        number = number_of(name)
        if number is not None and not 1 <= number <= len(episode.shown):
            problem = f"episode {episode.id} has no record {number}"
            has = f"1 to {len(episode.shown)}" if episode.shown else "none"
            raise InvalidInput(f"{argument}[{place}]", problem, f"It has {has}. Nothing was changed.")
        found.append(name if number is None else episode.shown[number - 1].id)
    return tuple(dict.fromkeys(found))


def episode_of(
    space: Space,
    query: str,
    recall: RecallResult,
    *,
    now: Millis,
    question: Query | None = None,
    activated: Sequence[str] = (),
) -> Episode:
    """Return a recall as an episode with a new id.

    Args:
        space: of a view that is held still.
        query: as given; empty where the newest were asked for.
        recall: what was found.
        now: the moment of asking.
        question: the query understood.
        activated: ids of the sentences that propagation activated, in order.
    """
    return Episode(
        id=f"ep_{secrets.token_hex(10)}",
        space=space.name,
        query=query,
        at=now,
        time=time_words(question, now) if question else None,
        engine=recall.engine,
        shown=tuple(_shown(space, item) for item in recall.evidence),
        activated=tuple(activated),
        roots=tuple(root.name for root in recall.roots),
        paths=tuple(serialise(path) for path in recall.paths[:PATHS]),
        rounds=recall.rounds,
        stop=recall.stop,
        calls=recall.trace,
    )


def time_words(question: Query, now: Millis) -> str | None:
    """Return what a question says of time, in words: dates as what they mean, else the event that stands for them."""
    if question.time is None:
        return None
    return times_in_words(stated_times(question.text, now)) or question.time.event


def cited(space: Space, citations: Iterable[Citation]) -> tuple[str, ...]:
    """Return the ids of the sentences that citations quote from, each once."""
    return tuple(dict.fromkeys(name for citation in citations for name in spanned(space, citation.source)))


def spanned(space: Space, source: Source) -> list[str]:
    """Return the ids of the sentences that a span of a turn touches, in order."""
    pieces = [space.sentences[row] for row in space.sentences_of(source.turn.id)]
    return [piece.id for piece in pieces if piece.start < source.end and piece.end > source.start]


def _shown(space: Space, item: Evidence) -> Shown:
    return Shown(item.id, item.score, item.via, _sentences(space, item), item.text[:SHOWN_CHARS])


def _sentences(space: Space, item: Evidence) -> tuple[str, ...]:
    """Return the sentences that an item is or consists of; of a fact those that state it in the sources shown with it.

    Of a memory point they are those that it rests on, in these sources.
    """
    if item.kind == "sentence":
        return (item.id,)
    if item.kind == "point":
        point = space.hypergraph.get(item.id)
        there = {name for source in item.sources for name in spanned(space, source)}
        if resting := tuple(name for name in (point.sentences if point else ()) if name in there):
            return resting
    if item.kind == "fact":
        turns = {source.turn.id for source in item.sources}
        version = space.facts.version(item.id)
        said = [one for one in (version.assertions if version else ()) if one.turn_id in turns and one.sentence >= 0]
        rows = [space.sentence_row(one.turn_id, one.sentence) for one in said]
        if stating := tuple(dict.fromkeys(space.sentences[row].id for row in rows if row != NONE)):
            return stating
    return tuple(dict.fromkeys(name for source in item.sources for name in spanned(space, source)))
