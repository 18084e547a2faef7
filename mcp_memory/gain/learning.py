"""Learning: what a judge's word does to the memory of a sentence (GAM-RAG §3.3, DESIGN 2.6).

A sentence takes one step of ``kalman.py`` towards or away from the question, in the task channel, and, where the
question says a time and the sentence states one, in the time channel; a channel that is silent changes nothing at all,
neither its vector nor its doubt (DESIGN D14, DESIGN D15, DESIGN I25).

**Departures.** Whoever labels decides whether what was activated and not marked counts as not supporting (y = 0), as
the paper has it. Measured, it gains nothing on what was taught, and costs up to 3 points where 30 % of the words are
wrong: an early word moves a memory most, and then it is spent on those. A sentence's time vector is made when it is
first needed. It would have stood there unused before: while its doubt is 1 its gate is 1 (DESIGN I20).

What keeps wrong words from ruining a space is not here but where gates join the score (``gates.py``): the most that any
number of lessons can add to a sentence is bounded, and far from the questions that taught it they add nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mcp_memory.domain.beliefs import Belief
from mcp_memory.domain.episodes import Target
from mcp_memory.domain.evidence import Engine
from mcp_memory.gain.gate import Gating
from mcp_memory.gain.kalman import Noise, Update, update
from mcp_memory.ports import Taught
from mcp_memory.vectors import Vector


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


class Teacher:
    """GAM-RAG's update of one sentence memory; a `ports.Teach`.

    Args:
        settings: how.
    """

    def __init__(self, settings: Learning | None = None) -> None:
        self._settings = settings or Learning()

    def __call__(self, taught: Taught, before: Belief | None, target: Target, source: Engine) -> Belief:
        """See `ports.Teach`."""
        belief = before or Belief(taught.sentence_id, taught.space, taught.vector)  # eq. 2
        if self._settings.task_memory:
            task, doubt = self._update(belief.task, belief.task_doubt, taught.query, target, source)
            belief = replace(belief, task=task, task_doubt=doubt)
        if self._settings.time_memory and taught.time is not None and taught.query_time is not None:
            own = taught.time if belief.time is None else belief.time
            time, doubt = self._update(own, belief.time_doubt, taught.query_time, target, source)
            belief = replace(belief, time=time, time_doubt=doubt)
        right = target == 1
        return replace(belief, supported=belief.supported + right, unsupported=belief.unsupported + (not right))

    def _update(
        self, mean: Vector, doubt: float, query: Vector, target: Target, source: Engine
    ) -> tuple[Vector, float]:
        noise = self._settings.noise
        return update(mean, doubt, query, target, noise.of(target, source), noise.process, self._settings.update)
