"""The table of resources, their URIs, and what all of them share: the space, pages that name the next page.

Values in a URI are percent-encoded, so any session id and any name can be one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
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

GUIDE = "memory://guide"
SPACES = "memory://spaces"
JSON = "application/json"
PAGE = 100
"""Entries on a page."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of resources.

    Attributes:
        name: as it is listed.
        uri: a template of RFC 6570 with ``{name}`` and at its end ``{?name,name}``. The SDK matches it. URIs are made
            here: for commands that print them, importing the SDK would take half a second.
        description: the description of its content.
        mime_type: the mime type of the content.
    """

    name: str
    uri: str
    description: str
    mime_type: str = JSON

    @property
    def title(self) -> str:
        """Its name, for people."""
        return self.name[0].upper() + self.name[1:]

    def expand(self, values: Mapping[str, str]) -> str:
        """Return the URI for values of the parameters; those after ``?`` may be missing."""
        path, _, query = self.uri.partition("{?")
        path = path.format_map({name: quote(value, safe="") for name, value in values.items()})
        given = [(name, values[name]) for name in query.removesuffix("}").split(",") if name in values]
        return path + ("?" + urlencode(given, quote_via=quote, safe="") if given else "")

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the values of the parameters in a URI; None if it is of another family."""
        found = _parsed(self.uri).match(uri)
        return None if found is None else {name: value for name, value in found.items() if isinstance(value, str)}


@cache
def _parsed(template: str) -> UriTemplate:
    from mcp.shared.uri_template import UriTemplate

    return UriTemplate.parse(template)


FAMILIES = [
    Family("spaces", SPACES + "{?cursor}", "Every space and how much it holds."),
    Family("status", "memory://{space}/status", "How much a space holds, and whether the memory is well."),
    Family("sessions", "memory://{space}/sessions{?cursor}", "The sessions of a space, in order of arrival."),
    Family(
        "session",
        "memory://{space}/sessions/{id}{?cursor}",
        "A session's messages and documents, in order and word for word.",
    ),
    Family(
        "sentence", "memory://{space}/sentences/{id}", "A sentence, its times, its place, and what was learnt of it."
    ),
    Family(
        "episode", "memory://{space}/episodes/{id}", "A recall or answer that was learnt from, and what judges said."
    ),
    Family("entities", "memory://{space}/entities{?cursor}", "Everything that facts are about."),
    Family(
        "entity",
        "memory://{space}/entities/{name}{?cursor}",
        "An entity: its names, and the facts about it by relation.",
    ),
    Family(
        "timeline",
        "memory://{space}/timeline/{name}{?cursor}",
        "Every version of every fact about an entity, with its validity.",
    ),
    Family("topics", "memory://{space}/topics{?cursor}", "What a space keeps coming back to, the largest topic first."),
    Family("wishes", "memory://{space}/wishes{?cursor}", "What the user asked for once and for all."),
    Family("fact", "memory://{space}/facts/{id}", "A fact: who said it, in which words, and what was known when."),
    Family(
        "points",
        "memory://{space}/points{?cursor}",
        "Memory points: what several entities have to do with each other.",
    ),
    Family(
        "point", "memory://{space}/points/{id}", "A memory point: what it joins, what it rests on, what became of it."
    ),
    Family(
        "graph",
        "memory://{space}/graph{?entity,depth,as_of,cursor}",
        "Entities and what joined them; around one entity, or as of a time.",
    ),
    Family(
        "graph as mermaid",
        "memory://{space}/graph.mermaid{?entity,depth,as_of}",
        "The graph as a flowchart.",
        "text/vnd.mermaid",
    ),
    Family(
        "graph as GraphML",
        "memory://{space}/graph.graphml{?entity,depth,as_of}",
        "The graph for other programs.",
        "application/graphml+xml",
    ),
]


def uri_of(family: str, values: Mapping[str, str]) -> str:
    """Return the URI of a resource by the name of its family; see `Family.expand`."""
    return next(one for one in FAMILIES if one.name == family).expand(values)


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


def without_none(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without the values that are None."""
    return {name: value for name, value in row.items() if value is not None}
