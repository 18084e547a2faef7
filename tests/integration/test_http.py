"""The server over HTTP: both eras with and without sessions, health, limits and the end."""

import json

import anyio
import httpx2
import pytest
from integration.client_calls import TALK, structured
from integration.http_server import HEADERS, client_of, listening, post, request, settings_with, tool
from word_memory import word_memory

from mcp_memory.errors import ConfigurationError
from mcp_memory.server.http import check_safe, host_and_port
from mcp_memory.settings import Settings


@pytest.mark.parametrize("how", [{}, {"stateless": True}])
async def test_calls_are_answered_in_both_eras_with_and_without_sessions(how):
    async with listening(settings_with(**how)) as url:
        for mode in ("auto", "legacy"):
            async with client_of(url, mode=mode) as client:
                assert "memory_write" in {tool.name for tool in (await client.list_tools()).tools}
                await structured(client, "memory_write", messages=TALK, space=f"talk-{mode}")
                found = await structured(client, "memory_reconstruct", query="adopted a dog", space=f"talk-{mode}")
                assert found["evidence"][0]["text"] == "And I adopted a dog"


async def test_health_half_an_emoji_and_an_address_with_a_slash_at_its_end():
    async with listening(settings_with(stateless=True)) as url, httpx2.AsyncClient() as http:
        assert (await http.get(f"{url}/healthz")).text == "ok"
        assert (await http.get(f"{url}/readyz")).status_code == 200
        slash = await http.post(f"{url}/mcp/", headers=HEADERS, json=request("ping"))
        assert slash.status_code in (200, 400)
        body = json.dumps(tool("memory_write", text="well \ud83e", session="\udd42") | {"id": "\udbff"})
        reply = await post(url, body=body)
        assert '"id":"\ufffd"' in reply.text
        assert '"isError":false' in reply.text
        async with client_of(url) as client:
            (found,) = (await structured(client, "memory_reconstruct"))["evidence"]
    assert (found["text"], found["sources"][0]["session"]) == ("well \ufffd", "\ufffd")


async def test_a_running_call_ends_before_the_server_does():
    memory, asked, written, closed = word_memory(), anyio.Event(), [], []

    async def close():
        closed.append(True)

    async def pause():
        asked.set()
        await anyio.sleep(0.3)

    async def write(url):
        async with client_of(url) as client:
            written.append(await structured(client, "memory_write", text="The last words."))

    memory.pause, memory.store.aclose = pause, close
    async with listening(memory=memory) as url, anyio.create_task_group() as tasks:
        tasks.start_soon(write, url)
        await asked.wait()
    assert written[0]["counts"]["stored"] == 1
    assert closed


@pytest.mark.parametrize(
    ("address", "http", "words"),
    [
        ("0.0.0.0:1", {}, "would let every machine"),
        ("192.0.2.1:1", {}, "would let every machine"),
        *((text, {}, "HOST:PORT") for text in ("8765", "host:", ":8765", "host:99999", "::1:8765", "host:port")),
    ],
)
async def test_it_does_not_listen_where_that_is_not_safe(address, http, words):
    with pytest.raises(ConfigurationError, match=words):
        check_safe(settings_with(**http), host_and_port(address), asks_token=False)
    assert host_and_port("[::1]:80") == ("::1", 80)


def test_under_every_address_it_has_to_be_told_its_names():
    with pytest.raises(ConfigurationError, match=r"http\.url"):
        check_safe(Settings(), ("0.0.0.0", 1), asks_token=True)
    check_safe(settings_with(hosts="memory.example"), ("0.0.0.0", 1), asks_token=True)
