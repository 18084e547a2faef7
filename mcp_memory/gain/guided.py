"""Memory-guided retrieval for one question (GAM-RAG §3.2).

Compute the gates of the question from what was learnt, start propagation from the entities that it names, run it until
a confident memory ends it, and return two channels for the first retrieval.

**Departures.** A question without entities starts from the sentences of the nearest segments (DESIGN 3.2: the nearest
200 sentences), so that it costs as little as the others.
"""

from __future__ import annotations

import numpy as np

from mcp_memory.domain.query import Query
from mcp_memory.gain.gates import (
    confidence_reached,
    confident_sentences,
    experience_channel,
    sentence_gates,
    sentence_weights,
)
from mcp_memory.gain.propagation import activated_rows, anchor_entities, propagate, relative_bonuses
from mcp_memory.gain.settings import GainSettings
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.beliefs import Beliefs
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import Space

NEAREST = 50
"""Segments whose sentences a question without entities starts from."""


def guide(
    space: Space, beliefs: Beliefs, query: Query, cosines: Matrix, settings: GainSettings
) -> tuple[dict[str, Scores], tuple[str, ...], int, dict[int, float]]:
    """Return the channels, the activated sentences, the rounds and the gates for a question; nothing is stored.

    Args:
        space: whose view keeps an `EntityIndex`.
        beliefs: of this space.
        query: understood with the speakers of this space, and embedded; nothing outside its window is found.
        cosines: of its vectors to each segment.
        settings: of this room.

    Returns:
        The channels by name, each of shape ``(len(space.segments),)``: ``propagation`` in [0, 1], and ``experience`` in
        [-1, 1], below 0 for what was called wrong; a channel without scores is left out. The ids of the sentences that
        propagation activated (S_act), in the order of activation. How many rounds of propagation ran. The gates of the
        sentences whose gate is not 1, by row (`gates.sentence_gates`).
    """
    gates = sentence_gates(space, beliefs, query.vectors, query.time_vector, settings)
    channels = {"experience": experience_channel(space, gates)} if gates else {}
    if not settings.propagation:
        return channels, (), 0, gates
    index = space.index(EntityIndex)
    begin, known = anchor_entities(index, query.text, query.speakers), confident_sentences(gates)
    rounds, bonuses = propagate(
        space,
        index,
        begin,
        sentence_weights(space, query.vectors, cosines, gates, query.window),
        settings,
        free=() if begin else _nearest(space, cosines),
        known=known,
        enough=confidence_reached(space, known),
    )
    if bonuses:
        channels["propagation"] = relative_bonuses(bonuses, len(space.segments))
    activated = tuple(space.sentences[row].id for row in activated_rows(rounds))
    return channels, activated, len(rounds), gates


def _nearest(space: Space, cosines: Matrix) -> list[int]:
    """Return the rows of the sentences of the segments nearest to a question."""
    scores = np.where(space.live, np.where(space.talk, cosines[-1], cosines[0]), -np.inf)
    nearest = np.argpartition(scores, -NEAREST)[-NEAREST:] if len(scores) > NEAREST else np.arange(len(scores))
    return [row for segment in nearest.tolist() for row in space.sentences_within(space.segments[segment])]
