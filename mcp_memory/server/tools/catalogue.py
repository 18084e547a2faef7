"""The list of tools. A new one is a file beside this and a line here, and its entry in ``resources/tools.json``.

``python -m mcp_memory.server.tools.catalogue > resources/tools.json`` writes what ``tools/list`` answers. The server
reads that file: making the models of all arguments takes a part of the time that its first reply may take. What a tool
returns (``outputSchema``) is written into that file by hand, and kept.
"""

import json
import sys
from collections.abc import Mapping

from mcp_memory.server.tools.answer import ANSWER
from mcp_memory.server.tools.evolve import EVOLVE
from mcp_memory.server.tools.explore import EXPLORE
from mcp_memory.server.tools.forget import FORGET
from mcp_memory.server.tools.graph import GRAPH
from mcp_memory.server.tools.reconstruct import RECONSTRUCT
from mcp_memory.server.tools.status import STATUS
from mcp_memory.server.tools.tool import Tool
from mcp_memory.server.tools.write import WRITE

TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (WRITE, RECONSTRUCT, ANSWER, EVOLVE, EXPLORE, GRAPH, FORGET, STATUS)
}


def definitions_text() -> str:
    """Return the definitions of all tools as the text of ``resources/tools.json``."""
    rows = [tool.definition.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in TOOLS.values()]
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(definitions_text())
