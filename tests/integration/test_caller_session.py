"""A whole session without a key: the client's own model judges, and the tools' arguments carry its word."""

from dataclasses import replace

import pytest
from jsonschema import validate
from mcp import Client
from unit.reasoning.anthropic.judged_memory import wired

from mcp_memory.reasoning.embedded.inquiry import EmbeddedInquiry
from mcp_memory.server.app import build

pytestmark = pytest.mark.anyio
NOISE = [{"speaker": "Emil", "text": f"On day {day} we talked about animals in the garden."} for day in range(12)]
HIVES = {"speaker": "Emil", "text": "The hives behind my house were full of honey."}
TALK = [one | {"time": "2023-05-08"} for one in ({"speaker": "Bob", "text": "My godfather is Emil."}, *NOISE, HIVES)]
QUESTION = "Which animals does the godfather of Bob have?"


async def told(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content[0].text
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    validate(result.structured_content, schemas[name])
    return result.structured_content


def texts(items):
    return [item["text"] for item in items]


async def test_a_model_recalls_explores_answers_teaches_and_recalls_better():
    async def opened():
        memory = wired("http://127.0.0.1:9", key=None)
        return replace(memory, inquire=EmbeddedInquiry, claude=None)

    async with Client(build(opened)) as client:
        await told(client, "memory_write", messages=TALK)
        first = await told(client, "memory_reconstruct", query=QUESTION, limit=3)
        assert HIVES["text"] not in texts(first["evidence"])  # the model reads: it says who, not which animals

        leads = await told(client, "memory_explore", operator="event_keywords", ids=[first["evidence"][0]["id"]])
        step = next(one for one in leads["next"] if one["operator"] == "tag_events" and one["args"]["entity"] == "Emil")
        found = await told(
            client, "memory_explore", operator=step["operator"], **step["args"], query="bees, hives, honey"
        )
        assert texts(found["items"])[0] == HIVES["text"]

        insert = [
            {"entities": ["Emil", "Bob"], "description": "Emil, the godfather of Bob, has bees: there are hives."}
        ]
        made = await told(client, "memory_evolve", goal=QUESTION, points={"insert": insert})
        assert made["engine"] == "caller"
        words = "Emil, the godfather of Bob, has bees, as the hives behind his house tell."
        taught = await told(client, "memory_evolve", episode=first["episode"], feedback={"correction": words})
        assert taught["engine"] == "caller"
        assert taught["changes"]

        again = await told(client, "memory_reconstruct", query=QUESTION, limit=3)
        (right,) = [
            item["id"] for item in again["evidence"] if words in (item["text"], item["sources"][0].get("quote"))
        ]
        assert [point["text"] for point in again["points"]] == [insert[0]["description"]]
        helped = {"supports": [right], "answer_correct": True}
        kept = await told(client, "memory_evolve", episode=again["episode"], feedback=helped)
        assert (kept["engine"], {change["step"] for change in kept["changes"]}) == ("caller", {"feedback"})

        status = await told(client, "memory_status")
        assert status["engine"] == "embedded"
        assert "claude" not in status
