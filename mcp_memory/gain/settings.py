"""The settings of GAM-RAG: how sentence memories learn, how gates open, how far propagation goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mcp_memory.domain.episodes import Target
from mcp_memory.domain.evidence import Engine

Form = Literal["sharp", "published"]


@dataclass(frozen=True, slots=True)
class Gating:
    """How gates open.

    Attributes:
        form: ``sharp`` or as ``published``.
        talk: θ of the sharp gate for sentences of messages, in [0, 1) (measured: questions never taught lose 1 point of
            R@10 at .5 and none at .6, where what was taught gains as much).
        document: θ for sentences of documents (measured on questions made after a few patterns: .5 loses 4 points of
            R@5 where nothing was taught, .6 none to .4, .7 none; what was taught gains .5 less at .7 than at .6).
        against: θ below 0, for both. What is said to be wrong begins as like the question; one word of a caller brings
            its cosine to -.4 at most, which the other thresholds would not notice.
    """

    form: Form = "sharp"
    talk: float = 0.6
    document: float = 0.65
    against: float = 0.2

    def thresholds(self, *, document: bool) -> tuple[float, float]:
        """Return the cosine up to which a gate of a sentence of that kind stays at 1: above 0, and (as ≥ 0) below."""
        if self.form == "published":
            return 0.0, 0.0
        return self.document if document else self.talk, self.against


Update = Literal["exact", "additive"]


@dataclass(frozen=True, slots=True)
class Noise:
    """How far a judge's word is trusted; variances, without unit.

    Attributes:
        positive: R_pos, of "it supports the answer" (Appendix C).
        negative: R_neg, of any other word: what was not marked may still be a bridge (Appendix C).
        process: Q, what each step adds to the doubt (DESIGN 2.6; the paper gives none).
        caller: ρ, by which the noise is multiplied for the word of a caller (DESIGN 2.6).
        anthropic: the same for a language model's.
        embedded: the same for the rules', which look at what retrieval looked at (DESIGN 2.6).
    """

    positive: float = 0.5
    negative: float = 1.0
    process: float = 0.001
    caller: float = 0.5
    anthropic: float = 1.0
    embedded: float = 2.0

    def of(self, target: Target, source: Engine) -> float:
        """Return R for a word of a judge."""
        trust = {"caller": self.caller, "anthropic": self.anthropic, "embedded": self.embedded}[source]
        return trust * (self.positive if target == 1 else self.negative)


@dataclass(frozen=True, slots=True)
class Learning:
    """How sentences learn, and how what they learnt counts.

    Attributes:
        noise: how far words are trusted.
        update: the form of eq. 12.
        gating: the form of eq. 4.
        learning: off, what was learnt does not count; whoever asks for beliefs asks for none.
        task_memory: whether the task channel takes part.
        time_memory: whether the time channel does.
    """

    noise: Noise = field(default_factory=Noise)
    update: Update = "exact"
    gating: Gating = field(default_factory=Gating)
    learning: bool = True
    task_memory: bool = True
    time_memory: bool = True


@dataclass(frozen=True, slots=True)
class Propagating:
    """The numbers of propagation.

    Attributes:
        rounds: I, at most (Appendix C: 3).
        sentences: K_S, activated in a round (Appendix C: 3; measured: +.3 points of R@5 and +1 of R@10 with 5).
        entities: K_E, with which a further round begins (Appendix C: 5; 3 and 8 lose up to 1 point).
        hub: how many sentences may name an entity that begins a further round (measured: 200 loses 1 to 3 points of
            R@5, 30 up to 1, 6 half a point). The 95th percentile (E) is 6 to 14 on such data, and 1 in a small space.
        divided: by what eq. 9 divides: the ``activated`` sentences of an entity, or its ``degree``.
    """

    rounds: int = 3
    sentences: int = 5
    entities: int = 5
    hub: int = 10
    divided: Literal["activated", "degree"] = "activated"
