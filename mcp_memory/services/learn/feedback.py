"""Feedback: what a caller says of a recall or an answer, and what follows from it.

**Corrections** are the caller's statements: a message without a speaker in a session of their own, under an id that
follows from the episode and the words, so that repeating one stores nothing. They are read for facts like any message,
and a newer value closes the older one. Their sentences are taught as supporting the question, so that they are found
and answered with where no fact is read out of them (``labelling.py``).

**Confirmations.** A caller who names a fact among what supports an answer confirms it, if nothing else has: that is
stored as a fact that the caller tells, and from then on the memory relies on it. A fact that it relies on already would
gain little, and the memory would fill with what it knows. What does not support an answer need not be false, so no fact
loses by it.

**Explored evidence.** A caller whom a recall did not suffice goes on by steps of its own (``explore.py``), and what it
found there may be named as evidence of that recall: it joins the episode, and its trace.

Labels: which sentences of an episode a judge's word is about, and what it says of each (GAM-RAG §3.3, DESIGN 2.6).

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.episodes import Episode, Lesson, Shown, Target
from mcp_memory.domain.facts import Version
from mcp_memory.domain.ids import digest
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
from mcp_memory.domain.turns import Sentence
from mcp_memory.errors import InvalidInput
from mcp_memory.language.questions import understand
from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.ports import BeliefUpdate, Embedder, Progress, Store
from mcp_memory.search.look import queries
from mcp_memory.services.ingest import Reading
from mcp_memory.services.learn.episodes import Episodes, record_ids
from mcp_memory.services.learn.update import Learnt, labelled_sentences, learn
from mcp_memory.services.points.edits import Making
from mcp_memory.services.write import write
from mcp_memory.view.space import Space

SESSION = "feedback"
"""Where corrections and confirmations are kept."""
NAMED = 12
"""Ids that an error names."""
TOLD_CHARS = 300
"""Of the text of a correction or a sentence, in what a call changed."""
NOT_ASKED = "The call brings it, but steps leaves it out."
_HEARD = "You have said before what you think of this episode; a judge is heard once."
_ABSTAINED = (
    "An answer that abstained teaches nothing. Recall instead (memory_reconstruct), and name there what supports."
)


@dataclass(frozen=True, slots=True)
class Taking:
    """What is done with what a call brings.

    Attributes:
        store: where to.
        embedder: of questions and corrections.
        reading: what corrections are read with.
        episodes: of this process.
        teach: the update; None where learning is switched off.
        making: of memory points; None where they are switched off.
        now: the moment of the call.
        progress: told after each part.
    """

    store: Store
    embedder: Embedder
    reading: Reading
    episodes: Episodes
    teach: BeliefUpdate | None
    making: Making | None
    now: Millis
    progress: Progress


async def listened(
    feedback: Feedback, episode: Episode, request: EvolveRequest, taking: Taking, steps: Sequence[EvolveStep]
) -> tuple[list[Improved], list[Skipped]]:
    """Take in what a caller says of an episode."""
    changes: list[Improved] = []
    skipped: list[Skipped] = []
    await taking.progress(0, 4, "reading the episode")
    before = await _state(taking.store, episode.space)
    reason = _ABSTAINED if episode.abstained else await _heard(taking.store, episode)
    if "feedback" in steps and feedback.correction is not None:
        changes += await _correct(feedback.correction, episode, taking)
    await taking.progress(1, 4, "confirming facts")
    facts = [name for name in feedback.supports if names_fact(name)]
    if "confidence" in steps and facts and feedback.answer_correct is not False:
        left = [Skipped("confidence", reason)] if reason else await _confirm(facts, episode, taking)
        skipped += left if request.steps else []  # who does not ask for the step need not hear why it was not taken
    await taking.progress(2, 4, "learning")
    if "feedback" in steps and feedback != Feedback():
        teaches = feedback.correction is not None and reason is _ABSTAINED
        learnt = (None if teaches else reason) or await _learn(feedback, episode, taking)
        if teaches and (feedback.supports or feedback.not_supports):
            skipped.append(Skipped("feedback", _ABSTAINED))
        if isinstance(learnt, str):
            if changes or feedback != Feedback(correction=feedback.correction):  # else it was all said before
                skipped.append(Skipped("feedback", learnt))
        else:
            changes += [_taught(one) for one in learnt]
    changes += [one for one in await _followed(taking.store, episode.space, before) if one.step in steps]
    if "feedback" not in steps and (feedback.correction is not None or feedback.not_supports):
        skipped.append(Skipped("feedback", NOT_ASKED))
    if not changes and not skipped:
        skipped.append(Skipped(steps[0], "All of it was known."))
    await taking.progress(3, 4, "judged")
    return changes, skipped


def names_fact(evidence_id: str) -> bool:
    """Return whether an id of evidence is that of a fact or a hypothesis."""
    return evidence_id.startswith(("f_", "i_"))


def by_number(feedback: Feedback, episode: Episode) -> Feedback:
    """Return feedback with the ids of the records that it names by their number in the reply's text, from 1 on."""
    return replace(
        feedback,
        supports=record_ids(feedback.supports, episode, "feedback.supports"),
        not_supports=record_ids(feedback.not_supports, episode, "feedback.not_supports"),
    )


def with_explored(episode: Episode, feedback: Feedback, episodes: Episodes) -> Episode:
    """Return an episode with what of a caller's word it did not show itself, and a step of this process found."""
    known = {item.id for item in (*episode.shown, *episode.explored)}
    named = dict.fromkeys(name for name in (*feedback.supports, *feedback.not_supports) if name not in known)
    found = [item for name in named if (item := episodes.found(episode.space, name)) is not None]
    return replace(episode, explored=(*episode.explored, *found))


def check(feedback: Feedback, episode: Episode) -> None:
    """Refuse feedback that says nothing, contradicts itself, or is about what neither the episode nor a step showed.

    Raises:
        InvalidInput: one of these.
    """
    if not (feedback.supports or feedback.not_supports or feedback.correction) and feedback.answer_correct is None:
        raise InvalidInput("feedback", "says nothing", f"Give at least one of {', '.join(Feedback.__slots__)}.")
    known = {item.id for item in (*episode.shown, *episode.explored)}
    for argument in ("supports", "not_supports"):
        for place, name in enumerate(getattr(feedback, argument)):
            if name not in known:
                some = ", ".join([item.id for item in episode.shown][:NAMED]) or "it has none"
                problem = f"{name[:60]!r} is no evidence of episode {episode.id}, and no step found it lately"
                remedy = "Give ids of what memory_explore found, numbers of the episode's records, or their ids: "
                remedy += f"{some}. Nothing was changed."
                raise InvalidInput(f"feedback.{argument}[{place}]", problem, remedy)
    for name in feedback.supports:
        if name in feedback.not_supports:
            raise InvalidInput("feedback.not_supports", f"{name} stands in supports too", "Leave it out of one.")
    silent = not (feedback.supports or feedback.not_supports or feedback.correction)
    if silent and feedback.answer_correct is not None and not (episode.answer or episode.abstained):
        problem = "this episode is a recall, which gave no answer"
        remedy = "Name in supports the evidence that held yours."
        if not feedback.answer_correct:
            remedy = "Name in not_supports the evidence that misled."
        raise InvalidInput("feedback.answer_correct", problem, remedy)


async def _heard(store: Store, episode: Episode) -> str | None:
    """Return the reason not to listen to a caller again, or None."""
    async with store.reading(whole=False) as view:
        lesson = view.space(episode.space).beliefs.lesson(episode.id, "caller")
    return None if lesson is None else _HEARD


async def _correct(text: str, episode: Episode, taking: Taking) -> list[Improved]:
    """Keep a correction, and return what it did."""
    ref = _ref(text, episode)
    request = WriteRequest(episode.space, SESSION, "message", (NewItem(text, ref=ref),))
    written = await write(taking.store, taking.reading, request, now=taking.now, progress=_quiet)
    if not any(item.stored for item in written.items):
        return []
    told = [
        Improved("feedback", "fact", fact.id, fact.text, None, fact.op, fact.valid_from, fact.valid_to)
        for fact in written.facts
    ]
    return [Improved("feedback", "message", ref, _begun(text), None, "stored"), *told]


def _ref(correction: str, episode: Episode) -> str:
    """Return the id under which a correction is kept."""
    return digest(episode.id, correction)


async def _confirm(names: Sequence[str], episode: Episode, taking: Taking) -> list[Skipped]:
    """Confirm facts that are only suspected; return those that are not, with the reason."""
    async with taking.store.reading(whole=False) as view:
        facts = view.space(episode.space).facts
        found, stable = [(name, facts.version(name)) for name in names], facts.stable
    skipped = [Skipped("confidence", f"{name} is a hypothesis; state it yourself.") for name, v in found if v is None]
    versions = {version.id: version for _, version in found if version is not None}.values()
    skipped += [
        Skipped("confidence", f"{one.id} needs no confirmation (confidence {one.confidence:.4g}).")
        for one in versions
        if one.confidence >= stable
    ]
    told = tuple(_plainly(version) for version in versions if version.confidence < stable)
    if told:
        request = WriteRequest(episode.space, SESSION, "statement", (), told)
        await write(taking.store, taking.reading, request, now=taking.now, progress=_quiet)
    return skipped


def _plainly(version: Version) -> NewFact:
    """Return a fact as a caller states it plainly: for its time, or for now where that is how it was first said."""
    if version.current and not version.stated:
        return NewFact(version.head, version.relation, version.tail)
    since = version.since if version.since > BEGINNING else None
    until = version.until if version.until < FOREVER else None
    return NewFact(version.head, version.relation, version.tail, since, until)


async def _learn(feedback: Feedback, episode: Episode, taking: Taking) -> list[Learnt] | str:
    """Record what the caller says, or return the reason why nothing is learnt from it.

    What the memory's own judge said waits no longer if the answer was right; what the caller denies of it is left out.
    """
    if taking.teach is None:
        return "Learning is switched off here (switches.learning)."
    if not episode.query:
        return "Nothing was asked, so there is nothing that its evidence could have helped with."
    named = {*feedback.supports, *feedback.not_supports}
    items = [one for one in (*episode.shown, *episode.explored) if one.id in named]
    telling = await told_by(taking.store, taking.embedder, episode, items)
    corrected: Sequence[str] = ()
    if feedback.correction is not None:
        async with taking.store.reading() as view:
            corrected = correcting(view.space(episode.space), SESSION, _ref(feedback.correction, episode))
    labels = feedback_labels(episode, feedback, telling, corrected)
    if not labels:
        return "It rests on no sentence that could learn from it."
    lesson = Lesson.of(episode, "caller", labels, taking.now)
    waiting = taking.episodes.waiting(episode.space, episode.id) if feedback.answer_correct else None
    own = unopposed(waiting, labels)
    lessons = [lesson] if own is None else [own, lesson]
    learnt = await learn(taking.store, taking.embedder, taking.teach, lessons)
    return _HEARD if learnt is None else learnt


def _taught(learnt: Learnt) -> Improved:
    """Return what a judge's word did to a sentence, told by its doubt: 1 knows nothing."""
    words = {1: "supports", 0: "does not support", -1: "is wrong for"}
    doubt = 1.0 if learnt.before is None else learnt.before.task_doubt
    after = f"{words[learnt.target]} this question (doubt {learnt.after.task_doubt:.3f})"
    return Improved("feedback", "sentence", learnt.sentence_id, _begun(learnt.text), f"doubt {doubt:.3f}", after)


def _begun(text: str) -> str:
    """Return as much of a text as a change tells: whoever sent a page knows it."""
    return text if len(text) <= TOLD_CHARS else f"{text[:TOLD_CHARS]}…"


@dataclass(frozen=True, slots=True)
class _State:
    """Of a space at a moment: how many assertions it has, and how many values each relation has at a time."""

    assertions: int
    cardinality: dict[str, Cardinality]


async def _state(store: Store, space: str) -> _State:
    async with store.reading(whole=False) as view:
        facts = view.space(space).facts
        return _State(len(facts.rows), {name: facts.cardinality(name) for name in {row.relation for row in facts.rows}})


async def _followed(store: Store, space: str, before: _State) -> list[Improved]:
    """Return what followed from what was written since: facts that are surer, relations that are known better."""
    found: list[Improved] = []
    async with store.reading(whole=False) as view:
        facts = view.space(space).facts
        new = facts.rows[before.assertions :]
        fresh = {row.id for row in new}
        for key, relation in dict.fromkeys((facts.key(row.head), row.relation) for row in new):
            were = {version.id: version.confidence for version in facts.without(key, relation, fresh)}
            for version in facts.both(key, relation):
                was = were.get(version.id, version.confidence)
                if was != version.confidence:
                    less, sure = f"confidence {was:.4g}", f"confidence {version.confidence:.4g}"
                    times = version.since, version.until
                    found.append(Improved("confidence", "fact", version.id, version.text, less, sure, *times))
        for relation in dict.fromkeys(row.relation for row in new):
            was_known = before.cardinality.get(relation, relations().get(relation).cardinality)
            if (now := facts.cardinality(relation)) != was_known:
                found.append(Improved("cardinality", "relation", relation, _VALUES[now], was_known, now))
    return found


_VALUES: dict[Cardinality, str] = {
    "single": "It has one value at a time: a new one closes the old one.",
    "multi": "It has several values at a time: a new one closes none.",
    "unknown": "It is not known how many values it has at a time.",
}


async def _quiet(_done: float, _total: float, _what: str) -> None:
    """Report no progress of a part."""


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
            pieces = {piece.id: piece for item in long for piece in labelled_sentences(space, item.sentences)}
            asked = {name: queries(question)[0 if _document(space, piece) else -1] for name, piece in pieces.items()}
            texts = {name: space.text(piece) for name, piece in pieces.items()}
        distinct = list(dict.fromkeys((*asked.values(), *texts.values())))
        vectors = dict(zip(distinct, await embedder.embed(distinct), strict=True)) if distinct else {}
        likeness = {name: float(vectors[asked[name]] @ vectors[texts[name]]) for name in pieces}
        for item in long:
            if there := [name for name in item.sentences if name in likeness]:
                best[item.id] = max(there, key=lambda name: likeness[name])
    return {item.id: _standing(item, episode, best.get(item.id)) for item in items}


def unopposed(own: Lesson | None, labels: Mapping[str, Target]) -> Lesson | None:
    """Return what the own judge said and a caller does not deny by ``labels`` of the same episode; None for nothing."""
    if own is None:
        return None
    left = {name: target for name, target in own.labels.items() if labels.get(name, target) == target}
    return replace(own, labels=left) if left else None


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
