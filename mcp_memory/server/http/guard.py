"""Who makes a request over HTTP: the bearer token that each has to bring, where tokens are asked for.

What is allowed in which space is checked where spaces are named: `Grant`.
"""

from __future__ import annotations

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_memory.domain.access import OWNER, Grant
from mcp_memory.server.http.access import Access

CALLER_KEY = "mcp_memory.caller"
"""Where the caller stands in the scope of a request."""


class Guard:
    """Wraps the endpoint of the protocol.

    Args:
        app: what is guarded.
        access: what is asked of callers; None lets everybody in as the owner, and is for loopback alone.
        metadata_url: where clients learn who issues tokens; empty if nobody else does.
    """

    def __init__(self, app: ASGIApp, access: Access | None, metadata_url: str) -> None:
        self._app, self._access, self._metadata_url = app, access, metadata_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        found = await self._caller(Headers(scope=scope).getlist("authorization"))
        if isinstance(found, Response):
            await found(scope, receive, send)
            return
        scope[CALLER_KEY] = found
        # The SDK binds a session to who opened it.
        scope["user"] = AuthenticatedUser(
            AccessToken(token="-", client_id=found.caller, scopes=[], claims={"iss": found.issuer})
        )
        await self._app(scope, receive, send)

    async def _caller(self, given: list[str]) -> Grant | Response:
        """Return the caller by the headers ``Authorization``, of which there has to be one, or the refusal."""
        if self._access is None:
            return OWNER
        if not given:
            return self._refused("", "A token is needed.")
        scheme, _, token = given[0].partition(" ")
        grant = await self._access.grant_of(token) if len(given) == 1 and scheme.lower() == "bearer" else None
        if grant is None:
            return self._refused("invalid_token", "The token is not valid.")
        if not grant.permissions:
            return self._refused("insufficient_scope", "The token allows nothing here.", 403)
        return grant

    def _refused(self, error: str, words: str, status: int = 401) -> Response:
        """Return a refusal that says which token is needed (RFC 6750, section 3; RFC 9728, section 5.1).

        Args:
            error: the code of RFC 6750; empty where no token was sent.
            words: what is wrong.
            status: the status.
        """
        parts = [f'error="{error}"', f'error_description="{words}"'] if error else []
        parts += [f'resource_metadata="{self._metadata_url}"'] if self._metadata_url else []
        body = {"error": error or "unauthorized", "error_description": words}
        return JSONResponse(body, status, {"WWW-Authenticate": f"Bearer {', '.join(parts)}".strip()})
