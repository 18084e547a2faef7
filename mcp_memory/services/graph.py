"""The facts of a space as a graph: entities joined by what was ever true between them, to look at and to take away.

A node is an entity or a value, an edge one version of a fact: two people who were married twice are joined twice. What
is only suspected, and what never held, is not in the graph; the timeline of an entity shows those too. Memory points
are hyperedges: where only pairs can be joined, each stands as a node of its own that is joined to what it joins.
GraphML is for other programs, mermaid for people: of a large graph it shows as much as mermaid itself is willing to
draw.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from mcp_memory.domain.facts import Version
from mcp_memory.domain.points import Point
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import Millis
from mcp_memory.language import iso
from mcp_memory.view.facts import Facts

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from mcp_memory.view.space import Space

MERMAID_EDGES = 400
"""mermaid refuses more than 500 (``maxEdges``)."""
MERMAID_UNITS = 45_000
"""UTF-16 code units; mermaid refuses more than 50,000 (``maxTextSize``)."""
LABEL_CHARS = 60
"""Of a name in a drawing."""
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Hyperedge:
    """A memory point in a graph.

    Attributes:
        point: active.
        nodes: how each entity that it joins is called, by its key; some may be in no fact and so in no other node.
    """

    point: Point
    nodes: Mapping[str, str]


def graph_of(facts: Facts, as_of: Millis | None = None) -> MultiDiGraph[str]:
    """Return a space's facts as a graph.

    Args:
        facts: of a view that is held still.
        as_of: only what holds at this instant; None takes in what held at any time.

    Returns:
        Nodes by key of their entity, with ``name`` and ``kind`` (None where unknown), in the order in which they came
        up; edges by id of their version, with ``version``.
    """
    from networkx import MultiDiGraph

    graph: MultiDiGraph[str] = MultiDiGraph()
    for version in facts.all():
        if version.status == "contested" or not (as_of is None or version.holds(as_of, as_of + 1)):
            continue
        head, tail = facts.key(version.head), facts.key(version.tail)
        for node in (head, tail):
            if node not in graph:
                graph.add_node(node, name=facts.name(node), kind=facts.kind(node))
        graph.add_edge(head, tail, key=version.id, version=version)
    return graph


def edges_of(graph: MultiDiGraph[str]) -> list[tuple[str, str, Version]]:
    """Return the edges of a graph: keys of head and tail, and the version."""
    return [(head, tail, data["version"]) for head, tail, data in graph.edges(data=True)]


def hyperedges_of(space: Space, graph: MultiDiGraph[str], key: str | None = None) -> list[Hyperedge]:
    """Return the memory points that belong to a graph, in the order in which they were made.

    Args:
        space: of a view that is held still.
        graph: of its facts.
        key: of the entity that the graph lies around, if it does: then those that join it, or two of the graph's nodes.
    """
    found = []
    for point in space.hypergraph.active():
        nodes = {space.facts.key(name): name for name in reversed(point.entities)}
        if key is None or key in nodes or len(nodes.keys() & graph.nodes.keys()) > 1:
            names = {one: graph.nodes[one]["name"] if one in graph else nodes[one] for one in reversed(nodes)}
            found.append(Hyperedge(point, names))
    return found


def around(graph: MultiDiGraph[str], key: str, depth: int) -> MultiDiGraph[str]:
    """Return what lies within ``depth`` steps of an entity, in either direction, the nearest first.

    An entity that no edge of the graph touches has nothing around it.
    """
    from networkx import MultiDiGraph, single_source_shortest_path_length

    near: MultiDiGraph[str] = MultiDiGraph()
    if key not in graph:
        return near
    distances = single_source_shortest_path_length(graph.to_undirected(as_view=True), key, cutoff=depth)
    for node in distances:
        near.add_node(node, **graph.nodes[node])
    found = (edge for edge in graph.edges(near, keys=True, data=True) if edge[1] in near)
    for head, tail, name, data in sorted(found, key=lambda edge: max(distances[edge[0]], distances[edge[1]])):
        near.add_edge(head, tail, key=name, **data)
    return near


def graphml(graph: MultiDiGraph[str], hyperedges: Sequence[Hyperedge] = ()) -> str:
    """Return a graph as GraphML; characters that XML cannot hold are left out.

    A memory point is a node of the kind ``point``, with edges ``joins`` to what it joins.
    """
    from networkx import MultiDiGraph, write_graphml_xml

    plain: MultiDiGraph[str] = MultiDiGraph()
    ids = {key: f"n{number}" for number, key in enumerate(graph)}
    for key, data in graph.nodes(data=True):
        kind = {"kind": data["kind"]} if data["kind"] else {}
        plain.add_node(ids[key], name=_legal(data["name"]), **kind)
    for head, tail, name, data in graph.edges(keys=True, data=True):
        version: Version = data["version"]
        since, until = iso.show(version.since), iso.show(version.until)
        times = {name: time for name, time in (("valid_from", since), ("valid_to", until)) if time}
        confidence, text = float(version.confidence), _legal(version.text)
        plain.add_edge(
            ids[head],
            ids[tail],
            key=name,
            relation=_legal(version.relation),
            text=text,
            confidence=confidence,
            status=version.status,
            intent=version.intent,
            **times,
        )
    for hyperedge in hyperedges:
        name = hyperedge.point.id
        plain.add_node(name, name=_legal(hyperedge.point.description), kind="point")
        for key, called in hyperedge.nodes.items():
            if key not in ids:
                ids[key] = f"n{len(ids)}"
                plain.add_node(ids[key], name=_legal(called))
            plain.add_edge(name, ids[key], key=f"{name} {ids[key]}", relation="joins")
    out = BytesIO()
    write_graphml_xml(plain, out)
    return out.getvalue().decode()


def mermaid(graph: MultiDiGraph[str], hyperedges: Sequence[Hyperedge] = ()) -> str:
    """Return a graph as a mermaid flowchart: what still holds first, arrows of what is over dotted, then memory points.

    Where it is more than mermaid draws, what comes last is left out, and a comment says how much.
    """
    edges = sorted(edges_of(graph), key=lambda edge: not edge[2].current)
    lines, ids = ["flowchart LR"], dict[str, str]()
    room = MERMAID_UNITS
    shown = 0
    for head, tail, version in edges:
        new = []
        for key in (head, tail):
            if key not in ids:
                ids[key] = f"n{len(ids)}"
                new.append(f'  {ids[key]}["{label(graph.nodes[key]["name"])}"]')
        arrow = "-->" if version.current else "-.->"
        new.append(f'  {ids[head]} {arrow}|"{label(_told(version))}"| {ids[tail]}')
        room -= sum(len(line.encode("utf-16-le")) // 2 + 1 for line in new)
        if room < 0 or shown == MERMAID_EDGES:
            break
        lines += new
        shown += 1
    if left := len(edges) - shown:
        lines.insert(1, f"  %% {left} of {len(edges)} facts are not drawn - ask for entity, depth or as_of")
    for number, hyperedge in enumerate(hyperedges):
        new = [f'  p{number}{{{{"{label(hyperedge.point.description)}"}}}}']
        for key, called in hyperedge.nodes.items():
            if key not in ids:
                ids[key] = f"n{len(ids)}"
                new.append(f'  {ids[key]}["{label(called)}"]')
            new.append(f"  p{number} --- {ids[key]}")
        room -= sum(len(line.encode("utf-16-le")) // 2 + 1 for line in new)
        shown += len(hyperedge.nodes)
        if room < 0 or shown > MERMAID_EDGES:
            left = len(hyperedges) - number
            lines.insert(1, f"  %% {left} of {len(hyperedges)} memory points are not drawn - ask for entity")
            break
        lines += new
    return "\n".join(lines) + "\n"


def label(text: str) -> str:
    """Return a text as it may stand between quotes in mermaid: letters and digits as they are, the rest as codes.

    mermaid reads ``#58;`` as a colon. So no name can end a label, begin a comment, a directive, a list or an icon, or
    hold markup; and since a code has no letter before it, the marks that mermaid itself puts for codes cannot be
    forged either. Line breaks become spaces; characters that steer the direction of text are left out, as they would
    reach beyond their label.
    """
    text = " ".join(text.split())
    if len(text) > LABEL_CHARS:
        text = text[: LABEL_CHARS - 1] + "…"
    return "".join(_coded(character) for character in text) or " "


def _coded(character: str) -> str:
    if character.isalnum() or character == " ":
        return character
    if unicodedata.category(character) in ("Cc", "Cf", "Cs") and character not in _JOINERS:
        return ""
    return f"#{ord(character)};"


def _told(version: Version) -> str:
    """Return a relation with its time, "lives in, 2019-05-01 to 2021-03-01"."""
    known = relations().get(version.relation).label
    since, until = iso.show(version.since), iso.show(version.until)
    if since and until:
        return f"{known}, {since} to {until}"
    return f"{known}, since {since}" if since else f"{known}, until {until}" if until else known


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)
