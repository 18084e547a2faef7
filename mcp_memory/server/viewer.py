"""The viewer: one HTML file that draws the graph, in a host with MCP Apps, in a browser, and in an exported file.

A host fetches the resource `URI` and shows it beside a reply of ``memory_graph`` (MCP Apps, revision 2026-01-26). A
page for a browser has its graph inside (`page`). The file itself is made of ``viewer/`` in the repository; it loads
nothing from anywhere, and its policy lets no script run but its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp_memory import texts

if TYPE_CHECKING:  # commands for people import this module, too
    from mcp_types import Resource, TextResourceContents

EXTENSION: Final = "io.modelcontextprotocol/ui"
"""The capability of hosts and servers with MCP Apps. The SDK's constants are in a module that is slow to import."""
MIME_TYPE: Final = "text/html;profile=mcp-app"
URI: Final = "ui://mcp-memory/graph.html"
FILE: Final = "viewer.html"
_PAGE_META: Final[Mapping[str, Any]] = {
    "ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}
}
_EMPTY_DATA = '<script type="application/json" id="data">null</script>'


def resource() -> Resource:
    """Return the viewer as it is listed."""
    from mcp_types import Resource

    return Resource(
        uri=URI,
        name="graph viewer",
        title="Graph viewer",
        description="Draws what memory_graph returns, for hosts with MCP Apps.",
        mime_type=MIME_TYPE,
        _meta=dict(_PAGE_META),
    )


def contents() -> TextResourceContents:
    """Return the viewer as a host reads it."""
    from mcp_types import TextResourceContents

    return TextResourceContents(uri=URI, text=texts.resource(FILE), mime_type=MIME_TYPE, _meta=dict(_PAGE_META))


def page(graph: Mapping[str, Any]) -> str:
    """Return the viewer with a graph inside, for a browser; ``graph`` is a page of the resource of that name."""
    data = json.dumps({"graph": graph}, ensure_ascii=True)
    for character in "<>&":  # so that no stored text ends the element or begins a comment
        data = data.replace(character, f"\\u{ord(character):04x}")
    return texts.resource(FILE).replace(_EMPTY_DATA, _EMPTY_DATA.replace("null", data))
