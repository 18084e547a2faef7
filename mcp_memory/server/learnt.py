"""What was learnt, as resources: of a sentence its state, of an episode its trace and what judges said of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mcp_memory.domain.episodes import Episode
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server import checks, records
from mcp_memory.server.paging import SENTENCE, Values, space_of, told

if TYPE_CHECKING:
    from mcp_memory.domain.episodes import Lesson, ShownEvidence
    from mcp_memory.domain.turns import Sentence
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space


def state(space: Space, sentence: Sentence) -> dict[str, Any]:
    """Return what was learnt of a sentence; before anything was, its doubts are 1.

    ``nearness`` is the cosine of its task memory to the sentence itself: 1 where it is what it was, less the more it
    has turned to the questions that it helped with. It is left out where no vectors are held.
    """
    belief = space.beliefs.of(sentence.id)
    if belief is None:
        return {"task_doubt": 1.0, "time_doubt": 1.0, "supported": 0, "unsupported": 0}
    row = space.sentence_row(sentence.turn_id, sentence.index)
    nearness = None
    if space.sentence_vectors is not None and row >= 0:
        nearness = round(float(space.sentence_vectors[row] @ belief.task), 4)
    return told(
        {
            "task_doubt": round(belief.task_doubt, 6),
            "time_doubt": round(belief.time_doubt, 6),
            "supported": belief.supported,
            "unsupported": belief.unsupported,
            "nearness": nearness,
        }
    )


async def episode(memory: Memory, values: Values) -> dict[str, Any]:
    """One episode that was learnt from: what was asked and found, and what each judge said."""
    async with memory.store.reading() as view:
        space = space_of(view, values)
        lessons = space.beliefs.lessons(values["id"])
        if not lessons:
            problem = f"nothing was learnt in space {space.name!r} from an episode {checks.shown(values['id'])}"
            raise InvalidInput("id", problem, "An episode is kept once memory_answer or memory_evolve learns from it.")
        told_of = space.beliefs.episode(values["id"])
        if not isinstance(told_of, Episode):
            problem = f"what was asked and found in episode {checks.shown(values['id'])} cannot be told: {told_of}"
            raise InvalidInput("id", problem, "What it taught still counts; mcp-memory doctor names it.")
        return _trace(space, told_of) | {"lessons": [_lesson(space, lesson) for lesson in lessons]}


def _trace(space: Space, episode: Episode) -> dict[str, Any]:
    return told(
        {
            "id": episode.id,
            "space": space.name,
            "query": episode.query,
            "time": episode.time,
            "asked": iso.show(episode.at),
            "engine": episode.engine,
            "answer": episode.answer,
            "evidence": list(map(_item, episode.shown)),
            "explored": list(map(_item, episode.explored)) or None,
            "cited": list(episode.cited),
            "activated": list(episode.activated),
            "rounds": episode.rounds,
            "roots": list(episode.roots),
            "paths": list(episode.paths),
            "stop_reason": episode.stop,
            "trace": [asdict(call) for call in episode.calls],
        }
    )


def _item(item: ShownEvidence) -> dict[str, Any]:
    return {
        "id": item.id,
        "text": item.text,
        "score": records.rounded(item.score),
        "via": list(item.via),
        "sentences": list(item.sentences),
    }


def _lesson(space: Space, lesson: Lesson) -> dict[str, Any]:
    labels = [
        {"sentence": name, "uri": SENTENCE.expand({"space": space.name, "id": name}), "label": label}
        for name, label in lesson.labels.items()
    ]
    return {"source": lesson.source, "recorded": iso.show(lesson.at), "labels": labels}
