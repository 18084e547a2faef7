"""Labels: which sentences a caller's feedback is about, and what it says of each (GAM-RAG §3.3, DESIGN 2.6).

**Departures.** GAM-RAG labels sentences; a piece of evidence may be more than one. For a fact, all sentences count that
state it in the sources shown. For a passage, only the sentences count that the answer cites, otherwise the one most
similar to the question: labelling all of them would teach that the whole passage helps with the question. The paper
labels activated sentences that were not marked as not supporting (y = 0). Here only sentences of named evidence are
labelled: measured over five passes of teaching, the others brought nothing on taught questions (-.2 to +.2 points of
recall) and cost up to 1.3 with 30 % wrong feedback, and unmarked evidence may be a bridge (DESIGN D10).

A correction is the caller's later and explicit statement about the question. So its sentences count as supporting,
though nothing activated them (DESIGN I27): otherwise, if no fact is read from it, the corrected answer would be found
and given as before. It also shows what is wrong: the gates of the sentences that the wrong answer cites are closed (y =
-1). A recall cites nothing, since its caller answered from it. There the wrong answer is taken to rest on the sentence
of the best items that resembles the correction most (`corrected_sentence`), unless the caller names what misled. After
an abstention only the correction's sentences are taught.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mcp_memory.domain.episodes import Episode, Lesson, ShownEvidence, Target
from mcp_memory.domain.requests import Feedback
from mcp_memory.language.questions import understand
from mcp_memory.language.segments import QUESTION_MARKS
from mcp_memory.ports import Embedder, Store
from mcp_memory.services.learn.update import labelled_sentences
from mcp_memory.view.space import Space

MISLEADING, RESEMBLING = 3, 0.3
"""Best items of a recall on which a wrong answer may rest; the least cosine of its sentence with the correction."""
CORRECTING = 4
"""Sentences of a correction that are taken to say what is right."""


def feedback_labels(
    episode: Episode,
    feedback: Feedback,
    sentences: Mapping[str, Sequence[str]],
    corrected: Iterable[str] = (),
    misleading: Iterable[str] = (),
) -> dict[str, Target]:
    """Return the label y of each sentence that a caller's feedback is about (DESIGN 2.6, DESIGN D10).

    Supporting evidence, and the citations of a right answer, have y = 1. Evidence that does not support has y = 0,
    which makes its gate neutral. It has y = -1, which closes the gate, only if the caller also says that the answer was
    wrong: then it misled. The citations of a wrong answer have y = 0 unless they are named or corrected: the words may
    be true and only misread. A sentence of both supporting and not supporting evidence has y = 1, and so has a sentence
    of a correction.

    Args:
        episode: that the feedback is about.
        feedback: with ids of its evidence.
        sentences: the sentences of each piece of evidence that is named (`evidence_sentences`).
        corrected: ids of the sentences of the correction (`correction_sentences`).
        misleading: ids of the sentences that the wrong answer is taken to rest on (`corrected_sentence`).
    """
    corrected, misleading = list(corrected), list(misleading)
    if episode.abstained:
        return dict.fromkeys(corrected, 1)
    cited: Target = 1 if feedback.answer_correct else -1 if corrected else 0
    against: Target = -1 if feedback.answer_correct is False else 0
    labels: dict[str, Target] = {}
    if feedback.answer_correct is not None:
        labels |= dict.fromkeys(episode.cited, cited)
    labels |= dict.fromkeys(misleading, -1)
    labels |= {name: against for item in feedback.not_supports for name in sentences[item]}
    labels |= {name: 1 for item in feedback.supports for name in sentences[item]}
    return labels | dict.fromkeys(corrected, 1)


def judged_labels(space: Space, episode: Episode) -> dict[str, Target]:
    """Return the last label of each sentence that was judged for an episode, or by a caller for any question.

    A sentence that a caller called wrong for one question stays wrong for every other, until a caller says that it
    helped. A sentence that only did not help with another question (y = 0) may help here. The memory's own judgement
    counts for the episode alone.
    """
    labels: dict[str, Target] = {}
    for lesson in space.beliefs.lessons():
        here = lesson.episode_id == episode.id
        same = here or lesson.query == episode.query
        if here or lesson.source == "caller":
            labels |= {name: target for name, target in lesson.labels.items() if same or target != 0}
    return labels


def correction_sentences(space: Space, session: str, ref: str) -> list[str]:
    """Return the ids of the first sentences of a correction, without questions, which state nothing."""
    turn = space.current(session, ref)
    pieces = [space.sentences[row] for row in space.sentences_of(turn.id)[:CORRECTING]] if turn else []
    return [piece.id for piece in pieces if not space.text(piece).rstrip().endswith(QUESTION_MARKS)]


async def corrected_sentence(store: Store, embedder: Embedder, episode: Episode, corrected: Sequence[str]) -> list[str]:
    """Return the id of the sentence of a recall that resembles a correction most; none where none does.

    Args:
        store: of the memory.
        embedder: of the sentences.
        episode: of the recall.
        corrected: ids of the sentences of the correction.
    """
    shown = dict.fromkeys(name for item in episode.shown[:MISLEADING] for name in item.sentences)
    async with store.reading() as view:
        space = view.space(episode.space)
        texts = {piece.id: space.text(piece) for piece in labelled_sentences(space, shown)}
        right = [space.text(piece) for piece in labelled_sentences(space, corrected)]
    if not texts or not right:
        return []
    vectors = await embedder.embed([*texts.values(), *right])
    cosines = (vectors[: len(texts)] @ vectors[len(texts) :].T).max(axis=1)
    best = int(cosines.argmax())
    return [list(texts)[best]] if cosines[best] >= RESEMBLING else []


async def evidence_sentences(
    store: Store, embedder: Embedder, episode: Episode, items: Iterable[ShownEvidence]
) -> dict[str, Sequence[str]]:
    """Return the ids of the sentences that count for each piece of evidence of an episode; see the module."""
    items = list(items)
    passages = {item.id for item in items if item.id.startswith("g_") and len(item.sentences) > 1}
    uncited = [item for item in items if item.id in passages and not set(item.sentences) & set(episode.cited)]
    best: dict[str, str] = {}
    if uncited:
        async with store.reading() as view:
            space = view.space(episode.space)
            forms = understand(episode.query, space.speakers, episode.at).forms
            pieces = {piece.id: piece for item in uncited for piece in labelled_sentences(space, item.sentences)}
            documents = {name for name, piece in pieces.items() if space.turns[piece.turn_id].kind == "document"}
            asked = {name: forms[0 if name in documents else -1] for name in pieces}
            texts = {name: space.text(piece) for name, piece in pieces.items()}
        distinct = list(dict.fromkeys((*asked.values(), *texts.values())))
        vectors = dict(zip(distinct, await embedder.embed(distinct), strict=True)) if distinct else {}
        similarity = {name: float(vectors[asked[name]] @ vectors[texts[name]]) for name in pieces}
        for item in uncited:
            if there := [name for name in item.sentences if name in similarity]:
                best[item.id] = max(there, key=lambda name: similarity[name])
    counting: dict[str, Sequence[str]] = {}
    for item in items:
        counting[item.id] = item.sentences
        if item.id in passages:
            cited = [name for name in item.sentences if name in episode.cited]
            counting[item.id] = cited or ([best[item.id]] if item.id in best else [])
    return counting


def without_denied(lesson: Lesson | None, labels: Mapping[str, Target]) -> Lesson | None:
    """Return the own judge's lesson without labels that a caller denies for the same episode; None if none stay."""
    if lesson is None:
        return None
    left = {name: target for name, target in lesson.labels.items() if labels.get(name, target) == target}
    return replace(lesson, labels=left) if left else None
