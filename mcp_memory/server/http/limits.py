"""Bounds on what one caller may ask: how often, how large, how slowly."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

import anyio
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_memory.server.incoming import too_many_values

REMEMBERED = 10_000
"""Callers whose rate is remembered; one who is forgotten begins with a full allowance."""


class Rate:
    """An allowance of requests for each caller that fills up in the course of time (a token bucket).

    Args:
        rate: requests a second.
        burst: at once.
        clock: seconds since any fixed moment.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # requests left, and as of when

    def take(self, caller: str) -> float:
        """Count a request; return 0, or the seconds after which there will be an allowance for one."""
        left = self._now(caller)
        if left < 1:
            return (1 - left) / self._rate
        self._left[caller] = left - 1, self._clock()
        self._left.move_to_end(caller)
        while len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        return 0.0

    def _now(self, caller: str) -> float:
        left, since = self._left.get(caller, (float(self._burst), 0.0))
        return min(self._burst, left + (self._clock() - since) * self._rate)


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


async def whole_body(receive: Receive) -> tuple[bytes, Receive]:
    """Return a body that comes as one message, and a ``receive`` that brings it again."""
    first: Message | None = await receive()
    body: bytes = (first or {}).get("body", b"")

    async def replay() -> Message:
        nonlocal first
        message, first = first, None
        return message or await receive()

    return body, replay


def few_values(app: ASGIApp) -> ASGIApp:
    """Return an app that is given no body of too many values: parsed it would take many times the memory of its text.

    The body has to come as one message.
    """

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        body, again = await whole_body(receive)
        if too_many_values(body.decode(errors="replace")):
            await Response("The request has too many values.", 413)(scope, receive, send)
            return
        await app(scope, again, send)

    return check


class Streams:
    """The streams on which clients wait for news: requests with the method GET, which end when one side leaves."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """Return an app whose streams are known."""

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            with anyio.CancelScope() as stream:
                if scope["method"] == "GET":
                    self._scopes.add(stream)
                try:
                    await app(scope, receive, send)
                finally:
                    self._scopes.discard(stream)

        return serve

    def end(self) -> None:
        """End them all."""
        for stream in list(self._scopes):
            stream.cancel()
