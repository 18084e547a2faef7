"""Settings of the services: what writes wait for, breadth of recalls."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.configurable import key


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """How writes and the indexing of what they bring go together."""

    wait: bool = key(False, "true: every memory_write returns only when all that it brought is indexed")
    recall_wait_s: float = 1.0
    """Seconds that a recall waits for messages of its space that are just being indexed. A message is indexed in a
    fraction of a second, and what was just said is asked about most. Longer, and a recall during a large import would
    seem to hang; it uses what is there, and says that the rest is to come."""


@dataclass(frozen=True, slots=True)
class BreadthSettings:
    """What the modes ``all`` and ``overview`` of a recall list (``services/recall/broad.py``)."""

    lines: int = 60
    """Items of evidence, unless the call states a number."""
    bears: float = 0.6
    """Share of the best score from which on a message bears on the question. Measured on 51 questions to dialogues that
    want a list: 89 of 100 of what they rest on, in some 27 lines; .4 finds 95 in some 130, .7 finds 83 in 14."""
    parts: int = 6
    """Into how many equal parts of the time an overview divides what bears on the question."""
