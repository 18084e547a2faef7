"""What judges answers, what supports them and what that teaches, and steps of navigation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.answers import EvidenceSentence, Frontier, Judgement, KnownFacts
from mcp_memory.domain.episodes import Belief, Target
from mcp_memory.domain.evidence import Evidence, RecallResult, Source, Suggestion
from mcp_memory.domain.facts import Assertion, Engine
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.paths import Path, PathScores
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import ANY_TIME, Query, Window
from mcp_memory.domain.times import Millis
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.space import Space

NO_FRONTIER = Frontier()


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """What a judge of answers is asked: a query and what was found for it.

    Attributes:
        query: understood and embedded.
        recall: the evidence, with paths, points and conflicts.
        sentences: the sentences of the evidence, best items first, those of one item in order, with their gates.
        passages: the same as a language model is shown them (``services/recall/passages.py``); empty for a judge that
            is none.
        rarity: the idf of each stem of the query in the space, at least 0.
        known_facts: about what it names, and the gates of the sentences that state them.
        gates: the gates of the sentences that are not neutral for the query, by their ids.
        earlier: what the judge returned before it searched further; None if it is asked for the first time.
        seen: what it was shown then and need not see again; see `Judgement`.
        point_sentences: by the id of a memory point of ``recall``, the sentences that it rests on.
        span: the first and the last moment at which something of the space was said; None if no time is known.
        frontier: what the evidence leads on to.
        relates: whether the query relates things to each other, so that memory points of it are kept while it is
            answered.
        working: the ids of these points, which lead those of ``recall``.
        last: whether it is not asked again, whatever it asks for.
    """

    query: Query
    recall: RecallResult
    sentences: Sequence[EvidenceSentence]
    rarity: Mapping[str, float]
    known_facts: KnownFacts
    gates: Mapping[str, float] = field(default_factory=dict)
    earlier: Judgement | None = None
    seen: Collection[Hashable] = frozenset()
    point_sentences: Mapping[str, Sequence[EvidenceSentence]] = field(default_factory=dict)
    span: tuple[Millis, Millis] | None = None
    frontier: Frontier = NO_FRONTIER
    relates: bool = False
    working: Collection[str] = ()
    last: bool = False
    passages: Sequence[EvidenceSentence] = ()

    @property
    def shown(self) -> Sequence[EvidenceSentence]:
        """What a language model is shown of the sentences."""
        return self.passages or self.sentences


class QuestionJudge(Protocol):
    """The judgements that one query needs, by one judge and within one budget; a new object for each query.

    Attributes:
        scored_steps: steps of the beam search for which `score` may be asked; formulas of navigation score the rest.
        warnings: why another judge than the wanted one decided, in words, so far.
        spent: on a language model, so far; None if none was asked.
        follow_ups: times that it may be asked again about what the steps it asks for have found; 0 once its budget is
            spent, and for one that is asked once.
    """

    @property
    def follow_ups(self) -> int: ...  # noqa: D102

    @property
    def scored_steps(self) -> int: ...  # noqa: D102

    @property
    def warnings(self) -> tuple[str, ...]: ...  # noqa: D102

    @property
    def spent(self) -> Spending | None: ...  # noqa: D102

    async def understand(
        self, query: Query, speakers: Collection[str], held: Collection[str], span: tuple[Millis, Millis] | None
    ) -> Query:
        """Return a query with what its words mean (DESIGN L4: REAL's anchors, MRAgent's cues).

        Args:
            query: parsed by rules.
            speakers: the speakers of the space.
            held: what the space holds: ``conversations``, ``documents``.
            span: the first and the last moment at which something was said there; None if no time is known.
        """

    async def score(self, query: Query, paths: Sequence[Path]) -> list[PathScores] | None:
        """Return the scores of the paths of one step, in their order (DESIGN L5, REAL §3.3.2).

        Args:
            query: as understood.
            paths: the beams, and what each of them could go on to, with the scores that the formulas give them.

        Returns:
            None to keep the scores of the formulas.
        """

    def assesses(self, recall: RecallResult) -> bool:
        """Return whether `assess` is to be asked about a result; else nobody judges it."""

    async def assess(self, case: JudgeInput) -> Judgement:
        """Return whether the evidence suffices, which of it is needed, and where to look for more (DESIGN L6)."""

    async def judge(self, case: JudgeInput) -> Judgement:
        """Return the answer that can be given, and whose judgement it is (DESIGN L6 and L10)."""


Supporting = Callable[[Query, str, Sequence[str], Mapping[str, Source], Collection[str]], list[str]]
"""Returns the ids of the sentences that state an answer or are a bridge to it (GAM-RAG §3.3, without a caller).

Its arguments: the query, understood; the text of the answer; the names of the roots of navigation and of the entities
on the path to the answer; the sentences that were activated or are cited, by id; the ids of those that state a fact of
a path that led to the answer.
"""
BeliefUpdate = Callable[[Belief, Target, Engine, Vector, tuple[Vector, Vector] | None], Belief]
"""Returns the belief about a sentence after a judge has labelled it (GAM-RAG §3.3.1).

Its arguments: what was believed, at first the sentence's own vector with uncertainty 1 (eq. 2); y; the source whose
word it is; q_task, the vector of the query, shape ``(d,)``, of length 1; the vectors of the times that the sentence and
the query state, None if one of them states none.
"""


@dataclass(frozen=True, slots=True)
class OperatorInput:
    """The arguments of one step of navigation; each operator uses some of them.

    Attributes:
        space: the space of a view that does not change meanwhile.
        cosine: returns the similarity of the query to the sentences that state assertions, in [-1, 1]; 0 without a
            query.
        query: understood and embedded, or None.
        entity: a name; likewise ``relation``, in any form.
        tag: a tag of MRAgent's graph, a word or two; ``topic`` is an id, or words.
        ids: the ids of evidence.
        window: the window of time; ``limit``: at most so many items.
        weigh: returns the weights of sentences for the query, by their rows, at least 0 (GAM-RAG eq. 4); None without
            a query.
        points: memory points of a question that is being answered, which are not stored.
    """

    space: Space
    cosine: Callable[[Sequence[Assertion]], list[float]]
    query: Query | None = None
    entity: str | None = None
    relation: str | None = None
    tag: str | None = None
    topic: str | None = None
    ids: tuple[str, ...] = ()
    window: Window = ANY_TIME
    limit: int = 12
    weigh: Callable[[NDArray[np.intp]], Scores] | None = None
    points: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorResult:
    """What one step of navigation found.

    Attributes:
        items: evidence, best first; of a history by time.
        next: suggestions for the next step.
        warnings: in words.
        oldest: of a history the ids of the items, that first which is left out first where there is no room for all;
            empty for others, of which the last is.
        left_out: of a history how many more the limit of the step left out.
    """

    items: tuple[Evidence, ...]
    next: tuple[Suggestion, ...] = ()
    warnings: tuple[str, ...] = ()
    oldest: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of navigation. Each room offers its own, and ``mcp_memory/operators.py`` has the table of them.

    Attributes:
        name: as the explore tool calls it.
        take: takes the step; nothing is stored.
        needs: the required arguments; "entity or query" if one of them is enough.
        uses: the arguments that change what it finds or proposes, beside ``limit``, which all use; no other is
            accepted.
    """

    name: str
    take: Callable[[OperatorInput], OperatorResult]
    needs: tuple[str, ...]
    uses: tuple[str, ...]
