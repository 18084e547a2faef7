"""What feedback taught of sentences: gates, retrieval with them (GAM-RAG §3.2), and the word of callers.

`gates_and_propagation` computes the gates of a question, starts propagation from the entities that it names, runs it
until a confident memory ends it, and returns two channels for the first retrieval.

A gate (§3.2.2, eq. 4) is 1 without knowledge, above 1 if the sentence helped with similar questions, below 1 if it was
called wrong for them; always in [0, 2] (DESIGN I21). Gates join recall twice. In propagation they weight sentences as
in eq. 4, so that what helped before is activated first, and a confident memory ends the search (§4.2: fewer rounds for
taught questions). And the gate of a segment less 1 is a channel of its own in the first retrieval (``experience``).

**Departures.** The published gate, ``1 + (1 - π)·cos(m, q)``, opens a little for every question: two unrelated
questions still have a cosine of .1 to .3, and two of one form ("Who is the mother of the director of …?") .6. The
*sharp* gate stays at 1 up to a threshold θ and rises linearly from there to the end of the published one. Measured over
five passes of teaching, it gains as much on the questions that were taught and leaves the others unchanged (see
`TALK_THRESHOLD` and `DOCUMENT_THRESHOLD`). The product of the gates of task and time, up to 4 in eq. 4, is cut at 2.

In the paper gates steer propagation only, which brought 1 point on what was taught; added to the ranking score, 9 to
16. They are added, in units of the best cosine, and not multiplied: so a segment gains at most the channel's weight,
however many lessons there are (with 30 % wrong labels -.2 points on questions never taught, where the product loses 2).
The gate of a segment is that of its sentence farthest from 1: one sentence of a passage is what helped. A question
without entities starts propagation from the sentences of the nearest segments.

**The word of callers.** Evidence that had to be explored for shares few words with the query, and would stay behind for
ever. So where what is found does not cover the query (``services/recall/loop.py``), the feedback of callers decides, as
a language model's judgement does (``services/answer.py``): what a caller named comes first, with scores from .5 to 1,
and the others have scores from 0 to .5. In GAM-RAG (§4.2) a confident memory ends the search; here the evidence
suffices by the caller's word as well, if there is room for everything that is known as surely to help. (Measured over
taught questions: +4 points of R@1 in dialogues, +1.5 of R@2 in documents; nothing changes for others.) In GAM-RAG
similarity alone says what a memory is good for, and two questions that differ in a name or a year are very similar. So
this counts only for queries with the same names and times.

**Corrections** (`find_correction`). A caller who says that an answer was wrong may say what is right. That is the last
word on the question: it comes first, however much older evidence fits, until somebody corrects it again or a later
message answers the question (``rules/answers/judge.py``). Where other questions find the sentence that the wrong answer
rested on, the reply says that it was corrected (`corrected_statements`), and nothing is answered from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set

import numpy as np

from mcp_memory.configurable import Gate, Switches
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.episodes import Target
from mcp_memory.domain.evidence import Correction, Evidence, RecallResult
from mcp_memory.domain.query import ANY_TIME, Query, Window
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import FEEDBACK, Turn
from mcp_memory.gain.propagation import Round, anchor_entities, propagate, relative_bonuses
from mcp_memory.language.questions import understand
from mcp_memory.language.stated import time_words, weekday_and_day
from mcp_memory.ports import Weigh
from mcp_memory.vectors import Rows, Scores, Vector
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import known_sentences, source_of
from mcp_memory.view.space import NONE, Space

TALK_THRESHOLD = 0.6
"""Similarity of queries, 0 to 1, from which on a lesson counts, for sentences of messages. θ of the sharp gate
(measured: questions never taught lose 1 point of R@10 at .5 and none at .6, where what was taught gains as much)."""
DOCUMENT_THRESHOLD = 0.65
"""The same for sentences of documents. θ (measured on questions made after a few patterns: .5 loses 4 points of R@5
where nothing was taught, .6 none to .4, .7 none; what was taught gains .5 less at .7 than at .6)."""
AGAINST_THRESHOLD = 0.2
"""How negative that similarity must be before the sentence counts less. θ below 0, for both kinds. A sentence that is
labelled wrong starts similar to the query; one label of a caller brings its cosine to -.4 at most, which the other
thresholds would not notice."""
FIRST_SEGMENTS = 50
"""Segments whose sentences a question without entities starts from."""


def gates_and_propagation(
    space: Space, query: Query, cosines: Scores, form: Gate, switches: Switches
) -> tuple[dict[str, Scores], tuple[str, ...], int, dict[int, float]]:
    """Return the channels, the activated sentences, the rounds and the gates for a question; nothing is stored.

    Args:
        space: the space whose view keeps an `EntityIndex`.
        query: understood with the speakers of this space, and embedded; nothing outside its window is found.
        cosines: its cosine to each segment, shape ``(len(space.segments),)``.
        form: the form of the gate.
        switches: whether lessons count, and whether propagation runs.

    Returns:
        The channels by name, each of shape ``(len(space.segments),)``: ``propagation`` in [0, 1], and ``experience`` in
        [-1, 1], below 0 for what was called wrong; a channel without scores is left out. The ids of the sentences that
        propagation activated (S_act), in the order of activation. How many rounds of propagation ran. The gates of the
        sentences whose gate is not 1, by row (`sentence_gates`).
    """
    gates = sentence_gates(space, query, form) if switches.learning else {}
    channels = {"experience": experience_channel(space, gates)} if gates else {}
    if not switches.propagation:
        return channels, (), 0, gates
    begin = anchor_entities(space.index(EntityIndex), query.text, query.speakers)
    known = confident_sentences(gates)
    rounds, bonuses = propagate(
        space,
        begin,
        sentence_weights(space, query.vector, cosines, gates, query.window),
        free=() if begin else _nearest(space, cosines),
        known=known,
        enough=confidence_reached(space, known),
    )
    if bonuses:
        channels["propagation"] = relative_bonuses(bonuses, len(space.segments))
    activated = tuple(space.sentences[row].id for held in rounds for row in held)
    return channels, activated, len(rounds), gates


def _nearest(space: Space, cosines: Scores) -> list[int]:
    """Return the rows of the sentences of the segments nearest to a question."""
    scores = np.where(space.live, cosines, -np.inf)
    nearest = (
        np.argpartition(scores, -FIRST_SEGMENTS)[-FIRST_SEGMENTS:]
        if len(scores) > FIRST_SEGMENTS
        else np.arange(len(scores))
    )
    return [row for segment in nearest.tolist() for row in space.sentences_within(space.segments[segment])]


CONFIDENT_GATE = 1.3
"""Gate from which on a memory is confident: one lesson by a caller, two by the rules."""
CONFIDENT_SENTENCES = 2
"""Confident sentences of documents that end propagation: a question of several hops needs two."""
_NEUTRAL = 1e-3
"""A gate that differs from 1 by less counts as 1."""


def sentence_gates(space: Space, query: Query, form: Gate) -> dict[int, float]:
    """Return the gates g_task · g_time in [0, 2], by row, of the sentences whose gate is not 1.

    Where the query states no time, g_time is 1 (DESIGN D14).
    """
    beliefs = space.beliefs
    if not len(beliefs):
        return {}
    task = beliefs.task @ query.vector
    time = None if query.time_vector is None else beliefs.time @ query.time_vector
    gates: dict[bool, Scores] = {}
    for is_document, kind in ((True, DOCUMENT_THRESHOLD), (False, TALK_THRESHOLD)):
        thresholds = (0.0, 0.0) if form == "published" else (kind, AGAINST_THRESHOLD)
        both = gate(task, beliefs.task_doubts, *thresholds)
        if time is not None:
            both *= gate(time, beliefs.time_doubts, *thresholds)
        gates[is_document] = np.clip(both, 0, 2)
    found: dict[int, float] = {}
    ids = beliefs.sentence_ids
    for place in np.flatnonzero((np.abs(gates[False] - 1) > _NEUTRAL) | (np.abs(gates[True] - 1) > _NEUTRAL)).tolist():
        sentence = space.sentence(ids[place])
        if sentence is None:
            continue
        value = float(gates[space.turns[sentence.turn_id].kind == "document"][place])
        row = space.sentence_row(sentence.turn_id, sentence.index)
        if row != NONE and abs(value - 1) > _NEUTRAL:
            found[row] = value
    return found


def experience_channel(space: Space, gates: Mapping[int, float]) -> Scores:
    """Return the gates as a channel of recall: in [-1, 1], 0 for segments without a lesson, shape ``(segments,)``.

    A segment has the gate of its sentence farthest from 1, less 1.
    """
    channel = np.zeros(len(space.segments), dtype=np.float32)
    for row, value in gates.items():
        for segment in space.segments_of(row):
            if abs(value - 1) > abs(channel[segment]):
                channel[segment] = value - 1
    return channel


def sentence_weights(
    space: Space, vector: Vector, cosines: Scores, gates: Mapping[int, float], window: Window = ANY_TIME
) -> Weigh:
    """Return w of eq. 4 for propagation: the cosine of a sentence to the question, at least 0, times its gate.

    Sentences outside the window weigh 0, and so do those of old revisions.

    Args:
        space: the space of the sentences.
        vector: the vector of the query, shape ``(d,)``.
        cosines: its cosine to each segment, shape ``(len(space.segments),)``, used if the view holds no vectors of
            sentences.
        gates: from `sentence_gates`.
        window: of the question.
    """

    def weigh(rows: Rows) -> Scores:
        if space.sentence_vectors is not None:
            own = space.sentence_vectors.take(rows) @ vector
        else:
            own = np.array([cosines[space.segments_of(row)].max(initial=0.0) for row in rows.tolist()])
        opening = space.visible(rows, window).astype(np.float64)
        if gates:
            opening *= [gates.get(row, 1.0) for row in rows.tolist()]
        weights: Scores = (np.maximum(own, 0) * opening).astype(np.float32)
        return weights

    return weigh


def confident_sentences(gates: Mapping[int, float]) -> list[int]:
    """Return the rows of the sentences with a confident gate for the question, ascending."""
    return sorted(row for row, value in gates.items() if value >= CONFIDENT_GATE)


def confidence_reached(space: Space, known: Collection[int]) -> Callable[[Sequence[Round]], bool]:
    """Return a test of whether what is known to help (`confident_sentences`) was activated: no further round is needed.

    One message is enough. Of documents it takes two sentences: if one alone ended the search, the second hop of what
    was half learnt was never found (measured: -3 points of R@5 on questions of several hops).
    """

    def enough(rounds: Sequence[Round]) -> bool:
        activated = [row for one in rounds for row in one if row in known]
        talk = any(space.turns[space.sentences[row].turn_id].kind != "document" for row in activated)
        return talk or len(activated) >= CONFIDENT_SENTENCES

    return enough


def gate(cosines: Scores, uncertainties: Scores, threshold: float, against: float) -> Scores:
    """Return the gates, each in [0, 2]; 1 for an uncertainty of 1.

    Args:
        cosines: the cosines of each memory vector to the question's, in [-1, 1].
        uncertainties: π of each, in [0, 1], of the same shape.
        threshold: θ in [0, 1), up to which a cosine does not count; 0 is eq. 4 as published.
        against: θ for cosines below 0.
    """
    theta = np.where(cosines > 0, threshold, against)
    beyond = np.sign(cosines) * np.maximum(0, np.abs(cosines) - theta) / (1 - theta)
    gates: Scores = np.clip(1 + (1 - uncertainties) * beyond, 0, 2).astype(np.float32)
    return gates


DENIED_GATE = 0.8
"""Highest gate, in answers, of a sentence that a caller denied for the same question: what one lesson leaves."""


def confirmed_sentences(
    space: Space, query: Query, gates: Mapping[int, float], said: Callable[[str], bool]
) -> set[int]:
    """Return the rows of the sentences of which a caller said that they help with such a query.

    ``said`` tells of a turn, by its id, whether it is of the role that the query asks for.
    """
    rows = np.array(confident_sentences(gates), dtype=np.intp)
    rows = rows[space.visible(rows, query.window)]
    in_role = (row for row in rows.tolist() if said(space.sentences[row].turn_id))
    return {row for row in in_role if _question_helped(space, query, row)}


def find_correction(space: Space, query: Query, confirmed: Set[int]) -> tuple[Correction | None, set[int]]:
    """Return the newest correction that a caller gave to such a query, and the rows of its sentences.

    A query for an earlier time (``as_of``) has none.
    """
    turns = {row: space.turns[space.sentences[row].turn_id] for row in confirmed if query.as_of is None}
    given = {row: turn for row, turn in turns.items() if _corrects(turn)}
    if not given:
        return None, set()
    newest = given[max(given, key=lambda row: (given[row].time, row))]
    rows = sorted(row for row, turn in given.items() if turn.id == newest.id)
    sources = tuple(source_of(space, space.sentences[row]) for row in rows)
    return Correction(_question_helped(space, query, rows[0]), sources), set(rows)


def corrected_statements(space: Space, evidence: Iterable[Evidence]) -> tuple[Correction, ...]:
    """Return the corrections of answers that rested on sentences of the evidence, each sentence once.

    What a caller last said of a sentence counts; one who says that it helps takes the word back.
    """
    found: dict[str, Correction] = {}
    sources = (source for item in evidence for source in item.sources)
    for source in sources if len(space.beliefs) else ():
        for row in space.sentences.overlapping(source.turn.id, source.start, source.end):
            sentence = space.sentences[row]
            spoken = [lesson for lesson in space.beliefs.lessons_about(sentence.id) if lesson.source == "caller"]
            if not spoken or spoken[-1].labels[sentence.id] != -1 or sentence.id in found:
                continue
            right = [space.sentence(name) for name, target in spoken[-1].labels.items() if target == 1]
            said = tuple(source_of(space, one) for one in right if one and _corrects(space.turns[one.turn_id]))
            if said:
                found[sentence.id] = Correction(spoken[-1].query, said, source_of(space, sentence))
    return tuple(found.values())


def correction_in_words(correction: Correction) -> str:
    """Return what a caller corrected, and when."""
    said = f"corrected on {weekday_and_day(correction.sources[0].turn.local_time)}: “{correction.text}”"
    if correction.wrong is None:
        return f"{said} Older records that say otherwise are wrong or out of date."
    return f"{said} This was said of the answer to “{correction.question}” from “{correction.wrong.quote}”"


def _corrects(turn: Turn) -> bool:
    return turn.session == FEEDBACK and turn.kind == "message"


def _question_helped(space: Space, query: Query, row: int) -> str:
    """Return the last question of the same names and time with which a caller said that a sentence helps, or ""."""
    wanted = _names_and_time(query, query.local_now)
    for lesson in reversed(space.beliefs.lessons_about(space.sentences[row].id)):
        if lesson.source == "caller" and lesson.labels[space.sentences[row].id] == 1:
            asked = understand(Query(lesson.query, query.space), space.speakers, lesson.asked_at)
            if _names_and_time(asked, lesson.asked_at) == wanted:
                return lesson.query
    return ""


def _names_and_time(query: Query, now: Millis) -> tuple[frozenset[str], str | None]:
    return frozenset(map(entity_key, (*query.names, *query.speakers))), time_words(query, now)


def gates_for_judge(
    space: Space, query: Query, result: RecallResult, gates: Mapping[int, float], *, learning: bool
) -> dict[int, float]:
    """Return the gates of a query, by row, as an answer is judged with them.

    What a caller denied or corrected counts less, unless nothing is learnt.
    """
    if not learning:
        return dict(gates)
    wrong = [one.wrong for one in result.corrected if one.wrong is not None]
    rows = {row for one in wrong for row in space.sentences.overlapping(one.turn.id, one.start, one.end)}
    corrected = {row: min(gates.get(row, 1.0), DENIED_GATE) for row in rows}
    return {**gates, **corrected, **_cap_denied(space, query.text, gates)}


def _cap_denied(space: Space, query: str, gates: Mapping[int, float]) -> dict[int, float]:
    """Return gates by row, at most `DENIED_GATE`, of the sentences that a caller's last judgement denies.

    The memory learns from an answer that it gives without a hedge before any caller can call it wrong, and other
    callers may have confirmed it. One denial then brings its gate back to 1 only, and the answer would be given again.
    The same holds if a caller called the answer wrong and named no evidence, which makes the gate neutral (y = 0). For
    recall, a neutral gate is right.
    """
    labels: dict[str, Target] = {}
    for lesson in space.beliefs.lessons_for(query):
        if lesson.source == "caller":
            labels |= lesson.labels
    pieces = known_sentences(space, (name for name, target in labels.items() if target < 1))
    rows = [space.sentence_row(piece.turn_id, piece.index) for piece in pieces]
    return {row: min(gates.get(row, 1.0), DENIED_GATE) for row in rows if row != NONE}
