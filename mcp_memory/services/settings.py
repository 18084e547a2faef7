"""Settings of the services: what writes wait for."""

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
