"""Which space a call means that names none: the configured one, or one for each workspace.

A workspace is the folder of a project. Its space is called by the folder's name with a short digest of its path, so two
projects of one name are two spaces. Older clients name their folders when they are asked (*roots*, which revision
2026-07-28 of the protocol deprecates); others start the server in the project's folder. A client that starts it
elsewhere, in the home folder or at the root of the file system, has no workspace, and its calls mean the default space.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import anyio

from mcp_memory.domain.access import DEFAULT_SPACE, SPACE_NAME
from mcp_memory.errors import ConfigurationError

WORKSPACE: Final = "workspace"
"""The value of ``server.space`` that gives each workspace a space of its own."""
ROOTS_S = 2.0
"""Seconds that a client has to name its folders."""
_NAME_CHARS = 48
_log = logging.getLogger(__name__)


def space_of_folder(folder: Path) -> str:
    """Return the space of a workspace: ``boats-3f9c2a1b`` for ``/home/ann/boats``; `DEFAULT_SPACE` if it is none."""
    path = os.path.realpath(folder)
    if Path(path) == Path(path).parent or path == _home():
        return DEFAULT_SPACE
    name = re.sub(r"[^\w.@-]+", "-", Path(path).name)[:_NAME_CHARS].strip("-.@") or "folder"
    path_digest = blake2b(os.path.normcase(path).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{name}-{path_digest}"


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
                    self._asks = False
                    folder = await _first_root(session)
                    self._space = self._space if folder is None else space_of_folder(folder)
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
        _log.info("The client named no folder: %s", error)
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
