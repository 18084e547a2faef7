"""The URIs of resources, and what all resources share: the space, pages that name the next page.

Values in a URI are percent-encoded, so any session id and any name can be one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

from anyio import to_thread

from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.errors import InvalidInput

if TYPE_CHECKING:
    from mcp.shared.uri_template import UriTemplate

    from mcp_memory.ports import Stored
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View


class ResourceUri:
    """The URI of a family of resources, a template of RFC 6570 with ``{name}`` and at its end ``{?name,name}``.

    The SDK matches it. URIs are made here: for commands that print them, importing the SDK would take half a second.
    """

    def __init__(self, template: str) -> None:
        self._template = template
        self._path, _, query = template.removesuffix("}").partition("{?")
        self._names = query.split(",") if query else []
        self._path = self._path if query else template

    def __str__(self) -> str:
        return self._template

    def expand(self, values: Mapping[str, str]) -> str:
        """Return the URI for values of the parameters; those after ``?`` may be missing."""
        given = [(name, values[name]) for name in self._names if name in values]
        path = self._path.format_map({name: quote(value, safe="") for name, value in values.items()})
        return path + ("?" + urlencode(given, quote_via=quote, safe="") if given else "")

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the values of the parameters in a URI; None if it is of another family."""
        found = self._parsed.match(uri)
        return None if found is None else {name: value for name, value in found.items() if isinstance(value, str)}

    @cached_property
    def _parsed(self) -> UriTemplate:
        from mcp.shared.uri_template import UriTemplate

        return UriTemplate.parse(self._template)


GUIDE = "memory://guide"
SPACES = "memory://spaces"
SPACES_PAGED = ResourceUri(SPACES + "{?cursor}")
STATUS = ResourceUri("memory://{space}/status")
SESSIONS = ResourceUri("memory://{space}/sessions{?cursor}")
SESSION = ResourceUri("memory://{space}/sessions/{id}{?cursor}")
SENTENCE = ResourceUri("memory://{space}/sentences/{id}")
EPISODE = ResourceUri("memory://{space}/episodes/{id}")
ENTITIES = ResourceUri("memory://{space}/entities{?cursor}")
ENTITY = ResourceUri("memory://{space}/entities/{name}{?cursor}")
TIMELINE = ResourceUri("memory://{space}/timeline/{name}{?cursor}")
TOPICS = ResourceUri("memory://{space}/topics{?cursor}")
WISHES = ResourceUri("memory://{space}/wishes{?cursor}")
FACT = ResourceUri("memory://{space}/facts/{id}")
POINTS = ResourceUri("memory://{space}/points{?cursor}")
POINT = ResourceUri("memory://{space}/points/{id}")
GRAPH = ResourceUri("memory://{space}/graph{?entity,depth,as_of,cursor}")
MERMAID = ResourceUri("memory://{space}/graph.mermaid{?entity,depth,as_of}")
GRAPHML = ResourceUri("memory://{space}/graph.graphml{?entity,depth,as_of}")

JSON = "application/json"
PAGE = 100
"""Entries on a page."""

Values = Mapping[str, str]
"""The values of a URI's parameters."""
ContentT = TypeVar("ContentT")


async def read_in_thread(memory: Stored, values: Values, content: Callable[[Space, Values], ContentT]) -> ContentT:
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


def next_page(template: ResourceUri, values: Values, end: int, total: int) -> dict[str, str]:
    """Return the URI of the page that begins with entry ``end``, under ``next``; empty after the last page."""
    return {"next": template.expand({**values, "cursor": str(end)})} if end < total else {}


EntryT = TypeVar("EntryT")


def page(
    uri: ResourceUri,
    values: Values,
    about: Mapping[str, str],
    name: str,
    entries: Sequence[EntryT],
    row: Callable[[EntryT], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return a page of a list.

    Args:
        uri: of the list.
        values: of the parameters of the URI, with the page.
        about: the others as they are shown, which lead to the next page.
        name: of the list.
        entries: all of them.
        row: returns one as it is shown.
    """
    start, end = page_of(values, len(entries))
    rows = [row(entry) for entry in entries[start:end]]
    return {**about, name: rows, "total": len(entries), **next_page(uri, about, end, len(entries))}


def without_none(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without the values that are None."""
    return {name: value for name, value in row.items() if value is not None}
