"""Claude as the judge of answers: it answers and cites, or names what is missing and where to search (DESIGN L10, L6).

It sees the question, the evidence, what that leads on to and what was tried, and names the numbers of what its answer
rests on; ``judgements.py`` has the form of its reply. Citations are quoted from the stored turns, so they are never the
model's own words. They also name what supports the answer according to the model, so GAM-RAG's feedback labels need no
separate call. An answer that rests on hypotheses, on uncertain facts, or on evidence that the user marked as wrong for
the question is hedged, even if the model is certain.

For a question that relates things to each other it also keeps memory points (HGMem); no other question pays for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_memory.domain.answers import Judgement
from mcp_memory.domain.evidence import OperatorCall
from mcp_memory.errors import EngineError
from mcp_memory.language import iso
from mcp_memory.language.stated import weekday_and_day
from mcp_memory.ports import JudgeInput
from mcp_memory.reasoning.anthropic.client import Budget, Claude, Request
from mcp_memory.reasoning.anthropic.evidence import render_evidence
from mcp_memory.reasoning.anthropic.judgements import FORM_TOKENS, AnswerReply, RelatingReply, offered, to_judgement
from mcp_memory.reasoning.anthropic.messages import estimate_tokens, prompt_line
from mcp_memory.texts import prompt

FIRST_SHARE = 0.5
"""Share of the tokens that are left for the question which the first judgement takes. The rest allows asking again
about what is missing."""
LEAST = 700
"""Tokens of evidence without which a judgement sees too little: the first one leaves as many for another, beside the
prompt and the form. (With a judge that is always right over questions of several hops, without this bound 5 of 60 ended
without an answer, and none with it.)"""
ANOTHER = 3_000
"""Tokens left below which no further judgement is asked for: what the prompt, the form and `LEAST` take, about."""
LAST = "This is the last look: nothing more is searched. Answer now if you can, hedged where it is uncertain."
"""Said where a judge is not asked again, whatever it asks for."""
MOST = 6_000
"""Tokens that one judgement takes at most: with ``deep`` the rest is for further turns, of which MRAgent has eight."""
BROAD_SHARE = 0.75
"""The same where everything that bears on the question is wanted: one look at more of it before another, which is only
asked where the provider counts fewer tokens than are estimated here."""
TRIED = 8
"""Steps that were taken and are named, the last ones."""


@dataclass(frozen=True, slots=True)
class ClaudeAnswerer:
    """Asks Claude for an answer. `reasoning.judges` handles its `EngineError`.

    Attributes:
        claude: the client.
        points: whether it may make memory points of the question.
        graph: the layers of MRAgent's graph that it walks (`LoopSettings.graph`).
        order: names that a point joins at most.
    """

    claude: Claude
    points: bool = True
    graph: str = "ctc"
    order: int = 12

    async def judge(self, judge_input: JudgeInput, budget: Budget) -> Judgement:
        """Return Claude's judgement.

        Raises:
            EngineError: there is none.
        """
        length, relates = judge_input.query.length, judge_input.relates and self.points
        form = RelatingReply if relates else AnswerReply
        more = ["answer/points.txt"] if relates else []
        more += ["answer/wishes.txt"] if judge_input.recall.wishes else []
        stable = prompt("answer/system.txt").substitute(
            answer=prompt(f"answer/{length}.txt").substitute().strip(),
            operators=offered(self.graph, relates=relates),
            more="".join(f"\n{prompt(name).substitute(order=self.order).strip()}" for name in more),
        )
        values = {
            "question": prompt_line(judge_input.query.text, 2_000),
            "now": iso.show(judge_input.known_facts.moment) or "unknown",
            "state": "\n".join((*state_lines(judge_input), LAST)),
        }
        frame = estimate_tokens(stable) + estimate_tokens(prompt("answer/asked.txt").substitute(values, evidence=""))
        size = frame + FORM_TOKENS[form]
        room = token_room(budget.left, size, FIRST_SHARE if judge_input.earlier is None else 1)
        if judge_input.earlier is None and judge_input.recall.breadth != "best":
            room = max(room, min(int(BROAD_SHARE * budget.left), MOST) - size)
        rendered = render_evidence(judge_input, room, last=judge_input.last)
        if not judge_input.last and budget.left - size - estimate_tokens(rendered.text) >= ANOTHER:
            values["state"] = values["state"].removesuffix(LAST).rstrip()
        elif not judge_input.last:
            rendered = render_evidence(judge_input, room, last=True)
        if not rendered.cited:
            raise EngineError("the budget leaves no room for evidence")
        request = Request(stable.strip(), prompt("answer/asked.txt").substitute(values, evidence=rendered.text))
        return await self.claude.ask(request, form, lambda reply: to_judgement(reply, rendered, length), budget)


def token_room(left: int, size: int, share: float) -> int:
    """Return the tokens for the evidence of a judgement.

    Args:
        left: for the question.
        size: of everything else that is sent: the prompt, the question and the form.
        share: of what is left that it may take; below 1 for the first judgement of a question, which leaves room for
            another.
    """
    room = left
    if share < 1:
        room = max(min(int(share * left), left - size - LEAST), size + LEAST)
    return min(room, MOST, left) - size


def state_lines(judge_input: JudgeInput) -> Iterator[str]:
    """Yield what a judge has to know beside the evidence: its span of time, what was tried, what was missing."""
    if judge_input.span is not None:
        first, last = map(weekday_and_day, judge_input.span)
        yield f"The memory holds what was said from {first} to {last}."
    if judge_input.recall.trace and judge_input.earlier:
        tried = [line for call in judge_input.recall.trace if (line := _step_line(call, judge_input))]
        if tried:
            yield f"Searched already: {'; '.join(dict.fromkeys(tried[-TRIED:]))}."
    if judge_input.earlier and judge_input.earlier.missing:
        yield f"Missing last time: {'; '.join(map(prompt_line, judge_input.earlier.missing))}."


def _step_line(call: OperatorCall, judge_input: JudgeInput) -> str:
    """Return a step that was taken, with what it was on (of what has an id the first words), and if it was in vain.

    Empty for one that was on nothing that can be named.
    """
    texts = {point.id: point.description for point in judge_input.recall.points}
    texts |= {item.id: item.text for item in judge_input.recall.evidence}
    words = []
    for value in call.args.values():
        on = (
            [f'"{prompt_line(texts[name], 40)}"' for name in value if name in texts]
            if isinstance(value, tuple)
            else [value]
        )
        words += [prompt_line(text, 80) for text in on]
    return " ".join((call.operator, *words, *(() if call.kept else ("(nothing new)",)))) if words else ""
