"""Topics: what a space keeps coming back to, from its segments (MRAgent's abstract layer, V^τ; DESIGN 1 step 5).

Leader clustering (Hartigan, "Clustering Algorithms", 1975, ch. 3): in the order of arrival, a segment joins the leader
whose vector is most similar to its own, if the cosine is at least .55; else it becomes a leader itself. A leader is a
topic once a second segment has joined it. So topics grow as texts arrive, and no segment is assigned twice.

The paper has a language model write a topic's summary. Here it is extractive: the most typical sentence, the one
nearest to the mean of the members, and the cues that many members and few other texts have.

Leaders do not move, so that topics do not depend on how the arrivals were divided into calls. A space of more than
`MOST_SEGMENTS` segments has no topics.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcp_memory.domain.ids import digest
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.vectors import GrowingMatrix, Matrix, Vector
from mcp_memory.view.space import NONE, Space

TOPIC_COSINE = 0.55
"""The cosine from which on a segment joins a leader's topic (DESIGN 1; for vectors like those of MiniLM)."""
MOST_SEGMENTS = 50_000
"""Segments of a space above which there are no topics: too many to compare each with all leaders."""
LEAST_MEMBERS = 2
"""The fewest segments of a topic."""
MOST_TERMS = 5
"""Of a summary."""
SAMPLE = 50
"""Members that are read for a summary, the most typical first."""
_BLOCK = 512  # segments compared at once


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic.

    Attributes:
        id: ``o_…``, derived from its leader, so it does not change.
        number: within `Topics`.
        members: the rows of its live segments, ascending.
    """

    id: str
    number: int
    members: Sequence[int]


class Topics:
    """The topics of a space."""

    def __init__(self) -> None:
        self._leaders: GrowingMatrix | None = None
        self._members: list[array[int]] = []  # of each leader, itself first
        self._of: array[int] = array("i")  # the leader of each segment

    @classmethod
    def of(cls, space: Space) -> Topics:
        """Return the topics of a space as of now, as `CueGraph.of` does; without vectors those there were before."""
        topics = space.index(cls)
        topics.catch_up(space)
        return topics

    def add_segments(self, space: Space, since: int) -> None:
        """Leave it: `of` adds what arrived when it is needed."""

    def catch_up(self, space: Space) -> None:
        """Assign the segments that arrived since the last time."""
        vectors = space.segment_vectors
        if vectors is None or len(vectors) > MOST_SEGMENTS:
            return
        self._leaders = self._leaders or GrowingMatrix(vectors.dimension)
        until = space.indexed_to  # later ones have to wait, so that topics do not depend on when vectors are made
        for start in range(len(self._of), until, _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, until))
            self._assign(start, vectors.take(rows), self._leaders)

    def all(self, space: Space) -> list[Topic]:
        """Return every topic, the one with most live segments first; ties by id."""
        found = (self._topic(space, number) for number in range(len(self._members)))
        return sorted((topic for topic in found if topic), key=lambda topic: (-len(topic.members), topic.id))

    def get(self, space: Space, topic_id: str) -> Topic | None:
        """Return a topic by its id, or None."""
        return next((topic for topic in self.all(space) if topic.id == topic_id), None)

    def topic_of(self, space: Space, segment: int) -> Topic | None:
        """Return the topic of a segment by its row; None for a segment without one."""
        return self._topic(space, self._of[segment]) if 0 <= segment < len(self._of) else None

    def typical(self, space: Space, topic: Topic) -> list[tuple[int, float]]:
        """Return the members of a topic with their cosine to its mean, the most typical first; ties by row."""
        scores = _vectors_of(space, topic.members) @ self._mean(space, topic)
        order = sorted(range(len(topic.members)), key=lambda place: (-scores[place], topic.members[place]))
        return [(topic.members[place], float(scores[place])) for place in order]

    def summary(self, space: Space, graph: CueGraph, topic: Topic) -> tuple[int, tuple[str, ...]]:
        """Return the row of a topic's most typical sentence, `NONE` where its segments have none, and its terms.

        These are the cues that distinguish it from other topics, best first, as written.
        """
        members = [row for row, _ in self.typical(space, topic)[:SAMPLE]]
        counts: Counter[int] = Counter()
        for row in members:
            counts.update({cue for one in space.sentences_within(space.segments[row]) for cue in graph.cues(one)})
        shared = [cue for cue, count in counts.items() if count > 1]
        shared.sort(key=lambda cue: (-counts[cue] * graph.rarity(cue), -len(graph.key(cue)), graph.key(cue)))
        terms: list[int] = []
        for cue in shared:
            parts = set(graph.key(cue).split())
            if len(terms) < MOST_TERMS and not any(parts <= set(graph.key(one).split()) for one in terms):
                terms.append(cue)
        return self._sentence(space, topic, members), tuple(map(graph.written, terms))

    def _sentence(self, space: Space, topic: Topic, members: Sequence[int]) -> int:
        """Return the row of the sentence nearest to the mean; without their vectors the first of the first member."""
        rows = list(dict.fromkeys(one for row in members for one in space.sentences_within(space.segments[row])))
        if not rows:
            return NONE
        if space.sentence_vectors is None:
            return rows[0]
        scores = space.sentence_vectors.take(np.array(rows, dtype=np.intp)) @ self._mean(space, topic)
        return rows[int(np.argmax(scores))]

    def _assign(self, start: int, block: Matrix, leaders: GrowingMatrix) -> None:
        """Assign each segment of a block to its leader, one after the other."""
        known = len(leaders)
        among = leaders.dot(block) if known else np.empty((len(block), 0), dtype=np.float32)
        best = among.argmax(axis=1) if known else np.zeros(len(block), dtype=np.intp)
        within = block @ block.T
        new: list[int] = []  # places in the block that became leaders
        for place in range(len(block)):
            leader, similarity = (int(best[place]), float(among[place, best[place]])) if known else (NONE, -1.0)
            if new:
                nearest = int(np.argmax(within[place, new]))
                if float(within[place, new[nearest]]) > similarity:
                    leader, similarity = known + nearest, float(within[place, new[nearest]])
            if similarity < TOPIC_COSINE:
                leader = len(self._members)
                new.append(place)
                self._members.append(array("i"))
                leaders.append(block[place][None, :])
            self._members[leader].append(start + place)
            self._of.append(leader)

    def _topic(self, space: Space, number: int) -> Topic | None:
        rows = self._members[number]
        if len(rows) < LEAST_MEMBERS:
            return None
        live = space.live
        members = [row for row in rows if live[row]]
        if len(members) < LEAST_MEMBERS:
            return None
        return Topic(f"o_{digest(space.name, space.segments[rows[0]].id)}", number, members)

    def _mean(self, space: Space, topic: Topic) -> Vector:
        mean: Vector = _vectors_of(space, topic.members).mean(axis=0)
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length or 1.0)


def _vectors_of(space: Space, rows: Sequence[int]) -> Matrix:
    assert space.segment_vectors is not None  # topics were made of them
    return space.segment_vectors.take(np.array(rows, dtype=np.intp))
