"""The seven operators of MRAgent (§3.2, Table 4), each from what a caller knows to what leads on.

==========================  =================  ================================================================
operator                    in the paper       from, and to
==========================  =================  ================================================================
``tag_events``              φ_{(c,g)→e}        a cue, or what a query names, and a tag: the sentences
``event_keywords``          φ_{e→(c,g)}        sentences: their cues, each a step that leads to other sentences
``event_time``              φ_{e→t}            sentences: when, in the order of the timeline
``event_context``           φ_{e→ctx}          sentences: the turns around them
``personal_information``    φ_{c^s→g^s}        an entity: the aspects that something is known about
``personal_aspect``         φ_{(c^s,g^s)→v^s}  an entity and an aspect: what is known
``topic_events``            φ_{τ→e}            a topic: its passages, the most typical first
==========================  =================  ================================================================

A unit of the semantic layer, (c^s, g^s, s), is an entity, an aspect and a statement: that is a fact, so nothing is
stored a second time. An aspect covers both ends of a fact: "is a sister of" holds of the other sister too.

Each result says in ``next`` how to go on, so that a client's own model, which does the routing in the paper (eq. 12),
can go from any operator to any other. The view must keep a `CueGraph` and `Topics`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.facts import Version
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER
from mcp_memory.language import iso
from mcp_memory.language.stated import only_likely
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.graph import CueGraph, cue_similarity, key_of, query_cues, relation_tag
from mcp_memory.reconstruct.topics import Topic, Topics
from mcp_memory.vectors import Rows
from mcp_memory.view.evidence import fact_evidence, rows_of, segment_evidence, sentence_evidence
from mcp_memory.view.space import NONE, Space

PARTIAL_CUES = 2
"""Cues of a query that a sentence must have where it does not have all of them (DESIGN 6)."""
SUGGESTED_CUES = 8
"""Cues that ``event_keywords`` suggests: as many as a reader will look at."""
NEAR_PASSAGES = 3
"""Passages that ``event_context`` shows on either side of a sentence."""
RARE_SENTENCES = 12
"""A cue in more sentences than this is suggested behind rarer ones."""
_SUGGESTIONS = 3  # tags, ids, entities that are suggested
_FACTS_READ = 500  # facts that have an entity as their tail: a town may have thousands


def tag_events(call: OperatorInput) -> OperatorResult:
    """From cues to sentences: those of ``entity`` or of what ``query`` names, under a ``tag`` if one is given.

    A sentence with all cues of the query comes first (full match); with two of them it is found as well (partial). The
    tags under which the rarest cue has more sentences are suggested, then where the sentences lead.
    """
    space, graph = call.space, CueGraph.of(call.space)
    names = [call.entity] if call.entity is not None else []
    if not names and call.query is not None:
        names = [cue.written for cue in query_cues(call.query.text)]
    matches = (graph.find(name) for name in dict.fromkeys(names))
    groups = list({group[0][0]: group for group in matches if group}.values())  # known cues, the best of each first
    if not groups:
        return OperatorResult(())

    def rows_of_cue(cue: int) -> list[int]:
        if call.tag is None:
            return graph.rows(cue)
        found = _matching_tags(graph, graph.tags(space, cue), call.tag)
        return sorted({row for tag in found for row in graph.contents(space, cue, tag)})

    total = sum(graph.rarity(group[0][0]) for group in groups)
    worth: defaultdict[int, float] = defaultdict(float)
    matched: Counter[int] = Counter()
    for group in groups:
        share = graph.rarity(group[0][0]) / total
        best: dict[int, float] = {}
        for cue, match in group:
            for row in rows_of_cue(cue):
                best[row] = max(best.get(row, 0.0), match * share)
        for row, part in best.items():
            worth[row] += part
            matched[row] += 1
    least = min(PARTIAL_CUES, len(groups))
    shown = _visible(call, (row for row in worth if matched[row] >= least))
    ranked = _rank_rows(call, {row: min(1.0, worth[row]) for row in shown})
    rows = [row for row, _ in ranked]
    cue = max((group[0][0] for group in groups), key=graph.rarity)
    tags = graph.tags(space, cue)
    order = [] if rows else list(tags)
    if call.tag is None and len(tags) > 1:
        here = {tag for row in rows for other, tag in graph.reverse(space, row) if other == cue}
        order = sorted(tags, key=lambda tag: (tags[tag] < 2, tag not in here, -tags[tag], tag))
    following = [
        Suggestion(
            "tag_events",
            {"entity": graph.written(cue), "tag": graph.label(tag)} | call.query_argument,
            f"{_count_in_words(tags[tag])} under this tag",
        )
        for tag in order[:_SUGGESTIONS]
    ]
    items = tuple(_evidence(space, row, score, "tag_events") for row, score in ranked)
    return OperatorResult(items, (*following, *_lead_on(call, rows, "event_keywords", "event_context")))


def event_keywords(call: OperatorInput) -> OperatorResult:
    """From sentences back to their cues: each cue is a step to other sentences, rare ones and names first.

    The sentences themselves are the items. Cues of the query come last, because they lead back to the start. Cues
    without other sentences are left out, and so are the words of a phrase that lead to as many as the phrase.
    """
    space, graph = call.space, CueGraph.of(call.space)
    rows = _visible(call, rows_of(space, call.ids))[: call.limit]
    in_query = {cue.key for cue in query_cues(call.query.text)} if call.query else set()
    tags: dict[int, dict[str, None]] = {}
    names: set[int] = set()
    speakers: set[int] = set()
    for row in rows:
        speakers.update(speaker_cue(graph, row))
        names |= graph.names(row)
        for cue, tag in graph.reverse(space, row):
            tags.setdefault(cue, {})[tag] = None
    others = {cue: len(_visible(call, set(graph.rows(cue)).difference(rows))) for cue in tags}

    def place(cue: int) -> tuple[object, ...]:
        far, words = others[cue] > RARE_SENTENCES, len(graph.key(cue).split())
        return graph.key(cue) in in_query, far, cue in speakers, cue not in names, others[cue], -words, cue

    kept: list[int] = []
    for cue in sorted((cue for cue, count in others.items() if count), key=place):
        parts = set(graph.key(cue).split())
        if not any(parts < set(graph.key(other).split()) and others[cue] == others[other] for other in kept):
            kept.append(cue)
    following = [
        Suggestion(
            "tag_events",
            {"entity": graph.written(cue)},
            f"{_count_in_words(others[cue])} more; here it stands for {', '.join(map(graph.label, tags[cue]))}",
        )
        for cue in kept[:SUGGESTED_CUES]
    ]
    return OperatorResult(tuple(_evidence(space, row, 1.0, "event_keywords") for row in rows), tuple(following))


def event_time(call: OperatorInput) -> OperatorResult:
    """When: sentences in the order of the times that they state, else at which they were said; all items score 1.

    The facts of the time from the first to the last are suggested, and the context of the sentences.
    """
    space = call.space
    rows = sorted(_visible(call, rows_of(space, call.ids)), key=lambda row: (*_time_of(space, row), row))
    rows = rows[: call.limit]
    following: list[Suggestion] = []
    if rows:
        times = [_time_of(space, row) for row in rows]
        bounds = min(since for since, _ in times), max(until for _, until in times) - 1
        since, until = (iso.show(moment - moment % DAY) for moment in bounds)
        if since and until:
            following.append(Suggestion("timeline", {"since": since, "until": until}, "what else began in that time"))
    items = tuple(_dated_evidence(space, row) for row in rows)
    return OperatorResult(items, (*following, *_lead_on(call, rows, "event_context")))


def _dated_evidence(space: Space, row: int) -> Evidence:
    """Return a sentence as evidence that is valid from the first to the last time that it surely states, if any."""
    item = _evidence(space, row, 1.0, "event_time")
    text = item.sources[0].turn.text
    times = [time for time in space.sentences[row].times if not only_likely(text, time)]
    if not times:
        return item
    since = min((time.since for time in times if time.since > BEGINNING), default=BEGINNING)
    until = max((time.until for time in times if time.until < FOREVER), default=FOREVER)
    return replace(item, valid_from=since, valid_to=max(since + 1, until))


def event_context(call: OperatorInput) -> OperatorResult:
    """Around: what was said before and after each sentence in its talk or document.

    Up to `NEAR_PASSAGES` messages of talk, by their beginnings, or passages of a document on either side come in the
    order in which they were said; the nearest have the highest score. What only shares a cue is left to
    ``event_keywords``: sentences of other talks have misled readers.
    """
    space = call.space
    rows = _visible(call, rows_of(space, call.ids))
    own = {segment for row in rows for segment in space.segments_of(row)}
    around: dict[int, int] = {}  # how far away each passage is
    for row in rows:
        for near, steps in _around(space, row):
            if near not in own:
                around[near] = min(steps, around.get(near, steps))
    nearest = sorted(around, key=lambda segment: (around[segment], segment))[: call.limit]
    order = sorted(nearest, key=lambda segment: (space.segment_turn[segment].time, segment))
    items = [segment_evidence(space, segment, 1 / around[segment], ("event_context",)) for segment in order]
    following = list(_lead_on(call, rows, "event_keywords", "event_time"))
    topics = Topics.of(space)
    if topic := next(filter(None, (topics.topic_of(space, segment) for segment in sorted(own))), None):
        why = f"{_count_in_words(len(topic.members), 'passage')} on the same topic"
        following.append(Suggestion("topic_events", {"topic": topic.id} | call.query_argument, why))
    return OperatorResult(tuple(items), tuple(following))


def personal_information(call: OperatorInput) -> OperatorResult:
    """The aspects of an entity that something is known about, each with its newest fact.

    Every aspect is a step in ``next``; with a query, the aspect whose fact is most similar to it comes first.
    """
    facts, key = call.space.facts, _resolve_entity(call)
    if key is None:
        return OperatorResult((), tuple(_suggest_mentions(call)))
    aspects = _aspects(call, key)
    cosines = {name: max(call.cosine(known[0].assertions), default=0.0) for name, known in aspects.items()}
    best = max(cosines.values(), default=0.0)
    scores = {name: max(0.0, cosine) / best if best > 0 else 1.0 for name, cosine in cosines.items()}
    order = sorted(scores.items(), key=lambda one: -one[1])[: call.limit]
    items = tuple(
        fact_evidence(call.space, aspects[name][0], score, ("personal_information",)) for name, score in order
    )
    following = [
        Suggestion(
            "personal_aspect",
            {"entity": facts.name(key), "relation": name},
            f"{relations().get(name).label}: {len(aspects[name])} known",
        )
        for name, _ in order
    ]
    return OperatorResult(items, (*following, *_suggest_mentions(call)))


def personal_aspect(call: OperatorInput) -> OperatorResult:
    """What is known of an entity under one aspect, what holds now first.

    The aspect is a ``relation``, or a ``tag`` that matches the words of some relations.
    """
    facts, key = call.space.facts, _resolve_entity(call)
    if key is None:
        return OperatorResult((), tuple(_suggest_mentions(call)))
    aspects = (known for relation, known in _aspects(call, key).items() if _matches(call, relation))
    versions = [version for known in aspects for version in known][: call.limit]
    items = tuple(fact_evidence(call.space, version, 1.0, ("personal_aspect",)) for version in versions)
    ends = dict.fromkeys(facts.target_key(one, forward=facts.key(one.head) == key) for one in versions)
    others = [end for end in ends if end != key and facts.known_entity(end) == end and facts.degree(end) > 1]
    following = [
        Suggestion("personal_information", {"entity": facts.name(end)}, f"more is known of {facts.name(end)}")
        for end in others[:_SUGGESTIONS]
    ]
    if versions:
        tag = relation_tag(versions[0].relation)
        following.append(Suggestion("tag_events", {"entity": facts.name(key), "tag": tag}, "where it was said"))
    else:
        args = {"entity": facts.name(key)}
        following.append(Suggestion("personal_information", args, "the aspects that are known"))
    return OperatorResult(items, tuple(following))


def topic_events(call: OperatorInput) -> OperatorResult:
    """A topic's passages: those that fit the query best first, without one the most typical.

    ``topic`` is an id, or words, which mean the topic that contains them most.
    """
    space, topics = call.space, Topics.of(call.space)
    topic = topics.get(space, call.topic or "") or _topic_with_words(call, topics)
    if topic is None:
        return OperatorResult(())
    typicality = dict(topics.typical(space, topic))
    by_row = {row: space.sentences_within(space.segments[row]) for row in typicality}
    first = {rows[0]: row for row, rows in by_row.items() if rows}
    ranked = _rank_rows(call, {row: max(0.01, typicality[first[row]]) for row in _visible(call, first)})
    items = tuple(segment_evidence(space, first[row], score, ("topic_events",)) for row, score in ranked)
    rows = [row for row, _ in ranked]
    return OperatorResult(items, tuple(_lead_on(call, rows, "event_keywords", "event_time")))


def _visible(call: OperatorInput, rows: Iterable[int]) -> list[int]:
    """Return the sentences that were said within the window and are not of an old revision, in their order."""
    every = np.array(list(rows), dtype=np.intp)
    visible: list[int] = every[call.space.visible(every, call.window)].tolist()
    return visible


def _rank_rows(call: OperatorInput, worth: Mapping[int, float]) -> list[tuple[int, float]]:
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


def _lead_on(call: OperatorInput, rows: Sequence[int], *operators: str) -> Iterator[Suggestion]:
    """Yield a call of each operator that goes on from the first of these sentences."""
    why = {
        "event_keywords": "what else these are about, and where that leads",
        "event_context": "what was said around them",
        "event_time": "when, in order",
    }
    ids = tuple(call.space.sentences[row].id for row in rows[:_SUGGESTIONS])
    if ids:
        for operator in operators:
            yield Suggestion(operator, {"ids": ids, **call.query_argument}, why[operator])


def _count_in_words(count: int, what: str = "sentence") -> str:
    """Return a number of things in words: "1 sentence", "2 sentences"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def speaker_cue(graph: CueGraph, row: int) -> list[int]:
    """Return the first cue of a sentence if it is a name: its speaker, or the title of its document."""
    return [cue for cue in graph.cues(row)[:1] if cue in graph.names(row)]


def _matching_tags(graph: CueGraph, tags: Iterable[str], wanted: str) -> list[str]:
    """Return the tags that match a wanted one: as it is written, else by its key (`cue_similarity`), in any form."""
    plain = wanted.replace("_", " ")
    exact = [tag for tag in tags if graph.label(tag).casefold() == plain.casefold()]
    return exact or [tag for tag in tags if cue_similarity(key_of(plain), key_of(graph.label(tag)))]


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
    for segment in space.segments_of(row):
        if space.talk[segment]:
            for direction in (space.rows_before, space.rows_after):
                yield from _messages_along(space, segment, direction)
            continue
        whole = space.segments.of_turn(space.segments[segment].turn_id)
        place = whole.index(segment)
        for steps in range(1, NEAR_PASSAGES + 1):
            yield from ((whole[near], steps) for near in (place - steps, place + steps) if 0 <= near < len(whole))


def _messages_along(space: Space, segment: int, direction: Rows) -> Iterator[tuple[int, int]]:
    """Yield what is next to a segment in its own message, then the beginnings of the next messages, one way."""
    own = last = space.segment_turn[segment].id
    near, steps = int(direction[segment]), 0
    if near != NONE and space.segment_turn[near].id == own:
        yield near, 1
    while near != NONE:
        turn = space.segment_turn[near].id
        if turn != last:
            last, steps = turn, steps + 1
            if steps > NEAR_PASSAGES:
                return
            yield space.segments.of_turn(turn)[0], steps
        near = int(direction[near])


def _evidence(space: Space, row: int, score: float, operator: str) -> Evidence:
    return sentence_evidence(space, space.sentences[row], score, (operator,))


def _topic_with_words(call: OperatorInput, topics: Topics) -> Topic | None:
    """Return the topic whose segments have most of the cues in the words, weighted by their rarity."""
    space, graph = call.space, CueGraph.of(call.space)
    votes: defaultdict[str, float] = defaultdict(float)
    found: dict[str, Topic] = {}
    for cue, match in (hit for word in query_cues(call.topic or "") for hit in graph.find(word.key)):
        counts: Counter[str] = Counter()
        for segment in {segment for row in graph.rows(cue) for segment in space.segments_of(row)}:
            if topic := topics.topic_of(space, segment):
                found[topic.id] = topic
                counts[topic.id] += 1
        for name, count in counts.items():
            votes[name] += match * graph.rarity(cue) * count / len(found[name].members) ** 0.5
    best = min(votes, key=lambda name: (-votes[name], name), default=None)
    return None if best is None else found[best]


def _resolve_entity(call: OperatorInput) -> str | None:
    """Return the key of the entity whose name is in the input, or None."""
    key = call.space.facts.resolve(call.entity or "")
    return key if key is not None and call.space.facts.degree(key) else None


def _aspects(call: OperatorInput, key: str) -> dict[str, list[Version]]:
    """Return what is known of an entity as head or tail, by relation: what holds now first, then the newest."""
    facts, window = call.space.facts, call.window
    found: dict[str, dict[str, Version]] = {}
    for version in (*facts.from_(key), *islice(facts.to(key), _FACTS_READ)):
        if version.since < version.until and version.holds(window.since, window.until):
            found.setdefault(version.relation, {})[version.id] = version
    return {
        relation: sorted(known.values(), key=lambda version: (-version.until, -version.since, version.id))
        for relation, known in found.items()
    }


def _matches(call: OperatorInput, relation: str) -> bool:
    """Return whether a relation is the aspect in the input."""
    if call.relation is not None:
        return relation == relations().name(call.relation)
    tag = (call.tag or "").replace("_", " ")
    known = relations().get(relation)
    forms = (known.label, relation_tag(relation), *known.asked)
    return any(cue_similarity(key_of(tag), key_of(form)) for form in forms)


def _suggest_mentions(call: OperatorInput) -> Iterator[Suggestion]:
    """Yield the step to the sentences that name the entity, which may state what is no fact."""
    if call.entity is not None:
        yield Suggestion("tag_events", {"entity": call.entity}, "the sentences that name it")
