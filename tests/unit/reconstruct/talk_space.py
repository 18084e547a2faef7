"""A space made by hand of talk: each line is a message, in one session, a day after the one before."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.requests import NewFact
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.language.tokens import mentions
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.services.write import caller_assertion
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import Space

DAY = 86_400_000


def new_space() -> Space:
    """Return an empty space with the indexes of this room, and the names that recall keeps."""
    return Space("x", (CueGraph, Topics, lambda: EntityIndex(mentions)))


def say(
    space: Space,
    *lines: str,
    facts: Mapping[int, Sequence[NewFact]] | None = None,
    vectors: Sequence[Sequence[float]] | None = None,
) -> Space:
    """Add lines, "Ann: I like tea. And chess."; sentences are ``s_0.0``, ``s_0.1``, ``s_1.0`` and so on.

    ``facts`` are stated by a caller for a line, by its number; ``vectors`` are those of segments and their sentences.
    """
    turns, segments, sentences, assertions, rows = [], [], [], [], []
    for place, line in enumerate(lines):
        number = len(space.turns) + place
        who, text = line.split(": ", 1)
        at = number * DAY
        turn = Turn(f"t_{number}", "x", "s", str(number), "message", text, who, None, None, at, at, 0, 0)
        spans = [found.span() for found in re.finditer(r"\S[^.?!]*[.?!]", text)]
        turns.append(turn)
        segments.append(Segment(f"g_{number}", "x", turn.id, 0, 0, len(text), 0, len(spans) - 1))
        for index, (start, end) in enumerate(spans):
            sentences.append(Sentence(f"s_{number}.{index}", "x", turn.id, index, start, end, ()))
            rows.append(place)
        assertions += [caller_assertion(fact, turn, at) for fact in (facts or {}).get(place, ())]
    batch = Batch(tuple(turns), tuple(segments), tuple(sentences), assertions=tuple(assertions))
    if vectors is not None:
        matrix = np.array(vectors, dtype=np.float32)
        batch = replace(batch, segment_vectors=matrix, sentence_vectors=matrix[rows])
    space.add(batch)
    return space


def walked(space: Space, operator: Callable[[OperatorInput], OperatorResult], **asked: object) -> OperatorResult:
    """Return what one step finds, without a query."""
    return operator(OperatorInput(space, lambda rows: [0.0] * len(rows), **asked))
