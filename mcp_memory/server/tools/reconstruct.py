"""memory_reconstruct: recall evidence for a query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field, StrictBool, StrictInt

from mcp_memory.domain.evidence import Evidence, RecallResult
from mcp_memory.domain.query import Detail as DetailLevel
from mcp_memory.domain.query import Mode, Query
from mcp_memory.domain.turns import Role
from mcp_memory.errors import InvalidInput
from mcp_memory.server.tools.arguments import (
    NAMES,
    AsOf,
    Detail,
    Input,
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
from mcp_memory.server.tools.replies import (
    RecallParts,
    Reply,
    evidence_row,
    fit_items,
    fit_share,
    omission_warning,
    reply_of,
    round_score,
    warning_lines,
)
from mcp_memory.visible import one_line

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress


LIMIT = 12
"""Items of evidence where the call states no number and the recall is not broad."""
SPACES = at_most(8)
"""Spaces that a call may name; each costs a recall."""
WORDINGS = 4
"""Other wordings of a query that a call may bring; each costs one more search."""


_CURSOR = re.compile(r"(all|overview)-([0-9]{1,7})-([0-9a-f]{8})")
"""The breadth of a recall, how many items the pages before have shown, and the digest of what it lists."""
LIKELY = 0.5
"""Share of the mean score of the best three records below which no record follows, where the call states no limit.

Measured on five sets (1,701 questions), on halves: it keeps 99.0 to 100 of 100 of the gold among the first twelve. It
leaves out 40 of 100 records among articles, but 1 to 4 in talk, whose scores lie too near to each other to choose by.
"""
ROOMY = 400
"""``max_tokens`` from which on a warning has room to say how to get what was left out."""


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


def recall_query(args: ReconstructInput) -> Query:
    """Return the query of a call; its text is empty where the newest records are wanted.

    Raises:
        InvalidInput: an argument is wrong.
    """
    if args.query is None and args.wordings is not None:
        raise InvalidInput("wordings", "stand beside a query, and there is none", "Give the question as query.")
    query = Query(
        args.query or "",
        allowed_space(args.space),
        args.limit or LIMIT,
        parse_window(args.since, args.until),
        as_of=moment_of(args.as_of),
        entities=tuple(args.entities or ()),
        wordings=tuple(dict.fromkeys(args.wordings or ()))[:WORDINGS],
        role=args.role,
        include_uncertain=args.include_uncertain,
        mode=args.mode,
        lines=args.limit or 0,
        max_turns=args.max_turns,
    )
    return query if args.cursor is None else _on_page(query, args.cursor)


def listing_of(query: Query) -> str:
    """Return a digest of what a broad recall lists; pages belong together that have the same."""
    asked = (query.text, query.space, query.window, query.as_of, query.entities, query.wordings, query.role)
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


def asked_spaces(args: ReconstructInput) -> tuple[str, ...]:
    """Return the spaces that a call names together, each once; empty if it asks one.

    Raises:
        InvalidInput: there are too many, one is no name, or a single space is named beside them.
    """
    if args.spaces is None:
        return ()
    if args.space is not None:
        raise InvalidInput("spaces", "stands in place of space, and both were given", "Give one of them.")
    if args.mode in ("all", "overview") or args.cursor is not None:
        remedy = "Ask each space by itself, or leave mode and cursor out."
        raise InvalidInput("mode", f"{args.mode} lists one space at a time", remedy)
    return tuple(dict.fromkeys(allowed_space(name, f"spaces[{place}]") for place, name in enumerate(args.spaces)))


class RecallPage:
    """A recall as a reply shows it: as much of the evidence as fits, and each list beside it within its share.

    Args:
        recall: the result.
        max_tokens: of the text and of the structured part, each; the text, which has fewer fields, mostly shows more of
            the evidence.
        detail: whether paths and steps are shown.
        code: whether the text shows the blocks of code of the best records whole.
        asked: the stems of the question's content, by which `dossier_lines` chooses such blocks.
        listing: what a cursor is bound to, by `listing_of`.
    """

    def __init__(
        self,
        recall: RecallResult,
        max_tokens: int,
        detail: DetailLevel = "brief",
        *,
        code: bool = True,
        asked: AbstractSet[str] = frozenset(),
        listing: str = "",
    ) -> None:
        from mcp_memory.language.wishes import as_said

        self._recall, self._max_tokens = recall, max_tokens
        self._code, self._asked, self._listing = code, asked, listing
        self._beside = RecallParts(recall, max_tokens, detail)
        points: list[dict[str, Any]] = [
            {"id": one.id, "text": one.description, "entities": one.entities} for one in recall.points
        ]
        self._points = fit_share(points, "points", max_tokens)
        wishes: list[dict[str, Any]] = [
            {"id": one.id, "text": as_said(one), "space": one.space} for one in recall.wishes
        ]
        self._wishes = fit_share(wishes, "wishes", max_tokens)
        self._broad = recall.breadth != "best"

    def reply(self) -> Reply:
        """Return the reply to a call."""
        most = len(self._recall.evidence)  # without evidence it always fits: the rest is bounded
        text = fit_items(lambda number: Reply(self.text(number), {}), 0, most, self._max_tokens)
        fields = fit_items(lambda number: Reply("", self.structured(number)), 0, most, self._max_tokens)
        return Reply(text.text if text else self.text(0), fields.structured if fields else self.structured(0))

    def text(self, number: int) -> str:
        """Return the text with so many records."""
        from mcp_memory.server.tools.dossier import dossier_lines  # its patterns for dates take time

        recall, beside = self._recall, self._beside
        items = recall.evidence[:number]
        ids = {item.id for item in items}
        lines = [
            *(f"Standing wish{_in_space(one['space'])}: {one['text']}" for one in self._wishes),
            *beside.conflict_lines,
            *dossier_lines(items, lines=self._broad, code=self._code, asked=self._asked),
            *(f"Memory point {one['id']}: {one_line(one['text'])}" for one in self._points if one["id"] not in ids),
            *beside.detail_lines,
            *([page_line(recall, number, self._cursor(number))] if self._broad else ()),
            *judgement_lines(recall, beside.missing),
            *warning_lines(self._warnings(number)),
            *beside.episode_line,
        ]
        return "\n".join(lines)

    def structured(self, number: int) -> dict[str, Any]:
        """Return the structured part with so many records."""
        recall = self._recall
        structured = reply_of(
            (),
            episode=recall.episode,
            evidence=list(map(evidence_row, recall.evidence[:number])),
            mode=recall.breadth,
            total=recall.total,
            next_cursor=self._cursor(number),
            points=self._points,
            wishes=self._wishes or None,
            sufficient=recall.sufficient,
            sufficiency=round_score(recall.sufficiency),
            sufficiency_by=recall.sufficiency_by,
            missing=self._beside.missing,
            engine=recall.engine,
            warnings=self._warnings(number),
            **self._beside.fields,
        ).structured
        structured.setdefault("sufficiency", None)  # as the answer of memory_answer, null where there is none
        return structured

    def _cursor(self, number: int) -> str | None:
        """Return the cursor of the next page; None where the recall has no pages, or no more of them."""
        seen = self._recall.skipped + number
        more = self._broad and self._recall.total and number > 0 and seen < self._recall.total
        return f"{self._recall.breadth}-{seen}-{self._listing}" if more else None

    def _warnings(self, number: int) -> list[str]:
        """Return the warnings, with one of what is left out unless another page has it."""
        if self._cursor(number):
            return self._beside.warnings
        roomy = not self._broad and self._max_tokens >= ROOMY
        more = 'give more, or page through them with mode "all"' if roomy else ""
        return [*self._beside.warnings, *omission_warning(len(self._recall.evidence) - number, more)]


def _in_space(space: str | None) -> str:
    """Return the space of a wish that stands in another one; empty if it does not."""
    return f" (space {space})" if space else ""


def likely(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the records up to where their score drops below `LIKELY`, at least three."""
    least = LIKELY * sum(item.score for item in evidence[:3]) / 3
    many = next((place for place, item in enumerate(evidence) if place >= 3 and item.score < least), len(evidence))
    return tuple(evidence[:many])


def judgement_lines(recall: RecallResult, missing: Sequence[str]) -> list[str]:
    """Return whether the evidence is enough, where anybody judged that, and which names no record has, as lines."""
    named = ", ".join(map(one_line, missing))
    if recall.sufficiency_by == "nobody" or recall.sufficiency is None:
        return [f"In no record: {named}."] if missing else []
    who = {"anthropic": "Claude", "caller": "a caller"}[recall.sufficiency_by]
    enough = "Enough" if recall.sufficient else "Not enough"
    lacking = f"; missing: {named}" if missing else ""
    return [f"{enough} to answer from, as {who} judged (sufficiency {recall.sufficiency:.2f}{lacking})."]


def page_line(recall: RecallResult, number: int, cursor: str | None) -> str:
    """Return how many lines of a broad recall a page shows, how to get the next, and that more may have been told.

    How much bears on a question is what memory found; nobody knows what was told of it in other words.
    """
    before = f" after the {recall.skipped} before" if recall.skipped else ""
    what = "an overview, by relevance" if recall.breadth == "overview" else "by relevance"
    if cursor:
        more = f'for more ask again with mode "{recall.breadth}" and cursor "{cursor}"'
        return f"Shown: {number}{before} of at least {recall.total or 0}, {what}; {more}."
    return f"Shown: all {number} found{before}, {what}."


def recall_request(args: ReconstructInput) -> tuple[Query, tuple[str, ...]]:
    """Return the query of a call, and the spaces that it names together."""
    return recall_query(args), asked_spaces(args)


async def run(
    memory: Memory, asked: tuple[Query, tuple[str, ...]], args: ReconstructInput, _progress: Progress
) -> Reply:
    """Recall, from one space or from several."""
    from mcp_memory.language.shapes import asks_for_code  # not before the server's first reply
    from mcp_memory.language.tokens import stems

    query, spaces = asked
    recall = await (memory.reconstruct_across(query, spaces) if spaces else memory.reconstruct(query))
    if args.limit is None and args.query is not None and recall.breadth == "best":
        recall = replace(recall, evidence=likely(recall.evidence))
    if (given := len(set(args.wordings or ()))) > WORDINGS:
        warning = f"Of {given} wordings the first {WORDINGS} were looked for."
        recall = replace(recall, warnings=(*recall.warnings, warning))
    page = RecallPage(
        recall,
        args.max_tokens,
        args.detail,
        code=args.detail == "full" or asks_for_code(query.text),
        asked=frozenset(stems(query.text)),
        listing=listing_of(query),
    )
    return page.reply()
