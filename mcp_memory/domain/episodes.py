"""Episodes, lessons and beliefs: the input, the record and the result of learning (GAM-RAG §3.1.2, §3.3).

An *episode* is one recall or answer. It stays in the process until it is used for learning. A judge's labels for it are
a *lesson*, which is stored permanently with the trace of the episode before anything counts as learnt. *Beliefs*,
GAM-RAG's sentence memories, are the sum of the lessons of a space in the order of recording, so they can be recomputed.

A space keeps its lessons in memory, and there may be many thousands. A trace is rarely asked for, and as values it
would take more than twice the memory. So a lesson keeps its trace as the log does, as JSON, and parses it on demand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from mcp_memory.codec import Count, Misread, Share, fields_of, read
from mcp_memory.domain.evidence import OperatorCall, Stop
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.ids import UNKEYED, digest
from mcp_memory.domain.points import Point
from mcp_memory.domain.times import Millis

if TYPE_CHECKING:  # numpy is too heavy to be imported before the first reply
    from mcp_memory.vectors import Vector

Target = Literal[-1, 0, 1]
"""y of eq. 10: the sentence supported the answer (1), was there and did not (0), or was called wrong (-1)."""


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """One item of evidence as an episode showed it.

    Attributes:
        sentences: ids of the sentences that it consists of or rests on.
        text: as shown, cut to 200 characters, for the trace.
    """

    id: str
    score: float
    via: tuple[str, ...]
    sentences: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Episode:
    """The parts of a recall or an answer that learning and the trace need.

    Attributes:
        id: ``ep_…``, new for every call.
        time: the words of the question that say a time, which are embedded for the time memory; None for a question
            without one (NO_TIME).
        shown: the evidence, best first.
        activated: ids of the sentences that propagation activated (S_act), in the order of activation.
        answer: what was answered; None for a recall or an abstention.
        abstained: whether an answer was asked for and not given; such an episode teaches nothing.
        roots: names that navigation started from.
        paths: what navigation found, in words (REAL eq. 9).
        rounds: rounds of propagation that ran.
        stop: why the loop after the first retrieval ended; None if it did not run.
        calls: the operators that the loop called, in order.
        explored: further evidence that the caller found with explore steps and named in its feedback.
        places: the numbers of what is shown in the text of the reply, where evidence of other spaces stands between;
            empty where they are 1, 2, 3, ….
        points: memory points that a language model made of the question; they are not part of the trace.
    """

    id: str
    space: str
    query: str
    at: Millis
    time: str | None = None
    engine: Engine = "embedded"
    shown: tuple[ShownEvidence, ...] = ()
    activated: tuple[str, ...] = ()
    answer: str | None = None
    cited: tuple[str, ...] = ()
    abstained: bool = False
    roots: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    rounds: int = 0
    stop: Stop | None = None
    calls: tuple[OperatorCall, ...] = ()
    explored: tuple[ShownEvidence, ...] = ()
    places: tuple[int, ...] = ()
    points: tuple[Point, ...] = ()


TRACE = tuple(f.name for f in fields(Episode) if f.name not in {"id", "space", "query", "at", "places", "points"})
"""The fields of an episode that stand in the trace of its lessons."""


def encode_trace(trace: Mapping[str, object]) -> bytes:
    """Return the trace of an episode as a lesson keeps it."""
    return json.dumps(trace, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class Lesson:
    """One judge's labels for one episode; a judge gives them once (DESIGN I27).

    Attributes:
        labels: y of each sentence that was judged, by its id.
        trace: the rest of the episode, a JSON object in UTF-8; see `episode`.
    """

    episode_id: str
    space: str
    query: str
    asked_at: Millis
    source: Engine
    at: Millis
    labels: Mapping[str, Target]
    trace: bytes

    @classmethod
    def of(cls, episode: Episode, source: Engine, labels: Mapping[str, Target] | None = None, at: Millis = 0) -> Lesson:
        """Return a judge's lesson about an episode of this process."""
        trace = {name: getattr(episode, name) for name in TRACE}
        trace |= {"calls": [asdict(call) for call in episode.calls]}
        trace |= {name: [asdict(item) for item in getattr(episode, name)] for name in ("shown", "explored")}
        return cls(
            episode.id, episode.space, episode.query, episode.at, source, at, dict(labels or {}), encode_trace(trace)
        )

    @property
    def key(self) -> tuple[str, Engine]:
        """The episode and the judge, which identify a lesson within its space."""
        return self.episode_id, self.source

    def read_trace(self) -> dict[str, Any]:
        """Return the trace as a JSON object."""
        return dict(json.loads(self.trace or b"{}"))

    def episode(self) -> Episode:
        """Return the episode, parsed from the trace.

        Fields that an older program did not write, or wrote otherwise, get their default; those of a newer program are
        left out.
        """
        trace, values = self.read_trace(), {}
        for field in fields_of(Episode):
            if field.name in TRACE and field.name in trace:
                with suppress(Misread):
                    values[field.name] = read(field.hint, trace[field.name])
        return Episode(self.episode_id, self.space, self.query, self.asked_at, **values)


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """The memory of one sentence, Mem(s) (GAM-RAG §3.1.2, eq. 2).

    A sentence without labels has no belief. That equals the initial one: its task vector is the sentence's own, its
    time vector is that of the time it states, and its uncertainties are 1, so that every gate is 1 (DESIGN I20).

    Attributes:
        task: m_task, shape ``(d,)``, length 1: the questions that it helped with.
        task_doubt: uncertainty π_task in (0, 1]; 1 means that nothing is known.
        time: m_time, a unit vector; None if the sentence states no time, or nothing was learnt of it yet.
        time_doubt: uncertainty π_time in (0, 1].
        supported: how often it was judged to support an answer.
        unsupported: how often it was judged not to.
    """

    sentence_id: str
    space: str
    task: Vector
    task_doubt: Share = 1.0
    time: Vector | None = None
    time_doubt: Share = 1.0
    supported: Count = 0
    unsupported: Count = 0


def correction_ref(episode_id: str, text: str) -> str:
    """Return the ref of the message that corrects an episode with these words, which is not keyed yet (`Ids.ref`)."""
    return UNKEYED + digest(episode_id, text)
