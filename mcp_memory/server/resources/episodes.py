"""What was learnt: the belief of a sentence, and the resource of an episode with its trace and its judgements."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mcp_memory.domain.episodes import Episode
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server.resources.uris import SENTENCE, Values, space_of, without_none
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import round_score

if TYPE_CHECKING:
    from mcp_memory.domain.episodes import Lesson, ShownEvidence
    from mcp_memory.domain.turns import Sentence
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space


def belief_row(space: Space, sentence: Sentence) -> dict[str, Any]:
    """Return what was learnt about a sentence; before any lesson its doubts are 1.

    ``nearness`` is the cosine between its task memory and its own vector: 1 at first, lower the more the memory has
    turned to the questions that it helped with. It is left out if the space has no vectors.
    """
    belief = space.beliefs.get(sentence.id)
    if belief is None:
        return {"task_doubt": 1.0, "time_doubt": 1.0, "supported": 0, "unsupported": 0}
    row = space.sentence_row(sentence.turn_id, sentence.index)
    nearness = None
    if space.sentence_vectors is not None and row >= 0:
        nearness = round(float(space.sentence_vectors[row] @ belief.task), 4)
    return without_none(
        {
            "task_doubt": round(belief.task_doubt, 6),
            "time_doubt": round(belief.time_doubt, 6),
            "supported": belief.supported,
            "unsupported": belief.unsupported,
            "nearness": nearness,
        }
    )


async def episode(memory: Memory, values: Values) -> dict[str, Any]:
    """One episode that was learnt from: its question, its evidence, and each judge's labels."""
    async with memory.store.reading() as view:
        space = space_of(view, values)
        lessons = space.beliefs.lessons(values["id"])
        if not lessons:
            problem = f"nothing was learnt in space {space.name!r} from an episode {shown(values['id'])}"
            raise InvalidInput("id", problem, "An episode is kept once memory_answer or memory_evolve learns from it.")
        episode = space.beliefs.episode(values["id"])
        if not isinstance(episode, Episode):
            problem = f"what was asked and found in episode {shown(values['id'])} cannot be told: {episode}"
            raise InvalidInput("id", problem, "What it taught still counts; mcp-memory doctor names it.")
        trace = {
            "id": episode.id,
            "space": space.name,
            "query": episode.query,
            "time": episode.time,
            "asked": iso.show(episode.at),
            "engine": episode.engine,
            "answer": episode.answer,
            "evidence": list(map(_evidence_row, episode.shown)),
            "explored": list(map(_evidence_row, episode.explored)) or None,
            "cited": list(episode.cited),
            "activated": list(episode.activated),
            "rounds": episode.rounds,
            "roots": list(episode.roots),
            "paths": list(episode.paths),
            "stop_reason": episode.stop,
            "trace": [asdict(call) for call in episode.calls],
        }
        return without_none(trace) | {"lessons": [_lesson_row(space, lesson) for lesson in lessons]}


def _evidence_row(item: ShownEvidence) -> dict[str, Any]:
    return {
        "id": item.id,
        "text": item.text,
        "score": round_score(item.score),
        "via": list(item.via),
        "sentences": list(item.sentences),
    }


def _lesson_row(space: Space, lesson: Lesson) -> dict[str, Any]:
    labels = [
        {"sentence": name, "uri": SENTENCE.expand({"space": space.name, "id": name}), "label": label}
        for name, label in lesson.labels.items()
    ]
    return {"source": lesson.source, "recorded": iso.show(lesson.at), "labels": labels}
