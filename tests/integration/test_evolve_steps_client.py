"""The steps of memory_evolve that process a whole space, for a client that is connected in memory."""

import json

import pytest
from fakes import FakeLog
from integration.client_calls import checked_reply
from mcp import Client
from unit.services.learning_memory import memory

from mcp_memory.server.app import build

pytestmark = pytest.mark.anyio
SAID = [
    {"head": "Anna Patel", "relation": "visited", "tail": "Oslo"},
    {"head": "Anna Maria Patel", "relation": "works_at", "tail": "Acme"},
    {"head": "Anna Patel", "relation": "lives_in", "tail": "Lima"},
]


async def entity(client, name):
    (part,) = (await client.read_resource(f"memory://default/entities/{name}")).contents
    return json.loads(part.text)


async def test_names_are_merged_with_a_reason_and_separated_by_a_statement():
    log = FakeLog()

    async def opened():
        return memory(log)

    async with Client(build(opened)) as client:
        await checked_reply(client, "memory_write", facts=SAID)
        result = await checked_reply(client, "memory_evolve", steps=["entities"])
        (change,) = result.structured_content["changes"]
        assert (change["step"], change["kind"], change["after"]) == (
            "entities",
            "entity",
            "Anna Patel means Anna Maria Patel",
        )
        assert change["before"] in result.content[0].text
        seen = await entity(client, "Anna%20Patel")
        assert set(seen["facts"]) == {"visited", "works_at", "lives_in"}
        (held,) = seen["held"]
        assert (held["name"], held["alias"], held["engine"]) == ("Anna Maria Patel", "Anna Patel", "embedded")
        assert held["reason"] == change["text"]
        denial = {"head": "Anna Patel", "relation": "also_known_as", "tail": "Anna Maria Patel", "negated": True}
        await checked_reply(client, "memory_write", facts=[denial])
        parted = await entity(client, "Anna%20Patel")
        assert (set(parted["facts"]), "held" in parted) == ({"visited", "lives_in"}, False)
        again = await checked_reply(client, "memory_evolve", steps=["entities"])
        assert again.structured_content["changes"] == []


async def test_questions_are_pooled_with_progress_and_counted_in_the_reply():
    reports = []

    async def opened():
        return memory(FakeLog(), read=True)

    async def report(done, total, message):
        reports.append((done, total, message))

    async with Client(build(opened)) as client:
        await checked_reply(client, "memory_write", messages=[{"speaker": "Ann", "text": "I live in Oslo."}])
        result = await client.call_tool("memory_evolve", {"steps": ["questions"]}, progress_callback=report)
        (change,) = result.structured_content["changes"]
        assert (change["step"], change["kind"], change["before"]) == ("questions", "question", "0 questions")
        assert "Where does Ann live?" in change["text"]
        assert reports[0][2] == "pooling questions"
        again = await checked_reply(client, "memory_evolve", steps=["questions", "entities"])
        assert again.structured_content["changes"] == []
        assert [one["step"] for one in again.structured_content["skipped"]] == ["entities", "questions"]


async def test_an_unknown_step_is_refused_by_name_and_changes_nothing():
    log = FakeLog()

    async def opened():
        return memory(log)

    async with Client(build(opened)) as client:
        wrong = await client.call_tool("memory_evolve", {"steps": ["entity"]})
        assert wrong.is_error
        assert "steps[0]" in wrong.content[0].text
        assert "entities" in wrong.content[0].text
        assert log.commits == []
