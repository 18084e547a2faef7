"""Open the memory when it is first needed, and say which space a call means that names none.

**The memory**: opening it imports LanceDB and the model's runtime, which takes seconds, and clients give up on a server
that is slow to connect. So the first replies come from names and schemas alone, and the memory is opened after them in
the background, or by the first call that needs it (``server.warm_up``).

**The space** is the configured one, or one for each workspace: the top of the repository of git that holds the folder
of a project, or else the folder. It is called by the folder's name with a short digest of its path, so two projects of
one name are two spaces. Older clients name their folders when they are asked (*roots*, which revision 2026-07-28 of the
protocol deprecates); others start the server in the project's folder. The home folder and the root of the file system
are no workspace: calls mean the default space there.
"""

from __future__ import annotations

import logging
import math
import os
import re
import time
import warnings
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import anyio
from anyio.abc import TaskGroup

from mcp_memory.domain.access import CALL_BEGAN, CALLER, DEFAULT_SPACE, OWNER, SPACE_NAME
from mcp_memory.errors import ConfigurationError, McpMemoryError

if TYPE_CHECKING:
    from mcp_memory.memory import Memory

log = logging.getLogger(__name__)

DRAIN_S = 2.0
"""Longest time that background work may go on after the client has left."""
REPLY_S = 0.05
"""Time for the reply to ``tools/list`` to leave before imports compete with it for the interpreter."""

Opener = Callable[[], Awaitable["Memory"]]
"""Opens the memory."""


class Opening:
    """Opens the memory when it is first needed, and keeps it. Where that fails, the next call tries again."""

    def __init__(self, opener: Opener, tasks: TaskGroup) -> None:
        self._opener = opener
        self._tasks = tasks
        self._memory: Memory | None = None
        self._lock = anyio.Lock()
        self._work: anyio.CancelScope | None = None
        self._listed = anyio.Event()

    async def memory(self) -> Memory:
        """Return the memory, opening it if necessary.

        Raises:
            McpMemoryError: it cannot be opened now; the message says what to do.
        """
        CALL_BEGAN.set(time.monotonic())
        async with self._lock:
            if self._memory is None:
                self._memory = await self._open()
                self._tasks.start_soon(self._run, self._memory)
        return self._memory

    async def warm_up(self) -> None:
        """Open the memory in the background once the client has the list of tools, which it asks for first."""
        await self._listed.wait()
        await anyio.sleep(REPLY_S)
        try:
            await self.memory()
        except McpMemoryError as error:
            log.warning("%s", error)

    def note_answered(self, method: str) -> None:
        """Note that a request was answered; `warm_up` waits for the list of tools."""
        if method == "tools/list":
            self._listed.set()

    async def aclose(self) -> None:
        """Let background work drain, and close the memory."""
        if self._memory is not None:
            await self._memory.aclose()
        if self._work is not None:
            self._work.cancel()

    async def _open(self) -> Memory:
        try:
            return await self._opener()
        except McpMemoryError:
            raise
        except Exception as error:
            log.exception("The memory could not be opened.")
            raise McpMemoryError(
                f"The memory could not be opened ({type(error).__name__}: {error}). Check storage.uri "
                "(MCP_MEMORY_STORAGE_URI) or run `mcp-memory doctor`; the next call tries again."
            ) from error

    async def _run(self, memory: Memory) -> None:
        CALLER.set(OWNER)  # background work is not that of the caller who came first
        CALL_BEGAN.set(math.inf)
        with anyio.CancelScope() as self._work:
            await memory.work()


WORKSPACE: Final = "workspace"
"""The value of ``server.space`` that gives each workspace a space of its own."""
ROOTS_S = 2.0
"""Seconds that a client has to name its folders."""
_NAME_CHARS = 48


def space_of_folder(folder: Path) -> str:
    """Return the space of a workspace: ``boats-3f9c2a1b`` for ``/home/ann/boats/hull``, if ``boats`` has git's files.

    It is `DEFAULT_SPACE` in the home folder and at the root of the file system.
    """
    path = os.path.realpath(folder)
    if Path(path) == Path(path).parent or path == _home():
        return DEFAULT_SPACE
    path = _repository(Path(path)) or path
    name = re.sub(r"[^\w.@-]+", "-", Path(path).name)[:_NAME_CHARS].strip("-.@") or "folder"
    path_digest = blake2b(os.path.normcase(path).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{name}-{path_digest}"


def _repository(folder: Path) -> str | None:
    """Return the top of the repository that holds a folder; None if none does, or the whole home folder is one."""
    for place in (folder, *folder.parents):
        if str(place) == _home():
            return None
        mark = place / ".git"
        if mark.is_file() or (mark / "HEAD").exists():  # a file in a worktree and in a submodule
            return str(place)
    return None


def configured_space(setting: str) -> str:
    """Return the space that ``server.space`` means for this process.

    Raises:
        ConfigurationError: it is no name of a space.
    """
    if setting == WORKSPACE:
        try:
            return space_of_folder(Path.cwd())
        except OSError:  # the folder is gone
            return DEFAULT_SPACE
    if not SPACE_NAME.fullmatch(setting):
        raise ConfigurationError(
            f"server.space (MCP_MEMORY_SPACE) is {setting[:80]!r}. Give 'workspace', or a name of 1 to 64 letters, "
            'digits, "_", ".", "@" or "-" that begins with a letter, a digit or "_".'
        )
    return setting


class MeantSpace:
    """The space that the calls of one client mean if they name none.

    Args:
        setting: ``server.space``.
        asks: whether clients may be asked; a server of many clients has one space for those that name none.
    """

    def __init__(self, setting: str, *, asks: bool = True) -> None:
        self._space = configured_space(setting)
        self._asks = asks and setting == WORKSPACE
        self._lock = anyio.Lock()

    async def get(self, session: Any) -> str:
        """Return the space; where each workspace has one, a client that can name its folders is asked once."""
        if self._asks:
            async with self._lock:
                if self._asks:
                    folder = await _first_root(session)
                    self._space = self._space if folder is None else space_of_folder(folder)
                    self._asks = False  # only now: a call that comes meanwhile waits for the reply, too
        return self._space


async def _first_root(session: Any) -> Path | None:
    """Return the first folder that a client names, or None if it names none."""
    told = session.client_params
    if told is None or told.capabilities.roots is None:
        return None
    ask: Callable[[], Awaitable[Any]] = session.list_roots
    try:
        with anyio.fail_after(ROOTS_S), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated, and still what many clients have
            roots = (await ask()).roots
    except Exception as error:  # a client that says it can and cannot
        log.info("The client named no folder: %s", error)
        return None
    return next((path for root in roots if (path := _path_of(str(root.uri))) is not None), None)


def _path_of(uri: str) -> Path | None:
    """Return the path of a ``file:`` URI, or None for another one."""
    from urllib.request import url2pathname  # takes long to import

    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(url2pathname(parts.path))


def _home() -> str | None:
    try:
        return os.path.realpath(Path.home())
    except RuntimeError:
        return None
