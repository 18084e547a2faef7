"""Refuses a call with status 403 where the caller's token does not allow it in a space that the call names.

The reply to a call may begin, as a stream of events with status 200, before the call runs; so the rights are checked
before it is handed on, by the same function that checks them in the call (`check_space`). The challenge names the
scopes that the call needs, as the protocol's authorization asks for (*Runtime Insufficient Scope Errors*), so that a
client can get a token that has them. The body is an error of JSON-RPC, which clients show.

A space that the caller may not read is refused alike whether it exists or not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any

import pydantic_core
from mcp_types import INVALID_PARAMS
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_memory.domain.access import CALLER, MEANT_SPACE, NEEDED, Grant
from mcp_memory.errors import NotAllowed
from mcp_memory.server.app import Use
from mcp_memory.server.http.guard import CALLER_KEY, challenge, whole_body
from mcp_memory.server.opening import configured_space
from mcp_memory.server.resources import catalogue
from mcp_memory.server.tools.arguments import check_space
from mcp_memory.server.tools.catalogue import TOOLS
from mcp_memory.settings import Settings

_READS = ("resources/read", "resources/subscribe")


class Rights:
    """Refuses what callers may not do.

    Args:
        settings: ``limits`` and ``server`` are used.
        metadata_url: see `Gate`.
        note: is told of what was refused.
    """

    def __init__(self, settings: Settings, metadata_url: str, note: Callable[[Use], None]) -> None:
        self._limits = settings.limits
        self._space = configured_space(settings.server.space)
        self._metadata_url = metadata_url
        self._note = note

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """Return an app that is given only calls that the caller may make; a body has to come as one message."""

        async def check(scope: Scope, receive: Receive, send: Send) -> None:
            body, again = await whole_body(receive)
            refusal = copy_context().run(self._refusal, scope[CALLER_KEY], body) if body else None
            await (refusal or app)(scope, again, send)

        return check

    def _refusal(self, caller: Grant, body: bytes) -> Response | None:
        """Return the reply to a call that its caller may not make; None to any other, whatever is wrong with it."""
        try:
            call = pydantic_core.from_json(body)
        except ValueError:
            return None
        params = call.get("params") if isinstance(call, dict) else None
        if not isinstance(params, dict):
            return None
        began = time.monotonic()
        CALLER.set(caller)
        MEANT_SPACE.set(caller.meant(self._space))
        found = self._not_allowed(call.get("method"), params)
        if found is None:
            return None
        what, error = found
        self._note(Use(what, error.space, "refused", 0, time.monotonic() - began))
        return self._forbidden(call.get("id"), error)

    def _not_allowed(self, method: Any, params: Mapping[str, Any]) -> tuple[str, NotAllowed] | None:
        """Return what a request is about, as the audit log names it, and what its caller lacks; None if nothing."""
        what = ""
        try:
            if method == "tools/call" and (tool := TOOLS.get(str(params.get("name")))) is not None:
                what = tool.name
                NEEDED.set(tool.needs)
                tool.prepare(params.get("arguments") or {}, self._limits)
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
