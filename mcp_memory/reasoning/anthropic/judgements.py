"""Claude's reply about a question: its forms, and the judgement that it comes to (DESIGN L10, L6, L7, L8).

What was shown is named by numbers. An unknown number is ignored, and so is a step, a point or a relation that cannot be
used; what is too long is cut, since the rest of the reply is worth having. Only an answer without words or without a
citation is sent back (DESIGN 4 step 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, NamedTuple

from pydantic import Field

from mcp_memory.domain.answers import Judgement, PointEdit, Proposal
from mcp_memory.domain.evidence import Citation, Suggestion
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Length
from mcp_memory.reasoning.anthropic.messages import (
    CitableItem,
    Form,
    RenderedEvidence,
    UnusableReply,
    normalise_number,
    prompt_line,
)

WORDS = 150
"""Most words of an answer: one that is no list, summary or explanation is asked for in at most 20."""
FULL_WORDS = 300
"""Most words of a full answer, and"""
FULL_CHARS = 2_400
"""most characters of one line of it."""
MISSING = 5
"""Most missing things that are named."""
QUERIES = 3
"""Most searches that are proposed, and most names whose facts are requested."""
STEPS = 4
"""Most steps."""
SUPPORTS = 20
"""Most numbers that are taken as what an answer rests on."""
EDITS = 6
"""Most edits of points, and"""
POINT_CHARS = 800
"""most characters of the description of one."""
_NUMBER = re.compile(r"\b[PSF]\d+\b")
_CITED = re.compile(r" ?\[(?:[PSF]\d+[,; ]*)+\]")


class Offer(NamedTuple):
    """An operator that Claude may choose.

    Attributes:
        argument: of the operator, that ``on`` is.
        meaning: the meaning of ``on``, and of what is found.
        layer: the layer of the graph from which on it is offered (`LoopSettings.graph`).
    """

    argument: str
    meaning: str
    layer: str = "ce"


OPERATORS: Mapping[str, Offer] = {
    "event_context": Offer("ids", "a number such as S3; what was said around it"),
    "tag_events": Offer("entity", "a name or word, tag: one of its themes, or empty; the pieces with it"),
    "propagate": Offer("entity", "a name; whom and what its pieces lead to"),
    "reflect": Offer("query", "the question; what is missing; names; further names near these"),
    "topic_events": Offer("topic", "the words of a topic; its pieces", "ctc"),
    "personal_information": Offer("entity", "a person; the kinds of facts known of them", "ctc"),
    "personal_aspect": Offer("entity", "a person, tag: one kind; the facts of it", "ctc"),
    "versions": Offer("entity", "a name; how its facts changed", "ctc"),
    "timeline": Offer("entity", "a name; what happened with it, in order", "ctc"),
    "local_points": Offer("ids", "a number such as P1; what is near it", "ctc"),
    "global_points": Offer("query", "a question; what no point covers", "ctc"),
}
"""The operators that are offered: MRAgent's, REAL's, GAM-RAG's, QRMeM's and HGMem's."""
NOT_OFFERED = {
    "event_time": "every piece is shown with its day",
    "event_keywords": "taken before each turn (``reconstruct/frontier.py``)",
    "expand_facts": "the recall before it has followed the facts, and its paths are shown",
    "counterfactual": "the recall before it has repaired the paths",
}
"""The operators that are not, with the reason; a test finds those that stand in neither table."""
_TAGGED = ("tag_events", "personal_aspect")
_LAYERS = ("ce", "cte", "ctc")
"""Parts of the graph, the smallest first: cues and episodes, with tags, with facts and topics."""
_WHY = "Claude asked for it."


class StepReply(Form):
    """A step."""

    operator: str
    on: str
    tag: str


class AnswerReply(Form):
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
    look_for: list[str]
    names: list[str]
    steps: list[StepReply]


class PointReply(Form):
    """A point."""

    of: list[str]
    entities: list[str]
    description: str
    supports: list[str]
    concern: str


class RelatingReply(AnswerReply):
    """A judgement, and points."""

    points: list[PointReply] = Field(default_factory=list)
    beyond: str = ""


FORM_TOKENS: Mapping[type[AnswerReply], int] = {AnswerReply: 370, RelatingReply: 570}
"""Tokens of the schema of each form, which a request carries; to compute it would import the SDK."""


def offered(layer: str, *, relates: bool = True) -> str:
    """Return the operators that are offered, in words, of a layer of the graph and those below it.

    Args:
        layer: the highest layer.
        relates: whether memory points are kept for the question; else the operators on points are left out.
    """
    below = _LAYERS[: _LAYERS.index(layer) + 1]
    offers = (
        (name, offer.meaning)
        for name, offer in OPERATORS.items()
        if offer.layer in below and (relates or not name.endswith("_points"))
    )
    tagged = ", tag: one of its themes, or empty"
    return "; ".join(f"{name} (on: {words if layer != 'ce' else words.replace(tagged, '')})" for name, words in offers)


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
    wrong = prompt_line(reply.wrong_premise)
    if wrong and not reply.answerable:  # nothing that could still be found would answer it
        return Judgement(None, "anthropic", (wrong,), left=left, kept=kept, support=1 - reply.confidence)
    missing = _distinct_lines([wrong, *reply.missing], MISSING)
    judged = Judgement(None, "anthropic", missing, _suggestions(reply, rendered), left, kept)
    if isinstance(reply, RelatingReply):
        judged = replace(judged, points=tuple(_edits(reply, rendered)), beyond=prompt_line(reply.beyond))
    if not reply.answerable:
        return replace(judged, support=1 - reply.confidence)
    text = _full(reply.answer, rendered, kept) if length == "full" else _first_words(prompt_line(reply.answer), WORDS)
    if not text:
        raise UnusableReply("its answer had no words", "answerable is true, but answer is empty.")
    if not kept:
        raise UnusableReply(
            "its answer cited nothing that was shown to it" if numbers else "its answer cited nothing",
            "supports has to name at least one number of the evidence, such as S1.",
        )
    if not reply.incomplete:
        judged = replace(judged, next=())
    more = judged.next or any(edit.concern for edit in judged.points) or judged.beyond
    return replace(judged, proposal=_proposal(text, reply, cited), missing=missing if more else ())


def _first_words(text: str, most: int) -> str:
    return " ".join(text.split()[:most])


def _full(answer: str, rendered: RenderedEvidence, citations: Sequence[Citation]) -> str:
    """Return a full answer line by line, with the places of its citations, ``[1, 3]``, for the numbers it was shown."""
    places = {citation: place for place, citation in enumerate(citations, 1)}

    def cite(found: re.Match[str]) -> str:
        items = [rendered.cited[number] for number in _NUMBER.findall(found[0]) if number in rendered.cited]
        numbers = dict.fromkeys(places[item.citations[0]] for item in items if item.citations)
        return f" [{', '.join(map(str, numbers))}]" if numbers else ""

    lines = (prompt_line(_CITED.sub(cite, line), FULL_CHARS) for line in answer.splitlines())
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
    steps = [step for one in reply.steps[:STEPS] if (step := _step(one, rendered))]
    searches = [Suggestion("search", {"query": line}, _WHY) for line in _distinct_lines(reply.look_for, QUERIES)]
    names = [Suggestion("expand_facts", {"entity": line}, _WHY) for line in _distinct_lines(reply.names, QUERIES)]
    return (*steps, *searches, *names)


def _step(reply: StepReply, rendered: RenderedEvidence) -> Suggestion | None:
    """Return an operator's step with the arguments that it takes; None for one that is not offered."""
    on, tag = prompt_line(reply.on, 200), prompt_line(reply.tag, 100)
    offer = OPERATORS.get(reply.operator)
    if offer is None or not on:
        return None
    if offer.argument == "ids":
        item = rendered.cited.get(normalise_number(on))
        if item is None or not (item.citations or item.point):
            return None
        name = item.point.id if item.point else item.citations[0].evidence_id
        return Suggestion(reply.operator, {"ids": (name,)}, _WHY)
    args: dict[str, str | tuple[str, ...]] = {offer.argument: on}
    if tag and reply.operator in _TAGGED:
        args["tag"] = tag
    return Suggestion(reply.operator, args, _WHY)


def _proposal(text: str, reply: AnswerReply, items: list[CitableItem]) -> Proposal:
    hedged = reply.hedged or not all(item.certain for item in items)
    return Proposal(text, reply.confidence, hedged, _citations(items))


def _citations(items: Iterable[CitableItem]) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(citation for item in items for citation in item.citations))


def _distinct_lines(texts: list[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for text in texts if (line := prompt_line(text))))[:most]


def _edits(reply: RelatingReply, rendered: RenderedEvidence) -> Iterator[PointEdit]:
    """Yield the edits of points that can be carried out; one that names an unknown point is left out."""
    concerns = not reply.answerable or reply.incomplete
    for one in reply.points[:EDITS]:
        named = [rendered.cited.get(number) for number in dict.fromkeys(map(normalise_number, one.of))]
        points: list[Point] = [item.point for item in named if item is not None and item.point is not None]
        cited = [rendered.cited[n] for n in dict.fromkeys(map(normalise_number, one.supports)) if n in rendered.cited]
        entities = tuple(filter(None, (prompt_line(name, 100) for name in one.entities)))
        description = prompt_line(one.description, POINT_CHARS)
        if description and len(points) == len(named):
            concern = prompt_line(one.concern) if concerns else ""
            yield PointEdit(tuple(points), entities, description, _citations(cited), concern)
