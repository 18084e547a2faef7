"""What a person is asked through their client, in both eras."""

import pytest
from integration.client_calls import structured
from mcp import Client
from mcp_types import ElicitResult
from unit.services.learning_memory import FakeLog, memory

from mcp_memory.server.app import build

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


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
        await structured(client, "memory_write", text="My sister is a baker.")
        preview = await structured(client, "memory_forget", everything=True)
        done = await structured(client, "memory_forget", everything=True, dry_run=False, token=preview["token"])
        assert done["dry_run"] is False
