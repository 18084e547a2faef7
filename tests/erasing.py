"""Take what goes out of a recorded batch, for the store in memory; LanceDB's store rewrites its tables instead."""

from __future__ import annotations

from dataclasses import replace

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.view.erasure import Erasure


def erased(batch: Batch, found: Erasure) -> Batch:
    """Return a recorded batch without what goes; rows of other spaces stay."""
    targets, here = found.targets, found.targets.space

    def stays(space: str, turn_id: str) -> bool:
        return space != here or not (targets.everything or turn_id in found.turns)

    def keeps_fact(one: Assertion) -> bool:
        return one.space != here or found.keeps_assertion(one.turn_id, one.id)

    points = [one if one.space != here else found.point(one) for one in batch.points]
    chosen = [row for row, one in enumerate(points) if one is not None]
    lessons = [one if one.space != here else found.lessons.get(one.key, one) for one in batch.lessons]
    segments = [row for row, one in enumerate(batch.segments) if stays(one.space, one.turn_id)]
    sentences = [row for row, one in enumerate(batch.sentences) if stays(one.space, one.turn_id)]
    questions = [
        row
        for row, (space, one) in enumerate(batch.questions)
        if space != here or found.keeps_question(one.segment_id, one.text)
    ]
    return replace(
        batch,
        turns=tuple(one for one in batch.turns if stays(one.space, one.id)),
        segments=tuple(batch.segments[row] for row in segments),
        sentences=tuple(batch.sentences[row] for row in sentences),
        segment_vectors=batch.segment_vectors[segments],
        sentence_vectors=batch.sentence_vectors[sentences],
        assertions=tuple(filter(keeps_fact, batch.assertions)),
        lessons=tuple(one for one in lessons if one is not None),
        beliefs=tuple(
            one
            for one in batch.beliefs
            if one.space != here or not (targets.everything or one.sentence_id in found.sentences)
        ),
        points=tuple(one for one in points if one is not None),
        point_vectors=batch.point_vectors[chosen],
        aliases=tuple(one for one in batch.aliases if one.space != here or found.keeps_alias(one)),
        questions=tuple(batch.questions[row] for row in questions),
        question_vectors=batch.question_vectors[questions],
        jobs=tuple(one for one in batch.jobs if stays(one.space, one.turn_id)),
    )
