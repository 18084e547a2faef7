"""The URIs of resources, and what all resources share: finding the space, and pages that name the next page.

Values in a URI are percent-encoded, so any session id and any name can be one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import to_thread
from mcp.shared.uri_template import UriTemplate

from mcp_memory.domain.access import CALLER
from mcp_memory.domain.query import MEANT_SPACE
from mcp_memory.errors import InvalidInput

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
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
WISHES = UriTemplate.parse("memory://{space}/wishes{?cursor}")
FACT = UriTemplate.parse("memory://{space}/facts/{id}")
POINTS = UriTemplate.parse("memory://{space}/points{?cursor}")
POINT = UriTemplate.parse("memory://{space}/points/{id}")
GRAPH = UriTemplate.parse("memory://{space}/graph{?entity,depth,as_of,cursor}")
MERMAID = UriTemplate.parse("memory://{space}/graph.mermaid{?entity,depth,as_of}")
GRAPHML = UriTemplate.parse("memory://{space}/graph.graphml{?entity,depth,as_of}")

PAGE = 100
"""Entries on a page."""

Values = Mapping[str, str]
"""The values of a URI's parameters."""
ContentT = TypeVar("ContentT")


async def read_in_thread(memory: Memory, values: Values, content: Callable[[Space, Values], ContentT]) -> ContentT:
    """Return the content of a resource, computed in a thread: for a large space it may take long."""
    async with memory.store.reading() as view:
        return await to_thread.run_sync(content, space_of(view, values), values)


def space_of(view: View, values: Values) -> Space:
    """Return the space that a URI names; the default space exists before anything was written to it.

    Raises:
        InvalidInput: nothing was ever written to it, or the caller may not read it.
    """
    name = values["space"]
    readable = CALLER.get().may(("read",), name)
    if not readable or (name not in view.spaces and name != MEANT_SPACE.get()):
        raise InvalidInput("space", f"nothing was ever written to a space {name!r}", f"{SPACES} lists those there are.")
    return view.space(name)


def page_of(values: Values, total: int, size: int = PAGE) -> tuple[int, int]:
    """Return the first entry of the requested page, and the first entry after it.

    Raises:
        InvalidInput: ``cursor`` comes from no page.
    """
    cursor = values.get("cursor", "0")
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 12 and int(cursor) <= total):
        raise InvalidInput("cursor", f"{cursor[:60]!r} names no page", "Follow `next` of the page before.")
    return int(cursor), min(int(cursor) + size, total)


def next_page(template: UriTemplate, values: Values, end: int, total: int) -> dict[str, str]:
    """Return the URI of the page that begins with entry ``end``, under ``next``; empty after the last page."""
    return {"next": template.expand({**values, "cursor": str(end)})} if end < total else {}


def without_none(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without the values that are None."""
    return {name: value for name, value in row.items() if value is not None}
