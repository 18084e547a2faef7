"""What recall and answer give back: evidence that names its sources, and answers that cite it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.facts import Engine
from mcp_memory.domain.paths import Path, Root, Rule
from mcp_memory.domain.points import Point
from mcp_memory.domain.spending import Spending
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn

EvidenceKind = Literal["sentence", "segment", "fact", "point"]
Stop = Literal["sufficient", "max_turns", "exhausted", "budget", "deadline"]
"""Why a walk through memory ended."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where something was said: a span of a stored turn.

    Attributes:
        turn: the message or document.
        start: first character of the span within the turn's text.
        end: first character after it.
    """

    turn: Turn
    start: int
    end: int

    @property
    def quote(self) -> str:
        """The words themselves, verbatim (DESIGN I38)."""
        return self.turn.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that recall found.

    Attributes:
        id: of the sentence, segment, fact or memory point.
        kind: a piece of one sentence is shown as that sentence, a longer one as a segment.
        text: what it says: verbatim, or the fact in words, or the description of the point.
        score: in [0, 1], comparable within one result only.
        via: the channels that found it, strongest first.
        sources: at most three, most relevant first.
        valid_from: of a fact, when it begins to hold; ``BEGINNING`` where nobody said. Of a sentence whose time was
            asked for, when what it tells begins, as it says; else None.
        valid_to: of a fact, its end (exclusive), ``FOREVER`` where it has none; of a sentence likewise.
        confidence: of a fact, in (0, 1].
        inferred: the rule, where a fact is a hypothesis (DESIGN I11).
    """

    id: str
    kind: EvidenceKind
    text: str
    score: float
    via: tuple[str, ...]
    sources: tuple[Source, ...]
    valid_from: Millis | None = None
    valid_to: Millis | None = None
    confidence: float | None = None
    inferred: Rule | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A step of navigation that is worth taking next, for whoever navigates.

    Attributes:
        operator: its name (`ports.Operator`).
        args: by name, as the explore tool takes them; ids are several.
        why: in words.
    """

    operator: str
    args: Mapping[str, str | tuple[str, ...]]
    why: str


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """One call of an operator that a walk made.

    Attributes:
        turn: of the walk, from 1.
        operator: its name.
        args: by name, as the explore tool takes them.
        found: items that it found.
        kept: those of them that stood in what was not held yet, or raised it.
    """

    turn: int
    operator: str
    args: Mapping[str, str | tuple[str, ...]]
    found: int
    kept: int


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Whether evidence is enough to answer a query from.

    Attributes:
        score: how far it covers the query, in [0, 1].
        sufficient: whether that is enough.
        missing: content words of the query, as written, that nothing covers.
        reason: why it is not enough, in words, where that was examined; else empty.
    """

    score: float
    sufficient: bool
    missing: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The result of one reconstruction.

    Attributes:
        evidence: best first.
        sufficiency: recall's judgement of itself, in [0, 1].
        sufficient: whether that is enough to answer from.
        missing: the question's words that nothing found covers.
        engine: whose judgement decided.
        warnings: in words, for the caller.
        conflicts: what the facts contradict each other in, in words.
        roots: what navigation started from.
        paths: what it found, best first.
        next: steps that might find what is missing.
        rounds: of propagation that were held (GAM-RAG).
        episode: the id under which it can be learnt from (``episodes.py``); empty for one that nobody keeps.
        points: memory points that bear on the question, the likest first.
        stop: why the walk ended; None where there was none.
        trace: the calls that it made, in order.
        turns: that it took.
        texts: that were embedded.
        spent: on a language model; None where none was asked.
        activated: ids of the sentences that propagation activated (S_act), in order.
    """

    evidence: tuple[Evidence, ...] = ()
    sufficiency: float = 0.0
    sufficient: bool = False
    missing: tuple[str, ...] = ()
    engine: Engine = "embedded"
    warnings: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    roots: tuple[Root, ...] = ()
    paths: tuple[Path, ...] = ()
    next: tuple[Suggestion, ...] = ()
    rounds: int = 0
    episode: str = ""
    points: tuple[Point, ...] = ()
    stop: Stop | None = None
    trace: tuple[OperatorCall, ...] = ()
    turns: int = 0
    texts: int = 0
    spent: Spending | None = None
    activated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A piece of evidence that an answer rests on.

    Attributes:
        evidence_id: the evidence item.
        source: the very words, in their turn.
    """

    evidence_id: str
    source: Source


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """What was found to say, or that there is not enough to say anything.

    Attributes:
        text: at most 25 words; None when it abstains.
        confidence: in [0, 1], also of an abstention (how near it came).
        hedged: whether it rests on something uncertain.
        citations: empty only for an abstention.
        recall: the evidence that it was made from.
        engine: whose judgement decided.
    """

    text: str | None
    confidence: float
    hedged: bool
    citations: tuple[Citation, ...]
    recall: RecallResult
    engine: Engine = "embedded"
