"""The list of resources: how they are listed, matched and read.

Each row of ``TEMPLATES`` is a family of resources; the guide is a text beside them. Most resources are JSON; long ones
come in pages, each of which names the next by its URI.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_types import Resource, ResourceTemplate

from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.domain.turns import version_id
from mcp_memory.errors import InvalidInput
from mcp_memory.server.resources import facts, graph, points, sessions, uris
from mcp_memory.server.resources.uris import GUIDE, JSON, SPACES, ResourceUri, Values, read_in_thread
from mcp_memory.visible import plain

if TYPE_CHECKING:
    from mcp_memory.ports import Stored
    from mcp_memory.view.space import Space

Content = Callable[["Space", Values], "dict[str, Any] | str"]
Ids = Callable[["Space"], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Template:
    """A family of resources.

    Attributes:
        uri: the URI with its parameters.
        name: as it is listed.
        description: the description of its content.
        content: returns what a space holds for values of the parameters, JSON or a text; raises `InvalidInput` where
            there is nothing. None where `sessions.READ` asks the memory as a whole.
        mime_type: the mime type of the content.
        ids: returns the values that its parameter ``id`` may have in a space.
    """

    uri: ResourceUri
    name: str
    description: str
    content: Content | None
    mime_type: str = JSON
    ids: Ids = lambda _space: ()

    @property
    def title(self) -> str:
        """Its name, for people."""
        return self.name[0].upper() + self.name[1:]


def _fact_ids(space: Space) -> Iterable[str]:
    return (version_id(assertion.id) for assertion in space.facts.rows if not assertion.negated)


def _episode_ids(space: Space) -> Iterable[str]:
    return dict.fromkeys(lesson.episode_id for lesson in reversed(space.beliefs.lessons()))


TEMPLATES = (
    Template(uris.SPACES_PAGED, "spaces", "Every space and how much it holds.", None),
    Template(uris.STATUS, "status", "How much a space holds, and whether the memory is well.", None),
    Template(uris.SESSIONS, "sessions", "The sessions of a space, in order of arrival.", sessions.sessions),
    Template(
        uris.SESSION,
        "session",
        "A session's messages and documents, in order and word for word.",
        sessions.session,
        ids=lambda space: space.sessions,
    ),
    Template(
        uris.SENTENCE,
        "sentence",
        "A sentence, its times, its place, and what was learnt of it.",
        sessions.sentence,
        ids=lambda space: (sentence.id for sentence in space.sentences),
    ),
    Template(
        uris.EPISODE,
        "episode",
        "A recall or answer that was learnt from, and what judges said.",
        sessions.episode,
        ids=_episode_ids,
    ),
    Template(uris.ENTITIES, "entities", "Everything that facts are about.", facts.entities),
    Template(uris.ENTITY, "entity", "An entity: its names, and the facts about it by relation.", facts.entity),
    Template(
        uris.TIMELINE, "timeline", "Every version of every fact about an entity, with its validity.", facts.timeline
    ),
    Template(uris.TOPICS, "topics", "What a space keeps coming back to, the largest topic first.", points.topics),
    Template(uris.WISHES, "wishes", "What the user asked for once and for all.", facts.wishes),
    Template(
        uris.FACT, "fact", "A fact: who said it, in which words, and what was known when.", facts.fact, ids=_fact_ids
    ),
    Template(uris.POINTS, "points", "Memory points: what several entities have to do with each other.", points.points),
    Template(
        uris.POINT,
        "point",
        "A memory point: what it joins, what it rests on, what became of it.",
        points.point,
        ids=lambda space: (point.id for point in space.hypergraph.active()),
    ),
    Template(uris.GRAPH, "graph", "Entities and what joined them; around one entity, or as of a time.", graph.graph),
    Template(uris.MERMAID, "graph as mermaid", "The graph as a flowchart.", graph.mermaid, "text/vnd.mermaid"),
    Template(
        uris.GRAPHML, "graph as GraphML", "The graph for other programs.", graph.graphml, "application/graphml+xml"
    ),
)


LISTED = ("status", "sessions", "entities", "topics", "wishes", "points", "graph")
"""The families whose resource of the meant space is listed: clients show people what is listed, and no templates."""


def resource_list() -> list[Resource]:
    """Return the resources that have no parameters, and those of the space that calls mean which name none."""
    spaces, space = TEMPLATES[0], MEANT_SPACE.get()
    guide = Resource(
        uri=GUIDE, name="guide", title="Guide", description="How to use this memory.", mime_type="text/markdown"
    )
    listed = [
        Resource(
            uri=template.uri.expand({"space": space}),
            name=f"{template.name} of {space}",
            title=f"{template.title} of {space}",
            description=template.description,
            mime_type=template.mime_type,
        )
        for template in TEMPLATES
        if template.name in LISTED
    ]
    return [
        guide,
        Resource(uri=SPACES, name=spaces.name, title="Spaces", description=spaces.description, mime_type=JSON),
        *(listed if CALLER.get().may(("read",), space) else ()),
    ]


def template_list() -> list[ResourceTemplate]:
    """Return the resources that have parameters."""
    return [
        ResourceTemplate(
            uri_template=str(template.uri),
            name=template.name,
            title=template.title,
            description=template.description,
            mime_type=template.mime_type,
        )
        for template in TEMPLATES[1:]
    ]


def match(uri: str) -> tuple[Template, Values]:
    """Return the family of a resource, and the values in its URI.

    Raises:
        InvalidInput: no resource has such a URI.
    """
    for template in TEMPLATES:
        values = template.uri.match(uri)
        if values is not None:
            return template, values
    known_uris = ", ".join([GUIDE, SPACES, *(str(template.uri) for template in TEMPLATES[1:])])
    raise InvalidInput("uri", f"there is no resource {uri[:200]!r}", f"There are: {known_uris}.")


async def read(memory: Stored, template: Template, values: Values) -> str:
    """Return a resource as text.

    Raises:
        InvalidInput: the values name nothing that exists.
    """
    if template.content is None:
        content: dict[str, Any] | str = await sessions.READ[template.name](memory, values)
    else:
        content = await read_in_thread(memory, values, template.content)
    return content if isinstance(content, str) else json.dumps(plain(content), ensure_ascii=False, indent=1)


def ids_of(uri_template: str, space: Space) -> Iterable[str]:
    """Return the values that the parameter ``id`` of a template may have in a space."""
    return next((template.ids(space) for template in TEMPLATES if str(template.uri) == uri_template), ())
