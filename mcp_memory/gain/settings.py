"""Settings of GAM-RAG: the gate, the Kalman update, and propagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.configurable import key, switch

Gate = Literal["sharp", "published"]
Update = Literal["exact", "additive"]


@dataclass(frozen=True, slots=True)
class GainSettings:
    """What is learnt from answers and feedback, and how far it reaches (GAM-RAG)."""

    gate: Gate = key("sharp", '"sharp": lessons count for similar queries only; "published": as GAM-RAG prints it')
    """Which form of eq. 4 opens gates; ``gates.py`` has both."""
    talk: float = 0.6
    """Similarity of queries, 0 to 1, from which on a lesson counts, for sentences of messages. θ of the sharp gate
    (measured: questions never taught lose 1 point of R@10 at .5 and none at .6, where what was taught gains as
    much)."""
    document: float = 0.65
    """The same for sentences of documents. θ (measured on questions made after a few patterns: .5 loses 4 points of R@5
    where nothing was taught, .6 none to .4, .7 none; what was taught gains .5 less at .7 than at .6)."""
    against: float = 0.2
    """How negative that similarity must be before the sentence counts less. θ below 0, for both kinds. A sentence that
    is labelled wrong starts similar to the query; one label of a caller brings its cosine to -.4 at most, which the
    other thresholds would not notice."""
    update: Update = key("exact", '"exact" follows the recursion of the paper, "additive" its equation 12')
    """``kalman.py`` says why and what was measured."""
    positive: float = 0.5
    """Noise of the label that a sentence supports an answer. R_pos, a variance without unit (Appendix C)."""
    negative: float = 1.0
    """Noise of any other label. R_neg: a sentence that was not marked may still be a bridge (Appendix C)."""
    process: float = 0.001
    """What each step adds to the uncertainty. Q (DESIGN 2.6; the paper gives none)."""
    caller: float = 0.5
    """The noise is multiplied by this for labels of a caller. ρ (DESIGN 2.6)."""
    anthropic: float = 1.0
    """The same for labels of a language model."""
    embedded: float = 2.0
    """The same for the memory's own labels. The rules see only what retrieval saw (DESIGN 2.6)."""
    rounds: int = 3
    """Rounds of propagation. I, at most (Appendix C: 3)."""
    sentences: int = 5
    """Sentences that each round activates. K_S (Appendix C: 3; measured: +.3 points of R@5 and +1 of R@10 with 5)."""
    entities: int = 5
    """Entities that start the next round. K_E (Appendix C: 5; 3 and 8 lose up to 1 point)."""
    hub: int = 10
    """An entity in more sentences than this starts no round. Measured: 200 loses 1 to 3 points of R@5, 30 up to 1, 6
    half a point. The 95th percentile is 6 to 14 on such data, and 1 in a small space."""

    propagation: bool = switch(
        "propagation", True, "from the entities of a query to sentences, and on to more entities"
    )
    learning: bool = switch("learning", True, "answers and feedback teach which sentences help with which queries")
