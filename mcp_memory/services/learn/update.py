"""Learning: one step of GAM-RAG's feedback, from what a judge said of an episode to beliefs that are stored for good.

Read it as the walk of one lesson: find the sentences that it labels, embed the question and what it says of time, and
commit the lesson with the beliefs that follow from it, at once. Embedding happens before the store's lock is taken.
Under it is looked whether this judge has been heard already, and the update starts from the beliefs as they are then,
so several processes may learn at once. When the step has returned, what was learnt survives the death of the process.

**Departures.** The paper embeds a time as it is written. Here times are embedded as what they were resolved to ("12 May
2023"), so that "last Friday" in a sentence and "May 2023" in a question have something in common.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Episode, Lesson, Target
from mcp_memory.domain.evidence import AnswerResult, Engine
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Sentence
from mcp_memory.gain.gates import sure
from mcp_memory.language.dates import times_in_words
from mcp_memory.language.mentions import mentions
from mcp_memory.language.questions import understand
from mcp_memory.ports import BeliefUpdate, Embedder, LearningExample, Store, SupportCandidate, SupportJudge
from mcp_memory.search.look import queries
from mcp_memory.services.learn.episodes import time_words
from mcp_memory.vectors import Vector
from mcp_memory.view.space import NONE, Space


@dataclass(frozen=True, slots=True)
class Learnt:
    """What lessons did to one sentence.

    Attributes:
        sentence_id: of the sentence.
        text: verbatim.
        target: y, by the last of them.
        before: None where nothing was learnt of it yet.
        after: as it is stored now.
    """

    sentence_id: str
    text: str
    target: Target
    before: Belief | None
    after: Belief


async def learn(
    store: Store, embedder: Embedder, teach: BeliefUpdate, lessons: Sequence[Lesson]
) -> list[Learnt] | None:
    """Record lessons about one episode, and what follows from them, in one commit; durable when it returns.

    Args:
        store: where to.
        embedder: of the question and its time, and of the sentences where the view holds no vectors.
        teach: the update (``gain``).
        lessons: of one episode, each by another judge, in the order in which they count.

    Returns:
        What became of each labelled sentence that is still there, or None where every judge was heard before: then
        nothing is recorded.

    Raises:
        StoreError: nothing is learnt.
    """
    name = lessons[0].space
    async with store.reading() as view:
        need = _needed(view.space(name), lessons)
    taught = await _taught(embedder, name, need)
    async with store.writing() as transaction:
        beliefs = transaction.view.space(name).beliefs
        fresh = [lesson for lesson in lessons if beliefs.lesson(*lesson.key) is None]
        if not fresh:
            return None
        before = {one.sentence_id: beliefs.of(one.sentence_id) for one in taught}
        after: dict[str, Belief] = {}
        for lesson in fresh:
            after |= _after(teach, lesson, taught, before | after)
        await transaction.commit(Batch(lessons=tuple(fresh), beliefs=tuple(after.values())))
    said = {name: target for lesson in fresh for name, target in lesson.labels.items()}
    return [Learnt(id_, need.texts[id_], said[id_], before[id_], belief) for id_, belief in after.items()]


def relearner(embedder: Embedder, teach: BeliefUpdate) -> Callable[[Space, Sequence[Lesson]], Awaitable[list[Belief]]]:
    """Return what learns lessons of a space again, in their order: for a rebuild, which keeps what they add up to."""

    async def relearn(space: Space, lessons: Sequence[Lesson]) -> list[Belief]:
        after: dict[str, Belief] = {}
        for lesson in lessons:
            taught = await _taught(embedder, space.name, _needed(space, [lesson]))
            before = {one.sentence_id: space.beliefs.of(one.sentence_id) for one in taught}
            after |= _after(teach, lesson, taught, before | after)
        return list(after.values())

    return relearn


def _after(
    teach: BeliefUpdate, lesson: Lesson, taught: Sequence[LearningExample], before: Mapping[str, Belief | None]
) -> dict[str, Belief]:
    """Return the beliefs that a lesson changes, by sentence."""
    return {
        one.sentence_id: teach(one, before[one.sentence_id], target, lesson.source)
        for one in taught
        if (target := lesson.labels.get(one.sentence_id)) is not None
    }


@dataclass(frozen=True, slots=True)
class _Need:
    """What a lesson needs of its sentences and its question, each sentence by its id.

    Attributes:
        texts: verbatim.
        vectors: of those that the view holds one of.
        queries: the question as each of them would be asked.
        times: what they state, in words; empty where the question says nothing of time.
        time: what the question says of time.
    """

    texts: Mapping[str, str]
    vectors: Mapping[str, Vector]
    queries: Mapping[str, str]
    times: Mapping[str, str]
    time: str | None


def _needed(space: Space, lessons: Sequence[Lesson]) -> _Need:
    lesson = lessons[0]
    question = understand(lesson.query, space.speakers, lesson.asked_at)
    episode = lesson.episode()
    time = episode.time if isinstance(episode, Episode) else time_words(question, lesson.asked_at)  # a damaged trace
    asked = queries(question)
    labelled = dict.fromkeys(name for lesson in lessons for name in lesson.labels)
    pieces = [piece for name in labelled if (piece := space.sentence(name)) is not None]
    documents = {piece.id for piece in pieces if space.turns[piece.turn_id].kind == "document"}
    return _Need(
        texts={piece.id: space.text(piece) for piece in pieces},
        vectors={piece.id: vector for piece in pieces if (vector := _vector(space, piece)) is not None},
        queries={piece.id: asked[0 if piece.id in documents else -1] for piece in pieces},
        times={piece.id: times_in_words(piece.times) for piece in pieces if time and piece.times},
        time=time,
    )


async def _taught(embedder: Embedder, space: str, need: _Need) -> list[LearningExample]:
    """Return the sentences with all vectors that the update takes; those that the view has not are made."""
    texts = [text for name, text in need.texts.items() if name not in need.vectors]
    texts += [*need.queries.values(), *need.times.values()]
    texts += [need.time] if need.time and need.times else []
    distinct = list(dict.fromkeys(texts))
    made = dict(zip(distinct, await embedder.embed(distinct), strict=True)) if distinct else {}
    return [
        LearningExample(
            name,
            space,
            vector=need.vectors[name] if name in need.vectors else made[text],
            query=made[need.queries[name]],
            time=made[need.times[name]] if name in need.times else None,
            query_time=made[need.time] if need.time and name in need.times else None,
        )
        for name, text in need.texts.items()
    ]


def _vector(space: Space, piece: Sentence) -> Vector | None:
    row = space.sentence_row(piece.turn_id, piece.index)
    return None if space.sentence_vectors is None or row == NONE else space.sentence_vectors[row]


DENIED = 0.8
"""Gate in answers, at most, of what a caller denied for the very question: what one word leaves where it is alone."""


def denied(space: Space, query: str, gates: Mapping[int, float]) -> dict[int, float]:
    """Return the gates of the sentences of which a caller's last word on the very question says no good, by row.

    An answer that the memory gave without a hedge has taught itself before anybody can call it wrong, and others may
    have confirmed it: then one word more brings its gate back to 1 and no further, and the answer would stand. So it
    would where it was called wrong and nothing was named, which leaves the gate neutral (y = 0). In recall it is.

    Args:
        space: of a view that is held still.
        query: as given.
        gates: of the question, from `gain.gates.opened`; a lower one stays.
    """
    said: dict[str, Target] = {}
    for lesson in space.beliefs.taught(query):
        if lesson.source == "caller":
            said |= lesson.labels
    pieces = labelled_sentences(space, (name for name, target in said.items() if target < 1))
    rows = [space.sentence_row(piece.turn_id, piece.index) for piece in pieces]
    return {row: min(gates.get(row, 1.0), DENIED) for row in rows if row != NONE}


@dataclass(frozen=True, slots=True)
class Trial:
    """What a judge of support is asked, gathered while the view is held still; see `ports.SupportJudge`.

    Attributes:
        question: understood with the speakers of the space.
        names: that the answer came through.
        witnesses: the sentences to judge.
        known: ids of the sentences that are confidently known to help with this question.
        wrong: ids of those that a caller called wrong for it.
    """

    question: Query
    names: Sequence[str]
    witnesses: Sequence[SupportCandidate]
    known: Collection[str] = ()
    wrong: Collection[str] = ()


def trial(space: Space, episode: Episode, answer: AnswerResult, gates: Mapping[int, float]) -> Trial:
    """Return what there is to judge of an answer.

    Args:
        space: of a view that is held still.
        episode: of the answer.
        answer: with its recall. Of the paths there only those over a fact that it cites have led to it.
        gates: of the question, from `gain.gates.opened`.
    """
    facts = {citation.evidence_id for citation in answer.citations}
    led = [path for path in answer.recall.paths if any(step.version.id in facts for step in path.steps)]
    steps = [step for path in led for step in path.steps]
    said = [one for step in steps for one in (step.via or step.version.assertions)]
    rows = {row for one in said if (row := space.sentence_row(one.turn_id, one.sentence)) != NONE}
    on_path = {space.sentences[row].id for row in rows}
    names = [root.name for root in answer.recall.roots if not root.soft]
    names += [name for step in steps for name in (step.version.head, step.version.tail)]
    witnesses = []
    for piece in labelled_sentences(space, dict.fromkeys((*episode.activated, *episode.cited))):
        text, turn = space.text(piece), space.turns[piece.turn_id]
        witnesses.append(SupportCandidate(piece.id, text, mentions(turn, text), piece.id in on_path))
    known = {space.sentences[row].id for row in sure(gates)}
    wrong = {space.sentences[row].id for row, value in gates.items() if value < 1}
    return Trial(understand(episode.query, space.speakers, episode.at), names, witnesses, known, wrong)


async def own_lesson(judge: SupportJudge, episode: Episode, asked: Trial) -> Lesson | None:
    """Return what the memory's own judge says of an answer; None where it can tell nothing of it that is not known."""
    if episode.abstained or episode.answer is None:
        return None
    found = await judge.supporting(asked.question, episode.answer, asked.names, asked.witnesses)
    return lesson_of(judge.engine, episode, asked, found)


def lesson_of(engine: Engine, episode: Episode, asked: Trial, found: Iterable[str]) -> Lesson | None:
    """Return the lesson that sentences support an answer; None where that is known of all that a caller lets stand.

    Args:
        engine: whose word it is.
        episode: of the answer.
        asked: what there is to judge of it.
        found: ids of the sentences.
    """
    supporting = [name for name in found if name not in asked.wrong]
    if all(name in asked.known for name in supporting):
        return None
    return Lesson.of(episode, engine, dict.fromkeys(supporting, 1), episode.at)


def labelled_sentences(space: Space, ids: Iterable[str]) -> list[Sentence]:
    """Return the sentences with these ids that the space still has, in their order."""
    return [piece for name in ids if (piece := space.sentence(name)) is not None]
