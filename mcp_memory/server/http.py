"""The server over HTTP (`mcp-memory serve --http`): the protocol at ``/mcp``, health, and who may call.

The protocol is the SDK's streamable HTTP: both eras, with sessions for older clients or without, as streams of events.
The SDK checks the headers ``Host`` and ``Origin``, against pages that rebind a name to this machine, and bounds the
sessions. ``/healthz`` and ``/readyz`` say that it takes calls.

Who makes a request is told by the bearer token that each has to bring where tokens are asked for. What is
allowed in which space is checked where spaces are named (`Grant`): one that the caller may not read is refused alike
whether it exists or not. On a signal running calls may end, for a while.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_memory.access.tokens import Access
from mcp_memory.configurable import HttpSettings
from mcp_memory.domain.access import LOOPBACK, RIGHTS, Grant
from mcp_memory.errors import ConfigurationError
from mcp_memory.server.app import Context, Host, build
from mcp_memory.server.incoming import checked_json, without_halves
from mcp_memory.server.opening import Opener
from mcp_memory.settings import Settings

PATH = "/mcp"
ALLOWED = "memory"
"""The scope of whoever may do anything at all."""
KEEP_ALIVE_S = 75
"""Seconds for which an unused connection stays open: longer than proxies and clients keep theirs, so that none of them
sends a request on a connection that is just being closed."""
_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))  # clients compare it as it is written
log = logging.getLogger(__name__)


def serve_http(settings: Settings, address: tuple[str, int], open_memory: Opener, access: Access | None) -> int:
    """Serve until the process is told to stop; return the exit code.

    Raises:
        ConfigurationError: it would listen beyond this machine without asking for tokens, or for any name.
    """
    check_safe(settings, address, asks_token=access is not None)
    listening = listener(settings, address, open_memory, access)
    log.warning("Listening on http://%s:%s/mcp", *address)
    listening.run()
    return 0 if listening.started else 1


def listener(
    settings: Settings, address: tuple[str, int], open_memory: Opener, access: Access | None
) -> uvicorn.Server:
    """Return what listens, not started yet."""
    http = settings.http
    config = uvicorn.Config(
        http_app(open_memory, settings, address, access),
        host=address[0],
        port=address[1],
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(http.proxies),
        forwarded_allow_ips=listed(http.proxies),
        limit_concurrency=http.connections,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=http.drain_s,
    )
    return _Server(config)


def check_safe(settings: Settings, address: tuple[str, int], *, asks_token: bool) -> None:
    """Check that it is safe to listen.

    Raises:
        ConfigurationError: it is not.
    """
    http, host = settings.http, address[0]
    if not asks_token and host not in LOOPBACK:
        raise ConfigurationError(
            f"serve --http {host}:{address[1]} would let every machine that reaches it read and forget all. Make a "
            "token (mcp-memory token add NAME --space SPACE), or set access.issuer, or listen on 127.0.0.1."
        )
    if host in ("0.0.0.0", "::") and not (http.url or http.hosts):
        raise ConfigurationError(
            f"serve --http {host}:{address[1]} listens under every address, so it has to be told its names. Set "
            "http.url (MCP_MEMORY_HTTP_URL) to the address that clients use, or http.hosts."
        )


class _Server(uvicorn.Server):
    """Ends with the exit status 0 on a signal; a second signal does not wait for running calls."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as uvicorn calls it
        """Begin to stop; at the second signal, stop."""
        self.force_exit = self.should_exit
        self.should_exit = True


def host_and_port(text: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; an IPv6 address stands in brackets.

    Raises:
        ConfigurationError: it has another form.
    """
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not bare or (":" in bare and bare == host) or not port.isdigit() or int(port) > 65_535:
        raise ConfigurationError(f"--http {text[:80]!r} is not HOST:PORT, such as 127.0.0.1:8765 or [::1]:8765.")
    return bare, int(port)


def http_app(open_memory: Opener, settings: Settings, address: tuple[str, int], access: Access | None) -> Starlette:
    """Return the server as an ASGI application."""
    http = settings.http
    host = Host(asks_roots=False, sessions=not http.stateless)  # everybody is the owner, which is for loopback alone
    manager = StreamableHTTPSessionManager(
        build(open_memory, settings, replace(host, caller=_caller_of, valid=access.valid) if access else host),
        stateless=http.stateless,
        security_settings=_names(http, address[0]),
        session_idle_timeout=http.session_idle_s,
        max_sessions=http.sessions,
        max_request_body_size=http.body_bytes,
    )
    routes = [Route(path, _well, methods=["GET"]) for path in ("/healthz", "/readyz")]
    metadata_url = None
    if access and access.issuer:
        url = http.url or f"http://{_bracketed(address[0])}:{address[1]}{PATH}"
        resource, issuers = _URL.validate_python(url), [_URL.validate_python(access.issuer.url)]
        metadata_url = build_resource_metadata_url(resource)
        scopes = [f"memory:{right}:*" for right in sorted(RIGHTS)]
        routes += create_protected_resource_routes(resource, issuers, scopes, "mcp-memory")
    endpoint: ASGIApp = one_message(StreamableHTTPASGIApp(manager), http.body_bytes)
    if access:
        endpoint = RequireAuthMiddleware(endpoint, [ALLOWED], metadata_url)
        endpoint = AuthenticationMiddleware(endpoint, OneToken(_Verifier(access)))
    routes += [Route(path, endpoint) for path in (PATH, f"{PATH}/")]
    app = Starlette(routes=routes, lifespan=lambda _app: manager.run())
    app.router.redirect_slashes = False  # it would send clients to whatever the header Host says
    return app


async def _well(_request: Request) -> Response:
    """Say that calls are taken: what listens begins to once the application has started."""
    return PlainTextResponse("ok")


class _Caller(AccessToken):
    """A caller as the SDK knows one, which binds a session to who opened it."""

    grant: Grant


class _Verifier:
    """Tells the SDK who calls; a caller to whom nothing is allowed has no scope."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the caller with a token; None if it is not good."""
        grant = await self._access.grant_of(token)
        if grant is None:
            return None
        scopes = [ALLOWED] if grant.permissions else []
        return _Caller(token="-", client_id=grant.caller, scopes=scopes, claims={"iss": grant.issuer}, grant=grant)


class OneToken(BearerAuthBackend):
    """Takes no request with several headers ``Authorization``: who is between might look at another one."""

    async def authenticate(self, conn: HTTPConnection) -> Any:
        """Return who makes a request; None if nobody is known."""
        return await super().authenticate(conn) if len(conn.headers.getlist("authorization")) == 1 else None


def _caller_of(context: Context) -> Grant:
    """Return who makes a request; one that came without a token is a fault, and fails."""
    user = context.request.scope.get("user") if context.request is not None else None
    caller = user.access_token if isinstance(user, AuthenticatedUser) else None
    if not isinstance(caller, _Caller):
        raise RuntimeError("a request has no caller")
    return caller.grant


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


def one_message(app: ASGIApp, most: int) -> ASGIApp:
    """Return an app that is given bodies of so many bytes at most, whole, each with the JSON of one message.

    Halves of surrogate pairs are replaced, and what is no message is refused as over stdio (`checked_json`).
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
    _, refusal = checked_json(body, "body")
    return Response(refusal, 400, media_type="application/json") if refusal else without_halves(body)
