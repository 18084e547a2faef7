"""The routes over HTTP: the protocol at ``/mcp``, health, readiness, and who issues tokens.

The protocol is the SDK's streamable HTTP: both eras, with sessions for older clients or without, as streams of events.
The SDK checks the headers ``Host`` and ``Origin``, against pages that rebind a name to this machine, and bounds the
sessions. ``/healthz`` says that the process runs, ``/readyz`` that it takes calls.

A space that the caller may not read is refused alike whether it exists or not.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mcp_memory.domain.access import RIGHTS, Grant
from mcp_memory.server.app import Context, Host, build
from mcp_memory.server.http.access import Access
from mcp_memory.server.http.bodies import one_message
from mcp_memory.server.http.guard import CALLER_KEY, Guard, Streams
from mcp_memory.server.opening import Opener
from mcp_memory.settings import HttpSettings, Settings

PATH = "/mcp"
LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))  # clients compare it as it is written


class HttpServer:
    """The server as an ASGI application.

    Args:
        open_memory: see `build`.
        settings: every setting.
        address: host and port on which it listens.
        access: what is asked of callers; None for everybody, as the owner.

    Attributes:
        app: the application.
        draining: whether it takes no more calls; `drain` sets it.
    """

    def __init__(
        self, open_memory: Opener, settings: Settings, address: tuple[str, int], access: Access | None
    ) -> None:
        self.draining = False
        self._ready = False
        self._streams = Streams()
        http = settings.http
        host = Host(_caller_of, asks_roots=False, sessions=not http.stateless, headers=True)
        server = build(open_memory, settings, replace(host, valid=access.valid) if access else host)
        self._subscriptions = server.subscriptions
        self._manager = StreamableHTTPSessionManager(
            server,
            stateless=http.stateless,
            security_settings=_names(http, address[0]),
            session_idle_timeout=http.session_idle_s,
            max_sessions=http.sessions,
            max_request_body_size=http.body_bytes,
        )
        routes = [Route("/healthz", _healthy, methods=["GET"]), Route("/readyz", self._readiness, methods=["GET"])]
        metadata_url = ""
        if access and access.issuer:
            url = http.url or f"http://{_bracketed(address[0])}:{address[1]}{PATH}"
            resource, issuers = _URL.validate_python(url), [_URL.validate_python(access.issuer.url)]
            metadata_url = str(build_resource_metadata_url(resource))
            scopes = [f"memory:{right}:*" for right in sorted(RIGHTS)]
            routes += create_protected_resource_routes(resource, issuers, scopes, "mcp-memory")
        endpoint = one_message(StreamableHTTPASGIApp(self._manager), http.body_bytes)
        guarded = Guard(self._streams.wrap(endpoint), access, metadata_url)
        routes += [Route(path, guarded) for path in (PATH, f"{PATH}/")]
        starlette = Starlette(routes=routes, lifespan=self._lifespan)
        starlette.router.redirect_slashes = False  # it would send clients to whatever the header Host says
        self.app = starlette

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


async def _healthy(_request: Request) -> Response:
    return PlainTextResponse("ok")


def _caller_of(context: Context) -> Grant:
    """Return who makes a request; one that did not come through a `Guard` is a fault, and fails."""
    caller = context.request.scope[CALLER_KEY] if context.request is not None else None
    if not isinstance(caller, Grant):
        raise RuntimeError("a request has no caller")
    return caller


def _names(http: HttpSettings, host: str) -> TransportSecuritySettings:
    """Return by which names this server may be called, and by which pages: those of this machine."""
    own = {host, urlsplit(http.url).hostname or "", *LOOPBACK, *listed(http.hosts)} - {""}
    hosts = [f"{_bracketed(name)}{port}" for name in own for port in ("", ":*")]
    near = [f"{scheme}://{_bracketed(name)}" for scheme in ("http", "https") for name in LOOPBACK]
    pages = [f"{page}{port}" for page in near for port in ("", ":*")] if host in LOOPBACK else []
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=pages)


def _bracketed(host: str) -> str:
    """Return a host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def listed(text: str) -> list[str]:
    """Return the parts of a setting that are separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
