"""memory_evolve: learn from feedback on an episode, and organise memory points around a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

from pydantic import Field, StrictBool

from mcp_memory.domain.requests import EvolveRequest, EvolveResult, EvolveStep
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import (
    IDS,
    NAMES,
    SOME,
    Input,
    Name,
    RecordId,
    SpaceName,
    at_most,
    request_of,
    short_text,
    text_within,
)
from mcp_memory.server.tools.replies import (
    CHANGES_LISTED,
    Reply,
    in_parentheses,
    indent,
    quantity,
    reply_of,
    row,
    spent_row,
    validity,
    warning_lines,
)
from mcp_memory.visible import one_line

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress

POINTS = at_most(100)
"""Says how many memory points a call may insert, update or merge."""
CHANGE = (
    "step", "kind", "id", "text", "before", "after", "valid_from", "valid_to", "fact_kind", "precision",
)  # fmt: skip
"""Fields of a change in the structured part."""
POINT_BYTES = 4_000
"""Most UTF-8 bytes of a point's description; a longer one is a text to remember."""


Correction = Annotated[str, text_within("message_bytes")]
Goal = Annotated[str, short_text("Give a question or topic, or leave it out.")]
Description = Annotated[str, short_text(most=POINT_BYTES)]


class FeedbackInput(Input):
    """A caller's judgement of an episode."""

    supports: Annotated[
        list[RecordId] | None, Field(description="Evidence that gave or led to the answer: ids or record numbers."), IDS
    ] = None
    not_supports: Annotated[list[RecordId] | None, Field(description="Evidence that did not, or misled."), IDS] = None
    answer_correct: StrictBool | None = None
    correction: Annotated[Correction | None, Field(description="What is so, in a whole sentence with names.")] = None


class PointInsertInput(Input):
    """A new memory point."""

    entities: Annotated[list[Name], Field(description="Two or more."), SOME, NAMES]
    description: Description
    supports: Annotated[list[Name] | None, Field(description="Ids of the evidence it rests on."), IDS] = None


class PointUpdateInput(Input):
    """A new description of a memory point."""

    id: Name
    description: Description


class PointMergeInput(Input):
    """Memory points that become one."""

    ids: Annotated[list[Name], SOME, NAMES]
    description: Description


class PointEditsInput(Input):
    """A caller's edits of memory points."""

    insert: Annotated[list[PointInsertInput] | None, POINTS] = None
    update: Annotated[list[PointUpdateInput] | None, POINTS] = None
    merge: Annotated[list[PointMergeInput] | None, POINTS] = None


class EvolveInput(Input):
    """Arguments of memory_evolve."""

    episode: Annotated[Name | None, Field(description="Of the reply you judge.")] = None
    feedback: FeedbackInput | None = None
    goal: Annotated[Goal | None, Field(description="Question or topic to make points for.")] = None
    points: PointEditsInput | None = None
    steps: Annotated[
        list[EvolveStep] | None,
        Field(description="Left out: what the call has input for. entities: join names of one entity."),
        f"a list with any of {', '.join(get_args(EvolveStep))}",
        NAMES,
    ] = None
    space: SpaceName = None


def evolve_request(args: EvolveInput) -> EvolveRequest:
    """Return the request of a call; whether its episode is known is checked when the call runs.

    Raises:
        InvalidInput: an argument is wrong.
    """
    for place, merge in enumerate((args.points.merge if args.points else None) or ()):
        if len(merge.ids) < 2:
            raise InvalidInput(f"points.merge[{place}].ids", "names one point", "Give at least two.")
    return request_of(EvolveRequest, args, steps=list(dict.fromkeys(args.steps or ())))


def evolve_reply(result: EvolveResult) -> Reply:
    """Return the reply to a call."""
    lines = [f"{quantity(len(result.changes), 'change')}." if result.changes else "Nothing changed."]
    for change in result.changes[:CHANGES_LISTED]:
        states = " -> ".join(one_line(one, " / ") for one in (change.before, change.after or "") if one)
        if change.kind == "point":  # later calls name it by its id
            lines.append(f"- {change.step}: {one_line(change.text)} ({change.id}): {states}")
            continue
        times = in_parentheses(validity(change.valid_from, change.valid_to, change.fact_kind, change.precision))
        lines.append(f"- {change.step}: {states}: {indent(change.text)}{times}")
    if (more := len(result.changes) - CHANGES_LISTED) > 0:
        lines.append(f"And {more:,} more.")
    lines += [f"Skipped {one.step}: {one_line(one.reason)}" for one in result.skipped]
    return reply_of(
        [*lines, *warning_lines(result.warnings)],
        changes=[row(change, *CHANGE) for change in result.changes],
        skipped=[row(one, "step", "reason") for one in result.skipped],
        claude=spent_row(result.spent),
        engine=result.engine,
        warnings=result.warnings,
    )


async def run(memory: Memory, request: EvolveRequest, _args: EvolveInput, progress: Progress) -> Reply:
    """Learn from feedback, and organise."""
    return evolve_reply(await memory.evolve(request, progress))
