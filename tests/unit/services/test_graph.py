"""The graph of facts: its content, the neighbourhood of an entity, and its export formats."""

import re
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest
from asserting import asserted
from batches import point

from mcp_memory.domain.times import FOREVER
from mcp_memory.language import iso
from mcp_memory.services.graph import MERMAID_EDGES, around, graph_of, graphml, hyperedges_of, mermaid
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space

NAMES = [
    'Ann "the Fox" O\'Neil',
    "end",
    "graph TD; A-->B",
    "[brackets] (round) {curly} <b>html</b> |pipe|",
    "subgraph",
    "%%{init: {}}%%",
    "%% comment",
    "👩‍👩‍👧 family 🏳️‍🌈",
    "two\nlines\r\nand \u2028 more",
    "x" * 5000,
    "مرحبا \u202eevil\u202c",
    "नमस्ते 你好 e\u0301",
    "#35; &quot; &#60; ﬂ°°35¶ß",
    "`code` *md* 1. list",
    "style a:b#quot; classDef x:#fff;",
    "fa:fa-bell click href javascript:alert(1)",
    "\x00\x0b\x1b\ufffe bell\x07",
    "\\ backslash \\n",
    "   ",
    "—",
]


def said(head, relation, tail, since, until=None, confidence=0.95, number=0):
    start, end = iso.parse(since)[0], FOREVER if until is None else iso.parse(until)[0]
    return asserted(tail, start, end, head=head, relation=relation, turn=f"t_{number}", confidence=confidence)


def facts_of(*assertions):
    facts = Facts()
    facts.add(assertions)
    return facts


FACTS = facts_of(
    said("Ann", "lives_in", "Lisbon", "2015-01-01"),
    said("Ann", "lives_in", "Oslo", "2020-01-01", number=1),
    said("Bob", "likes", "Oslo", "2021-01-01", number=2),
    said("Bob", "owns", "a boat", "2021-01-01", confidence=0.4, number=3),
    said("Bob", "owns", "a car", "2019-01-01", "2021-01-01", number=4),
)


def test_graphml_is_read_back_by_networkx_with_times_and_confidence(tmp_path):
    (tmp_path / "graph.graphml").write_text(graphml(graph_of(FACTS)), encoding="utf-8")
    back = networkx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True)
    told = {data["text"]: data for _, _, data in back.edges(data=True)}
    assert told["Ann lives in Lisbon"]["valid_to"] == "2020-01-01"
    assert "valid_to" not in told["Ann lives in Oslo"]
    assert told["Bob likes Oslo"]["confidence"] == 0.95
    assert {name for _, name in back.nodes(data="name")} == {"Ann", "Lisbon", "Oslo", "Bob", "a car"}


def test_mermaid_draws_current_facts_as_lines_and_past_facts_dotted():
    drawn = mermaid(around(graph_of(FACTS), "lisbon", 1))
    assert drawn == ('flowchart LR\n  n0["Ann"]\n  n1["Lisbon"]\n  n0 -.->|"lives in, 2015-01-01 to 2019-12-31"| n1\n')
    assert '-->|"lives in, since 2020-01-01"|' in mermaid(graph_of(FACTS))
    unsure = facts_of(said("Ann", "lives_in", "Oslo", "2020-01-01", confidence=0.8))
    assert '-->|"lives in, uncertain, since 2020-01-01"|' in mermaid(graph_of(unsure))


def test_the_name_of_somebody_stands_in_their_node_and_a_time_is_shown_as_its_day():
    named = said("user", "named", "Ann Moor", "2020-05-08T09:30:00Z")
    drawn = mermaid(graph_of(facts_of(named, said("user", "lives_in", "Oslo", "2020-05-08T09:30:00Z", number=1))))
    assert drawn.splitlines()[1:] == [
        '  n0["user #40;Ann Moor#41;"]',
        '  n1["Oslo"]',
        '  n0 -->|"lives in, since 2020-05-08"| n1',
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_breaks_a_drawing_or_a_file(name):
    graph = graph_of(
        facts_of(said(name, "knows", "Ann", "2020-01-01"), said("Bob", name, name, "2020-01-01", number=1))
    )
    for line in mermaid(graph).splitlines()[1:]:
        assert re.fullmatch(r'  n\d+(?:\["[^"]*"\]| --?>\|"[^"]*"\| n\d+)', line), line
    assert len(ElementTree.fromstring(graphml(graph)).findall(".//{*}edge")) == 2


def test_a_large_graph_is_drawn_up_to_mermaids_limits_with_a_note():
    crowd = [said("Ann", "knows", f"person {number} " + "é" * 50, "2020-01-01", number=number) for number in range(700)]
    few, long = mermaid(graph_of(facts_of(*crowd[:500]))), mermaid(graph_of(facts_of(*crowd)))
    for drawn in (few, long):
        assert len(drawn.encode("utf-16-le")) <= 100_000
        assert drawn.count("-->") <= MERMAID_EDGES
        left = int(re.search(r"%% (\d+) of", drawn)[1])
        assert left + drawn.count("-->") in (500, 700)


def space_with(*points):
    space = Space("default")
    space.facts.add(FACTS.rows)
    space.hypergraph.add(points, np.zeros((len(points), 2), dtype=np.float32))
    return space


def test_memory_points_are_nodes_of_their_own_that_other_programs_read(tmp_path):
    space = space_with(point("trip", ("Ann", "lisbon", "Atlantis")))
    graph = graph_of(space.facts)
    (tmp_path / "graph.graphml").write_text(graphml(graph, hyperedges_of(space, graph)), encoding="utf-8")
    back = networkx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True)
    assert back.nodes["h_trip"] == {"name": "What trip is.", "kind": "point"}
    joined = [(back.nodes[node]["name"], data["relation"]) for _, node, data in back.edges("h_trip", data=True)]
    assert joined == [("Ann", "joins"), ("Lisbon", "joins"), ("Atlantis", "joins")]
    assert len(back) == len(graph) + 2
