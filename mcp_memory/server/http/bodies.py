"""The body of a request: it is not too large, and holds one message of the protocol."""

from __future__ import annotations

from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_memory.server.incoming import json_of, without_halves


def one_message(app: ASGIApp, most: int) -> ASGIApp:
    """Return an app that is given bodies of so many bytes at most, whole, each with the JSON of one message.

    Halves of surrogate pairs are replaced, and what is no message is refused as over stdio (`json_of`).
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        first: Message | None = await receive()
        if scope["method"] == "POST" and first is not None and first["type"] == "http.request":
            body = _read(first["body"])
            if isinstance(body, Response):
                await body(scope, receive, send)
                return
            first["body"] = body

        async def again() -> Message:
            nonlocal first
            message, first = first, None
            return message or await receive()

        await app(scope, again, send)

    return RequestBodyLimitMiddleware(serve, most)


def _read(body: bytes) -> bytes | Response:
    """Return a body as it is handed on, or the reply that refuses it."""
    _, refusal = json_of(body, "body")
    return Response(refusal, 400, media_type="application/json") if refusal else without_halves(body)
