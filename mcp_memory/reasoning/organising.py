"""Who makes the memory points of a goal: Claude where the settings want it and it can, else nobody here.

Each call has a budget of its own, for both of its steps. Where Claude says nothing usable, a warning gives the reason,
and the embedded way is taken for that step (what is alike is merged), after the first of them for both (what belongs
together is grouped too; ``services/points/organise.py``).
"""

from __future__ import annotations

from collections.abc import Awaitable

from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.points import Matter, Proposed
from mcp_memory.domain.spending import Spending
from mcp_memory.errors import EngineError
from mcp_memory.reasoning.anthropic.budget import Allowance, Budget
from mcp_memory.reasoning.anthropic.points import ClaudeOrganiser


class JudgingOrganiser:
    """One call, for which Claude is asked; fulfils `ports.Organiser`."""

    def __init__(self, claude: ClaudeOrganiser, allowance: Allowance) -> None:
        self._claude = claude
        self._budget = Budget(allowance)
        self._warnings: dict[str, None] = {}
        self._has_asked = False

    @property
    def engine(self) -> Engine:
        """See `ports.Organiser`."""
        return "anthropic"

    @property
    def warnings(self) -> tuple[str, ...]:
        """See `ports.Organiser`."""
        return tuple(self._warnings)

    @property
    def spent(self) -> Spending | None:
        """See `ports.Organiser`."""
        return self._budget.spent if self._has_asked else None

    async def evolve(self, matter: Matter) -> Proposed | None:
        """See `ports.Organiser`."""
        return await self._asked(self._claude.evolve(matter, self._budget), "make memory points of this")

    async def merge(self, matter: Matter) -> Proposed | None:
        """See `ports.Organiser`."""
        return await self._asked(self._claude.merge(matter, self._budget), "choose which memory points to merge")

    async def _asked(self, proposal: Awaitable[Proposed], what: str) -> Proposed | None:
        self._has_asked = True
        try:
            return await proposal
        except EngineError as error:
            self._warnings[f"Claude did not {what}, the embedded engine did: {error}."] = None
            return None
