"""Calls of a client that is connected in memory; each reply is validated against the published output schema."""

import json

import pytest
from jsonschema import validate
from mcp import Client
from unit.services.learning_memory import Disk, memory

from mcp_memory.server.app import build
from mcp_memory.settings import ServerSettings, Settings

LAZY = Settings(server=ServerSettings(warm_up="first_call"))
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
TALK = [
    {"id": "D1:1", "speaker": "Ann", "text": "I moved to Lisbon", "time": "2023-05-08"},
    {"id": "D1:2", "speaker": "Bob", "text": "And I adopted a dog", "time": "2023-05-09T10:00:00Z"},
]
FACTS = [
    {"head": "Ann", "relation": "lives_in", "tail": "Lisbon", "valid_from": "2015-03-01", "source": "D1:1"},
    {"head": "Ann", "relation": "lives_in", "tail": "Oslo", "valid_from": "2020-01-01"},
    {"head": "Ann", "relation": "lives_in", "tail": "Rome", "valid_from": "2020-01-01", "confidence": 0.9},
    {"head": "Ann", "relation": "owns", "tail": "a boat", "valid_from": "2021-01-01", "confidence": 0.45},
    {"head": "Bob", "relation": "friend_of", "tail": "Ann", "valid_from": "2018-01-01", "valid_to": "2019-01-01"},
]


def connected(disk=None, one=None, opener=None, settings=LAZY, **how):
    """Return a client of a memory over these rows, or of the one that is given or that ``opener`` opens.

    A second client over the same rows simulates a restart; ``how`` it connects.
    """
    disk = disk or Disk()

    async def opened():
        return one or memory(disk)

    return Client(build(opener or opened, settings), **how)


async def checked_reply(client, name, **arguments):
    """Call a tool that must succeed, and return its reply."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content[0].text
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    validate(result.structured_content, schemas[name])
    return result


async def structured(client, name, **arguments):
    """Call a tool that must succeed, and return the structured part of its reply."""
    return (await checked_reply(client, name, **arguments)).structured_content


async def said(client, name, **arguments):
    """Call a tool that must succeed, and return what a client sees that reads only text."""
    return (await checked_reply(client, name, **arguments)).content[0].text


async def refused(client, name, **arguments):
    """Call a tool that must refuse, and return its words."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    assert result.structured_content is None
    return result.content[0].text


async def content(client, uri):
    """Return the text of a resource."""
    (part,) = (await client.read_resource(uri)).contents
    return part.text


async def parsed(client, uri):
    """Return the content of a resource of JSON."""
    return json.loads(await content(client, uri))
