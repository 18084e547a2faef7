"""The tokens of callers over HTTP, kept in a file as digests, and who may call by these or by those of an issuer.

A token, which `mcp-memory token` makes, lists and revokes, is 256 random bits, so one round of SHA-256 hides it. The
file is read again whenever it has changed: what is revoked is void at the next request, in every process.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from mcp_memory.bounds import SETTINGS_BYTES, parse_json
from mcp_memory.codec import read
from mcp_memory.domain.access import Grant, Permission, is_pattern
from mcp_memory.errors import ConfigurationError, InvalidInput
from mcp_memory.files import whole_file

if TYPE_CHECKING:
    from mcp_memory.access.issuer import Issuer

PREFIX = "mcpm_"
"""How tokens begin, so that people and scanners for secrets know them."""
LOCK_S = 10.0


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token, as the file has it.

    Attributes:
        name: of its caller.
        digest: SHA-256 of the token, in hexadecimal.
        permissions: what it allows.
        made: seconds since 1970.
        expires: likewise; None for never.
    """

    name: str
    digest: str
    permissions: tuple[Permission, ...]
    made: float
    expires: float | None

    @property
    def grant(self) -> Grant:
        """What it allows."""
        return Grant(self.name, self.permissions, expires=self.expires)


_Tokens = list[Token]


class TokenFile:
    """The tokens of a server."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock
        self._read_as: tuple[int, int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def exists(self) -> bool:
        """Return whether there ever were tokens; revoking the last does not open the door to everybody."""
        return self.path.is_file()

    def grant_of(self, token: str) -> Grant | None:
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
            if any(token.name == grant.caller for token in tokens):
                problem = f"there is a token {grant.caller!r} already"
                raise InvalidInput("name", problem, "Give another name, or revoke that one first.")
            made = PREFIX + secrets.token_urlsafe(32)
            digest = sha256(made.encode()).hexdigest()
            tokens.append(Token(grant.caller, digest, grant.permissions, self._clock(), grant.expires))
        return made

    def revoke(self, name: str) -> None:
        """Make a token void.

        Raises:
            InvalidInput: there is none of that name.
        """
        with self._changing() as tokens:
            left = [token for token in tokens if token.name != name]
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
            text = json.dumps({"tokens": list(map(asdict, tokens))}, indent=1, default=sorted)  # sets of rights
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
            return {token.digest: token for token in map(_token, rows)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"access.tokens: {self.path} cannot be read ({type(error).__name__}: {error})"
            raise ConfigurationError(f"{problem}. Restore it, or delete it and make new tokens.") from error


def _token(row: dict[str, Any]) -> Token:
    token = read(Token, row)
    if row.get("tenant") or not all(is_pattern(one.spaces) for one in token.permissions):
        # an older program had tenants, each with a store of its own
        raise ValueError(f"token {token.name!r} has spaces that cannot be, or names a tenant")
    return token  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Access:
    """What is asked of each caller: a token of this server, or of an issuer whose tokens are good as well."""

    tokens: TokenFile
    issuer: Issuer | None = None

    async def grant_of(self, token: str) -> Grant | None:
        """Return what a token grants; None if it is not good, for whatever reason."""
        if self.issuer is None or token.startswith(PREFIX):
            return self.tokens.grant_of(token)
        return await self.issuer.grant_of(token)

    def valid(self, grant: Grant) -> bool:
        """Return whether what was granted still holds."""
        return (grant.expires or 0) > time.time() if grant.issuer else self.tokens.valid(grant)
