"""Who makes the memory points of a goal: Claude where the settings want it and it can, else nobody here.

Each call has a budget of its own, for both of its steps. Where Claude says nothing usable, the embedded way is taken
for that step: what belongs together is grouped, and what is alike is merged. A warning gives the reason.
"""

from __future__ import annotations

from collections.abc import Awaitable

from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.organising import Matter, Proposed
from mcp_memory.errors import EngineError
from mcp_memory.reasoning.anthropic.budget import Allowance, Budget
from mcp_memory.reasoning.anthropic.points import ClaudeOrganiser


class JudgingOrganiser:
    """One call, for which Claude is asked; fulfils `ports.Organiser`."""

    def __init__(self, claude: ClaudeOrganiser, allowance: Allowance) -> None:
        self._claude = claude
        self._budget = Budget(allowance)
        self._warnings: dict[str, None] = {}

    @property
    def engine(self) -> Engine:
        """See `ports.Organiser`."""
        return "anthropic"

    @property
    def warnings(self) -> tuple[str, ...]:
        """See `ports.Organiser`."""
        return tuple(self._warnings)

    async def evolve(self, matter: Matter) -> Proposed | None:
        """See `ports.Organiser`."""
        return await self._asked(self._claude.evolve(matter, self._budget), "make memory points of this")

    async def merge(self, matter: Matter) -> Proposed | None:
        """See `ports.Organiser`."""
        return await self._asked(self._claude.merge(matter, self._budget), "choose which memory points to merge")

    async def _asked(self, proposal: Awaitable[Proposed], what: str) -> Proposed | None:
        try:
            return await proposal
        except EngineError as error:
            self._warnings[f"Claude did not {what}, the embedded engine did: {error}."] = None
            return None
