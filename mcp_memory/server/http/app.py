"""The routes over HTTP: the protocol at ``/mcp``, health, readiness, and who issues tokens.

The protocol is the SDK's streamable HTTP: both eras, with sessions for older clients or without, as streams of events.
The SDK checks the headers ``Host`` and ``Origin``, against pages that rebind a name to this machine, and bounds the
sessions. ``/healthz`` and ``/readyz`` say that it takes calls.

A space that the caller may not read is refused alike whether it exists or not.
"""

from __future__ import annotations

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
from mcp_memory.server.http.guard import CALLER_KEY, Guard
from mcp_memory.server.opening import Opener
from mcp_memory.settings import HttpSettings, Settings

PATH = "/mcp"
LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))  # clients compare it as it is written


def http_app(open_memory: Opener, settings: Settings, address: tuple[str, int], access: Access | None) -> Starlette:
    """Return the server as an ASGI application.

    Args:
        open_memory: see `build`.
        settings: every setting.
        address: host and port on which it listens.
        access: what is asked of callers; None for everybody, as the owner.
    """
    http = settings.http
    host = Host(_caller_of, asks_roots=False, sessions=not http.stateless, headers=True)
    manager = StreamableHTTPSessionManager(
        build(open_memory, settings, replace(host, valid=access.valid) if access else host),
        stateless=http.stateless,
        security_settings=_names(http, address[0]),
        session_idle_timeout=http.session_idle_s,
        max_sessions=http.sessions,
        max_request_body_size=http.body_bytes,
    )
    routes = [Route(path, _well, methods=["GET"]) for path in ("/healthz", "/readyz")]
    metadata_url = ""
    if access and access.issuer:
        url = http.url or f"http://{_bracketed(address[0])}:{address[1]}{PATH}"
        resource, issuers = _URL.validate_python(url), [_URL.validate_python(access.issuer.url)]
        metadata_url = str(build_resource_metadata_url(resource))
        scopes = [f"memory:{right}:*" for right in sorted(RIGHTS)]
        routes += create_protected_resource_routes(resource, issuers, scopes, "mcp-memory")
    guarded = Guard(one_message(StreamableHTTPASGIApp(manager), http.body_bytes), access, metadata_url)
    routes += [Route(path, guarded) for path in (PATH, f"{PATH}/")]
    app = Starlette(routes=routes, lifespan=lambda _app: manager.run())
    app.router.redirect_slashes = False  # it would send clients to whatever the header Host says
    return app


async def _well(_request: Request) -> Response:
    """Say that calls are taken: what listens begins to once the application has started."""
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
