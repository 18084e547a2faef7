"""The body of a request: it comes in time, is not too large, and holds one message of the protocol."""

from __future__ import annotations

import anyio
from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_memory.bounds import too_many_values
from mcp_memory.server.http.shares import HELD_KEY
from mcp_memory.server.incoming import json_of, without_halves

MESSAGE_KEY = "mcp_memory.message"
"""Where the JSON of a body stands in the scope of a request."""
AT_ONCE = 100_000
"""Bytes of a body that is read at once; a larger one is read in a thread, so that nobody waits for it."""


class SlowRequest(Exception):
    """A request did not arrive in time."""


def in_time(receive: Receive, seconds: float) -> Receive:
    """Return a ``receive`` that raises `SlowRequest` if the body is not complete within so many seconds from now."""
    until, complete = anyio.current_time() + seconds, False

    async def receive_in_time() -> Message:
        nonlocal complete
        if complete:  # what comes now is that the client leaves, whenever that is
            return await receive()
        with anyio.CancelScope(deadline=until) as scope:
            message = await receive()
            complete = message["type"] != "http.request" or not message.get("more_body", False)
        if scope.cancelled_caught:
            raise SlowRequest
        return message

    return receive_in_time


def one_message(app: ASGIApp, most: int) -> ASGIApp:
    """Return an app that is given bodies of so many bytes at most, whole, each with the JSON of one message.

    Parsed, a body of too many values would take many times the memory of its text. Halves of surrogate pairs are
    replaced, and what is no JSON is refused as over stdio (`json_of`).
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(scope, receive, most)
        if isinstance(body, bytes):
            large = len(body) > AT_ONCE
            body = await to_thread.run_sync(_read, scope, body) if large else _read(scope, body)
        if body is None:
            return
        if isinstance(body, Response):
            await body(scope, receive, send)
            return
        first: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def again() -> Message:
            nonlocal first
            message, first = first, None
            return message or await receive()

        await app(scope, again, send)

    return serve


async def _body(scope: Scope, receive: Receive, most: int) -> bytes | Response | None:
    """Return a body; None if its client has left."""
    declared, body = int(Headers(scope=scope).get("content-length", "0")), bytearray()
    more = True
    while max(declared, len(body)) <= most:
        if not more:
            return bytes(body)
        message = await receive()
        if message["type"] != "http.request":
            return None
        piece, more = message.get("body", b""), message.get("more_body", False)
        scope[HELD_KEY].add(len(piece))
        body += piece
    return Response("The request is too large: see http.body_bytes.", 413)


def _read(scope: Scope, body: bytes) -> bytes | Response:
    """Return a body as it is handed on."""
    if scope["method"] != "POST":
        return b""
    body = without_halves(body)
    if too_many_values(body.decode(errors="replace")):
        return Response("The request has too many values.", 413)
    scope[MESSAGE_KEY], refusal = json_of(body, "body")
    return Response(refusal, 400, media_type="application/json") if refusal else body
