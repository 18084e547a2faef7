"""What a person is asked through their client, in both eras, and links in replies."""

import pytest
from integration.client_calls import structured
from mcp import Client
from mcp_types import ElicitResult
from unit.services.learning_memory import FakeLog, memory

from mcp_memory.server.app import build

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
OSLO = {"head": "Ann", "relation": "lives_in", "tail": "Oslo", "valid_from": "2020-01-01", "confidence": 0.9}
ROME = OSLO | {"tail": "Rome", "confidence": 0.8}


class Person:
    """A person who answers as told, and keeps what they were asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def __call__(self, _context, params):
        self.asked.append(params.message)
        if self.answer in ("decline", "cancel"):
            return ElicitResult(action=self.answer)
        options = params.requested_schema["properties"]["choice"]["enum"]
        return ElicitResult(action="accept", content={"choice": next(one for one in options if self.answer in one)})


def client_for(person, mode, log=None):
    log = log or FakeLog()

    async def opened():
        return memory(log)

    return Client(build(opened), mode=mode, **({"elicitation_callback": person} if person else {}))


async def lives_in(client):
    found = await structured(client, "memory_explore", operator="expand_facts", entity="Ann")
    return [item["text"] for item in found["items"]]


@ERAS
@pytest.mark.parametrize(
    ("answer", "holds"),
    [("Rome", "Ann lives in Rome"), ("Oslo", "Ann lives in Oslo"), ("Leave", "Ann lives in Oslo"),
     ("decline", "Ann lives in Oslo"), ("cancel", "Ann lives in Oslo")],
)  # fmt: skip
async def test_a_person_decides_which_of_two_facts_holds(mode, answer, holds):
    person = Person(answer)
    async with client_for(person, mode) as client:
        await structured(client, "memory_write", facts=[OSLO])
        written = await structured(client, "memory_write", text="Ann has moved.", facts=[ROME])
        assert [item["stored"] for item in written["items"]] == [mode == "legacy"]  # else by the call before
        assert await lives_in(client) == [holds]
    assert len(person.asked) == 1
    assert "'Ann lives in Oslo', and 'Ann lives in Rome'" in person.asked[0]
    assert ("the user was asked" in str(written["warnings"])) == (answer in ("Rome", "Oslo"))


@ERAS
async def test_a_person_is_asked_before_something_is_forgotten(mode):
    for answer, left in (("Keep", 1), ("decline", 1), ("Forget", 0)):
        person = Person(answer)
        async with client_for(person, mode) as client:
            await structured(client, "memory_write", messages=[{"id": "m1", "text": "My sister is a baker."}])
            preview = await structured(client, "memory_forget", everything=True)
            assert person.asked == []
            done = {"everything": True, "dry_run": False, "token": preview["token"]}
            result = await client.call_tool("memory_forget", done)
            assert result.is_error == bool(left)
            if left:
                assert "the user was asked and does not want it" in result.content[0].text
            assert (await structured(client, "memory_status"))["counts"]["messages"] == left
        assert person.asked[0].startswith("Forget in space 'default': 1 message")


@ERAS
async def test_a_wrong_token_is_refused_without_a_question_and_nobody_is_asked_who_cannot_be(mode):
    person = Person("Forget")
    async with client_for(person, mode) as client:
        await structured(client, "memory_write", text="My sister is a baker.")
        wrong = await client.call_tool("memory_forget", {"everything": True, "dry_run": False, "token": "no"})
        assert wrong.is_error
    assert person.asked == []
    async with client_for(None, mode) as client:
        await structured(client, "memory_write", text="My sister is a baker.", facts=[OSLO, ROME])
        preview = await structured(client, "memory_forget", everything=True)
        done = await structured(client, "memory_forget", everything=True, dry_run=False, token=preview["token"])
        assert done["dry_run"] is False


@ERAS
async def test_replies_link_to_the_resources_that_show_more(mode):
    async with client_for(None, mode) as client:
        written = await client.call_tool("memory_write", {"text": "My sister is a baker.", "session": "family"})
        assert [part.uri for part in written.content[1:]] == ["memory://default/sessions/family"]
        found = await client.call_tool("memory_reconstruct", {"query": "Who is a baker?"})
        links = found.content[1:]
        assert links
        assert len(links) <= 3
        for link in links:
            (part,) = (await client.read_resource(link.uri)).contents
            assert "baker" in part.text
