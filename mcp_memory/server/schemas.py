"""What the tools take and what they return, as pydantic models: the published schemas come from here.

The models say types, ranges and which fields there are; an argument that no model knows is refused. What a schema
cannot say (limits that can be configured, dates, "exactly one of") is checked in ``arguments.py``. Descriptions are
read by language models on every turn, so each word has to earn its place.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from mcp_memory.domain.evidence import Engine, EvidenceKind

LIMIT = (1, 200)
MAX_TOKENS = (100, 100_000)

Space = Annotated[str, Field(description="A memory of its own, walled off from the others.")]
Limit = Annotated[StrictInt, Field(ge=LIMIT[0], le=LIMIT[1], description="Most items of evidence.")]
MaxTokens = Annotated[StrictInt, Field(ge=MAX_TOKENS[0], le=MAX_TOKENS[1], description="Most tokens of the reply.")]


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


class WriteArguments(Arguments):
    """Of memory_write."""

    messages: Annotated[list[Message] | None, Field(description="Turns of talk, oldest first.")] = None
    documents: Annotated[list[Document] | None, Field(description="Texts that are not talk.")] = None
    text: Annotated[str | None, Field(description="One message, when there is just that.")] = None
    session: Annotated[str, Field(description="The conversation or collection these belong to.")] = "default"
    space: Space = "default"


class ReconstructArguments(Arguments):
    """Of memory_reconstruct."""

    query: Annotated[str | None, Field(description="A whole natural question; left out: the newest records.")] = None
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    since: Annotated[str | None, Field(description="Only what was said at or after this ISO date or time.")] = None
    until: Annotated[str | None, Field(description="Only what was said before this time, or on this date.")] = None
    space: Space = "default"


class AnswerArguments(Arguments):
    """Of memory_answer."""

    question: Annotated[str, Field(description="A whole question.")]
    limit: Limit = 12
    max_tokens: MaxTokens = 2000
    space: Space = "default"


class StatusArguments(Arguments):
    """Of memory_status: none."""


Score = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[StrictInt, Field(ge=0)]


class Result(BaseModel):
    """What every tool returns beside its own fields."""

    engine: Annotated[Engine, Field(description="Whose judgement decided.")]
    warnings: list[str]


class ItemResult(BaseModel):
    """What became of a message or document."""

    id: str
    session: str
    stored: Annotated[StrictBool, Field(description="False: it was there already.")]


class WriteCounts(BaseModel):
    """Of one call."""

    stored: Count
    unchanged: Count
    segments: Count
    sentences: Count


class WriteResult(Result):
    """Of memory_write."""

    items: Annotated[list[ItemResult], Field(description="In the order of the call.")]
    counts: WriteCounts


class SourceResult(BaseModel):
    """Where something was said."""

    id: Annotated[str, Field(description="The writer's own id.")]
    session: str
    speaker: str | None = None
    time: Annotated[str | None, Field(description="When it was said; if untold, when it was written.")] = None


class EvidenceSource(SourceResult):
    """Where a piece of evidence was said."""

    quote: Annotated[str | None, Field(description="Verbatim; only where it differs from text.")] = None


class EvidenceResult(BaseModel):
    """One thing that was found."""

    id: str
    kind: EvidenceKind
    text: str
    score: Annotated[Score, Field(description="Best = 1; comparable within this result only.")]
    via: Annotated[list[str], Field(description="What found it.")]
    sources: list[EvidenceSource]


class ReconstructResult(Result):
    """Of memory_reconstruct."""

    evidence: Annotated[list[EvidenceResult], Field(description="Best first.")]
    sufficient: StrictBool
    sufficiency: Score
    missing: Annotated[list[str], Field(description="Words of the query that nothing covers.")]


class CitationResult(BaseModel):
    """Words that an answer rests on."""

    id: Annotated[str, Field(description="Of the evidence.")]
    quote: Annotated[str, Field(description="Verbatim.")]
    source: SourceResult


class AnswerResult(Result):
    """Of memory_answer."""

    answer: Annotated[str | None, Field(description="null: abstained.")]
    abstained: StrictBool
    confidence: Score
    hedged: StrictBool
    citations: list[CitationResult]
    evidence: list[EvidenceResult]


class Counts(BaseModel):
    """What is held."""

    messages: Count
    documents: Count
    sessions: Count
    segments: Count
    sentences: Count


class SpaceCounts(Counts):
    """What one space holds."""

    space: str


class StorageResult(BaseModel):
    """The store as it lies there."""

    uri: str
    bytes: Count | None = None


class Versions(BaseModel):
    """What is running, and on what."""

    server: str
    format: Annotated[Count, Field(description="Of the tables.")]
    generation: Annotated[Count, Field(description="Of the derived tables.")]
    commit: Count


class StatusResult(Result):
    """Of memory_status."""

    counts: Counts
    spaces: list[SpaceCounts]
    embedder: str
    storage: StorageResult
    queue: Annotated[Count, Field(description="Background work not done yet.")]
    versions: Versions
    uptime_s: float
    processes: Annotated[Count, Field(description="How many hold the store.")]
    healthy: StrictBool


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
