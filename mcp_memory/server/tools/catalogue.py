"""The list of tools. A new one is a file beside this and a line of `TOOLS`, and its entry in ``resources/tools.json``.

That file is what ``tools/list`` answers, and tells a model when to call a tool: making the models of all arguments
would take a part of the time that the server's first reply may take. ``packaging/tool_definitions.py`` writes their
schemas into it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mcp_memory.configurable import LimitSettings
from mcp_memory.domain.access import Right
from mcp_memory.server.resources import graph
from mcp_memory.server.tools import evolve, explore, forget, recall, status, write
from mcp_memory.server.tools.arguments import Input, read_arguments
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
        input: the model of its arguments.
        request: returns what a call with such arguments asks for; raises `InvalidInput` while nothing is done yet.
        run: does it.
        read_only: whether it stores nothing.
        needs: what a caller has to be allowed in each space that a call names.
    """

    input: type[ArgumentsT]
    request: Callable[[ArgumentsT], RequestT]
    run: Callable[[Memory, RequestT, ArgumentsT, Progress], Awaitable[Reply]]
    read_only: bool = True
    needs: frozenset[Right] = frozenset[Right](("read",))

    def prepare(self, raw: Mapping[str, Any], limits: LimitSettings) -> Callable[[Memory, Progress], Awaitable[Reply]]:
        """Check the arguments of a call, within the configured limits, and return the function that runs it.

        Raises:
            InvalidInput: they are wrong, and nothing is done.
        """
        args = read_arguments(self.input, raw, limits)
        request = self.request(args)
        return lambda memory, progress: self.run(memory, request, args, progress)


_WRITE: frozenset[Right] = frozenset(("read", "write"))
_FORGET: frozenset[Right] = frozenset(("read", "forget"))
TOOLS: Mapping[str, Tool[Any, Any]] = {
    "memory_write": Tool(write.WriteInput, write.write_request, write.run, read_only=False, needs=_WRITE),
    "memory_reconstruct": Tool(recall.ReconstructInput, recall.recall_request, recall.reconstruct),
    "memory_answer": Tool(recall.AnswerInput, recall.answer_query, recall.answer, read_only=False),  # it may learn
    "memory_evolve": Tool(evolve.EvolveInput, evolve.evolve_request, evolve.run, read_only=False, needs=_WRITE),
    "memory_explore": Tool(explore.ExploreInput, explore.explore_request, explore.run),
    "memory_graph": Tool(graph.GraphInput, graph.graph_values, graph.run),
    "memory_forget": Tool(forget.ForgetInput, forget.forget_request, forget.run, read_only=False, needs=_FORGET),
    "memory_status": Tool(status.StatusInput, lambda args: args, status.run),
}
