"""The URIs of resources, and what all resources share: the space, pages that name the next page.

A URI is a template of RFC 6570 with ``{name}`` and at its end ``{?name,name}``. The SDK matches it. URIs are made here:
for commands that print them, importing the SDK would take half a second. Values in a URI are percent-encoded, so any
session id and any name can be one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

from anyio import to_thread

from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.errors import InvalidInput

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space, View

GUIDE = "memory://guide"
JSON = "application/json"
PAGE_ENTRIES = 100
"""Entries on a page."""
SPACES_NAMED = 20
"""Spaces that are named where one is not known."""


URIS = {
    "guide": GUIDE,
    "spaces": "memory://spaces{?cursor}",
    "status": "memory://{space}/status",
    "sessions": "memory://{space}/sessions{?cursor}",
    "session": "memory://{space}/sessions/{id}{?cursor}",
    "sentence": "memory://{space}/sentences/{id}",
    "episode": "memory://{space}/episodes/{id}",
    "entities": "memory://{space}/entities{?cursor}",
    "entity": "memory://{space}/entities/{name}{?cursor}",
    "timeline": "memory://{space}/timeline/{name}{?cursor}",
    "topics": "memory://{space}/topics{?cursor}",
    "wishes": "memory://{space}/wishes{?cursor}",
    "fact": "memory://{space}/facts/{id}",
    "points": "memory://{space}/points{?cursor}",
    "point": "memory://{space}/points/{id}",
    "graph": "memory://{space}/graph{?entity,depth,as_of,cursor}",
    "graph as mermaid": "memory://{space}/graph.mermaid{?entity,depth,as_of}",
    "graph as GraphML": "memory://{space}/graph.graphml{?entity,depth,as_of}",
}
"""The templates by the names of the families (``catalogue.py``)."""


def uri_of(family: str, values: Mapping[str, str]) -> str:
    """Return the URI of a resource for values of the parameters; those after ``?`` may be missing."""
    path, _, query = URIS[family].partition("{?")
    path = path.format_map({name: quote(value, safe="") for name, value in values.items()})
    given = [(name, values[name]) for name in query.removesuffix("}").split(",") if name in values]
    return path + ("?" + urlencode(given, quote_via=quote, safe="") if given else "")


def address(space: Space, family: str, id_: str) -> dict[str, str]:
    """Return the id of something in a space, and the URI of its resource."""
    return {"id": id_, "uri": uri_of(family, {"space": space.name, "id": id_})}


Values = Mapping[str, str]
"""The values of a URI's parameters."""
ContentT = TypeVar("ContentT")


async def read_in_thread(memory: Memory, values: Values, content: Callable[[Space, Values], ContentT]) -> ContentT:
    """Return the content of a resource, computed in a thread: for a large space it may take long."""
    async with memory.store.reading() as view:
        return await to_thread.run_sync(content, space_of(view, values["space"]), values)


def space_of(view: View, name: str, argument: str = "space") -> Space:
    """Return the space that a URI or an option names; the default space exists before anything was written to it.

    Raises:
        InvalidInput: nothing was ever written to it, or the caller may not read it.
    """
    caller = CALLER.get()
    if not caller.may(("read",), name) or (name not in view.spaces and name != MEANT_SPACE.get()):
        known = ", ".join(sorted(caller.visible(view.spaces))[:SPACES_NAMED])
        there = f"There are: {known}." if known else "Nothing is stored yet."
        raise InvalidInput(argument, f"nothing was ever written to a space {name[:60]!r}", there)
    return view.space(name)


def page_of(values: Values, total: int, size: int = PAGE_ENTRIES) -> tuple[int, int]:
    """Return the first entry of the requested page, and the first entry after it.

    Raises:
        InvalidInput: ``cursor`` comes from no page.
    """
    cursor = values.get("cursor", "0")
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 12 and int(cursor) <= total):
        raise InvalidInput("cursor", f"{cursor[:60]!r} names no page", "Follow `next` of the page before.")
    return int(cursor), min(int(cursor) + size, total)


def next_page(family: str, values: Values, end: int, total: int) -> dict[str, str]:
    """Return the URI of the page that begins with entry ``end``, under ``next``; empty after the last page."""
    return {"next": uri_of(family, {**values, "cursor": str(end)})} if end < total else {}


EntryT = TypeVar("EntryT")


def page(
    family: str,
    values: Values,
    about: Mapping[str, str],
    entries: Sequence[EntryT],
    row: Callable[[EntryT], Mapping[str, Any]],
    name: str = "",
) -> dict[str, Any]:
    """Return a page of a list.

    Args:
        family: of the list.
        values: of the parameters of the URI, with the page.
        about: the others as they are shown, which lead to the next page.
        entries: all of them.
        row: returns one as it is shown.
        name: of the list, if that is not the family's.
    """
    start, end = page_of(values, len(entries))
    rows = [row(entry) for entry in entries[start:end]]
    return {**about, name or family: rows, "total": len(entries), **next_page(family, about, end, len(entries))}
