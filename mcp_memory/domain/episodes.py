"""Episodes: one recall or answer that may be learnt from, and what was learnt from it.

An episode lives in the process until somebody learns from it. What a judge then says of it is a *lesson*: it is
written down for good, with the trace of the episode, before anything counts as learnt. Beliefs (``beliefs.py``) are
what the lessons of a space add up to in the order in which they were recorded, so they can be made anew from them.

A space holds its lessons for as long as it is held itself, and there may be many thousands of them. A trace is asked
for rarely, and as values it would take more than twice the room: so a lesson keeps it as the log does, as JSON, and
takes it apart when somebody asks for the episode.

What use has taught about a sentence: GAM-RAG's sentence memory (§3.1.2, eq. 2).

A sentence that nobody ever judged has no belief; that is the same as the initial one, whose task vector is the
sentence's own, whose time vector is that of the time it states, and whose doubts are 1, so that every gate is 1 (DESIGN
I20).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from mcp_memory.domain.evidence import Engine, OperatorCall, Stop
from mcp_memory.domain.times import Millis
from mcp_memory.vectors import Vector

Target = Literal[-1, 0, 1]
"""y of eq. 10: the sentence supported the answer (1), was there and did not (0), or is wrong in so many words (-1)."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One item of evidence as an episode showed it.

    Attributes:
        id: of the evidence.
        score: in [0, 1].
        via: the channels that found it.
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
    """A recall or an answer, as far as learning and the trace need it.

    Attributes:
        id: ``ep_…``, new for every call.
        space: where it was asked.
        query: the question as given.
        at: when it was asked.
        time: the words of the question that say a time, which is embedded for the time memory; None for a question
            without one (NO_TIME).
        engine: whose judgement decided.
        shown: the evidence, best first.
        activated: ids of the sentences that propagation activated (S_act), in the order of activation.
        answer: what was answered; None for a recall or an abstention.
        cited: ids of the sentences that the answer cites.
        abstained: whether an answer was asked for and not given; such an episode teaches nothing.
        roots: names that navigation started from.
        paths: what it found, in words (REAL eq. 9).
        rounds: rounds of propagation that ran.
        stop: why the walk after the first look ended; None where there was none.
        calls: what it called, in order.
        explored: further evidence, which the caller found by steps of its own and named in its word.
    """

    id: str
    space: str
    query: str
    at: Millis
    time: str | None = None
    engine: Engine = "embedded"
    shown: tuple[Shown, ...] = ()
    activated: tuple[str, ...] = ()
    answer: str | None = None
    cited: tuple[str, ...] = ()
    abstained: bool = False
    roots: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    rounds: int = 0
    stop: Stop | None = None
    calls: tuple[OperatorCall, ...] = ()
    explored: tuple[Shown, ...] = ()


TRACE = tuple(f.name for f in fields(Episode) if f.name not in {"id", "space", "query", "at"})
"""What of an episode stands in the trace of its lessons."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one judge said of one episode; a judge says it once (DESIGN I27).

    Attributes:
        episode_id: of the episode that it is about.
        space: where that was asked.
        query: the question as given.
        asked_at: when it was asked.
        source: whose word it is.
        at: when it was recorded.
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
        """Return what a judge says of an episode that this process has seen."""
        known = {name: getattr(episode, name) for name in TRACE}
        known |= {"calls": [asdict(call) for call in episode.calls]}
        known |= {name: [asdict(item) for item in getattr(episode, name)] for name in _SHOWN}
        trace = json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode()
        return cls(episode.id, episode.space, episode.query, episode.at, source, at, dict(labels or {}), trace)

    @property
    def key(self) -> tuple[str, Engine]:
        """What tells it from every other lesson of a space."""
        return self.episode_id, self.source

    def episode(self) -> Episode | str:
        """Return the episode, taken from the trace, or in words what cannot be right about that.

        What an older program did not know of is left to its default, what a newer one knows more is left out.
        """
        try:
            trace = json.loads(self.trace)
        except (ValueError, RecursionError):
            return _UNREADABLE
        if not isinstance(trace, dict):
            return _UNREADABLE
        if odd := next(_oddities(trace), None):
            return f"its trace has no {odd} that can be right"
        known = {name: _as_held(trace[name]) for name in TRACE if name in trace}
        for name in _SHOWN:
            items = trace.get(name, ())
            known[name] = tuple(Shown(**{f.name: _as_held(one[f.name]) for f in fields(Shown)}) for one in items)
        known["calls"] = tuple(
            OperatorCall(**{f.name: one[f.name] for f in fields(OperatorCall)} | {"args": _args_held(one["args"])})
            for one in trace.get("calls", ())
        )
        return Episode(self.episode_id, self.space, self.query, self.asked_at, **known)


_UNREADABLE = "its trace cannot be read"
_SHOWN = ("shown", "explored")
_NAMES = ("activated", "cited", "roots", "paths")
_KINDS: dict[str, Any] = {"time": (str, type(None)), "answer": (str, type(None)), "abstained": bool, "rounds": int}


def _oddities(trace: Mapping[str, Any]) -> Iterator[str]:
    """Name the fields of an episode that a trace has and that are of another kind than they should be."""
    yield from (name for name in _NAMES if not _texts(trace.get(name, [])))
    yield from (name for name, kind in _KINDS.items() if name in trace and not isinstance(trace[name], kind))
    if trace.get("engine", "embedded") not in get_args(Engine):
        yield "engine"
    for name in _SHOWN:
        shown = trace.get(name, [])
        if not (isinstance(shown, list) and all(map(_shows, shown))):
            yield name
    if trace.get("stop") not in (None, *get_args(Stop)):
        yield "stop"
    calls = trace.get("calls", [])
    if not (isinstance(calls, list) and all(map(_called, calls))):
        yield "calls"


def _shows(item: object) -> bool:
    """Return whether something is an item as an episode shows it."""
    if not isinstance(item, dict) or type(item.get("score")) not in (int, float):
        return False
    return all(isinstance(item.get(name), str) for name in ("id", "text")) and all(
        _texts(item.get(name)) for name in ("via", "sentences")
    )


def _called(item: object) -> bool:
    """Return whether something is a call as an episode tells it."""
    if not isinstance(item, dict) or any(type(item.get(name)) is not int for name in ("turn", "found", "kept")):
        return False
    args = item.get("args")
    return (
        isinstance(item.get("operator"), str)
        and isinstance(args, dict)
        and all(isinstance(one, str) or _texts(one) for one in args.values())
    )


def _args_held(args: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _as_held(value) for name, value in args.items()}


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _as_held(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """The learnt state of one sentence, Mem(s).

    Attributes:
        sentence_id: whose.
        space: of the sentence.
        task: m_task, shape ``(d,)``, length 1: what it helped with, or came from.
        task_doubt: π_task in (0, 1]; 1 knows nothing.
        time: m_time, likewise; None where the sentence states no time, or nothing was learnt of it yet.
        time_doubt: π_time in (0, 1].
        supported: how often it was judged to support an answer.
        unsupported: how often it was judged not to.
    """

    sentence_id: str
    space: str
    task: Vector
    task_doubt: float = 1.0
    time: Vector | None = None
    time_doubt: float = 1.0
    supported: int = 0
    unsupported: int = 0
