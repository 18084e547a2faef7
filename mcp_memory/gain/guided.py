"""Memory-guided retrieval for one question (GAM-RAG §3.2).

Compute the gates of the question from what was learnt, start propagation from the entities that it names, run it until
a confident memory ends it, and return two channels for the first retrieval.

**Departures.** A question without entities starts from the sentences of the nearest segments (DESIGN 3.2: the nearest
200 sentences), so that it costs as little as the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mcp_memory.domain.query import Query, Window
from mcp_memory.gain.gates import (
    confidence_reached,
    confident_sentences,
    experience_channel,
    sentence_gates,
    sentence_weights,
)
from mcp_memory.gain.propagation import Propagation, anchor_entities, propagate
from mcp_memory.gain.settings import GainSettings
from mcp_memory.vectors import Matrix, Scores, Vector
from mcp_memory.view.beliefs import Beliefs
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import Space

NEAREST = 50
"""Segments whose sentences a question without entities starts from."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """What this room finds for a question.

    Attributes:
        channels: each of shape ``(len(space.segments),)``: ``propagation`` in [0, 1], and ``experience`` in [-1, 1],
            below 0 for what was called wrong. A channel without scores is left out.
        activated: ids of the sentences that propagation activated (S_act), in the order of activation.
        rounds: of propagation that ran.
        gates: by row, of the sentences whose gate is not 1 (`gates.sentence_gates`).
    """

    channels: Mapping[str, Scores]
    activated: tuple[str, ...] = ()
    rounds: int = 0
    gates: Mapping[int, float] = field(default_factory=dict)


def guide(
    space: Space,
    beliefs: Beliefs,
    question: Query,
    vectors: Matrix,
    cosines: Matrix,
    *,
    time: Vector | None = None,
    window: Window = Window(),  # noqa: B008 - frozen
    settings: GainSettings,
) -> Guidance:
    """Return the gates, the channels and the activated sentences for a question; nothing is stored.

    Args:
        space: whose view keeps an `EntityIndex`.
        beliefs: of this space.
        question: understood with the speakers of this space.
        vectors: of `Query.forms`.
        cosines: of these to each segment.
        time: vector of the time that the question states, or None.
        window: of time; nothing outside it is found.
        settings: of this room.
    """
    gates = sentence_gates(space, beliefs, vectors, time, settings)
    channels = {"experience": experience_channel(space, gates)} if gates else {}
    if not settings.propagation:
        return Guidance(channels, gates=gates)
    found = _propagation(space, question, vectors, cosines, gates, window, settings)
    if found.bonuses:
        channels["propagation"] = found.channel(len(space.segments))
    return Guidance(channels, tuple(space.sentences[row].id for row in found.activated), len(found.rounds), gates)


def _propagation(
    space: Space,
    question: Query,
    vectors: Matrix,
    cosines: Matrix,
    gates: Mapping[int, float],
    window: Window,
    settings: GainSettings,
) -> Propagation:
    index = space.index(EntityIndex)
    begin, known = anchor_entities(index, question.text, question.speakers), confident_sentences(gates)
    return propagate(
        space,
        index,
        begin,
        sentence_weights(space, vectors, cosines, gates, window),
        settings,
        free=() if begin else _nearest(space, cosines),
        known=known,
        enough=confidence_reached(space, known),
    )


def _nearest(space: Space, cosines: Matrix) -> list[int]:
    """Return the rows of the sentences of the segments nearest to a question."""
    scores = np.where(space.live, np.where(space.talk, cosines[-1], cosines[0]), -np.inf)
    nearest = np.argpartition(scores, -NEAREST)[-NEAREST:] if len(scores) > NEAREST else np.arange(len(scores))
    return [row for segment in nearest.tolist() for row in space.sentences_within(space.segments[segment])]
