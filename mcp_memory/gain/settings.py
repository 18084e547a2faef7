"""Settings of GAM-RAG: the forms of the gate and of the update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.configurable import key

Gate = Literal["sharp", "published"]
Update = Literal["exact", "additive"]


@dataclass(frozen=True, slots=True)
class GainSettings:
    """What is learnt from answers and feedback, and how far it reaches (GAM-RAG)."""

    gate: Gate = key("sharp", '"sharp": lessons count for similar queries only; "published": as GAM-RAG prints it')
    """Which form of eq. 4 opens gates; ``gates.py`` has both."""
    update: Update = key("exact", '"exact" follows the recursion of the paper, "additive" its equation 12')
    """``kalman.py`` says why and what was measured."""
