"""Episodes: one recall or answer that may be learnt from, and what was learnt from it.

An episode lives in the process until somebody learns from it. What a judge then says of it is a *lesson*: it is
written down for good, with the trace of the episode, before anything counts as learnt. Beliefs (``beliefs.py``) are
what the lessons of a space add up to in the order in which they were recorded, so they can be made anew from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.times import Millis

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


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one judge said of one episode; a judge says it once (I-27).

    Attributes:
        episode: what it is about.
        source: whose word it is.
        labels: y of each sentence that was judged, by its id.
        at: when it was recorded.
    """

    episode: Episode
    source: Engine
    labels: Mapping[str, Target] = field(default_factory=dict)
    at: Millis = 0

    @property
    def key(self) -> tuple[str, Engine]:
        """What tells it from every other lesson of a space."""
        return self.episode.id, self.source
