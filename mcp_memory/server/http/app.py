"""The routes over HTTP: the protocol at ``/mcp``, health, readiness, and who issues tokens.

The protocol is the SDK's streamable HTTP: both eras, with sessions for older clients or without, as JSON or as streams
of events. ``/healthz`` says that the process runs, ``/readyz`` that it takes calls.

**Rights.** A call is refused with status 403 where the caller's token does not allow it in a space that it names. The
reply to a call may begin, as a stream of events with status 200, before the call runs; so the rights are checked before
it is handed on, by the same function that checks them in the call (`check_space`); its other arguments are read once,
in the call. The challenge names the scopes that the call needs, as the protocol's authorization asks for (*Runtime
Insufficient Scope Errors*), so that a client can get a token that has them. The body is an error of JSON-RPC, which
clients show.

A space that the caller may not read is refused alike whether it exists or not.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp_types import INVALID_PARAMS
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_memory.domain.access import CALLER, MEANT_SPACE, NEEDED, Grant
from mcp_memory.errors import NotAllowed
from mcp_memory.server.app import Context, Host, Note, build
from mcp_memory.server.http.bodies import MESSAGE_KEY, one_message
from mcp_memory.server.http.guard import (
    CALLER_KEY,
    LOOPBACK,
    Gate,
    Guard,
    Streams,
    Verify,
    challenge,
)
from mcp_memory.server.http.shares import HELD_KEY, Held, Sessions
from mcp_memory.server.opening import Opener, configured_space
from mcp_memory.server.resources import catalogue
from mcp_memory.server.tools.arguments import check_rights, check_space
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.settings import Settings

_READS = ("resources/read", "resources/subscribe")


class Rights:
    """Refuses what callers may not do.

    Args:
        settings: ``server`` is used.
        metadata_url: see `Gate`.
        note: is told of what was refused.
    """

    def __init__(self, settings: Settings, metadata_url: str, note: Note) -> None:
        self._space = configured_space(settings.server.space)
        self._metadata_url = metadata_url
        self._note = note

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """Return an app that is given only calls that the caller may make; it comes behind `one_message`."""

        async def check(scope: Scope, receive: Receive, send: Send) -> None:
            refusal = copy_context().run(self._refusal, scope[CALLER_KEY], scope.get(MESSAGE_KEY))
            await (refusal or app)(scope, receive, send)

        return check

    def _refusal(self, caller: Grant, call: Any) -> Response | None:
        """Return the reply to a call that its caller may not make; None to any other, whatever is wrong with it."""
        params = call.get("params") if isinstance(call, dict) else None
        if not isinstance(params, dict):
            return None
        CALLER.set(caller)
        MEANT_SPACE.set(caller.meant(self._space))
        found = self._not_allowed(call.get("method"), params)
        if found is None:
            return None
        what, error = found
        self._note(what, error.space, "refused", 0)
        return self._forbidden(call.get("id"), error)

    def _not_allowed(self, method: Any, params: Mapping[str, Any]) -> tuple[str, NotAllowed] | None:
        """Return what a request is about, as the audit log names it, and what its caller lacks; None if nothing."""
        what = ""
        try:
            if method == "tools/call" and (tool := TOOLS.get(str(params.get("name")))) is not None:
                what = tool.name
                NEEDED.set(tool.needs)
                check_rights(tool.input, params.get("arguments") or {})
            elif method in _READS:
                template, values = catalogue.match(str(params.get("uri")))
                what = template.name
                if "space" in values:
                    check_space(values["space"])
        except NotAllowed as error:
            return what, error
        except Exception:  # the call meets it again, and reports it
            return None
        return None

    def _forbidden(self, call_id: Any, error: NotAllowed) -> Response:
        needed = " ".join(f"memory:{right}:{error.space}" for right in sorted(error.rights))
        needed = needed if needed.isascii() else ""  # no scope has other letters (RFC 6749, section 3.3)
        header = challenge(self._metadata_url, "insufficient_scope", "The token does not allow this.", needed)
        said = {"code": INVALID_PARAMS, "message": str(error)}
        return JSONResponse({"jsonrpc": "2.0", "id": call_id, "error": said}, 403, header)


PATH = "/mcp"
_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))  # clients compare it as it is written


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call.

    Attributes:
        verify: see `Verify`; None for everybody, as the owner.
        issuer: who issues tokens, as a URL; empty for nobody but this server.
        scopes: the scopes that the issuer can grant, to be told to clients.
        note: is told who did what.
        valid: returns whether a grant still holds.
    """

    verify: Verify | None = None
    issuer: str = ""
    scopes: tuple[str, ...] = ()
    note: Note = lambda *_use: None
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
        self._ready = False
        self._streams = Streams()
        http = settings.http
        server = build(
            open_memory,
            settings,
            Host(_caller_of, access.note, False, access.valid, not http.stateless, True, _held_by, _size_of),
        )
        self._subscriptions = server.subscriptions
        self._manager = Sessions(
            server,
            json_response=http.json,
            stateless=http.stateless,
            session_idle_timeout=http.session_idle_s,
            max_sessions=http.sessions,
            max_request_body_size=http.body_bytes,
        )
        self._manager.of_caller = max(1, int(http.sessions * http.caller_share))
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
            endpoint = Rights(settings, gate.metadata_url, access.note).wrap(endpoint)
        endpoint = one_message(endpoint, http.body_bytes)
        guarded = Guard(self._streams.wrap(endpoint), gate, access.verify, http)
        routes += [Route(path, guarded) for path in (PATH, f"{PATH}/")]
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
        self.app = app

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


def _held_by(context: Context) -> Held:
    """Return what a request holds until its call has ended."""
    held: Held = context.request.scope[HELD_KEY]  # type: ignore[union-attr]  # `_caller_of` has looked
    return held


def _size_of(context: Context) -> int:
    return _held_by(context).bytes


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
    return Gate(frozenset(name.lower() for name in own if name), origins, address[0] in LOOPBACK)


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listed(text: str) -> list[str]:
    """Return the parts of a setting that are separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
