"""Claude makes, updates and merges memory points, as HGMem's model does (§3.5, eqs 2 and 8; DESIGN L7 and L8).

It sees the goal, points behind the numbers P1, P2, … and evidence behind E1, E2, …, and refers to them by number.
Unknown numbers are ignored, and an incomplete proposal is left out with a reason; a reply without any usable proposal
is sent back. The caller checks whether the names that a new point joins occur anywhere, and whether all proposals still
fit the points.

**Departures.** The paper's model sees everything that was retrieved. Here evidence that is already in a point's
description is not sent again. The paper merges pairs; here groups are merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, TypeVar

from pydantic import Field

from mcp_memory.domain.points import (
    MIN_ENTITIES,
    Point,
    PointEvidence,
    PointJudgeInput,
    PointProposals,
    ProposedMerge,
    ProposedPoint,
    ProposedUpdate,
)
from mcp_memory.errors import EngineError
from mcp_memory.reasoning.anthropic.client import Budget, Claude, Request
from mcp_memory.reasoning.anthropic.messages import (
    Form,
    UnusableReply,
    estimate_tokens,
    frame,
    normalise_number,
    prompt_line,
)
from mcp_memory.texts import prompt

SHARE = 0.4
"""Largest share of the input tokens left for the call that one prompt takes: it may have to be sent twice, each time
with the form of its reply."""
POINT_CHARS = 800
"""Length of the description of one point, as shown and as taken."""
MERGED_CHARS = 1_500
"""Length of the description of a merged point."""
NAME_CHARS = 100

ShownT = TypeVar("ShownT", Point, PointEvidence)

_Number = Annotated[str, Field(max_length=12)]
_Description = Annotated[str, Field(max_length=POINT_CHARS)]
_Supports = Annotated[list[_Number], Field(max_length=24)]


class NewPoint(Form):
    """New."""  # sent with the schema; what the fields mean is said in the prompt, once

    entities: Annotated[list[Annotated[str, Field(max_length=NAME_CHARS)]], Field(max_length=24)]
    description: _Description
    supports: _Supports


class NewWords(Form):
    """Changed."""

    point: _Number
    description: _Description
    supports: _Supports


class PointsReply(Form):
    """Points."""

    insert: Annotated[list[NewPoint], Field(max_length=12)]
    update: Annotated[list[NewWords], Field(max_length=12)]


class Group(Form):
    """One."""

    points: Annotated[list[_Number], Field(max_length=24)]
    description: Annotated[str, Field(max_length=MERGED_CHARS)]


class MergeReply(Form):
    """Groups."""

    merge: Annotated[list[Group], Field(max_length=12)]


@dataclass(frozen=True, slots=True)
class RenderedPoints:
    """What a model sees, and what its numbers mean.

    Attributes:
        text: points and evidence, between two lines with the same mark.
        points: by number, ``P1``.
        grounds: by number, ``E1``.
    """

    text: str
    points: dict[str, Point]
    grounds: dict[str, PointEvidence]


@dataclass(frozen=True, slots=True)
class ClaudePointMaker:
    """Asks Claude about memory points. `reasoning.judges` handles its `EngineError`."""

    claude: Claude

    async def evolve(self, matter: PointJudgeInput, budget: Budget) -> PointProposals:
        """Return the points that Claude would make, and the descriptions that it would change.

        Raises:
            EngineError: there is no usable reply.
        """
        stable = prompt("hypergraph/points.txt").substitute(order=matter.order).strip()
        shown = _render_points(matter, _token_room(stable, matter, budget))
        if not shown.grounds:
            raise EngineError("the budget leaves no room for evidence")
        request = Request(stable, _request_text(matter, shown.text))
        return await self.claude.ask(request, PointsReply, lambda reply: to_edits(reply, shown), budget)

    async def merge(self, matter: PointJudgeInput, budget: Budget) -> PointProposals:
        """Return the points that Claude would merge.

        Raises:
            EngineError: there is no usable reply.
        """
        stable = prompt("hypergraph/merge.txt").substitute(order=matter.order).strip()
        shown = _render_points(matter, _token_room(stable, matter, budget))
        if len(shown.points) < MIN_ENTITIES:
            raise EngineError("the budget leaves no room for the points")
        request = Request(stable, _request_text(matter, shown.text))
        return await self.claude.ask(request, MergeReply, lambda reply: to_merges(reply, shown), budget)


def to_edits(reply: PointsReply, shown: RenderedPoints) -> PointProposals:
    """Return the insertions and updates that a reply proposes.

    Raises:
        UnusableReply: it proposes something, and nothing of it can be used.
    """
    left: dict[str, None] = {}
    insert: list[ProposedPoint] = []
    update: dict[str, ProposedUpdate] = {}
    for new in reply.insert:
        grounds, text = _cited_grounds(new.supports, shown), prompt_line(new.description, POINT_CHARS)
        if not _is_incomplete(left, text, grounds):
            names = tuple(name for entity in new.entities if (name := prompt_line(entity, NAME_CHARS)))
            insert.append(ProposedPoint(names, text, grounds))
    for changed in reply.update:
        point = shown.points.get(normalise_number(changed.point))
        grounds, text = _cited_grounds(changed.supports, shown), prompt_line(changed.description, POINT_CHARS)
        if point is not None and point.source == "caller":
            text = point.description  # the words of a caller are never replaced
        if point is None:
            left[_UNKNOWN] = None
        elif point.id in update:
            left[_TWICE] = None
        elif not _is_incomplete(left, text, grounds):
            update[point.id] = ProposedUpdate(point, text, grounds)
    if left and not insert and not update:
        raise UnusableReply(f"its reply was of no use ({next(iter(left))})", f"{'; '.join(left)}.")
    return PointProposals(
        tuple(insert), tuple(update.values()), left_out=tuple(left), seen=tuple(shown.grounds.values())
    )


def to_merges(reply: MergeReply, shown: RenderedPoints) -> PointProposals:
    """Return the merges that a reply proposes; each point belongs to one group at most, the first.

    Raises:
        UnusableReply: it proposes something, and nothing of it can be used.
    """
    left: dict[str, None] = {}
    merge: list[ProposedMerge] = []
    used: set[str] = set()
    for group in reply.merge:
        numbers = dict.fromkeys(map(normalise_number, group.points))
        points = tuple(shown.points[number] for number in numbers if number in shown.points)
        text = prompt_line(group.description, MERGED_CHARS)
        if len(points) < len(numbers):
            left[_UNKNOWN] = None
        elif len(points) < MIN_ENTITIES:
            left["a group named fewer than two points"] = None
        elif used & {point.id for point in points}:
            left[_TWICE] = None
        elif not text:
            left[_EMPTY] = None
        else:
            used |= {point.id for point in points}
            merge.append(ProposedMerge(points, text))
    if left and not merge:
        raise UnusableReply(f"its reply was of no use ({next(iter(left))})", f"{'; '.join(left)}.")
    return PointProposals(merge=tuple(merge), left_out=tuple(left))


_UNKNOWN = "it named a point that was not shown to it"
_TWICE = "it named a point twice"
_EMPTY = "a description had no words"
_GROUNDLESS = "it named no evidence that was shown to it"


def _is_incomplete(left: dict[str, None], text: str, grounds: Sequence[PointEvidence]) -> bool:
    """Return whether a proposal lacks words or evidence, and record the reason."""
    reason = _GROUNDLESS if not grounds else None if text else _EMPTY
    if reason is not None:
        left[reason] = None
    return reason is not None


def _cited_grounds(numbers: Iterable[str], shown: RenderedPoints) -> tuple[PointEvidence, ...]:
    return tuple(
        shown.grounds[number] for number in dict.fromkeys(map(normalise_number, numbers)) if number in shown.grounds
    )


def _request_text(matter: PointJudgeInput, data: str) -> str:
    goal = prompt_line(matter.goal, 2_000) or "whatever of this is worth remembering"
    return prompt("hypergraph/asked.txt").substitute(goal=goal, data=data)


def _token_room(stable: str, matter: PointJudgeInput, budget: Budget) -> int:
    return int(budget.left * SHARE) - estimate_tokens(stable) - estimate_tokens(_request_text(matter, frame(())))


def _render_points(matter: PointJudgeInput, tokens: int) -> RenderedPoints:
    """Return points and evidence as text of at most about ``tokens`` tokens; beside evidence, points take a third.

    In both lists the first line that does not fit is left out whole, with all that follow it.
    """
    left = tokens // 3 if matter.evidence else tokens
    points = _fitting_lines({f"[P{place}] {_point_line(one)}": one for place, one in enumerate(matter.points, 1)}, left)
    left = tokens - sum(map(_size, points))
    grounds = _fitting_lines(
        {f"[E{place}] {_ground_line(one)}": one for place, one in enumerate(matter.evidence, 1)}, left
    )
    return RenderedPoints(
        frame((*points, *grounds)),
        {f"P{place}": one for place, one in enumerate(points.values(), 1)},
        {f"E{place}": one for place, one in enumerate(grounds.values(), 1)},
    )


def _fitting_lines(lines: Mapping[str, ShownT], tokens: int) -> dict[str, ShownT]:
    sizes = accumulate(map(_size, lines))
    return {line: one for (line, one), size in zip(lines.items(), sizes, strict=True) if size <= tokens}


def _size(line: str) -> int:
    return estimate_tokens(line) + 1


def _ground_line(ground: PointEvidence) -> str:
    return prompt_line(f"{ground.when}, {ground.text}" if ground.when else ground.text)


def _point_line(point: Point) -> str:
    names = prompt_line("; ".join(point.entities), 400)
    whose = " (the user's words)" if point.source == "caller" else ""
    return f"{names}{whose}: {prompt_line(point.description, MERGED_CHARS if point.parents else POINT_CHARS)}"
