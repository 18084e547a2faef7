"""The parts of a reply that describe a recall beside its evidence; memory_reconstruct and memory_answer share them."""

from __future__ import annotations

from typing import Annotated, TypedDict

from pydantic import BaseModel, Field

from mcp_memory.domain.evidence import RecallResult, Stop
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.query import Detail as DetailLevel
from mcp_memory.server.tools.replies import (
    Count,
    NextOutput,
    Output,
    SpentOutput,
    fit_share,
    next_line,
    next_output,
    one_line,
    operator_arguments,
    quantity,
    spent_output,
)


class RootOutput(BaseModel):
    """An entity where navigation started."""

    name: str
    intent: Annotated[Intent, Field(description="What the question wants from it.")]


class CallOutput(BaseModel):
    """A step that recall took by itself."""

    turn: Count
    operator: str
    args: Annotated[dict[str, str | list[str]], Field(description="As memory_explore takes them.")]
    found: Count
    kept: Annotated[Count, Field(description="Of what was found: new, or surer than before.")]


class BudgetOutput(BaseModel):
    """What a recall cost."""

    turns: Count
    calls: Annotated[Count, Field(description="Of operators.")]
    texts: Annotated[Count, Field(description="Embedded.")]
    rounds: Annotated[Count, Field(description="Of propagation.")]
    claude: SpentOutput | None = None


class RecallOutput(Output):
    """Fields that recalls and answers share; the last six only with ``detail = "full"``."""

    episode: Annotated[str, Field(description="Names this reply to memory_evolve.")]
    conflicts: Annotated[list[str], Field(description="Where facts contradict each other, or statements perhaps do.")]
    roots: list[RootOutput] | None = None
    paths: Annotated[list[str] | None, Field(description="Facts end to end, best first.")] = None
    next: list[NextOutput] | None = None
    stop_reason: Annotated[Stop | None, Field(description="Why recall looked no further.")] = None
    trace: Annotated[list[CallOutput] | None, Field(description="Steps taken after the first look.")] = None
    budget: BudgetOutput | None = None


class RecallDetails(TypedDict):
    """Fields of `RecallOutput` but for the episode."""

    conflicts: list[str]
    roots: list[RootOutput] | None
    paths: list[str] | None
    next: list[NextOutput] | None
    stop_reason: Stop | None
    trace: list[CallOutput] | None
    budget: BudgetOutput | None


def recall_details(recall: RecallResult, max_tokens: int, detail: DetailLevel) -> tuple[RecallDetails, list[str]]:
    """Return what a reply says of a recall beside its evidence, each list within its share, and the same as lines."""
    conflicts = fit_share(recall.conflicts, "conflicts", max_tokens)
    lines: list[str] = []
    details = RecallDetails(
        conflicts=conflicts, roots=None, paths=None, next=None, stop_reason=None, trace=None, budget=None
    )
    if detail == "brief":
        return details, lines
    from mcp_memory.navigation.paths import (
        serialise,
    )  # reads word lists that the first reply of a server need not wait for

    details["roots"] = fit_share(
        [RootOutput(name=root.name, intent=root.intent) for root in recall.roots], "roots", max_tokens
    )
    details["paths"] = paths = fit_share([serialise(path) for path in recall.paths], "paths", max_tokens)
    details["next"] = steps = fit_share([next_output(one) for one in recall.next], "next", max_tokens)
    lines += [f"Path: {one_line(path)}" for path in paths]
    lines += map(next_line, steps)
    if recall.stop is not None:
        lines.append(
            f"Looked on for {quantity(recall.turns, 'turn')}, {quantity(len(recall.trace), 'step')}: {recall.stop}."
        )
        details["stop_reason"] = recall.stop
        trace = [
            CallOutput(
                turn=one.turn,
                operator=one.operator,
                args=operator_arguments(one.args),
                found=one.found,
                kept=one.kept,
            )
            for one in recall.trace
        ]
        details["trace"] = fit_share(trace, "trace", max_tokens)
    details["budget"] = BudgetOutput(
        turns=recall.turns,
        calls=len(recall.trace),
        texts=recall.texts,
        rounds=recall.rounds,
        claude=None if recall.spent is None else spent_output(recall.spent),
    )
    return details, lines


def conflict_lines(details: RecallDetails) -> list[str]:
    """Return the conflicts that a reply shows as lines of text."""
    return [f"Conflict: {one_line(conflict)}" for conflict in details["conflicts"]]


def episode_line(recall: RecallResult) -> list[str]:
    """Return the line that names the episode, if there is one, and what its records are named for."""
    if not recall.episode:
        return []
    return [f"Episode {recall.episode}: with it, memory_evolve and memory_explore take the numbers of records as ids."]
