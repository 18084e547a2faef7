"""Episodes of this process: recent recalls and answers, kept in memory so that feedback can refer to them.

A recall stores nothing. Learning and the trace need a part of it; that part stays here under its id as long as the
recall is among the newest. A lesson copies it into the log; from then on any process can learn from it again. Evidence
that a caller found with explore steps is kept here too, so that feedback about a recall can name it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from mcp_memory.domain.episodes import Episode, ShownEvidence
from mcp_memory.domain.evidence import AnswerResult, Citation, Evidence, RecallResult, Source
from mcp_memory.domain.query import Query
from mcp_memory.errors import InvalidInput
from mcp_memory.language.stated import time_words
from mcp_memory.navigation.paths import serialise
from mcp_memory.ports import Store
from mcp_memory.view.space import NONE, Space

KEPT_EPISODES = 256
"""Episodes that a process keeps; the oldest are dropped."""
SHOWN_CHARS = 200
"""Characters of each item's text that the trace keeps."""
KEPT_EXPLORED = 1024
"""Pieces of explored evidence that a process keeps; the oldest are dropped."""
TRACED_PATHS = 5
"""Paths that the trace names."""


class Episodes:
    """The newest episodes of this process, by space and id, and the newest evidence found by explore steps."""

    def __init__(self, most: int = KEPT_EPISODES) -> None:
        self._most = most
        self._kept: dict[tuple[str, str], Episode] = {}
        self._explored: dict[tuple[str, str], ShownEvidence] = {}

    def keep(self, episode: Episode) -> None:
        """Keep an episode, or replace it; drop the oldest beyond `KEPT_EPISODES`."""
        key = episode.space, episode.id
        self._kept.pop(key, None)
        self._kept[key] = episode
        while len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]

    def get(self, space: str, episode_id: str) -> Episode | None:
        """Return an episode of this process, or None; an episode of another space is unknown."""
        return self._kept.get((space, episode_id))

    def keep_explored(self, space: Space, items: Iterable[Evidence]) -> None:
        """Keep the evidence that an explore step found; drop the oldest beyond `KEPT_EXPLORED`."""
        for item in items:
            self._explored.pop((space.name, item.id), None)
            self._explored[space.name, item.id] = _shown_evidence(space, item)
        for oldest in list(self._explored)[: max(0, len(self._explored) - KEPT_EXPLORED)]:
            del self._explored[oldest]

    def explored(self, space: str, evidence_id: str) -> ShownEvidence | None:
        """Return evidence that an explore step of this process found, or None; that of another space is unknown."""
        return self._explored.get((space, evidence_id))

    def drop(self, space: str, gone: Collection[str], *, everything: bool = False) -> None:
        """Drop the episodes and the explored evidence of a space that show, cite or are something that went."""
        self._drop(lambda where, names: where == space and (everything or not names.isdisjoint(gone)))

    def prune(self, space: Space) -> None:
        """Drop the episodes and the explored evidence of a space with sentences that it does not have any more."""

        def lost(names: set[str]) -> bool:
            return any(name.startswith("s_") and space.sentence(name) is None for name in names)

        self._drop(lambda where, names: where == space.name and lost(names))

    def _drop(self, goes: Callable[[str, set[str]], bool]) -> None:
        held: tuple[dict[tuple[str, str], Any], ...] = (self._kept, self._explored)
        for kept in held:
            for key in [key for key, one in kept.items() if goes(key[0], _names(one))]:
                del kept[key]


def _names(one: Episode | ShownEvidence) -> set[str]:
    """Return the ids of what an episode or a piece of evidence is, shows, cites and rests on."""
    if isinstance(one, ShownEvidence):
        return {one.id, *one.sentences}
    shown = (name for item in (*one.shown, *one.explored) for name in _names(item))
    points = (name for point in one.points for name in point.sentences)
    return {one.id, *one.cited, *one.activated, *shown, *points}


async def find_episode(store: Store, episodes: Episodes, space: str, episode_id: str) -> Episode:
    """Return an episode of this process, or one from the log.

    Raises:
        InvalidInput: the space has no such episode.
    """
    async with store.reading() as view:
        held = view.space(space)
        episodes.prune(held)  # another process may have forgotten what they show
        if found := episodes.get(space, episode_id) or held.beliefs.episode(episode_id):
            return found
    where = f"in space {space!r}: it is of another one, of another server process, or too long ago"
    problem = f"{episode_id[:60]!r} is not known {where}"
    remedy = (
        "Recall again, and give the episode of that reply; if it is of another space, name that. Nothing was changed."
    )
    raise InvalidInput("episode", problem, remedy)


def record_number(name: str) -> int | None:
    """Return the number of a record if the caller names it by its number, otherwise None."""
    return int(name) if name.isdecimal() and len(name) < 6 else None


def record_ids(names: Sequence[str], episode: Episode, argument: str) -> tuple[str, ...]:
    """Return ids of evidence, each once; a name may be an id or the number of a record in the reply's text, from 1.

    Raises:
        InvalidInput: the episode has no record of such a number.
    """
    numbered = dict(zip(episode.places or range(1, len(episode.shown) + 1), episode.shown, strict=False))
    ids = []
    for place, name in enumerate(names):
        number = record_number(name)
        if number is not None and number not in numbered:
            problem = f"episode {episode.id} has no record {number}"
            has = f"1 to {len(episode.shown)}" if episode.shown else "none"
            if episode.places:
                problem += f" in space {episode.space!r}"
                has = ", ".join(map(str, episode.places))
            raise InvalidInput(f"{argument}[{place}]", problem, f"It has {has}. Nothing was changed.")
        ids.append(name if number is None else numbered[number].id)
    return tuple(dict.fromkeys(ids))


def new_episode_id() -> str:
    """Return an id that no other episode has."""
    return f"ep_{secrets.token_hex(10)}"


def new_episode(space: Space, query: Query, recall: RecallResult, answer: AnswerResult | None = None) -> Episode:
    """Return a recall, or an answer with its recall, as an episode, whose id the recall has."""
    return Episode(
        id=recall.episode,
        space=space.name,
        query=query.text,
        at=query.now,
        time=time_words(query, query.local_now),
        engine=recall.engine,
        shown=tuple(_shown_evidence(space, item) for item in recall.evidence),
        activated=recall.activated,
        answer=answer.text if answer else None,
        cited=cited_sentences(space, answer.citations) if answer else (),
        abstained=answer is not None and answer.text is None,
        roots=tuple(root.name for root in recall.roots),
        paths=tuple(serialise(path) for path in recall.paths[:TRACED_PATHS]),
        rounds=recall.rounds,
        stop=recall.stop,
        calls=recall.trace,
    )


def cited_sentences(space: Space, citations: Iterable[Citation]) -> tuple[str, ...]:
    """Return the ids of the sentences that citations quote, each once."""
    return tuple(dict.fromkeys(name for citation in citations for name in _sentences_in(space, citation.source)))


def _sentences_in(space: Space, source: Source) -> list[str]:
    """Return the ids of the sentences that a span of a turn touches, in order."""
    rows = space.sentences.overlapping(source.turn.id, source.start, source.end)
    return [space.sentences[row].id for row in rows]


def _shown_evidence(space: Space, item: Evidence) -> ShownEvidence:
    return ShownEvidence(item.id, item.score, item.via, _sentences(space, item), item.text[:SHOWN_CHARS])


def _sentences(space: Space, item: Evidence) -> tuple[str, ...]:
    """Return the ids of the sentences that an item is or consists of.

    Of a fact these are the sentences of the texts shown with it that state it, not the whole text that a caller named.
    """
    if item.kind == "sentence":
        return (item.id,)
    if item.kind == "fact":
        turns = {source.turn.id for source in item.sources}
        version = space.facts.version(item.id)
        assertions = version.assertions if version else ()
        rows = [
            space.sentence_row(assertion.turn_id, assertion.sentence)
            for assertion in assertions
            if assertion.turn_id in turns and assertion.sentence >= 0
        ]
        if stating := tuple(dict.fromkeys(space.sentences[row].id for row in rows if row != NONE)):
            return stating
    return tuple(dict.fromkeys(name for source in item.sources for name in _sentences_in(space, source)))
