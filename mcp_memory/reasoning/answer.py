"""Claude as the judge of answers: it answers and cites, or names what is missing and where to search (DESIGN L10, L6).

It sees the question, the evidence and what was tried, and names the numbers of what its answer rests on; these name
the supporting sentences too, so GAM-RAG's feedback labels need no separate call. Citations are quoted from the stored
turns, never in the model's own words. An answer that rests on hypotheses, on uncertain facts, or on evidence that the
user marked as wrong for the question is hedged, even if the model is certain.

What cannot be used of a reply is left out or cut, since the rest is worth having. Only an answer without words or
without a citation is sent back (DESIGN 4 step 2). For a question that relates things to each other, and for no other,
it also keeps memory points (HGMem; DESIGN L7, L8).

**Fallback** (`ClaudeQuestionJudge`). The embedded engine is asked first, which takes milliseconds. With ``auto`` its
judgement is final if a certain fact answers. It is also used if Claude cannot be asked or returns nothing usable; the
same holds for every other step of a question. A fallback always adds a warning with the reason. If Claude has judged
before and only the additional evidence was not judged, Claude's earlier judgement is kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

from pydantic import Field

from mcp_memory.domain.answers import Judgement, PointEdit, Proposal
from mcp_memory.domain.evidence import Citation, OperatorCall, RecallResult, Suggestion
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.operators import OPERATORS, Operator
from mcp_memory.domain.points import MAX_ENTITIES, Point
from mcp_memory.domain.query import Length, Query
from mcp_memory.domain.times import Millis
from mcp_memory.errors import EngineError
from mcp_memory.language import iso
from mcp_memory.language.stated import weekday_and_day
from mcp_memory.ports import JudgeInput, QuestionJudge
from mcp_memory.reasoning.client import (
    Budget,
    Claude,
    Form,
    UnusableReply,
    estimate_tokens,
    normalise_number,
    prompt_line,
    schema_tokens,
)
from mcp_memory.reasoning.evidence import CitableItem, RenderedEvidence, render_evidence
from mcp_memory.reasoning.understanding import understand_question
from mcp_memory.texts import prompt

ANSWER_WORDS = 150
"""Most words of an answer: one that is no list, summary or explanation is asked for in at most 20."""
FULL_WORDS = 300
"""Most words of a full answer, and"""
FULL_CHARS = 2_400
"""most characters of one line of it."""
MOST_MISSING = 5
"""Most missing things that are named."""
MOST_STEPS = 6
"""Most steps that are read; `services.follow_ups` takes fewer."""
MOST_SUPPORTS = 20
"""Most numbers that are taken as what an answer rests on."""
MOST_EDITS = 6
"""Most edits of points, and"""
POINT_CHARS = 800
"""most characters of the description of one."""
_NUMBER = re.compile(r"\b[PSF]\d+\b")
_CITED = re.compile(r" ?\[(?:[PSF]\d+[,; ]*)+\]")


SEARCH = Operator((), ("query",), "query", "a sentence as one that holds the answer might say it")
OFFERED: Mapping[str, Operator] = {"search": SEARCH, **{name: one for name, one in OPERATORS.items() if one.told}}
"""The steps that Claude may choose: a search of the raw text, and operators."""


class StepForm(Form):
    """A step."""

    operator: str
    on: str
    tag: str


class AnswerForm(Form):
    """A judgement."""  # sent with the schema; what the fields mean is said in the prompt, once

    reasoning: str
    answerable: bool
    incomplete: bool
    answer: str
    supports: list[str]
    confidence: Annotated[float, Field(ge=0, le=1)]
    hedged: bool
    wrong_premise: str
    missing: list[str]
    steps: list[StepForm]


class PointForm(Form):
    """A point."""

    of: list[str]
    entities: list[str]
    description: str
    supports: list[str]
    concern: str


class RelatingForm(AnswerForm):
    """A judgement, and points."""

    points: list[PointForm] = Field(default_factory=list)
    beyond: str = ""


FIRST_SHARE = 0.5
"""Share of the tokens that are left for the question which the first judgement takes. The rest allows asking again
about what is missing."""
BROAD_SHARE = 0.75
"""The same where everything that bears on the question is wanted: one look at more of it before another."""
LEAST_TOKENS = 700
"""Tokens of evidence without which a judgement sees too little: the first one leaves as many for another, beside the
prompt and the form. (With a judge that is always right over questions of several hops, without this bound 5 of 60 ended
without an answer, and none with it.)"""
ANOTHER_TOKENS = 3_000
"""Tokens left below which no further judgement is asked for: about what prompt, form and `LEAST_TOKENS` take."""
LAST = "This is the last look: nothing more is searched. Answer now if you can, hedged where it is uncertain."
"""Said where a judge is not asked again, whatever it asks for."""
JUDGEMENT_TOKENS = 6_000
"""Tokens that one judgement takes at most: with ``deep`` the rest is for further turns, of which MRAgent has eight."""
STEPS_NAMED = 8
"""Steps that were taken and are named, the last ones."""


@dataclass(slots=True)
class ClaudeQuestionJudge:
    """Asks Claude about one question, with the embedded engine as fallback; fulfils `ports.QuestionJudge`.

    Attributes:
        embedded: judges without a language model.
        claude: the client.
        budget: of this question.
        most_follow_ups: times that Claude may be asked again about it.
        always: whether Claude is always asked (``anthropic``), or where no certain fact answers (``auto``).
        understands: whether it interprets the question, never with ``auto``: there it is not yet known whether a call
            is worth its cost.
        points: whether it may make memory points of the question.
    """

    embedded: QuestionJudge
    claude: Claude
    budget: Budget
    most_follow_ups: int
    always: bool
    understands: bool
    points: bool
    _asked: bool = False
    _failed_steps: dict[str, list[str]] = field(default_factory=dict)  # steps that Claude did not do, by reason
    _later_failure: str = ""

    @property
    def follow_ups(self) -> int:
        """See `ports.QuestionJudge`; none where the budget does not hold another judgement."""
        return self.most_follow_ups if self.budget.left >= ANOTHER_TOKENS else 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """See `ports.QuestionJudge`; steps that failed for one reason share a warning."""
        warnings = [
            f"Claude did not {' and did not '.join(steps)}, the embedded engine did: {reason}."
            for reason, steps in self._failed_steps.items()
        ]
        return (*warnings, self._later_failure) if self._later_failure else tuple(warnings)

    @property
    def spent(self) -> Spending | None:
        """See `ports.QuestionJudge`."""
        return self.budget.spent if self._asked else None

    async def understand(
        self, query: Query, speakers: Collection[str], held: Collection[str], span: tuple[Millis, Millis] | None
    ) -> Query:
        """See `ports.QuestionJudge`."""
        if not self.understands or not query.stems:
            return query
        self._asked = True
        try:
            return await understand_question(self.claude, query, speakers, held, span, self.budget)
        except EngineError as error:
            self._record_failure("say what the question means", error)
            return query

    def assesses(self, recall: RecallResult) -> bool:
        """See `ports.QuestionJudge`; with ``auto`` where the loop ended without covering the query."""
        return bool(recall.evidence) and (self.always or recall.stop != "covered")

    async def judge(self, judge_input: JudgeInput) -> Judgement:
        """See `ports.QuestionJudge`."""
        embedded = await self.embedded.judge(judge_input)
        if not judge_input.sentences:
            return embedded  # there is nothing to judge
        sure = embedded.proposal is not None and not embedded.proposal.hedged
        if sure and not self.always and judge_input.query.length == "short":
            return embedded
        return await self._ask_claude(judge_input, embedded)

    async def _ask_claude(self, judge_input: JudgeInput, embedded: Judgement) -> Judgement:
        """Return Claude's judgement, otherwise its earlier one, otherwise the embedded judgement."""
        self._asked, earlier = True, judge_input.earlier
        try:
            return await judge_evidence(self.claude, judge_input, self.budget, points=self.points)
        except EngineError as error:
            if earlier is not None:
                self._later_failure = f"Claude did not judge what was found after its first word: {error}."
                return replace(earlier, next=(), points=(), beyond="")
            self._record_failure("judge this", error)
            return embedded

    def _record_failure(self, step: str, why: EngineError) -> None:
        self._failed_steps.setdefault(str(why), []).append(step)


async def judge_evidence(claude: Claude, judge_input: JudgeInput, budget: Budget, *, points: bool) -> Judgement:
    """Return Claude's judgement, which makes memory points of the question only with ``points``.

    Raises:
        EngineError: there is none.
    """
    relates = judge_input.relates and points
    form = RelatingForm if relates else AnswerForm
    system = _system_prompt(judge_input, relates=relates)
    size = estimate_tokens(system) + estimate_tokens(_asked(judge_input, "", last=True)) + schema_tokens(form)
    share = FIRST_SHARE if judge_input.recall.breadth == "best" else BROAD_SHARE
    rendered = render_evidence(judge_input, token_room(budget.left, size, 1 if judge_input.earlier else share))
    if not rendered.cited:
        raise EngineError("the budget leaves no room for evidence")
    last = judge_input.last or budget.left - size - estimate_tokens(rendered.text) < ANOTHER_TOKENS
    use = partial(to_judgement, rendered=rendered, length=judge_input.query.length)
    return await claude.ask(system, _asked(judge_input, rendered.text, last=last), form, use, budget)


def _system_prompt(judge_input: JudgeInput, *, relates: bool) -> str:
    """Return the part of the prompt that is the same for all questions of one kind."""
    more = ["answer/points.txt"] if relates else []
    more += ["answer/wishes.txt"] if judge_input.recall.wishes else []
    filled = prompt("answer/system.txt").substitute(
        answer=prompt(f"answer/{judge_input.query.length}.txt").substitute().strip(),
        operators=offered(relates=relates),
        more="".join(f"\n{prompt(name).substitute(order=MAX_ENTITIES).strip()}" for name in more),
    )
    return filled.strip()


def offered(*, relates: bool = True) -> str:
    """Return the operators that are offered, in words; those on points only where points are kept for the question."""
    offers = (one for one in OFFERED.items() if relates or not one[0].endswith("_points"))
    return "; ".join(f"{name} (on: {operator.told})" for name, operator in offers)


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
        room = max(min(int(share * left), left - size - LEAST_TOKENS), size + LEAST_TOKENS)
    return min(room, JUDGEMENT_TOKENS, left) - size


def _asked(judge_input: JudgeInput, evidence: str, *, last: bool) -> str:
    """Return the part of the prompt for one judgement."""
    return prompt("answer/asked.txt").substitute(
        question=prompt_line(judge_input.query.text, 2_000),
        now=iso.show(judge_input.known_facts.moment) or "unknown",
        state="\n".join((*_state_lines(judge_input), *((LAST,) if last else ()))),
        evidence=evidence,
    )


def _state_lines(judge_input: JudgeInput) -> Iterator[str]:
    """Yield what a judge has to know beside the evidence: its span of time, what was tried, what was missing."""
    if judge_input.span is not None:
        first, last = map(weekday_and_day, judge_input.span)
        yield f"The memory holds what was said from {first} to {last}."
    if judge_input.earlier is None:
        return
    tried = dict.fromkeys(_step_line(call, judge_input) for call in judge_input.recall.trace[-STEPS_NAMED:])
    if tried:
        yield f"Searched already: {'; '.join(tried)}."
    if judge_input.earlier.missing:
        yield f"Missing last time: {'; '.join(map(prompt_line, judge_input.earlier.missing))}."


def _step_line(call: OperatorCall, judge_input: JudgeInput) -> str:
    """Return a step that was taken, with what it was on (of what has an id the first words), and if it was in vain."""
    texts = {point.id: point.description for point in judge_input.recall.points}
    texts |= {item.id: item.text for item in judge_input.recall.evidence}
    words: list[str] = []
    for value in call.args.values():
        if isinstance(value, tuple):
            words += [f'"{prompt_line(texts[name], 40)}"' for name in value if name in texts]
        else:
            words.append(prompt_line(value, 80))
    return " ".join((call.operator, *words, *(() if call.kept else ("(nothing new)",))))


def to_judgement(reply: AnswerForm, rendered: RenderedEvidence, length: Length = "short") -> Judgement:
    """Return the judgement that a reply gives; what is too long in it is cut.

    Raises:
        UnusableReply: the answer is empty, or cites nothing that was shown.
    """
    stated = _NUMBER.findall(reply.answer) if length == "full" else []
    numbers = dict.fromkeys([*stated, *map(normalise_number, reply.supports[:MOST_SUPPORTS])])
    cited = [rendered.cited[number] for number in numbers if number in rendered.cited]
    kept = _citations(cited)
    left = frozenset(key for number, item in rendered.cited.items() if number not in numbers for key in item.keys)
    wrong = prompt_line(reply.wrong_premise)
    if wrong and not reply.answerable:  # nothing that could still be found would answer it
        return Judgement(None, "anthropic", (wrong,), left=left, kept=kept, support=1 - reply.confidence)
    lines = filter(None, map(prompt_line, (wrong, *reply.missing)))
    missing = tuple(dict.fromkeys(lines))[:MOST_MISSING]
    steps = tuple(step for one in reply.steps[:MOST_STEPS] if (step := _step(one, rendered)))
    judged = Judgement(None, "anthropic", missing, steps, left, kept)
    if isinstance(reply, RelatingForm):
        judged = replace(judged, points=tuple(_edits(reply, rendered)), beyond=prompt_line(reply.beyond))
    if not reply.answerable:
        return replace(judged, support=1 - reply.confidence)
    text = (
        _full(reply.answer, rendered, kept)
        if length == "full"
        else _first_words(prompt_line(reply.answer), ANSWER_WORDS)
    )
    if not text:
        raise UnusableReply("its answer had no words", "answerable is true, but answer is empty.")
    if not kept:
        raise UnusableReply(
            "its answer cited nothing that was shown to it",
            "supports has to name at least one number of the evidence, such as S1.",
        )
    if not reply.incomplete:
        judged = replace(judged, next=())
    more = judged.next or any(edit.concern for edit in judged.points) or judged.beyond
    hedged = reply.hedged or not all(item.certain for item in cited)
    proposal = Proposal(text, reply.confidence, hedged, kept)
    return replace(judged, proposal=proposal, missing=missing if more else ())


def _first_words(text: str, most: int) -> str:
    return " ".join(text.split()[:most])


def _full(answer: str, rendered: RenderedEvidence, citations: Sequence[Citation]) -> str:
    """Return a full answer line by line, with the places of its citations, ``[1, 3]``, for the numbers it was shown."""
    places = {citation: place for place, citation in enumerate(citations, 1)}

    def cite(found: re.Match[str]) -> str:
        items = [rendered.cited[number] for number in _NUMBER.findall(found[0]) if number in rendered.cited]
        numbers = dict.fromkeys(places[item.citations[0]] for item in items if item.citations)
        return f" [{', '.join(map(str, numbers))}]" if numbers else ""

    left, kept = FULL_WORDS, []
    for line in filter(None, (prompt_line(_CITED.sub(cite, line), FULL_CHARS) for line in answer.splitlines())):
        if left <= 0:
            break
        kept.append(_first_words(line, left))
        left -= len(line.split())
    return "\n".join(kept)


def _step(reply: StepForm, rendered: RenderedEvidence) -> Suggestion | None:
    """Return a step with the arguments that its operator takes; None for one that cannot be taken."""
    on, tag = prompt_line(reply.on, 200), prompt_line(reply.tag, 100)
    operator = OFFERED.get(reply.operator)
    if operator is None or not on:
        return None
    if operator.on == "ids":
        item = rendered.cited.get(normalise_number(on))
        if item is None or not (item.citations or item.point):
            return None
        name = item.point.id if item.point else item.citations[0].evidence_id
        return Suggestion(reply.operator, {"ids": (name,)})
    tagged = {"tag": tag} if tag and "tag" in operator.uses else {}
    return Suggestion(reply.operator, {operator.on: on} | tagged)


def _citations(items: Iterable[CitableItem]) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(citation for item in items for citation in item.citations))


def _edits(reply: RelatingForm, rendered: RenderedEvidence) -> Iterator[PointEdit]:
    """Yield the edits of points that can be carried out; one that names an unknown point is left out."""
    concerns = not reply.answerable or reply.incomplete
    for one in reply.points[:MOST_EDITS]:
        named = [rendered.cited.get(number) for number in dict.fromkeys(map(normalise_number, one.of))]
        points: list[Point] = [item.point for item in named if item is not None and item.point is not None]
        cited = [rendered.cited[n] for n in dict.fromkeys(map(normalise_number, one.supports)) if n in rendered.cited]
        entities = tuple(filter(None, (prompt_line(name, 100) for name in one.entities)))
        description = prompt_line(one.description, POINT_CHARS)
        if description and len(points) == len(named):
            concern = prompt_line(one.concern) if concerns else ""
            yield PointEdit(tuple(points), entities, description, _citations(cited), concern)
