"""The episodic layer, V^e: from cues to sentences, back, to their time and to their context (MRAgent §3.2, Table 4).

==================  =============  ================================================================
operator            in the paper   from, and to
==================  =============  ================================================================
``tag_events``      φ_{(c,g)→e}    a cue, or what a query names, and a tag: the sentences
``event_keywords``  φ_{e→(c,g)}    sentences: their cues, each a step that leads to other sentences
``event_time``      φ_{e→t}        sentences: when, in the order of the timeline
``event_context``   φ_{e→ctx}      sentences: the turns around them, and what shares a rare cue
==================  =============  ================================================================

The other three of MRAgent's seven operators are in ``semantic_operators.py``. Each result says in ``next`` how to go
on, so that a client's own model, which does the routing in the paper (eq. 12), can go from any operator to any other.
The view must keep a `CueGraph` and `Topics`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language import iso
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.graph import CueGraph, key_of, query_cues, similarity
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.view.evidence import dated_evidence, rows_of, segment_evidence, sentence_evidence
from mcp_memory.view.space import NONE, Space

PARTIAL = 2
"""Cues of a query that a sentence must have where it does not have all of them (DESIGN 6)."""
LINKS = 8
"""Cues that ``event_keywords`` suggests: as many as a reader will look at."""
NEAR = 3
"""Passages that ``event_context`` shows on either side of a sentence."""
RARE = 12
"""A cue in more sentences than this links no two of them by itself."""
_TAGS = 3  # tags that are suggested
_IDS = 3  # ids that a suggestion starts from


class TagEvents:
    """From cues to sentences: those of one cue, of one cue under one tag, or those that have the cues of a query.

    A sentence with all cues of the query comes first (full match); with two of them it is found as well (partial).
    """

    name = "tag_events"
    needs = ("entity or query",)
    uses = ("entity", "query", "tag", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; starts from ``entity``, else from what ``query`` names; ``tag`` restricts it."""
        graph = CueGraph.of(call.space)
        groups = _cue_groups(graph, call)
        if not groups:
            return OperatorResult(())
        total = sum(graph.rarity(group[0][0]) for group in groups)
        worth: defaultdict[int, float] = defaultdict(float)
        matched: Counter[int] = Counter()
        for group in groups:
            share = graph.rarity(group[0][0]) / total
            best: dict[int, float] = {}
            for cue, match in group:
                for row in self._rows(call, graph, cue):
                    best[row] = max(best.get(row, 0.0), match * share)
            for row, part in best.items():
                worth[row] += part
                matched[row] += 1
        least = min(PARTIAL, len(groups))
        rows = visible_rows(call, (row for row in worth if matched[row] >= least))
        ranked = rank_rows(call, {row: min(1.0, worth[row]) for row in rows})
        items = tuple(_evidence(call.space, row, score, self.name) for row, score in ranked)
        return OperatorResult(items, tuple(self._next(call, graph, groups, [row for row, _ in ranked])))

    def _rows(self, call: OperatorInput, graph: CueGraph, cue: int) -> list[int]:
        if call.tag is None:
            return graph.rows(cue)
        tags = _matching_tags(graph, graph.tags(call.space, cue), call.tag)
        return sorted({row for tag in tags for row in graph.contents(call.space, cue, tag)})

    def _next(
        self, call: OperatorInput, graph: CueGraph, groups: Sequence[Sequence[tuple[int, float]]], rows: Sequence[int]
    ) -> Iterator[Suggestion]:
        """Yield the tags under which the cue has more sentences, then where the sentences lead."""
        cue = max((group[0][0] for group in groups), key=graph.rarity)
        tags = graph.tags(call.space, cue)
        here = dict.fromkeys(tag for row in rows for other, tag in graph.reverse(call.space, row) if other == cue)
        if call.tag is None and len(tags) > 1:
            order = sorted(tags, key=lambda tag: (tags[tag] < 2, tag not in here, -tags[tag], tag))
        else:
            order = [] if rows else list(tags)
        for tag in order[:_TAGS]:
            args = {"entity": graph.written(cue), "tag": graph.label(tag)} | query_argument(call)
            yield Suggestion(self.name, args, f"{count_in_words(tags[tag])} under this tag")
        yield from suggest_operators(call, rows, "event_keywords", "event_context")


class EventKeywords:
    """From sentences back to their cues: each cue is a step to other sentences, rare ones and names first.

    Cues of the query come last, because they lead back to the start. Cues without other sentences are left out.
    """

    name = "event_keywords"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; the sentences themselves are the items, their cues and tags stand in ``next``."""
        space, graph = call.space, CueGraph.of(call.space)
        rows = visible_rows(call, rows_of(space, call.ids))[: call.limit]
        items = tuple(_evidence(space, row, 1.0, self.name) for row in rows)
        in_query = {cue.key for cue in query_cues(call.query.text)} if call.query else set()
        written: dict[int, str] = {}
        tags: dict[int, dict[str, None]] = {}
        names: set[int] = set()
        speakers: set[int] = set()
        for row in rows:
            speakers.update(speaker_cue(graph, row))
            written |= {cue: form for cue, form in graph.spelling(space, row).items() if cue not in written}
            names |= graph.names(row)
            for cue, tag in graph.reverse(space, row):
                tags.setdefault(cue, {})[tag] = None
        others = {cue: len(visible_rows(call, set(graph.rows(cue)).difference(rows))) for cue in tags}
        order = sorted(
            (cue for cue, count in others.items() if count),
            key=lambda cue: (
                graph.key(cue) in in_query,
                others[cue] > RARE,
                cue in speakers,
                cue not in names,
                others[cue],
                -len(graph.key(cue).split()),
                cue,
            ),
        )
        following = [
            Suggestion(
                "tag_events",
                {"entity": written[cue]},
                f"{count_in_words(others[cue])} more; here it stands for {', '.join(map(graph.label, tags[cue]))}",
            )
            for cue in _without_parts(graph, order, others)[:LINKS]
        ]
        return OperatorResult(items, tuple(following))


class EventTime:
    """When: the sentences in the order of the times that they state.

    A sentence that states none is placed at the time at which it was said, which every source has.
    """

    name = "event_time"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; all items score 1, because the order is that of time."""
        space = call.space
        rows = sorted(visible_rows(call, rows_of(space, call.ids)), key=lambda row: (*_time_of(space, row), row))
        rows = rows[: call.limit]
        items = tuple(dated_evidence(space, space.sentences[row], 1.0, (self.name,)) for row in rows)
        return OperatorResult(items, tuple(self._next(call, rows)))

    def _next(self, call: OperatorInput, rows: Sequence[int]) -> Iterator[Suggestion]:
        """Yield the facts of the time from the first to the last sentence, and the context of the sentences."""
        if not rows:
            return
        times = [_time_of(call.space, row) for row in rows]
        since, until = (
            iso.show(moment - moment % iso.DAY)
            for moment in (min(since for since, _ in times), max(until for _, until in times) - 1)
        )
        if since and until:
            yield Suggestion("timeline", {"since": since, "until": until}, "what else began in that time")
        yield from suggest_operators(call, rows, "event_context")


class EventContext:
    """Around: what was said before and after each sentence in its talk or document, and what shares a rare cue with it.

    Up to `NEAR` messages of talk, by their beginnings, or passages of a document on either side come in the order in
    which they were said, a message with code whole; the nearest have the highest score. What only a cue (no speaker) in
    at most `RARE` sentences links follows, in a quarter of the places: sentences of other talks have misled readers.
    """

    name = "event_context"
    needs = ("ids",)
    uses = ("ids", "query", "since", "until")

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; the passages come first, then the linked sentences, the rarest cues first."""
        space, graph = call.space, CueGraph.of(call.space)
        rows = visible_rows(call, rows_of(space, call.ids))
        own = {segment for row in rows for segment in segments_of(space, row)}
        around: dict[int, int] = {}  # how far away each passage is
        for row in rows:
            for near, steps in _around(space, row):
                if near not in own:
                    around[near] = min(steps, around.get(near, steps))
        around |= dict.fromkeys(_with_code(space, own), 1)
        inside = {row for segment in (*own, *around) for row in space.sentences_within(space.segments[segment])}
        worth: defaultdict[int, float] = defaultdict(float)
        for row in rows:
            for cue in graph.cues(row):
                if graph.degree(cue) <= RARE and cue not in speaker_cue(graph, row):
                    for other in set(graph.rows(cue)).difference(inside, rows):
                        worth[other] += graph.rarity(cue)
        top = max(worth.values(), default=1.0)
        linked = rank_rows(call, {row: worth[row] / top for row in visible_rows(call, worth)})
        shares = min(len(linked), call.limit // 4)
        nearest = sorted(around, key=lambda segment: (around[segment], segment))[: call.limit - shares]
        order = sorted(nearest, key=lambda segment: (space.segment_turn[segment].time, segment))
        items = [segment_evidence(space, segment, 1 / around[segment], (self.name,)) for segment in order]
        items += [_evidence(space, row, score / (NEAR + 1), self.name) for row, score in linked[:shares]]
        return OperatorResult(tuple(items), tuple(self._next(call, [row for row, _ in linked], sorted(own))))

    def _next(self, call: OperatorInput, linked: Sequence[int], own: Sequence[int]) -> Iterator[Suggestion]:
        yield from suggest_operators(call, linked, "event_keywords", "event_time")
        topics = Topics.of(call.space)
        found = {topic.id: topic for segment in own if (topic := topics.topic_of(call.space, segment))}
        for topic in list(found.values())[:1]:
            why = f"{count_in_words(len(topic.members), 'passage')} on the same topic"
            yield Suggestion("topic_events", {"topic": topic.id} | query_argument(call), why)


def visible_rows(call: OperatorInput, rows: Iterable[int]) -> list[int]:
    """Return the sentences that were said within the window and are not of an old revision, in their order."""
    space, window = call.space, call.window
    visible: list[int] = []
    for row in rows:
        turn = space.turns[space.sentences[row].turn_id]
        current = space.current(turn.session, turn.ref)
        if window.holds(turn) and (current is None or current.id == turn.id):
            visible.append(row)
    return visible


def rank_rows(call: OperatorInput, worth: Mapping[int, float]) -> list[tuple[int, float]]:
    """Return the best sentences with their scores, best = 1; in a tie the newest first, those of one turn in order.

    Args:
        call: with a query, a sentence gains up to 1 by what it weighs for that query.
        worth: of each sentence by its row, in (0, 1].
    """
    space = call.space
    rows = sorted(worth, key=lambda row: (-space.turns[space.sentences[row].turn_id].time, row))
    value = np.array([worth[row] for row in rows], dtype=np.float32)
    if call.weigh is not None and rows:
        weights = call.weigh(np.array(rows, dtype=np.intp))
        value = value + weights / np.float32(float(weights.max()) or 1.0)
    order = np.argsort(-value, kind="stable")[: call.limit].tolist()
    best = float(value.max()) if rows else 1.0
    return [(rows[place], float(value[place]) / best) for place in order]


def suggest_operators(call: OperatorInput, rows: Sequence[int], *operators: str) -> Iterator[Suggestion]:
    """Yield a call of each operator that goes on from the first of these sentences."""
    why = {
        "event_keywords": "what else these are about, and where that leads",
        "event_context": "what was said around them, and what is linked",
        "event_time": "when, in order",
    }
    ids = tuple(call.space.sentences[row].id for row in rows[:_IDS])
    if ids:
        for operator in operators:
            yield Suggestion(operator, {"ids": ids, **query_argument(call)}, why[operator])


def query_argument(call: OperatorInput) -> dict[str, str]:
    """Return the query as an argument of a suggested call; {} without one."""
    return {} if call.query is None else {"query": call.query.text}


def count_in_words(count: int, what: str = "sentence") -> str:
    """Return a number of things in words: "1 sentence", "2 sentences"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def speaker_cue(graph: CueGraph, row: int) -> list[int]:
    """Return the first cue of a sentence if it is a name: its speaker, or the title of its document."""
    return [cue for cue in graph.cues(row)[:1] if cue in graph.names(row)]


def segments_of(space: Space, row: int) -> list[int]:
    """Return the segments that a sentence is in."""
    sentence = space.sentences[row]
    return space.segments_with(sentence.turn_id, sentence.index)


def _cue_groups(graph: CueGraph, call: OperatorInput) -> list[list[tuple[int, float]]]:
    """Return the known cues that each name or word of the input matches, best first."""
    names = [call.entity] if call.entity is not None else []
    if not names and call.query is not None:
        names = [cue.written for cue in query_cues(call.query.text)]
    found = (graph.find(name) for name in dict.fromkeys(names))
    return list({group[0][0]: group for group in found if group}.values())


def _matching_tags(graph: CueGraph, tags: Iterable[str], wanted: str) -> list[str]:
    """Return the tags that match a wanted one: as it is written, else by its key (`similarity`), in any form."""
    plain = wanted.replace("_", " ")
    exact = [tag for tag in tags if graph.label(tag).casefold() == plain.casefold()]
    return exact or [tag for tag in tags if similarity(key_of(plain), key_of(graph.label(tag)))]


def _without_parts(graph: CueGraph, order: Sequence[int], others: Mapping[int, int]) -> list[int]:
    """Return cues in their order, without the words of a phrase that lead to as many sentences as the phrase."""
    kept: list[int] = []
    for cue in order:
        parts = set(graph.key(cue).split())
        if not any(parts < set(graph.key(other).split()) and others[cue] == others[other] for other in kept):
            kept.append(cue)
    return kept


def _time_of(space: Space, row: int) -> tuple[int, int]:
    """Return the time of a sentence: as it states it, else when it was said."""
    sentence = space.sentences[row]
    said = space.turns[sentence.turn_id].time
    starts = [time.since for time in sentence.times if time.since > BEGINNING]
    ends = [time.until for time in sentence.times if time.until < FOREVER]
    since = min(starts) if starts else max(ends) - 1 if ends else said
    return since, max(ends) if ends else since + 1


def _around(space: Space, row: int) -> Iterator[tuple[int, int]]:
    """Yield the segments before and after a sentence's, of its session's talk or of its document, and how far away."""
    for segment in segments_of(space, row):
        if space.talk[segment]:
            for direction in (space.previous_rows, space.next_rows):
                yield from _messages_along(space, segment, direction)
            continue
        whole = space.segments_with(space.segments[segment].turn_id, -1)
        place = whole.index(segment)
        for steps in range(1, NEAR + 1):
            yield from ((whole[near], steps) for near in (place - steps, place + steps) if 0 <= near < len(whole))


def _with_code(space: Space, segments: Iterable[int]) -> Iterator[int]:
    """Yield the segments of the messages of these segments that have code."""
    for turn in dict.fromkeys(space.segment_turn[segment].id for segment in segments if space.talk[segment]):
        if "```" in space.turns[turn].text:
            yield from space.segments_with(turn, -1)


def _messages_along(space: Space, segment: int, direction: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Yield what is next to a segment in its own message, then the beginnings of the next messages, one way."""
    own = last = space.segment_turn[segment].id
    near, steps = int(direction[segment]), 0
    if near != NONE and space.segment_turn[near].id == own:
        yield near, 1
    while near != NONE:
        turn = space.segment_turn[near].id
        if turn != last:
            last, steps = turn, steps + 1
            if steps > NEAR:
                return
            yield space.segments_with(turn, -1)[0], steps
        near = int(direction[near])


def _evidence(space: Space, row: int, score: float, operator: str) -> Evidence:
    return sentence_evidence(space, space.sentences[row], score, (operator,))
