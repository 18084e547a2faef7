"""Gates, how much what a sentence helped with before counts for a question, and retrieval with them (GAM-RAG §3.2).

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
`TALK` and `DOCUMENT`). The product of the gates of task and time, up to 4 in eq. 4, is cut at 2.

In the paper gates steer propagation only, which brought 1 point on what was taught; added to the ranking score, 9 to
16. They are added, in units of the best cosine, and not multiplied: so a segment gains at most the channel's weight,
however many lessons there are (with 30 % wrong labels -.2 points on questions never taught, where the product loses 2).
The gate of a segment is that of its sentence farthest from 1: one sentence of a passage is what helped. A question
without entities starts propagation from the sentences of the nearest segments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from mcp_memory.configurable import Gate, Switches
from mcp_memory.domain.query import ANY_TIME, Query, Window
from mcp_memory.gain.propagation import (
    Round,
    Rows,
    activated_rows,
    anchor_entities,
    propagate,
    relative_bonuses,
)
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.beliefs import Beliefs
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import NONE, Space

TALK = 0.6
"""Similarity of queries, 0 to 1, from which on a lesson counts, for sentences of messages. θ of the sharp gate
(measured: questions never taught lose 1 point of R@10 at .5 and none at .6, where what was taught gains as much)."""
DOCUMENT = 0.65
"""The same for sentences of documents. θ (measured on questions made after a few patterns: .5 loses 4 points of R@5
where nothing was taught, .6 none to .4, .7 none; what was taught gains .5 less at .7 than at .6)."""
AGAINST = 0.2
"""How negative that similarity must be before the sentence counts less. θ below 0, for both kinds. A sentence that is
labelled wrong starts similar to the query; one label of a caller brings its cosine to -.4 at most, which the other
thresholds would not notice."""
NEAREST = 50
"""Segments whose sentences a question without entities starts from."""


def gates_and_propagation(
    space: Space, beliefs: Beliefs, query: Query, cosines: Scores, form: Gate, switches: Switches
) -> tuple[dict[str, Scores], tuple[str, ...], int, dict[int, float]]:
    """Return the channels, the activated sentences, the rounds and the gates for a question; nothing is stored.

    Args:
        space: the space whose view keeps an `EntityIndex`.
        beliefs: the beliefs of this space.
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
    gates = sentence_gates(space, beliefs, query.vector, query.time_vector, form) if switches.learning else {}
    channels = {"experience": experience_channel(space, gates)} if gates else {}
    if not switches.propagation:
        return channels, (), 0, gates
    index = space.index(EntityIndex)
    begin, known = anchor_entities(index, query.text, query.speakers), confident_sentences(gates)
    rounds, bonuses = propagate(
        space,
        index,
        begin,
        sentence_weights(space, query.vector, cosines, gates, query.window),
        free=() if begin else _nearest(space, cosines),
        known=known,
        enough=confidence_reached(space, known),
    )
    if bonuses:
        channels["propagation"] = relative_bonuses(bonuses, len(space.segments))
    activated = tuple(space.sentences[row].id for row in activated_rows(rounds))
    return channels, activated, len(rounds), gates


def _nearest(space: Space, cosines: Scores) -> list[int]:
    """Return the rows of the sentences of the segments nearest to a question."""
    scores = np.where(space.live, cosines, -np.inf)
    nearest = np.argpartition(scores, -NEAREST)[-NEAREST:] if len(scores) > NEAREST else np.arange(len(scores))
    return [row for segment in nearest.tolist() for row in space.sentences_within(space.segments[segment])]


SURE = 1.3
"""Gate from which on a memory is confident: one lesson by a caller, two by the rules."""
HOPS = 2
"""Confident sentences of documents that end propagation: a question of several hops needs two."""
_NEUTRAL = 1e-3
"""A gate that differs from 1 by less counts as 1."""


def sentence_gates(space: Space, beliefs: Beliefs, vector: Vector, time: Vector | None, form: Gate) -> dict[int, float]:
    """Return the gates g_task · g_time in [0, 2], by row, of the sentences whose gate is not 1.

    Args:
        space: the space of the sentences.
        beliefs: the beliefs of this space.
        vector: the vector of the query, shape ``(d,)``.
        time: vector of the time that the question states, or None (DESIGN D14).
        form: the form of the gate.
    """
    if not len(beliefs):
        return {}
    task, time_ = beliefs.task @ vector, None if time is None else beliefs.time @ time
    gates: dict[bool, Scores] = {}
    for is_document, kind in ((True, DOCUMENT), (False, TALK)):
        thresholds = (0.0, 0.0) if form == "published" else (kind, AGAINST)
        both = gate(task, beliefs.task_doubts, *thresholds)
        if time_ is not None:
            both *= gate(time_, beliefs.time_doubts, *thresholds)
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
    space: Space,
    vector: Vector,
    cosines: Scores,
    gates: Mapping[int, float],
    window: Window = ANY_TIME,
) -> Callable[[Rows], Scores]:
    """Return w of eq. 4 for propagation: the cosine of a sentence to the question, at least 0, times its gate.

    Args:
        space: the space of the sentences.
        vector: the vector of the query, shape ``(d,)``.
        cosines: its cosine to each segment, shape ``(len(space.segments),)``, used if the view holds no vectors of
            sentences.
        gates: the gates from `sentence_gates`.
        window: sentences outside it weigh 0, and so do those of old revisions.
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
    return sorted(row for row, value in gates.items() if value >= SURE)


def confidence_reached(space: Space, known: Collection[int]) -> Callable[[Sequence[Round]], bool]:
    """Return a test of whether what is known to help (`confident_sentences`) was activated: no further round is needed.

    One message is enough. Of documents it takes two sentences: if one alone ended the search, the second hop of what
    was half learnt was never found (measured: -3 points of R@5 on questions of several hops).
    """

    def enough(rounds: Sequence[Round]) -> bool:
        activated = [row for one in rounds for row in one if row in known]
        talk = any(space.turns[space.sentences[row].turn_id].kind != "document" for row in activated)
        return talk or len(activated) >= HOPS

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
