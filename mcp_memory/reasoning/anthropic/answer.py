"""Claude as the judge of answers: it answers and cites, or says what is missing and where to look (DESIGN L10 and L6).

It sees the question and what recall found, and names the numbers of what its answer rests on. Numbers that nobody gave
it are dropped; an answer that is left without any is refused (DESIGN 4 step 3). What it cites is quoted from the stored
turns, so a citation is never the model's own words, and it is what the model says supports the answer: GAM-RAG's
feedback labels need no call of their own. An answer that rests on guesses, on what is not sure, or on what the user
called wrong for the question is hedged, whatever the model says of itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mcp_memory.domain.answers import Judgement, Proposal
from mcp_memory.domain.evidence import Citation, Suggestion
from mcp_memory.errors import EngineError
from mcp_memory.language import iso
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.anthropic.client import Budget, Claude, Request, estimate_tokens
from mcp_memory.reasoning.anthropic.rendering import (
    CitableItem,
    RenderedEvidence,
    normalise_number,
    one_line,
    render_evidence,
)
from mcp_memory.reasoning.anthropic.replies import UnusableReply
from mcp_memory.texts import prompt

FIRST_SHARE, LATER_SHARE = 0.4, 0.6
"""Of the tokens that are left, what the first judgement takes at most, and each later one: the rest is for asking again
what it misses."""
ENOUGH = 2_000
"""Tokens below which a judgement sees too little where much was spent before: it may take these as far as
`FIRST_AT_MOST` of what is left, or, a later one, all of it. (Measured with a judge that is always right over questions
of several hops: without it 5 of 60 ended without an answer, and none with it.)"""
FIRST_AT_MOST = 0.6
FORM_TOKENS = 310
"""What the schema of `AnswerReply` takes of them, which is sent with every request."""
WORDS = 25
"""Of an answer, at most."""
MISSING = 5
"""Things that are named as missing, at most."""
QUERIES = 3
"""Searches that are proposed, at most; and so many names whose facts are asked for."""


class AnswerReply(BaseModel):
    """A judgement."""  # sent with the schema; what the fields mean is said in the prompt, once

    model_config = ConfigDict(extra="forbid", strict=True)

    answerable: bool
    answer: Annotated[str, Field(max_length=400)]
    supports: Annotated[list[Annotated[str, Field(max_length=12)]], Field(max_length=12)]
    confidence: Annotated[float, Field(ge=0, le=1)]
    hedged: bool
    missing: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=10)]
    look_for: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=10)]
    names: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=10)]


@dataclass(frozen=True, slots=True)
class ClaudeAnswerer:
    """Asks Claude; raises `EngineError` where that fails, so `reasoning.judging` stands between it and the service."""

    claude: Claude

    async def judge(self, case: JudgeInput, budget: Budget) -> Judgement:
        """Return Claude's judgement.

        Raises:
            EngineError: there is none.
        """
        stable = prompt("answer/system.txt").substitute().strip()
        values = {"question": one_line(case.query.text, 2_000), "now": iso.show(case.knowledge.moment) or "unknown"}
        frame = estimate_tokens(stable) + estimate_tokens(prompt("answer/asked.txt").substitute(values, evidence=""))
        rendered = render_evidence(case, token_room(budget.left, first=case.earlier is None) - frame)
        if not rendered.cited:
            raise EngineError("the budget leaves no room for evidence")
        request = Request(stable, prompt("answer/asked.txt").substitute(values, evidence=rendered.text))
        return await self.claude.ask(request, AnswerReply, lambda reply: to_judgement(reply, rendered), budget)


def token_room(left: int, *, first: bool) -> int:
    """Return the tokens that a judgement may take without its form, of those that are left for the question."""
    if first:
        return int(max(FIRST_SHARE * left, min(FIRST_AT_MOST * left, ENOUGH)))
    return int(max(LATER_SHARE * left, min(left - FORM_TOKENS, ENOUGH)))


def to_judgement(reply: AnswerReply, rendered: RenderedEvidence) -> Judgement:
    """Return what a reply comes to.

    Raises:
        Unusable: it answers without words, in too many, or without citing anything that was shown.
    """
    numbers = dict.fromkeys(map(normalise_number, reply.supports))
    if not reply.answerable:
        left = frozenset(one.key for number, one in rendered.cited.items() if number not in numbers)
        kept = _citations(rendered.cited[number] for number in numbers if number in rendered.cited)
        return Judgement(None, "anthropic", _distinct_lines(reply.missing, MISSING), _suggestions(reply), left, kept)
    text = one_line(reply.answer)
    if not text:
        raise UnusableReply("its answer had no words", "answerable is true, but answer is empty.")
    if len(text.split()) > WORDS:
        raise UnusableReply("its answer was too long", f"answer has more than {WORDS} words.")
    items = [rendered.cited[number] for number in numbers if number in rendered.cited]
    if not items:
        raise UnusableReply(
            "its answer cited nothing that was shown to it" if numbers else "its answer cited nothing",
            "supports has to name at least one number of the evidence, such as S1.",
        )
    proposal = _proposal(text, reply, items)
    return Judgement(proposal, "anthropic", kept=proposal.citations)


def _suggestions(reply: AnswerReply) -> tuple[Suggestion, ...]:
    """Return what an abstaining judge wants to be looked up."""
    why = "Claude asked for it."
    searches = [Suggestion("search", {"query": line}, why) for line in _distinct_lines(reply.look_for, QUERIES)]
    return (
        *searches,
        *(Suggestion("expand_facts", {"entity": line}, why) for line in _distinct_lines(reply.names, QUERIES)),
    )


def _distinct_lines(texts: list[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for one in texts if (line := one_line(one))))[:most]


def _proposal(text: str, reply: AnswerReply, items: list[CitableItem]) -> Proposal:
    hedged = reply.hedged or not all(one.certain for one in items)
    return Proposal(text, reply.confidence, hedged, _citations(items), min(one.gate for one in items))


def _citations(items: Iterable[CitableItem]) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(citation for one in items for citation in one.citations))
