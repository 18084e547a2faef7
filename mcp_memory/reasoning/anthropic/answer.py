"""Claude as the judge of answers: it answers and cites, or names what is missing and where to search (DESIGN L10, L6).

It sees the question and the evidence, and names the numbers of what its answer rests on. Unknown numbers are dropped;
an answer without any citation is refused (DESIGN 4 step 3). Citations are quoted from the stored turns, so they are
never the model's own words. They also name what supports the answer according to the model, so GAM-RAG's feedback
labels need no separate call. An answer that rests on hypotheses, on uncertain facts, or on evidence that the user
marked as wrong for the question is hedged, even if the model is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mcp_memory.domain.answers import Judgement, Proposal
from mcp_memory.domain.evidence import Citation, Suggestion
from mcp_memory.domain.query import Length
from mcp_memory.errors import EngineError
from mcp_memory.language import iso
from mcp_memory.language.dated_text import weekday_and_day
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.anthropic.client import Budget, Claude, Request, estimate_tokens
from mcp_memory.reasoning.anthropic.evidence import render_evidence
from mcp_memory.reasoning.anthropic.rendering import CitableItem, RenderedEvidence, normalise_number, one_line
from mcp_memory.reasoning.anthropic.replies import UnusableReply
from mcp_memory.texts import prompt

FIRST_SHARE, LATER_SHARE = 0.5, 0.7
"""Largest share of the tokens that are left that the first judgement takes, and each later one. The rest allows asking
again about what is missing."""
ENOUGH = 2_600
"""Tokens below which a judgement sees too little. Where much was already spent, a judgement may take these up to
`FIRST_AT_MOST` of what is left, a later one up to all of it. (Measured with a judge that is always right over questions
of several hops: without it 5 of 60 ended without an answer, and none with it.)"""
FIRST_AT_MOST = 0.6
FORM_TOKENS = 390
"""Tokens of the schema of `AnswerReply`, which every request carries."""
WORDS = 25
"""Most words of an answer."""
FULL_WORDS = 300
"""Most words of a full answer, and"""
FULL_CHARS = 2_400
"""most characters of one line of it."""
_NUMBER = re.compile(r"\b[PSF]\d+\b")
_CITED = re.compile(r" ?\[(?:[PSF]\d+[,; ]*)+\]")
MISSING = 5
"""Most missing things that are named."""
QUERIES = 3
"""Most searches that are proposed, most names whose facts are requested, and most steps."""
SUPPORTS = 12
"""Most numbers that are taken as what an answer rests on."""
TRIED = 8
"""Steps that were taken and are named, the last ones."""
WAYS = 5
"""Steps that the embedded policy suggests and that are named."""
ON = {
    "event_context": "ids",
    "tag_events": "entity",
    "topic_events": "topic",
    "personal_information": "entity",
    "personal_aspect": "entity",
    "versions": "entity",
    "timeline": "entity",
    "local_points": "ids",
    "global_points": "query",
}
"""The operators that are offered to Claude (MRAgent's, REAL's and HGMem's), each with what ``on`` means for it."""
TAGGED = ("tag_events", "personal_aspect")
"""Operators that take a tag as well."""
_WHY = "Claude asked for it."


class StepReply(BaseModel):
    """A step."""

    model_config = ConfigDict(extra="forbid", strict=True)

    operator: str
    on: str
    tag: str


class AnswerReply(BaseModel):
    """A judgement."""  # sent with the schema; what the fields mean is said in the prompt, once

    # No lengths: a list or an answer that is too long is cut, since the rest of the reply is worth having.
    model_config = ConfigDict(extra="forbid", strict=True)

    reasoning: str
    answerable: bool
    incomplete: bool
    answer: str
    supports: list[str]
    confidence: Annotated[float, Field(ge=0, le=1)]
    hedged: bool
    wrong_premise: str
    missing: list[str]
    look_for: list[str]
    names: list[str]
    steps: list[StepReply]


@dataclass(frozen=True, slots=True)
class ClaudeAnswerer:
    """Asks Claude for an answer. `reasoning.judges` handles its `EngineError`."""

    claude: Claude

    async def judge(self, judge_input: JudgeInput, budget: Budget) -> Judgement:
        """Return Claude's judgement.

        Raises:
            EngineError: there is none.
        """
        length = judge_input.query.length
        wanted = prompt(f"answer/{length}.txt").substitute().strip()
        stable = prompt("answer/system.txt").substitute(answer=wanted).strip()
        values = {
            "question": one_line(judge_input.query.text, 2_000),
            "now": iso.show(judge_input.known_facts.moment) or "unknown",
            "state": state_lines(judge_input),
        }
        frame = estimate_tokens(stable) + estimate_tokens(prompt("answer/asked.txt").substitute(values, evidence=""))
        rendered = render_evidence(judge_input, token_room(budget.left, first=judge_input.earlier is None) - frame)
        if not rendered.cited:
            raise EngineError("the budget leaves no room for evidence")
        request = Request(stable, prompt("answer/asked.txt").substitute(values, evidence=rendered.text))
        return await self.claude.ask(request, AnswerReply, lambda reply: to_judgement(reply, rendered, length), budget)


def token_room(left: int, *, first: bool) -> int:
    """Return the tokens for a judgement without its form, out of those left for the question."""
    if first:
        return int(max(FIRST_SHARE * left, min(FIRST_AT_MOST * left, ENOUGH)))
    return int(max(LATER_SHARE * left, min(left - FORM_TOKENS, ENOUGH)))


def state_lines(judge_input: JudgeInput) -> str:
    """Return what a judge has to know beside the evidence: its span of time, what was tried, how to go on."""
    lines = []
    if judge_input.span is not None:
        first, last = map(weekday_and_day, judge_input.span)
        lines.append(f"The memory holds what was said from {first} to {last}.")
    if judge_input.recall.trace and judge_input.earlier:
        tried = [" ".join((call.operator, *map(_argument, call.args.values()))) for call in judge_input.recall.trace]
        lines.append(f"Searched already: {'; '.join(dict.fromkeys(tried[-TRIED:]))}.")
    if judge_input.earlier and judge_input.earlier.missing:
        lines.append(f"Missing last time: {'; '.join(map(one_line, judge_input.earlier.missing))}.")
    ways = [_way(step) for step in judge_input.recall.next if step.operator in ON or step.operator == "expand_facts"]
    if ways:
        lines.append(f"Ways to go on: {'; '.join(ways[:WAYS])}.")
    return "\n".join(lines)


def _way(step: Suggestion) -> str:
    values = [_argument(value) for name, value in step.args.items() if name not in ("ids", "space")]
    return one_line(" ".join((step.operator, *values)), 100)


def _argument(value: object) -> str:
    return one_line(" ".join(map(str, value)) if isinstance(value, tuple | list) else str(value), 80)


def to_judgement(reply: AnswerReply, rendered: RenderedEvidence, length: Length = "short") -> Judgement:
    """Return the judgement that a reply gives; what is too long in it is cut.

    Raises:
        UnusableReply: the answer is empty, or cites nothing that was shown.
    """
    stated = _NUMBER.findall(reply.answer) if length == "full" else []
    numbers = dict.fromkeys([*stated, *map(normalise_number, reply.supports[:SUPPORTS])])
    cited = [rendered.cited[number] for number in numbers if number in rendered.cited]
    kept = _citations(cited)
    left = frozenset(key for number, item in rendered.cited.items() if number not in numbers for key in item.keys)
    missing = _distinct_lines([reply.wrong_premise, *reply.missing], MISSING)
    if not reply.answerable:
        return Judgement(None, "anthropic", missing, _suggestions(reply, rendered), left, kept)
    text = _full(reply.answer, rendered, kept) if length == "full" else _first_words(one_line(reply.answer), WORDS)
    if not text:
        raise UnusableReply("its answer had no words", "answerable is true, but answer is empty.")
    if not kept:
        raise UnusableReply(
            "its answer cited nothing that was shown to it" if numbers else "its answer cited nothing",
            "supports has to name at least one number of the evidence, such as S1.",
        )
    proposal = _proposal(text, reply, cited)
    more = _suggestions(reply, rendered) if reply.incomplete else ()
    return Judgement(proposal, "anthropic", missing if more else (), more, left, kept)


def _first_words(text: str, most: int) -> str:
    return " ".join(text.split()[:most])


def _full(answer: str, rendered: RenderedEvidence, citations: Sequence[Citation]) -> str:
    """Return a full answer line by line, with the places of its citations, ``[1, 3]``, for the numbers it was shown."""
    places = {citation: place for place, citation in enumerate(citations, 1)}

    def cite(found: re.Match[str]) -> str:
        items = [rendered.cited[number] for number in _NUMBER.findall(found[0]) if number in rendered.cited]
        numbers = dict.fromkeys(places[item.citations[0]] for item in items if item.citations)
        return f" [{', '.join(map(str, numbers))}]" if numbers else ""

    lines = (one_line(_CITED.sub(cite, line), FULL_CHARS) for line in answer.splitlines())
    left = FULL_WORDS
    kept = []
    for line in filter(None, lines):
        kept.append(_first_words(line, left))
        left -= len(line.split())
        if left <= 0:
            break
    return "\n".join(kept)


def _suggestions(reply: AnswerReply, rendered: RenderedEvidence) -> tuple[Suggestion, ...]:
    """Return the steps that a judge asks for; one that cannot be taken is left out."""
    steps = [step for one in reply.steps[:QUERIES] if (step := _step(one, rendered))]
    searches = [Suggestion("search", {"query": line}, _WHY) for line in _distinct_lines(reply.look_for, QUERIES)]
    names = [Suggestion("expand_facts", {"entity": line}, _WHY) for line in _distinct_lines(reply.names, QUERIES)]
    return (*steps, *searches, *names)


def _step(reply: StepReply, rendered: RenderedEvidence) -> Suggestion | None:
    """Return an operator's step with the arguments that it takes; None for one that is not offered."""
    on, tag = one_line(reply.on, 200), one_line(reply.tag, 100)
    argument = ON.get(reply.operator)
    if argument is None or not on:
        return None
    if argument == "ids":
        item = rendered.cited.get(normalise_number(on))
        if item is None or not item.citations:
            return None
        return Suggestion(reply.operator, {"ids": (item.citations[0].evidence_id,)}, _WHY)
    args: dict[str, str | tuple[str, ...]] = {argument: on}
    if tag and reply.operator in TAGGED:
        args["tag"] = tag
    return Suggestion(reply.operator, args, _WHY)


def _proposal(text: str, reply: AnswerReply, items: list[CitableItem]) -> Proposal:
    hedged = reply.hedged or not all(item.certain for item in items)
    return Proposal(text, reply.confidence, hedged, _citations(items), min(item.gate for item in items))


def _citations(items: Iterable[CitableItem]) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(citation for item in items for citation in item.citations))


def _distinct_lines(texts: list[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for text in texts if (line := one_line(text))))[:most]
