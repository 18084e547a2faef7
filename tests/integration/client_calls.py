"""Calls of a client that is connected in memory; each reply is validated against the published output schema."""

import json

from jsonschema import validate
from mcp import Client
from unit.services.learning_memory import FakeLog, memory

from mcp_memory.server.app import build


def connected(log=None, one=None, **how):
    """Return a client of a memory over these rows; a second client over the same rows simulates a restart."""
    log = log or FakeLog()

    async def opened():
        return one or memory(log)

    return Client(build(opened), **how)


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
