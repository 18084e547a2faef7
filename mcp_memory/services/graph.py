"""The facts of a space as a graph, for resources and export: GraphML for other programs, mermaid for people.

A node is an entity or a value, an edge one version of a fact: two people who were married twice are joined twice.
Suspected facts and facts that never held are left out; the timeline of an entity shows those too. Memory points are
hyperedges: in a format that joins only pairs, each is a node of its own, joined to every entity of the point. Mermaid
limits the size of a drawing; of a larger graph only a part is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from mcp_memory.domain.facts import CERTAIN, Version
from mcp_memory.domain.points import Point
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import DAY, FOREVER, Millis
from mcp_memory.language import iso
from mcp_memory.visible import is_invisible

if TYPE_CHECKING:
    from mcp_memory.view.facts import Facts
    from mcp_memory.view.space import Space

MERMAID_EDGES = 400
"""mermaid refuses more than 500 (``maxEdges``)."""
MERMAID_UNITS = 45_000
"""UTF-16 code units; mermaid refuses more than 50,000 (``maxTextSize``)."""
LABEL_CHARS = 60
"""Characters of a label in a drawing."""
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot represent."""
_WITHIN_WORDS = re.compile(r"(?<=[^\W_])(?:[-'.](?=[^\W_])|,(?=[^\W_]| ))")


class Node(NamedTuple):
    """An entity or a value, of a kind; None if that is unknown."""

    name: str
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """The facts that are drawn.

    Attributes:
        nodes: by key.
        edges: the keys of head and tail, and the version; those of one head stand together.
    """

    nodes: Mapping[str, Node]
    edges: Sequence[tuple[str, str, Version]]


@dataclass(frozen=True, slots=True)
class Hyperedge:
    """A memory point in a graph.

    Attributes:
        point: active.
        nodes: the name of each entity that it joins, by key; an entity without facts is in no other node.
    """

    point: Point
    nodes: Mapping[str, str]


def graph_of(facts: Facts, as_of: Millis | None = None) -> Graph:
    """Return a space's facts as a graph, the nodes in order of first mention.

    Args:
        facts: the facts of the space.
        as_of: only what holds at this instant; None for what held at any time.
    """
    drawn = [
        (facts.key(version.head), facts.key(version.tail), version)
        for version in facts.all()
        if version.status != "contested" and (as_of is None or version.holds(as_of, as_of + 1))
    ]
    keys = dict.fromkeys(chain.from_iterable(edge[:2] for edge in drawn))
    places = {key: place for place, key in enumerate(keys)}
    nodes = {key: Node(facts.name(key), facts.kind(key)) for key in keys}
    return Graph(nodes, sorted(drawn, key=lambda edge: places[edge[0]]))


def hyperedges_of(space: Space, graph: Graph, key: str | None = None) -> list[Hyperedge]:
    """Return the memory points that belong to a graph, oldest first.

    Args:
        space: the space of the memory points.
        graph: the graph of its facts.
        key: of the entity at the centre of the graph, if there is one: then only points that join it or two nodes.
    """
    found = []
    for point in space.hypergraph.active():
        nodes = {space.facts.key(name): name for name in reversed(point.entities)}
        if key is None or key in nodes or len(nodes.keys() & graph.nodes.keys()) > 1:
            names = {key: graph.nodes.get(key, Node(nodes[key])).name for key in reversed(nodes)}
            found.append(Hyperedge(point, names))
    return found


def around(graph: Graph, key: str, depth: int) -> Graph:
    """Return the part of a graph within ``depth`` steps of an entity, in either direction, nearest first.

    It is empty for an entity without edges.
    """
    distances = {key: 0} if key in graph.nodes else {}
    for distance in range(depth):
        reached = [edge[:2] for edge in graph.edges if distance in map(distances.get, edge[:2])]
        distances = dict.fromkeys(chain.from_iterable(reached), distance + 1) | distances
    near = sorted(distances, key=distances.__getitem__)
    edges = [edge for edge in graph.edges if distances.keys() >= {*edge[:2]}]
    edges.sort(key=lambda edge: max(distances[end] for end in edge[:2]))
    return Graph({node: graph.nodes[node] for node in near}, edges)


def graphml(graph: Graph, hyperedges: Sequence[Hyperedge] = ()) -> str:
    """Return a graph as GraphML, without characters that XML cannot represent.

    A memory point is a node of the kind ``point``, with edges ``joins`` to what it joins.
    """
    drawn = ElementTree.Element("graph", edgedefault="directed")
    types: dict[tuple[str, str], str] = {}
    ids = {key: f"n{number}" for number, key in enumerate(graph.nodes)}

    def add(sort: str, place: Mapping[str, str], told: Mapping[str, str | float | None]) -> None:
        """Add a node or an edge with what is told of it."""
        element = ElementTree.SubElement(drawn, sort, dict(place))
        for name, value in told.items():
            if value is not None:
                types[sort, name] = "double" if isinstance(value, float) else "string"
                ElementTree.SubElement(element, "data", key=f"{sort}.{name}").text = _ILLEGAL.sub("", str(value))

    for key, node in graph.nodes.items():
        add("node", {"id": ids[key]}, node._asdict())
    for head, tail, version in graph.edges:
        names = ("relation", "text", "status", "kind", "intent", "precision")
        told: dict[str, str | float | None] = {name: getattr(version, name) for name in names}
        told |= {"confidence": float(version.confidence)}
        told |= {"valid_from": iso.show(version.since), "valid_to": iso.show(version.until)}
        add("edge", {"source": ids[head], "target": ids[tail], "id": version.id}, told)
    for hyperedge in hyperedges:
        name = hyperedge.point.id
        add("node", {"id": name}, {"name": hyperedge.point.description, "kind": "point"})
        for key, called in hyperedge.nodes.items():
            if key not in ids:
                ids[key] = f"n{len(ids)}"
                add("node", {"id": ids[key]}, {"name": called})
            add("edge", {"source": name, "target": ids[key], "id": f"{name}.{ids[key]}"}, {"relation": "joins"})
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for (sort, name), type_ in types.items():
        about = {"id": f"{sort}.{name}", "for": sort, "attr.name": name, "attr.type": type_}
        ElementTree.SubElement(root, "key", about)
    root.append(drawn)
    ElementTree.indent(root)
    return str(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True), "utf-8")


def mermaid(graph: Graph, hyperedges: Sequence[Hyperedge] = (), units: int = MERMAID_UNITS) -> str:
    """Return a graph as a mermaid flowchart: current facts, past facts with dotted arrows, then memory points.

    Other names of an entity stand in its node: "user (Ann Moor)".

    What exceeds the limits of mermaid, or ``units`` of UTF-16, is left out at the end; a comment says how much.
    """
    edges = sorted(graph.edges, key=lambda edge: not edge[2].current)
    names = {key: node.name for key, node in graph.nodes.items()}
    for key, version in ((head, version) for head, tail, version in edges if _names_itself(head, tail, version)):
        names[key] += f" ({version.tail})" if version.tail != graph.nodes[key].name else ""
    lines, ids = ["flowchart LR"], dict[str, str]()
    room, shown = units, 0

    def nodes(called: Mapping[str, str]) -> list[str]:
        """Return the lines of the nodes that are not drawn yet, of names by keys."""
        fresh = [key for key in called if key not in ids]
        ids.update({key: f"n{number}" for number, key in enumerate(fresh, len(ids))})
        return [f'  {ids[key]}["{label(called[key])}"]' for key in fresh]

    for head, tail, version in edges:
        new = nodes({key: names[key] for key in (head, tail)})
        if not _names_itself(head, tail, version):
            arrow = "-->" if version.current else "-.->"
            new.append(f'  {ids[head]} {arrow}|"{label(_edge_label(version))}"| {ids[tail]}')
        room -= sum(len(line.encode("utf-16-le")) // 2 + 1 for line in new)
        if room < 0 or shown == MERMAID_EDGES:
            break
        lines += new
        shown += 1
    if left := len(edges) - shown:
        lines.insert(1, f"  %% {left} of {len(edges)} facts are not drawn - ask for entity, depth or as_of")
    for number, hyperedge in enumerate(hyperedges):
        new = [f'  p{number}{{{{"{label(hyperedge.point.description)}"}}}}']
        new += nodes(hyperedge.nodes)
        new += [f"  p{number} --- {ids[key]}" for key in hyperedge.nodes]
        room -= sum(len(line.encode("utf-16-le")) // 2 + 1 for line in new)
        shown += len(hyperedge.nodes)
        if room < 0 or shown > MERMAID_EDGES:
            left = len(hyperedges) - number
            lines.insert(1, f"  %% {left} of {len(hyperedges)} memory points are not drawn - ask for entity")
            break
        lines += new
    return "\n".join(lines) + "\n"


def _names_itself(head: str, tail: str, version: Version) -> bool:
    """Return whether an edge only gives another name of its node, which then stands in the node."""
    from mcp_memory.view.facts import NAMING

    return head == tail and version.relation in NAMING


def label(text: str) -> str:
    """Return a text escaped for a quoted mermaid label: letters, digits and marks between them as they are.

    The rest becomes codes (``#58;``); of marks a comma, a hyphen, an apostrophe and a full stop stay, if a letter or
    digit stands before and one (or, of a comma, a space) behind: a model reads the text as well.

    So no name can end a label, start a comment, a directive, a list or an icon, or contain markup. Since a code has no
    letter before it, the marks that mermaid itself uses for codes cannot be forged either. Line breaks become spaces.
    Characters that control the direction of text are left out, as they would reach beyond their label.
    """
    text = " ".join(text.split())
    if len(text) > LABEL_CHARS:
        text = text[: LABEL_CHARS - 1] + "…"
    kept = {found.start() for found in _WITHIN_WORDS.finditer(text)}
    return "".join(one if place in kept else _escape(one) for place, one in enumerate(text)) or " "


def _escape(character: str) -> str:
    if character.isalnum() or character == " ":
        return character
    if is_invisible(character):
        return ""
    return f"#{ord(character)};"


def _edge_label(version: Version) -> str:
    """Return a relation with its stated days, and how far it is known: "lives in, 2019-05-01 to 2021-02-28"."""
    name = relations().get(version.relation).label
    if version.kind == "planned":
        name += ", planned"
    if version.as_of is not None:
        name += f", as told on {iso.show(version.as_of // DAY * DAY)}"
    elif version.confidence < CERTAIN:
        name += ", uncertain"
    since = iso.show(version.since // DAY * DAY) if version.stated else None
    until = iso.show((version.until - 1) // DAY * DAY) if version.until < FOREVER else None
    if since and until:
        return f"{name}, {since} to {until}"
    return f"{name}, since {since}" if since else f"{name}, until {until}" if until else name
