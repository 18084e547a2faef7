"""The addresses of resources, and what every resource does: find its space, and come in pages that name the next.

Values in a URI are percent-encoded, so any session id and any name can stand there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp.shared.uri_template import UriTemplate

from mcp_memory.errors import InvalidInput

if TYPE_CHECKING:
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View

GUIDE = "memory://guide"
SPACES = "memory://spaces"
SPACES_PAGED = UriTemplate.parse(SPACES + "{?cursor}")
STATUS = UriTemplate.parse("memory://{space}/status")
SESSIONS = UriTemplate.parse("memory://{space}/sessions{?cursor}")
SESSION = UriTemplate.parse("memory://{space}/sessions/{id}{?cursor}")
SENTENCE = UriTemplate.parse("memory://{space}/sentences/{id}")
EPISODE = UriTemplate.parse("memory://{space}/episodes/{id}")
ENTITIES = UriTemplate.parse("memory://{space}/entities{?cursor}")
ENTITY = UriTemplate.parse("memory://{space}/entities/{name}{?cursor}")
TIMELINE = UriTemplate.parse("memory://{space}/timeline/{name}{?cursor}")
TOPICS = UriTemplate.parse("memory://{space}/topics{?cursor}")
FACT = UriTemplate.parse("memory://{space}/facts/{id}")
POINTS = UriTemplate.parse("memory://{space}/points{?cursor}")
POINT = UriTemplate.parse("memory://{space}/points/{id}")
GRAPH = UriTemplate.parse("memory://{space}/graph{?entity,depth,as_of,cursor}")
MERMAID = UriTemplate.parse("memory://{space}/graph.mermaid{?entity,depth,as_of}")
GRAPHML = UriTemplate.parse("memory://{space}/graph.graphml{?entity,depth,as_of}")

DEFAULT_SPACE = "default"
"""The one space that is there before anything was written to it."""
PAGE = 100
"""Entries on a page."""

Values = Mapping[str, str]


def space_of(view: View, values: Values) -> Space:
    """Return the space that a URI names.

    Raises:
        InvalidInput: nothing was ever written to it.
    """
    name = values["space"]
    if name not in view.spaces and name != DEFAULT_SPACE:
        raise InvalidInput("space", f"nothing was ever written to a space {name!r}", f"{SPACES} lists those there are.")
    return view.space(name)


def page(values: Values, total: int) -> tuple[int, int]:
    """Return the first entry of the page that is asked for, and the first after it.

    Raises:
        InvalidInput: ``cursor`` is none that a page gave.
    """
    cursor = values.get("cursor", "0")
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 12 and int(cursor) <= total):
        raise InvalidInput("cursor", f"{cursor[:60]!r} names no page", "Follow `next` of the page before.")
    return int(cursor), min(int(cursor) + PAGE, total)


def following(template: UriTemplate, values: Values, end: int, total: int) -> dict[str, str]:
    """Return the address of the page that begins with entry ``end``, under ``next``; nothing after the last page."""
    return {"next": template.expand({**values, "cursor": str(end)})} if end < total else {}


def told(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without what is not known."""
    return {name: value for name, value in row.items() if value is not None}
