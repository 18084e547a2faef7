"""Recall across spaces: from several that the caller names, and the user's wishes wherever a project is asked.

**Several spaces** (`recall_across`): each is asked alone, then the results are merged.

A space is a wall: its channels divide by its own maxima and weigh words by its own frequencies, so its scores say
nothing beside those of another space. What is comparable depends on the question and the text alone: the cosine of
their vectors, and the share of the question's words that the text has (`COVERED_WEIGHT` of it, as the channels of talk
and of documents together weigh words against vectors). Within its space every item keeps its rank: the comparable
scores of a space are made to fall along its ranking by isotonic regression (pool adjacent violators: the sequence that
never rises and is nearest to them in least squares), and the results are merged by these.

The newest records, without a question, are merged by their time.

**Shared wishes** (`with_shared_wishes`). A person who has a space for each project (``server.space`` = ``workspace``)
still is one person: "answer in Dutch" holds in all of them. So a recall in the space of the caller's project also shows
the wishes that stand in the default space. Nothing else of that space is read, nothing is written to it, and each of
these wishes says that it is from there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import numpy as np

from mcp_memory.domain.access import CALLER, DEFAULT_SPACE, MEANT_SPACE
from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.evidence import Evidence, RecallResult
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import stems
from mcp_memory.ports import Embedder, Store
from mcp_memory.search.wishes import SHOWN_WISHES, newest_wishes, wishes_for
from mcp_memory.services.learn.episodes import Episodes, new_episode_id
from mcp_memory.services.recall.pipeline import embed_query
from mcp_memory.vectors import Scores

COVERED_WEIGHT = 0.5
"""Weight of the covered words beside the cosine."""


async def recall_across(
    spaces: Sequence[str],
    recall: Callable[[Query], Awaitable[RecallResult]],
    embedder: Embedder,
    episodes: Episodes,
    query: Query,
) -> RecallResult:
    """Return what several spaces hold for a query, merged; its episode has the same id in each of them.

    ``recall`` returns what one of them holds. Lists of all that bears on a query (``mode``) are made for one space at a
    time.
    """
    results = [await recall(replace(query, space=space, mode="best")) for space in spaces]
    items = [[replace(item, space=space) for item in result.evidence]
             for space, result in zip(spaces, results, strict=True)]  # fmt: skip
    scores = await _comparable(embedder, query.text, items) if query.text else _times(items)
    merged = merge(items, [falling(one) for one in scores])[: query.limit]
    episode = new_episode_id()
    for space, result in zip(spaces, results, strict=True):
        kept = episodes.get(space, result.episode)
        if kept is not None:
            places = {item.id: number for number, item in enumerate(merged, 1) if item.space == space}
            episodes.keep(place_episode(kept, episode, places))
    return _join_results(results, merged, episode)


async def with_shared_wishes(store: Store, embedder: Embedder, query: Query, result: RecallResult) -> RecallResult:
    """Return the result of a recall in a project's space with the wishes of the default space that apply to its query.

    A space that the caller names, and that is not the one of their project, gets its result as it is, and so does a
    caller who may not read the default space.
    """
    of_project = query.space == MEANT_SPACE.get() != DEFAULT_SPACE
    if not of_project or not CALLER.get().may(("read",), DEFAULT_SPACE):
        return result
    query = replace(query, space=DEFAULT_SPACE, mode="best")
    if query.text:
        query = await embed_query(store, embedder, query)
    async with store.reading() as view:
        space = view.space(DEFAULT_SPACE)
        standing = (await wishes_for(space, query, embedder))[0] if query.text else newest_wishes(space)
    known = {wish.text for wish in result.wishes}
    shared = [replace(wish, space=DEFAULT_SPACE) for wish in standing if wish.text not in known]
    return replace(result, wishes=(*result.wishes, *shared)[:SHOWN_WISHES])


def falling(scores: Scores) -> Scores:
    """Return the sequence that never rises and is nearest to some scores in least squares."""
    blocks: list[tuple[float, int]] = []
    for score in scores.tolist():
        mean, size = score, 1
        while blocks and blocks[-1][0] < mean:
            before, count = blocks.pop()
            mean, size = (mean * size + before * count) / (size + count), size + count
        blocks.append((mean, size))
    return np.repeat([mean for mean, _ in blocks], [size for _, size in blocks]).astype(np.float32)


def merge(items: Sequence[Sequence[Evidence]], scores: Sequence[Scores]) -> list[Evidence]:
    """Return the items of several spaces by falling scores, each with its score; the best has 1.

    Equal scores go by the rank within the space, then by the order of the spaces.
    """
    placed = [
        (-float(score), rank, number, item)
        for number, (of_space, own) in enumerate(zip(items, scores, strict=True))
        for rank, (item, score) in enumerate(zip(of_space, own, strict=True))
    ]
    placed.sort(key=lambda one: one[:3])
    best = -placed[0][0] if placed else 0.0
    return [replace(item, score=max(0.0, -score / best) if best > 0 else 0.0) for score, _, _, item in placed]


async def _comparable(embedder: Embedder, question: str, items: Sequence[Sequence[Evidence]]) -> list[Scores]:
    """Return for each item how near it is to a question, by no statistics of a space."""
    texts = [[_with_speaker(item) for item in of_space] for of_space in items]
    distinct = list(dict.fromkeys(text for of_space in texts for text in of_space))
    vectors = await embedder.embed([question, *distinct])
    cosines: dict[str, float] = dict(zip(distinct, (vectors[1:] @ vectors[0]).tolist(), strict=True))
    asked = set(stems(question))

    def score(text: str) -> float:
        covered = len(asked & set(stems(text))) / len(asked) if asked else 0.0
        return max(0.0, cosines[text]) + COVERED_WEIGHT * covered

    return [np.array([score(text) for text in of_space], dtype=np.float32) for of_space in texts]


def _with_speaker(item: Evidence) -> str:
    """Return an item's text with its speaker, whom a question names where the text says "I"."""
    who = item.sources[0].turn.speaker if item.sources and item.kind in ("sentence", "segment") else None
    return f"{who}: {item.text}" if who else item.text


def _times(items: Sequence[Sequence[Evidence]]) -> list[Scores]:
    """Return for each of the newest items when it was said, from 0 for the earliest to 1 for the latest."""
    times = [[item.sources[0].turn.time if item.sources else 0 for item in of_space] for of_space in items]
    order = sorted({time for of_space in times for time in of_space})
    rank = {time: (place + 1) / len(order) for place, time in enumerate(order)}
    return [np.array([rank[time] for time in of_space], dtype=np.float32) for of_space in times]


def place_episode(episode: Episode, name: str, places: dict[str, int]) -> Episode:
    """Return a space's episode with what of it was shown, under the numbers of the merged reply."""
    shown = sorted((item for item in episode.shown if item.id in places), key=lambda item: places[item.id])
    return replace(episode, id=name, shown=tuple(shown), places=tuple(places[item.id] for item in shown))


def _join_results(results: Sequence[RecallResult], merged: Sequence[Evidence], episode: str) -> RecallResult:
    """Return several results as one: the one that suffices best, or of a query that nobody judged the first, leads."""
    best = max(results, key=lambda result: result.sufficiency or 0.0)
    asked = next((result for result in results if result.engine != "embedded"), best)
    spent = [result.spent for result in results if result.spent is not None]
    return replace(
        best,
        evidence=tuple(merged),
        missing=tuple(word for word in best.missing if all(word in result.missing for result in results)),
        engine=asked.engine,
        warnings=tuple(dict.fromkeys(text for result in results for text in result.warnings)),
        conflicts=tuple(dict.fromkeys(text for result in results for text in result.conflicts)),
        roots=tuple(root for result in results for root in result.roots),
        paths=tuple(path for result in results for path in result.paths),
        next=tuple(step for result in results for step in result.next),
        rounds=sum(result.rounds for result in results),
        episode=episode,
        points=tuple(point for result in results for point in result.points),
        wishes=tuple({wish.text: wish for result in results for wish in result.wishes}.values())[:SHOWN_WISHES],
        trace=tuple(call for result in results for call in result.trace),
        turns=sum(result.turns for result in results),
        texts=sum(result.texts for result in results) + sum(len(result.evidence) for result in results),
        spent=sum(spent[1:], spent[0]) if spent else None,
        activated=(),
    )
