"""A space made by hand: one message or document a line, one segment each unless the test says otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mcp_memory.configurable import Switches
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.language.questions import understand
from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.search.ranking import INDEXES, Candidate, CandidateSet, find_candidates, rank_candidates
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.space import Space, View


def message(ref: str, speaker: str | None, text: str, at: int = 0, session: str = "s", role: str | None = None) -> Turn:
    return Turn(f"t_{session}{ref}", "x", session, ref, "message", text, speaker, role, None, at, 0, 0, 0)


def document(ref: str, title: str | None, text: str, at: int = 0, revision: int = 0) -> Turn:
    name = f"t_d{ref}.{revision}"
    return Turn(name, "x", "papers", ref, "document", text, None, None, title, at, 0, revision, 0)


def reading(*turns: Turn, width: int = 10_000, vectors: Mapping[str, Sequence[float]] | None = None) -> Batch:
    """Return the turns with segments of ``width`` characters, their sentences and the times that these state.

    The ``vectors`` are those of sentences, by their words.
    """
    segments, sentences = [], []
    for turn in turns:
        spans = split(turn.text)
        for index, start in enumerate(range(0, len(turn.text) or 1, width)):
            end = min(start + width, len(turn.text))
            inside = [place for place, (begin, stop) in enumerate(spans) if begin < end and start < stop] or [0, -1]
            name = f"g_{turn.id}.{index}"
            segments.append(Segment(name, "x", turn.id, index, start, end, inside[0], inside[-1]))
        for index, (start, end) in enumerate(spans):
            times = stated_times(turn.text, turn.said_at, start, end)
            sentences.append(Sentence(f"s_{turn.id}.{index}", "x", turn.id, index, start, end, times))
    given = vectors or {}
    rows = [given.get(turn_text(turns, sentence), (0.0, 0.0)) for sentence in sentences]
    return Batch(
        tuple(turns),
        tuple(segments),
        tuple(sentences),
        np.zeros((len(segments), 2), np.float32),
        np.array(rows, np.float32).reshape(-1, 2),
    )


def turn_text(turns: Sequence[Turn], sentence: Sentence) -> str:
    return next(turn.text for turn in turns if turn.id == sentence.turn_id)[sentence.start : sentence.end]


def space_of(*turns: Turn, width: int = 10_000, vectors: Mapping[str, Sequence[float]] | None = None) -> Space:
    view = View(INDEXES)
    view.add(reading(*turns, width=width, vectors=vectors), 1)
    return view.space("x")


def ask(
    space: Space,
    question: str | Query,
    cosines: Scores | None = None,
    window: Window = Window(),  # noqa: B008 - frozen
    switches: Switches = Switches(),  # noqa: B008 - frozen
    limit: int = 20,
    now: int | None = None,
    vector: Vector | None = None,
) -> list[Candidate]:
    """Return the ranked candidates of a question, or of one that was read, with no similarity but the one given."""
    query = question
    if isinstance(query, str):
        query = replace(understand(query, space.speakers, now), window=window, vector=vector)
    given = np.zeros(len(space.segments), np.float32) if cosines is None else cosines
    found = find_candidates(space, query, given, switches)
    return [] if found is None else rank_candidates(space, found, limit)


def refs(space: Space, ranked: Sequence[Candidate]) -> list[str]:
    return [space.segment_turn[candidate.row].ref for candidate in ranked]


def candidate_set(*scores: float) -> CandidateSet:
    """Return the first segments of a space, found with these scores."""
    total = np.array(scores, np.float32)
    return CandidateSet(np.arange(len(scores)), {"words": total}, total)
