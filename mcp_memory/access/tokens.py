"""Tokens of callers: those of this server, kept in a file as digests, and those of an issuer that is trusted.

A token of this server, which `mcp-memory token` makes, lists and revokes, is 256 random bits, so one round of SHA-256
hides it. The file is read again whenever it has changed: what is revoked is void at the next request, in every process.

**An issuer** gives tokens as signed JWTs (RFC 9068), which are checked here (OAuth 2.1, resource server). One is good
if the issuer's published key (RFC 7517) has signed it, with a public-key algorithm, and it names this issuer, this
server as its audience (RFC 8707), a subject, and an end that has not come. Its scopes say what it allows:
``memory:RIGHT:SPACE``, where SPACE may end in ``*``; other scopes say nothing here.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

import anyio
import jwt
from filelock import FileLock

from mcp_memory.bounds import SETTINGS_BYTES, parse_json
from mcp_memory.domain.access import RIGHTS, Grant, Permission, Right, is_pattern
from mcp_memory.errors import ConfigurationError, InvalidInput
from mcp_memory.files import whole_file

PREFIX = "mcpm_"
"""How tokens begin, so that people and scanners for secrets know them."""
LOCK_S = 10.0


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token.

    Attributes:
        digest: SHA-256 of the token, in hexadecimal.
        grant: what it allows; its caller is the token's name.
        made: seconds since 1970.
    """

    digest: str
    grant: Grant
    made: float

    def row(self) -> dict[str, Any]:
        """Return it as the file has it."""
        permissions = [{"spaces": one.spaces, "rights": sorted(one.rights)} for one in self.grant.permissions]
        return {
            "name": self.grant.caller,
            "digest": self.digest,
            "permissions": permissions,
            "made": self.made,
            "expires": self.grant.expires,
        }


_Tokens = list[Token]


class TokenFile:
    """The tokens of a server.

    Args:
        path: the path of the file; it need not exist.
        clock: seconds since 1970.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock
        self._read_as: tuple[int, int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def exists(self) -> bool:
        """Return whether there ever were tokens; revoking the last does not open the door to everybody."""
        return self.path.is_file()

    def verify(self, token: str) -> Grant | None:
        """Return what a token allows; None if there is no such token, or it has expired."""
        if not token.startswith(PREFIX) or not token.isascii():
            return None
        known = self._current().get(sha256(token.encode()).hexdigest())
        return None if known is None or self._expired(known.grant) else known.grant

    def valid(self, grant: Grant) -> bool:
        """Return whether a token with this grant still stands."""
        return not self._expired(grant) and any(token.grant == grant for token in self._current().values())

    def list(self) -> list[Token]:
        """Return all tokens, those that have expired too, in the order in which they were made."""
        return list(self._current().values())

    def add(self, grant: Grant) -> str:
        """Make a token and return it; it can be shown this once.

        Raises:
            InvalidInput: there is one of that name.
        """
        with self._changing() as tokens:
            if any(token.grant.caller == grant.caller for token in tokens):
                problem = f"there is a token {grant.caller!r} already"
                raise InvalidInput("name", problem, "Give another name, or revoke that one first.")
            made = PREFIX + secrets.token_urlsafe(32)
            tokens.append(Token(sha256(made.encode()).hexdigest(), grant, self._clock()))
        return made

    def revoke(self, name: str) -> None:
        """Make a token void.

        Raises:
            InvalidInput: there is none of that name.
        """
        with self._changing() as tokens:
            left = [token for token in tokens if token.grant.caller != name]
            if len(left) == len(tokens):
                raise InvalidInput("name", f"there is no token {name[:60]!r}", "See mcp-memory token list.")
            tokens[:] = left

    @contextmanager
    def _changing(self) -> Iterator[_Tokens]:
        """Yield the tokens under a lock, and write them if nothing was raised: a new file in place of the old one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(str(self.path) + ".lock", LOCK_S, mode=0o600):
            tokens = [*self.read().values()]
            yield tokens
            text = json.dumps({"tokens": [token.row() for token in tokens]}, indent=1)
            with whole_file(self.path) as to:
                to.write(f"{text}\n".encode())

    def _expired(self, grant: Grant) -> bool:
        return grant.expires is not None and grant.expires <= self._clock()

    def _current(self) -> dict[str, Token]:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._read_as, self._tokens = None, {}
            return self._tokens
        state = found.st_mtime_ns, found.st_size, found.st_ino
        if state != self._read_as:
            self._tokens, self._read_as = self.read(), state
        return self._tokens

    def read(self) -> dict[str, Token]:
        """Return the tokens in the file, by their digests.

        Raises:
            ConfigurationError: it is not a file of tokens.
        """
        try:
            with self.path.open("rb") as file:
                rows = parse_json(file.read(SETTINGS_BYTES + 1).decode())["tokens"]
            return {row["digest"]: _token(row) for row in rows}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"access.tokens: {self.path} cannot be read ({type(error).__name__}: {error})"
            raise ConfigurationError(f"{problem}. Restore it, or delete it and make new tokens.") from error


def _token(row: dict[str, Any]) -> Token:
    permissions = tuple(Permission(one["spaces"], frozenset(one["rights"])) for one in row["permissions"])
    good = all(is_pattern(one.spaces) and one.rights <= RIGHTS for one in permissions)
    times = [row["made"], *([] if row["expires"] is None else [row["expires"]])]
    good = good and all(type(time) in (int, float) for time in times)
    good = good and all(isinstance(row[name], str) for name in ("name", "digest"))
    if not good or row.get("tenant"):  # as an older program had them, each with a store of its own
        raise ValueError(f"token {row['name']!r} has spaces or rights that cannot be, or names a tenant")
    return Token(row["digest"], Grant(row["name"], permissions, expires=row["expires"]), row["made"])


ALGORITHMS: Final = [f"{kind}{size}" for kind in ("RS", "PS", "ES") for size in ("256", "384", "512")] + ["EdDSA"]
"""Of signatures by a private key. With HS256 the public key would be the secret, and "none" is no signature."""
KEYS_S = 600.0
"""Seconds for which fetched keys are used."""
AGAIN_S = 30.0
"""Least seconds between two fetches: tokens with unknown keys cannot make this server flood the issuer."""
FETCH_S = 10.0
"""Most seconds of one fetch."""
CALLER_CHARS = 255
"""Most characters of a subject (OpenID Connect Core, section 2)."""
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
            expires = float(claims["exp"])
        except (jwt.PyJWTError, OverflowError) as error:
            _log.info("A token of %s is refused: %s", self.url, error)
            return None
        caller = claims.get("sub") or claims.get("client_id")
        if not isinstance(caller, str) or len(caller) > CALLER_CHARS or not caller.isprintable():
            return None
        return Grant(caller, permissions_of(_scopes(claims)), issuer=self.url, expires=expires)

    async def _key(self, name: str | None) -> jwt.PyJWK | None:
        async with self._fetching:
            age, found = self._clock() - self._fetched, self._find(name)
            if age > KEYS_S or (found is None and age > AGAIN_S):
                self._fetched = self._clock()
                try:
                    with anyio.fail_after(FETCH_S):
                        self._keys = _public(await self._published_keys())
                except Exception as error:  # whatever is wrong there: known keys go on, unknown ones are refused
                    _log.warning("The keys of %s cannot be fetched: %s: %s", self.url, type(error).__name__, error)
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
    """Return the keys of a set that check signatures; a symmetric one would let whoever reads it sign."""
    usable = [one for one in found["keys"] if one.get("kty") in ("RSA", "EC", "OKP") and one.get("use", "sig") == "sig"]
    keys: list[jwt.PyJWK] = jwt.PyJWKSet(usable).keys
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
