"""``memory_graph`` and the viewer for a client that is connected in memory, in both eras of the protocol."""

import json
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from integration.client_calls import ERAS, FACTS, TALK, connected, content, refused, structured
from mcp.client.extension import advertise
from word_memory import word_memory

from mcp_memory import texts
from mcp_memory.server import viewer
from mcp_memory.server.resources.graph import DRAWN_CHARS, LISTED_EDGES


@ERAS
async def test_the_reply_is_the_resource_and_its_text_a_summary_with_a_flowchart(mode):
    async with connected(mode=mode) as client:
        await structured(client, "memory_write", messages=TALK, facts=FACTS)
        reply = await structured(client, "memory_graph")
        resource = json.loads(await content(client, "memory://default/graph"))
        assert {name: reply[name] for name in resource} == resource
        assert reply.keys() - resource.keys() == {"engine", "warnings"}
        assert reply["total"] == {"nodes": 4, "edges": 3, "hyperedges": 0}
        assert [(edge["text"], edge["status"]) for edge in reply["edges"]] == [
            ("Ann lives in Lisbon", "closed"),
            ("Ann lives in Oslo", "active"),
            ("Bob is a friend of Ann", "closed"),
        ]
        lived, lives, _ = reply["edges"]
        assert (lived["superseded_by"], lived["valid_to"]) == (lives["id"], "2020-01-01")
        assert lived["sources"][0]["quote"] == "I moved to Lisbon"
        assert reply["nodes"][0] | {"uri": 0, "timeline": 0} == {
            "id": "ann", "name": "Ann", "kind": "person", "facts": 3, "uri": 0, "timeline": 0,
        }  # fmt: skip
        text = (await client.call_tool("memory_graph", {"entity": "Ann", "depth": 1})).content[0].text
        assert text.startswith("Graph of space 'default' around 'Ann': 4 entities and values, 3 facts (1 current")
        assert "```mermaid\nflowchart LR\n" in text


@ERAS
async def test_a_graph_is_narrowed_by_entity_depth_and_time_and_refuses_what_it_cannot_draw(mode):
    async with connected(mode=mode) as client:
        await structured(client, "memory_write", messages=TALK, facts=FACTS)
        then = await structured(client, "memory_graph", entity="Ann", as_of="2016-05-01")
        assert [edge["text"] for edge in then["edges"]] == ["Ann lives in Lisbon"]
        assert (then["entity"], then["as_of"][:10]) == ("ann", "2016-05-01")
        near = await structured(client, "memory_graph", entity="Lisbon", depth=1)
        assert {node["name"] for node in near["nodes"]} == {"Lisbon", "Ann"}
        assert "no fact of space 'default' is about 'Zoe'" in await refused(client, "memory_graph", entity="Zoe")
        assert "depth: 11 will not do" in await refused(client, "memory_graph", depth=11)
        assert "as_of: 'May'" in await refused(client, "memory_graph", as_of="May")
        assert "space: nothing was ever written" in await refused(client, "memory_graph", space="nowhere")


async def test_a_host_with_apps_gets_a_page_and_another_host_less_and_both_the_address_of_the_rest():
    memory = word_memory()
    knows = {"relation": "knows", "valid_from": "2024-03-01"}
    facts = [{"head": f"Person {n}", "tail": f"Person {n + 1}", **knows} for n in range(150)]
    apps = advertise(viewer.EXTENSION, {"mimeTypes": [viewer.MIME_TYPE]})

    async with connected(one=memory, extensions=[apps]) as client:
        assert viewer.EXTENSION in client.server_capabilities.extensions
        await structured(client, "memory_write", messages=TALK, facts=facts)
        assert len((await structured(client, "memory_graph"))["edges"]) == 100
    async with connected(one=memory) as client:
        result = await client.call_tool("memory_graph", {})
        page = result.structured_content
        assert len(page["edges"]) == LISTED_EDGES
        more = json.loads(await content(client, page["next"]))
        assert more["edges"][0]["text"] == f"Person {LISTED_EDGES} knows Person {LISTED_EDGES + 1}"
        assert page["total"]["edges"] == 150
        assert len(result.content[0].text) < DRAWN_CHARS + 1000
        assert " of 150 facts are not drawn" in result.content[0].text


@ERAS
async def test_the_tool_names_the_viewer_and_the_viewer_is_a_resource_that_needs_no_memory(mode):
    async def closed():
        raise AssertionError("opened")

    async with connected(mode=mode, opener=closed) as client:
        (tool,) = (tool for tool in (await client.list_tools()).tools if tool.name == "memory_graph")
        assert tool.meta["ui"] == {"resourceUri": viewer.URI, "visibility": ["model", "app"]}
        assert tool.meta["ui/resourceUri"] == viewer.URI
        (listed,) = (one for one in (await client.list_resources()).resources if one.uri == viewer.URI)
        assert listed.mime_type == "text/html;profile=mcp-app"
        (page,) = (await client.read_resource(viewer.URI)).contents
        assert (page.mime_type, page.text) == (listed.mime_type, texts.resource("viewer.html"))
        assert page.meta["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes and texts."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.within = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])
        self.within = True

    def handle_endtag(self, tag):
        self.within = False

    def handle_data(self, data):
        if self.within:
            self.found[-1][2] += data

    def of(self, tag):
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


def test_the_viewer_is_one_small_file_whose_policy_allows_its_own_script_alone():
    page = texts.resource("viewer.html")
    assert len(page.encode()) <= 250_000
    elements = Elements(page)
    (data, nothing), (plain, script) = elements.of("script")
    assert (data, nothing, plain) == ({"type": "application/json", "id": "data"}, "null", {})
    (policy,) = (one["content"] for one, _ in elements.of("meta") if "http-equiv" in one)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    ((_, style),) = elements.of("style")
    assert rules["default-src"] == rules["connect-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    assert rules["style-src"] == f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
    assert not [one for _, one, _ in elements.found if one.keys() & {"src", "href", "style", "onclick", "onload"}]


def test_a_page_with_a_graph_inside_keeps_every_text_inside_its_data():
    hostile = "</script><script>alert(1)</script><!-- <script> \u2028 ]]> &lt;"
    graph = {"nodes": [{"id": "a", "name": hostile}], "edges": [], "hyperedges": []}
    elements = Elements(viewer.page(graph))
    (_, data), (_, script) = elements.of("script")
    assert json.loads(data) == {"graph": graph}
    assert script == Elements(texts.resource("viewer.html")).of("script")[1][1]
