"""What the tools say that read the memory: memory_reconstruct, memory_answer and memory_explore.

Each reply is structured for the client, with a short text for the model beside it. It keeps within ``max_tokens``
(``budget.py``); records are told as ``records.py`` says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict

from mcp_memory.domain import evidence as found
from mcp_memory.domain.query import Detail
from mcp_memory.errors import InvalidInput
from mcp_memory.navigation.paths import serialise
from mcp_memory.server import records
from mcp_memory.server.budget import SHARES, Reply, counted, left_out, most_fitting, warned, within
from mcp_memory.server.results import (
    AnswerResult,
    BudgetResult,
    CallResult,
    CitationResult,
    ExploreResult,
    NextResult,
    PointResult,
    ReconstructResult,
    RootResult,
)
from mcp_memory.server.status_reply import spent_result

if TYPE_CHECKING:
    from mcp_memory.ports import OperatorResult


def recalled(recall: found.RecallResult, max_tokens: int, detail: Detail = "brief") -> Reply:
    """Return what memory_reconstruct says, within ``max_tokens``."""
    missing = within(recall.missing, "missing", max_tokens)
    said = within(recall.warnings, "warnings", max_tokens)
    points = [PointResult(id=one.id, text=one.description, entities=list(one.entities)) for one in recall.points]
    points = within(points, "points", max_tokens)
    beside, told = _beside(recall, max_tokens, detail)

    def reply(kept: int) -> Reply:
        warnings = [*said, *left_out(len(recall.evidence) - kept)]
        result = ReconstructResult(
            episode=recall.episode,
            evidence=[records.row(item) for item in recall.evidence[:kept]],
            points=points,
            sufficient=recall.sufficient,
            sufficiency=records.rounded(recall.sufficiency),
            missing=missing,
            engine=recall.engine,
            warnings=warnings,
            **beside,
        )
        enough = "Enough to answer from" if recall.sufficient else "Perhaps not enough to answer from"
        uncovered = f"; nothing on: {', '.join(missing)}" if missing else ""
        judgement = f"{enough} (sufficiency {recall.sufficiency:.2f}{uncovered})."
        if detail == "brief" and recall.next and not recall.sufficient:
            judgement += " With detail full this tells steps for memory_explore."
        shown = {item.id for item in recall.evidence[:kept]}
        listed = [f"Memory point {one.id}: {_line(one.text)}" for one in points if one.id not in shown]
        lines = [*records.numbered(recall.evidence[:kept]), *listed, *told, judgement, *warned(warnings)]
        return Reply(result, _text(*lines, *_episode(recall)))

    fitting = most_fitting(reply, 0, len(recall.evidence), max_tokens)
    return fitting or reply(0)  # without a record it always fits: what stays is bounded above


def answered(answer: found.AnswerResult, max_tokens: int, detail: Detail = "brief") -> Reply:
    """Return what memory_answer says, within ``max_tokens``.

    Raises:
        InvalidInput: the answer with the one citation that it needs is longer than that.
    """
    items, citations = answer.recall.evidence, answer.citations
    numbers = {item.id: number for number, item in enumerate(items, 1)}
    said = within(answer.recall.warnings, "warnings", max_tokens)
    missing = within([_line(one) for one in answer.recall.missing], "missing", max_tokens)
    beside, told = _beside(answer.recall, max_tokens, detail)

    def reply(kept: int) -> Reply:
        """Keep so many citations, and then so many records."""
        cited, shown = citations[:kept], items[: max(kept - len(citations), 0)]
        warnings = [*said, *left_out(len(citations) + len(items) - kept)]
        result = AnswerResult(
            episode=answer.recall.episode,
            answer=answer.text,
            abstained=answer.text is None,
            confidence=records.rounded(answer.confidence),
            hedged=answer.hedged,
            citations=[
                CitationResult(
                    id=citation.evidence_id, quote=citation.source.quote, source=records.origin(citation.source.turn)
                )
                for citation in cited
            ],
            evidence=[records.row(item) for item in shown],
            engine=answer.engine,
            warnings=warnings,
            **beside,
        )
        hedge = ", uncertain" if answer.hedged else ""
        if answer.text is None:
            head = [f"No answer: memory does not say it surely enough (confidence {answer.confidence:.2f})."]
            if answer.engine != "embedded" and missing:
                head += [f"Missing, in the judge's words: {'; '.join(missing)}."]
        else:
            words = records.indented(answer.text)
            head = [f"Answer: {words} (confidence {answer.confidence:.2f}{hedge})", "Because of:"]
            head += [f"- {_cited(c, numbers)} “{records.indented(c.source.quote)}”" for c in cited]
        lines = [*head, *(records.numbered(shown) if shown else ()), *told, *warned(warnings)]
        return Reply(result, _text(*lines, *_episode(answer.recall)))

    least = min(len(citations), 1)
    fitting = most_fitting(reply, least, len(citations) + len(items), max_tokens)
    if fitting is None:
        grows = sum(SHARES.values()) - SHARES["points"]  # what stands beside it; points do not
        needed = int(reply(least).tokens / (1 - grows)) + 1
        raise InvalidInput("max_tokens", f"{max_tokens} do not hold the answer", f"Give at least {needed}.")
    return fitting


def explored(step: OperatorResult, max_tokens: int) -> Reply:
    """Return what memory_explore says, within ``max_tokens``."""
    further = within([_next(one) for one in step.next], "next", max_tokens)
    said = within(step.warnings, "warnings", max_tokens)

    def reply(kept: int) -> Reply:
        warnings = [*said, *left_out(len(step.items) - kept)]
        result = ExploreResult(
            items=[records.row(item) for item in step.items[:kept]],
            next=further,
            engine="caller",  # who chose the step
            warnings=warnings,
        )
        return Reply(
            result,
            _text(*records.numbered(step.items[:kept], ids=True), *map(_suggested, further), *warned(warnings)),
        )

    return most_fitting(reply, 0, len(step.items), max_tokens) or reply(0)


class _Beside(TypedDict):
    """What stands beside the evidence; the last six only with all detail."""

    conflicts: list[str]
    roots: list[RootResult] | None
    paths: list[str] | None
    next: list[NextResult] | None
    stop_reason: found.Stop | None
    trace: list[CallResult] | None
    budget: BudgetResult | None


def _beside(recall: found.RecallResult, max_tokens: int, detail: Detail) -> tuple[_Beside, list[str]]:
    """Return what stands beside the evidence, and the same as lines to read."""
    conflicts = within(recall.conflicts, "conflicts", max_tokens)
    lines = [f"Conflict: {_line(conflict)}" for conflict in conflicts]
    if detail == "brief":
        return _Beside(
            conflicts=conflicts, roots=None, paths=None, next=None, stop_reason=None, trace=None, budget=None
        ), lines
    roots = [RootResult(name=root.name, intent=root.intent) for root in recall.roots]
    roots = within(roots, "roots", max_tokens)
    paths = within([serialise(path) for path in recall.paths], "paths", max_tokens)
    further = within([_next(one) for one in recall.next], "next", max_tokens)
    lines += [f"Path: {_line(path)}" for path in paths]
    lines += [_suggested(one) for one in further]
    if recall.stop is not None:
        lines.append(
            f"Looked on for {counted(recall.turns, 'turn')}, {counted(len(recall.trace), 'step')}: {recall.stop}."
        )
    return _Beside(
        conflicts=conflicts,
        roots=roots,
        paths=paths,
        next=further,
        stop_reason=recall.stop,
        trace=None if recall.stop is None else within([_call(one) for one in recall.trace], "trace", max_tokens),
        budget=BudgetResult(
            turns=recall.turns,
            calls=len(recall.trace),
            texts=recall.texts,
            rounds=recall.rounds,
            claude=None if recall.spent is None else spent_result(recall.spent),
        ),
    ), lines


def _episode(recall: found.RecallResult) -> list[str]:
    return [f"Episode {recall.episode} (for memory_evolve)."] if recall.episode else []


def _cited(citation: found.Citation, numbers: Mapping[str, int]) -> str:
    """Return where words stand: the number of the record, by which memory_evolve knows it, and what that is from."""
    number = numbers.get(citation.evidence_id)
    record = f"record {number} " if number is not None else ""
    return record + records.heading(citation.source.turn)


def _next(suggestion: found.Suggestion) -> NextResult:
    return NextResult(operator=suggestion.operator, args=_args(suggestion.args), why=suggestion.why)


def _call(call: found.OperatorCall) -> CallResult:
    return CallResult(turn=call.turn, operator=call.operator, args=_args(call.args), found=call.found, kept=call.kept)


def _args(given: Mapping[str, str | tuple[str, ...]]) -> dict[str, str | list[str]]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _suggested(step: NextResult) -> str:
    args = json.dumps(step.args, ensure_ascii=False)
    return f"Next: memory_explore {step.operator} {_line(args)}: {_line(step.why)}"


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _text(*lines: str) -> str:
    return "\n".join(lines)
