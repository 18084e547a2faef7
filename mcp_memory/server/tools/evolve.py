"""memory_evolve: learn from feedback on an episode, and organise memory points around a goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field, StrictBool

from mcp_memory.domain.requests import (
    EvolveRequest,
    EvolveResult,
    EvolveStep,
    Feedback,
    NewDescription,
    NewMerge,
    PointEdits,
    PointInsert,
)
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import (
    IDS,
    NAMES,
    QUERY_BYTES,
    Input,
    RecordId,
    SpaceName,
    check_name,
    check_names,
    check_some,
    check_space,
    check_text,
    read,
)
from mcp_memory.server.tools.meant import Most
from mcp_memory.server.tools.replies import (
    CHANGES_LISTED,
    Output,
    Part,
    Reply,
    ShownKind,
    ShownPrecision,
    SpentOutput,
    Time,
    in_parentheses,
    indent,
    quantity,
    reply_of,
    validity,
    warning_lines,
)
from mcp_memory.server.tools.tool import Run, Tool
from mcp_memory.settings import LimitSettings
from mcp_memory.visible import one_line

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress

POINTS = Most(100)
"""Most memory points that a call may insert, update or merge."""
POINT_BYTES = 4_000
"""Most UTF-8 bytes of a point's description; a longer one is a text to remember."""


class FeedbackInput(Input):
    """A caller's judgement of an episode."""

    supports: Annotated[
        list[RecordId] | None,
        Field(description="Evidence that gave or led to the answer: ids or record numbers."),
        IDS,
    ] = None
    not_supports: Annotated[list[RecordId] | None, Field(description="Evidence that did not, or misled."), IDS] = None
    answer_correct: StrictBool | None = None
    correction: Annotated[str | None, Field(description="What is so, in a whole sentence with names.")] = None


class PointInsertInput(Input):
    """A new memory point."""

    entities: Annotated[list[str], Field(description="Two or more."), NAMES]
    description: str
    supports: Annotated[list[str] | None, Field(description="Ids of the evidence it rests on."), IDS] = None


class PointUpdateInput(Input):
    """A new description of a memory point."""

    id: str
    description: str


class PointMergeInput(Input):
    """Memory points that become one."""

    ids: Annotated[list[str], NAMES]
    description: str


class PointEditsInput(Input):
    """A caller's edits of memory points."""

    insert: Annotated[list[PointInsertInput] | None, POINTS] = None
    update: Annotated[list[PointUpdateInput] | None, POINTS] = None
    merge: Annotated[list[PointMergeInput] | None, POINTS] = None


class EvolveInput(Input):
    """Arguments of memory_evolve."""

    episode: Annotated[str | None, Field(description="Of the reply you judge.")] = None
    feedback: FeedbackInput | None = None
    goal: Annotated[str | None, Field(description="Question or topic to make points for.")] = None
    points: PointEditsInput | None = None
    steps: Annotated[
        list[EvolveStep] | None,
        Field(description="Left out: what the call has input for. entities: join names of one entity."),
        f"a list with any of {', '.join(get_args(EvolveStep))}",
        NAMES,
    ] = None
    space: SpaceName = None


class ChangeOutput(Part):
    """A change that the call made."""

    step: EvolveStep
    kind: Literal["sentence", "fact", "message", "relation", "point", "entity", "question"]
    id: str
    text: str
    before: str | None = None
    after: str
    valid_from: Annotated[Time, Field(description="Of a fact: when it began to hold.")] = None
    valid_to: Annotated[Time, Field(description="Of a fact: when it ceased to.")] = None
    fact_kind: ShownKind | None = None
    precision: ShownPrecision | None = None


class SkippedOutput(Part):
    """A step that changed nothing."""

    step: EvolveStep
    reason: str


class EvolveOutput(Output):
    """Structured reply of memory_evolve."""

    changes: list[ChangeOutput]
    skipped: list[SkippedOutput]
    claude: SpentOutput | None = None


def evolve_request(args: EvolveInput, limits: LimitSettings) -> EvolveRequest:
    """Return the request of a call; whether its episode is known is checked when the call runs.

    Raises:
        InvalidInput: an argument is wrong.
    """
    feedback = None if args.feedback is None else _feedback(args.feedback, limits)
    if feedback is not None and args.episode is None:
        raise InvalidInput("episode", "is missing", "Give the episode that the reply of a recall or answer named.")
    goal = args.goal
    if goal is not None:
        goal = check_text("goal", goal, QUERY_BYTES, remedy="Give a question or topic, or leave it out.")
    points = None if args.points is None else _point_edits(args.points, limits)
    steps = tuple(dict.fromkeys(args.steps or ()))
    episode = check_name("episode", args.episode, limits)
    return EvolveRequest(check_space(args.space), episode, feedback, goal, points, steps)


def _feedback(feedback: FeedbackInput, limits: LimitSettings) -> Feedback:
    correction = feedback.correction
    if correction is not None:
        correction = check_text("feedback.correction", correction, limits.message_bytes, "limits.message_bytes")
    return Feedback(
        check_names("feedback.supports", feedback.supports, limits),
        check_names("feedback.not_supports", feedback.not_supports, limits),
        feedback.answer_correct,
        correction,
    )


def _point_edits(points: PointEditsInput, limits: LimitSettings) -> PointEdits:
    lists = {name: items for name in PointEditsInput.model_fields if (items := getattr(points, name)) is not None}
    for name, items in lists.items():
        check_some(items, f"points.{name}")

    def description(argument: str, text: str) -> str:
        return check_text(f"{argument}.description", text, POINT_BYTES)

    inserts, updates, merges = [], [], []
    for place, insert in enumerate(points.insert or ()):
        argument = f"points.insert[{place}]"
        entities = check_names(f"{argument}.entities", insert.entities, limits)
        supports = check_names(f"{argument}.supports", insert.supports, limits)
        inserts.append(PointInsert(entities, description(argument, insert.description), supports))
    for place, update in enumerate(points.update or ()):
        argument = f"points.update[{place}]"
        point = check_name(f"{argument}.id", update.id, limits)
        updates.append(NewDescription(point, description(argument, update.description)))
    for place, merge in enumerate(points.merge or ()):
        argument = f"points.merge[{place}]"
        ids = check_names(f"{argument}.ids", merge.ids, limits)
        if len(ids) < 2:
            raise InvalidInput(f"{argument}.ids", "names one point", "Give at least two.")
        merges.append(NewMerge(ids, description(argument, merge.description)))
    return PointEdits(tuple(inserts), tuple(updates), tuple(merges))


def evolve_reply(result: EvolveResult) -> Reply:
    """Return the reply to a call."""
    lines = [f"{quantity(len(result.changes), 'change')}." if result.changes else "Nothing changed."]
    for change in result.changes[:CHANGES_LISTED]:
        before = f"{one_line(change.before)} -> " if change.before else ""
        point = f" ({change.id})" if change.kind == "point" else ""  # later calls name it by its id
        times = in_parentheses(validity(change.valid_from, change.valid_to, change.fact_kind, change.precision))
        lines.append(f"- {change.step}: {before}{one_line(change.after or '')}: {indent(change.text)}{times}{point}")
    if (more := len(result.changes) - CHANGES_LISTED) > 0:
        lines.append(f"And {more:,} more.")
    lines += [f"Skipped {one.step}: {one_line(one.reason)}" for one in result.skipped]
    return reply_of(
        EvolveOutput,
        [*lines, *warning_lines(result.warnings)],
        changes=result.changes,
        skipped=result.skipped,
        claude=result.spent,
        engine=result.engine,
        warnings=result.warnings,
    )


def _prepare(raw: Mapping[str, Any], limits: LimitSettings) -> Run:
    request = evolve_request(read(EvolveInput, raw), limits)

    async def run(memory: Memory, progress: Progress) -> Reply:
        return evolve_reply(await memory.evolve(request, progress))

    return run


EVOLVE = Tool(
    name="memory_evolve",
    title="Improve",
    description=(
        "Tell the memory how well it recalled, so that it finds better next time, or organise it. Use it once you "
        "know which evidence gave the answer, or the user says that an answer was right or wrong, with a correction "
        "if they say what is so: give the reply's episode, once. A goal makes memory points, which say what several "
        "entities have to do with each other; or write them yourself in points."
    ),
    input=EvolveInput,
    output=EvolveOutput,
    prepare=_prepare,
    read_only=False,
    needs=frozenset(("read", "write")),
)
