"""What a judge of answers is given (sentences and facts that recall found), and the proposal that it returns.

A judge (``ports.QuestionJudge``) sees the sentences and the facts, and returns a proposal with a confidence, or none.
The rules propose only what certain facts say; a language model says itself whether the evidence answers the query.

**Conflicts** (DESIGN 4 step 3) are described in words, so that the caller learns of them. Both sides are certain facts
of one head and relation: a value that was contested by another with the same start (DESIGN D28), or a denial of a value
that holds. A value that followed another is a change, not a conflict, and so is one that its own speaker corrected.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Citation, Rule, Source, Step, Suggestion
from mcp_memory.domain.facts import CERTAIN, Assertion, Engine, Version
from mcp_memory.domain.points import Point
from mcp_memory.domain.times import Millis, StatedTime
from mcp_memory.domain.turns import Turn


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A sentence of the evidence that may contain an answer.

    Attributes:
        evidence_id: the id of the item that it belongs to.
        gate: how far it is known to help with the query, in [0, 2]; 1 if nothing was learnt, below 1 if a caller
            called it wrong.
    """

    evidence_id: str
    source: Source
    gate: float = 1.0


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """The known facts of one relation of one entity.

    Attributes:
        key: the key of the entity.
        names: every spelling of it, its usual name first.
        forward: whether the entity is the head and the tails are the values; otherwise the other way round.
        versions: the stable ones, by start, contested ones included.
        suspected: the unconfirmed ones, by start.
        denials: negative assertions of it in what recall found.
        through: the steps from an entity that the query names to this one; empty if the query names it.
        inferred: the rule, if a hypothesis takes part, in the steps or as the version.
        doubtful: whether it may be about somebody with a longer or shorter name.
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
    doubtful: bool = False

    def value(self, version: Version | Assertion) -> str:
        """Return the value of a fact of the group, as written."""
        return version.tail if self.forward else version.head


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The facts about the entities of a query, as input of a judge of answers.

    Attributes:
        moment: the "now" of the query.
        chosen: whether the caller chose the moment; then only what held at it is wanted.
        groups: the groups of the entities that the query names, then of those that paths lead to.
        turns: the turns of the assertions of the groups, by id.
        times: the times that the sentences of these assertions state, by turn and sentence.
        meanings: keys of the people whom a name in the query may mean, if there are several.
        gates: by turn, the sentences whose gate for the query is not 1: first character, first after it, gate.
    """

    moment: Millis
    chosen: bool
    groups: tuple[RelationFacts, ...]
    turns: Mapping[str, Turn]
    times: Mapping[tuple[str, int], tuple[StatedTime, ...]]
    gates: Mapping[str, Sequence[tuple[int, int, float]]] = field(default_factory=dict)
    meanings: tuple[str, ...] = ()

    def gate(self, citations: Iterable[Citation]) -> float:
        """Return the gate of an answer with these citations, in [0, 2]: the lowest of theirs.

        The gate of a citation is the one farthest from 1 among the sentences that it quotes.
        """
        return min((self._gate(one.source) for one in citations), default=1.0)

    def _gate(self, source: Source) -> float:
        pieces = self.gates.get(source.turn.id, ())
        met = [gate for start, end, gate in pieces if start < source.end and source.start < end]
        return max(met, key=lambda gate: abs(gate - 1), default=1.0)

    def source(self, assertion: Assertion) -> Source | None:
        """Return the span of an assertion; None if its turn is not known."""
        turn = self.turns.get(assertion.turn_id)
        if turn is None or not 0 <= assertion.start < assertion.end <= len(turn.text):
            return None
        return Source(turn, assertion.start, assertion.end)

    def fact(self, version_id: str) -> tuple[Version, Rule | None] | None:
        """Return a version by its id, with the rule if it is a hypothesis; None if there is none."""
        for group in self.groups:
            inferred = None if any(step.inferred for step in group.through) else group.inferred
            facts = [(version, inferred) for version in (*group.versions, *group.suspected)]
            for version, rule in (*facts, *((step.version, step.inferred) for step in group.through)):
                if version.id == version_id:
                    return version, rule
        return None


@dataclass(frozen=True, slots=True)
class Proposal:
    """The best answer that a judge finds, and its confidence.

    Attributes:
        text: some 25 words, a list, summary or explanation by a language model up to 150; a full answer has up to 300,
            with the places of its citations in brackets, from 1.
        confidence: roughly the share of such proposals that are right, in [0, 1].
        hedged: whether it rests on something uncertain.
        citations: what it rests on, never empty.
    """

    text: str
    confidence: float
    hedged: bool
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class PointEdit:
    """What a judge does to the memory points of the question that it answers (HGMem §3.5, eqs 2 and 8).

    Attributes:
        points: as they were shown: none for a new point, one for an update, several to be merged.
        entities: the entities that a new point joins.
        description: what the point says from now on.
        citations: the citations of the evidence that the description takes in.
        concern: what is to be found around the point; empty for nothing.
    """

    points: tuple[Point, ...]
    entities: tuple[str, ...]
    description: str
    citations: tuple[Citation, ...]
    concern: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a judge of answers.

    Attributes:
        proposal: the answer; None for none. The embedded engine proposes only what certain facts say; a language model
            what it finds stated, and what it cites is what it says supports the answer.
        missing: facts that are not stated, in the judge's words; with a proposal, what it lacks.
        next: steps to take before it is asked again; with a proposal, only if that is incomplete.
        left: evidence that it need not see again: places of sentences and ids of facts.
        kept: evidence that it needs for its answer, or for a later one.
        support: how likely it is that the evidence answers the question at all, in [0, 1]; the confidence of an
            abstention rests on it. None where nobody judged that.
        points: what becomes of the memory points of the question, in order.
        beyond: what is to be found outside of all points; empty for nothing.
    """

    proposal: Proposal | None
    engine: Engine = "embedded"
    missing: tuple[str, ...] = ()
    next: tuple[Suggestion, ...] = ()
    left: frozenset[Hashable] = frozenset()
    kept: tuple[Citation, ...] = ()
    support: float | None = None
    points: tuple[PointEdit, ...] = ()
    beyond: str = ""


def conflicts(groups: Iterable[RelationFacts], since: Millis, until: Millis) -> tuple[str, ...]:
    """Return the conflicts about a time, each once, in the order of the groups.

    A conflict stands between two certain facts of one head and relation that cannot both be true: of a value that holds
    with another that began at the same time and lost to it, or with a denial of its whole time.
    """
    found: dict[str, None] = {}
    for group in groups:
        for kept in group.versions:
            if not (kept.told_certain and kept.holds(since, until)):
                continue
            for lost in group.versions:
                contested = lost.lost and kept.since <= lost.since < kept.until and lost.told_certain
                same = entity_key(lost.head) == entity_key(kept.head)
                if contested and same and entity_key(lost.tail) != entity_key(kept.tail):
                    found[f"{kept.text}, but it was also said: {lost.text}"] = None
            if any(_denies(denial, kept) for denial in group.denials):
                found[f"{kept.text}, but it was also said that this does not hold"] = None
    return tuple(found)


def _denies(denial: Assertion, kept: Version) -> bool:
    """Return whether a certain statement denies a fact for a time at which it holds."""
    same = entity_key(denial.head) == entity_key(kept.head) and entity_key(denial.tail) == entity_key(kept.tail)
    return same and denial.confidence >= CERTAIN and kept.since <= denial.since < kept.until
