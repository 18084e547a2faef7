"""What a forget does outside of the tables and the log: in stores that were set aside, and in copies of this one.

Out of a store that a restore has set aside it takes what goes, as out of this one. From what a killed export left
beside its place it removes the program's own files, which nobody needs any more. It follows no link, and changes
nothing that belongs to somebody: what a command wrote for its user it names, and what it could not reach or change.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from anyio import to_thread

from mcp_memory.domain.times import Millis
from mcp_memory.storage.copies import known_copies, unfinished_near
from mcp_memory.storage.own_files import asides

_MARKS = (b"mcp-memory export", b"mcp-memory backup", b"<title>Memory graph</title>")
"""What the files that commands write for users have near their beginning."""
_log = logging.getLogger(__name__)


async def forget_elsewhere(
    folder: Path | None, forget_in: Callable[[Path], Awaitable[None]], since: Millis
) -> tuple[str, ...]:
    """Forget in all places of a store outside of its tables, and return in words where it may still be.

    Args:
        folder: the folder of the store; None on object storage, where there is no other place.
        forget_in: forgets in the store of another folder.
        since: when the first of what goes was stored; what was written before does not hold it.
    """
    if folder is None:
        return ()
    left = []
    for aside in asides(folder):
        try:
            await forget_in(aside)
        except Exception as error:
            left.append(
                f"{aside} could not be read or changed, and may still hold it ({error}); the next forget tries it."
            )
    left += await to_thread.run_sync(lambda: list(_copies(folder, since)))
    for text in left:
        _log.warning("After a forget: %s", text)
    return tuple(left)


def _copies(folder: Path, since: Millis) -> Iterator[str]:
    for file in (*sorted(folder.glob("backups/*.backup")), *sorted(folder.glob("forgotten/*.jsonl"))):
        yield f"{file}, which an older program made, may hold it; delete it."
    copies = known_copies(folder)
    for path in copies:
        if not path.parent.is_dir():
            yield f"{path} could not be reached, and may hold it. Is its disk mounted? The next forget looks again."
    for path, at in copies.items():
        for beside in unfinished_near(path):
            if beside.is_dir():
                yield f"{beside}, left by a command that was stopped, may hold it; delete it."
            elif problem := _removed(beside):
                yield problem
        if path.exists() and at >= since:
            day = datetime.fromtimestamp(at / 1000, UTC)
            yield f"{path}, written on {day:%Y-%m-%d}, may hold it, and is yours; delete it, or write it again."


def _removed(file: Path) -> str:
    """Remove a file if the program wrote it, and say so if it could not be removed."""
    try:
        with file.open("rb") as opened:
            first = opened.read(4096)
        if any(mark in first for mark in _MARKS):
            file.unlink(missing_ok=True)
    except OSError as error:
        return f"{file} could not be removed ({error.strerror or error}), and may hold it; delete it."
    return ""
