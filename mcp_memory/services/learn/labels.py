"""Labels: which sentences of an episode a judge's word is about, and what it says of each (GAM-RAG §3.3, DESIGN 2.6).

**Departures.** GAM-RAG labels sentences. A caller here names pieces of evidence, which may be more than that. Of a fact
all sentences count that state it in the sources shown; of a passage only those that the answer cites, or else the one
most like the question: to label them all would teach that its whole surroundings help with the question. The memory's
own judge is asked only about the sentences that were activated or are cited; where it finds none of them to support the
answer, it has nothing to teach. The paper counts what was activated and not marked as not supporting (y = 0). Here only
what somebody names is labelled: measured over five rounds of teaching, the others brought nothing on what was taught
(-.2 to +.2 points of recall) and cost up to 1.3 where 30 % of the words were wrong, and what was not marked may be a
bridge (DESIGN D10).

In the paper every answer is a lesson. Here the memory's own judge is not recorded where what it would say is known: as
soon as all sentences that it finds to support the answer have a confident gate for the question, by whoever's word.
Else a question that is asked again and again would fill the store with one word, and what the rules got wrong would
come to be held for as certain as what callers confirmed again and again.

A caller may name what it found by steps of its own: then its walk activated that for the question (DESIGN I27), as
propagation does the rest.

A correction is the caller's later and explicit word about the question. So its own sentences count as supporting,
though nothing activated them (DESIGN I27): else what it corrects would be found and answered as before wherever no fact
is read out of it. By it the caller says as well what is wrong: what the wrong answer cites is closed (y = -1). After an
abstention its sentences are all that is taught.

A caller's word stands against the memory's own: of a sentence that a caller called wrong for such a question (its gate
is below 1, where its own words never bring it) the memory teaches itself nothing. Its word weighs half as much, but it
would be said at every repetition of the question, until what misled is back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.episodes import Episode, Lesson, Shown, Target
from mcp_memory.domain.evidence import Answer, Engine
from mcp_memory.domain.requests import Feedback
from mcp_memory.domain.turns import Sentence
from mcp_memory.gain.gates import sure
from mcp_memory.language.mentions import mentions
from mcp_memory.language.questions import Question, understand
from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.ports import Embedder, Judge, Store, Witness
from mcp_memory.search.look import queries
from mcp_memory.view.space import NONE, Space

DENIED = 0.8
"""Gate in answers, at most, of what a caller denied for the very question: what one word leaves where it is alone."""
CORRECTING = 4
"""Sentences of a correction that are taken to say what is right; what comes after them is its surroundings."""


def feedback_labels(
    episode: Episode, feedback: Feedback, telling: Mapping[str, Sequence[str]], corrected: Iterable[str] = ()
) -> dict[str, Target]:
    """Return y of each sentence that a caller's word is about (DESIGN 2.6, DESIGN D10).

    What supports, and what a right answer cites, has y = 1. What does not support has y = 0, which makes its gate
    neutral, and y = -1, which closes it, only if the caller says as well that the answer was wrong: then it is what
    misled. What a wrong answer cites has y = 0 unless it is named or corrected: the words may be true and only misread.
    A sentence that stands both in what supports and in what does not has helped, and so does a correction.

    Args:
        episode: that the feedback is about.
        feedback: with ids of its evidence.
        telling: the sentences that stand for each piece of evidence that is named (`told_by`).
        corrected: ids of the sentences of the correction (`correcting`).
    """
    corrected = list(corrected)
    if episode.abstained:
        return dict.fromkeys(corrected, 1)
    cited: Target = 1 if feedback.answer_correct else -1 if corrected else 0
    against: Target = -1 if feedback.answer_correct is False else 0
    labels: dict[str, Target] = {}
    if feedback.answer_correct is not None:
        labels |= dict.fromkeys(episode.cited, cited)
    labels |= {name: against for item in feedback.not_supports for name in telling[item]}
    labels |= {name: 1 for item in feedback.supports for name in telling[item]}
    return labels | dict.fromkeys(corrected, 1)


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
    pieces = _sentences(space, (name for name, target in said.items() if target < 1))
    rows = [space.sentence_row(piece.turn_id, piece.index) for piece in pieces]
    return {row: min(gates.get(row, 1.0), DENIED) for row in rows if row != NONE}


def judged(space: Space, episode: Episode) -> dict[str, Target]:
    """Return the last word on each sentence that was judged for an episode, or that a caller judged elsewhere.

    What a caller called wrong for one question stays wrong for every other, until a caller says that it helped; what
    only did not help with another question (y = 0) may help here. The memory's own word counts for the episode alone.

    Args:
        space: of a view that is held still.
        episode: whose evidence is used.
    """
    said: dict[str, Target] = {}
    for lesson in space.beliefs.lessons():
        here = lesson.episode_id == episode.id
        same = here or lesson.query == episode.query
        if here or lesson.source == "caller":
            said |= {name: target for name, target in lesson.labels.items() if same or target != 0}
    return said


def correcting(space: Space, session: str, ref: str) -> list[str]:
    """Return the ids of the first sentences of a correction that state something; a question states nothing.

    Args:
        space: of a view that is held still.
        session: where corrections are kept.
        ref: of the correction, there.
    """
    turn = space.current(session, ref)
    pieces = [space.sentences[row] for row in space.sentences_of(turn.id)[:CORRECTING]] if turn else []
    return [piece.id for piece in pieces if not space.text(piece).rstrip().endswith(QUESTION_MARKS)]


async def told_by(
    store: Store, embedder: Embedder, episode: Episode, items: Iterable[Shown]
) -> dict[str, Sequence[str]]:
    """Return the sentences that stand for each piece of evidence of an episode: see the module."""
    items = list(items)
    long = [item for item in items if _passage(item) and not set(item.sentences) & set(episode.cited)]
    best: dict[str, str] = {}
    if long:
        async with store.reading() as view:
            space = view.space(episode.space)
            question = understand(episode.query, space.speakers, episode.at)
            pieces = {piece.id: piece for item in long for piece in _sentences(space, item.sentences)}
            asked = {name: queries(question)[0 if _document(space, piece) else -1] for name, piece in pieces.items()}
            texts = {name: space.text(piece) for name, piece in pieces.items()}
        distinct = list(dict.fromkeys((*asked.values(), *texts.values())))
        vectors = dict(zip(distinct, await embedder.embed(distinct), strict=True)) if distinct else {}
        likeness = {name: float(vectors[asked[name]] @ vectors[texts[name]]) for name in pieces}
        for item in long:
            if there := [name for name in item.sentences if name in likeness]:
                best[item.id] = max(there, key=lambda name: likeness[name])
    return {item.id: _standing(item, episode, best.get(item.id)) for item in items}


@dataclass(frozen=True, slots=True)
class Trial:
    """What a judge of support is asked, gathered while the view is held still; see `ports.Judge`.

    Attributes:
        question: understood with the speakers of the space.
        names: that the answer came through.
        witnesses: the sentences to judge.
        known: ids of the sentences that are confidently known to help with this question.
        wrong: ids of those that a caller called wrong for it.
    """

    question: Question
    names: Sequence[str]
    witnesses: Sequence[Witness]
    known: Collection[str] = ()
    wrong: Collection[str] = ()


def trial(space: Space, episode: Episode, answer: Answer, gates: Mapping[int, float]) -> Trial:
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
    for piece in _sentences(space, dict.fromkeys((*episode.activated, *episode.cited))):
        text, turn = space.text(piece), space.turns[piece.turn_id]
        witnesses.append(Witness(piece.id, text, mentions(turn, text), piece.id in on_path))
    known = {space.sentences[row].id for row in sure(gates)}
    wrong = {space.sentences[row].id for row, value in gates.items() if value < 1}
    return Trial(understand(episode.query, space.speakers, episode.at), names, witnesses, known, wrong)


async def own_lesson(judge: Judge, episode: Episode, asked: Trial) -> Lesson | None:
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


def unopposed(own: Lesson | None, labels: Mapping[str, Target]) -> Lesson | None:
    """Return what the own judge said and a caller does not deny by ``labels`` of the same episode; None for nothing."""
    if own is None:
        return None
    left = {name: target for name, target in own.labels.items() if labels.get(name, target) == target}
    return replace(own, labels=left) if left else None


def _sentences(space: Space, ids: Iterable[str]) -> list[Sentence]:
    return [piece for name in ids if (piece := space.sentence(name)) is not None]


def _document(space: Space, piece: Sentence) -> bool:
    return space.turns[piece.turn_id].kind == "document"


def _passage(item: Shown) -> bool:
    """Return whether an item is a passage of several sentences."""
    return item.id.startswith("g_") and len(item.sentences) > 1


def _standing(item: Shown, episode: Episode, best: str | None) -> Sequence[str]:
    if not _passage(item):
        return item.sentences
    cited = [name for name in item.sentences if name in episode.cited]
    return cited or ([best] if best else [])
