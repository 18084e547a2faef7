"""Learn: turn a judgement of an episode into stored sentence memories, one step of GAM-RAG's feedback (§3.3).

A judgement becomes a *lesson*: a label y for each sentence that it is about. `learn` finds those sentences, embeds the
question and the times, and commits the lesson together with the beliefs that follow from it. Embedding happens before
the store's lock is taken. Under the lock `learn` checks whether a lesson of this judge about the episode is stored
already, and the update starts from the current beliefs, so several processes can learn at once. When `learn` returns,
the lesson is durable.

**Departures.** The paper embeds a time as it is written. Here the resolved time is embedded ("12 May 2023"), so that
"last Friday" in a sentence and "May 2023" in a question have something in common.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Lesson, Target
from mcp_memory.domain.requests import Improved
from mcp_memory.domain.turns import Sentence
from mcp_memory.gain.kalman import taught
from mcp_memory.language.stated import times_in_words
from mcp_memory.ports import Embedder, Store
from mcp_memory.search.words import embedded_text
from mcp_memory.switches import Update
from mcp_memory.vectors import Vector
from mcp_memory.view.evidence import known_sentences
from mcp_memory.view.space import NONE, Space

TEXT_CHARS = 300
"""Characters of a text that a reported change quotes; the caller who sent a page knows it."""


async def learn(
    store: Store, embedder: Embedder, form: Update, lesson: Lesson
) -> list[tuple[Belief, Belief | None, Target, str]] | None:
    """Record a lesson about an episode, and the beliefs that follow from it, in one commit.

    Args:
        store: the store where the lesson is recorded.
        embedder: the embedder of the question and its time, and of the sentences if the view holds no vectors.
        form: the form of the update.
        lesson: by one judge.

    Returns:
        For each labelled sentence that still exists its belief after and before, its label and its text; None, with
        nothing recorded, if a lesson of this judge was recorded before.

    Raises:
        StoreError: nothing is learnt.
    """
    async with store.reading() as view:
        space = view.space(lesson.space)
        examples = _examples(space, lesson)
        texts = {piece.id: space.text(piece) for piece, *_ in examples}
    vectors = await _training_vectors(embedder, lesson, examples)
    async with store.writing() as transaction:
        beliefs = transaction.view.space(lesson.space).beliefs
        if beliefs.lesson(*lesson.key) is not None:
            return None
        before = {name: beliefs.get(name) for name in vectors}
        after = _updated_beliefs(form, lesson, vectors, before)
        await transaction.commit(Batch(lessons=(lesson,), beliefs=tuple(after.values())))
    return [(belief, before[key], lesson.labels[key], texts[key]) for key, belief in after.items()]


def relearner(embedder: Embedder, form: Update) -> Callable[[Space, Sequence[Lesson]], Awaitable[list[Belief]]]:
    """Return a function that applies the lessons of a space again, in order; a rebuild keeps the beliefs it returns."""

    async def relearn(space: Space, lessons: Sequence[Lesson]) -> list[Belief]:
        after: dict[str, Belief] = {}
        for lesson in lessons:
            vectors = await _training_vectors(embedder, lesson, _examples(space, lesson))
            before = {name: space.beliefs.get(name) for name in vectors}
            after |= _updated_beliefs(form, lesson, vectors, before | after)
        return list(after.values())

    return relearn


def quote(text: str) -> str:
    """Return the part of a text that a reported change quotes."""
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}…"


def belief_change(after: Belief, before: Belief | None, target: Target, text: str) -> Improved:
    """Return the effect of a lesson on a sentence as a change of its doubt; 1 means that nothing is known."""
    words = {1: "supports", 0: "does not support", -1: "is wrong for"}
    doubt = 1.0 if before is None else before.task_doubt
    now = f"{words[target]} this question (doubt {after.task_doubt:.3f})"
    return Improved("feedback", "sentence", after.sentence_id, quote(text), f"doubt {doubt:.3f}", now)


def _updated_beliefs(
    form: Update, lesson: Lesson, vectors: Mapping[str, _Taught], before: Mapping[str, Belief | None]
) -> dict[str, Belief]:
    """Return the beliefs that a lesson changes, by sentence."""
    return {
        name: taught(before[name] or Belief(name, lesson.space, vector), target, lesson.source, query, times, form)
        for name, (vector, query, times) in vectors.items()
        if (target := lesson.labels.get(name)) is not None
    }


_Example = tuple[Sentence, str, Vector | None, str | None]
"""A labelled sentence: what is embedded of it, its vector if the view holds one, and the times that it states."""

_Taught = tuple[Vector, Vector, tuple[Vector, Vector] | None]
"""What the update takes of a labelled sentence: its vector, the question's, and those of the times of both, if any."""


def _examples(space: Space, lesson: Lesson) -> list[_Example]:
    """Return the sentences that a lesson labels."""
    examples: list[_Example] = []
    for piece in known_sentences(space, lesson.labels):
        row = space.sentence_row(piece.turn_id, piece.index)
        vectors = None if row == NONE or piece.turn_id in space.unindexed else space.sentence_vectors
        shown = embedded_text(space.turns[piece.turn_id], space.text(piece))
        stated = times_in_words(piece.times) if piece.times else None
        examples.append((piece, shown, None if vectors is None else vectors[row], stated))
    return examples


async def _training_vectors(embedder: Embedder, lesson: Lesson, examples: Sequence[_Example]) -> dict[str, _Taught]:
    """Return what the update takes of the sentences, by id; vectors that the view does not hold are made."""
    if not examples:
        return {}
    time: str | None = lesson.read_trace().get("time")
    times = [stated for *_, stated in examples if time and stated]
    texts = [lesson.query, *(text for _, text, vector, _ in examples if vector is None), *times]
    distinct = list(dict.fromkeys([*texts, *([time] if time and times else [])]))
    made = dict(zip(distinct, await embedder.embed(distinct), strict=True))
    return {
        piece.id: (
            made[text] if vector is None else vector,
            made[lesson.query],
            (made[stated], made[time]) if time and stated else None,
        )
        for piece, text, vector, stated in examples
    }
