"""memory_explore: take one step of navigation, for a client that navigates by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field

from mcp_memory.domain.query import DEFAULT_SPACE
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import (
    IDS,
    QUERY_BYTES,
    Input,
    Limit,
    MaxTokens,
    RecordId,
    SpaceName,
    check_name,
    check_names,
    check_relation,
    check_space,
    check_text,
    read,
    window_of,
)
from mcp_memory.server.tools.replies import (
    EvidenceOutput,
    NextOutput,
    Output,
    Reply,
    evidence_lines,
    evidence_output,
    fit_items,
    fit_share,
    next_line,
    next_output,
    omission_warning,
    reply_of,
    warning_lines,
)
from mcp_memory.server.tools.tool import Run, Tool
from mcp_memory.settings import LimitSettings

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import OperatorResult, Progress

OperatorName = Literal[
    "expand_facts",
    "versions",
    "timeline",
    "counterfactual",
    "propagate",
    "tag_events",
    "event_keywords",
    "event_time",
    "event_context",
    "topic_events",
    "personal_information",
    "personal_aspect",
    "local_points",
    "global_points",
    "reflect",
]


class ExploreInput(Input):
    """Arguments of memory_explore; each operator uses some of them."""

    operator: Annotated[OperatorName, f"one of {', '.join(get_args(OperatorName))}"]
    entity: Annotated[str | None, Field(description="A person, place or thing.")] = None
    relation: Annotated[str | None, Field(description="Only this kind of fact: lives_in, ...")] = None
    tag: Annotated[str | None, Field(description="As `next` gives it.")] = None
    topic: Annotated[str | None, Field(description="Its id, or words.")] = None
    ids: Annotated[list[RecordId] | None, Field(description="Of evidence, or numbers of the episode's records.")] = None
    episode: str | None = None
    query: Annotated[str | None, Field(description="What you are after; ranks what is found.")] = None
    since: Annotated[str | None, Field(description="Only what holds at or after this ISO date or time.")] = None
    until: Annotated[str | None, Field(description="Only what holds before this time, or on this date.")] = None
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    space: SpaceName = DEFAULT_SPACE


class ExploreOutput(Output):
    """Structured reply of memory_explore."""

    items: Annotated[list[EvidenceOutput], Field(description="Best first.")]
    next: list[NextOutput]


def explore_request(args: ExploreInput, limits: LimitSettings) -> ExploreRequest:
    """Return the step of a call; whether the operator has all its arguments is mostly checked when it runs.

    Raises:
        InvalidInput: an argument is wrong.
    """
    query = args.query
    if query is not None:
        query = check_text("query", query, QUERY_BYTES, remedy="Say what you are after, or leave it out.")
    if args.operator == "propagate" and args.entity is None and query is None:
        remedy = "The operator propagate begins at an entity, or at what a query names. Give one of them."
        raise InvalidInput("entity", "is missing", remedy)
    return ExploreRequest(
        check_space(args.space),
        args.operator,
        check_name("entity", args.entity, limits),
        check_relation("relation", args.relation, limits),
        query,
        window_of(args.since, args.until),
        args.limit,
        check_name("tag", args.tag, limits),
        check_name("topic", args.topic, limits),
        check_names("ids", args.ids, IDS, limits),
        check_name("episode", args.episode, limits),
    )


def explore_reply(found: OperatorResult, max_tokens: int) -> Reply:
    """Return the reply to a call, within ``max_tokens``."""
    steps = fit_share([next_output(suggestion) for suggestion in found.next], "next", max_tokens)
    found_warnings = fit_share(found.warnings, "warnings", max_tokens)

    def render(number: int) -> Reply:
        items = found.items[:number]
        warnings = [*found_warnings, *omission_warning(len(found.items) - number)]
        output = ExploreOutput(
            items=[evidence_output(item) for item in items],
            next=steps,
            engine="caller",  # who chose the step
            warnings=warnings,
        )
        return reply_of(output, [*evidence_lines(items, ids=True), *map(next_line, steps), *warning_lines(warnings)])

    return fit_items(render, 0, len(found.items), max_tokens) or render(0)


def _prepare(raw: Mapping[str, Any], limits: LimitSettings) -> Run:
    args = read(ExploreInput, raw)
    request = explore_request(args, limits)

    async def run(memory: Memory, _progress: Progress) -> Reply:
        return explore_reply(await memory.explore(request), args.max_tokens)

    return run


EXPLORE = Tool(
    name="memory_explore",
    title="Explore",
    description=(
        "Take one step through memory. Use it where recall did not suffice, or to follow `next`. Of an entity: "
        "expand_facts, facts around it; versions, every value over time; timeline, what began or held, in order (also "
        "between since and until); personal_information, aspects known; personal_aspect, facts of one, by relation or "
        "tag; propagate and tag_events, sentences that name it (or what the query names; tag narrows them); "
        "counterfactual, guesses where no fact is known. Of ids: event_context, what was said around; event_time, "
        "when, in order; event_keywords, where they lead; local_points, what lies around memory points (h_ ids). Of a "
        "topic or query: topic_events, passages; global_points, what stands in no point; reflect, what lies beyond its "
        "names."
    ),
    input=ExploreInput,
    output=ExploreOutput,
    prepare=_prepare,
    read_only=True,
)
