"""Find, by ids, what was derived from a text that is to be forgotten: it goes too, however it is worded.

**Texts.** With a text go its segments, sentences, facts, jobs, pooled questions and beliefs; the facts of a message
that stays which have words of a forgotten one of the two before it; and what feedback left: the correction of an answer
that rested on it, and the confirmation of a fact that no other text says.

**Lessons.** One that labels or cites a sentence that goes does so altogether, as its question may tell it, and the
beliefs are learnt again. If it only showed one, or its paths tell one of the facts, it loses the record of that.

**Points.** A memory point goes with all revisions if it rests on what goes, or was merged from a point that does; its
other parents are active again. If there are none, and it rests on something else too, a new point says what that says.
A point without support rests on the texts before it that name two of its entities. The goal of a point that goes is
taken from all points of that goal, since it was asked about what goes.

**Words.** Whatever else has a word that only the forgotten texts had goes as well: points, lessons, names of one
entity, pooled questions. Words are of any length, in every script, and never a part of another word: in scripts that
write no spaces a run of letters becomes its pairs of neighbours, so "李明" is found within a sentence, and the single
sign "明" only where it stands alone. Case, width, accents of Latin letters and invisible signs tell nothing.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias, entity_key
from mcp_memory.domain.episodes import Lesson, correction_ref, encode_trace
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.points import MIN_ENTITIES, Point, new_point
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.domain.turns import FEEDBACK, Turn, version_id
from mcp_memory.language.vocabulary import word_set
from mcp_memory.view.space import Space, View
from mcp_memory.visible import MARKS, UNSPACED, readable, without_accents

WORDS_OF_POINT = 80
"""Words of the description of a point that is made again, as of any other (DESIGN 2.1)."""
_COMMON = word_set(
    "the and for are was were has had have did does can could will would shall should may might must not but that this "
    "these those with from about into over when where what which who whom whose why how many much long his her its "
    "their our your you she him they them all any some one two then than there here out off a i am an as at be by do "
    "go he if in is it me my no of oh ok on or so to up us we"
)
"""Words of questions and sentences that tell nothing of what was said."""
_WORD = re.compile(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_][{MARKS}]*)+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SHORT = 2


@dataclass(frozen=True, slots=True)
class Erasure:
    """What goes of one space, and what takes its place.

    Attributes:
        targets: what was chosen, with the texts that feedback left of it.
        turns: ids of the texts that go.
        sentences: ids of their sentences.
        segments: ids of their segments.
        assertions: ids of the facts that go.
        points: ids of the points that go with all revisions.
        remade: the points that take the place of others, without vectors.
        lessons: by episode and judge, what is left of the lessons that change; None if nothing is.
        goals: the goals of points that go, in lower case; no point keeps one of them.
        questions: the texts of pooled questions that a segment answers which goes.
        relearn: whether beliefs about sentences that stay follow from lessons that go.
        words: words in lower case that only the texts that go have.
    """

    targets: ForgetTargets
    turns: frozenset[str] = frozenset()
    sentences: frozenset[str] = frozenset()
    segments: frozenset[str] = frozenset()
    assertions: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()
    remade: tuple[Point, ...] = ()
    lessons: Mapping[tuple[str, Engine], Lesson | None] = field(default_factory=dict)
    goals: frozenset[str] = frozenset()
    questions: frozenset[str] = frozenset()
    relearn: bool = False
    words: frozenset[str] = frozenset()

    def keeps_alias(self, alias: Alias) -> bool:
        """Return whether an alias of the space stays."""
        return not (self.targets.everything or holds(self.words, alias.name, alias.alias, alias.reason))

    def keeps_assertion(self, turn_id: str, assertion_id: str) -> bool:
        """Return whether a fact of the space stays."""
        return not (self.targets.everything or turn_id in self.turns or assertion_id in self.assertions)

    def keeps_question(self, segment_id: str, text: str) -> bool:
        """Return whether a pooled question of the space stays: no segment goes that answers it, and no word of it."""
        goes = self.targets.everything or segment_id in self.segments or text in self.questions
        return not (goes or holds(self.words, text))

    def point(self, revision: Point) -> Point | None:
        """Return a revision of a point as it stays; None if it goes, or says that it was merged into one that goes."""
        if self.targets.everything or revision.id in self.points or revision.merged_into in self.points:
            return None
        parents = tuple(name for name in revision.parents if name not in self.points)
        if revision.scope.casefold() in self.goals:
            revision = replace(revision, scope="")
        return replace(revision, parents=parents)

    @property
    def ids(self) -> frozenset[str]:
        """All ids that go."""
        gone = {name for (name, _), left in self.lessons.items() if left is None}
        facts = map(version_id, self.assertions)
        return frozenset((*self.turns, *self.sentences, *self.segments, *self.assertions, *facts, *self.points, *gone))


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
    while True:
        found = _with_lessons(space, _with_points(space, _of_texts(space, targets)))
        more = frozenset((*_corrections(space, found), *_confirmations(space, found))) - found.turns
        if not more:
            return found
        targets = replace(targets, turns=targets.turns | more)


def _of_texts(space: Space, targets: ForgetTargets) -> Erasure:
    turns = targets.turns & space.turns.keys()
    sentences = frozenset(space.sentences[row].id for name in turns for row in space.sentences.of_turn(name))
    segments = frozenset(space.segments[row].id for name in turns for row in space.segments.of_turn(name))
    gone = frozenset(row.id for row in space.facts.rows if row.turn_id in turns or row.id in targets.assertions)
    gone |= frozenset(_completed_by(space, turns))
    asked = frozenset(one.text for one in space.questions.rows if one.segment_id in segments)
    words = _own_words(space, turns, gone)
    return Erasure(targets, turns, sentences, segments, gone, questions=asked, words=words)


def _completed_by(space: Space, turns: frozenset[str]) -> Iterator[str]:
    """Yield the facts of messages that stay which have words of a message before them that goes.

    Claude reads a message together with those before it: "Yes, since May".
    """
    for session in {space.turns[name].session for name in turns}:
        before: list[Turn] = []
        for turn in (space.turns[name] for name in space.sessions[session]):
            if turn.kind != "message":
                continue
            said = {word for one in before[-2:] if one.id in turns for word in telling_words(one.text)}
            before.append(turn)
            if said and turn.id not in turns:
                said = without_words_of(said, " ".join((turn.text, *space.speakers)))
                rows = (row for row in space.facts.assertions_in(turn.id) if row.extractor != "caller")
                yield from (row.id for row in rows if not said.isdisjoint(words_in(f"{row.head} {row.tail}")))


def _own_words(space: Space, turns: frozenset[str], gone: frozenset[str]) -> frozenset[str]:
    """Return the words of the texts that go which no other text and no stated fact has."""
    stated = [row for row in space.facts.rows if row.extractor != "embedded"]
    own = {word for name in turns for word in telling_words(_words_of(space.turns[name]))}
    own |= {word for row in stated if row.id in gone for word in telling_words(f"{row.head} {row.tail}")}
    staying = (_words_of(turn) for name, turn in space.turns.items() if name not in turns)
    for text in (*(f"{row.head} {row.tail}" for row in stated if row.id not in gone), *staying):
        if not own:
            break
        own = without_words_of(own, text)
    return frozenset(own)


def _words_of(turn: Turn) -> str:
    return " ".join((turn.text, turn.speaker or "", turn.title or ""))


# Texts that feedback left


def _corrections(space: Space, found: Erasure) -> Iterator[str]:
    """Yield the corrections of the episodes whose lessons go."""
    episodes = {name for (name, _), left in found.lessons.items() if left is None}
    if episodes:
        for name in space.sessions.get(FEEDBACK, ()):
            turn = space.turns[name]
            refs = (space.ids.ref(correction_ref(one, turn.said)) for one in episodes)
            if turn.kind == "message" and turn.ref in refs:
                yield name


def _confirmations(space: Space, found: Erasure) -> Iterator[str]:
    """Yield the confirmations of facts of which every other text goes."""
    facts = space.facts
    going = {(facts.key(row.head), row.relation) for row in facts.rows if row.id in found.assertions}
    for name in space.sessions.get(FEEDBACK, ()):
        if space.turns[name].kind != "statement" or name in found.turns:
            continue
        for row in facts.assertions_in(name):
            if (facts.key(row.head), row.relation) not in going:
                continue
            versions = facts.all_versions(facts.key(row.head), row.relation)
            beside = [one for version in versions if row in version.assertions for one in version.assertions]
            others = [one.id in found.assertions for one in beside if space.turns[one.turn_id].session != FEEDBACK]
            if others and all(others):
                yield name


# Points


def _with_points(space: Space, found: Erasure) -> Erasure:
    """Add the points that rest on what goes or tell its words, and what is made of them without it."""
    graph = space.hypergraph
    facts = frozenset(map(version_id, found.assertions))
    resting = {point.id for point in graph.all() if _rests(space, point, found, facts)}
    told = {
        point.id
        for point in graph.all()
        if any(holds(found.words, one.description, *one.entities) for one in graph.revisions(point.id))
    }
    touched = resting | told | found.targets.points & {point.id for point in graph.all()}
    while made := {point.id for point in graph.all() if not touched.isdisjoint(point.parents)} - touched:
        touched |= made
    goals = {point.scope.casefold() for point in graph.all() if point.id in resting or holds(found.words, point.scope)}
    remade: dict[str, Point] = {}
    for point in graph.active():
        if point.id in touched - found.targets.points and touched.issuperset(point.parents):
            new = _remade(space, point, found, facts)
            if new is not None and graph.get(new.id) is None:
                remade[new.id] = new
    goals = goals - {""}
    return replace(found, points=frozenset(touched), remade=tuple(remade.values()), goals=frozenset(goals))


def _rests(space: Space, point: Point, found: Erasure, facts: frozenset[str]) -> bool:
    """Return whether a point rests on what goes, or on nothing that stays; see the module."""
    revisions = space.hypergraph.revisions(point.id)
    if any(one.sentences or one.facts or one.parents for one in revisions):
        return any(not (found.sentences.isdisjoint(one.sentences) and facts.isdisjoint(one.facts)) for one in revisions)
    names = [words for name in point.entities if (words := words_in(name))]

    def joins(turn: Turn) -> bool:
        said = words_in(f"{_words_of(turn)} {turn.role or ''}")
        return turn.written_at <= point.at and sum(words <= said for words in names) >= MIN_ENTITIES

    return any(joins(space.turns[name]) for name in found.turns) and not any(
        joins(turn) for name, turn in space.turns.items() if name not in found.turns
    )


def _remade(space: Space, point: Point, found: Erasure, gone: frozenset[str]) -> Point | None:
    """Return a point that says what is left of the evidence of one that goes, in the words of that; None for none."""
    sentences = [
        piece
        for name in dict.fromkeys(point.sentences)
        if name not in found.sentences and (piece := space.sentence(name)) is not None
    ]
    facts = tuple(name for name in point.facts if name not in gone and _stays(space, name, found.assertions))
    entities = {entity_key(name): name for name in point.entities if not holds(found.words, name)}
    if len(entities) < MIN_ENTITIES or not (sentences or facts):
        return None
    sentences.sort(key=lambda piece: (space.turns[piece.turn_id].time, piece.turn_id, piece.index))
    texts = [space.text(piece) for piece in sentences]
    texts = texts or [version.text for name in facts if (version := space.facts.version(name)) is not None]
    description = " ".join(" ".join(dict.fromkeys(texts)).split()[:WORDS_OF_POINT])
    kept = tuple(piece.id for piece in sentences)
    names = entities.values()
    return new_point(point.space, "", names, description, "embedded", point.at, sentences=kept, facts=facts)


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

    All ``ids`` go, and the facts with these heads and tails, in lower case.
    """
    trace = lesson.read_trace()
    if not ids.isdisjoint((*lesson.labels, *trace.get("cited", ()))) or holds(found.words, lesson.query):
        return None
    shown = [*trace.get("shown", ()), *trace.get("explored", ())]
    rests = not ids.isdisjoint((*(item.get("id") for item in shown), *sentences_in(lesson)))
    paths = [path.casefold() for path in trace.get("paths", ())]
    told = any(head in path and tail in path for path in paths for head, tail in facts)
    if not (rests or told or holds(found.words, *_texts_of(trace))):
        return lesson
    time = str(trace.get("time") or "")
    kept = {"time": time} if time and not holds(found.words, time) else {}
    return replace(lesson, trace=encode_trace(kept)) if lesson.labels else None


def _texts_of(trace: Mapping[str, Any]) -> list[str]:
    """Return the texts of a trace that may hold words of what was said."""
    items = [item.get("text", "") for name in ("shown", "explored") for item in trace.get(name, ())]
    arguments = [str(value) for call in trace.get("calls", ()) for value in call.get("args", {}).values()]
    said = [str(trace.get(name) or "") for name in ("time", "answer")]
    return [*items, *arguments, *said, *trace.get("roots", ()), *trace.get("paths", ())]


# Words


def words_in(text: str) -> set[str]:
    """Return the words of a text in lower case, without the commonest."""
    if text.isascii():
        return set(_ASCII_WORD.findall(text.lower())) - _COMMON
    return {word for written in _written(text) for word in _parts(written)} - _COMMON


def telling_words(text: str) -> set[str]:
    """Return the words of a text by which it would be recognised elsewhere.

    A short word in small letters is none, as any language has many of them; "Bo", "42" and "李" are.
    """
    telling = (written for written in _written(text) if len(written) > _SHORT or not written.islower())
    return {word for written in telling for word in _every_part(written)} - _COMMON


def without_words_of(words: set[str], text: str) -> set[str]:
    """Return those of some words which a text does not have."""
    if text.isascii():
        return words.difference(_ASCII_WORD.findall(text.lower()))
    return words.difference(*map(_parts, _written(text)))


def holds(words: frozenset[str], *texts: str) -> bool:
    """Return whether one of some texts has one of some words."""
    return bool(words) and any(not words.isdisjoint(words_in(text)) for text in texts)


def _written(text: str) -> list[str]:
    if not text.isascii():
        text = without_accents(unicodedata.normalize("NFKC", readable(text)))
    return _WORD.findall(text)


def _parts(written: str) -> Iterator[str]:
    folded = written.casefold()
    if folded.isascii() or len(folded) == 1 or not _UNSPACED.match(folded):
        yield folded
    else:
        yield from map("".join, itertools.pairwise(folded))


def _every_part(written: str) -> Iterator[str]:
    yield from _parts(written)
    if not written.isascii() and _UNSPACED.match(written):
        yield from written.casefold()


# What goes is counted, and left out


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
        "lessons kept in part": sum(left is not None for left in found.lessons.values()),
        "questions": sum(not found.keeps_question(one.segment_id, one.text) for one in space.questions.rows),
        "jobs": sum(name in found.turns for name in space.jobs),
    }
    return {kind: count for kind, count in counts.items() if count}


def sentences_in(lesson: Lesson) -> Sequence[str]:
    """Return the ids of the sentences that a lesson labels, shows or cites."""
    trace = lesson.read_trace()
    shown = [*trace.get("shown", ()), *trace.get("explored", ())]
    cited = [*trace.get("cited", ()), *trace.get("activated", ())]
    return [*lesson.labels, *cited, *(name for item in shown for name in item.get("sentences", ()))]


def without_forgotten(batch: Batch, view: View, forgotten: Callable[[str], bool]) -> Batch:
    """Return a batch without what was made of texts that were forgotten meanwhile.

    A call, or a background job, may have read a text before it was forgotten, and would store what it made of it: facts
    that Claude read, the trace of an answer, a memory point. What is told again after it was forgotten is stored.
    The view has to have every sentence if the batch has lessons, points or questions.
    """
    arrived = {row.id for rows in (batch.turns, batch.segments, batch.sentences) for row in rows}

    def is_gone(space: str, *names: str) -> bool:
        """Return whether something with one of these ids was forgotten, and is not there again."""
        here = view.space(space)
        return any(name not in arrived and forgotten(name) and not here.knows(name) for name in names)

    sources: dict[str, Callable[[Any], Sequence[str]]] = {
        "assertions": lambda fact: (fact.turn_id,),
        "jobs": lambda job: (job.turn_id,),
        "points": lambda point: (*point.sentences, *point.facts),
        "questions": lambda question: (question.segment_id,),
    }
    if any(is_gone(lesson.space, *sentences_in(lesson)) for lesson in batch.lessons):
        batch = replace(batch, lessons=(), beliefs=())
    return batch.only(lambda kind, row: kind not in sources or not is_gone(row.space, *sources[kind](row)))
