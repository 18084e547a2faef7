"""A server over HTTP on loopback, in the event loop of a test, and clients of it."""

import socket
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from word_memory import WordMemory

from mcp_memory.server.http.app import Access
from mcp_memory.server.http.process import listener
from mcp_memory.settings import ServerSettings, Settings

SETTINGS = Settings(server=ServerSettings(warm_up="first_call"))


def settings_with(**http):
    return replace(SETTINGS, http=replace(SETTINGS.http, **http))


@asynccontextmanager
async def listening(settings=SETTINGS, access=None, opener=None, memory=None):
    """Yield the address of a server; it drains when the block is left."""
    memory = memory or WordMemory()

    async def opened():
        return memory

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = listener(settings, ("127.0.0.1", port), opener or opened, access or Access())

    async def serve():
        with anyio.CancelScope(shield=True):  # also when the test fails it ends as it should
            await server.serve()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        with anyio.fail_after(300):
            while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await anyio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True


@asynccontextmanager
async def client_of(url, token=None, mode="auto", **how):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode, **how) as client,
    ):
        yield client
