"""memory_answer: answer a question with verbatim citations, or abstain and hand over the evidence.

The parts of its reply that describe the recall beside its evidence are memory_reconstruct's, too (`recall_details`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StrictBool

from mcp_memory.domain.access import CALLER
from mcp_memory.domain.evidence import AnswerResult, RecallResult, Source
from mcp_memory.domain.query import Detail as DetailLevel
from mcp_memory.domain.query import Length, Query
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import (
    AsOf,
    Detail,
    Input,
    Limit,
    MaxTokens,
    SpaceName,
    allowed_space,
    moment_of,
    short_text,
)
from mcp_memory.server.tools.replies import (
    SHARES,
    Reply,
    evidence_lines,
    evidence_row,
    fit_items,
    fit_share,
    heading,
    indent,
    next_line,
    omission_warning,
    quantity,
    reply_of,
    round_score,
    row,
    source_row,
    spent_row,
    step_row,
    warning_lines,
)
from mcp_memory.server.tools.tool import Tool
from mcp_memory.visible import in_quotes, one_line

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress


def recall_details(recall: RecallResult, max_tokens: int, detail: DetailLevel) -> tuple[dict[str, Any], list[str]]:
    """Return what a reply says of a recall beside its evidence, each list within its share, and the same as lines."""
    details: dict[str, Any] = {"conflicts": fit_share(recall.conflicts, "conflicts", max_tokens)}
    if detail == "brief":
        return details, []
    from mcp_memory.navigation.paths import serialise  # reads word lists that a server's first reply need not wait for

    details["roots"] = fit_share([row(root, "name", "intent") for root in recall.roots], "roots", max_tokens)
    details["paths"] = paths = fit_share([serialise(path) for path in recall.paths], "paths", max_tokens)
    details["next"] = steps = fit_share(list(map(step_row, recall.next)), "next", max_tokens)
    lines = [*(f"Path: {one_line(path)}" for path in paths), *map(next_line, steps)]
    if recall.stop is not None:
        turns, calls = quantity(recall.turns, "turn"), quantity(len(recall.trace), "step")
        lines.append(f"Looked on for {turns}, {calls}: {recall.stop}.")
        details["stop_reason"] = recall.stop
        calls_made = [row(call, "turn", "operator", "args", "found", "kept") for call in recall.trace]
        details["trace"] = fit_share(calls_made, "trace", max_tokens)
    spent = {"turns": recall.turns, "calls": len(recall.trace), "texts": recall.texts, "rounds": recall.rounds}
    details["budget"] = spent | {"claude": spent_row(recall.spent)}
    return details, lines


def conflict_lines(details: Mapping[str, Any]) -> list[str]:
    """Return the conflicts that a reply shows as lines of text."""
    return [f"Conflict: {one_line(conflict)}" for conflict in details["conflicts"]]


def episode_line(recall: RecallResult) -> list[str]:
    """Return the line that names the episode, if there is one."""
    return [f"Episode {recall.episode}"] if recall.episode else []


class AnswerInput(Input):
    """Arguments of memory_answer."""

    question: Annotated[str, short_text("Give a whole question.")]
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    as_of: AsOf = None
    detail: Detail = "brief"
    length: Annotated[Length, Field(description="full: a paragraph with citations; only where Claude judges.")] = (
        "short"
    )
    learn: Annotated[StrictBool, Field(description="Which records help.")] = True
    space: SpaceName = None


def answer_query(args: AnswerInput) -> Query:
    """Return the query of a call.

    Raises:
        InvalidInput: an argument is wrong.
    """
    return Query(
        args.question,
        allowed_space(args.space),
        args.limit,
        as_of=moment_of(args.as_of),
        learn=args.learn and CALLER.get().may(("write",), allowed_space(args.space)),
        length=args.length,
    )


def _closest_row(said: Source) -> dict[str, Any]:
    place = source_row(said.turn)
    return {"text": said.quote, "speaker": said.turn.speaker, "time": place.get("time")} | {
        "source": {"id": place["id"], "session": place["session"]}
    }


def answer_reply(answer: AnswerResult, max_tokens: int, detail: DetailLevel = "brief") -> Reply:
    """Return the reply to a call, within ``max_tokens``.

    Raises:
        InvalidInput: the answer with the one citation that it needs is longer than that.
    """
    recall, citations = answer.recall, answer.citations
    closest = fit_share(list(map(_closest_row, answer.closest)), "closest", max_tokens)
    numbers = {item.id: number for number, item in enumerate(recall.evidence, 1)}
    recall_warnings = fit_share(recall.warnings, "warnings", max_tokens)
    missing = fit_share([one_line(text) for text in recall.missing], "missing", max_tokens)
    details, detail_lines = recall_details(recall, max_tokens, detail)

    def render(number: int) -> Reply:
        """Render so many citations, and then so many records."""
        cited, items = citations[:number], recall.evidence[: max(number - len(citations), 0)]
        warnings = [*recall_warnings, *omission_warning(len(citations) + len(recall.evidence) - number)]
        if answer.text is None:
            lines = ["No answer: no certain fact says it."]
            if answer.confidence is not None:
                lines = [f"No answer: memory does not say it surely enough (confidence {answer.confidence:.2f})."]
                lines += [f"Missing, in the judge's words: {'; '.join(missing)}."] if missing else []
            if closest:
                lines.append("Closest, as it was said; judge yourself whether it answers:")
                said = zip(closest, answer.closest, strict=False)
                lines += [f"- {heading(source.turn)} {in_quotes(indent(one['text']))}" for one, source in said]
        else:
            hedge = ", uncertain" if answer.hedged else ""
            lines = [
                f"Answer: {in_quotes(indent(answer.text))} (confidence {answer.confidence:.2f}{hedge})",
                "Because of:",
            ]
            for one in cited:  # by the number of a record memory_evolve knows it
                record = f"record {numbers[one.evidence_id]} " if one.evidence_id in numbers else ""
                lines.append(f"- {record}{heading(one.source.turn)} {in_quotes(indent(one.source.quote))}")
        lines += [
            *conflict_lines(details),
            *(evidence_lines(items) if items else ()),
            *detail_lines,
            *warning_lines(warnings),
        ]
        reply = reply_of(
            [*lines, *episode_line(recall)],
            episode=recall.episode,
            answer=answer.text,
            abstained=answer.text is None,
            confidence=round_score(answer.confidence),
            hedged=answer.hedged,
            closest=closest or None,
            citations=[
                {"id": one.evidence_id, "quote": one.source.quote, "source": source_row(one.source.turn)}
                for one in cited
            ],
            evidence=list(map(evidence_row, items)),
            engine=answer.engine,
            warnings=warnings,
            **details,
        )
        reply.structured.setdefault("answer", None)  # the one field that is null in a reply
        return reply

    least = min(len(citations), 1)
    fitting = fit_items(render, least, len(citations) + len(recall.evidence), max_tokens)
    if fitting is None:
        # of what an answer shows beside its citations
        shares = sum(SHARES.values()) - SHARES["points"] - SHARES["wishes"] - SHARES["closest"]
        needed = int(render(least).tokens / (1 - shares)) + 1
        raise InvalidInput("max_tokens", f"{max_tokens} do not hold the answer", f"Give at least {needed}.")
    return fitting


async def _run(memory: Memory, query: Query, args: AnswerInput, _progress: Progress) -> Reply:
    return answer_reply(await memory.answer(query), args.max_tokens, args.detail)


ANSWER = Tool("memory_answer", AnswerInput, answer_query, _run, read_only=False)  # what it learns is stored
