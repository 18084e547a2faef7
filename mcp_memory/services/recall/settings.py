"""What recall is configured with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mcp_memory.gain.settings import GainSettings
from mcp_memory.hypergraph.settings import PointSettings
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.ports import Operator, PairReader
from mcp_memory.reconstruct.settings import LoopSettings
from mcp_memory.search.settings import SearchSettings
from mcp_memory.services.settings import BreadthSettings


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """The settings of every room that a query passes through, and what was built from them; one object per memory.

    Attributes:
        search: channels of the raw text.
        navigation: how facts are followed.
        gain: propagation, and how lessons count.
        points: how memory points are retrieved.
        loop: how far the loop goes.
        operators: what the loop can call, by name; none for a recall that searches once.
        clock: seconds, from any beginning, for the deadline of the loop.
        breadth: what the modes all and overview list.
        reader: reads what was found once more; None leaves it as the search ranked it.
        read_always: whether it reads even where one record is far ahead.
    """

    search: SearchSettings = field(default_factory=SearchSettings)
    navigation: NavigationSettings = field(default_factory=NavigationSettings)
    gain: GainSettings = field(default_factory=GainSettings)
    points: PointSettings = field(default_factory=PointSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)
    operators: Mapping[str, Operator] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    breadth: BreadthSettings = field(default_factory=BreadthSettings)
    reader: PairReader | None = None
    read_always: bool = False
