"""Feedback: apply a caller's judgement of a recall or an answer (GAM-RAG §3.3, DESIGN 2.6).

**Labels** say which sentences a caller's feedback is about, and what it says of each (`feedback_labels`).

**Departures.** GAM-RAG labels sentences; a piece of evidence may be more than one. For a fact, all sentences count that
state it in the sources shown. For a passage, only the sentences count that the answer cites, otherwise the one most
similar to the question: not the whole passage helps with the question. The paper labels activated sentences that were
not marked as not supporting (y = 0). Here only sentences of named evidence are labelled: measured over five passes of
teaching, the others brought nothing on taught questions (-.2 to +.2 points of recall) and cost up to 1.3 with 30 %
wrong feedback, and unmarked evidence may be a bridge (DESIGN D10).

**A correction** is stored as a message without a speaker in a session of its own, under an id made of the episode and
the words, so that repeating one stores nothing; facts are read from it as from any message. Its sentences count as
supporting, though nothing activated them (DESIGN I27), and what the wrong answer cites as wrong (y = -1). A recall
cites nothing: there the wrong answer is taken to rest on the sentence of the best items that resembles the correction
most (`corrected_sentence`), unless the caller names what misled.

**A confirmation** is an unconfirmed fact that a caller names as supporting: it is stored as a fact that the caller
states. Evidence that does not support an answer need not be false, so feedback never weakens a fact.

**Explored evidence** that a caller found by explore steps after the recall joins its episode when feedback names it: it
counts as activated by the caller's steps (DESIGN I27).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.episodes import Episode, Lesson, ShownEvidence, Target, correction_ref
from mcp_memory.domain.facts import Version
from mcp_memory.domain.relations import Cardinality, relations
from mcp_memory.domain.requests import (
    EvolveRequest,
    EvolveStep,
    Feedback,
    Improved,
    NewFact,
    NewItem,
    Skipped,
    WriteRequest,
)
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import FEEDBACK
from mcp_memory.errors import InvalidInput
from mcp_memory.language.segments import ends_with_question_mark
from mcp_memory.ports import Embedder, Progress, QuestionJudge, Store
from mcp_memory.services.indexing import Reading, silent
from mcp_memory.services.learn.episodes import Episodes, record_ids
from mcp_memory.services.learn.lessons import belief_change, learn, quote
from mcp_memory.services.recall.loop import RecallSettings
from mcp_memory.services.write import write
from mcp_memory.view.evidence import known_sentences
from mcp_memory.view.space import Space

NAMED_IDS = 12
"""Ids that an error names."""
MISLEADING, RESEMBLING = 3, 0.3
"""Best items of a recall on which a wrong answer may rest; the least cosine of its sentence with the correction."""
CORRECTING_SENTENCES = 4
"""Sentences of a correction that are taken to say what is right."""
_HEARD = "You have said before what you think of this episode; a judge is heard once."
_ABSTAINED = (
    "An answer that abstained teaches nothing. Recall instead (memory_reconstruct), and name there what supports."
)


@dataclass(frozen=True, slots=True)
class EvolveContext:
    """The adapters and settings of an evolve; ``judge`` opens a judge that is asked goals, None for the rules."""

    store: Store
    embedder: Embedder
    reading: Reading
    episodes: Episodes
    recall: RecallSettings
    judge: Callable[[], QuestionJudge] | None
    now: Millis
    progress: Progress


async def apply_feedback(
    feedback: Feedback, episode: Episode, request: EvolveRequest, context: EvolveContext, steps: Sequence[EvolveStep]
) -> tuple[list[Improved], list[Skipped]]:
    """Store a caller's feedback on an episode, learn from it, and return the changes and the skipped steps."""
    changes: list[Improved] = []
    skipped: list[Skipped] = []
    await context.progress(0, 4, "reading the episode")
    async with context.store.reading(whole=False) as view:
        facts = view.space(episode.space).facts
        assertions = len(facts.rows)
        cardinalities = {name: facts.cardinality(name) for name in {row.relation for row in facts.rows}}
        heard = view.space(episode.space).beliefs.lesson(episode.id, "caller")
    reason = _ABSTAINED if episode.abstained else _HEARD if heard is not None else None
    if "feedback" in steps and feedback.correction is not None:
        changes += await _store_correction(feedback.correction, episode, context)
    await context.progress(1, 4, "confirming facts")
    named = [name for name in feedback.supports if names_fact(name)]
    if "confidence" in steps and named and feedback.answer_correct is not False:
        left = [Skipped("confidence", reason)] if reason else await _confirm(named, episode, context)
        skipped += left if request.steps else []  # reported only to a caller who asks for the step
    await context.progress(2, 4, "learning")
    if "feedback" in steps and feedback != Feedback():
        after_abstention = feedback.correction is not None and reason is _ABSTAINED
        learnt = (None if after_abstention else reason) or await _teach(feedback, episode, context)
        if after_abstention and (feedback.supports or feedback.not_supports):
            skipped.append(Skipped("feedback", _ABSTAINED))
        if not isinstance(learnt, str):
            changes += learnt
        elif changes or feedback != Feedback(correction=feedback.correction):  # else the caller said all of it before
            skipped.append(Skipped("feedback", learnt))
    followed = await _changes_since(context.store, episode.space, assertions, cardinalities)
    changes += [change for change in followed if change.step in steps]
    await context.progress(3, 4, "judged")
    return changes, skipped


def names_fact(evidence_id: str) -> bool:
    """Return whether an id of evidence is that of a fact or a hypothesis."""
    return evidence_id.startswith(("f_", "i_"))


def resolve_numbers(feedback: Feedback, episode: Episode) -> Feedback:
    """Return feedback with ids in place of the numbers by which it names records of the reply's text, from 1 on."""
    return replace(
        feedback,
        supports=record_ids(feedback.supports, episode, "feedback.supports"),
        not_supports=record_ids(feedback.not_supports, episode, "feedback.not_supports"),
    )


def add_explored(episode: Episode, feedback: Feedback, episodes: Episodes) -> Episode:
    """Return an episode with the evidence that feedback names and that an explore step of this process found."""
    known = {item.id for item in (*episode.shown, *episode.explored)}
    named = dict.fromkeys(name for name in (*feedback.supports, *feedback.not_supports) if name not in known)
    items = [item for name in named if (item := episodes.explored(episode.space, name)) is not None]
    return replace(episode, explored=(*episode.explored, *items))


def check_feedback(feedback: Feedback, episode: Episode) -> None:
    """Refuse feedback that says nothing, contradicts itself, or names evidence that no recall or step showed.

    Raises:
        InvalidInput: one of these.
    """
    if not (feedback.supports or feedback.not_supports or feedback.correction) and feedback.answer_correct is None:
        raise InvalidInput("feedback", "says nothing", f"Give at least one of {', '.join(Feedback.__slots__)}.")
    known = {item.id for item in (*episode.shown, *episode.explored)}
    for argument in ("supports", "not_supports"):
        for place, name in enumerate(getattr(feedback, argument)):
            if name not in known:
                some = ", ".join([item.id for item in episode.shown][:NAMED_IDS]) or "it has none"
                problem = f"{name[:60]!r} is no evidence of episode {episode.id}, and no step found it lately"
                remedy = "Give ids of what memory_explore found, numbers of the episode's records, or their ids: "
                remedy += f"{some}. Nothing was changed."
                raise InvalidInput(f"feedback.{argument}[{place}]", problem, remedy)
    for name in feedback.supports:
        if name in feedback.not_supports:
            raise InvalidInput("feedback.not_supports", f"{name} stands in supports too", "Leave it out of one.")
    only_verdict = not (feedback.supports or feedback.not_supports or feedback.correction)
    if only_verdict and feedback.answer_correct is not None and not (episode.answer or episode.abstained):
        problem = "this episode is a recall, which gave no answer"
        remedy = "Name in supports the evidence that held yours."
        if not feedback.answer_correct:
            remedy = "Name in not_supports the evidence that misled."
        raise InvalidInput("feedback.answer_correct", problem, remedy)


async def _store_correction(text: str, episode: Episode, context: EvolveContext) -> list[Improved]:
    """Store a correction, and return the changes; none if it was stored before."""
    request = WriteRequest(episode.space, FEEDBACK, "message", (NewItem(text, ref=correction_ref(episode.id, text)),))
    written = await write(context.store, context.reading, request, now=context.now, progress=silent)
    if not any(item.stored for item in written.items):
        return []
    facts = [
        Improved("feedback", "fact", fact.id, fact.text, None, fact.op, *times)
        for fact in written.facts
        for times in ((fact.valid_from, fact.valid_to, fact.kind, fact.precision),)
    ]
    return [Improved("feedback", "message", written.items[0].ref, quote(text), None, "stored"), *facts]


async def _confirm(names: Sequence[str], episode: Episode, context: EvolveContext) -> list[Skipped]:
    """Confirm the facts that are only suspected; return those that were not confirmed, with the reason."""
    async with context.store.reading(whole=False) as view:
        facts = view.space(episode.space).facts
        named, stable = [(name, facts.version(name)) for name in names], facts.stable
    skipped = [Skipped("confidence", f"{name} is a hypothesis; state it yourself.") for name, v in named if v is None]
    versions = {version.id: version for _, version in named if version is not None}.values()
    skipped += [
        Skipped("confidence", f"{version.id} needs no confirmation (confidence {version.confidence:.4g}).")
        for version in versions
        if version.confidence >= stable
    ]
    stated = tuple(_as_new_fact(version) for version in versions if version.confidence < stable)
    if stated:
        request = WriteRequest(episode.space, FEEDBACK, "statement", (), stated)
        await write(context.store, context.reading, request, now=context.now, progress=silent)
    return skipped


def _as_new_fact(version: Version) -> NewFact:
    """Return a fact as a caller states it: for its stated time, or for now if it was first said without one."""
    if version.current and not version.stated:
        return NewFact(version.head, version.relation, version.tail)
    since = version.since if version.since > BEGINNING else None
    until = version.until if version.until < FOREVER else None
    return NewFact(version.head, version.relation, version.tail, since, until)


async def _teach(feedback: Feedback, episode: Episode, context: EvolveContext) -> list[Improved] | str:
    """Record the caller's judgement and return the changes, or the reason why nothing is learnt from it."""
    if not context.recall.switches.learning:
        return "Learning is switched off here (switches.learning)."
    if not episode.query:
        return "Nothing was asked, so there is nothing that its evidence could have helped with."
    named = {*feedback.supports, *feedback.not_supports}
    items = [item for item in (*episode.shown, *episode.explored) if item.id in named]
    sentences = await evidence_sentences(context.store, context.embedder, episode, items)
    corrected: Sequence[str] = ()
    if feedback.correction is not None:
        async with context.store.reading() as view:
            space = view.space(episode.space)
            said = space.current(FEEDBACK, space.ids.ref(correction_ref(episode.id, feedback.correction)))
            pieces = (
                [space.sentences[row] for row in space.sentences.of_turn(said.id)[:CORRECTING_SENTENCES]]
                if said
                else []
            )
            # its questions state nothing
            corrected = [piece.id for piece in pieces if not ends_with_question_mark(space.text(piece))]
    misleading: Sequence[str] = ()
    if corrected and feedback.answer_correct is False and not (feedback.not_supports or episode.cited):
        misleading = await corrected_sentence(context.store, context.embedder, episode, corrected)
    labels = feedback_labels(episode, feedback, sentences, corrected, misleading)
    if not labels:
        return "It rests on no sentence that could learn from it."
    lesson = Lesson.of(episode, "caller", labels, context.now)
    learnt = await learn(context.store, context.embedder, context.recall.gain.update, lesson)
    return _HEARD if learnt is None else [belief_change(*change) for change in learnt]


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

    `evidence_sentences` returns the ``sentences`` of each piece of evidence that is named, `corrected_sentence` the
    ``misleading`` ones; those ``corrected`` are the correction's own.
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


async def corrected_sentence(store: Store, embedder: Embedder, episode: Episode, corrected: Sequence[str]) -> list[str]:
    """Return the id of the sentence of a recall that resembles a correction's sentences most; none where none does."""
    shown = dict.fromkeys(name for item in episode.shown[:MISLEADING] for name in item.sentences)
    async with store.reading() as view:
        space = view.space(episode.space)
        texts = {piece.id: space.text(piece) for piece in known_sentences(space, shown)}
        right = [space.text(piece) for piece in known_sentences(space, corrected)]
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
            pieces = {piece.id: piece for item in uncited for piece in known_sentences(space, item.sentences)}
            texts = {name: space.text(piece) for name, piece in pieces.items()}
        asked, *vectors = await embedder.embed([episode.query, *texts.values()])
        similarity = {name: float(asked @ vector) for name, vector in zip(texts, vectors, strict=True)}
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


async def _changes_since(
    store: Store, space: str, assertions: int, cardinalities: Mapping[str, Cardinality]
) -> list[Improved]:
    """Return the facts and relations that changed by writes since there were so many assertions."""
    changes: list[Improved] = []
    async with store.reading(whole=False) as view:
        facts = view.space(space).facts
        new = facts.rows[assertions:]
        fresh = {row.id for row in new}
        for key, relation in dict.fromkeys((facts.key(row.head), row.relation) for row in new):
            before = {version.id: version.confidence for version in facts.versions_without(key, relation, fresh)}
            for version in facts.all_versions(key, relation):
                was = before.get(version.id, version.confidence)
                if was != version.confidence:
                    less, more = f"confidence {was:.4g}", f"confidence {version.confidence:.4g}"
                    times = version.since, version.until
                    changes.append(Improved("confidence", "fact", version.id, version.text, less, more, *times))
        for relation in dict.fromkeys(row.relation for row in new):
            known = cardinalities.get(relation, relations().get(relation).cardinality)
            if (now := facts.cardinality(relation)) != known:
                changes.append(Improved("cardinality", "relation", relation, _VALUES[now], known, now))
    return changes


_VALUES: dict[Cardinality, str] = {
    "single": "It has one value at a time: a new one closes the old one.",
    "multi": "It has several values at a time: a new one closes none.",
    "unknown": "It is not known how many values it has at a time.",
}
