"""Results of recall and answer: paths through the facts (REAL §III-B), evidence with its sources, and what cites it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.facts import Assertion, Engine, FactKind, Intent, Precision, Version
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Breadth
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn

EvidenceKind = Literal["sentence", "segment", "fact", "point"]
Assessor = Literal["nobody", "anthropic", "caller"]
"""Who judged whether evidence is enough to answer from."""
Stop = Literal["covered", "max_turns", "exhausted", "budget", "deadline"]
"""Why the loop of recall ended."""
Argument = str | tuple[str, ...]
"""An argument of an operator."""
StepKey = tuple[str, tuple[tuple[str, Argument], ...]]
"""An operator with its arguments."""
Rule = Literal["symmetry", "hyponymy", "succession", "causality", "cooccurrence"]
"""The rule by which a step was inferred (REAL §III-B2, Table I)."""


@dataclass(frozen=True, slots=True)
class Root:
    """The entity from which a search starts."""

    key: str
    name: str
    intent: Intent


@dataclass(frozen=True, slots=True)
class Step:
    """One step from an entity to a neighbour.

    Attributes:
        version: the fact of the step. Of an inferred step, unless it leads to the value before or after (succession),
            it is temporary: its id starts with ``i_``, and it is never stored (DESIGN I11).
        forward: whether the step goes from head to tail.
        inferred: the rule of a hypothesis; None for a stated fact.
        confidence: the confidence of the version, discounted by the rule.
        via: assertions from which the step was inferred.
    """

    version: Version
    forward: bool
    inferred: Rule | None = None
    confidence: float = 1.0
    via: tuple[Assertion, ...] = ()


@dataclass(frozen=True, slots=True)
class PathScores:
    """The three scores of a path, each in [0, 1] (REAL §III-B2, II).

    Attributes:
        relevance: S_QR, of the path to the question.
        coherence: S_LC, of the steps with each other and in time.
        sufficiency: S_AS, how far the path answers the question.
    """

    relevance: float
    coherence: float
    sufficiency: float

    @property
    def mean(self) -> float:
        """S of DESIGN D34."""
        return (self.relevance + self.coherence + self.sufficiency) / 3


@dataclass(frozen=True, slots=True)
class Path:
    """A simple path of facts from a root; no entity occurs twice (REAL §III-B2; §III-C, eq. 9; DESIGN I32).

    Attributes:
        root: where it starts.
        steps: empty before the first step.
        end: key of its last entity.
        scores: by `score_paths`.
    """

    root: Root
    steps: tuple[Step, ...]
    end: str
    scores: PathScores

    def with_step(self, step: Step, end: str) -> Path:
        """Return this path with one more step, not yet scored; many times as fast as `dataclasses.replace`."""
        return Path(self.root, (*self.steps, step), end, self.scores)

    def with_scores(self, scores: PathScores) -> Path:
        """Return this path with other scores."""
        return Path(self.root, self.steps, self.end, scores)

    @property
    def inferred(self) -> Rule | None:
        """The first rule by which a step was inferred, or None."""
        return next((step.inferred for step in self.steps if step.inferred), None)

    @property
    def confidence(self) -> float:
        """The lowest confidence of its steps."""
        return min(step.confidence for step in self.steps)


@dataclass(frozen=True, slots=True)
class Source:
    """A span of a stored turn.

    Attributes:
        start: first character within the turn's text; ``end``: first one after it.
    """

    turn: Turn
    start: int
    end: int

    @property
    def quote(self) -> str:
        """The text of the span, verbatim (DESIGN I38)."""
        return self.turn.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One item that recall found.

    Attributes:
        kind: a segment of one sentence is shown as ``sentence``.
        text: verbatim, or the fact in words, or the description of the point.
        score: in [0, 1], comparable within one result only.
        via: the channels that found it, strongest first.
        sources: at most three, most relevant first.
        valid_from: of a fact, the start of its validity; ``BEGINNING`` if it is not known. Of a sentence whose time
            was asked for, the start of what it states; else None.
        valid_to: of a fact, the end of its validity (exclusive), ``FOREVER`` if it has none; of a sentence likewise.
        confidence: of a fact, in (0, 1].
        inferred: the rule, if the fact is a hypothesis (DESIGN I11).
        fact_kind: of a fact, whether it is a state, an event or a plan.
        precision: of a fact, how exactly its times are known; None if nobody stated them.
        stated: of a fact, whether somebody stated its start; else ``valid_from`` is the time of its telling.
        before: what was said directly before, where the item is not understood without it: a reply, a pronoun.
        abridged: whether ``text`` is some words of its source, the headings of a reply, which is not quoted beside it.
        space: the space where it is stored, if several spaces were asked; else None.
        told_then: whether it tells of the time that was asked for, ``valid_from`` to ``valid_to``, not said then.
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
    fact_kind: FactKind | None = None
    precision: Precision | None = None
    stated: bool = False
    before: Source | None = None
    abridged: bool = False
    space: str | None = None
    told_then: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A step of navigation worth taking next: a call of an operator, a ∈ A of MRAgent's eq. 10.

    Attributes:
        operator: its name (`domain.operators`).
        args: by name, as the explore tool takes them; ids are several.
        why: the reason, in words; empty where nobody reads it.
        strength: how likely what it starts from leads to the answer, in (0, 1]; the loop takes the strongest.
    """

    operator: str
    args: Mapping[str, Argument]
    why: str = ""
    strength: float = 1.0

    @property
    def key(self) -> StepKey:
        """What distinguishes the call from others (DESIGN I35); upper and lower case do not."""
        args = ((name, value.casefold() if isinstance(value, str) else value) for name, value in self.args.items())
        return self.operator, tuple(sorted(args))


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """One call of an operator that the loop made.

    Attributes:
        turn: the turn of the loop, from 1.
        args: by name, as the explore tool takes them.
        kept: how many of them led to new segments, or raised the strength of known ones.
    """

    turn: int
    operator: str
    args: Mapping[str, Argument]
    found: int
    kept: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far evidence covers a query, by which the loop of recall goes on.

    Attributes:
        whole: whether that is enough to stop.
        missing: content words of the query, as written, that nothing covers.
    """

    whole: bool
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """A standing wish: what the user asks for once and for all.

    Attributes:
        id: the id of the sentence that states it.
        kind: "wish", or "withdrawn" for a permission: it ends a wish in nearly the same words.
        scope: the words that say of what it holds; empty if it holds of every answer.
        source: the words with their turn.
        row: the row of the segment with these words.
        space: the space where it stands, if that is another than the one that was asked; else None.
        later: the user's newest words with a word of it, or with a value of its matter, that state no wish; else None.
    """

    id: str
    text: str
    kind: str
    scope: str
    said_at: Millis
    source: Source
    row: int
    space: str | None = None
    later: Source | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """What a caller said is right, of an answer to a question.

    Attributes:
        question: as it was asked then.
        sources: the sentences that say it, in order; all of one message.
        wrong: the sentence of the evidence that the wrong answer rested on; None where it is not known.
    """

    question: str
    sources: tuple[Source, ...]
    wrong: Source | None = None

    @property
    def text(self) -> str:
        """What was said, in one line."""
        first, last = self.sources[0], self.sources[-1]
        return " ".join(first.turn.text[first.start : last.end].split())


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The result of one reconstruction.

    Attributes:
        evidence: best first.
        sufficiency: how likely all that the query needs is in the evidence, in [0, 1]; None where nobody judged that.
        sufficient: whether that is enough to answer from; None likewise.
        missing: names and numbers of the query that no record of the space has; where Claude judged, what is missing in
            its words.
        conflicts: where certain facts contradict each other, and what callers corrected, in words.
        roots: entities that navigation started from.
        paths: best first.
        next: steps that might find what is missing.
        rounds: the rounds of propagation (GAM-RAG).
        episode: under which feedback refers to it (``services/learn/episodes.py``); empty if it is not kept.
        points: related to the query, the most similar first.
        stop: why the loop ended; None if it did not run.
        trace: its calls, in order.
        turns: how many it took.
        texts: how many were embedded.
        activated: ids of the sentences that propagation activated (S_act), in order.
        breadth: how broad it is; ``all`` and ``overview`` show their evidence as lines in the order of time.
        total: with ``all`` and ``overview``, how many items bear on the query; else None.
        skipped: how many of them earlier pages have shown.
        wishes: the user's standing wishes that apply, the best fitting first.
        correction: of an answer to such a query, the newest; None if no caller gave one.
        corrected: corrections of answers to other queries that rested on sentences of this evidence.
        sufficiency_by: who judged whether the evidence is enough.
    """

    evidence: tuple[Evidence, ...] = ()
    sufficiency: float | None = None
    sufficient: bool | None = None
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
    breadth: Breadth = "best"
    total: int | None = None
    skipped: int = 0
    wishes: tuple[Wish, ...] = ()
    correction: Correction | None = None
    corrected: tuple[Correction, ...] = ()
    sufficiency_by: Assessor = "nobody"


@dataclass(frozen=True, slots=True)
class Citation:
    """A piece of evidence that an answer rests on, by its id, with the words that are quoted."""

    evidence_id: str
    source: Source


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """An answer, or an abstention.

    Attributes:
        text: some 25 words, a list, summary or explanation by a language model up to 150; None for an abstention.
        confidence: in [0, 1]; None for an abstention that nobody judged.
        hedged: whether it rests on something uncertain.
        citations: empty only for an abstention.
        points: memory points that a language model made of the question while it answered, not stored.
        closest: what the best records quote, for whoever asked to read, where nobody judged and nothing certain
            answers; best first.
    """

    text: str | None
    confidence: float | None
    hedged: bool
    citations: tuple[Citation, ...]
    recall: RecallResult
    engine: Engine = "embedded"
    points: tuple[Point, ...] = ()
    closest: tuple[Source, ...] = ()
