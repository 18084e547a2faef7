"""What callers hold of a server, counted for each of them, so that none takes it all: requests, their bytes, sessions.

A caller may hold a part (``http.caller_share``) of what all callers together may, and is told to wait (429) when that
is used up; the others are told to wait (503) only when all of it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

HELD_KEY = "mcp_memory.held"
"""Where `Held` stands in the scope of a request."""


class Exhausted(Exception):
    """Somebody holds all that they may, and asks for more.

    Attributes:
        status: 429 where it is the caller, 503 where it is all callers together.
    """

    def __init__(self, status: int, what: str, most: int) -> None:
        who, setting = ("one caller", "http.caller_share") if status == 429 else ("all callers", "the section http")
        super().__init__(f"Too much at a time: {most:,} {what} of {who} are open. Try again later; see {setting}.")
        self.status = status


class Shares:
    """So much of one thing.

    Args:
        what: the thing, in the plural.
        most: how much all callers may hold.
        share: the part of it that one caller may hold, in (0, 1].
        least: how much one caller may hold in any case.
    """

    def __init__(self, what: str, most: int, share: float, least: int = 1) -> None:
        self._what, self._most, self._of_caller = what, most, max(least, int(most * share))
        self._held: Counter[Hashable] = Counter()
        self._all = 0

    def take(self, caller: Hashable, amount: int = 1) -> None:
        """Let a caller hold more.

        Raises:
            Exhausted: it would be too much; nothing has changed.
        """
        check(self._what, self._held[caller] + amount, self._of_caller, self._all + amount, self._most)
        self._held[caller] += amount
        self._all += amount

    def give_back(self, caller: Hashable, amount: int = 1) -> None:
        """Let a caller hold less."""
        self._held[caller] -= amount
        self._all -= amount
        if not self._held[caller]:
            del self._held[caller]


def check(what: str, of_caller: int, most_of_caller: int, of_all: int, most: int) -> None:
    """Check that neither a caller nor all of them hold too much of something.

    Raises:
        Exhausted: they would.
    """
    if of_caller > most_of_caller:
        raise Exhausted(429, what, most_of_caller)
    if of_all > most:
        raise Exhausted(503, what, most)


class Held:
    """What one request holds, until the last of its users leaves: the request itself, and a call that goes on after it.

    An older client may leave before its call has ended. What it has sent is held until then.

    Args:
        caller: the caller whose request it is.
        requests: counts requests.
        size: counts bytes.

    Attributes:
        bytes: its bytes.

    Raises:
        Exhausted: the caller has too many already.
    """

    def __init__(self, caller: Hashable, requests: Shares, size: Shares) -> None:
        self._caller, self._requests, self._size = caller, requests, size
        self.bytes = self._users = 0
        requests.take(caller)

    def add(self, count: int) -> None:
        """Hold so many bytes more.

        Raises:
            Exhausted: they would be too many.
        """
        self._size.take(self._caller, count)
        self.bytes += count

    def __enter__(self) -> None:
        self._users += 1

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        if not self._users:
            self._requests.give_back(self._caller)
            self._size.give_back(self._caller, self.bytes)


class Sessions(StreamableHTTPSessionManager):
    """The SDK's sessions, of which one caller may have so many.

    Attributes:
        of_caller: how many.
    """

    of_caller = 0

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        held = sum(owner == requestor for owner in self._session_owners.values())
        most = self.max_sessions or held + 1
        check("sessions", held + 1, self.of_caller, len(self._server_instances) + 1, most)
        return super()._admit_session(requestor)
