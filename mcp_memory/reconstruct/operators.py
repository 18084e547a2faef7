"""Five of MRAgent's seven operators (§3.2, Table 4): walking the cue–tag–content graph, forward and in reverse.

====================  =================  ================================================================
operator              in the paper       from, and to
====================  =================  ================================================================
``tag_events``        φ_{(c,g)→e}        a cue, or what a query names, and a tag: the sentences
``event_keywords``    φ_{e→(c,g)}        sentences: their cues, each a step that leads to other sentences
``event_time``        φ_{e→t}            sentences: when, in the order of the timeline
``event_context``     φ_{e→ctx}          sentences: the turns around them, and what shares a rare cue
``topic_events``      φ_{τ→e}            a topic: its passages, the most typical first
====================  =================  ================================================================

The other two are in ``personal.py``. Each reply says in ``next`` how to go on, so that a client's own model, which does
the routing here (eq. 12), can walk from any step to any other. The view must keep a `CueGraph` and `Topics`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Sentence
from mcp_memory.language import iso
from mcp_memory.ports import Found, Step
from mcp_memory.reconstruct.cues import asked_cues, key_of, likeness
from mcp_memory.reconstruct.events import ranked, rows_of, shown
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topic, Topics
from mcp_memory.view.evidence import dated_evidence, segment_evidence, sentence_evidence
from mcp_memory.view.space import NONE, Space

RARE = 12
"""Sentences of a cue from which on it links no two of them by itself."""
PARTIAL = 2
"""Cues of a query that a sentence must have where it has not all of them (A.5)."""
LINKS = 8
"""Cues that are told in reverse: as many steps as a reader will look at."""
_DAY = 86_400_000
_NEXT = 3  # suggestions of one kind
_HELD = 3  # ids that a suggestion goes on from


class TagEvents:
    """From cues to sentences: those of one cue, of one cue under one tag, or those that have the cues of a query.

    A sentence that has all cues of the query comes first (full match); with two of them it is found as well (partial).
    """

    name = "tag_events"
    needs = ("entity or query",)
    uses = ("entity", "query", "tag", "since", "until")

    def __call__(self, asked: Step) -> Found:
        """See `ports.Operator`; begins at ``entity``, else at what ``query`` names; ``tag`` narrows it."""
        graph = CueGraph.of(asked.space)
        groups = _groups(graph, asked)
        if not groups:
            return Found(())
        total = sum(_telling(graph, group) for group in groups)
        share: defaultdict[int, float] = defaultdict(float)
        held: Counter[int] = Counter()
        for group in groups:
            part = _telling(graph, group) / total
            best: dict[int, float] = {}
            for cue, like in group:
                for row in self._rows(asked, graph, cue):
                    best[row] = max(best.get(row, 0.0), like * part)
            for row, worth in best.items():
                share[row] += worth
                held[row] += 1
        least = min(PARTIAL, len(groups))
        rows = shown(asked, (row for row in share if held[row] >= least))
        found = ranked(asked, {row: min(1.0, share[row]) for row in rows})
        items = tuple(_item(asked.space, row, score, self.name) for row, score in found)
        return Found(items, tuple(self._next(asked, graph, groups, [row for row, _ in found])))

    def _rows(self, asked: Step, graph: CueGraph, cue: int) -> list[int]:
        if asked.tag is None:
            return graph.rows(cue)
        tags = _matching(graph, graph.tags(asked.space, cue), asked.tag)
        return sorted({row for tag in tags for row in graph.contents(asked.space, cue, tag)})

    def _next(
        self, asked: Step, graph: CueGraph, groups: Sequence[Sequence[tuple[int, float]]], rows: Sequence[int]
    ) -> Iterator[Suggestion]:
        """Yield the tags under which more is told of the cue, then what the sentences lead to."""
        cue = max((group[0][0] for group in groups), key=graph.rarity)
        tags = graph.tags(asked.space, cue)
        here = dict.fromkeys(tag for row in rows for one, tag in graph.reverse(asked.space, row) if one == cue)
        if asked.tag is None and len(tags) > 1:
            order = sorted(tags, key=lambda tag: (tags[tag] < 2, tag not in here, -tags[tag], tag))
        else:
            order = [] if rows else list(tags)
        for tag in order[:_NEXT]:
            args = {"entity": graph.written(cue), "tag": graph.label(tag)} | _query(asked)
            yield Suggestion(self.name, args, f"{_counted(tags[tag])} under this tag")
        yield from _onward(asked, rows, "event_keywords", "event_context")


class EventKeywords:
    """In reverse: what the sentences may be connected with. Each cue is a step, rare ones and names first.

    What the query says already comes last, for it leads back to where the walk began. A cue of no other sentence
    leads nowhere and is left out.
    """

    name = "event_keywords"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, asked: Step) -> Found:
        """See `ports.Operator`; the sentences themselves are the items, their cues and tags stand in ``next``."""
        space, graph = asked.space, CueGraph.of(asked.space)
        rows = shown(asked, rows_of(space, asked.ids))[: asked.limit]
        items = tuple(_item(space, row, 1.0, self.name) for row in rows)
        known = {cue.key for cue in asked_cues(asked.question.text)} if asked.question else set()
        told: dict[int, str] = {}
        tags: dict[int, dict[str, None]] = {}
        named: set[int] = set()
        speakers: set[int] = set()
        for row in rows:
            speakers.update(_speaker(graph, row))
            told |= {cue: written for cue, written in graph.spelling(space, row).items() if cue not in told}
            named |= graph.names(row)
            for cue, tag in graph.reverse(space, row):
                tags.setdefault(cue, {})[tag] = None
        others = {cue: len(shown(asked, set(graph.rows(cue)).difference(rows))) for cue in tags}
        order = sorted(
            (cue for cue, count in others.items() if count),
            key=lambda cue: (
                graph.key(cue) in known,
                others[cue] > RARE,
                cue in speakers,
                cue not in named,
                others[cue],
                -len(graph.key(cue).split()),
                cue,
            ),
        )
        following = [
            Suggestion(
                "tag_events",
                {"entity": told[cue]},
                f"{_counted(others[cue])} more; here it stands for {', '.join(map(graph.label, tags[cue]))}",
            )
            for cue in _apart(graph, order, others)[:LINKS]
        ]
        return Found(items, tuple(following))


class EventTime:
    """When: the sentences in the order of what they tell, each with the time that it states.

    Where a sentence states none, it is placed at the time at which it was said, which every source has.
    """

    name = "event_time"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, asked: Step) -> Found:
        """See `ports.Operator`; all items score 1, for the order is that of time."""
        space = asked.space
        rows = sorted(shown(asked, rows_of(space, asked.ids)), key=lambda row: (*_when(space, row), row))
        rows = rows[: asked.limit]
        items = tuple(dated_evidence(space, space.sentences[row], 1.0, (self.name,)) for row in rows)
        return Found(items, tuple(self._next(asked, rows)))

    def _next(self, asked: Step, rows: Sequence[int]) -> Iterator[Suggestion]:
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
        yield from _onward(asked, rows, "event_context")


class EventContext:
    """Around: the passage before and after each sentence in its talk or document, and what shares a rare cue with it.

    A cue is rare in at most `RARE` sentences; who speaks links nothing.
    """

    name = "event_context"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, asked: Step) -> Found:
        """See `ports.Operator`; the passages come first, then what is linked, the rarest cues first."""
        space, graph = asked.space, CueGraph.of(asked.space)
        rows = shown(asked, rows_of(space, asked.ids))
        own = {segment for row in rows for segment in _segments(space, row)}
        around = dict.fromkeys(near for row in rows for near in _around(space, row) if near not in own)
        inside = {one for segment in (*own, *around) for one in space.sentences_within(space.segments[segment])}
        worth: defaultdict[int, float] = defaultdict(float)
        for row in rows:
            for cue in graph.cues(row):
                if graph.degree(cue) <= RARE and cue not in _speaker(graph, row):
                    for other in set(graph.rows(cue)).difference(inside, rows):
                        worth[other] += graph.rarity(cue)
        top = max(worth.values(), default=1.0)
        linked = ranked(asked, {row: worth[row] / top for row in shown(asked, worth)})
        passages = [segment_evidence(space, segment, 1.0, (self.name,)) for segment in around]
        shares = max(asked.limit - len(passages), asked.limit // 2) if linked else 0
        items = passages[: asked.limit - min(shares, len(linked))]
        items += [_item(space, row, score / 2, self.name) for row, score in linked[: asked.limit - len(items)]]
        return Found(tuple(items), tuple(self._next(asked, [row for row, _ in linked], sorted(own))))

    def _next(self, asked: Step, linked: Sequence[int], own: Sequence[int]) -> Iterator[Suggestion]:
        yield from _onward(asked, linked, "event_keywords", "event_time")
        topics = Topics.of(asked.space)
        found = {topic.id: topic for segment in own if (topic := topics.topic_of(asked.space, segment))}
        for topic in list(found.values())[:1]:
            why = f"{_counted(len(topic.members), 'passage')} on the same topic"
            yield Suggestion("topic_events", {"topic": topic.id} | _query(asked), why)


class TopicEvents:
    """A topic's passages: those that fit the query best first, without one the most typical."""

    name = "topic_events"
    needs = ("topic",)
    uses = ("topic", "query", "since", "until")

    def __call__(self, asked: Step) -> Found:
        """See `ports.Operator`; ``topic`` is the id of one, or words, and then it is the one that says them most."""
        space, topics = asked.space, Topics.of(asked.space)
        topic = topics.get(space, asked.topic or "") or self._about(asked, topics)
        if topic is None:
            return Found(())
        likeness_of = dict(topics.typical(space, topic))
        by_row = {row: space.sentences_within(space.segments[row]) for row in likeness_of}
        first = {rows[0]: row for row, rows in by_row.items() if rows}
        found = ranked(asked, {one: max(0.01, likeness_of[first[one]]) for one in shown(asked, first)})
        items = tuple(segment_evidence(space, first[one], score, (self.name,)) for one, score in found)
        return Found(items, tuple(self._next(asked, topics, topic, [one for one, _ in found])))

    def _about(self, asked: Step, topics: Topics) -> Topic | None:
        """Return the topic whose segments have most of the cues that are asked for, by how much each tells."""
        space, graph = asked.space, CueGraph.of(asked.space)
        votes: defaultdict[str, float] = defaultdict(float)
        found: dict[str, Topic] = {}
        for cue, like in (hit for one in asked_cues(asked.topic or "") for hit in graph.find(one.key)):
            met: Counter[str] = Counter()
            for segment in {segment for row in graph.rows(cue) for segment in _segments(space, row)}:
                if topic := topics.topic_of(space, segment):
                    found[topic.id] = topic
                    met[topic.id] += 1
            for name, count in met.items():
                votes[name] += like * graph.rarity(cue) * count / len(found[name].members) ** 0.5
        best = min(votes, key=lambda name: (-votes[name], name), default=None)
        return None if best is None else found[best]

    def _next(self, asked: Step, topics: Topics, topic: Topic, rows: Sequence[int]) -> Iterator[Suggestion]:
        yield from _onward(asked, rows, "event_keywords", "event_time")
        graph = CueGraph.of(asked.space)
        for other in topics.near(asked.space, topic, _NEXT - 1):
            terms = ", ".join(topics.summary(asked.space, graph, other).terms) or "another topic"
            yield Suggestion(self.name, {"topic": other.id}, f"a topic near it: {terms}")


def _groups(graph: CueGraph, asked: Step) -> list[list[tuple[int, float]]]:
    """Return the cues that are known of what was asked: those that each of its names or words matches, best first."""
    names = [asked.entity] if asked.entity is not None else []
    if not names and asked.question is not None:
        names = [cue.written for cue in asked_cues(asked.question.text)]
    found = (graph.find(name) for name in dict.fromkeys(names))
    return list({group[0][0]: group for group in found if group}.values())


def _telling(graph: CueGraph, group: Sequence[tuple[int, float]]) -> float:
    return graph.rarity(group[0][0])


def _matching(graph: CueGraph, tags: Iterable[str], asked: str) -> list[str]:
    """Return the tags that one asked for means: as it is written, else by its key (`likeness`), in any form."""
    plain = asked.replace("_", " ")
    exact = [tag for tag in tags if graph.label(tag).casefold() == plain.casefold()]
    return exact or [tag for tag in tags if likeness(key_of(plain), key_of(graph.label(tag)))]


def _item(space: Space, row: int, score: float, operator: str) -> Evidence:
    return sentence_evidence(space, space.sentences[row], score, (operator,))


def _onward(asked: Step, rows: Sequence[int], *operators: str) -> Iterator[Suggestion]:
    """Yield the steps that go on from the first of these sentences."""
    why = {
        "event_keywords": "what else these are about, and where that leads",
        "event_context": "what was said around them, and what is linked",
        "event_time": "when, in order",
    }
    ids = tuple(asked.space.sentences[row].id for row in rows[:_HELD])
    if ids:
        for operator in operators:
            yield Suggestion(operator, {"ids": ids, **_query(asked)}, why[operator])


def _query(asked: Step) -> dict[str, str]:
    return {} if asked.question is None else {"query": asked.question.text}


def _counted(count: int, what: str = "sentence") -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _when(space: Space, row: int) -> tuple[int, int]:
    """Return the time that a sentence tells of: as it states it, else when it was said."""
    sentence: Sentence = space.sentences[row]
    said = space.turns[sentence.turn_id].time
    starts = [time.since for time in sentence.times if time.since > BEGINNING]
    ends = [time.until for time in sentence.times if time.until < FOREVER]
    since = min(starts) if starts else max(ends) - 1 if ends else said
    return since, max(ends) if ends else since + 1


def _speaker(graph: CueGraph, row: int) -> list[int]:
    """Return the cue that a sentence begins with, if it is a name: who speaks, or what the document is about."""
    return [cue for cue in graph.cues(row)[:1] if cue in graph.names(row)]


def _apart(graph: CueGraph, order: Sequence[int], others: Mapping[int, int]) -> list[int]:
    """Return cues in their order, without the words of a phrase that lead to as many sentences as it does."""
    kept: list[int] = []
    for cue in order:
        parts = set(graph.key(cue).split())
        if not any(parts < set(graph.key(one).split()) and others[cue] == others[one] for one in kept):
            kept.append(cue)
    return kept


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
