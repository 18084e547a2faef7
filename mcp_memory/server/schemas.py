"""What the tools take, as pydantic models: the published schemas come from here (what they return: ``results.py``).

The models say types, ranges and which fields there are; an argument that no model knows is refused. What a schema
cannot say (limits that can be configured, dates, "exactly one of") is checked in ``arguments.py``. Descriptions are
read by language models on every turn, so each word has to earn its place.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt

from mcp_memory.domain.facts import Intent
from mcp_memory.domain.query import Detail as HowMuch
from mcp_memory.domain.requests import EvolveStep

LIMIT = (1, 200)
MAX_TOKENS = (100, 100_000)
MAX_TURNS = (1, 16)

Space = Annotated[str, Field(description="A memory of its own, walled off from the others.")]
Limit = Annotated[StrictInt, Field(ge=LIMIT[0], le=LIMIT[1], description="Most items of evidence.")]
Confidence = Annotated[float, Field(strict=True, gt=0, le=1)]
AsOf = Annotated[str | None, Field(description="The time whose facts you mean, if not the question's own; ISO-8601.")]
Detail = Annotated[HowMuch, Field(description="full: also starting points, paths, steps taken and to try.")]
Operator = Literal[
    "expand_facts",
    "versions",
    "timeline",
    "counterfactual",
    "propagate",
    "tag_events",
    "event_keywords",
    "event_time",
    "event_context",
    "topic_events",
    "personal_information",
    "personal_aspect",
    "local_points",
    "global_points",
    "reflect",
]
MaxTokens = Annotated[StrictInt, Field(ge=MAX_TOKENS[0], le=MAX_TOKENS[1], description="Most tokens of the reply.")]


def _worded(given: object) -> object:
    return str(given) if type(given) is int and abs(given) < 10**9 else given


Record = Annotated[str, BeforeValidator(_worded)]
"""An id of evidence, or the number of a record in the text of a reply, which may come as a number too."""


class Arguments(BaseModel):
    """What a tool is called with; an unknown argument is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Message(Arguments):
    """One turn of talk."""

    id: Annotated[str | None, Field(description="Your own, to cite and to avoid storing twice.")] = None
    speaker: Annotated[str | None, Field(description="Name of who said it.")] = None
    role: Annotated[str | None, Field(description="user, assistant, ...")] = None
    text: Annotated[str, Field(description="Verbatim, not summarised.")]
    time: Annotated[str | None, Field(description="When it was said, ISO-8601; no zone = UTC.")] = None


class Document(Arguments):
    """A text that is not talk; one with a known id and another text is a new revision."""

    id: str | None = None
    title: str | None = None
    text: str
    time: Annotated[str | None, Field(description="When it was written, ISO-8601.")] = None


class Fact(Arguments):
    """What the caller read out of a text, or knows."""

    head: Annotated[str, Field(description="Who or what it is about, by name.")]
    relation: Annotated[str, Field(description="lives_in, works_at, likes, ...")]
    tail: Annotated[str, Field(description="Name or value.")]
    valid_from: Annotated[str | None, Field(description="When it began to hold, ISO-8601.")] = None
    valid_to: Annotated[str | None, Field(description="When it ceased to.")] = None
    confidence: Confidence = 0.95
    intent: Intent = "FACT"
    source: Annotated[str | None, Field(description="Id of the message or document that says it.")] = None
    negated: Annotated[StrictBool, Field(description="It no longer holds from valid_from on.")] = False


class WriteArguments(Arguments):
    """Of memory_write."""

    messages: Annotated[list[Message] | None, Field(description="Turns of talk, oldest first.")] = None
    documents: Annotated[list[Document] | None, Field(description="Texts that are not talk.")] = None
    text: Annotated[str | None, Field(description="One message, when there is just that.")] = None
    facts: Annotated[list[Fact] | None, Field(description="Facts you are sure of; also alone.")] = None
    session: Annotated[str, Field(description="The conversation or collection these belong to.")] = "default"
    space: Space = "default"


class ReconstructArguments(Arguments):
    """Of memory_reconstruct."""

    query: Annotated[str | None, Field(description="A whole natural question; left out: the newest records.")] = None
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    since: Annotated[str | None, Field(description="Only what was said at or after this ISO date or time.")] = None
    until: Annotated[str | None, Field(description="Only what was said before this time, or on this date.")] = None
    as_of: AsOf = None
    entities: Annotated[list[str] | None, Field(description="Names to start from, if the query lacks them.")] = None
    include_uncertain: Annotated[StrictBool, Field(description="Also facts that nothing has confirmed.")] = False
    max_turns: Annotated[StrictInt | None, Field(ge=MAX_TURNS[0], le=MAX_TURNS[1])] = None
    detail: Detail = "brief"
    space: Space = "default"


class AnswerArguments(Arguments):
    """Of memory_answer."""

    question: Annotated[str, Field(description="A whole question.")]
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    as_of: AsOf = None
    detail: Detail = "brief"
    learn: Annotated[StrictBool, Field(description="Learn from it which records help with such questions.")] = True
    space: Space = "default"


class Feedback(Arguments):
    """What a caller says of an episode."""

    supports: Annotated[
        list[Record] | None, Field(description="What gave or led to the answer: ids, also explored, or record numbers.")
    ] = None
    not_supports: Annotated[list[Record] | None, Field(description="Evidence that did not.")] = None
    answer_correct: Annotated[StrictBool | None, Field(description="false: what is in not_supports misled.")] = None
    correction: Annotated[str | None, Field(description="What is so, in whole sentences with names.")] = None


class Point(Arguments):
    """What joins several entities."""

    entities: Annotated[list[str], Field(description="Two names or more.")]
    description: str


class PointUpdate(Arguments):
    """What a point is to say from now on."""

    id: str
    description: str


class PointMerge(Arguments):
    """Points that are to become one."""

    ids: list[str]
    description: str


class Points(Arguments):
    """What a caller does to memory points."""

    insert: list[Point] | None = None
    update: list[PointUpdate] | None = None
    merge: list[PointMerge] | None = None


class EvolveArguments(Arguments):
    """Of memory_evolve."""

    episode: Annotated[str | None, Field(description="Of the reply that you judge.")] = None
    feedback: Feedback | None = None
    goal: Annotated[str | None, Field(description="Question or topic to organise memory around, or for points.")] = None
    points: Annotated[Points | None, Field(description="Memory points of your own wording.")] = None
    steps: Annotated[
        list[EvolveStep] | None,
        Field(
            description="Left out: all that the call has input for. entities: bring names of one entity together. "
            "questions: pool what facts answer."
        ),
    ] = None
    space: Space = "default"


class ExploreArguments(Arguments):
    """Of memory_explore; each operator uses some of them."""

    operator: Operator
    entity: Annotated[str | None, Field(description="A person, place or thing.")] = None
    relation: Annotated[str | None, Field(description="Only this kind of fact: lives_in, ...")] = None
    tag: Annotated[str | None, Field(description="As `next` gives it.")] = None
    topic: Annotated[str | None, Field(description="Its id, or words.")] = None
    ids: Annotated[list[Record] | None, Field(description="Of evidence, or numbers of the episode's records.")] = None
    episode: str | None = None
    query: Annotated[str | None, Field(description="What you are after; ranks what is found.")] = None
    since: Annotated[str | None, Field(description="Only what holds at or after this ISO date or time.")] = None
    until: Annotated[str | None, Field(description="Only what holds before this time, or on this date.")] = None
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    space: Space = "default"


class StatusArguments(Arguments):
    """Of memory_status: none."""


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema as short as it can be said.

    Titles and the docstrings of models repeat what the names say; references are written out, because not every client
    follows them; and an optional field is one that may be left out, so it needs no null.
    """
    schema = model.model_json_schema()
    short = _short(schema, schema.get("$defs", {}))
    return {"type": "object", "properties": {}, **short}


def _short(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        node = definitions[node["$ref"].rsplit("/", 1)[-1]] | {k: v for k, v in node.items() if k != "$ref"}
    kept = {k: v for k, v in node.items() if k not in ("$defs", "title") and (k, v) != ("default", None)}
    if "properties" in kept:
        kept.pop("description", None)
        required = kept.get("required", [])
        kept["properties"] = {
            name: _short(_without_null(part) if name not in required else part, definitions)
            for name, part in kept["properties"].items()
        }
    if "items" in kept:
        kept["items"] = _short(kept["items"], definitions)
    return kept


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    branches = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
    return branches[0] | {k: v for k, v in node.items() if k != "anyOf"} if len(branches) == 1 else node
