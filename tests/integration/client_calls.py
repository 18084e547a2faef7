"""Calls of a client that is connected in memory; each reply is validated against the published output schema."""

from jsonschema import validate
from mcp import Client
from unit.services.learning_memory import memory

from mcp_memory.server.app import build


def connected(log):
    """Return a client of a memory over these rows; a second client over the same rows simulates a restart."""

    async def opened():
        return memory(log)

    return Client(build(opened))


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


async def content(client, uri):
    """Return the text of a resource."""
    (part,) = (await client.read_resource(uri)).contents
    return part.text
