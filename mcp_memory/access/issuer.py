"""OAuth 2.1 as a resource server: tokens of an issuer that is trusted, as signed JWTs (RFC 9068), checked here.

A token is good if the issuer's published key (RFC 7517) has signed it, with a public-key algorithm, and it names this
issuer, this server as its audience (RFC 8707), a subject, and an end that has not come. Its scopes say what it allows:
``memory:RIGHT:SPACE``, where SPACE may end in ``*``; other scopes say nothing here.
"""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

import anyio
import jwt

from mcp_memory.domain.access import RIGHTS, TENANT_NAME, Grant, Permission, Right, is_pattern
from mcp_memory.errors import ConfigurationError

ALGORITHMS: Final = [f"{kind}{size}" for kind in ("RS", "PS", "ES") for size in ("256", "384", "512")] + ["EdDSA"]
"""Of signatures by a private key. With HS256 the public key would be the secret, and "none" is no signature."""
KEYS_S = 600.0
"""Seconds for which fetched keys are used."""
AGAIN_S = 30.0
"""Least seconds between two fetches: tokens with unknown keys cannot make this server flood the issuer."""
LEEWAY_S = 5.0
SCOPE = "memory"
"""How a scope that gives rights here begins: ``memory:read:work*``."""
METADATA = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")

Fetch = Callable[[str], Awaitable[Any]]
"""Returns the JSON at a URL."""

_log = logging.getLogger(__name__)


class Issuer:
    """One issuer that is trusted.

    Args:
        url: as its tokens name it.
        audience: as its tokens have to name this server.
        jwks: URL or file of its public keys; empty to ask its metadata (RFC 8414).
        tenant_claim: names the tenant.
        fetch: see `Fetch`.
        clock: seconds since any fixed moment.

    Raises:
        ConfigurationError: a URL is neither https nor on this machine.
    """

    def __init__(
        self,
        url: str,
        audience: str,
        jwks: str = "",
        tenant_claim: str = "",
        fetch: Fetch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, value in (("access.issuer", url), ("access.jwks", jwks)):
            if "://" in value:
                _check_url(name, value)
        if not audience:
            raise ConfigurationError("access.issuer needs access.audience, or http.url: what its tokens are meant for.")
        self.url = url
        self._audience = audience
        self._jwks = jwks
        self._tenant_claim = tenant_claim
        self._fetch = fetch or _fetch
        self._clock = clock
        self._keys: list[jwt.PyJWK] = []
        self._fetched = -KEYS_S
        self._fetching = anyio.Lock()

    async def verify(self, token: str) -> Grant | None:
        """Return what a token allows; None if it is not good."""
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS or str(header.get("typ", "JWT")).lower() not in _TYPES:
                return None
            key = await self._key(header.get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._audience,
                issuer=self.url,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            _log.info("A token of %s is refused: %s", self.url, error)
            return None
        caller = claims.get("sub") or claims.get("client_id")
        tenant = claims.get(self._tenant_claim) or ""
        if not isinstance(caller, str) or not isinstance(tenant, str) or (tenant and not TENANT_NAME.fullmatch(tenant)):
            return None
        permissions = permissions_of(_scopes(claims))
        return Grant(caller[:120], permissions, tenant, issuer=self.url, expires=float(claims["exp"]))

    async def _key(self, name: str | None) -> jwt.PyJWK | None:
        async with self._fetching:
            age, found = self._clock() - self._fetched, self._find(name)
            if age > KEYS_S or (found is None and age > AGAIN_S):
                self._fetched = self._clock()
                try:
                    self._keys = _public(await self._published_keys())
                except Exception as error:  # whatever is wrong there: known keys go on, unknown ones are refused
                    _log.warning("The keys of %s cannot be had: %s: %s", self.url, type(error).__name__, error)
            return self._find(name)

    def _find(self, name: str | None) -> jwt.PyJWK | None:
        if name is None:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((key for key in self._keys if key.key_id == name), None)

    async def _published_keys(self) -> Mapping[str, Any]:
        if self._jwks and "://" not in self._jwks:
            return cast("Mapping[str, Any]", json.loads(await anyio.Path(self._jwks).read_text(encoding="utf-8")))
        return cast("Mapping[str, Any]", await self._fetch(self._jwks or await self._place_of_keys()))

    async def _place_of_keys(self) -> str:
        parts = urlsplit(self.url)
        for path in METADATA:  # RFC 8414 puts it before the issuer's path, OpenID Connect behind it
            for place in (
                f"{parts.scheme}://{parts.netloc}{path}{parts.path.rstrip('/')}",
                self.url.rstrip("/") + path,
            ):
                try:
                    found = await self._fetch(place)
                except Exception as error:
                    _log.debug("%s: %s", place, error)
                    continue
                if found.get("issuer") == self.url:
                    _check_url("jwks_uri", found["jwks_uri"])
                    return str(found["jwks_uri"])
        raise ValueError("its metadata name no keys")


_TYPES = frozenset(("at+jwt", "application/at+jwt", "jwt"))


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


def _public(found: Mapping[str, Any]) -> list[jwt.PyJWK]:
    keys = []
    for one in found["keys"]:
        if one.get("kty") in ("RSA", "EC", "OKP") and one.get("use", "sig") == "sig":
            try:
                keys.append(jwt.PyJWK(one))
            except jwt.PyJWTError as error:
                _log.info("A key is left out: %s", error)
    return keys


def _check_url(name: str, url: str) -> None:
    parts = urlsplit(url)
    near = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not parts.hostname or not (near or parts.scheme == "https"):
        raise ConfigurationError(f"{name} is {url!r}. It has to begin with https://, or be on this machine.")


async def _fetch(url: str) -> Any:
    import httpx2

    async with httpx2.AsyncClient(timeout=5.0) as client:
        reply = await client.get(url)
        return reply.raise_for_status().json()
