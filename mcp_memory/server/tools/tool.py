"""What a tool is: its name, its arguments, and the functions that check and run a call.

What is published of it, which tells a model when to call it, stands in ``resources/tools.json``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mcp_memory.configurable import LimitSettings
from mcp_memory.domain.access import Right
from mcp_memory.server.tools.arguments import Input, read
from mcp_memory.server.tools.replies import Reply

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress

ArgumentsT = TypeVar("ArgumentsT", bound=Input)
RequestT = TypeVar("RequestT")


@dataclass(frozen=True)
class Tool(Generic[ArgumentsT, RequestT]):
    """One tool.

    Attributes:
        name: as a client calls it.
        input: the model of its arguments.
        request: returns what a call with such arguments asks for; raises `InvalidInput` while nothing is done yet.
        run: does it.
        read_only: whether it stores nothing.
        needs: what a caller has to be allowed in each space that a call names.
    """

    name: str
    input: type[ArgumentsT]
    request: Callable[[ArgumentsT], RequestT]
    run: Callable[[Memory, RequestT, ArgumentsT, Progress], Awaitable[Reply]]
    read_only: bool
    needs: frozenset[Right] = frozenset[Right](("read",))

    def prepare(self, raw: Mapping[str, Any], limits: LimitSettings) -> Callable[[Memory, Progress], Awaitable[Reply]]:
        """Check the arguments of a call, within the configured limits, and return the function that runs it.

        Raises:
            InvalidInput: they are wrong, and nothing is done.
        """
        args = read(self.input, raw, limits)
        request = self.request(args)
        return lambda memory, progress: self.run(memory, request, args, progress)
