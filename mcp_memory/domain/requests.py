"""What the tools are asked and what they give back, in our own words; the server turns its JSON into these."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mcp_memory.domain.facts import Engine, Intent
from mcp_memory.domain.query import Window
from mcp_memory.domain.spending import Spending
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Kind

Op = Literal["added", "merged", "closed", "contested", "unchanged"]
"""What a write did to a fact: it is new; it was known and is said again; it has an end now; it clashes with another of
the same start; nothing, for all of it was stored before."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """A message or document as the caller gave it; ``ref`` is None where it came without an id."""

    text: str
    ref: str | None = None
    speaker: str | None = None
    role: str | None = None
    title: str | None = None
    said_at: Millis | None = None


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact as the caller read it.

    Attributes:
        head: what it is about, by name.
        relation: in any form ("livesIn").
        tail: the other end, by name or as a value.
        valid_from: when it began to hold; None where the caller did not say.
        valid_to: its end (exclusive), after ``valid_from``; None likewise.
        confidence: in (0, 1]; as sure as a plain statement where the caller did not say (DESIGN 1).
        intent: of the statement.
        source: id of the message or document that says it, of this call or stored before in the same session; None
            where the caller states it by itself.
        negated: whether it says that the fact does not hold, from ``valid_from`` on.
    """

    head: str
    relation: str
    tail: str
    valid_from: Millis | None = None
    valid_to: Millis | None = None
    confidence: float = 0.95
    intent: Intent = "FACT"
    source: str | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What one call asks to remember.

    Attributes:
        space: where.
        session: of the items, and of the facts' sources.
        kind: of the items; ``statement``, and no items, where a call brings facts alone.
        items: to be kept word for word.
        facts: what the caller read out of these items, of others, or states by itself.
    """

    space: str
    session: str
    kind: Kind
    items: tuple[NewItem, ...]
    facts: tuple[NewFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one item; ``stored`` is False for one that was there already."""

    ref: str
    session: str
    stored: bool


@dataclass(frozen=True, slots=True)
class WrittenFact:
    """What became of one fact: one that the call asserts, or one that this ended.

    Attributes:
        id: of the version.
        text: in words, without its times.
        op: what was done to it.
        valid_from: when it begins to hold, as it is now; None where that is not told.
        valid_to: its end (exclusive) likewise.
    """

    id: str
    text: str
    op: Op
    valid_from: Millis | None = None
    valid_to: Millis | None = None


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of a call.

    Attributes:
        items: one for each item of the request, in its order.
        segments: how many were stored.
        sentences: how many were stored.
        warnings: in words: of an item that was there already and came with another speaker, role, time or title.
        engine: the caller, if it brought facts, whatever else was read out of the items.
        facts: those that the caller asserts, those that were read out of the items, and others that these ended.
        entities: names that these facts are about, each once.
    """

    items: tuple[Written, ...]
    segments: int
    sentences: int
    warnings: tuple[str, ...]
    engine: Engine = "embedded"
    facts: tuple[WrittenFact, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a caller says of an episode.

    Attributes:
        supports: ids of evidence that states the answer, or leads to it, as the episode or a step of explore showed
            it, or the numbers ("1") of its records in the text of the reply.
        not_supports: the same of evidence that does not.
        answer_correct: whether the answer was right, the memory's own or the one that the caller made of the evidence;
            None where the caller does not say.
        correction: what is so instead, in whole sentences.
    """

    supports: tuple[str, ...] = ()
    not_supports: tuple[str, ...] = ()
    answer_correct: bool | None = None
    correction: str | None = None


EvolveStep = Literal["points", "merge", "feedback", "confidence", "cardinality", "entities", "questions"]
"""What improves a memory: points made of what belongs together, and merged (HGMem), what a caller says of an episode
(GAM-RAG), how sure facts are and how many values a relation has at a time (REAL), names that mean one entity, and the
pool of questions (QRMeM)."""


@dataclass(frozen=True, slots=True)
class NewPoint:
    """A memory point as the caller gives it.

    Attributes:
        entities: names of what it joins.
        description: what joins them.
    """

    entities: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class NewDescription:
    """What a point is to say from now on; its entities stay."""

    id: str
    description: str


@dataclass(frozen=True, slots=True)
class NewMerge:
    """Points that are to become one, and what that is to say."""

    ids: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class PointEdits:
    """What a caller does to memory points, all of it or nothing."""

    insert: tuple[NewPoint, ...] = ()
    update: tuple[NewDescription, ...] = ()
    merge: tuple[NewMerge, ...] = ()


@dataclass(frozen=True, slots=True)
class EvolveRequest:
    """What to improve.

    Attributes:
        space: where.
        episode: of the recall or answer that the feedback is about, or without any, whose evidence is organised.
        feedback: None where the call brings none.
        goal: a question or topic to organise memory around; where the call brings points, what these are for.
        points: what the caller does to memory points; None where the call brings nothing of it.
        steps: which to take; empty for those for which the call brings input.
    """

    space: str
    episode: str | None = None
    feedback: Feedback | None = None
    goal: str | None = None
    points: PointEdits | None = None
    steps: tuple[EvolveStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Improved:
    """One thing that an evolve changed.

    Attributes:
        step: that changed it.
        kind: what it is.
        id: of the sentence, fact, message or point; of a relation or an entity its name, of questions their space.
        text: in words.
        before: how it was, in words; None for what is new.
        after: how it is.
        valid_from: of a fact, when it begins to hold by now; None where that is not told.
        valid_to: of a fact, its end (exclusive) likewise.
    """

    step: EvolveStep
    kind: Literal["sentence", "fact", "message", "relation", "point", "entity", "question"]
    id: str
    text: str
    before: str | None
    after: str
    valid_from: Millis | None = None
    valid_to: Millis | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A step that changed nothing, and why."""

    step: EvolveStep
    reason: str


@dataclass(frozen=True, slots=True)
class EvolveResult:
    """What came of an evolve.

    Attributes:
        changes: what changed.
        skipped: what did not, and why.
        warnings: why another than the wanted judge made the memory points, in words.
        engine: the caller, if it brought feedback or points; else who made the points.
        spent: on a language model; None where none was asked.
    """

    changes: tuple[Improved, ...]
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    engine: Engine = "caller"
    spent: Spending | None = None


@dataclass(frozen=True, slots=True)
class ExploreRequest:
    """One step of navigation, for a client that navigates itself.

    Attributes:
        space: where.
        operator: the name of the step (`ports.Operator`).
        entity: a name.
        relation: in any form.
        query: what the caller is after; what is found is ranked by its likeness to it.
        window: of time.
        limit: at most so many items.
        tag: as a reply names it, or a word or two.
        topic: its id, or words.
        ids: of evidence, or, with an episode, the numbers ("1") of its records in the text of the reply.
        episode: of the recall or answer whose records are named by number.
    """

    space: str
    operator: str
    entity: str | None = None
    relation: str | None = None
    query: str | None = None
    window: Window = field(default_factory=Window)
    limit: int = 12
    tag: str | None = None
    topic: str | None = None
    ids: tuple[str, ...] = ()
    episode: str | None = None
