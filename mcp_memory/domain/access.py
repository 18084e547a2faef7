"""Who calls, and what they may do in which spaces.

Over stdio a caller is the owner of the memory and may do everything. Over HTTP a token grants rights in
spaces. A space in which a caller may not read does not exist for them: no list, hint, count or error tells it from one
that was never written to.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal, get_args
from urllib.parse import urlsplit

from mcp_memory.errors import ConfigurationError

Right = Literal["read", "write", "forget"]
"""What a caller may do in a space; who writes or forgets there has to be allowed to read as well."""
RIGHTS: Final = frozenset[Right](get_args(Right))
DEFAULT_SPACE = "default"
"""The space that is meant where none is named and none is configured."""
MEANT_SPACE: ContextVar[str] = ContextVar("MEANT_SPACE", default=DEFAULT_SPACE)
"""The space that is meant where none is named, in the call that is running (``server.space``)."""
LOOPBACK: Final = frozenset(("127.0.0.1", "localhost", "::1"))
"""The names of this machine."""
SPACE_NAME = re.compile(r"\w[\w.@-]{0,63}")
"""The names that a space may have."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Rights in some spaces.

    Attributes:
        spaces: the name of a space, or a beginning of names with ``*`` behind it.
        rights: what is allowed there.
    """

    spaces: str
    rights: frozenset[Right]

    def covers(self, space: str) -> bool:
        """Return whether it is about a space."""
        return space.startswith(self.spaces[:-1]) if self.spaces.endswith("*") else space == self.spaces


@dataclass(frozen=True, slots=True)
class Grant:
    """What a caller may do.

    Attributes:
        caller: who calls; unique among the callers of a server.
        permissions: rights by space; what none of them allows is forbidden.
        issuer: who vouches for the caller; empty for tokens of this server.
        expires: seconds since 1970 after which it is void; None for never.
    """

    caller: str
    permissions: tuple[Permission, ...]
    issuer: str = ""
    expires: float | None = None

    def may(self, rights: Iterable[Right], space: str) -> bool:
        """Return whether all of these rights hold in a space."""
        held = {right for one in self.permissions if one.covers(space) for right in one.rights}
        return held.issuperset(rights)

    @property
    def sees_all(self) -> bool:
        """Whether every space may be read, now and later."""
        return any(one.spaces == "*" and "read" in one.rights for one in self.permissions)

    def visible(self, spaces: Iterable[str]) -> list[str]:
        """Return the spaces that may be read, in their order."""
        return [space for space in spaces if self.may(("read",), space)]

    def meant(self, space: str) -> str:
        """Return the space of a call that names none: the usual one, or the first that the caller may use."""
        if any(one.covers(space) for one in self.permissions):
            return space
        return next((one.spaces for one in self.permissions if not one.spaces.endswith("*")), space)


OWNER: Final = Grant("owner", (Permission("*", RIGHTS),))
"""The caller over stdio, and of every command and background job."""
CALLER: ContextVar[Grant] = ContextVar("CALLER", default=OWNER)
"""Who makes the call that is running."""
CALL_BEGAN: ContextVar[float] = ContextVar("CALL_BEGAN", default=math.inf)
"""When the call that is running began, or last waited for something, by ``time.monotonic``; ``inf`` outside of calls. A
store on object storage is looked at once from then on, and not for each step of the call."""
NEEDED: ContextVar[frozenset[Right]] = ContextVar("NEEDED", default=frozenset[Right](("read",)))
"""What the call that is running needs to be allowed in each space that it names."""


def look_again() -> None:
    """Let the rest of the call that is running see what was stored until now."""
    if CALL_BEGAN.get() != math.inf:
        CALL_BEGAN.set(time.monotonic())


def is_pattern(text: str) -> bool:
    """Return whether a text may stand for spaces in a `Permission`."""
    return text == "*" or SPACE_NAME.fullmatch(text.removesuffix("*")) is not None


def check_url(setting: str, url: str) -> None:
    """Check that keys and tokens may travel to and from the URL of a setting.

    Raises:
        ConfigurationError: it is neither https nor on this machine.
    """
    try:
        parts = urlsplit(url)
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        safe = False
    if not safe or not parts.hostname:
        raise ConfigurationError(f"{setting} is {url!r}. It has to begin with https://, or be on this machine.")
