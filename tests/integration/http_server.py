"""A server over HTTP on loopback, in the event loop of a test, with tokens or without, and what speaks to it."""

import json
import socket
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from word_memory import word_memory

from mcp_memory.configurable import AccessSettings
from mcp_memory.domain.access import RIGHTS, Grant, Permission
from mcp_memory.server.http import listener
from mcp_memory.settings import ServerSettings, Settings
from mcp_memory.wiring import open_access, token_file

SETTINGS = Settings(server=ServerSettings(warm_up="first_call"))
HEADERS = {"MCP-Protocol-Version": "2025-06-18", "Accept": "application/json, text/event-stream"}


def settings_with(**http):
    return replace(SETTINGS, http=replace(SETTINGS.http, **http))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def listening(settings=SETTINGS, tokens=None, opener=None, memory=None):
    """Yield the address of a server; it drains when the block is left."""
    memory = memory or word_memory()

    async def opened():
        return memory

    port = free_port()
    server = listener(settings, ("127.0.0.1", port), opener or opened, tokens)

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


# With tokens


def grant(name, *spaces, rights=RIGHTS, **how):
    return Grant(name, tuple(Permission(space, frozenset(rights)) for space in spaces), **how)


@asynccontextmanager
async def guarded(folder, memory=None, **http):
    """Yield the address of a server that asks for tokens, their file, and the token of ann, who has a space."""
    access = AccessSettings(str(folder / "tokens.json"))
    settings = replace(settings_with(**{"stateless": True} | http), access=access)
    file = token_file(settings)
    ann = file.add(grant("ann", "ann"))
    async with listening(settings, open_access(settings), memory=memory) as url:
        yield url, file, ann


# Requests


def request(method, **params):
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def tool(name, **arguments):
    return request("tools/call", name=name, arguments=arguments)


LIST, PING = request("tools/list"), json.dumps(request("ping"))
HELLO = request(
    "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "attack", "version": "1"}
)


async def post(url, token=None, body=LIST, headers=(), **how):
    """Post a body, in JSON unless it is text or bytes; a header that is given replaces the usual one of its name."""
    named = {name for name, _ in headers}
    usual = [*HEADERS.items(), ("Content-Type", "application/json")]
    usual += [("Authorization", f"Bearer {token}")] if token else []
    given = [*(pair for pair in usual if pair[0] not in named), *headers]
    content = body if isinstance(body, (str, bytes)) else json.dumps(body)
    async with httpx2.AsyncClient(timeout=20) as http:
        return await http.post(f"{url}/mcp", headers=given, **({"content": content} | how))


def head(token, length=None, method="POST", more="", host="127.0.0.1"):
    """Return the head of a request, as bytes."""
    lines = [f"{method} /mcp HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in HEADERS.items())]
    lines += ["Content-Type: application/json", f"Authorization: Bearer {token}"]
    lines += [f"Content-Length: {length}"] if length is not None else []
    return ("\r\n".join(lines) + f"\r\n{more}\r\n").encode()


async def answer(url, raw, seconds=20):
    """Return what a server says to bytes on a connection of their own, until it ends or something whole has come."""
    host, port = url.removeprefix("http://").split(":")
    found = b""
    with anyio.move_on_after(seconds), suppress(anyio.EndOfStream, anyio.BrokenResourceError, ConnectionError):
        async with await anyio.connect_tcp(host, int(port)) as stream:
            await stream.send(raw)
            while b"\r\n\r\n" not in found:
                found += await stream.receive()
    return found
