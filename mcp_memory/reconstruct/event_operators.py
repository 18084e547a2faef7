"""From sentences to when and around, and to what is told of their topic: three of MRAgent's operators (§3.2, Table 4).

=================  ============  ==============================================================
operator           in the paper  from, and to
=================  ============  ==============================================================
``event_time``     φ_{e→t}       sentences: when, in the order of the timeline
``event_context``  φ_{e→ctx}     sentences: the turns around them, and what shares a rare cue
``topic_events``   φ_{τ→e}       a topic: its passages, the most typical first
=================  ============  ==============================================================

Two more are in ``cue_operators.py``, the last two in ``personal_operators.py``. The view must keep a `CueGraph` and
`Topics`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Sentence
from mcp_memory.language import iso
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.cues import query_cues
from mcp_memory.reconstruct.events import RARE, counted, item, onward, query_of, ranked, rows_of, shown, speaker
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topic, Topics
from mcp_memory.view.evidence import dated_evidence, segment_evidence
from mcp_memory.view.space import NONE, Space

_DAY = 86_400_000
_NEAR = 2  # topics near one that are suggested


class EventTime:
    """When: the sentences in the order of what they tell, each with the time that it states.

    Where a sentence states none, it is placed at the time at which it was said, which every source has.
    """

    name = "event_time"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; all items score 1, for the order is that of time."""
        space = asked.space
        rows = sorted(shown(asked, rows_of(space, asked.ids)), key=lambda row: (*_when(space, row), row))
        rows = rows[: asked.limit]
        items = tuple(dated_evidence(space, space.sentences[row], 1.0, (self.name,)) for row in rows)
        return OperatorResult(items, tuple(self._next(asked, rows)))

    def _next(self, asked: OperatorInput, rows: Sequence[int]) -> Iterator[Suggestion]:
        """Yield what is known of the time from the first to the last, and what was said around them."""
        if not rows:
            return
        times = [_when(asked.space, row) for row in rows]
        since, until = (
            iso.show(moment - moment % _DAY)
            for moment in (min(since for since, _ in times), max(until for _, until in times) - 1)
        )
        if since and until:
            yield Suggestion("timeline", {"since": since, "until": until}, "what else began in that time")
        yield from onward(asked, rows, "event_context")


class EventContext:
    """Around: the passage before and after each sentence in its talk or document, and what shares a rare cue with it.

    A cue is rare in at most `RARE` sentences; who speaks links nothing.
    """

    name = "event_context"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; the passages come first, then what is linked, the rarest cues first."""
        space, graph = asked.space, CueGraph.of(asked.space)
        rows = shown(asked, rows_of(space, asked.ids))
        own = {segment for row in rows for segment in _segments(space, row)}
        around = dict.fromkeys(near for row in rows for near in _around(space, row) if near not in own)
        inside = {one for segment in (*own, *around) for one in space.sentences_within(space.segments[segment])}
        worth: defaultdict[int, float] = defaultdict(float)
        for row in rows:
            for cue in graph.cues(row):
                if graph.degree(cue) <= RARE and cue not in speaker(graph, row):
                    for other in set(graph.rows(cue)).difference(inside, rows):
                        worth[other] += graph.rarity(cue)
        top = max(worth.values(), default=1.0)
        linked = ranked(asked, {row: worth[row] / top for row in shown(asked, worth)})
        passages = [segment_evidence(space, segment, 1.0, (self.name,)) for segment in around]
        shares = max(asked.limit - len(passages), asked.limit // 2) if linked else 0
        items = passages[: asked.limit - min(shares, len(linked))]
        items += [item(space, row, score / 2, self.name) for row, score in linked[: asked.limit - len(items)]]
        return OperatorResult(tuple(items), tuple(self._next(asked, [row for row, _ in linked], sorted(own))))

    def _next(self, asked: OperatorInput, linked: Sequence[int], own: Sequence[int]) -> Iterator[Suggestion]:
        yield from onward(asked, linked, "event_keywords", "event_time")
        topics = Topics.of(asked.space)
        found = {topic.id: topic for segment in own if (topic := topics.topic_of(asked.space, segment))}
        for topic in list(found.values())[:1]:
            why = f"{counted(len(topic.members), 'passage')} on the same topic"
            yield Suggestion("topic_events", {"topic": topic.id} | query_of(asked), why)


class TopicEvents:
    """A topic's passages: those that fit the query best first, without one the most typical."""

    name = "topic_events"
    needs = ("topic",)
    uses = ("topic", "query", "since", "until")

    def __call__(self, asked: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; ``topic`` is the id of one, or words, and then it is the one that says them most."""
        space, topics = asked.space, Topics.of(asked.space)
        topic = topics.get(space, asked.topic or "") or self._about(asked, topics)
        if topic is None:
            return OperatorResult(())
        likeness_of = dict(topics.typical(space, topic))
        by_row = {row: space.sentences_within(space.segments[row]) for row in likeness_of}
        first = {rows[0]: row for row, rows in by_row.items() if rows}
        found = ranked(asked, {one: max(0.01, likeness_of[first[one]]) for one in shown(asked, first)})
        items = tuple(segment_evidence(space, first[one], score, (self.name,)) for one, score in found)
        return OperatorResult(items, tuple(self._next(asked, topics, topic, [one for one, _ in found])))

    def _about(self, asked: OperatorInput, topics: Topics) -> Topic | None:
        """Return the topic whose segments have most of the cues that are asked for, by how much each tells."""
        space, graph = asked.space, CueGraph.of(asked.space)
        votes: defaultdict[str, float] = defaultdict(float)
        found: dict[str, Topic] = {}
        for cue, like in (hit for one in query_cues(asked.topic or "") for hit in graph.find(one.key)):
            met: Counter[str] = Counter()
            for segment in {segment for row in graph.rows(cue) for segment in _segments(space, row)}:
                if topic := topics.topic_of(space, segment):
                    found[topic.id] = topic
                    met[topic.id] += 1
            for name, count in met.items():
                votes[name] += like * graph.rarity(cue) * count / len(found[name].members) ** 0.5
        best = min(votes, key=lambda name: (-votes[name], name), default=None)
        return None if best is None else found[best]

    def _next(self, asked: OperatorInput, topics: Topics, topic: Topic, rows: Sequence[int]) -> Iterator[Suggestion]:
        yield from onward(asked, rows, "event_keywords", "event_time")
        graph = CueGraph.of(asked.space)
        for other in topics.near(asked.space, topic, _NEAR):
            terms = ", ".join(topics.summary(asked.space, graph, other).terms) or "another topic"
            yield Suggestion(self.name, {"topic": other.id}, f"a topic near it: {terms}")


def _when(space: Space, row: int) -> tuple[int, int]:
    """Return the time that a sentence tells of: as it states it, else when it was said."""
    sentence: Sentence = space.sentences[row]
    said = space.turns[sentence.turn_id].time
    starts = [time.since for time in sentence.times if time.since > BEGINNING]
    ends = [time.until for time in sentence.times if time.until < FOREVER]
    since = min(starts) if starts else max(ends) - 1 if ends else said
    return since, max(ends) if ends else since + 1


def _segments(space: Space, row: int) -> list[int]:
    sentence = space.sentences[row]
    return space.segments_with(sentence.turn_id, sentence.index)


def _around(space: Space, row: int) -> Iterator[int]:
    """Yield the segments before and after a sentence's: of its session's talk, or of its document."""
    for segment in _segments(space, row):
        if space.talk[segment]:
            yield from (near for near in (int(space.previous[segment]), int(space.next[segment])) if near != NONE)
            continue
        whole = space.segments_with(space.segments[segment].turn_id, -1)
        place = whole.index(segment)
        yield from (whole[near] for near in (place - 1, place + 1) if 0 <= near < len(whole))
