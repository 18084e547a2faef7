"""memory_answer: answer a question with verbatim citations, or abstain and hand over the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field, StrictBool

from mcp_memory.domain.access import CALLER
from mcp_memory.domain.evidence import AnswerResult
from mcp_memory.domain.query import Detail as DetailLevel
from mcp_memory.domain.query import Length, Query
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import (
    QUERY_BYTES,
    AsOf,
    Detail,
    Input,
    Limit,
    MaxTokens,
    SpaceName,
    check_space,
    check_text,
    moment_of,
    read,
)
from mcp_memory.server.tools.recall_details import RecallOutput, conflict_lines, episode_line, recall_details
from mcp_memory.server.tools.replies import (
    SHARES,
    EvidenceOutput,
    Reply,
    Score,
    SourceOutput,
    evidence_lines,
    evidence_output,
    fit_items,
    fit_share,
    heading,
    indent,
    omission_warning,
    one_line,
    reply_of,
    round_score,
    source_output,
    warning_lines,
)
from mcp_memory.server.tools.tool import Run, Tool
from mcp_memory.settings import LimitSettings

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress


class AnswerInput(Input):
    """Arguments of memory_answer."""

    question: str
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    as_of: AsOf = None
    detail: Detail = "brief"
    length: Annotated[Length, Field(description="full: a paragraph with citations; only where Claude judges.")] = (
        "short"
    )
    learn: Annotated[StrictBool, Field(description="Which records help.")] = True
    space: SpaceName = None


class CitationOutput(BaseModel):
    """Words that an answer rests on."""

    id: Annotated[str, Field(description="Of the evidence.")]
    quote: Annotated[str, Field(description="Verbatim.")]
    source: SourceOutput


class AnswerOutput(RecallOutput):
    """Structured reply of memory_answer."""

    answer: Annotated[str | None, Field(description="null: abstained.")]
    abstained: StrictBool
    confidence: Score
    hedged: StrictBool
    citations: list[CitationOutput]
    evidence: list[EvidenceOutput]


def answer_query(args: AnswerInput) -> Query:
    """Return the query of a call.

    Raises:
        InvalidInput: an argument is wrong.
    """
    question = check_text("question", args.question, QUERY_BYTES, remedy="Give a whole question.")
    as_of = moment_of("as_of", args.as_of)
    return Query(
        question,
        check_space(args.space),
        args.limit,
        as_of=as_of,
        learn=args.learn and CALLER.get().may(("write",), check_space(args.space)),
        length=args.length,
    )


def answer_reply(answer: AnswerResult, max_tokens: int, detail: DetailLevel = "brief") -> Reply:
    """Return the reply to a call, within ``max_tokens``.

    Raises:
        InvalidInput: the answer with the one citation that it needs is longer than that.
    """
    recall, citations = answer.recall, answer.citations
    numbers = {item.id: number for number, item in enumerate(recall.evidence, 1)}
    recall_warnings = fit_share(recall.warnings, "warnings", max_tokens)
    missing = fit_share([one_line(text) for text in recall.missing], "missing", max_tokens)
    details, detail_lines = recall_details(recall, max_tokens, detail)

    def render(number: int) -> Reply:
        """Render so many citations, and then so many records."""
        cited, items = citations[:number], recall.evidence[: max(number - len(citations), 0)]
        warnings = [*recall_warnings, *omission_warning(len(citations) + len(recall.evidence) - number)]
        output = AnswerOutput(
            episode=recall.episode,
            answer=answer.text,
            abstained=answer.text is None,
            confidence=round_score(answer.confidence),
            hedged=answer.hedged,
            citations=[
                CitationOutput(id=one.evidence_id, quote=one.source.quote, source=source_output(one.source.turn))
                for one in cited
            ],
            evidence=[evidence_output(item) for item in items],
            engine=answer.engine,
            warnings=warnings,
            **details,
        )
        if answer.text is None:
            lines = [f"No answer: memory does not say it surely enough (confidence {answer.confidence:.2f})."]
            if answer.engine != "embedded" and missing:
                lines += [f"Missing, in the judge's words: {'; '.join(missing)}."]
        else:
            hedge = ", uncertain" if answer.hedged else ""
            lines = [f"Answer: {indent(answer.text)} (confidence {answer.confidence:.2f}{hedge})", "Because of:"]
            for one in cited:  # by the number of a record memory_evolve knows it
                record = f"record {numbers[one.evidence_id]} " if one.evidence_id in numbers else ""
                lines.append(f"- {record}{heading(one.source.turn)} “{indent(one.source.quote)}”")
        lines += [
            *conflict_lines(details),
            *(evidence_lines(items) if items else ()),
            *detail_lines,
            *warning_lines(warnings),
        ]
        reply = reply_of(output, [*lines, *episode_line(recall)])
        reply.structured.setdefault("answer", None)  # the one field that is null in a reply
        return reply

    least = min(len(citations), 1)
    fitting = fit_items(render, least, len(citations) + len(recall.evidence), max_tokens)
    if fitting is None:
        # of what an answer shows beside its citations
        shares = sum(SHARES.values()) - SHARES["points"] - SHARES["wishes"]
        needed = int(render(least).tokens / (1 - shares)) + 1
        raise InvalidInput("max_tokens", f"{max_tokens} do not hold the answer", f"Give at least {needed}.")
    return fitting


def _prepare(raw: Mapping[str, Any], _limits: LimitSettings) -> Run:
    args = read(AnswerInput, raw)
    query = answer_query(args)

    async def run(memory: Memory, _progress: Progress) -> Reply:
        return answer_reply(await memory.answer(query), args.max_tokens, args.detail)

    return run


ANSWER = Tool(
    name="memory_answer",
    title="Answer",
    description=(
        "Answer one simple question (who, when, where, how long, how many, yes or no) from memory alone, with "
        "verbatim citations. Use it for facts to be quoted or checked. It abstains rather than guesses, and then "
        "gives the evidence, from which you may answer yourself."
    ),
    input=AnswerInput,
    output=AnswerOutput,
    prepare=_prepare,
    read_only=False,  # what it learns is stored
    repeatable=False,  # each answer is an episode of its own
)
