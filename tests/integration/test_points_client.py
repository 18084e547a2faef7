"""Memory points for a client that is connected in memory."""

from xml.etree import ElementTree

import pytest
from fakes import Disk
from integration.client_calls import connected, content, parsed, refused, structured
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceTemplateReference

TALK = [
    {"speaker": "Ann", "text": "Rufus met Bella in Hyde Park."},
    {"speaker": "Bob", "text": "Bella won the Crufts cup."},
    {"speaker": "Cid", "text": "Dover opened a ferry to Calais."},
]


async def test_points_of_a_caller_are_stored_listed_and_readable_after_a_restart():
    disk = Disk()
    async with connected(disk) as client:
        await structured(client, "memory_write", messages=TALK)
        insert = [
            {"entities": ["Rufus", "Bella"], "description": "They are friends."},
            {"entities": ["Bella", "Atlantis"], "description": "Bella dreams of it."},
        ]
        made = await structured(client, "memory_evolve", points={"insert": insert}, goal="Who is friends with whom?")
        assert made["engine"] == "caller"
        assert [(one["kind"], one["text"]) for one in made["changes"]] == [
            ("point", "Rufus, Bella"),
            ("point", "Bella, Atlantis"),
        ]
        first, second = (one["id"] for one in made["changes"])
        points = {"merge": [{"ids": [first, second], "description": "Bella has a friend and a dream."}]}
        merged = await structured(client, "memory_evolve", points=points)
        (whole,) = (one["id"] for one in merged["changes"])
        assert (await structured(client, "memory_evolve", points=points))["changes"] == []
        wrong = {"update": [{"id": "h_0", "description": "x"}]}
        assert "points.update[0].id" in await refused(client, "memory_evolve", points=wrong)
    async with connected(disk) as client:
        recall = await structured(client, "memory_reconstruct", query="Who is Rufus?")
        assert recall["points"] == [
            {"id": whole, "text": "Bella has a friend and a dream.", "entities": ["Rufus", "Bella", "Atlantis"]}
        ]
        listed = await parsed(client, "memory://default/points")
        assert [(one["id"], one["goal"]) for one in listed["points"]] == [(whole, "Who is friends with whom?")]
        row = await parsed(client, listed["points"][0]["uri"])
        assert [one["id"] for one in row["parents"]] == [first, second]
        assert row["joins"][-1] == {"name": "Atlantis", "state": "placeholder"}
        gone = await parsed(client, row["parents"][0]["uri"])
        assert (gone["status"], gone["has_become"]["id"], len(gone["history"])) == ("merged", whole, 2)
        placeholder = await parsed(client, "memory://default/entities/atlantis")
        assert (placeholder["state"], placeholder["points"][0]["id"]) == ("placeholder", whole)
        ids = await client.complete(
            ResourceTemplateReference(uri="memory://{space}/points/{id}"), {"name": "id", "value": "h_"}
        )
        assert ids.completion.values == [whole]
        with pytest.raises(MCPError, match="no memory point"):
            await content(client, "memory://default/points/h_0")


async def test_points_of_a_goal_can_be_explored_and_drawn():
    async with connected() as client:
        await structured(client, "memory_write", messages=TALK)
        goal = "How did Rufus and Bella meet?"
        made = await structured(client, "memory_evolve", goal=goal)
        assert made["engine"] == "embedded"
        point = next(one["id"] for one in made["changes"] if "Rufus" in one["text"])
        assert (await structured(client, "memory_evolve", goal=goal))["changes"] == []
        shown = await parsed(client, f"memory://default/points/{point}")
        assert [one["text"] for one in shown["sentences"]] == [TALK[0]["text"], TALK[1]["text"]]
        near = await structured(client, "memory_explore", operator="local_points", ids=[point], query="Who won a cup?")
        assert near["items"][0]["text"] == "Bella won the Crufts cup."
        beyond = await structured(client, "memory_explore", operator="global_points", query="a ferry from Dover")
        assert all("Bella" not in item["text"] for item in beyond["items"])
        graph = await parsed(client, "memory://default/graph")
        assert point in [one["id"] for one in graph["hyperedges"]]
        assert {node["id"] for node in graph["nodes"]} >= set(graph["hyperedges"][0]["nodes"])
        assert graph["total"]["hyperedges"] == len(graph["hyperedges"])
        assert "p0{{" in await content(client, "memory://default/graph.mermaid")
        file = await content(client, "memory://default/graph.graphml")
        assert point in [node.get("id") for node in ElementTree.fromstring(file).findall(".//{*}node")]


async def test_points_come_in_pages_and_the_pages_of_a_graph_continue_from_facts_to_points():
    async with connected() as client:
        for start in range(0, 120, 60):
            insert = [{"entities": [f"E{n}", f"F{n}"], "description": f"{n}"} for n in range(start, start + 60)]
            await structured(client, "memory_evolve", points={"insert": insert})
        await structured(client, "memory_write", facts=[{"head": "Ann", "relation": "likes", "tail": "tea"}])
        page = await parsed(client, "memory://default/points")
        assert (len(page["points"]), page["total"]) == (100, 120)
        rest = await parsed(client, page["next"])
        assert [one["text"] for one in rest["points"]] == [str(number) for number in range(100, 120)]
        graph = await parsed(client, "memory://default/graph")
        assert (len(graph["edges"]), len(graph["hyperedges"])) == (1, 99)
        rest = await parsed(client, graph["next"])
        assert (len(rest["edges"]), len(rest["hyperedges"]), "next" in rest) == (0, 21, False)
        assert len(rest["nodes"]) == 42
