"""The sentences that the steps of reconstruction speak of: which may be shown or come first, and how to go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.facts import WHOLE
from mcp_memory.ports import OperatorInput
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.view.evidence import sentence_evidence
from mcp_memory.view.space import NONE, Space

EACH = 8
"""Sentences that one id may stand for: a segment or fact has several."""
RARE = 12
"""Sentences of a cue from which on it links no two of them by itself."""
_HELD = 3  # ids that a suggestion goes on from


def shown(asked: OperatorInput, rows: Iterable[int]) -> list[int]:
    """Return those sentences that were said within the window and are of no old revision, in their order."""
    space, window = asked.space, asked.window
    kept: list[int] = []
    for row in rows:
        turn = space.turns[space.sentences[row].turn_id]
        current = space.current(turn.session, turn.ref)
        if window.since <= turn.time < window.until and (current is None or current.id == turn.id):
            kept.append(row)
    return kept


def rows_of(space: Space, ids: Iterable[str]) -> list[int]:
    """Return the rows of the sentences that ids of evidence stand for, each once; what nobody knows stands for none.

    A segment stands for its sentences, a fact for those that state it.
    """
    return list(dict.fromkeys(row for one in ids for row in _rows(space, one)[:EACH]))


def newest_first(space: Space, rows: Sequence[int]) -> list[int]:
    """Return sentences by when their turns were said, the newest first; those of one turn in their order."""
    return sorted(rows, key=lambda row: (-space.turns[space.sentences[row].turn_id].time, row))


def ranked(asked: OperatorInput, worth: Mapping[int, float]) -> list[tuple[int, float]]:
    """Return the best sentences with their scores, best = 1; in a tie the newest first.

    Args:
        asked: with a query, what a sentence weighs for it counts for up to as much again.
        worth: of each sentence by its row, in (0, 1].
    """
    rows = newest_first(asked.space, list(worth))
    value = np.array([worth[row] for row in rows], dtype=np.float32)
    if asked.weigh is not None and rows:
        weights = asked.weigh(np.array(rows, dtype=np.intp))
        value = value + weights / np.float32(float(weights.max()) or 1.0)
    order = np.argsort(-value, kind="stable")[: asked.limit].tolist()
    best = float(value.max()) if rows else 1.0
    return [(rows[place], float(value[place]) / best) for place in order]


def item(space: Space, row: int, score: float, operator: str) -> Evidence:
    """Return a sentence as what an operator found."""
    return sentence_evidence(space, space.sentences[row], score, (operator,))


def onward(asked: OperatorInput, rows: Sequence[int], *operators: str) -> Iterator[Suggestion]:
    """Yield the steps that go on from the first of these sentences."""
    why = {
        "event_keywords": "what else these are about, and where that leads",
        "event_context": "what was said around them, and what is linked",
        "event_time": "when, in order",
    }
    ids = tuple(asked.space.sentences[row].id for row in rows[:_HELD])
    if ids:
        for operator in operators:
            yield Suggestion(operator, {"ids": ids, **query_of(asked)}, why[operator])


def query_of(asked: OperatorInput) -> dict[str, str]:
    """Return the query as an argument of the next step, where there is one."""
    return {} if asked.query is None else {"query": asked.query.text}


def counted(count: int, what: str = "sentence") -> str:
    """Return a number of things in words: "1 sentence", "2 sentences"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def speaker(graph: CueGraph, row: int) -> list[int]:
    """Return the cue that a sentence begins with, if it is a name: who speaks, or what the document is about."""
    return [cue for cue in graph.cues(row)[:1] if cue in graph.names(row)]


def _rows(space: Space, evidence_id: str) -> list[int]:
    if evidence_id.startswith("g_"):
        row = space.segment_row(evidence_id)
        return [] if row == NONE else space.sentences_within(space.segments[row])
    if evidence_id.startswith("f_"):
        version = space.facts.version(evidence_id)
        said = () if version is None else version.assertions
        return [row for one in said for row in _stating(space, one.turn_id, one.sentence)]
    sentence = space.sentence(evidence_id)
    return [] if sentence is None else [space.sentence_row(sentence.turn_id, sentence.index)]


def _stating(space: Space, turn_id: str, index: int) -> list[int]:
    if index == WHOLE:
        return space.sentences_of(turn_id)
    row = space.sentence_row(turn_id, index)
    return [] if row == NONE else [row]
