"""memory_explore: take one step of navigation, for a client that navigates by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mcp_memory.domain.operators import OPERATORS
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import (
    IDS,
    Input,
    Limit,
    MaxTokens,
    Name,
    RecordId,
    RelationName,
    SpaceName,
    Time,
    parse_window,
    request_of,
    short_text,
)
from mcp_memory.server.tools.dossier import evidence_lines
from mcp_memory.server.tools.replies import (
    Reply,
    evidence_row,
    fit_items,
    fit_share,
    iso_day,
    next_line,
    omission_warning,
    quantity,
    reply_of,
    step_row,
    warning_lines,
)

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import OperatorResult, Progress

    OperatorName = str
else:
    OperatorName = Literal[tuple(OPERATORS)]  # a checker of types wants these written out


class ExploreInput(Input):
    """Arguments of memory_explore; each operator uses some of them."""

    operator: Annotated[OperatorName, f"one of {', '.join(OPERATORS)}"]
    entity: Name | None = None
    relation: Annotated[RelationName | None, Field(description="lives_in, ...")] = None
    tag: Annotated[Name | None, Field(description="From `next`.")] = None
    topic: Annotated[Name | None, Field(description="Id or words.")] = None
    ids: Annotated[list[RecordId] | None, Field(description="Of evidence, or record numbers of the episode."), IDS] = (
        None
    )
    episode: Name | None = None
    query: Annotated[str, short_text("Say what you are after, or leave it out.")] | None = None
    since: Time | None = None
    until: Time | None = None
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    space: SpaceName = None


def explore_request(args: ExploreInput) -> ExploreRequest:
    """Return the step of a call; whether the operator has all its arguments is mostly checked when it runs.

    Raises:
        InvalidInput: an argument is wrong.
    """
    if args.operator == "propagate" and args.entity is None and args.query is None:
        remedy = "The operator propagate begins at an entity, or at what a query names. Give one of them."
        raise InvalidInput("entity", "is missing", remedy)
    request = request_of(ExploreRequest, args)
    return replace(request, window=parse_window(args.since, args.until))


def explore_reply(found: OperatorResult, max_tokens: int) -> Reply:
    """Return the reply to a call, within ``max_tokens``.

    Where not all items fit, those are left out first of which `OperatorResult` says so, and the words of facts.
    """
    steps = fit_share(list(map(step_row, found.next)), "next", max_tokens)
    found_warnings = fit_share(found.warnings, "warnings", max_tokens)

    def render(number: int, quotes: bool = False) -> Reply:
        out = len(found.items) - number
        if found.oldest:
            items = [item for item in found.items if item.id not in found.oldest[:out]]
            warnings = [*found_warnings, *_earlier_warning(found, out)]
        else:
            items = list(found.items[:number])
            warnings = [*found_warnings, *omission_warning(out)]
        rows = list(map(evidence_row, items))
        for row in rows:
            if row["kind"] == "fact" and not quotes:
                row["sources"] = [source | {"quote": None} for source in row["sources"]]
        return reply_of(
            [*evidence_lines(items), *map(next_line, steps), *warning_lines(warnings)],
            items=rows,
            next=steps,
            engine="caller",  # who chose the step
            warnings=warnings,
        )

    whole = render(len(found.items), quotes=True)
    return whole if whole.tokens <= max_tokens else fit_items(render, 0, len(found.items), max_tokens) or render(0)


def _earlier_warning(found: OperatorResult, out: int) -> list[str]:
    """Return the warning that a history lacks entries, and how to get them, if it lacks any."""
    if not out + found.left_out:
        return []
    first = next((item for item in found.items if item.id in found.oldest[out : out + 1]), None)
    by_time = found.oldest == tuple(item.id for item in found.items)
    until = ""
    if first is not None and (first.valid_from or 0) > BEGINNING and (by_time or (first.valid_to or FOREVER) < FOREVER):
        until = f"until {iso_day((first.valid_from or 0) + DAY)}, or "
    earlier = quantity(out + found.left_out, "earlier entry")
    return [f"{earlier} left out; for these give {until}a higher limit and max_tokens."]


async def run(memory: Memory, request: ExploreRequest, args: ExploreInput, _progress: Progress) -> Reply:
    """Take the step."""
    return explore_reply(await memory.explore(request), args.max_tokens)
