"""Evidence: what is shown of what was found, each thing once, with its sources.

A segment is shown as the sentence or passage that it is. Where a fact that answers stands in it, the fact leads the
item, with its validity, and the segment is quoted as its first source: the sentence and its fact never take two places.
So does a memory point that joins several segments and says more than each (``joining.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.paths import Path, Step
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.search.candidates import Candidate
from mcp_memory.services.recall.facts import SUFFICIENT
from mcp_memory.services.recall.point_evidence import Joined, joined
from mcp_memory.view.space import Space

SOURCES = 3


def evidence_of(
    space: Space,
    hits: Sequence[Candidate],
    paths: Sequence[Path],
    question: Query | None = None,
    points: Sequence[Point] = (),
) -> tuple[Evidence, ...]:
    """Return the hits as evidence, best first.

    Args:
        space: of a view that is held still.
        hits: best first.
        paths: that navigation found, best first.
        question: understood with the speakers of the space; None where nothing is asked.
        points: that bear on it, the likest first.
    """
    leading = _leading(space, paths)
    joining = joined(space, question, hits, points, leading) if question is not None else {}
    aside: set[int] = set()  # rows of further sources of a point
    shown: list[Evidence] = []
    facts: set[str] = set()
    used: set[str] = set()  # turns that stand in an item above
    for hit in hits:
        segment, turn = space.segments[hit.row], space.segment_turn[hit.row]
        if hit.row in aside or (turn.id in used and turn.kind != "document"):  # stands above; documents lead by segment
            continue
        used.add(turn.id)
        if (point := joining.get(hit.row)) is not None:
            shown.append(_point(space, point))
            used |= {space.segment_turn[one.row].id for one in point.hits}
            aside |= {one.row for one in point.hits}
            continue
        step = next((step for step in leading.get(hit.row, ()) if step.version.id not in facts), None)
        if step is None:
            shown.append(_piece(space, hit))
            continue
        facts.add(step.version.id)
        sources = [Source(turn, segment.start, segment.end)]
        for assertion in _said(step):
            if len(sources) < SOURCES and assertion.turn_id not in used:
                sources.append(Source(space.turns[assertion.turn_id], assertion.start, assertion.end))
                used.add(assertion.turn_id)
        version = step.version
        shown.append(
            Evidence(
                version.id,
                "fact",
                version.text,
                hit.score,
                hit.via,
                tuple(sources),
                valid_from=version.since,
                valid_to=version.until,
                confidence=step.confidence,
                inferred=step.inferred,
            )
        )
    return tuple(shown)


def _point(space: Space, joining: Joined) -> Evidence:
    best, point = joining.hits[0], joining.point
    via = tuple(dict.fromkeys(("points", *(name for hit in joining.hits for name in hit.via))))
    pieces = [space.segments[hit.row] for hit in joining.hits]
    sources = tuple(Source(space.turns[piece.turn_id], piece.start, piece.end) for piece in pieces)
    return Evidence(point.id, "point", point.description, best.score, via, sources)


def timed(items: Sequence[Evidence], dated: Mapping[str, tuple[Millis, Millis]]) -> tuple[Evidence, ...]:
    """Return the items, each sentence with the time that it tells of, where that is known: since and until, by id."""
    return tuple(
        replace(item, valid_from=dated[item.id][0], valid_to=dated[item.id][1])
        if item.id in dated and item.valid_from is None
        else item
        for item in items
    )


def _leading(space: Space, paths: Sequence[Path]) -> dict[int, list[Step]]:
    """Return for each segment the last steps of the sufficient paths that it states, best first."""
    leading: dict[int, list[Step]] = {}
    for path in paths:
        if path.scores.sufficiency < SUFFICIENT:
            continue
        step = path.steps[-1]
        for assertion in _said(step):
            for row in space.segments_with(assertion.turn_id, assertion.sentence):
                leading.setdefault(row, []).append(step)
    return leading


def _said(step: Step) -> Sequence[Assertion]:
    return step.via or step.version.assertions


def _piece(space: Space, hit: Candidate) -> Evidence:
    segment, turn = space.segments[hit.row], space.segment_turn[hit.row]
    source = Source(turn, segment.start, segment.end)
    rows = space.sentences_within(segment)
    if segment.first == segment.last and rows:  # a piece of one sentence is shown as that sentence
        sentence = space.sentences[rows[0]]
        return Evidence(sentence.id, "sentence", source.quote, hit.score, hit.via, (source,))
    return Evidence(segment.id, "segment", source.quote, hit.score, hit.via, (source,))
