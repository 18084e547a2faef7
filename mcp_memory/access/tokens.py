"""Tokens of this server: made, listed and revoked by `mcp-memory token`, kept in a file as digests.

A token is 256 random bits, so one round of SHA-256 hides it. The file is read again whenever it has changed: what is
revoked is void at the next request, in every process.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock

from mcp_memory.domain.access import RIGHTS, TENANT_NAME, Grant, Permission, is_pattern
from mcp_memory.errors import ConfigurationError, InvalidInput

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
            "tenant": self.grant.tenant,
            "made": self.made,
            "expires": self.grant.expires,
        }


class TokenFile:
    """The tokens of a server.

    Args:
        path: of the file; it need not exist.
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

    def _changing(self) -> _Change:
        return _Change(self)

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
            rows = json.loads(self.path.read_text(encoding="utf-8"))["tokens"]
            return {row["digest"]: _token(row) for row in rows}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = f"access.tokens: {self.path} cannot be read ({type(error).__name__}: {error})"
            raise ConfigurationError(f"{problem}. Restore it, or delete it and make new tokens.") from error


class _Change:
    """Reads the tokens under a lock, and writes them if nothing was raised: a new file in place of the old one."""

    def __init__(self, file: TokenFile) -> None:
        self._file = file
        file.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(str(file.path) + ".lock", LOCK_S, mode=0o600)

    def __enter__(self) -> list[Token]:
        self._lock.acquire()
        try:
            self._tokens = list(self._file.read().values())
        except BaseException:
            self._lock.release()
            raise
        return self._tokens

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                path, new = self._file.path, self._file.path.with_suffix(".new")
                text = json.dumps({"tokens": [token.row() for token in self._tokens]}, indent=1)
                with suppress(FileNotFoundError):
                    new.unlink()
                with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as to:
                    to.write(text + "\n")
                    to.flush()
                    os.fsync(to.fileno())
                new.replace(path)
        finally:
            self._lock.release()


def _token(row: dict[str, Any]) -> Token:
    permissions = tuple(Permission(one["spaces"], frozenset(one["rights"])) for one in row["permissions"])
    good = all(is_pattern(one.spaces) and one.rights <= RIGHTS for one in permissions)
    if not good or (row["tenant"] and not TENANT_NAME.fullmatch(row["tenant"])):
        raise ValueError(f"token {row['name']!r} has spaces, rights or a tenant that cannot be")
    return Token(row["digest"], Grant(row["name"], permissions, row["tenant"], expires=row["expires"]), row["made"])
