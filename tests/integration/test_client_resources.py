"""The resources of the server, read by a client that is connected in memory, in both eras of the protocol."""

import re
from xml.etree import ElementTree

import pytest
from integration.client_calls import ERAS, FACTS, TALK, connected, content, parsed, structured
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, PromptReference, ResourceTemplateReference

from mcp_memory.errors import StoreUnwritable
from mcp_memory.visible import without_hidden


@ERAS
async def test_resources_show_sessions_sentences_and_counts(mode):
    session = "café/ü 100% #1?,&日"
    async with connected(mode=mode) as client:
        first = await parsed(client, "memory://default/status")
        assert first["messages"] == 0  # the default space needs no first write
        await structured(client, "memory_write", messages=TALK, session=session)
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        assert listed[:3] == ["memory://guide", "memory://spaces", "memory://default/status"]
        assert "memory_reconstruct" in await content(client, "memory://guide")
        assert (await parsed(client, "memory://spaces"))["spaces"][0]["space"] == "default"
        assert (await parsed(client, "memory://default/status"))["messages"] == 2
        (row,) = (await parsed(client, "memory://default/sessions"))["sessions"]
        days = {"first": "2023-05-08", "last": "2023-05-09T10:00:00Z"}
        assert row == {"id": session, "uri": row["uri"], "turns": 2} | days
        turns = (await parsed(client, row["uri"]))["turns"]
        assert [turn["text"] for turn in turns] == [turn["text"] for turn in TALK]
        found = (await structured(client, "memory_reconstruct", query="dog"))["evidence"][0]["id"]
        sentence = await parsed(client, f"memory://default/sentences/{found}")
        assert sentence["text"] == "And I adopted a dog"
        assert sentence["source"]["id"] == "D1:2"


async def test_long_resources_come_in_pages_that_name_the_next():
    async with connected() as client:
        for number in range(101):
            await structured(client, "memory_write", text=f"message {number}", session=f"s{number}")
        long = [{"text": f"{number}" * 60_000} for number in range(1, 5)]
        await structured(client, "memory_write", messages=long, session="long")
        pages, uri = [], "memory://default/sessions"
        while uri:
            pages.append(await parsed(client, uri))
            uri = pages[-1].get("next")
        assert [len(page["sessions"]) for page in pages] == [100, 2]
        page = await parsed(client, "memory://default/sessions/long")
        assert (len(page["turns"]), page["total"]) == (3, 4)
        assert [turn["text"][:1] for turn in (await parsed(client, page["next"]))["turns"]] == ["4"]


MISSING = [
    ("memory://nowhere/status", "nothing was ever written to a space 'nowhere'"),
    ("memory://default/sessions/nothing", "space 'default' has no session 'nothing'"),
    ("memory://default/sentences/s_0", "space 'default' has no sentence 's_0'"),
    ("memory://default/sessions?cursor=-1", "'-1' names no page"),
    ("memory://default/hyperedges", "there is no resource 'memory://default/hyperedges'"),
    ("memory://default/points/h_0", "space 'default' has no memory point 'h_0'"),
    ("memory://default/entities/", "no fact of space 'default' is about ''"),
    ("memory://default/entities/Zoe%20B", "no fact of space 'default' is about 'Zoe B'"),
    ("memory://default/timeline/%E2%80%AE", "is about '\\u202e'"),
    ("memory://default/facts/f_0", "space 'default' has no fact 'f_0'"),
    ("memory://default/episodes/ep_0", "nothing was learnt in space 'default' from an episode 'ep_0'"),
    ("memory://default/graph?entity=Zoe", "entity: no fact of space 'default' is about 'Zoe'"),
    ("memory://default/graph?depth=11", "depth: 11 will not do. Give a whole number from 1 to 10"),
    ("memory://default/graph.mermaid?depth=two", "depth: "),
    ("memory://default/graph.graphml?as_of=20165", "as_of: '20165' is not an ISO-8601"),
    ("memory://default/graph?cursor=1", "'1' names no page"),
    ("file:///etc/passwd", "there is no resource"),
]


@ERAS
async def test_a_missing_resource_is_a_protocol_error_with_a_message(mode):
    async with connected(mode=mode) as client:
        for uri, words in MISSING:
            with pytest.raises(MCPError, match=re.escape(words)) as error:
                await client.read_resource(uri)
            assert (error.value.code, error.value.data) == (INVALID_PARAMS, {"uri": uri})


@ERAS
async def test_the_graph_is_available_as_mermaid_and_graphml(mode):
    async with connected(mode=mode) as client:
        await structured(client, "memory_write", messages=TALK, facts=FACTS)
        (drawing,) = (await client.read_resource("memory://default/graph.mermaid?entity=Lisbon&depth=1")).contents
        assert drawing.mime_type == "text/vnd.mermaid"
        assert drawing.text.splitlines()[:2] == ["flowchart LR", '  n0["Ann"]']
        (file,) = (await client.read_resource("memory://default/graph.graphml")).contents
        assert file.mime_type == "application/graphml+xml"
        assert len(ElementTree.fromstring(file.text.encode()).findall(".//{*}edge")) == 3


STRANGE = ["AC/DC", "100% #1?,&=+;@:!", 'Ann "the Fox"', "👩‍👩‍👧", "end", "../..", "one\nmore", "\u202eevil",
           "?entity=x", "日本", "e\u0301", "<b>", "—", "x" * 256]  # fmt: skip


async def test_an_entity_with_any_name_is_found_at_its_listed_uri():
    async with connected() as client:
        facts = [{"head": name, "relation": "knows", "tail": f"{name} 2"} for name in STRANGE]
        await structured(client, "memory_write", facts=[fact for fact in facts if len(fact["tail"]) <= 256])
        await structured(client, "memory_write", facts=[{"head": STRANGE[-1], "relation": "knows", "tail": "Ann"}])
        rows = (await parsed(client, "memory://default/entities"))["entities"]
        assert {row["name"] for row in rows} >= {without_hidden(name) for name in STRANGE}
        for row in rows:
            for uri in (row["uri"], row["timeline"]):
                assert (await parsed(client, uri))["name"] == row["name"]
        for kind in ("graph", "graph.mermaid", "graph.graphml"):
            assert await content(client, f"memory://default/{kind}")


async def test_pages_of_a_large_graph_and_a_long_timeline_are_complete():
    async with connected() as client:
        facts = [{"head": "Ann", "relation": "knows", "tail": f"person {number}"} for number in range(250)]
        await structured(client, "memory_write", facts=facts)
        for uri, name in (
            ("memory://default/graph?entity=Ann&depth=1", "edges"),
            ("memory://default/timeline/Ann", "versions"),
            ("memory://default/entities", "entities"),
        ):
            found = []
            while uri:
                page = await parsed(client, uri)
                found += [row.get("id", row.get("name")) for row in page[name]]
                uri = page.get("next")
            assert len(found) == len(set(found)) == 250 + (name == "entities")


async def test_a_resource_says_why_the_memory_cannot_be_opened():
    async def opener():
        raise StoreUnwritable("storage.uri names a folder that cannot be written to.")

    async with connected(opener=opener) as client:
        with pytest.raises(MCPError, match=r"storage\.uri names") as error:
            await client.read_resource("memory://spaces")
    assert error.value.code == INTERNAL_ERROR


async def test_parameters_of_resources_are_completed_by_prefix():
    async with connected() as client:
        for space in ("alpha", "Alps", "beta"):
            await structured(client, "memory_write", messages=TALK, session=f"{space}-talk", space=space)
        reference = ResourceTemplateReference(uri="memory://{space}/sessions/{id}{?cursor}")
        spaces = await client.complete(reference, {"name": "space", "value": "al"})
        assert spaces.completion.values == ["Alps", "alpha"]
        sessions = await client.complete(reference, {"name": "id", "value": "B"}, context_arguments={"space": "beta"})
        assert sessions.completion.values == ["beta-talk"]
        await structured(client, "memory_write", messages=TALK, facts=FACTS, space="beta")
        names = await client.complete(
            ResourceTemplateReference(uri="memory://{space}/timeline/{name}{?cursor}"),
            {"name": "name", "value": "b"},
            context_arguments={"space": "beta"},
        )
        assert names.completion.values == ["Bob"]
        reference, beta = ResourceTemplateReference(uri="memory://{space}/facts/{id}"), {"space": "beta"}
        facts = await client.complete(reference, {"name": "id", "value": "f_"}, context_arguments=beta)
        assert len(facts.completion.values) == len(FACTS)
        prompt = await client.complete(PromptReference(name="recall"), {"name": "question", "value": "wh"})
        assert prompt.completion.values == []
