"""Claude as the judge of answers: it answers and cites, or names what is missing and where to search (DESIGN L10, L6).

It sees the question and the evidence, and names the numbers of what its answer rests on. Unknown numbers are dropped;
an answer without any citation is refused (DESIGN 4 step 3). Citations are quoted from the stored turns, so they are
never the model's own words. They also name what supports the answer according to the model, so GAM-RAG's feedback
labels need no separate call. An answer that rests on hypotheses, on uncertain facts, or on evidence that the user
marked as wrong for the question is hedged, even if the model is certain.
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
"""Largest share of the tokens that are left that the first judgement takes, and each later one. The rest allows asking
again about what is missing."""
ENOUGH = 2_000
"""Tokens below which a judgement sees too little. Where much was already spent, a judgement may take these up to
`FIRST_AT_MOST` of what is left, a later one up to all of it. (Measured with a judge that is always right over questions
of several hops: without it 5 of 60 ended without an answer, and none with it.)"""
FIRST_AT_MOST = 0.6
FORM_TOKENS = 310
"""Tokens of the schema of `AnswerReply`, which every request carries."""
WORDS = 25
"""Most words of an answer."""
MISSING = 5
"""Most missing things that are named."""
QUERIES = 3
"""Most searches that are proposed, and most names whose facts are requested."""


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
    """Asks Claude for an answer. `reasoning.judges` handles its `EngineError`."""

    claude: Claude

    async def judge(self, judge_input: JudgeInput, budget: Budget) -> Judgement:
        """Return Claude's judgement.

        Raises:
            EngineError: there is none.
        """
        stable = prompt("answer/system.txt").substitute().strip()
        values = {
            "question": one_line(judge_input.query.text, 2_000),
            "now": iso.show(judge_input.known_facts.moment) or "unknown",
        }
        frame = estimate_tokens(stable) + estimate_tokens(prompt("answer/asked.txt").substitute(values, evidence=""))
        rendered = render_evidence(judge_input, token_room(budget.left, first=judge_input.earlier is None) - frame)
        if not rendered.cited:
            raise EngineError("the budget leaves no room for evidence")
        request = Request(stable, prompt("answer/asked.txt").substitute(values, evidence=rendered.text))
        return await self.claude.ask(request, AnswerReply, lambda reply: to_judgement(reply, rendered), budget)


def token_room(left: int, *, first: bool) -> int:
    """Return the tokens for a judgement without its form, out of those left for the question."""
    if first:
        return int(max(FIRST_SHARE * left, min(FIRST_AT_MOST * left, ENOUGH)))
    return int(max(LATER_SHARE * left, min(left - FORM_TOKENS, ENOUGH)))


def to_judgement(reply: AnswerReply, rendered: RenderedEvidence) -> Judgement:
    """Return the judgement that a reply gives.

    Raises:
        UnusableReply: the answer is empty, too long, or cites nothing that was shown.
    """
    numbers = dict.fromkeys(map(normalise_number, reply.supports))
    if not reply.answerable:
        left = frozenset(item.key for number, item in rendered.cited.items() if number not in numbers)
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
    """Return the searches that an abstaining judge asks for."""
    why = "Claude asked for it."
    searches = [Suggestion("search", {"query": line}, why) for line in _distinct_lines(reply.look_for, QUERIES)]
    return (
        *searches,
        *(Suggestion("expand_facts", {"entity": line}, why) for line in _distinct_lines(reply.names, QUERIES)),
    )


def _distinct_lines(texts: list[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for text in texts if (line := one_line(text))))[:most]


def _proposal(text: str, reply: AnswerReply, items: list[CitableItem]) -> Proposal:
    hedged = reply.hedged or not all(item.certain for item in items)
    return Proposal(text, reply.confidence, hedged, _citations(items), min(item.gate for item in items))


def _citations(items: Iterable[CitableItem]) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(citation for item in items for citation in item.citations))
