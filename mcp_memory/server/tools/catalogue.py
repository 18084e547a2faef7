"""The list of tools. A new one is a file beside this and a line here, and its entry in ``resources/tools.json``.

That file is what ``tools/list`` answers: making the models of all arguments would take a part of the time that the
server's first reply may take. ``packaging/tool_definitions.py`` writes their schemas into it.
"""

from collections.abc import Mapping
from typing import Any

from mcp_memory.server.tools.answer import ANSWER
from mcp_memory.server.tools.evolve import EVOLVE
from mcp_memory.server.tools.explore import EXPLORE
from mcp_memory.server.tools.forget import FORGET
from mcp_memory.server.tools.graph import GRAPH
from mcp_memory.server.tools.reconstruct import RECONSTRUCT
from mcp_memory.server.tools.status import STATUS
from mcp_memory.server.tools.tool import Tool
from mcp_memory.server.tools.write import WRITE

TOOLS: Mapping[str, Tool[Any, Any]] = {
    tool.name: tool for tool in (WRITE, RECONSTRUCT, ANSWER, EVOLVE, EXPLORE, GRAPH, FORGET, STATUS)
}
