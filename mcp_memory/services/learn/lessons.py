"""Learn: turn a judgement of an episode into stored sentence memories, one step of GAM-RAG's feedback (§3.3).

A judgement becomes a *lesson*: a label y for each sentence that it is about. `learn` finds those sentences, embeds the
question and the times, and commits the lesson together with the beliefs that follow from it: under the lock, from the
current beliefs and once for each judge of an episode, so several processes can learn at once.

**Departures.** The paper embeds a time as it is written. Here the resolved time is embedded ("12 May 2023"), so that
"last Friday" in a sentence and "May 2023" in a question have something in common.

**The memory's own answers** teach, too (`own_lesson`). The paper asks a language model for the sentences that state the
answer or are a necessary bridge to it; where one answered, its citations are taken. Else a sentence supports the answer
if it holds the answer word for word and is about something that the query names or that lies on the path to the answer;
or if it states a fact of that path (DESIGN 2.6). This rule shares recall's errors, so its labels count with doubled
noise. "Yes", "no" and a bare number occur by chance: only the path supports them. An abstention teaches nothing.

In the paper every answer is a lesson. Here one of the memory's own is not recorded if every sentence that supports the
answer has a confident gate for the question already: a repeated question would make an error of the rules count as much
as repeated confirmations by callers. Nor does the memory teach itself anything about a sentence that a caller called
wrong for such a question: its repetitions would outweigh the caller's judgement.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from mcp_memory.configurable import Update
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.episodes import Belief, Episode, Lesson, Target
from mcp_memory.domain.evidence import AnswerResult, Source
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import Improved
from mcp_memory.domain.turns import Sentence
from mcp_memory.gain.gates import confident_sentences
from mcp_memory.gain.kalman import taught
from mcp_memory.language.stated import times_in_words
from mcp_memory.language.tokens import STOP_WORDS, mentions, words
from mcp_memory.ports import Embedder, Store
from mcp_memory.search.words import embedded_text
from mcp_memory.vectors import Vector
from mcp_memory.view.evidence import known_sentences, source_of
from mcp_memory.view.space import NONE, Space

TEXT_CHARS = 300
"""Characters of a text that a reported change quotes; the caller who sent a page knows it."""
_BARE = frozenset(("yes", "no", "true", "false"))


async def learn(
    store: Store, embedder: Embedder, form: Update, lesson: Lesson
) -> list[tuple[Belief, Belief | None, Target, str]] | None:
    """Record a lesson about an episode, and the beliefs that follow from it, in one commit.

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


def own_lesson(
    space: Space, query: Query, episode: Episode, answer: AnswerResult, gates: Mapping[int, float]
) -> Lesson | None:
    """Return the lesson that sentences support an answer, without those that a caller called wrong for the question.

    Only the paths over a fact that the answer cites count as having led to it; gates are by row of the sentence.

    Returns:
        None for an abstention, an answer with a hedge, which only a caller's word confirms, and if all that supports
        the answer is known already.
    """
    if answer.text is None or answer.hedged:
        return None
    supporting: Sequence[str] = episode.cited
    if answer.engine == "embedded":
        facts = {citation.evidence_id for citation in answer.citations}
        paths = [path for path in answer.recall.paths if any(step.version.id in facts for step in path.steps)]
        steps = [step for path in paths for step in path.steps]
        assertions = [assertion for step in steps for assertion in (step.via or step.version.assertions)]
        rows = {space.sentence_row(assertion.turn_id, assertion.sentence) for assertion in assertions} - {NONE}
        names = [root.name for root in answer.recall.roots]
        names += [name for step in steps for name in (step.version.head, step.version.tail)]
        pieces = known_sentences(space, dict.fromkeys((*episode.activated, *episode.cited)))
        witnesses = {piece.id: source_of(space, piece) for piece in pieces}
        on_path = {space.sentences[row].id for row in rows}
        supporting = supporting_sentences(query, answer.text, names, witnesses, on_path)
    known = {space.sentences[row].id for row in confident_sentences(gates)}
    wrong = {space.sentences[row].id for row, gate in gates.items() if gate < 1}
    supporting = [name for name in supporting if name not in wrong]
    if known.issuperset(supporting):
        return None
    return Lesson.of(episode, answer.engine, dict.fromkeys(supporting, 1), episode.at)


def supporting_sentences(
    query: Query, answer: str, names: Sequence[str], witnesses: Mapping[str, Source], on_path: Collection[str]
) -> list[str]:
    """Return the ids of the witnesses, sentences that were activated or are cited, that support an answer.

    Those ``on_path`` state a fact of a path that led to it; ``names`` are those of roots, and of entities on the path.
    """
    answer_words = words(answer)
    is_specific = not all(word in STOP_WORDS or word in _BARE or word.isdecimal() for word in answer_words)
    keys = {key for name in (*names, *query.speakers, *query.names) if (key := entity_key(name))}
    return [
        sentence_id
        for sentence_id, witness in witnesses.items()
        if sentence_id in on_path
        or (is_specific and _contains_words(words(witness.quote), answer_words) and _is_about(witness, keys))
    ]


def _contains_words(text: Sequence[str], answer_words: Sequence[str]) -> bool:
    """Return whether a text holds the words one after the other."""
    return any(
        text[start : start + len(answer_words)] == answer_words for start in range(len(text) - len(answer_words) + 1)
    )


def _is_about(witness: Source, keys: set[str]) -> bool:
    """Return whether a sentence is about one of the entities; true of every sentence where none is known."""
    if not keys:
        return True
    if any(entity_key(name) in keys for name in mentions(witness.turn, witness.quote)):
        return True
    text = words(witness.quote)
    return any(_contains_words(text, key.split()) for key in keys)


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
