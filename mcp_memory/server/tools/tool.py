"""What a tool is: its name, its arguments, and the function that checks and runs a call.

What is published of it, which tells a model when to call it, stands in ``resources/tools.json``.
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
        input: the model of its arguments.
        run: returns the function that runs a call with such arguments; raises `InvalidInput` while nothing is done yet.
        read_only: whether it stores nothing.
        needs: what a caller has to be allowed in each space that a call names.
    """

    name: str
    input: type[Input]
    run: Callable[[Any], Run]
    read_only: bool
    needs: frozenset[Right] = frozenset[Right](("read",))

    def prepare(self, raw: Mapping[str, Any], limits: LimitSettings) -> Run:
        """Check the arguments of a call, within the configured limits, and return the function that runs it.

        Raises:
            InvalidInput: they are wrong, and nothing is done.
        """
        return self.run(read(self.input, raw, limits))
