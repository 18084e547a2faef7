"""What can be set of the mechanisms of recall and learning: their switches, forms of formulas, bounds of the loop.

docs/ARCHITECTURE.md names the paper and the place of each switch. Every other number of a mechanism is a constant
beside the formula that it belongs to. This module is imported before the server's first reply, so it uses the standard
library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.configurable import key

Gate = Literal["sharp", "published"]
Update = Literal["exact", "additive"]


@dataclass(frozen=True, slots=True)
class Switches:
    """Mechanisms that can be turned off, to measure what they do."""

    late_chunking: bool = key(True, "onnx only: sentences of talk are embedded with their segment; off: each by itself")
    meaning: bool = key(True, "similarity of embeddings")
    words: bool = key(True, "BM25")
    wishes: bool = key(True, "standing wishes of the user that apply come with every recall")
    alike: bool = key(True, "with loop, talk similar to the best evidence is ranked higher")
    questions: bool = key(False, "texts that answer pooled questions; memory_evolve fills that pool")
    extraction: bool = key(True, "facts are read from what is written; off: only a caller's facts")
    facts: bool = key(True, "facts support the texts that state them, can be answers, and are shown")
    beam: bool = key(True, "facts are followed over several steps; off: one step")
    counterfactual: bool = key(True, "where facts are missing, hypotheses fill the gap")
    propagation: bool = key(True, "from the entities of a query to sentences, and on to more entities")
    learning: bool = key(True, "answers and feedback teach which sentences help with which queries")
    points: bool = key(True, "memory points are made, kept, and listed with what recall finds")
    merge: bool = key(True, "similar points become one, for goals that relate things to each other")
    reflection: bool = key(True, "memory_explore's step reflect goes on from entity to entity")
    loop: bool = key(True, "where the first search is not enough, recall goes on from what it found")
    tags: bool = key(True, "it also goes from text to text by the rare names in them")


@dataclass(frozen=True, slots=True)
class GainSettings:
    """What is learnt from answers and feedback, and how far it reaches (GAM-RAG)."""

    gate: Gate = key("sharp", '"sharp": lessons count for similar queries only; "published": as GAM-RAG prints it')
    """Which form of eq. 4 opens gates; ``gain/gates.py`` has both."""
    update: Update = key("exact", '"exact" follows the recursion of the paper, "additive" its equation 12')
    """``gain/kalman.py`` says why and what was measured."""


@dataclass(frozen=True, slots=True)
class RecallLoopSettings:
    """How far recall goes on where the first search is not enough (MRAgent §3.2)."""

    max_turns: int = key(8, "turns, unless the call states a number")
    """The paper's."""
    k_ops: int = key(10, "calls of operators in one turn")
    """The paper's."""
