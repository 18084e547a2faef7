"""Tokens of an issuer that is trusted: signed JWTs (RFC 9068), checked here as a resource server of OAuth 2.1 does.

One is good if the issuer's published key (RFC 7517) has signed it, and it names this issuer, this server as its
audience (RFC 8707), a subject, and an end that has not come. Its scopes say what it allows: ``memory:RIGHT:SPACE``,
where SPACE may end in ``*``; other scopes say nothing here. PyJWT fetches the keys, keeps them for a while, and asks
for an unknown one twice a minute at most, so that invented tokens cannot flood the issuer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt

from mcp_memory.domain.access import RIGHTS, Grant, Permission, Right, check_url, is_pattern
from mcp_memory.errors import ConfigurationError

ALGORITHMS: Final = [f"{kind}{size}" for kind in ("RS", "PS", "ES") for size in ("256", "384", "512")] + ["EdDSA"]
"""Of signatures by a private key. With HS256 the public key would be the secret, and "none" is no signature."""
TYPES = frozenset(("at+jwt", "application/at+jwt", "jwt"))
KEYS_S, AGAIN_S, FETCH_S = 600, 30, 5
"""Seconds: for which keys are used, between two fetches for unknown ones, and of one fetch at most."""
LEEWAY_S = 5.0
CALLER_CHARS = 255
"""Most characters of a subject (OpenID Connect Core, section 2)."""
SCOPE = "memory"
"""How a scope that gives rights here begins: ``memory:read:work*``."""
METADATA = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
CHECKED_AT_ONCE = 4
"""Tokens that are checked at a time: an issuer that is slow must not take all threads of the server."""

_log = logging.getLogger(__name__)


class Issuer:
    """One issuer that is trusted.

    Args:
        url: as its tokens name it.
        audience: as its tokens have to name this server.
        jwks: URL of its public keys; empty to ask its metadata (RFC 8414).

    Raises:
        ConfigurationError: a URL is neither https nor on this machine, or there is no audience.
    """

    def __init__(self, url: str, audience: str, jwks: str = "") -> None:
        if not audience:
            raise ConfigurationError("access.issuer needs access.audience, or http.url: what its tokens are meant for.")
        check_url("access.issuer", url)
        self.url = url
        self._audience = audience
        self._keys = _keys_at("access.jwks", jwks) if jwks else None
        self._asked = -float(AGAIN_S)
        self._finding = threading.Lock()
        self._limiter = anyio.CapacityLimiter(CHECKED_AT_ONCE)

    async def grant_of(self, token: str) -> Grant | None:
        """Return what a token allows; None if it is not good."""
        return await anyio.to_thread.run_sync(self._verify, token, limiter=self._limiter)

    def _verify(self, token: str) -> Grant | None:
        try:
            header = jwt.get_unverified_header(token)
            named = header.get("kid")
            if str(header.get("typ", "JWT")).lower() not in TYPES or header.get("alg") not in ALGORITHMS:
                return None
            claims = jwt.decode(
                token,
                self._published_keys().get_signing_key(named if isinstance(named, str) else ""),
                algorithms=ALGORITHMS,
                audience=self._audience,
                issuer=self.url,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
            expires = float(claims["exp"])
        except (jwt.PyJWTError, ConfigurationError, LookupError, OverflowError, OSError, ValueError) as error:
            _log.info("A token of %s is refused: %s", self.url, error)
            return None
        caller = claims.get("sub") or claims.get("client_id")
        if not isinstance(caller, str) or len(caller) > CALLER_CHARS or not caller.isprintable():
            return None
        return Grant(caller, permissions_of(_scopes(claims)), issuer=self.url, expires=expires)

    def _published_keys(self) -> jwt.PyJWKClient:
        with self._finding:  # whoever comes while another looks for them waits for what that finds
            if self._keys is None:
                self._keys = _keys_at("jwks_uri", self._place_of_keys())
            return self._keys

    def _place_of_keys(self) -> str:
        """Return the URL of the keys by the issuer's metadata, asked for every `AGAIN_S` seconds at most.

        Raises:
            LookupError: they do not name one.
        """
        if time.monotonic() - self._asked < AGAIN_S:
            raise LookupError("its metadata named no keys a moment ago")
        self._asked, parts = time.monotonic(), urlsplit(self.url)
        for path in METADATA:  # RFC 8414 puts it before the issuer's path, OpenID Connect behind it
            before = f"{parts.scheme}://{parts.netloc}{path}{parts.path.rstrip('/')}"
            for place in (before, self.url.rstrip("/") + path):
                try:
                    found = httpx2.get(place, timeout=FETCH_S).raise_for_status().json()
                    if found["issuer"] == self.url:
                        return str(found["jwks_uri"])
                except (httpx2.HTTPError, ValueError, LookupError, TypeError) as error:
                    _log.debug("%s: %s", place, error)
        raise LookupError("its metadata name no keys")


def permissions_of(scopes: Iterable[str]) -> tuple[Permission, ...]:
    """Return what scopes allow, by space."""
    rights: dict[str, set[Right]] = defaultdict(set)
    for scope in scopes:
        kind, _, rest = scope.partition(":")
        right, _, spaces = rest.partition(":")
        if kind == SCOPE and right in RIGHTS and is_pattern(spaces):
            rights[spaces].add(right)
    return tuple(Permission(spaces, frozenset(held)) for spaces, held in sorted(rights.items()))


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    found = claims.get("scope", claims.get("scp", ""))
    parts = found.split() if isinstance(found, str) else found
    return [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []


def _keys_at(name: str, url: str) -> jwt.PyJWKClient:
    check_url(name, url)
    return jwt.PyJWKClient(url, lifespan=KEYS_S, timeout=FETCH_S, cooldown_duration=AGAIN_S)
