"""What the tools return, as pydantic models: the published output schemas come from here.

A field that is None is left out of a reply, so its schema has no null.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt

from mcp_memory.domain.evidence import Engine, EvidenceKind, Stop
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.paths import Rule
from mcp_memory.domain.requests import EvolveStep, Op

Score = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[StrictInt, Field(ge=0)]


class Result(BaseModel):
    """What every tool returns beside its own fields."""

    engine: Annotated[Engine, Field(description="Whose judgement decided; caller: what you brought in this call did.")]
    warnings: list[str]


class ItemResult(BaseModel):
    """What became of a message or document."""

    id: str
    session: str
    stored: Annotated[StrictBool, Field(description="False: it was there already.")]


class FactResult(BaseModel):
    """What became of a fact."""

    id: str
    text: str
    op: Annotated[Op, Field(description="What was done to it.")]
    valid_from: Annotated[str | None, Field(description="When it began to hold.")] = None
    valid_to: Annotated[str | None, Field(description="When it ceased to.")] = None


class WriteCounts(BaseModel):
    """Of one call."""

    stored: Count
    unchanged: Count
    segments: Count
    sentences: Count


class WriteResult(Result):
    """Of memory_write."""

    items: Annotated[list[ItemResult], Field(description="In the order of the call.")]
    facts: Annotated[list[FactResult], Field(description="Asserted by this call, or ended by it.")]
    entities: Annotated[list[str], Field(description="What these facts are about.")]
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
    valid_from: Annotated[str | None, Field(description="Of a fact: when it began to hold.")] = None
    valid_to: Annotated[str | None, Field(description="Of a fact: when it ceased to.")] = None
    confidence: Annotated[Score | None, Field(description="Of a fact.")] = None
    inferred: Annotated[Rule | None, Field(description="The rule: a hypothesis that nobody stated.")] = None
    via: Annotated[list[str], Field(description="What found it.")]
    sources: list[EvidenceSource]


class RootResult(BaseModel):
    """Where navigation started."""

    name: str
    intent: Annotated[Intent, Field(description="What the question wants from it.")]


class NextResult(BaseModel):
    """A step that may find more."""

    operator: str
    args: Annotated[dict[str, str | list[str]], Field(description="As memory_explore takes them.")]
    why: str


class CallResult(BaseModel):
    """A step that recall took by itself."""

    turn: Count
    operator: str
    args: Annotated[dict[str, str | list[str]], Field(description="As memory_explore takes them.")]
    found: Count
    kept: Annotated[Count, Field(description="Of what was found: new, or surer than before.")]


class SpentResult(BaseModel):
    """What was spent on Claude."""

    calls: Count
    input_tokens: Annotated[Count, Field(description="Not read from a cache.")]
    cached_tokens: Count
    output_tokens: Count
    seconds: Annotated[float, Field(ge=0, description="Waited.")]


class BudgetResult(BaseModel):
    """What a recall took."""

    turns: Count
    calls: Annotated[Count, Field(description="Of operators.")]
    texts: Annotated[Count, Field(description="Embedded.")]
    rounds: Annotated[Count, Field(description="Of propagation.")]
    claude: SpentResult | None = None


class DetailedResult(Result):
    """What recall and answer have in common; the last six only with detail=full."""

    episode: Annotated[str, Field(description="Names this reply to memory_evolve.")]
    conflicts: Annotated[list[str], Field(description="Where facts contradict each other.")]
    roots: list[RootResult] | None = None
    paths: Annotated[list[str] | None, Field(description="Facts end to end, best first.")] = None
    next: list[NextResult] | None = None
    stop_reason: Annotated[Stop | None, Field(description="Why recall looked no further.")] = None
    trace: Annotated[list[CallResult] | None, Field(description="Steps taken after the first look.")] = None
    budget: BudgetResult | None = None


class PointResult(BaseModel):
    """A memory point: what joins several entities."""

    id: str
    text: str
    entities: list[str]


class ReconstructResult(DetailedResult):
    """Of memory_reconstruct."""

    evidence: Annotated[list[EvidenceResult], Field(description="Best first.")]
    points: Annotated[list[PointResult], Field(description="Memory points on what the query names.")]
    sufficient: StrictBool
    sufficiency: Score
    missing: Annotated[list[str], Field(description="Words of the query that nothing covers.")]


class CitationResult(BaseModel):
    """Words that an answer rests on."""

    id: Annotated[str, Field(description="Of the evidence.")]
    quote: Annotated[str, Field(description="Verbatim.")]
    source: SourceResult


class AnswerResult(DetailedResult):
    """Of memory_answer."""

    answer: Annotated[str | None, Field(description="null: abstained.")]
    abstained: StrictBool
    confidence: Score
    hedged: StrictBool
    citations: list[CitationResult]
    evidence: list[EvidenceResult]


class ExploreResult(Result):
    """Of memory_explore."""

    items: Annotated[list[EvidenceResult], Field(description="Best first.")]
    next: list[NextResult]


class ChangeResult(BaseModel):
    """One thing that was improved."""

    step: EvolveStep
    kind: Literal["sentence", "fact", "message", "relation", "point", "entity", "question"]
    id: str
    text: str
    before: str | None = None
    after: str
    valid_from: Annotated[str | None, Field(description="Of a fact: when it began to hold.")] = None
    valid_to: Annotated[str | None, Field(description="Of a fact: when it ceased to.")] = None


class SkippedResult(BaseModel):
    """A step that changed nothing."""

    step: EvolveStep
    reason: str


class EvolveResult(Result):
    """Of memory_evolve."""

    changes: list[ChangeResult]
    skipped: list[SkippedResult]
    claude: SpentResult | None = None


class Counts(BaseModel):
    """What is held."""

    messages: Count
    documents: Count
    sessions: Count
    segments: Count
    sentences: Count
    assertions: Annotated[Count, Field(description="Statements of facts.")]
    entities: Annotated[Count, Field(description="What they are about.")]
    lessons: Annotated[Count, Field(description="What judges said of recalls and answers.")]
    points: Annotated[Count, Field(description="Memory points in use.")]


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


class TodayResult(BaseModel):
    """What all processes on the store spent on this day of UTC."""

    calls: Count
    input_tokens: Annotated[Count, Field(description="Uncached.")]
    cached_tokens: Count
    output_tokens: Count
    allowed_tokens: Annotated[Count | None, Field(description="Uncached input tokens of a day; None: no bound.")]


class TextsReadResult(BaseModel):
    """How far Claude has read all that was written for facts."""

    waiting: Count
    done: Count
    failed: Annotated[Count, Field(description="Given up after several tries.")]
    resting: Annotated[str | None, Field(description="Why this process reads none for now.")] = None


class ClaudeResult(SpentResult):
    """How Claude takes part, and what this process spent on it."""

    judge: Annotated[Literal["auto", "anthropic"], Field(description="When it is asked.")]
    model: str
    url: str
    key: Annotated[StrictBool, Field(description="Whether there is one.")]
    today: TodayResult
    texts: Annotated[TextsReadResult | None, Field(description="None: it is sent questions and evidence alone.")] = None


class StatusResult(Result):
    """Of memory_status."""

    counts: Counts
    spaces: list[SpaceCounts]
    embedder: str
    extractor: Annotated[str | None, Field(description="What reads facts out of texts.")] = None
    claude: Annotated[ClaudeResult | None, Field(description="None: nothing leaves the machine.")] = None
    storage: StorageResult
    queue: Annotated[Count, Field(description="Background work not done yet.")]
    versions: Versions
    uptime_s: float
    processes: Annotated[Count, Field(description="How many hold the store.")]
    healthy: StrictBool
