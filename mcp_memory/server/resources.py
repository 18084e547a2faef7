"""What a client can read without a tool: the guide, and the memory as it lies there, space by space.

Every resource is a row of ``TEMPLATES`` (or the guide, which is a text): what was said is read in ``stored.py``, what
follows from it in ``known.py`` and ``topics.py``, what was learnt in ``learnt.py``, and memory points in
``points.py``. Most are JSON; long ones come in
pages, each of which names the next by its URI.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp.shared.uri_template import UriTemplate
from mcp_types import Completion, Resource, ResourceTemplate

from mcp_memory.domain.ids import version_id
from mcp_memory.errors import InvalidInput
from mcp_memory.server import known, learnt, stored
from mcp_memory.server.paging import (
    DEFAULT_SPACE,
    ENTITIES,
    ENTITY,
    EPISODE,
    FACT,
    GRAPH,
    GRAPHML,
    GUIDE,
    MERMAID,
    POINT,
    POINTS,
    SENTENCE,
    SESSION,
    SESSIONS,
    SPACES,
    SPACES_PAGED,
    STATUS,
    TIMELINE,
    TOPICS,
    Values,
)
from mcp_memory.server.points import point, points
from mcp_memory.server.topics import topics

if TYPE_CHECKING:
    from mcp_memory.memory import Memory

COMPLETIONS = 100
"""As many as the protocol lets through."""
JSON = "application/json"

Read = Callable[["Memory", Values], Awaitable[dict[str, Any] | str]]


@dataclass(frozen=True, slots=True)
class Template:
    """A family of resources.

    Attributes:
        uri: with its parameters.
        name: short.
        description: what is in it.
        read: returns the content for values of the parameters, JSON or a text; it raises `InvalidInput` where there
            is none.
        mime_type: of the content.
    """

    uri: UriTemplate
    name: str
    description: str
    read: Read
    mime_type: str = JSON


TEMPLATES = (
    Template(SPACES_PAGED, "spaces", "Every space and how much it holds.", stored.spaces),
    Template(STATUS, "status", "How much a space holds, and whether the memory is well.", stored.status),
    Template(SESSIONS, "sessions", "The sessions of a space, in order of arrival.", stored.sessions),
    Template(SESSION, "session", "A session's messages and documents, in order and word for word.", stored.session),
    Template(SENTENCE, "sentence", "A sentence, its times, its place, and what was learnt of it.", stored.sentence),
    Template(EPISODE, "episode", "A recall or answer that was learnt from, and what judges said.", learnt.episode),
    Template(ENTITIES, "entities", "Everything that facts are about.", known.entities),
    Template(ENTITY, "entity", "An entity: its names, and the facts about it by relation.", known.entity),
    Template(TIMELINE, "timeline", "Every version of every fact about an entity, with its validity.", known.timeline),
    Template(TOPICS, "topics", "What a space keeps coming back to, the largest topic first.", topics),
    Template(FACT, "fact", "A fact: who said it, in which words, and what was known when.", known.fact),
    Template(POINTS, "points", "Memory points: what several entities have to do with each other.", points),
    Template(POINT, "point", "A memory point: what it joins, what it rests on, what became of it.", point),
    Template(GRAPH, "graph", "Entities and what joined them; around one entity, or as of a time.", known.graph),
    Template(MERMAID, "graph as mermaid", "The graph as a flowchart.", known.mermaid, "text/vnd.mermaid"),
    Template(GRAPHML, "graph as GraphML", "The graph for other programs.", known.graphml, "application/graphml+xml"),
)


def listed() -> list[Resource]:
    """Return the resources that have no parameters."""
    spaces = TEMPLATES[0]
    return [
        Resource(
            uri=GUIDE, name="guide", title="Guide", description="How to use this memory.", mime_type="text/markdown"
        ),
        Resource(uri=SPACES, name=spaces.name, title="Spaces", description=spaces.description, mime_type=JSON),
    ]


def templates() -> list[ResourceTemplate]:
    """Return the resources that have parameters."""
    return [
        ResourceTemplate(
            uri_template=str(template.uri),
            name=template.name,
            title=template.name[0].upper() + template.name[1:],
            description=template.description,
            mime_type=template.mime_type,
        )
        for template in TEMPLATES
        if template.uri is not SPACES_PAGED
    ]


def found(uri: str) -> tuple[Template, Values]:
    """Return the family of a resource, and the values in its URI.

    Raises:
        InvalidInput: no resource has such a URI.
    """
    for template in TEMPLATES:
        values = template.uri.match(uri)
        if values is not None:
            return template, {name: value for name, value in values.items() if isinstance(value, str)}
    known_uris = ", ".join([GUIDE, SPACES, *(str(template.uri) for template in TEMPLATES[1:])])
    raise InvalidInput("uri", f"there is no resource {uri[:200]!r}", f"There are: {known_uris}.")


async def read(memory: Memory, template: Template, values: Values) -> str:
    """Return a resource as text.

    Raises:
        InvalidInput: what the values name is not there.
    """
    content = await template.read(memory, values)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1)


async def complete(memory: Memory, uri_template: str, argument: str, typed: str, values: Values) -> Completion:
    """Return the values of a template's parameter that begin with what was typed, whatever its case."""
    async with memory.store.reading() as view:
        space = view.space(values.get("space", DEFAULT_SPACE))
        options: Iterable[str] = ()
        if argument == "space":
            options = sorted(view.spaces)
        elif argument == "id" and uri_template == str(SESSION):
            options = space.sessions
        elif argument == "id" and uri_template == str(SENTENCE):
            options = (sentence.id for sentence in space.sentences)
        elif argument == "id" and uri_template == str(EPISODE):
            options = dict.fromkeys(lesson.episode_id for lesson in reversed(space.beliefs.lessons()))
        elif argument == "id" and uri_template == str(FACT):
            options = (version_id(said.id) for said in space.facts.rows if not said.negated)
        elif argument == "id" and uri_template == str(POINT):
            options = (point.id for point in space.hypergraph.active())
        elif argument in ("name", "entity"):
            options = sorted(space.facts.name(key) for key in space.facts.entities())
        fitting = [option for option in options if option.casefold().startswith(typed.casefold())]
    return Completion(values=fitting[:COMPLETIONS], total=len(fitting), has_more=len(fitting) > COMPLETIONS)
