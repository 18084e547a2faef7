"""Resources that clients follow, in both eras of the protocol."""

import anyio
import pytest
from integration.client_calls import TALK, connected, structured
from integration.http_server import client_of, listening, settings_with
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceUpdatedNotification
from unit.services.learning_memory import Disk
from word_memory import word_memory

pytestmark = pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")

URIS = ["memory://default/sessions", "memory://default/entities/Ann", "memory://default/points"]
FACT = {"head": "Ann", "relation": "lives_in", "tail": "Oslo"}


async def test_a_stream_tells_which_followed_resources_changed_and_only_those():
    async with connected() as client, client.listen(resource_subscriptions=[*URIS, "memory://default/x"]) as stream:
        assert stream.honored.resource_subscriptions == URIS
        await structured(client, "memory_write", messages=TALK)
        with anyio.fail_after(300):
            assert {(await anext(stream)).uri, (await anext(stream)).uri} == set(URIS[:2])
        await structured(client, "memory_write", facts=[FACT])
        with anyio.fail_after(300):
            assert {(await anext(stream)).uri, (await anext(stream)).uri} == set(URIS[:2])


class Told:
    """What a client was told."""

    def __init__(self):
        self.uris = []
        self.more = anyio.Event()

    async def __call__(self, message):
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(message.params.uri)
            self.more.set()
            self.more = anyio.Event()


async def test_an_older_client_subscribes_and_unsubscribes():
    told = Told()
    async with connected(mode="legacy", message_handler=told) as client:
        assert client.server_capabilities.resources.subscribe
        await client.subscribe_resource(URIS[0])
        await client.subscribe_resource(URIS[0])
        with pytest.raises(MCPError, match="there is no resource 'memory://default/x'"):
            await client.subscribe_resource("memory://default/x")
        with anyio.fail_after(300):
            more = told.more
            await structured(client, "memory_write", messages=TALK)
            await more.wait()
        await client.unsubscribe_resource(URIS[0])
        await structured(client, "memory_write", text="And one more.")
        await anyio.sleep(0.7)  # longer than it takes to look
    assert told.uris == URIS[:1]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_changes_by_somebody_else_are_told_over_http(mode):
    memory, told = word_memory(), Told()
    async with listening(memory=memory) as url, client_of(url, mode=mode, message_handler=told) as client:
        more = told.more
        if mode == "legacy":
            await client.subscribe_resource(URIS[0])
            async with client_of(url) as other:
                await structured(other, "memory_write", messages=TALK)
            with anyio.fail_after(300):
                await more.wait()
        else:
            async with client.listen(resource_subscriptions=URIS) as stream:
                async with client_of(url) as other:
                    await structured(other, "memory_write", messages=TALK)
                with anyio.fail_after(300):
                    assert (await anext(stream)).uri in URIS[:2]  # a write between two looks tells the second first


async def test_changes_by_another_process_on_the_store_are_told():
    disk = Disk()
    async with connected(disk) as here, connected(disk) as there, here.listen(resource_subscriptions=URIS) as stream:
        await structured(there, "memory_write", messages=TALK)
        with anyio.fail_after(300):
            assert (await anext(stream)).uri in URIS[:2]


async def test_without_sessions_older_clients_cannot_subscribe():
    async with listening(settings_with(stateless=True)) as url, client_of(url, mode="legacy") as client:
        assert not client.server_capabilities.resources.subscribe
        with pytest.raises(MCPError):
            await client.subscribe_resource(URIS[0])
