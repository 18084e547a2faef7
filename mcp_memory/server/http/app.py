"""The routes over HTTP: the protocol at ``/mcp``, health, readiness, figures, and who issues tokens.

The protocol is the SDK's streamable HTTP: both eras, with sessions for older clients or without, as JSON or as streams
of events. ``/healthz`` says that the process runs, ``/readyz`` that it takes calls, ``/metrics`` the figures of
`Metrics`; the last needs a token where calls do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.streamable_http_manager import (
    RequestBodyLimitMiddleware,
    StreamableHTTPASGIApp,
    StreamableHTTPSessionManager,
)
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_memory.domain.access import Grant
from mcp_memory.server.app import Context, Host, Use, build
from mcp_memory.server.http.guard import (
    CALLER_KEY,
    LOOPBACK,
    WRONG_TOKENS,
    WRONG_TOKENS_RATE,
    Gate,
    Guard,
    Rate,
    Streams,
    Verify,
    counted,
    few_values,
)
from mcp_memory.server.http.metrics import Metrics
from mcp_memory.server.http.rights import Rights
from mcp_memory.server.opening import Opener
from mcp_memory.settings import Settings

PATH = "/mcp"
_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))  # clients compare it as it is written


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call.

    Attributes:
        verify: see `Verify`; None for everybody, as the owner.
        issuer: who issues tokens, as a URL; empty for nobody but this server.
        scopes: that the issuer can grant, to be told to clients.
        note: is told who did what.
        valid: returns whether a grant still holds.
    """

    verify: Verify | None = None
    issuer: str = ""
    scopes: tuple[str, ...] = ()
    note: Callable[[Use], None] = lambda _use: None
    valid: Callable[[Grant], bool] = lambda _grant: True


class HttpServer:
    """The server as an ASGI application.

    Args:
        open_memory: see `build`.
        settings: every setting.
        address: host and port on which it listens.
        access: see `Access`.

    Attributes:
        app: the application.
        draining: whether it takes no more calls; `drain` sets it.
    """

    def __init__(self, open_memory: Opener, settings: Settings, address: tuple[str, int], access: Access) -> None:
        self.draining = False
        self.metrics = Metrics()
        self._ready = False
        self._streams = Streams()
        http = settings.http
        server = build(
            open_memory, settings, Host(_caller_of, self._note(access), False, access.valid, not http.stateless)
        )
        self._subscriptions = server.subscriptions
        self._manager = StreamableHTTPSessionManager(
            server,
            json_response=http.json,
            stateless=http.stateless,
            session_idle_timeout=http.session_idle_s,
            max_sessions=http.sessions,
            max_request_body_size=http.body_bytes,
        )
        self.metrics.watch("sessions", "Sessions of older clients.", lambda: len(self._manager._server_instances))
        self.metrics.watch("followed", "Resources that clients follow.", lambda: len(server.subscriptions))
        url = http.url or f"{'https' if http.tls_cert else 'http'}://{_authority(*address)}{PATH}"
        resource = _URL.validate_python(url)
        routes = [
            Route("/healthz", _healthy, methods=["GET"]),
            Route("/readyz", self._readiness, methods=["GET"]),
        ]
        gate = _gate(settings, address)
        if access.issuer:
            gate = replace(gate, metadata_url=str(build_resource_metadata_url(resource)))
            routes += create_protected_resource_routes(
                resource, [_URL.validate_python(access.issuer)], list(access.scopes) or None, "mcp-memory"
            )
        endpoint: ASGIApp = StreamableHTTPASGIApp(self._manager)
        if access.verify is not None:
            endpoint = Rights(settings, gate.metadata_url, self._note(access)).wrap(endpoint)
        endpoint = RequestBodyLimitMiddleware(few_values(endpoint), http.body_bytes)
        rate, wrong = Rate(http.rate, http.burst), Rate(WRONG_TOKENS_RATE, WRONG_TOKENS)

        def guarded(app: ASGIApp) -> Guard:
            return Guard(self._streams.wrap(app), gate, access.verify, rate, wrong)

        routes += [
            *(Route(path, guarded(endpoint)) for path in (PATH, f"{PATH}/")),
            Route("/metrics", guarded(self._figures)),
        ]
        starlette = Starlette(routes=routes, lifespan=self._lifespan)
        starlette.router.redirect_slashes = False  # it would send clients to whatever the header Host says
        app: ASGIApp = starlette
        if gate.origins:
            app = CORSMiddleware(
                app,
                sorted(gate.origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["*"],
                expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
            )
        self.app = counted(app, self.metrics)

    def drain(self) -> None:
        """Take no more calls, and end streams that would go on without end; what was called goes on."""
        self.draining = True
        self._subscriptions.close()
        self._streams.end()

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        async with self._manager.run():
            self._ready = True
            yield
            self._ready = False

    async def _readiness(self, _request: Request) -> Response:
        ready = self._ready and not self.draining
        return PlainTextResponse("ready" if ready else "not ready", 200 if ready else 503)

    async def _figures(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Response(self.metrics.text(), media_type=self.metrics.content_type)(scope, receive, send)

    def _note(self, access: Access) -> Callable[[Use], None]:
        def note(use: Use) -> None:
            self.metrics.count_use(use)
            access.note(use)

        return note


async def _healthy(_request: Request) -> Response:
    return PlainTextResponse("ok")


def _caller_of(context: Context) -> Grant:
    """Return who makes a request; one that did not come through a `Guard` is a fault, and fails."""
    caller = context.request.scope[CALLER_KEY] if context.request is not None else None
    if not isinstance(caller, Grant):
        raise RuntimeError("a request has no caller")
    return caller


def _gate(settings: Settings, address: tuple[str, int]) -> Gate:
    http = settings.http
    own = {address[0], urlsplit(http.url).hostname or "", *LOOPBACK, *listed(http.hosts)}
    origins = frozenset(listed(http.origins))
    return Gate(frozenset(name.lower() for name in own if name), origins, address[0] in LOOPBACK, http.receive_s)


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listed(text: str) -> list[str]:
    """Return the parts of a setting that are separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
