"""What a tool is: its name, its description, its arguments, and the function that checks and runs a call.

``packaging/tool_definitions.py`` makes of these what is published.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_memory.domain.access import Right
from mcp_memory.server.tools.arguments import Input, read
from mcp_memory.server.tools.replies import Reply
from mcp_memory.settings import LimitSettings

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress

Run = Callable[["Memory", "Progress"], Awaitable[Reply]]
"""Runs a call whose arguments are checked."""


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        name: as a client calls it.
        title: as people see it.
        description: tells a model when to call it; the schema tells how.
        input: the model of its arguments.
        run: returns the function that runs a call with such arguments; raises `InvalidInput` while nothing is done yet.
        read_only: whether it stores nothing.
        repeatable: whether a repeated call changes nothing more.
        destructive: whether it removes what was stored; hosts can ask the person first.
        needs: what a caller has to be allowed in each space that a call names.
        meta: what else a host reads of it.
    """

    name: str
    title: str
    description: str
    input: type[Input]
    run: Callable[[Any], Run]
    read_only: bool
    repeatable: bool = True
    destructive: bool = False
    needs: frozenset[Right] = frozenset[Right](("read",))
    meta: Mapping[str, Any] | None = None

    def prepare(self, raw: Mapping[str, Any], limits: LimitSettings) -> Run:
        """Check the arguments of a call, within the configured limits, and return the function that runs it.

        Raises:
            InvalidInput: they are wrong, and nothing is done.
        """
        return self.run(read(self.input, raw, limits))
