"""The table of resources, and how they are listed, matched and read.

Most resources are JSON; long ones come in pages, each of which names the next by its URI.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from mcp.shared.uri_template import UriTemplate
from mcp_types import Resource, ResourceTemplate

from mcp_memory import texts
from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.domain.turns import version_id
from mcp_memory.errors import InvalidInput
from mcp_memory.server.resources import facts, graph, sessions
from mcp_memory.server.resources.uris import JSON, URIS, Values, read_in_thread, uri_of
from mcp_memory.server.tools.replies import json_of
from mcp_memory.visible import plain

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space


@dataclass(frozen=True, slots=True)
class Family:
    """A family of resources.

    Attributes:
        name: as it is listed; its URI is in `URIS`.
        description: the description of its content.
        content: returns the content for a space and the values in a URI, or awaits it of the memory as a whole; raises
            `InvalidInput` where there is nothing.
        listed: whether the resource of the meant space is listed: clients show people what is listed, and no templates.
        ids: returns the values that the parameter ``id`` may have in a space.
        mime_type: the mime type of the content.
    """

    name: str
    description: str
    content: Callable[..., Any]
    listed: bool = False
    ids: Callable[[Space], Iterable[str]] = lambda _space: ()
    mime_type: str = JSON

    @property
    def uri(self) -> str:
        """The template of its URIs."""
        return URIS[self.name]

    @property
    def title(self) -> str:
        """Its name, for people."""
        return self.name[0].upper() + self.name[1:]


def _learnt_episodes(space: Space) -> Iterable[str]:
    return dict.fromkeys(lesson.episode_id for lesson in reversed(space.beliefs.lessons()))


async def _guide(_memory: Memory, _values: Values) -> str:
    return texts.resource("guide.md")


FAMILIES = [
    Family("guide", "How to use this memory.", _guide, mime_type="text/markdown"),
    Family("spaces", "Every space and how much it holds.", sessions.spaces),
    Family("status", "How much a space holds, and whether the memory is well.", sessions.status, listed=True),
    Family("sessions", "The sessions of a space, in order of arrival.", sessions.sessions, listed=True),
    Family(
        "session",
        "A session's messages and documents, in order and word for word.",
        sessions.session,
        ids=lambda space: space.sessions,
    ),
    Family(
        "sentence",
        "A sentence, its times, its place, and what was learnt of it.",
        sessions.sentence,
        ids=lambda space: (sentence.id for sentence in space.sentences),
    ),
    Family(
        "episode",
        "A recall or answer that was learnt from, and what judges said.",
        sessions.episode,
        ids=_learnt_episodes,
    ),
    Family("entities", "Everything that facts are about.", facts.entities, listed=True),
    Family("entity", "An entity: its names, and the facts about it by relation.", facts.entity),
    Family("timeline", "Every version of every fact about an entity, with its validity.", facts.timeline),
    Family("topics", "What a space keeps coming back to, the largest topic first.", facts.topics, listed=True),
    Family("wishes", "What the user asked for once and for all.", facts.wishes, listed=True),
    Family(
        "fact",
        "A fact: who said it, when, and in which words.",
        facts.fact,
        ids=lambda space: (version_id(one.id) for one in space.facts.rows if not one.negated),
    ),
    Family("points", "Memory points: what several entities have to do with each other.", facts.points, listed=True),
    Family(
        "point",
        "A memory point: what it joins, what it rests on, what became of it.",
        facts.point,
        ids=lambda space: (point.id for point in space.hypergraph.active()),
    ),
    Family("graph", "Entities and what joined them; around one entity, or as of a time.", graph.graph, listed=True),
    Family("graph as mermaid", "The graph as a flowchart.", graph.mermaid, mime_type="text/vnd.mermaid"),
    Family("graph as GraphML", "The graph for other programs.", graph.graphml, mime_type="application/graphml+xml"),
]
"""The first two have no space; the first is the same for everybody."""


_parsed = cache(UriTemplate.parse)


def resource_list() -> list[Resource]:
    """Return the resources that need no space, and those of the space that calls mean which name none."""
    space = MEANT_SPACE.get()
    found = [_resource(one, {}, one.name, one.title) for one in FAMILIES[:2]]
    if CALLER.get().may(("read",), space):
        listed = [one for one in FAMILIES if one.listed]
        found += [
            _resource(one, {"space": space}, f"{one.name} of {space}", f"{one.title} of {space}") for one in listed
        ]
    return found


def _resource(family: Family, values: Values, name: str, title: str) -> Resource:
    uri = uri_of(family.name, values)
    return Resource(uri=uri, name=name, title=title, description=family.description, mime_type=family.mime_type)


def template_list() -> list[ResourceTemplate]:
    """Return the resources that have parameters."""
    return [
        ResourceTemplate(
            uri_template=one.uri, name=one.name, title=one.title, description=one.description, mime_type=one.mime_type
        )
        for one in FAMILIES[2:]
    ]


def match(uri: str) -> tuple[Family, Values]:
    """Return the family of a resource, and the values in its URI.

    Raises:
        InvalidInput: no resource has such a URI.
    """
    for family in FAMILIES:
        if (found := _parsed(family.uri).match(uri)) is not None:
            return family, {name: value for name, value in found.items() if isinstance(value, str)}
    known_uris = ", ".join(one.uri for one in FAMILIES)
    raise InvalidInput("uri", f"there is no resource {uri[:200]!r}", f"There are: {known_uris}.")


async def read_content(memory: Memory, family: Family, values: Values) -> str:
    """Return a resource as text.

    Raises:
        InvalidInput: the values name nothing that exists.
    """
    if iscoroutinefunction(family.content):
        content = await family.content(memory, values)
    else:
        content = await read_in_thread(memory, values, family.content)
    return content if isinstance(content, str) else json.dumps(plain(json_of(content)), ensure_ascii=False, indent=1)


def ids_of(uri_template: str, space: Space) -> Iterable[str]:
    """Return the values that the parameter ``id`` of a template may have in a space."""
    return next((one.ids(space) for one in FAMILIES if one.uri == uri_template), ())
