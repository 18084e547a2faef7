"""How resources are listed, matched and read, by the table of their families (`FAMILIES`); the guide is a text beside.

Most resources are JSON; long ones come in pages, each of which names the next by its URI.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mcp_types import Resource, ResourceTemplate

from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.domain.turns import version_id
from mcp_memory.errors import InvalidInput
from mcp_memory.server.resources import facts, graph, points, sessions
from mcp_memory.server.resources.uris import FAMILIES, GUIDE, JSON, SPACES, Family, Values, read_in_thread
from mcp_memory.visible import plain

if TYPE_CHECKING:
    from mcp_memory.ports import Stored
    from mcp_memory.view.space import Space

Content = Callable[["Space", Values], "dict[str, Any] | str"]
Ids = Callable[["Space"], Iterable[str]]

CONTENT: Mapping[str, Content] = {
    "sessions": sessions.sessions,
    "session": sessions.session,
    "sentence": sessions.sentence,
    "episode": sessions.episode,
    "entities": facts.entities,
    "entity": facts.entity,
    "timeline": facts.timeline,
    "topics": points.topics,
    "wishes": facts.wishes,
    "fact": facts.fact,
    "points": points.points,
    "point": points.point,
    "graph": graph.graph,
    "graph as mermaid": graph.mermaid,
    "graph as GraphML": graph.graphml,
}
"""Returns what a space holds for the values in a URI, by the name of the family; raises `InvalidInput` where there is
nothing. `sessions.READ` has the families that ask the memory as a whole."""


IDS: Mapping[str, Ids] = {
    "session": lambda space: space.sessions,
    "sentence": lambda space: (sentence.id for sentence in space.sentences),
    "episode": lambda space: dict.fromkeys(lesson.episode_id for lesson in reversed(space.beliefs.lessons())),
    "fact": lambda space: (version_id(one.id) for one in space.facts.rows if not one.negated),
    "point": lambda space: (point.id for point in space.hypergraph.active()),
}
"""Returns the values that the parameter ``id`` of a family may have in a space."""
LISTED = ("status", "sessions", "entities", "topics", "wishes", "points", "graph")
"""The families whose resource of the meant space is listed: clients show people what is listed, and no templates."""


def resource_list() -> list[Resource]:
    """Return the resources that have no parameters, and those of the space that calls mean which name none."""
    space = MEANT_SPACE.get()
    guide = Resource(
        uri=GUIDE, name="guide", title="Guide", description="How to use this memory.", mime_type="text/markdown"
    )
    listed = [
        Resource(
            uri=one.expand({"space": space}),
            name=f"{one.name} of {space}",
            title=f"{one.title} of {space}",
            description=one.description,
            mime_type=one.mime_type,
        )
        for one in FAMILIES
        if one.name in LISTED
    ]
    spaces = FAMILIES[0]
    return [
        guide,
        Resource(uri=SPACES, name=spaces.name, title="Spaces", description=spaces.description, mime_type=JSON),
        *(listed if CALLER.get().may(("read",), space) else ()),
    ]


def template_list() -> list[ResourceTemplate]:
    """Return the resources that have parameters."""
    return [
        ResourceTemplate(
            uri_template=one.uri,
            name=one.name,
            title=one.title,
            description=one.description,
            mime_type=one.mime_type,
        )
        for one in FAMILIES[1:]
    ]


def match(uri: str) -> tuple[Family, Values]:
    """Return the family of a resource, and the values in its URI.

    Raises:
        InvalidInput: no resource has such a URI.
    """
    for family in FAMILIES:
        if (values := family.match(uri)) is not None:
            return family, values
    known_uris = ", ".join([GUIDE, SPACES, *(one.uri for one in FAMILIES[1:])])
    raise InvalidInput("uri", f"there is no resource {uri[:200]!r}", f"There are: {known_uris}.")


async def read(memory: Stored, family: Family, values: Values) -> str:
    """Return a resource as text.

    Raises:
        InvalidInput: the values name nothing that exists.
    """
    if (whole := sessions.READ.get(family.name)) is not None:
        content: dict[str, Any] | str = await whole(memory, values)
    else:
        content = await read_in_thread(memory, values, CONTENT[family.name])
    return content if isinstance(content, str) else json.dumps(plain(content), ensure_ascii=False, indent=1)


def ids_of(uri_template: str, space: Space) -> Iterable[str]:
    """Return the values that the parameter ``id`` of a template may have in a space."""
    return next((IDS[one.name](space) for one in FAMILIES if one.uri == uri_template and one.name in IDS), ())
