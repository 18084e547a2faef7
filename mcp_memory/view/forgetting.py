"""What an erasure (``erasure.py``) counts, and batches without what goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.view.erasure import Erasure
from mcp_memory.view.space import Space
from mcp_memory.view.view import View


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
