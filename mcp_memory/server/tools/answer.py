"""memory_answer: answer a question with verbatim citations, or abstain and hand over the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StrictBool

from mcp_memory.domain.access import CALLER
from mcp_memory.domain.evidence import AnswerResult, Citation, Source
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
    RecallParts,
    Reply,
    evidence_lines,
    evidence_row,
    fit_items,
    fit_share,
    heading,
    indent,
    omission_warning,
    reply_of,
    round_score,
    source_row,
    warning_lines,
)
from mcp_memory.visible import in_quotes, one_line

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress


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


class AnswerPage:
    """An answer as a reply shows it: its citations first, then as many records as fit into ``max_tokens``."""

    def __init__(self, answer: AnswerResult, max_tokens: int, detail: DetailLevel = "brief") -> None:
        self._answer, self._recall, self._max_tokens = answer, answer.recall, max_tokens
        self._beside = RecallParts(answer.recall, max_tokens, detail)
        self._closest = fit_share(list(map(_closest_row, answer.closest)), "closest", max_tokens)

    def reply(self) -> Reply:
        """Return the reply to a call.

        Raises:
            InvalidInput: the answer with the one citation that it needs is longer than that.
        """
        citations = len(self._answer.citations)
        least, most = min(citations, 1), citations + len(self._recall.evidence)
        fitting = fit_items(self._with_first, least, most, self._max_tokens)
        if fitting is None:
            # of what an answer shows beside its citations
            shares = sum(SHARES.values()) - SHARES["points"] - SHARES["wishes"] - SHARES["closest"]
            needed = int(self._with_first(least).tokens / (1 - shares)) + 1
            raise InvalidInput("max_tokens", f"{self._max_tokens} do not hold the answer", f"Give at least {needed}.")
        return fitting

    def _with_first(self, number: int) -> Reply:
        """Return the reply with so many citations, and then records."""
        citations, evidence = self._answer.citations, self._recall.evidence
        cited, items = citations[:number], evidence[: max(number - len(citations), 0)]
        warnings = [*self._beside.warnings, *omission_warning(len(citations) + len(evidence) - number)]
        lines = [
            *(self._no_answer_lines() if self._answer.text is None else self._answer_lines(self._answer.text, cited)),
            *self._beside.conflict_lines,
            *(evidence_lines(items) if items else ()),
            *self._beside.detail_lines,
            *warning_lines(warnings),
            *self._beside.episode_line,
        ]
        reply = reply_of(
            lines,
            episode=self._recall.episode,
            answer=self._answer.text,
            abstained=self._answer.text is None,
            confidence=round_score(self._answer.confidence),
            hedged=self._answer.hedged,
            closest=self._closest or None,
            citations=[
                {"id": one.evidence_id, "quote": one.source.quote, "source": source_row(one.source.turn)}
                for one in cited
            ],
            evidence=list(map(evidence_row, items)),
            engine=self._answer.engine,
            warnings=warnings,
            **self._beside.fields,
        )
        reply.structured.setdefault("answer", None)  # the one field that is null in a reply
        return reply

    def _answer_lines(self, text: str, cited: Sequence[Citation]) -> list[str]:
        """Return an answer with its citations as lines; by the number of a record memory_evolve knows it."""
        numbers = {item.id: number for number, item in enumerate(self._recall.evidence, 1)}
        hedge = ", uncertain" if self._answer.hedged else ""
        lines = [f"Answer: {in_quotes(indent(text))} (confidence {self._answer.confidence:.2f}{hedge})", "Because of:"]
        for one in cited:
            record = f"record {numbers[one.evidence_id]} " if one.evidence_id in numbers else ""
            lines.append(f"- {record}{heading(one.source.turn)} {in_quotes(indent(one.source.quote))}")
        return lines

    def _no_answer_lines(self) -> list[str]:
        """Return an abstention as lines: what is missing, and the sentences that come closest."""
        lines = ["No answer: no certain fact says it."]
        if (confidence := self._answer.confidence) is not None:
            lines = [f"No answer: memory does not say it surely enough (confidence {confidence:.2f})."]
            missing = "; ".join(map(one_line, self._beside.missing))
            lines += [f"Missing, in the judge's words: {missing}."] if missing else []
        if self._closest:
            lines.append("Closest, as it was said; judge yourself whether it answers:")
            said = zip(self._closest, self._answer.closest, strict=False)
            lines += [f"- {heading(source.turn)} {in_quotes(indent(one['text']))}" for one, source in said]
        return lines


async def run(memory: Memory, query: Query, args: AnswerInput, _progress: Progress) -> Reply:
    """Answer a question."""
    return AnswerPage(await memory.answer(query), args.max_tokens, args.detail).reply()
