"""What use has taught about a sentence: GAM-RAG's sentence memory (§3.1.2, eq. 2).

A sentence that nobody ever judged has no belief; that is the same as the initial one, whose task vector is the
sentence's own, whose time vector is that of the time it states, and whose doubts are 1, so that every gate is 1 (DESIGN
I20).
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.vectors import Vector


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
