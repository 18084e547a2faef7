"""What stands before every request over HTTP: names of hosts and pages, the caller's token, rate and size.

The checks, in this order, each with its status: a body of one length (400: a proxy may believe the other one), the
header Host is one of this server's names (421, against pages that rebind a name to this machine), a page that calls it
is listed (403), one token that is valid (401; 429 after many that were not), not too many requests (429), a body that
is neither too large (413) nor too slow (408). What is allowed in which space is checked where spaces are named:
`Grant`.

The limits bound what one caller may ask: how often, how slowly, and how much at a time (`Shares`).
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_memory.domain.access import OWNER, Grant
from mcp_memory.server.http.bodies import SlowRequest, in_time
from mcp_memory.server.http.shares import HELD_KEY, Exhausted, Held, Shares
from mcp_memory.settings import HttpSettings

BYTES_OF_REQUEST = 200_000
"""Bytes of a body that count as one request more: they take as long to receive and to read as one takes to answer."""
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
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()  # requests left, and as of when

    def take(self, caller: Hashable) -> float:
        """Count a request; return 0, or the seconds after which there will be an allowance for one."""
        left = self._now(caller)
        if left < 1:
            return (1 - left) / self._rate
        self._left[caller] = left - 1, self._clock()
        self._left.move_to_end(caller)
        while len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        return 0.0

    def charge(self, caller: Hashable, requests: int) -> None:
        """Count what a caller has already been given; the next request waits until it is made up for."""
        self._left[caller] = self._now(caller) - requests, self._clock()

    def _now(self, caller: Hashable) -> float:
        left, since = self._left.get(caller, (float(self._burst), 0.0))
        return min(self._burst, left + (self._clock() - since) * self._rate)


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


Verify = Callable[[str], Awaitable[Grant | None]]
"""Returns what a token grants; None if it is not valid, for whatever reason."""
WRONG_TOKENS_RATE = 0.2
WRONG_TOKENS = 20
"""Wrong tokens of one address that are told so, and how many more a second; the rest are told to wait."""
CALLER_KEY = "mcp_memory.caller"
"""Where the caller stands in the scope of a request."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What may pass.

    Attributes:
        hosts: names of this server, without port, in lower case.
        origins: pages that may call it: scheme, host and port.
        loopback: whether pages of this machine may call it.
        metadata_url: where clients learn who issues tokens; empty if nobody does.
    """

    hosts: frozenset[str]
    origins: frozenset[str]
    loopback: bool
    metadata_url: str = ""

    def allows_host(self, headers: Headers) -> bool:
        """Return whether the one header Host has a name of this server."""
        given = headers.getlist("host")
        return len(given) == 1 and _host_of(given[0]) in self.hosts

    def knows_origin(self, headers: Headers) -> bool:
        """Return whether no page calls, or one that may."""
        given = headers.getlist("origin")
        if not given:
            return True
        if len(given) > 1:
            return False
        scheme, _, rest = given[0].partition("://")
        own = self.loopback and scheme in ("http", "https") and _host_of(rest) in LOOPBACK
        return own or given[0] in self.origins


LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))


_AUTHORITY = re.compile(r"(?:\[([0-9a-f]*:[0-9a-f:.]*)\]|([a-z0-9._-]+))(?::\d{1,5})?")


def _host_of(authority: str) -> str:
    """Return the host of ``HOST`` or ``HOST:PORT`` in lower case; an empty text if it is anything else."""
    found = _AUTHORITY.fullmatch(authority.lower())
    return (found[1] or found[2]) if found else ""


class Guard:
    """Wraps the endpoint of the protocol.

    Args:
        app: what is guarded.
        gate: see `Gate`.
        verify: see `Verify`; None lets everybody in as the owner, and is for loopback alone.
        settings: how much callers may ask.
    """

    def __init__(self, app: ASGIApp, gate: Gate, verify: Verify | None, settings: HttpSettings) -> None:
        self._app = app
        self._gate = gate
        self._verify = verify
        self._rate = Rate(settings.rate, settings.burst)
        self._wrong = Rate(WRONG_TOKENS_RATE, WRONG_TOKENS)
        self._requests = Shares("requests", settings.connections, settings.caller_share)
        self._size = Shares("bytes of requests", settings.held_bytes, settings.caller_share, settings.body_bytes)
        self._receive_s = settings.receive_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        headers = Headers(scope=scope)
        address = scope["client"][0] if scope.get("client") else ""
        found = self._wrong_place(headers) or await self._caller(headers, address)
        caller: Hashable = found.identity if isinstance(found, Grant) and self._verify else address
        if isinstance(found, Grant) and (wait := self._rate.take(caller)):
            found = _too_many(wait)
        if isinstance(found, Response):
            await found(scope, receive, send)
            return
        scope[CALLER_KEY] = found
        issuer, name = found.identity  # the SDK binds a session to who opened it
        scope["user"] = AuthenticatedUser(AccessToken(token="-", client_id=name, scopes=[], claims={"iss": issuer}))
        try:
            scope[HELD_KEY] = held = Held(caller, self._requests, self._size)
            with held:
                try:
                    await self._app(scope, in_time(receive, self._receive_s), send)
                finally:
                    self._rate.charge(caller, held.bytes // BYTES_OF_REQUEST)
        except SlowRequest:
            await Response("The request did not arrive in time.", 408, _CLOSE)(scope, receive, send)
        except Exhausted as error:
            await Response(str(error), error.status, {"Retry-After": "5"})(scope, receive, send)

    def _wrong_place(self, headers: Headers) -> Response | None:
        if "content-length" in headers and "transfer-encoding" in headers:
            return Response("A request has Content-Length or Transfer-Encoding, not both.", 400, _CLOSE)
        if not self._gate.allows_host(headers):
            return Response("This server does not go by that name: see http.hosts.", 421)
        if not self._gate.knows_origin(headers):
            return Response("This page may not call the server: see http.origins.", 403)
        return None

    async def _caller(self, headers: Headers, address: str) -> Grant | Response:
        if self._verify is None:
            return OWNER
        given = headers.getlist("authorization")
        if not given:
            return self._unauthorized("", "A token is needed.")
        scheme, _, token = given[0].partition(" ")
        grant = None
        if len(given) == 1 and scheme.lower() == "bearer":
            grant = await self._verify(token)
        if grant is None:
            wait = self._wrong.take(address)  # a right token is never kept waiting by wrong ones
            return _too_many(wait, _CLOSE) if wait else self._unauthorized("invalid_token", "The token is not valid.")
        if not grant.permissions:
            return self._unauthorized("insufficient_scope", "The token allows nothing here.", 403)
        return grant

    def _unauthorized(self, error: str, words: str, status: int = 401) -> Response:
        body = {"error": error or "unauthorized", "error_description": words}
        return JSONResponse(body, status, challenge(self._gate.metadata_url, error, words))


_CLOSE = {"Connection": "close"}


def challenge(metadata_url: str, error: str, words: str, scopes: str = "") -> dict[str, str]:
    """Return the header that says which token is needed (RFC 6750, section 3; RFC 9728, section 5.1).

    Args:
        metadata_url: see `Gate`.
        error: the code of RFC 6750; empty where no token was sent.
        words: what is wrong.
        scopes: the scopes that the request needs, separated by spaces.
    """
    parts = [f'error="{error}"', f'error_description="{words}"'] if error else []
    if scopes:
        parts.append(f'scope="{scopes}"')
    if metadata_url:
        parts.append(f'resource_metadata="{metadata_url}"')
    return {"WWW-Authenticate": " ".join(("Bearer", ", ".join(parts))).strip()}


def _too_many(seconds: float, headers: Mapping[str, str] | None = None) -> Response:
    given = {"Retry-After": str(math.ceil(seconds)), **(headers or {})}
    return Response("Too many requests: see Retry-After.", 429, given)
