"""memory_reconstruct and memory_answer: recall evidence for a query, or answer a question with verbatim citations.

An answer rests on a recall. The memory may abstain instead, and hands over what comes closest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field, StrictBool, StrictInt

from mcp_memory.domain.access import CALLER
from mcp_memory.domain.evidence import AnswerResult, Citation, Evidence, RecallResult, Source
from mcp_memory.domain.query import Detail as DetailLevel
from mcp_memory.domain.query import Length, Mode, Query
from mcp_memory.domain.turns import Role
from mcp_memory.errors import InvalidInput
from mcp_memory.language.stated import with_dates
from mcp_memory.language.wishes import as_said
from mcp_memory.server.tools.arguments import (
    NAMES,
    AsOf,
    Detail,
    Input,
    Limit,
    MaxTokens,
    Name,
    SpaceName,
    Time,
    allowed_space,
    at_most,
    moment_of,
    parse_window,
    short_text,
    shown,
)
from mcp_memory.server.tools.dossier import dossier_lines, said_in, space_of
from mcp_memory.server.tools.replies import (
    SHARES,
    Reply,
    evidence_row,
    fit_items,
    fit_share,
    in_parentheses,
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
from mcp_memory.visible import in_quotes, one_line

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress


DEFAULT_LIMIT = 12
"""Items of evidence where the call states no number and the recall is not broad."""
SPACES = at_most(8)
"""Spaces that a call may name; each costs a recall."""
MOST_WORDINGS = 4
"""Other wordings of a query that a call may bring; each costs one more search."""
LIKELY_SHARE = 0.5
"""Share of the mean score of the best three records below which no record follows, where the call states no limit.

Measured on five sets (1,701 questions), on halves: it keeps 99.0 to 100 of 100 of the gold among the first twelve. It
leaves out 40 of 100 records among articles, but 1 to 4 in talk, whose scores lie too near to each other to choose by.
"""
ROOMY_TOKENS = 400
"""``max_tokens`` from which on a warning has room to say how to get what was left out."""
_CURSOR = re.compile(r"(all|overview)-([0-9]{1,7})-([0-9a-f]{8})")
"""The breadth of a recall, how many items the pages before have shown, and the digest of what it lists."""

Question = Annotated[str, short_text("Give a question, or leave it out for the newest.")]
Wording = Annotated[str, short_text("Give a sentence that may tell the answer.")]


class ReconstructInput(Input):
    """Arguments of memory_reconstruct."""

    query: Annotated[Question | None, Field(description="A whole question that names people; none: the newest.")] = None
    limit: Annotated[
        StrictInt | None,
        Field(
            ge=1, le=200, description="Default 12; 20 suits short messages. With all or overview: what fits max_tokens."
        ),
        "a whole number from 1 to 200",
    ] = None
    max_tokens: MaxTokens = 2000
    mode: Annotated[
        Mode,
        Field(description="all: a line for each thing that bears on it, as for lists and orders; overview: summaries."),
        f"one of {', '.join(get_args(Mode))}",
    ] = "auto"
    cursor: Annotated[str | None, Field(description="next_cursor of the page before.")] = None
    since: Annotated[Time | None, Field(description="ISO date or time from which it was said or happened.")] = None
    until: Annotated[Time | None, Field(description="Before this time, or to the end of this date.")] = None
    as_of: AsOf = None
    entities: Annotated[list[Name] | None, Field(description="Names that the query lacks."), NAMES] = None
    wordings: Annotated[
        list[Wording] | None,
        Field(description="Up to 4 sentences that may tell the answer, as its speaker would, in their language."),
        NAMES,
    ] = None
    role: Annotated[Role | None, Field(description="Who said it."), f"one of {', '.join(get_args(Role))}"] = None
    include_uncertain: Annotated[StrictBool, Field(description="Also unconfirmed facts.")] = False
    max_turns: Annotated[StrictInt | None, Field(ge=1, le=16), "a whole number from 1 to 16"] = None
    detail: Detail = "brief"
    space: SpaceName = None
    spaces: Annotated[list[str] | None, Field(description="Several at once, in place of space."), SPACES] = None


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


def recall_request(args: ReconstructInput) -> tuple[Query, tuple[str, ...]]:
    """Return the query of a call, and the spaces that it names together, each once; none if it asks one.

    The text of the query is empty where the newest records are wanted.

    Raises:
        InvalidInput: an argument is wrong.
    """
    if args.query is None and args.wordings is not None:
        raise InvalidInput("wordings", "stand beside a query, and there is none", "Give the question as query.")
    query = Query(
        args.query or "",
        allowed_space(args.space),
        args.limit or DEFAULT_LIMIT,
        parse_window(args.since, args.until),
        as_of=moment_of(args.as_of),
        entities=tuple(args.entities or ()),
        parts=tuple(map(Query, dict.fromkeys(args.wordings or ())))[:MOST_WORDINGS],
        role=args.role,
        include_uncertain=args.include_uncertain,
        mode=args.mode,
        lines=args.limit or 0,
        max_turns=args.max_turns,
    )
    if args.cursor is not None:
        query = _on_page(query, args.cursor)
    if args.spaces is None:
        return query, ()
    if args.space is not None:
        raise InvalidInput("spaces", "stands in place of space, and both were given", "Give one of them.")
    if args.mode in ("all", "overview") or args.cursor is not None:
        remedy = "Ask each space by itself, or leave mode and cursor out."
        raise InvalidInput("mode", f"{args.mode} lists one space at a time", remedy)
    spaces = (allowed_space(name, f"spaces[{place}]") for place, name in enumerate(args.spaces))
    return query, tuple(dict.fromkeys(spaces))


def listing_of(query: Query) -> str:
    """Return a digest of what a broad recall lists; pages belong together that have the same."""
    wordings = tuple(part.text for part in query.parts)
    asked = (query.text, query.space, query.window, query.as_of, query.entities, wordings, query.role)
    return blake2b(repr((*asked, query.include_uncertain)).encode(), digest_size=4).hexdigest()


def _on_page(query: Query, cursor: str) -> Query:
    """Return the query for the page that a cursor names.

    Raises:
        InvalidInput: it is no cursor of a reply, or that of another recall, or the recall has no pages.
    """
    if query.mode == "best" or not query.text:
        raise InvalidInput("cursor", "only a recall with mode all or overview has pages", "Leave it out.")
    if (found := _CURSOR.fullmatch(cursor.strip())) is None:
        remedy = "Give next_cursor as the reply before has it, with the same query."
        raise InvalidInput("cursor", f"{shown(cursor)} is no cursor", remedy)
    mode: Mode = "all" if found[1] == "all" else "overview"
    if found[3] != listing_of(query) or query.mode not in ("auto", mode):
        same = "query, space, mode, since, until, as_of, entities, wordings, role and include_uncertain"
        remedy = f"Give the same {same} as for the page before, or leave cursor out."
        raise InvalidInput("cursor", f"{shown(cursor)} is that of another recall", remedy)
    return replace(query, mode=mode, skip=int(found[2]))


def answer_query(args: AnswerInput) -> Query:
    """Return the query of a call.

    Raises:
        InvalidInput: an argument is wrong.
    """
    space = allowed_space(args.space)
    learn = args.learn and CALLER.get().may(("write",), space)
    return Query(args.question, space, args.limit, as_of=moment_of(args.as_of), learn=learn, length=args.length)


class _Beside:
    """What a reply says of a recall beside its evidence: each list within its share of ``max_tokens``.

    Attributes:
        missing: what is missing.
        warnings: of the recall.
        fields: the episode, conflicts, and with full detail how the evidence was found, for the structured part.
        conflicts: the conflicts, as lines.
        details: how the evidence was found, as lines.
        episode: the line that names the episode, if there is one.
    """

    def __init__(self, recall: RecallResult, max_tokens: int, detail: DetailLevel) -> None:
        self.missing = fit_share(recall.missing, "missing", max_tokens)
        self.warnings = fit_share(recall.warnings, "warnings", max_tokens)
        conflicts = fit_share(recall.conflicts, "conflicts", max_tokens)
        self.fields: dict[str, Any] = {"episode": recall.episode, "conflicts": conflicts}
        self.conflicts = [f"Conflict: {one_line(conflict)}" for conflict in conflicts]
        self.details = self._add_details(recall, max_tokens) if detail == "full" else []
        self.episode = [f"Episode {recall.episode}"] if recall.episode else []

    def _add_details(self, recall: RecallResult, max_tokens: int) -> list[str]:
        """Add how the evidence was found to the fields, and return the same as lines."""
        from mcp_memory.navigation.paths import serialise  # reads word lists that a first reply need not wait for

        fields = self.fields
        fields["roots"] = fit_share([row(root, "name", "intent") for root in recall.roots], "roots", max_tokens)
        fields["paths"] = fit_share([serialise(path) for path in recall.paths], "paths", max_tokens)
        fields["next"] = fit_share(list(map(step_row, recall.next)), "next", max_tokens)
        lines = [*(f"Path: {one_line(path)}" for path in fields["paths"]), *map(next_line, fields["next"])]
        if recall.stop is not None:
            turns, calls = quantity(recall.turns, "turn"), quantity(len(recall.trace), "step")
            lines.append(f"Looked on for {turns}, {calls}: {recall.stop}.")
            fields["stop_reason"] = recall.stop
            calls_made = [row(call, "turn", "operator", "args", "found", "kept") for call in recall.trace]
            fields["trace"] = fit_share(calls_made, "trace", max_tokens)
        spent = {"turns": recall.turns, "calls": len(recall.trace), "texts": recall.texts, "rounds": recall.rounds}
        fields["budget"] = spent | {"claude": spent_row(recall.spent)}
        return lines


def recall_reply(
    recall: RecallResult,
    max_tokens: int,
    detail: DetailLevel = "brief",
    *,
    question: str | None = None,
    listing: str = "",
) -> Reply:
    """Return the reply to a recall: as much of the evidence as fits, and each list beside it within its share.

    Args:
        recall: the result.
        max_tokens: of the text and of the structured part, each; the text, which has fewer fields, mostly shows more of
            the evidence.
        detail: whether paths and steps are shown, and every record whole.
        question: what was asked, by which `dossier_lines` chooses what is shown whole; None for all.
        listing: what a cursor is bound to, by `listing_of`.
    """
    beside, broad, most = _Beside(recall, max_tokens, detail), recall.breadth != "best", len(recall.evidence)
    all_points: list[dict[str, Any]] = [
        {"id": one.id, "text": one.description, "entities": one.entities} for one in recall.points
    ]
    points = fit_share(all_points, "points", max_tokens)
    all_wishes: list[dict[str, Any]] = [
        {"id": one.id, "text": as_said(one), "space": one.space} for one in recall.wishes
    ]
    wishes = fit_share(all_wishes, "wishes", max_tokens)
    told = list(beside.warnings)
    if unseen := len(all_wishes) - len(wishes):
        told.append(f"{unseen} older of the standing wishes left out: the resource memory://SPACE/wishes has all.")

    def cursor(number: int) -> str | None:
        """Return the cursor of the next page; None where the recall has no pages, or no more of them."""
        seen = recall.skipped + number
        more = broad and recall.total and number > 0 and seen < recall.total
        return f"{recall.breadth}-{seen}-{listing}" if more else None

    def warnings(number: int) -> list[str]:
        """Return the warnings, with one of what is left out unless another page has it."""
        if cursor(number):
            return told
        roomy = not broad and max_tokens >= ROOMY_TOKENS
        more = 'give more, or page through them with mode "all"' if roomy else ""
        return [*told, *omission_warning(most - number, more)]

    def text(number: int) -> Reply:
        items = recall.evidence[:number]
        ids = {item.id for item in items}
        lines = [
            *(f"Standing wish{in_parentheses(space_of(one))}: {as_said(one)}" for one in recall.wishes[: len(wishes)]),
            *beside.conflicts,
            *dossier_lines(items, lines=broad, question=None if detail == "full" else question),
            *(f"Memory point {one['id']}: {one_line(one['text'], ' / ')}" for one in points if one["id"] not in ids),
            *beside.details,
            *([_page_line(recall, number, cursor(number))] if broad else ()),
            *_judgement_lines(recall, beside.missing),
            *warning_lines(warnings(number)),
            *beside.episode,
        ]
        return Reply("\n".join(lines), {})

    def fields(number: int) -> Reply:
        reply = reply_of(
            (),
            evidence=list(map(evidence_row, recall.evidence[:number])),
            mode=recall.breadth,
            total=recall.total,
            next_cursor=cursor(number),
            points=points,
            wishes=wishes or None,
            sufficient=recall.sufficient,
            sufficiency=round_score(recall.sufficiency),
            sufficiency_by=recall.sufficiency_by,
            missing=beside.missing,
            engine=recall.engine,
            warnings=warnings(number),
            **beside.fields,
        )
        reply.structured.setdefault("sufficiency", None)  # as the answer of memory_answer, null where there is none
        return reply

    said, found = (fit_items(part, 0, most, max_tokens) or part(0) for part in (text, fields))
    return Reply(said.text, found.structured)


def likely(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the records up to where their score drops below `LIKELY_SHARE`, at least three."""
    least = LIKELY_SHARE * sum(item.score for item in evidence[:3]) / 3
    many = next((place for place, item in enumerate(evidence) if place >= 3 and item.score < least), len(evidence))
    return tuple(evidence[:many])


def _judgement_lines(recall: RecallResult, missing: Sequence[str]) -> list[str]:
    """Return whether the evidence is enough, where anybody judged that, and which names no record has, as lines."""
    named = ", ".join(map(one_line, missing))
    if recall.sufficiency_by == "nobody" or recall.sufficiency is None:
        return [f"In no record: {named}."] if missing else []
    who = {"anthropic": "Claude", "caller": "a caller"}[recall.sufficiency_by]
    enough = "Enough" if recall.sufficient else "Not enough"
    lacking = f"; missing: {named}" if missing else ""
    return [f"{enough} to answer from, as {who} judged (sufficiency {recall.sufficiency:.2f}{lacking})."]


def _page_line(recall: RecallResult, number: int, cursor: str | None) -> str:
    """Return how many lines of a broad recall a page shows, how to get the next, and that more may have been told.

    How much bears on a question is what memory found; nobody knows what was told of it in other words.
    """
    before = f" after the {recall.skipped} before" if recall.skipped else ""
    what = "an overview, by relevance" if recall.breadth == "overview" else "by relevance"
    if cursor:
        more = f'for more ask again with mode "{recall.breadth}" and cursor "{cursor}"'
        return f"Shown: {number}{before} of at least {recall.total or 0}, {what}; {more}."
    return f"Shown: all {number} found{before}, {what}; more may be said in other words."


def answer_reply(
    answer: AnswerResult, max_tokens: int, detail: DetailLevel = "brief", *, question: str | None = None
) -> Reply:
    """Return the reply to a question: the answer with its citations first, then as many records as fit.

    The records are shown as in a recall (`recall_reply`).

    Raises:
        InvalidInput: the answer with the one citation that it needs is longer than ``max_tokens``.
    """
    recall, citations = answer.recall, answer.citations
    beside = _Beside(recall, max_tokens, detail)
    closest = fit_share(list(map(_closest_row, answer.closest)), "closest", max_tokens)
    broad, question = recall.breadth != "best", None if detail == "full" else question
    least, most = min(len(citations), 1), len(citations) + len(recall.evidence)

    def render(number: int) -> Reply:
        """Return the reply with so many citations, and then records."""
        cited, items = citations[:number], recall.evidence[: max(number - len(citations), 0)]
        warnings = [*beside.warnings, *omission_warning(most - number)]
        abstention = _no_answer_lines(answer.confidence, beside.missing, told=bool(items))
        lines = [
            *(abstention if answer.text is None else _answer_lines(answer, cited)),
            *beside.conflicts,
            *(dossier_lines(items, lines=broad, question=question) if items else ()),
            *beside.details,
            *warning_lines(warnings),
            *beside.episode,
        ]
        reply = reply_of(
            lines,
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
            **beside.fields,
        )
        reply.structured.setdefault("answer", None)  # the one field that is null in a reply
        return reply

    fitting = fit_items(render, least, most, max_tokens)
    if fitting is None:
        # of what an answer shows beside its citations
        shares = sum(SHARES.values()) - SHARES["points"] - SHARES["wishes"] - SHARES["closest"]
        needed = int(render(least).tokens / (1 - shares)) + 1
        raise InvalidInput("max_tokens", f"{max_tokens} do not hold the answer", f"Give at least {needed}.")
    return fitting


def _closest_row(said: Source) -> dict[str, Any]:
    place = source_row(said.turn)
    return {"text": said.quote, "speaker": said.turn.speaker, "time": place.get("time")} | {
        "source": {"id": place["id"], "session": place["session"]}
    }


def _answer_lines(answer: AnswerResult, cited: Sequence[Citation]) -> list[str]:
    """Return an answer with its citations as lines; by the number of a record memory_evolve knows it."""
    numbers = {item.id: f"record {number} " for number, item in enumerate(answer.recall.evidence, 1)}
    hedge = ", uncertain" if answer.hedged else ""
    said = in_quotes(indent(answer.text or ""))
    lines = [f"Answer: {said} (confidence {answer.confidence or 0:.2f}{hedge})", "Because of:"]
    for one in cited:
        turn = one.source.turn
        quote = in_quotes(indent(with_dates(one.source.quote, turn.local_said_at)))
        lines.append(f"- {numbers.get(one.evidence_id, '')}{said_in(turn)} {quote}")
    return lines


def _no_answer_lines(confidence: float | None, missing: Sequence[str], *, told: bool) -> list[str]:
    """Return an abstention as lines, with what is missing; ``told`` says whether records follow."""
    if confidence is None:
        return ["No answer: no certain fact says it." + " Judge yourself whether what was said answers." * told]
    lines = [f"No answer: memory does not say it surely enough (confidence {confidence:.2f})."]
    return lines + [f"Missing, in the judge's words: {'; '.join(map(one_line, missing))}."] * bool(missing)


async def reconstruct(
    memory: Memory, asked: tuple[Query, tuple[str, ...]], args: ReconstructInput, _progress: Progress
) -> Reply:
    """Recall, from one space or from several."""
    query, spaces = asked
    recall = await (memory.reconstruct_across(query, spaces) if spaces else memory.reconstruct(query))
    if args.limit is None and args.query is not None and recall.breadth == "best":
        recall = replace(recall, evidence=likely(recall.evidence))
    if (given := len(set(args.wordings or ()))) > MOST_WORDINGS:
        warning = f"Of {given} wordings the first {MOST_WORDINGS} were looked for."
        recall = replace(recall, warnings=(*recall.warnings, warning))
    return recall_reply(recall, args.max_tokens, args.detail, question=query.text, listing=listing_of(query))


async def answer(memory: Memory, query: Query, args: AnswerInput, _progress: Progress) -> Reply:
    """Answer a question."""
    return answer_reply(await memory.answer(query), args.max_tokens, args.detail, question=query.text)
