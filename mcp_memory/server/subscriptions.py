"""Tell clients when resources change that they follow, whoever changed them: this process, or another one on the store.

Clients of revision 2026-07-28 keep a request ``subscriptions/listen`` open; older ones send ``resources/subscribe``. A
resource has changed when its follower would read another content than before. So after each commit of any process the
followed resources are read, with the rights of each follower: nobody is told of what they may not see. A follower whose
token was revoked or has expired is told nothing more.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from weakref import WeakSet

import anyio
from mcp.server import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from mcp_memory.domain.access import CALLER, MEANT_SPACE, OWNER, Grant
from mcp_memory.errors import InvalidInput, McpMemoryError
from mcp_memory.server.opening import Opening

POLL_S = 0.5
"""Seconds between two looks for commits of other processes, while anybody follows anything. A look takes .3 ms."""
MOST_FOLLOWED = 100
"""Resources that one client may follow at a time; each is read after each commit."""

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Follower:
    """One resource that one client follows.

    Attributes:
        uri: the URI of the resource.
        grant: the grant of the client.
        meant: the space of its calls that name none.
        tell: tells it that the resource has changed.
        end: ends its stream.
        session: the connection of an older client; None for a stream.
        content: a digest of what it would have read at the last look; None before the first: it counts, and is told
            nothing.
    """

    uri: str
    grant: Grant
    meant: str
    tell: Callable[[str], Awaitable[None]]
    end: Callable[[], None]
    session: object = None
    content: bytes | None = None


class Subscriptions:
    """Who follows what."""

    def __init__(self, valid: Callable[[Grant], bool]) -> None:
        self._valid = valid
        self._followers: list[_Follower] = []
        self._sessions: WeakSet[Any] = WeakSet()  # of older clients, whose end is noticed
        self._seen: tuple[int, ...] = ()  # the last commit looked at, and its generation
        self._wake = anyio.Event()

    def wake(self) -> None:
        """Look now: this process may have changed something."""
        self._wake.set()

    async def listen(
        self, context: ServerRequestContext[Opening], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream of revision 2026-07-28; of what it names, what the caller cannot read is not followed."""
        uris = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        if len(uris) > MOST_FOLLOWED:
            raise _TOO_MANY
        bus = InMemorySubscriptionBus()
        stream = ListenHandler(bus)

        async def tell(uri: str) -> None:
            await bus.publish(ResourceUpdated(uri))

        followers = [follower for uri in uris if (follower := _follower(uri, tell, stream.close)) is not None]
        honoured = params.notifications.model_copy(update={"resource_subscriptions": [one.uri for one in followers]})
        self._followers += followers
        try:
            for follower in followers:
                await self._look_first(context.lifespan_context, follower)
            self._wake.set()
            return await stream(context, params.model_copy(update={"notifications": honoured}))
        finally:
            self._followers = [one for one in self._followers if one not in followers]

    async def subscribe(self, context: ServerRequestContext[Opening], params: SubscribeRequestParams) -> EmptyResult:
        """Follow a resource for the session of an older client."""
        connection = context.session._connection  # of which each request has a session object of its own
        uri, followed = str(params.uri), {one.uri for one in self._followers if one.session is connection}
        if uri in followed:
            return EmptyResult()
        if len(followed) >= MOST_FOLLOWED:
            raise _TOO_MANY
        follower = _follower(uri, context.session.send_resource_updated, lambda: self._leave(connection), connection)
        if follower is None:
            raise MCPError(INVALID_PARAMS, f"uri: there is no resource {uri[:200]!r} that you may read.", {"uri": uri})
        if connection not in self._sessions:
            self._sessions.add(connection)
            connection.exit_stack.callback(self._leave, connection)
        self._followers.append(follower)
        try:
            await self._look_first(context.lifespan_context, follower)
        except BaseException:
            self._leave(connection, uri)
            raise
        self._wake.set()
        return EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext[Opening], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Follow a resource no longer."""
        self._leave(context.session._connection, str(params.uri))
        return EmptyResult()

    def _leave(self, session: object, uri: str | None = None) -> None:
        """Forget what a session follows, or one resource of it."""
        self._followers = [one for one in self._followers if one.session is not session or uri not in (None, one.uri)]

    async def watch(self, opening: Opening) -> None:
        """Tell followers what changes, until cancelled; while there are none it waits."""
        while True:
            if self._followers:
                with anyio.move_on_after(POLL_S):
                    await self._wake.wait()
            else:
                await self._wake.wait()
            self._wake = anyio.Event()
            if not self._followers:
                continue
            try:
                await self._look(opening)
            except McpMemoryError as error:  # the next call says it to its caller
                _log.debug("Checking subscribed resources for changes failed: %s", error)
            except Exception:
                _log.exception("Checking subscribed resources for changes failed.")

    async def _look(self, opening: Opening) -> None:
        CALLER.set(OWNER)
        memory = await opening.memory()
        async with memory.store.reading(whole=False) as view:
            seen = view.tx, view.generation
        for follower in [one for one in self._followers if not self._valid(one.grant)]:
            self._followers = [one for one in self._followers if one is not follower]
            follower.end()
        if self._seen == seen:
            return
        self._seen = seen
        for follower in [one for one in self._followers if one.content is not None]:
            before, follower.content = follower.content, await _content(opening, follower)
            if before != follower.content:
                await follower.tell(follower.uri)

    async def _look_first(self, opening: Opening, follower: _Follower) -> None:
        follower.content = await _content(opening, follower)
        self._seen = ()  # something may be committed before it is in the list


def _follower(
    uri: str, tell: Callable[[str], Awaitable[None]], end: Callable[[], None], session: object = None
) -> _Follower | None:
    """Return a follower for the caller; None if there is no such resource, or they may not read its space."""
    from mcp_memory.server.resources import catalogue

    caller = CALLER.get()
    try:
        _, values = catalogue.match(uri)
    except InvalidInput:
        return None
    if "space" in values and not caller.may(("read",), values["space"]):
        return None
    return _Follower(uri, caller, MEANT_SPACE.get(), tell, end, session)


async def _content(opening: Opening, follower: _Follower) -> bytes:
    """Return a digest of what somebody would read now."""
    from mcp_memory.server.resources import catalogue

    CALLER.set(follower.grant)
    MEANT_SPACE.set(follower.meant)
    template, values = catalogue.match(follower.uri)
    try:
        text = await catalogue.read_content(await opening.memory(), template, values)
    except McpMemoryError as error:  # it is gone, or not there yet
        text = str(error)
    return blake2b(text.encode(), digest_size=16).digest()


_TOO_MANY = MCPError(
    INVALID_PARAMS, f"There may be {MOST_FOLLOWED} at a time. Follow fewer resources, or unsubscribe some."
)
