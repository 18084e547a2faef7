"""The gate: how far what a sentence helped with before counts for a question (GAM-RAG §3.2.2, eq. 4).

A gate is 1 where nothing is known, above 1 where the sentence helped with questions like this one, below 1 where it was
said to be wrong about them; always in [0, 2] (DESIGN D16, DESIGN I21).

**Departures.** The published gate, ``1 + (1 - π)·cos(m, q)``, opens for every question a little: two questions that
have nothing in common still have a cosine of .1 to .3, and two of one form ("Who is the mother of the director of …?")
.6. The *sharp* gate stays at 1 up to a threshold θ and rises linearly from there to where the published one ends.
Measured over five rounds of teaching, it gains as much on the questions that were taught, and keeps those that were not
where they were (see ``Gating``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mcp_memory.vectors import Scores

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


def gate(cosines: Scores, doubts: Scores, threshold: float, against: float | None = None) -> Scores:
    """Return the gates, each in [0, 2]; 1 where the doubt is 1.

    Args:
        cosines: of each memory vector with the question's, in [-1, 1].
        doubts: π of each, in [0, 1], of the same shape.
        threshold: θ in [0, 1), up to which a cosine is no likeness; 0 is eq. 4 as published.
        against: θ for cosines below 0; None for the same.
    """
    theta = np.where(cosines > 0, threshold, threshold if against is None else against)
    beyond = np.sign(cosines) * np.maximum(0, np.abs(cosines) - theta) / (1 - theta)
    gates: Scores = np.clip(1 + (1 - doubts) * beyond, 0, 2).astype(np.float32)
    return gates
