"""What goes with what is to be forgotten: everything that rests only on it, and every word that only it said.

The rules, for texts that go: their segments, sentences, facts, jobs, pooled questions and beliefs go with them. A
fact of a message that stays goes if it has words of a forgotten one of the two before it, which completed it. A lesson
that shows, cites or labels one of their sentences loses these, and one whose paths tell one of their facts its
paths; it goes altogether if its question has a word that only the forgotten texts had, or if nothing is left of it. A
memory point that rests on one of their sentences or facts goes with all its revisions; if it rests on something else
too, a new point says what that says, in its words. An alias goes if one of its names has a word that only the forgotten
texts had, and so does a pooled question, which a user may have asked.

All of it is a pure function of the space and the targets, so it is the same when it is worked out again after a crash,
as long as the forgotten texts are still there: they go last (``storage/forget.py``).
The end of the file counts what goes, and leaves it out of batches.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias, entity_key
from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.points import MIN_ENTITIES, Point, point_id
from mcp_memory.domain.turns import Turn
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

WORDS_OF_POINT = 80
"""Words of the description of a point that is made again, as of any other (DESIGN 2.1)."""
_COMMON = frozenset(
    re.split(
        r"\s+",
        "the and for are was were has had have did does can could will would shall should may might must not but that "
        "this these those with from about into over when where what which who whom whose why how many much long his "
        "her its their our your you she him they them all any some one two then than there here out off",
    )
)
"""Words of questions and sentences that tell nothing of what was said."""
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class Erasure:
    """What goes of one space, and what takes its place.

    Attributes:
        targets: what was chosen.
        turns: ids of the texts that go.
        sentences: ids of their sentences.
        segments: ids of their segments.
        assertions: ids of the facts that go.
        points: ids of the points that go with all revisions.
        merged_into: for each point that stays and was merged into one that goes, the id of the point that takes its
            place; None if it is to be active again.
        remade: the points that take the place of others, without vectors.
        lessons: by episode and judge, what is left of the lessons that change; None if nothing is.
        relearn: whether beliefs about sentences that stay follow from lessons that go.
        words: words in lower case that only the texts that go have.
    """

    targets: ForgetTargets
    turns: frozenset[str] = frozenset()
    sentences: frozenset[str] = frozenset()
    segments: frozenset[str] = frozenset()
    assertions: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()
    merged_into: Mapping[str, str | None] = field(default_factory=dict)
    remade: tuple[Point, ...] = ()
    lessons: Mapping[tuple[str, Engine], Lesson | None] = field(default_factory=dict)
    relearn: bool = False
    words: frozenset[str] = frozenset()

    def keeps_alias(self, alias: Alias) -> bool:
        """Return whether an alias of the space stays."""
        return not (self.targets.everything or _holds(self.words, alias.name, alias.alias))

    def keeps_assertion(self, turn_id: str, assertion_id: str) -> bool:
        """Return whether a fact of the space stays."""
        return not (self.targets.everything or turn_id in self.turns or assertion_id in self.assertions)

    def keeps_question(self, segment_id: str, text: str) -> bool:
        """Return whether a pooled question of the space stays: its segment does, and it has no word that goes."""
        return not (self.targets.everything or segment_id in self.segments or _holds(self.words, text))

    def point(self, revision: Point) -> Point | None:
        """Return a revision of a point as it stays, or None."""
        if self.targets.everything or revision.id in self.points:
            return None
        parents = tuple(name for name in revision.parents if name not in self.points)
        if revision.active or revision.id not in self.merged_into:
            return replace(revision, parents=parents)
        after = self.merged_into[revision.id]
        return None if after is None else replace(revision, parents=parents, merged_into=after)

    @property
    def ids(self) -> frozenset[str]:
        """All ids that go."""
        gone = {name for (name, _), left in self.lessons.items() if left is None}
        facts = ("f_" + name.removeprefix("x_") for name in self.assertions)
        return frozenset((*self.turns, *self.sentences, *self.segments, *self.assertions, *facts, *self.points, *gone))


def words_in(text: str) -> set[str]:
    """Return the words of a text in lower case, without the commonest and those of one or two characters."""
    return set(_WORD.findall(text.casefold())) - _COMMON


def _holds(words: frozenset[str], *texts: str) -> bool:
    return bool(words) and any(not words.isdisjoint(words_in(text)) for text in texts)


def erasure_of(space: Space, targets: ForgetTargets) -> Erasure:
    """Return what goes of a space; its segments and sentences must be in the view."""
    if targets.everything:
        lessons: dict[tuple[str, Engine], Lesson | None] = {lesson.key: None for lesson in space.beliefs.lessons()}
        return Erasure(
            targets,
            frozenset(space.turns),
            frozenset(piece.id for piece in space.sentences),
            frozenset(piece.id for piece in space.segments),
            frozenset(row.id for row in space.facts.rows),
            frozenset(point.id for point in space.hypergraph.all()),
            lessons=lessons,
        )
    turns = targets.turns & space.turns.keys()
    sentences = frozenset(space.sentences[row].id for name in turns for row in space.sentences_of(name))
    segments = frozenset(space.segments[row].id for name in turns for row in space.segments_with(name, -1))
    gone = frozenset(row.id for row in space.facts.rows if row.turn_id in turns or row.id in targets.assertions)
    gone |= frozenset(_completed_by(space, turns))
    found = Erasure(targets, turns, sentences, segments, gone, words=_own_words(space, turns, gone))
    return _with_lessons(space, _with_points(space, found))


def _completed_by(space: Space, turns: frozenset[str]) -> Iterator[str]:
    """Yield the facts of messages that stay which have words of a message before them that goes.

    What the rules read in a message may need the last two before it, "Yes, since May" (`Talkers.before`).
    """
    for session in {space.turns[name].session for name in turns}:
        before: list[Turn] = []
        for turn in (space.turns[name] for name in space.sessions[session]):
            if turn.kind != "message":
                continue
            said = {word for one in before[-2:] if one.id in turns for word in words_in(one.text)}
            before.append(turn)
            if said and turn.id not in turns:
                said -= words_in(" ".join((turn.text, *space.speakers)))
                rows = (row for row in space.facts.assertions_in(turn.id) if row.extractor == "embedded")
                yield from (row.id for row in rows if not said.isdisjoint(words_in(f"{row.head} {row.tail}")))


def _own_words(space: Space, turns: frozenset[str], gone: frozenset[str]) -> frozenset[str]:
    """Return the words of the texts that go which no other text and no stated fact has."""
    own: set[str] = set()
    for name in turns:
        own |= _words_of_turn(space, name)
    for row in space.facts.rows:
        if row.id in gone and row.extractor != "embedded":
            own |= words_in(f"{row.head} {row.tail}")
    if own:
        for name in space.turns.keys() - turns:
            own -= _words_of_turn(space, name)
        for row in space.facts.rows:
            if row.id not in gone and row.extractor != "embedded":
                own -= words_in(f"{row.head} {row.tail}")
    return frozenset(own)


def _words_of_turn(space: Space, name: str) -> set[str]:
    turn = space.turns[name]
    return words_in(" ".join((turn.text, turn.speaker or "", turn.title or "")))


# Points


def _with_points(space: Space, found: Erasure) -> Erasure:
    """Add the points that rest on what goes or tell its words, and what is made of them without it."""
    graph = space.hypergraph
    facts = frozenset("f_" + name.removeprefix("x_") for name in found.assertions)
    touched: dict[str, Point] = {}
    for point in graph.all():
        revisions = graph.revisions(point.id)
        rests = any(
            not found.sentences.isdisjoint(one.sentences) or not facts.isdisjoint(one.facts) for one in revisions
        )
        told = any(_holds(found.words, one.description, one.scope, *one.entities) for one in revisions)
        alone = not any(one.sentences or one.facts for one in revisions)
        if point.id in found.targets.points or rests or (alone and told):
            touched[point.id] = point
    remade: dict[str, Point] = {}
    for point in touched.values():
        if point.active and point.id not in found.targets.points:
            new = _remade(space, point, found, facts)
            if new is not None and graph.get(new.id) is None:
                remade[point.id] = replace(new, parents=tuple(one for one in point.parents if one not in touched))
    merged = {
        point.id: remade[point.merged_into].id if point.merged_into in remade else None
        for point in graph.all()
        if point.id not in touched and point.merged_into in touched
    }
    distinct = {point.id: point for point in remade.values()}
    return replace(found, points=frozenset(touched), merged_into=merged, remade=tuple(distinct.values()))


def _remade(space: Space, point: Point, found: Erasure, gone: frozenset[str]) -> Point | None:
    """Return a point that says what is left of the evidence of one that goes, in the words of that; None for none."""
    sentences = [
        piece
        for name in dict.fromkeys(point.sentences)
        if name not in found.sentences and (piece := space.sentence(name)) is not None
    ]
    facts = tuple(name for name in point.facts if name not in gone and _stays(space, name, found.assertions))
    entities = {entity_key(name): name for name in point.entities if not _holds(found.words, name)}
    if len(entities) < MIN_ENTITIES or not (sentences or facts):
        return None
    sentences.sort(key=lambda piece: (space.turns[piece.turn_id].time, piece.turn_id, piece.index))
    texts = [space.text(piece) for piece in sentences]
    texts = texts or [version.text for name in facts if (version := space.facts.version(name)) is not None]
    description = " ".join(" ".join(dict.fromkeys(texts)).split()[:WORDS_OF_POINT])
    scope = "" if _holds(found.words, point.scope) else point.scope
    names = tuple(entities.values())
    kept = tuple(piece.id for piece in sentences)
    name = point_id(point.space, scope, names, description)
    return Point(name, point.space, names, description, scope, 0, "active", (), None, kept, facts, "embedded", point.at)


def _stays(space: Space, fact: str, gone: frozenset[str]) -> bool:
    """Return whether a fact rests on nothing that goes."""
    version = space.facts.version(fact)
    return version is not None and all(one.id not in gone for one in version.assertions)


# Lessons


def _with_lessons(space: Space, found: Erasure) -> Erasure:
    lessons: dict[tuple[str, Engine], Lesson | None] = {}
    relearn = False
    ids = found.ids
    facts = {(row.head.casefold(), row.tail.casefold()) for row in space.facts.rows if row.id in found.assertions}
    for lesson in space.beliefs.lessons():
        if lesson.episode_id in found.targets.episodes:
            left: Lesson | None = None
        else:
            left = _left_of(lesson, found, ids, facts)
        if left is lesson:
            continue
        lessons[lesson.key] = left
        relearn |= left is None and any(name not in found.sentences for name in lesson.labels)
    return replace(found, lessons=lessons, relearn=relearn)


def _left_of(lesson: Lesson, found: Erasure, ids: frozenset[str], facts: set[tuple[str, str]]) -> Lesson | None:
    """Return what is left of a lesson: itself if it has nothing to do with what goes, None if nothing is.

    Args:
        lesson: what was learnt.
        found: what goes.
        ids: all ids that go.
        facts: heads and tails of the facts that go, in lower case.
    """
    trace = lesson.read_trace()
    labels = {name: label for name, label in lesson.labels.items() if name not in ids}
    if isinstance(trace, str):  # it cannot be read, so nobody knows what it holds
        touched = len(labels) < len(lesson.labels) or _holds(found.words, lesson.trace.decode(errors="replace"))
        return None if touched else lesson
    kept: dict[str, Any] = dict(trace)
    for name in ("shown", "explored"):
        kept[name] = [item for item in trace.get(name, ()) if not _touches(item, ids)]
    for name in ("activated", "cited"):
        kept[name] = [piece for piece in trace.get(name, ()) if piece not in ids]
    changed = [name for name in ("shown", "explored", "activated", "cited") if kept[name] != list(trace.get(name, []))]
    paths = [path.casefold() for path in trace.get("paths", ())]
    told = any(head in path and tail in path for path in paths for head, tail in facts)
    told = told or _holds(found.words, lesson.query, *_texts_of(kept))
    if not (changed or told) and len(labels) == len(lesson.labels):
        return lesson
    if _holds(found.words, lesson.query):
        return None
    if not labels and not kept["shown"]:
        return None
    if told or changed != ["activated"] or len(labels) < len(lesson.labels):
        kept |= {"roots": [], "paths": [], "calls": []}
        if len(kept["cited"]) < len(trace.get("cited", ())) or _holds(found.words, trace.get("answer") or ""):
            kept["answer"] = None
    if _holds(found.words, *_texts_of(kept)):
        return None
    encoded = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    return replace(lesson, labels=labels, trace=encoded.encode())


def _texts_of(trace: Mapping[str, Any]) -> list[str]:
    """Return the texts of a trace that may hold words of what was said."""
    items = [item.get("text", "") for name in ("shown", "explored") for item in trace.get(name, ())]
    arguments = [str(value) for call in trace.get("calls", ()) for value in call.get("args", {}).values()]
    said = [str(trace.get(name) or "") for name in ("time", "answer")]
    return [*items, *arguments, *said, *trace.get("roots", ()), *trace.get("paths", ())]


def _touches(item: Mapping[str, Any], ids: frozenset[str]) -> bool:
    return item.get("id") in ids or not ids.isdisjoint(item.get("sentences", ()))


Keep = Callable[[Erasure], Awaitable[None]]
"""Keeps for a while what is about to be forgotten."""


def present(space: Space, targets: ForgetTargets) -> ForgetTargets:
    """Return the targets that a space has."""
    return replace(
        targets,
        turns=targets.turns & space.turns.keys(),
        assertions=frozenset(name for name in targets.assertions if space.facts.assertion(name) is not None),
        points=targets.points & {one.id for one in space.hypergraph.all()},
        episodes=targets.episodes & {one.episode_id for one in space.beliefs.lessons()},
    )


def counts_of(space: Space, found: Erasure) -> dict[str, int]:
    """Return how many of each kind go; kinds of which none goes are left out."""
    kinds: Counter[str] = Counter(space.turns[name].kind + "s" for name in found.turns)
    counts = {
        **{kind: kinds[kind] for kind in ("messages", "documents", "statements")},
        "sentences": len(found.sentences),
        "facts": len(found.assertions),
        "points": len(found.points),
        "points made anew": len(found.remade),
        "lessons": sum(left is None for left in found.lessons.values()),
        "lessons cut": sum(left is not None for left in found.lessons.values()),
        "questions": sum(not found.keeps_question(one.segment_id, one.text) for one in space.questions.rows),
        "jobs": sum(name in found.turns for name in space.jobs),
    }
    return {kind: count for kind, count in counts.items() if count}


def sentences_in(lesson: Lesson) -> Sequence[str]:
    """Return the ids of the sentences that a lesson labels, shows or cites."""
    trace = lesson.read_trace()
    shown = [] if isinstance(trace, str) else [*trace.get("shown", ()), *trace.get("explored", ())]
    cited = [] if isinstance(trace, str) else [*trace.get("cited", ()), *trace.get("activated", ())]
    return [*lesson.labels, *cited, *(name for item in shown for name in item.get("sentences", ()))]


def without_forgotten(batch: Batch, view: View, forgotten: Callable[[str], bool]) -> Batch:
    """Return a batch without what was made of texts that were forgotten meanwhile.

    A call, or a background job, may have read a text before it was forgotten, and would store what it made of it: facts
    that Claude read, the trace of an answer, a memory point. What is told again after it was forgotten is stored.

    Args:
        batch: about to be committed.
        view: as of the last commit.
        forgotten: whether something with this id was forgotten.
    """
    arrived = {turn.id for turn in batch.turns}

    def gone(space: str, turn_id: str) -> bool:
        return turn_id not in arrived and turn_id not in view.space(space).turns and forgotten(turn_id)

    def lost(space: str, ids: Iterable[str]) -> bool:
        return any(forgotten(name) and view.space(space).sentence(name) is None for name in ids)

    if any(lost(lesson.space, sentences_in(lesson)) for lesson in batch.lessons):
        batch = replace(batch, lessons=(), beliefs=())
    facts = [one for one in batch.assertions if not gone(one.space, one.turn_id)]
    points = [row for row, one in enumerate(batch.points) if not lost(one.space, one.sentences)]
    asked = [
        row
        for row, (space, one) in enumerate(batch.questions)
        if not (forgotten(one.segment_id) and view.space(space).segment_row(one.segment_id) < 0)
    ]
    if (len(facts), len(points), len(asked)) != (len(batch.assertions), len(batch.points), len(batch.questions)):
        batch = replace(
            batch,
            assertions=tuple(facts),
            points=tuple(batch.points[row] for row in points),
            point_vectors=batch.point_vectors[points],
            questions=tuple(batch.questions[row] for row in asked),
            question_vectors=batch.question_vectors[asked],
        )
    jobs = tuple(job for job in batch.jobs if not gone(job.space, job.turn_id))
    return batch if len(jobs) == len(batch.jobs) else replace(batch, jobs=jobs)
