"""What an answer is made from and what is proposed: sentences and facts that recall found, and what they say.

A judge (``ports.QuestionJudge``) sees candidates and what the facts say, and gives back a proposal with its
confidence; the service decides whether that is enough to say it. Where a language model judges, it decides that itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.evidence import Citation, Source, Suggestion
from mcp_memory.domain.facts import Assertion, Engine, Version
from mcp_memory.domain.paths import Rule, Step
from mcp_memory.domain.times import Millis, StatedTime
from mcp_memory.domain.turns import Turn


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A sentence of the evidence that an answer may stand in.

    Attributes:
        evidence_id: of the item of evidence that it belongs to.
        source: its turn, and where it stands there.
        times: the times that it states, in characters from the start of the turn's text.
        score: of the item of evidence, in [0, 1].
        cosine: of its vector to the question's, or None where the view holds no vectors.
        gate: how far it is known to help with the question, in [0, 2]; 1 where nothing was learnt, below 1 where a
            caller called it wrong.
    """

    evidence_id: str
    source: Source
    times: tuple[StatedTime, ...]
    score: float
    cosine: float | None
    gate: float = 1.0


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """What is known of one relation of one entity, seen from that entity.

    Attributes:
        key: of the entity.
        names: every way in which it is written, its usual name first.
        relation: its name.
        forward: whether the entity is the head, and the tails are the values; else the other way round.
        versions: those that can be relied on, by start, contested ones included.
        suspected: those that nothing has confirmed yet, by start.
        denials: negative assertions of it in what recall found.
        through: the steps from an entity that the question names to this one; empty where it is named itself.
        inferred: the rule, where a hypothesis takes part, in the steps or as the version.
    """

    key: str
    names: tuple[str, ...]
    relation: str
    forward: bool
    versions: tuple[Version, ...]
    suspected: tuple[Version, ...] = ()
    denials: tuple[Assertion, ...] = ()
    through: tuple[Step, ...] = ()
    inferred: Rule | None = None

    def value(self, version: Version | Assertion) -> str:
        """Return the other end of a fact of the group, as written."""
        return version.tail if self.forward else version.head


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What the facts say about the entities of a question, as a judge of answers needs it.

    Attributes:
        moment: "now" for the question.
        chosen: whether the caller chose the moment: then only what held at it is meant.
        uncertain: whether what nothing has confirmed may be said too.
        groups: of the entities that the question names, then of those that paths lead over.
        turns: those that the assertions of the groups stand in, by id.
        times: what the sentences of these assertions state, by turn and sentence.
        gates: by turn, the sentences whose gate for the question is not 1: first character, first after it, gate.
    """

    moment: Millis
    chosen: bool
    uncertain: bool
    groups: tuple[RelationFacts, ...]
    turns: Mapping[str, Turn]
    times: Mapping[tuple[str, int], tuple[StatedTime, ...]]
    gates: Mapping[str, Sequence[tuple[int, int, float]]] = field(default_factory=dict)

    def gate(self, citations: Iterable[Citation]) -> float:
        """Return the gate of what rests on citations, in [0, 2]: the lowest of them.

        That of each is the gate, farthest from 1, of the sentences that it quotes from.
        """
        return min((self._gate(one.source) for one in citations), default=1.0)

    def _gate(self, source: Source) -> float:
        pieces = self.gates.get(source.turn.id, ())
        met = [gate for start, end, gate in pieces if start < source.end and source.start < end]
        return max(met, key=lambda gate: abs(gate - 1), default=1.0)

    def source(self, assertion: Assertion) -> Source | None:
        """Return where an assertion stands, or None where its turn is not known."""
        turn = self.turns.get(assertion.turn_id)
        if turn is None or not 0 <= assertion.start < assertion.end <= len(turn.text):
            return None
        return Source(turn, assertion.start, assertion.end)

    def fact(self, version_id: str) -> tuple[Version, Rule | None] | None:
        """Return a version by its id, with the rule where it is a hypothesis, or None."""
        for group in self.groups:
            inferred = None if any(step.inferred for step in group.through) else group.inferred
            facts = [(version, inferred) for version in (*group.versions, *group.suspected)]
            for version, rule in (*facts, *((step.version, step.inferred) for step in group.through)):
                if version.id == version_id:
                    return version, rule
        return None


@dataclass(frozen=True, slots=True)
class Proposal:
    """The best that can be said, and how sure that is.

    Attributes:
        text: at most 25 words.
        confidence: roughly the share of such proposals that are right, in [0, 1].
        hedged: whether it rests on something uncertain, and should be said so.
        citations: what it rests on, never empty.
        gate: of what it rests on; see `EvidenceSentence`.
    """

    text: str
    confidence: float
    hedged: bool
    citations: tuple[Citation, ...]
    gate: float = 1.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge of answers came to.

    Attributes:
        proposal: what can be said; None for nothing. The embedded engine proposes however unsure it is; a language
            model only what it holds to be told, and what it cites is what it says supports the answer.
        engine: whose judgement it is.
        missing: what the judge says is not told, in words; only where it has nothing to propose.
        next: steps that it wants to be taken before it is asked again; likewise.
        left: of what it was shown, what it need not see again: places of sentences and ids of facts.
        kept: what it says is needed: what the answer rests on, or what a later answer would need.
    """

    proposal: Proposal | None
    engine: Engine = "embedded"
    missing: tuple[str, ...] = ()
    next: tuple[Suggestion, ...] = ()
    left: frozenset[Hashable] = frozenset()
    kept: tuple[Citation, ...] = ()
