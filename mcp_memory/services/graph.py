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
from io import BytesIO
from typing import TYPE_CHECKING

from mcp_memory.domain.facts import CERTAIN, Version
from mcp_memory.domain.points import Point
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import DAY, FOREVER, Millis
from mcp_memory.language import iso
from mcp_memory.visible import is_invisible

if TYPE_CHECKING:
    from networkx import MultiDiGraph

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


@dataclass(frozen=True, slots=True)
class Hyperedge:
    """A memory point in a graph, with the name of each entity that it joins, by key.

    An entity without facts is in no other node.
    """

    point: Point
    nodes: Mapping[str, str]


def graph_of(facts: Facts, as_of: Millis | None = None) -> MultiDiGraph[str]:
    """Return a space's facts as a graph: what holds at an instant, or what held at any time.

    Nodes are in order of first mention, by the key of their entity, with ``name`` and ``kind`` (None if unknown); edges
    by the id of their version, with ``version``.
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
    """Return the memory points that belong to a graph, oldest first.

    Of one around an entity, by its key, these are points that join it or two nodes.
    """
    found = []
    for point in space.hypergraph.active():
        nodes = {space.facts.key(name): name for name in reversed(point.entities)}
        if key is None or key in nodes or len(nodes.keys() & graph.nodes.keys()) > 1:
            names = {key: graph.nodes[key]["name"] if key in graph else nodes[key] for key in reversed(nodes)}
            found.append(Hyperedge(point, names))
    return found


def around(graph: MultiDiGraph[str], key: str, depth: int) -> MultiDiGraph[str]:
    """Return the part of a graph within ``depth`` steps of an entity, in either direction, nearest first.

    It is empty for an entity without edges.
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
    """Return a graph as GraphML, without characters that XML cannot represent.

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
        if version.precision:
            times["precision"] = version.precision
        plain.add_edge(
            ids[head],
            ids[tail],
            key=name,
            relation=_legal(version.relation),
            text=text,
            confidence=confidence,
            status=version.status,
            kind=version.kind,
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


def mermaid(graph: MultiDiGraph[str], hyperedges: Sequence[Hyperedge] = (), units: int = MERMAID_UNITS) -> str:
    """Return a graph as a mermaid flowchart: current facts, past facts with dotted arrows, then memory points.

    Other names of an entity stand in its node: "user (Ann Moor)".

    What exceeds the limits of mermaid, or ``units`` of UTF-16, is left out at the end; a comment says how much.
    """
    edges = sorted(edges_of(graph), key=lambda edge: not edge[2].current)
    names = {key: data["name"] for key, data in graph.nodes(data=True)}
    for key, version in ((head, version) for head, tail, version in edges if _names_itself(head, tail, version)):
        names[key] += f" ({version.tail})" if version.tail != graph.nodes[key]["name"] else ""
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
    since = iso.show_start(version.since // DAY * DAY, version.precision) if version.stated else None
    until = iso.show((version.until - 1) // DAY * DAY) if version.until < FOREVER else None
    if since and until:
        return f"{name}, {since} to {until}"
    return f"{name}, since {since}" if since else f"{name}, until {until}" if until else name


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)
