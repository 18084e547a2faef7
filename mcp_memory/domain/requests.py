"""Requests and results of the tools that write, evolve, explore and forget; the server converts JSON to and from these.

The request of the tools that read is a `domain.query.Query`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.facts import Engine, FactKind, Intent, Precision
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.query import ANY_TIME, Window
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Kind

Op = Literal["added", "merged", "closed", "contested", "unchanged"]
"""What a write did to a fact: added it; merged a repeated statement into it; set its end; found it in conflict with
another of the same start; nothing, since all of it was stored before."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """A message or document as the caller gave it.

    ``ref`` is None if it came without an id, ``offset`` (`Turn.offset`) if its time says none. An import alone gives
    ``kind``, where the items of a request are not of one, and ``written_at``, when another store has stored it.
    """

    text: str
    ref: str | None = None
    speaker: str | None = None
    role: str | None = None
    title: str | None = None
    said_at: Millis | None = None
    offset: int | None = None
    kind: Kind | None = None
    written_at: Millis | None = None


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact as the caller extracted it.

    Attributes:
        head: the entity that it is about, by name.
        relation: in any form ("livesIn").
        valid_from: the start of its validity; None if the caller did not state it.
        valid_to: its end (exclusive), after ``valid_from``; None likewise.
        confidence: in (0, 1]; that of a plain statement if the caller did not state it (DESIGN 1).
        source: id of the message or document that states it, of this call or stored before in the same session; None
            if the caller states it.
        negated: whether it states that the fact does not hold, from ``valid_from`` on.
        undated: whether nobody knows since when it holds, if neither it nor its source has a time, as in an import.
        recorded_at: when another store has stored it, of an import.
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
    undated: bool = False
    recorded_at: Millis | None = None


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """The request of a write.

    Attributes:
        session: the session of the items, and of the facts' sources.
        kind: the kind of the items; ``statement``, and no items, if the call brings facts alone.
        facts: the facts that the caller extracted from these items or others, or states itself.
        wait: whether the call ends only when everything that it brought is indexed.
    """

    space: str
    session: str
    kind: Kind
    items: tuple[NewItem, ...]
    facts: tuple[NewFact, ...] = ()
    wait: bool = True


@dataclass(frozen=True, slots=True)
class WrittenItem:
    """The outcome for one item; ``stored`` is False for one that was there already."""

    ref: str
    stored: bool


@dataclass(frozen=True, slots=True)
class WrittenFact:
    """The outcome for one fact: one that the call asserts, or one that this ended.

    Attributes:
        text: in words, without its times.
        op: what was done to it.
        valid_from: the start of its validity now; None if it is not stated.
        valid_to: its end (exclusive) likewise.
        precision: how exactly its times are known; None if nobody stated them.
    """

    id: str
    text: str
    op: Op
    valid_from: Millis | None = None
    valid_to: Millis | None = None
    kind: FactKind = "state"
    precision: Precision | None = None


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The outcome of a write.

    Attributes:
        items: one for each item of the request, in its order.
        warnings: the warnings of items that were there already and came with another speaker, role, time or title.
        engine: the caller, if it brought facts, whatever else was extracted from the items.
        facts: those that the caller asserts, those extracted from the items, and others that these ended.
        entities: names that these facts are about, each once.
        pending: how many of the texts are stored, and found by their words, but not indexed yet; the facts in them, and
            the numbers of their segments and sentences, are not among the above then.
    """

    items: tuple[WrittenItem, ...]
    segments: int
    sentences: int
    warnings: tuple[str, ...]
    engine: Engine = "embedded"
    facts: tuple[WrittenFact, ...] = ()
    entities: tuple[str, ...] = ()
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a caller states about an episode.

    Attributes:
        supports: ids of evidence that states the answer, or leads to it, as the episode or a step of explore showed
            it, or the numbers ("1") of its records in the text of the reply.
        not_supports: the same for evidence that does not.
        answer_correct: whether the answer was right, the memory's own or the one that the caller made of the evidence;
            None if the caller does not say.
        correction: what is true instead, in whole sentences.
    """

    supports: tuple[str, ...] = ()
    not_supports: tuple[str, ...] = ()
    answer_correct: bool | None = None
    correction: str | None = None


EvolveStep = Literal["points", "merge", "feedback", "confidence", "cardinality", "entities", "questions"]
"""What improves a memory: points made of what belongs together, and merged (HGMem), feedback on an episode (GAM-RAG),
the confidence of facts and the cardinality of relations (REAL), names of one entity, and the pool of questions
(QRMeM)."""


@dataclass(frozen=True, slots=True)
class PointInsert:
    """A memory point as the caller gives it; it is forgotten with the evidence that ``supports`` names."""

    entities: tuple[str, ...]
    description: str
    supports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewDescription:
    """The new description of a point; its entities stay."""

    id: str
    description: str


@dataclass(frozen=True, slots=True)
class NewMerge:
    """Points to be merged into one, and its description."""

    ids: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class PointEdits:
    """Edits of memory points by a caller, all of them or none."""

    insert: tuple[PointInsert, ...] = ()
    update: tuple[NewDescription, ...] = ()
    merge: tuple[NewMerge, ...] = ()


@dataclass(frozen=True, slots=True)
class EvolveRequest:
    """The request of an evolve.

    Attributes:
        episode: of the recall or answer that the feedback is about; without feedback, the one whose evidence is
            organised.
        goal: a question or topic to organise memory around; if the call brings points, what these are for.
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
    """One change that an evolve made.

    Attributes:
        kind: what it is.
        id: the id of the sentence, fact, message or point; of a relation or an entity its name, of questions their
            space.
        text: in words.
        before: its state before, in words; None for something new.
        after: its state now.
        valid_from: of a fact, the start of its validity now; None if it is not stated.
        valid_to: of a fact, its end (exclusive) likewise.
        precision: of a fact, how exactly its times are known; None if nobody stated them.
    """

    step: EvolveStep
    kind: Literal["sentence", "fact", "message", "relation", "point", "entity", "question"]
    id: str
    text: str
    before: str | None
    after: str
    valid_from: Millis | None = None
    valid_to: Millis | None = None
    fact_kind: FactKind | None = None
    precision: Precision | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A step that changed nothing, and why."""

    step: EvolveStep
    reason: str


@dataclass(frozen=True, slots=True)
class EvolveResult:
    """The outcome of an evolve.

    Attributes:
        warnings: why another judge than the wanted one made the memory points, in words.
        engine: the caller, if it brought feedback or points; else the engine that made the points.
        spent: on a language model; None if none was asked.
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
        operator: the name of the step (`domain.operators`).
        query: what the caller looks for; results are ranked by their similarity to it.
        limit: at most so many items.
        tag: as a reply names it, or a word or two.
        topic: its id, or words.
        ids: the ids of evidence, or, with an episode, the numbers ("1") of its records in the text of the reply.
        episode: the episode of the recall or answer whose records are named by number.
    """

    space: str
    operator: str
    entity: str | None = None
    relation: str | None = None
    query: str | None = None
    window: Window = ANY_TIME
    limit: int = 12
    tag: str | None = None
    topic: str | None = None
    ids: tuple[str, ...] = ()
    episode: str | None = None


@dataclass(frozen=True, slots=True)
class ForgetTargets:
    """What is to be forgotten in one space, by ids; what rests on it follows from the rows (``view/erasure.py``).

    Attributes:
        everything: the whole space; the other fields are empty then.
        turns: ids of messages, revisions of documents and statements.
        assertions: ids of facts that callers stated or Claude read, of texts that stay.
    """

    space: str
    everything: bool = False
    turns: frozenset[str] = frozenset()
    assertions: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()
    episodes: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether nothing is chosen."""
        return not (self.everything or self.turns or self.assertions or self.points or self.episodes)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What a caller asks to forget: exactly one of ids, a session alone, entity, query, window, everything.

    Attributes:
        ids: the ids of messages, documents, facts, points, episodes or evidence.
        session: of the messages and documents that ``ids`` name; alone, the session itself.
        window: the window of times; None for no range.
        dry_run: whether only to say what would go.
        token: the token of the preview.
    """

    space: str
    ids: tuple[str, ...] = ()
    session: str | None = None
    entity: str | None = None
    query: str | None = None
    window: Window | None = None
    everything: bool = False
    dry_run: bool = True
    token: str | None = None


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """What went, or would go.

    Attributes:
        affected: in words: what goes, what loses a source, what is made again, what stays.
        token: the token with which the same call does it.
    """

    forgotten: Mapping[str, int]
    affected: tuple[str, ...]
    dry_run: bool
    token: str | None = None
    warnings: tuple[str, ...] = ()
