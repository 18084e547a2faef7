"""Links from the reply of a tool to the resources that show more: what was found, written or changed, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from mcp_types import ResourceLink

from mcp_memory.server.resources import catalogue
from mcp_memory.server.resources.uris import FACT, POINT, SENTENCE, SESSION

LINKS = 3
"""Links of one reply: some clients show each to the model."""
SINCE = "2025-06-18"
"""The revision of the protocol from which on clients know links in replies."""
_FAMILIES = {"s_": SENTENCE, "f_": FACT, "h_": POINT}
_TITLE_CHARS = 60


def links_in(structured: Mapping[str, Any], space: str) -> list[ResourceLink]:
    """Return links for the structured part of a reply.

    Args:
        structured: of any tool.
        space: of the call.
    """
    links: dict[str, ResourceLink] = {}
    for uri, title in islice(_targets(structured, space), 100):
        if uri not in links and len(links) < LINKS:
            template, _ = catalogue.match(uri)
            links[uri] = ResourceLink(uri=uri, name=template.name, title=title, mime_type=template.mime_type)
    return list(links.values())


def _targets(structured: Mapping[str, Any], space: str) -> Iterator[tuple[str, str]]:
    """Yield URIs with their titles, the most relevant first."""
    for row in structured.get("items", ()):
        if "stored" in row:  # written: where it stands
            yield SESSION.expand({"space": space, "id": row["session"]}), f"Session {row['session'][:_TITLE_CHARS]}"
    for name in ("citations", "evidence", "items", "changes"):
        for row in structured.get(name) or ():
            family = _FAMILIES.get(str(row.get("id"))[:2])
            if family is not None and "stored" not in row:
                text = str(row.get("quote") or row.get("text") or row["id"])
                yield family.expand({"space": row.get("space") or space, "id": row["id"]}), text[:_TITLE_CHARS]
