"""What recall is configured with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_memory.ports import Operator, PairReader
from mcp_memory.switches import GainSettings, LoopSettings, Switches


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """The settings of every room that a query passes through, and what was built from them; one object per memory.

    Attributes:
        switches: which mechanisms take part.
        gain: how lessons count.
        loop: how far the loop goes.
        operators: what the loop can call, by name; none for a recall that searches once.
        reader: reads what was found once more; None leaves it as the search ranked it.
        read_always: whether it reads even where one record is far ahead.
    """

    switches: Switches = field(default_factory=Switches)
    gain: GainSettings = field(default_factory=GainSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)
    operators: Mapping[str, Operator] = field(default_factory=dict)
    reader: PairReader | None = None
    read_always: bool = False
