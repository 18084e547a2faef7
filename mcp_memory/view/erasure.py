"""What goes with what is to be forgotten, as a value; ``resting.py`` finds it.

The end of the file counts what goes, and leaves it out of batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.points import Point
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.domain.turns import version_id
from mcp_memory.view.space import Space
from mcp_memory.view.told import holds
from mcp_memory.view.view import View


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

    Args:
        batch: about to be committed.
        view: as of the last commit, with every sentence if the batch has lessons, points or questions.
        forgotten: whether something with this id was forgotten.
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
